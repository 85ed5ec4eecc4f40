"""`reverie search --explain` over the real stores: what it prints, and that the API tells the same."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from api.app import create_app
from domain.retrieval.entry import K_A
from infra.run.bootstrap import connect
from infra.run.cli import main
from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from infra.settings import Settings
from tests.unit.retrieval.world import Said, World

QUESTION = "What things did Ana buy in May 2024?"
AT = "2024-06-01T12:00:00+00:00"
BOUGHT = 40


@pytest.fixture
def configuration(
    database_url: str, temporal_server: EmbeddedTemporal, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    """Settings that the command reads from its environment, over stores in which Ana bought more than a list holds."""
    values = {
        "data_dir": str(data_dir),
        "database_url": database_url,
        "temporal_address": temporal_server.address,
        "temporal_namespace": NAMESPACE,
    }
    for name, value in values.items():
        monkeypatch.setenv(f"REVERIE_{name.upper()}", value)
    settings = Settings()
    asyncio.run(tell(settings))
    return settings


async def tell(settings: Settings) -> None:
    """Purchases, told as the write path would."""
    async with connect(settings) as services:
        world = World(services.jobs, services.records, services.graph, services.embedder)
        said = [
            Said(f"Ana bought item{n} at the market.", "buy", (("agent", "Ana"), ("object", f"item{n}")))
            for n in range(BOUGHT)
        ]
        await world.tell("ana", "s1", said)


def search(*options: str) -> Result:
    """The command, run in this process."""
    arguments = ["search", QUESTION, "--user", "ana", "--as-of", AT, *options]
    result = CliRunner().invoke(main.app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result


@asynccontextmanager
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """The API over the same stores."""
    async with connect(settings) as services:
        transport = httpx.ASGITransport(app=create_app(services))
        async with httpx.AsyncClient(transport=transport, base_url="http://memory") as http:
            yield http


async def asked(settings: Settings) -> Any:
    """The same question over HTTP."""
    body = {"user_id": "ana", "query": QUESTION, "as_of": AT, "explain": True}
    async with client(settings) as http:
        return (await http.post("/v1/search", json=body)).json()


def test_the_command_and_the_api_explain_the_same(configuration: Settings) -> None:
    printed = json.loads(search("--explain", "--json").stdout)
    assert printed == asyncio.run(asked(configuration))
    assert len(printed["explanation"]["anchors"]) == K_A
    assert json.loads(search("--json").stdout)["explanation"] is None


def test_the_text_tells_plan_anchors_lanes_cuts_and_why_each_row_is_there(configuration: Settings) -> None:
    told = json.loads(search("--explain", "--json").stdout)
    text = search("--explain").stdout
    why = "\n".join(" ".join(line.split()) for line in text[text.index("\nWhy") :].splitlines())
    budget, explanation = told["plan"]["budget"], told["explanation"]
    assert f"plan list_union: {budget['base']} base rows, {budget['cited']} cited rows" in why
    assert "relation buy: buy, purchase" in why
    assert "time " in why
    assert "2024-05-01 to 2024-05-31" in why
    assert "anchor Ana (person, named)" in why
    assert "vec +" in why
    assert "exact +0.30" in why
    assert why.count("\nanchor ") == len(explanation["anchors"])
    assert why.count("\nfact ") == len(explanation["facts"])
    assert f"base lane {len(explanation['base_lane'])} rows entered" in why
    assert f"relation lane {len(explanation['relation_lane'])} rows entered" in why
    assert f"anchors cut {explanation['anchors_cut']}" in why
    assert f"facts cut {explanation['facts_cut']} of the asked relation" in why
    assert f"rows cut {explanation['rows_cut']} by the budget" in why
    assert explanation["facts_cut"] > 0
    assert told["truncated"]
    assert "the budget cut evidence of this count or list" in text
    for number, row in enumerate(told["rows"], start=1):
        assert f"row {number} {row['score']:.3f} {', '.join(row['why'])}" in " ".join(why.split())
