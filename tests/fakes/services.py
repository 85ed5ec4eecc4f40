"""Services without servers, for the command line: the real acceptor over jobs that end as scripted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

from api.acceptor import Acceptor
from api.search import Retriever
from api.services import Services
from domain.errors import NotFound, RequestConflict
from domain.graph import GraphCounts
from domain.intake import Limits
from domain.jobs import Acceptance, Job, JobState, chunk_id, job_id, record_id
from domain.memory import MemoryKind, Message, NewInput, Record
from domain.ports import (
    Embedder,
    GraphStore,
    JobStore,
    ModelCallStore,
    RecordStore,
    VaultStore,
    WorkflowStarter,
)
from domain.retrieval.plan import plan
from domain.retrieval.query import SearchQuery, SearchResult
from infra.settings import Settings

NOW = datetime(2025, 7, 1, 12, tzinfo=UTC)


class ScriptedJobs:
    """Keeps what was accepted; every look at an open job moves it one state on, to the end in `ending`."""

    def __init__(self, ending: JobState = JobState.COMPLETED, *, index_failed: int = 0) -> None:
        self.ending = ending
        self.index_failed = index_failed
        self.kept: dict[UUID, tuple[Job, str, tuple[Message, ...]]] = {}
        self.looks = 0

    async def accept(self, new: NewInput, *, body_hash: str, now: datetime) -> Acceptance:
        key = job_id(new.user_id, new.request_id)
        if key in self.kept:
            if self.kept[key][1] != body_hash:
                raise RequestConflict(f"request {new.request_id} was used with another body")
            return Acceptance(job=self.kept[key][0], created=False)
        known = {
            message.id
            for job, _, messages in self.kept.values()
            if (job.user_id, job.session_id) == (new.user_id, new.session_id)
            for message in messages
        }
        own = tuple(message for message in new.messages if message.id not in known)
        job = Job(
            id=key,
            user_id=new.user_id,
            request_id=new.request_id,
            sequence=1 + sum(job.user_id == new.user_id for job, _, _ in self.kept.values()),
            state=JobState.ACCEPTED,
            session_id=new.session_id,
            form=new.form,
            messages=len(own),
            sanitized=new.sanitized,
            accepted_at=now,
        )
        self.kept[key] = (job, body_hash, own)
        return Acceptance(job=job, created=True)

    async def job(self, user_id: str, job_id: UUID) -> Job:
        found = self.kept.get(job_id)
        if found is None or found[0].user_id != user_id:
            raise NotFound(f"no job {job_id}")
        return self._look(found[0])

    async def jobs(self, user_id: str, *, before: int | None = None, limit: int = 50) -> tuple[Job, ...]:
        mine = [job for job, _, _ in self.kept.values() if job.user_id == user_id]
        newest = sorted(mine, key=lambda job: -job.sequence)
        page = [job for job in newest if before is None or job.sequence < before][:limit]
        return tuple(self._look(job) for job in page)

    async def reopen(self, job_id: UUID, *, now: datetime) -> Job:
        job = self.kept[job_id][0]
        return self._put(job, state=JobState.ACCEPTED, attempt=job.attempt + 1, step="", reason="", index_failed=0)

    def cancel(self, job: Job) -> None:
        self._put(job, state=JobState.CANCELLED, reason="cancelled")

    def _look(self, job: Job) -> Job:
        self.looks += 1
        if job.terminal:
            return job
        if job.state is JobState.ACCEPTED:
            return self._put(job, state=JobState.RUNNING, chunks=1)
        if self.ending is JobState.FAILED:
            return self._put(job, state=JobState.FAILED, step="write", reason="model_unavailable")
        done = {"records": {"episodic": job.messages}, "chunks_done": 1, "indexed": job.messages}
        return self._put(job, state=self.ending, index_failed=self.index_failed, **done)

    def _put(self, job: Job, **changes: object) -> Job:
        changed = job.model_copy(update=changes)
        self.kept[job.id] = (changed, *self.kept[job.id][1:])
        return changed


class ScriptedStarter:
    """Starts nothing; a cancelled ingest ends its job at once."""

    def __init__(self, jobs: ScriptedJobs) -> None:
        self.jobs = jobs
        self.started: list[UUID] = []

    async def start_ingest(self, job: Job) -> None:
        self.started.append(job.id)

    async def cancel_ingest(self, job: Job) -> None:
        self.jobs.cancel(job)


class ScriptedRecords:
    """One record a message of a job."""

    def __init__(self, jobs: ScriptedJobs) -> None:
        self.jobs = jobs

    async def of_chunk(self, chunk: UUID) -> tuple[Record, ...]:
        for job, _, messages in self.jobs.kept.values():
            if chunk_id(job.id, 0) == chunk:
                return tuple(_record(job, chunk, message, ordinal) for ordinal, message in enumerate(messages))
        return ()


class ScriptedGraph:
    """Counts."""

    async def counts(self, user_id: str) -> GraphCounts:
        return GraphCounts(anchors=3, frames=2, arms=5)


class ScriptedVault:
    """Keeps sealed values."""

    def __init__(self) -> None:
        self.sealed: list[tuple[str, str]] = []

    async def seal(
        self, user_id: str, *, secret: str, caption: str, job_id: UUID, message_id: str, now: datetime
    ) -> UUID:
        self.sealed.append((caption, secret))
        return UUID(int=len(self.sealed))


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

    def __init__(self, ending: JobState = JobState.COMPLETED, *, index_failed: int = 0) -> None:
        self.jobs = ScriptedJobs(ending, index_failed=index_failed)
        self.vault = ScriptedVault()
        self.retriever = ScriptedRetriever()
        self.starter = ScriptedStarter(self.jobs)

    @asynccontextmanager
    async def connect(self, settings: Settings) -> AsyncIterator[Services]:
        """In place of the composition root."""
        limits = Limits(
            max_message_characters=settings.max_message_characters, max_input_messages=settings.max_input_messages
        )
        jobs = cast(JobStore, self.jobs)
        vault = cast(VaultStore, self.vault)
        starter = cast(WorkflowStarter, self.starter)
        yield Services(
            jobs=jobs,
            records=cast(RecordStore, ScriptedRecords(self.jobs)),
            graph=cast(GraphStore, ScriptedGraph()),
            calls=cast(ModelCallStore, None),
            vault=vault,
            embedder=cast(Embedder, None),
            retriever=cast(Retriever, self.retriever),
            acceptor=Acceptor(
                jobs, vault, starter, limits=limits, default_timezone=settings.default_timezone, clock=lambda: NOW
            ),
            settings=settings,
        )


def _record(job: Job, chunk: UUID, message: Message, ordinal: int) -> Record:
    return Record(
        id=record_id(chunk, MemoryKind.EPISODIC, ordinal),
        user_id=job.user_id,
        kind=MemoryKind.EPISODIC,
        title="",
        text=message.text,
        mention_time=message.sent_at,
        input_id=job.id,
        chunk_id=chunk,
        session_id=job.session_id,
        ordinal=ordinal,
    )
