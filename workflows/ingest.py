"""The write of one input up to its drafts: prepare, then for each chunk route, write, commit, extract, repair.

Runs at once for every input, however long the user's graph queue is; it ends by taking its place there.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception
from temporalio.workflow import ActivityConfig

with workflow.unsafe.imports_passed_through():
    from activities.signatures import GraphSteps, JobSteps, WriteSteps
    from domain.memory import MemoryKind
    from domain.messages import (
        ChunkTask,
        IngestRequest,
        JobFailure,
        JobOutcome,
        JobRef,
        StepCount,
        StepFailure,
        WriteTask,
    )
    from workflows.policies import CHUNKS_A_RUN, CHUNKS_AT_A_TIME, Policies
    from workflows.steps import attempt, heed_cancellation, reason_of, stage


T = TypeVar("T")
R = TypeVar("R")


@workflow.defn
class IngestWorkflow:
    """Algorithm 1, Write, up to line 5; IndexWorkflow does the rest in the user's order."""

    @workflow.init
    def __init__(self, request: IngestRequest) -> None:
        self._options = Policies(request.prefix)
        self._places = asyncio.Semaphore(CHUNKS_AT_A_TIME)

    @workflow.run
    async def run(self, request: IngestRequest) -> JobOutcome:
        """Ends with the job `extracted`. A failed or cancelled run ends the job the same way before it closes."""
        try:
            return await self._ingest(request)
        except (asyncio.CancelledError, ActivityError) as error:
            cancelled = is_cancelled_exception(error)
            reason = "cancelled" if cancelled else reason_of(error)
            failure = JobFailure(job=request.job, step="ingest", reason=reason, cancelled=cancelled)
            await workflow.execute_activity_method(JobSteps.fail_job, failure, **self._options.bookkeeping)
            if cancelled:
                raise
            raise ApplicationError(f"job ended: {reason}", type=reason, non_retryable=True) from None

    async def _ingest(self, request: IngestRequest) -> JobOutcome:
        chunks = request.chunks
        if request.next_chunk == 0:
            stage("writing")
            prepared = await workflow.execute_activity_method(WriteSteps.prepare, request.job, **self._options.database)
            heed_cancellation()
            chunks = prepared.chunks
        until = min(request.next_chunk + CHUNKS_A_RUN, chunks)
        await asyncio.gather(*(self._chunk(request.job, ordinal) for ordinal in range(request.next_chunk, until)))
        if until < chunks:
            workflow.continue_as_new(request.model_copy(update={"next_chunk": until, "chunks": chunks}))
        stage("queued")
        await workflow.execute_activity_method(JobSteps.enqueue, request.job, **self._options.bookkeeping)
        return JobOutcome(state="extracted")

    async def _chunk(self, job: JobRef, ordinal: int) -> None:
        async with self._places:
            task = ChunkTask(job=job, ordinal=ordinal)
            if await self._write(task):
                await self._draft(GraphSteps.extract, task)
                await self._draft(GraphSteps.repair, task)

    async def _write(self, task: ChunkTask) -> bool:
        """Route, write and commit; the vault's writer goes before any other."""
        routed = await self._attempt(WriteSteps.route, task, self._options.model, task)
        if isinstance(routed, StepFailure):
            return False
        for kind in sorted(routed.kinds, key=lambda kind: kind is not MemoryKind.VAULT):
            writing = WriteTask(chunk=task, kind=kind)
            if isinstance(await self._attempt(WriteSteps.write, writing, self._options.model, task), StepFailure):
                return False
        committed = await self._attempt(WriteSteps.commit, task, self._options.database, task)
        return not isinstance(committed, StepFailure)

    async def _attempt(
        self, step: Callable[[Any, T], Awaitable[R]], task: T, options: ActivityConfig, chunk: ChunkTask
    ) -> R | StepFailure:
        noting = self._options.bookkeeping
        return await attempt(step, task, options, chunk=chunk, note=JobSteps.fail_chunk, noting=noting)

    async def _draft(self, step: Callable[[Any, ChunkTask], Awaitable[StepCount]], task: ChunkTask) -> None:
        """Extraction is fail-soft: the records stay, marked, and the rest of the chunk goes on."""
        options, noting = self._options.model, self._options.bookkeeping
        await attempt(step, task, options, chunk=task, note=JobSteps.fail_index, noting=noting)
