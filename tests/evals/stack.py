"""A stack of its own for one evaluation: real Postgres and Temporal, a worker in this process, any model."""

import dataclasses
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from uuid import UUID

from api.services import Services
from domain.errors import StoreUnavailable
from domain.jobs import JobState
from domain.memory import GRAPH_KINDS, Record
from infra.run.bootstrap import connect
from infra.run.cli.ingest import read_files
from infra.run.cli.progress import progress
from infra.run.cli.sending import deliver, new_delivery
from infra.run.embedded.postgres import EmbeddedPostgres
from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from infra.run.formats.inputs import Placement
from infra.settings import Settings
from tests.e2e.deployment import Deployment
from tests.evals.conversations import Conversation
from tests.evals.recorded import CHUNK_CHARACTERS, CHUNK_TURNS, RecordedAnswers

PAGE = 500


@contextmanager
def servers(folder: Path | None) -> Iterator[Deployment]:
    """Postgres and Temporal for the length of the block; `folder` keeps their data. Blocks the thread."""
    with ExitStack() as stack:
        data = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reverie-eval-")))
        data.mkdir(parents=True, exist_ok=True)
        data.chmod(0o755)
        postgres, temporal = EmbeddedPostgres(data), EmbeddedTemporal(data)
        url = postgres.start()
        stack.callback(postgres.stop)
        address = temporal.start()
        stack.callback(temporal.stop)
        yield Deployment(database_url=url, temporal_address=address, namespace=NAMESPACE, prefix="eval", data_dir=data)


@asynccontextmanager
async def working(deployment: Deployment, model: RecordedAnswers | None) -> AsyncIterator[Services]:
    """Services with a worker in this process, of the rules model without another; recorded answers need whole sessions
    as chunks."""
    async with connect(deployment.settings, migrate=True) as found:
        services = found if model is None else dataclasses.replace(found, settings=_whole_sessions(found.settings))
        async with deployment.worker(services, model):
            yield services


def _whole_sessions(settings: Settings) -> Settings:
    return settings.model_copy(update={"chunk_turns": CHUNK_TURNS, "chunk_characters": CHUNK_CHARACTERS})


async def ingest(services: Services, conversations: Sequence[Conversation]) -> None:
    """Every session of the conversations, through the real pipeline, with a progress bar; what is there is left.

    Raises StoreUnavailable if a job or a record's index step fails: figures over part of the data would mislead.
    """
    paths = [conversation.path for conversation in conversations]
    inputs, _ = read_files(paths, None, Placement(), settings=services.settings)
    with progress(sum(len(value.messages) for value in inputs)) as watcher:
        delivery = await deliver(services, inputs, watcher=watcher, wait=True, delivery=new_delivery(inputs))
    failed = [job for job in delivery.jobs.values() if job.state is not JobState.COMPLETED or job.index_failed]
    if failed:
        raise StoreUnavailable(f"{len(failed)} of {len(inputs)} sessions were not ingested whole, first {failed[0].id}")


async def records_of(services: Services, user_id: str) -> tuple[Record, ...]:
    """All records of the kinds a search returns."""
    found: list[Record] = []
    after: UUID | None = None
    while page := await services.records.page(user_id, kinds=GRAPH_KINDS, after=after, limit=PAGE):
        found.extend(page)
        after = page[-1].id
    return tuple(found)
