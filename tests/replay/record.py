"""Keep the histories of a deployment's workflows for the replay tests: `python -m tests.replay.record LABEL`.

Runs the end-to-end conversation on servers of its own and writes one history a kind, named for the label, so that a
change
of the workflows is replayed against what earlier versions left behind.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from uuid import UUID, uuid4

from temporalio.client import Client, WorkflowExecution

from api.services import Services
from domain.dream.rounds import Consolidation, ConsolidationState, PairState, consolidation_id, final_request
from domain.dream.schedules import NewSchedule
from domain.errors import NotFound
from infra.run.embedded.postgres import EmbeddedPostgres
from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from tests.e2e.conversation import USER, sessions
from tests.e2e.deployment import Deployment, finished, new_deployment, talk
from tests.e2e.dream_world import ALIKE, ask, flat, seed, until
from tests.e2e.dream_world import USER as DREAMER

FOLDER = Path(__file__).parent / "histories"
PREFIX = "reverie"


async def _run(deployment: Deployment) -> Client:
    async with deployment.services() as services:
        for session in sessions():
            await finished(services, USER, (await services.acceptor.accept(session)).job.id)
        await _dream(services)
    return await deployment.client()


async def _dream(services: Services) -> None:
    """A round under review with its decisions, a batch with a round between its chunks, and a run of a schedule."""
    await seed(services, flat(ALIKE))
    held = await until(services, await ask(services, review=True), ConsolidationState.REVIEW)
    for pair in await services.consolidations.pairs(held.id, states=(PairState.PENDING,)):
        await services.dreamer.decide(DREAMER, held.id, pair.id, approve=True, actor="rita")
    await until(services, held)
    batch = uuid4()
    spoken = [
        talk("batcher", f"b{n}", [f"Ines: I bought {n + 2} lamps in Braga."], day=f"2025-06-0{n + 1}") for n in range(6)
    ]
    for one in spoken:
        await services.acceptor.accept(one, batch_id=batch)
    await services.acceptor.start_batch("batcher", batch)
    await until(services, await _final(services, batch, len(spoken)))
    await services.schedules.create(NewSchedule(name="nightly", user_id=DREAMER, every_seconds=86_400))
    schedule = await services.schedules.trigger(DREAMER, "nightly")
    while not schedule.recent or schedule.running:
        await asyncio.sleep(0.5)
        schedule = await services.schedules.schedule(DREAMER, "nightly")


async def _final(services: Services, batch: UUID, jobs: int) -> Consolidation:
    identity = consolidation_id("batcher", final_request(batch, jobs))
    while True:
        try:
            return await services.consolidations.consolidation("batcher", identity)
        except NotFound:
            await asyncio.sleep(0.5)


async def _keep(client: Client, label: str) -> None:
    """The longest history of each kind: it has been furthest."""
    longest: dict[str, WorkflowExecution] = {}
    async for execution in client.list_workflows():
        kind = execution.id.removeprefix(f"{PREFIX}/").split("/")[0]
        if kind not in longest or longest[kind].history_length < execution.history_length:
            longest[kind] = execution
    for kind, execution in longest.items():
        handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
        history = json.loads((await handle.fetch_history()).to_json())
        text = json.dumps({"workflow_id": execution.id, "history": history}, indent=1)
        (FOLDER / f"{kind}-{label}.json").write_text(text + "\n", encoding="utf-8")


def main(label: str) -> None:
    """Record under a label, for example the version."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="reverie-record-") as folder:
        postgres, temporal = EmbeddedPostgres(Path(folder)), EmbeddedTemporal(Path(folder))
        deployment = new_deployment(postgres.start(), temporal.start(), NAMESPACE, prefix=PREFIX)
        try:
            deployment.start_worker()
            asyncio.run(_record(deployment, label))
        finally:
            deployment.stop()
            temporal.stop()
            postgres.stop()


async def _record(deployment: Deployment, label: str) -> None:
    await _keep(await _run(deployment), label)


if __name__ == "__main__":
    main(sys.argv[1])
