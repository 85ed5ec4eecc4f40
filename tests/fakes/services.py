"""Services without servers, for the command line: real acceptor, stores in memory, jobs that end as scripted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

from api.acceptor import Acceptor
from api.search import Retriever
from api.services import Services
from domain.chunking import cut
from domain.jobs import Job, JobState
from domain.memory import IndexStatus, MemoryKind, RecordDraft, Source
from domain.ports import Embedder, JobStore, RecordStore
from domain.records import records_of
from domain.retrieval.plan import plan
from domain.retrieval.query import SearchQuery, SearchResult
from infra.run.bootstrap import input_limits
from infra.settings import Settings
from tests.fakes.graph import MemoryGraph
from tests.fakes.stores import Evidence, MemoryJobs, MemoryModelCalls, MemoryRecords
from tests.fakes.vault import MemoryVault

NOW = datetime(2025, 7, 1, 12, tzinfo=UTC)

CHUNK_CHARACTERS, CHUNK_TURNS = 4_000, 8


class InstantWorker:
    """WorkflowStarter whose workflow is over at once: one episodic record a message, or a failure."""

    def __init__(self, jobs: JobStore, records: RecordStore) -> None:
        self._jobs = jobs
        self._records = records
        self.failing = False
        """A writer gives up on every chunk."""
        self.asleep = False
        """Nothing is worked on."""
        self.unindexed = 0
        """Records of a job that do not get into the graph."""

    async def start_ingest(self, job: Job) -> None:
        if self.asleep:
            return
        chunks = cut(
            job.id, await self._jobs.input(job.id), characters=CHUNK_CHARACTERS, turns=CHUNK_TURNS, previous=None
        )
        await self._jobs.save_chunks(job.id, chunks)
        written: list[UUID] = []
        for chunk in chunks:
            if self.failing:
                await self._jobs.fail_chunk(job.id, chunk.ordinal, step="write", reason="model_unavailable")
                continue
            drafts = tuple(
                RecordDraft(kind=MemoryKind.EPISODIC, title="", text=turn.text, sources=(Source(turn_id=turn.id),))
                for turn in chunk.turns
            )
            records = records_of(chunk, {MemoryKind.EPISODIC: drafts})
            await self._records.commit(records, [[1.0] for _ in records])
            await self._jobs.mark_committed(chunk.id)
            written += [record.id for record in records]
        failed = written[: self.unindexed]
        await self._records.set_index(failed, IndexStatus.FAILED, step="upsert", reason="graph_unavailable")
        await self._records.set_index(written[self.unindexed :], IndexStatus.INDEXED)
        await self._jobs.finish(job.id, now=NOW)

    async def ingest_open(self, job: Job) -> bool | None:
        return None

    async def cancel_ingest(self, job: Job) -> None:
        await self._jobs.set_state(job.id, JobState.CANCELLED, now=NOW, reason="cancelled")

    async def wake_queue(self, user_id: str) -> None:
        return None


class ScriptedRetriever:
    """Answers every question with the result given."""

    def __init__(self, result: SearchResult | None = None) -> None:
        self.result = result
        self.asked: list[SearchQuery] = []

    async def search(self, query: SearchQuery) -> SearchResult:
        self.asked.append(query)
        return self.result or SearchResult(plan=plan(query.query, as_of=query.as_of, timezone=query.timezone))


class FakeServices:
    """The parts, for a test to look at, and the services over them."""

    def __init__(self) -> None:
        self.evidence = Evidence()
        self.jobs = MemoryJobs(self.evidence)
        self.records = MemoryRecords(self.evidence)
        self.entries: dict[UUID, tuple[str, str, bytes]] = {}
        self.vault = MemoryVault(self.entries, b"key")
        self.worker = InstantWorker(self.jobs, self.records)
        self.retriever = ScriptedRetriever()

    @asynccontextmanager
    async def connect(self, settings: Settings) -> AsyncIterator[Services]:
        """In place of the composition root."""
        yield Services(
            jobs=self.jobs,
            records=self.records,
            graph=MemoryGraph(),
            calls=MemoryModelCalls(self.evidence),
            vault=self.vault,
            embedder=cast(Embedder, None),  # only the retriever embeds
            retriever=cast(Retriever, self.retriever),
            acceptor=Acceptor(
                self.jobs,
                self.vault,
                self.worker,
                limits=input_limits(settings),
                default_timezone=settings.default_timezone,
                clock=lambda: NOW,
            ),
            settings=settings,
        )
