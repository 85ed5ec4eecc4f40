"""No memory text and no secret outside Postgres: not in histories, search attributes, summaries or logs (invariant
7)."""

import base64
import json

from temporalio.client import Client

from api.services import Services
from domain.dream.rounds import Consolidation, ConsolidationState, Mode, PairState
from domain.memory import MemoryKind
from tests.e2e.deployment import Deployment, finished, talk
from tests.e2e.dream_world import ask, consolidated, owners, seed, until

CANARY = "zanzibarquux"
SECRET = "Vx9-plumbago-7731"
USER = "canary"
TALK = talk(
    USER,
    "canaries",
    (
        f"Ada: I bought a {CANARY} lamp in Lisbon yesterday.",
        f"Ada: The wifi password is {SECRET}.",
        f'Eve: I am reading "The {CANARY} of Braga" with Tom.',
        f"Eve: Tom visited the {CANARY} museum in Porto on Friday.",
    ),
    day="2025-06-03",
)


async def test_canaries_stay_in_the_evidence_plane(running: Deployment) -> None:
    async with running.services() as services:
        acceptance = await services.acceptor.accept(TALK)
        job = await finished(services, USER, acceptance.job.id)
        assert job.state == "completed"
        consolidation = await _dreamt(services)
        rows = [row for row in await services.records.page(USER, limit=100) if row.input_id == job.id]
        client = await running.client()
        told = await _everything_temporal_knows(client, running.prefix)
    running.stop()
    text = " ".join(f"{row.title} {row.text} {row.attributes}" for row in rows)
    assert CANARY in text
    assert SECRET not in text
    assert any(row.kind is MemoryKind.VAULT for row in rows)
    assert str(acceptance.job.id) in told, "the histories were not read"
    assert f"/review/{USER}/{consolidation.id}" in told
    for canary in (CANARY, SECRET, "Lisbon", "lamp"):
        assert canary.lower() not in told.lower()
        assert canary.lower() not in running.logs().lower()


async def _dreamt(services: Services) -> Consolidation:
    """A round whose merge of two canaries a person approved, and a merge by hand that the guard refused."""
    names = [f"{CANARY} Harbor Lamp", f"{CANARY} Harbour Lamp", f"Lamp {CANARY} 14", f"Lamp {CANARY} 15"]
    await seed(services, names, user=USER)
    held = await until(services, await ask(services, user_id=USER, review=True), ConsolidationState.REVIEW)
    (pair,) = await services.consolidations.pairs(held.id, states=(PairState.PENDING,))
    await services.dreamer.decide(USER, held.id, pair.id, approve=True, keep=pair.b.name, actor="rita")
    found = await owners(services, names[2:], user=USER)
    one, other = (anchor.id for anchor in found.values())
    refused = await consolidated(services, "hand", user_id=USER, mode=Mode.MERGE, target=one, absorbed=other)
    assert refused.reason == "merge_conflict"
    return await until(services, held)


async def test_the_secret_is_sealed_and_can_be_opened(running: Deployment) -> None:
    async with running.services() as services:
        await finished(services, USER, (await services.acceptor.accept(TALK)).job.id)
        messages = await services.jobs.messages((await services.acceptor.accept(TALK)).job.id)
    assert "[vault:" in messages[1].text
    assert SECRET not in messages[1].text


async def _everything_temporal_knows(client: Client, prefix: str) -> str:
    """Histories with decoded payloads, descriptions, memos and search attributes of a deployment's workflows."""
    told = []
    async for workflow in client.list_workflows():
        if not workflow.id.startswith(f"{prefix}/"):
            continue
        handle = client.get_workflow_handle(workflow.id, run_id=workflow.run_id)
        history = await handle.fetch_history()
        told.append(history.to_json())
        told.extend(_payloads(json.loads(history.to_json())))
        description = await handle.describe()
        told.append(str(description.raw_description))
        told.append(str(await description.static_summary()))
    return "\n".join(told)


def _payloads(node: object) -> list[str]:
    """Payload bodies, which the JSON form holds in base64."""
    if isinstance(node, dict):
        data = node.get("data")
        own = [_decoded(data)] if isinstance(data, str) else []
        return own + [text for value in node.values() for text in _payloads(value)]
    if isinstance(node, list):
        return [text for value in node for text in _payloads(value)]
    return []


def _decoded(data: str) -> str:
    return base64.b64decode(data).decode("utf-8", errors="replace")
