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

from temporalio.client import Client

from infra.run.embedded.postgres import EmbeddedPostgres
from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from tests.e2e.conversation import USER, sessions
from tests.e2e.deployment import Deployment, finished, new_deployment

FOLDER = Path(__file__).parent / "histories"
PREFIX = "reverie"


async def _run(deployment: Deployment) -> Client:
    async with deployment.services() as services:
        for session in sessions():
            await finished(services, USER, (await services.acceptor.accept(session)).job.id)
    return await deployment.client()


async def _keep(client: Client, label: str) -> None:
    kept: set[str] = set()
    async for execution in client.list_workflows():
        kind = execution.id.removeprefix(f"{PREFIX}/").split("/")[0]
        if kind in kept:
            continue
        kept.add(kind)
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
