"""The command line over fake services."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from infra.run.cli import consolidating, main, sending, stack
from tests.fakes.services import FakeServices

Run = Callable[..., Result]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Addresses that nothing is asked of, a user of the system, and no waiting between two looks."""
    monkeypatch.setenv("REVERIE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("REVERIE_DATABASE_URL", "postgresql://nowhere/reverie")
    monkeypatch.setenv("REVERIE_TEMPORAL_ADDRESS", "127.0.0.1:1")
    monkeypatch.setattr(sending, "POLL_SECONDS", 0.0)
    monkeypatch.setattr(consolidating, "POLL_SECONDS", 0.0)
    monkeypatch.setenv("LOGNAME", "zoe")


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch, environment: None) -> FakeServices:
    """What the commands work with; a test may change its script."""
    fake = FakeServices()
    monkeypatch.setattr(stack, "connect", fake.connect)
    return fake


@pytest.fixture
def run(environment: None) -> Run:
    """Run `reverie` with arguments; `stdin` is what it reads."""

    def invoke(*arguments: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main.app, list(arguments), input=stdin, catch_exceptions=False)

    return invoke
