"""Activities that do nothing but note that they ran, and fail where they are told to."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from domain.memory import MemoryKind
from domain.messages import (
    ChunkTask,
    JobFailure,
    JobOutcome,
    JobRef,
    Prepared,
    QueueHead,
    Routed,
    StepCount,
    StepFailure,
    WriteTask,
)


class Scripted:
    """The steps of a job of `chunks` chunks; `failing` maps (step, chunk) to the type of the error it ends with."""

    def __init__(
        self,
        *,
        chunks: int = 1,
        kinds: Sequence[MemoryKind] = (MemoryKind.EPISODIC,),
        failing: dict[tuple[str, int], str] | None = None,
        heads: Sequence[QueueHead] = (),
    ) -> None:
        self.chunks = chunks
        self.kinds = tuple(kinds)
        self.failing = failing or {}
        self.heads = list(heads)
        self.ran: list[str] = []
        self.chunk_failures: list[StepFailure] = []
        self.index_failures: list[StepFailure] = []
        self.job_failures: list[JobFailure] = []
        self._changed = asyncio.Condition()

    async def all_failed(self, jobs: int) -> None:
        """Returns once that many jobs were noted as failed."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.job_failures) >= jobs)

    def _step(self, name: str, chunk: int) -> None:
        self.ran.append(f"{name} {chunk}")
        if (kind := self.failing.get((name, chunk))) is not None:
            raise ApplicationError("scripted", type=kind, non_retryable=True)

    @activity.defn
    async def prepare(self, task: JobRef) -> Prepared:
        self._step("prepare", -1)
        return Prepared(chunks=self.chunks)

    @activity.defn
    async def route(self, task: ChunkTask) -> Routed:
        self._step("route", task.ordinal)
        return Routed(kinds=self.kinds)

    @activity.defn
    async def write(self, task: WriteTask) -> StepCount:
        self._step(f"write {task.kind}", task.chunk.ordinal)
        return StepCount(done=1)

    @activity.defn
    async def commit(self, task: ChunkTask) -> StepCount:
        self._step("commit", task.ordinal)
        return StepCount(done=1)

    @activity.defn
    async def extract(self, task: ChunkTask) -> StepCount:
        self._step("extract", task.ordinal)
        return StepCount(done=1)

    @activity.defn
    async def repair(self, task: ChunkTask) -> StepCount:
        self._step("repair", task.ordinal)
        return StepCount(done=1)

    @activity.defn
    async def canonicalize(self, task: ChunkTask) -> StepCount:
        self._step("canonicalize", task.ordinal)
        return StepCount(done=1)

    @activity.defn
    async def upsert(self, task: ChunkTask) -> StepCount:
        self._step("upsert", task.ordinal)
        return StepCount(done=1)

    @activity.defn
    async def enqueue(self, task: JobRef) -> None:
        self._step("enqueue", -1)

    @activity.defn
    async def queue_head(self, user_id: str) -> QueueHead:
        return self.heads.pop(0) if self.heads else QueueHead()

    @activity.defn
    async def check_ingest(self, task: JobRef) -> None:
        self._step("check_ingest", -1)

    @activity.defn
    async def fail_chunk(self, failure: StepFailure) -> None:
        self.chunk_failures.append(failure)

    @activity.defn
    async def fail_index(self, failure: StepFailure) -> None:
        self.index_failures.append(failure)

    @activity.defn
    async def fail_job(self, failure: JobFailure) -> None:
        self.job_failures.append(failure)
        async with self._changed:
            self._changed.notify_all()

    @activity.defn
    async def finish(self, task: JobRef) -> JobOutcome:
        self._step("finish", -1)
        return JobOutcome(state="completed")

    def steps(self) -> Sequence[Callable[..., Any]]:
        """All of them, for a worker."""
        writing: list[Callable[..., Any]] = [self.prepare, self.route, self.write, self.commit]
        indexing: list[Callable[..., Any]] = [self.extract, self.repair, self.canonicalize, self.upsert]
        failing: list[Callable[..., Any]] = [self.fail_chunk, self.fail_index, self.fail_job]
        return [*writing, *indexing, *failing, self.enqueue, self.queue_head, self.check_ingest, self.finish]
