"""Bookkeeping of jobs and of the per-user queue: short, idempotent, never a model call."""

from temporalio import activity

from activities.failures import typed
from activities.indexing import unfinished
from activities.recorded import Clock
from activities.signatures import JobSteps
from domain.jobs import Job, JobState
from domain.memory import IndexStatus
from domain.messages import JobFailure, JobOutcome, JobRef, QueueHead, StepFailure
from domain.ports import JobStore, RecordStore, WorkflowStarter


class JobKeeping(JobSteps):
    """The job steps over the ports."""

    def __init__(self, jobs: JobStore, records: RecordStore, starter: WorkflowStarter, clock: Clock) -> None:
        self._jobs = jobs
        self._records = records
        self._starter = starter
        self._clock = clock

    @activity.defn
    @typed
    async def enqueue(self, task: JobRef) -> None:
        await self._jobs.set_state(task.job_id, JobState.EXTRACTED, now=self._clock())
        await self._starter.wake_queue(task.user_id)

    @activity.defn
    @typed
    async def queue_head(self, user_id: str) -> QueueHead:
        return await self._jobs.queue_head(user_id)

    @activity.defn
    @typed
    async def check_ingest(self, task: JobRef) -> None:
        job = await self._jobs.job(task.user_id, task.job_id)
        if job.terminal or job.state is JobState.EXTRACTED:
            return
        is_open = await self._starter.ingest_open(job)
        if is_open is None:
            await self._starter.start_ingest(job)
        elif not is_open:
            await self._end_abandoned(job)

    async def _end_abandoned(self, job: Job) -> None:
        """The workflow closed without a word (terminated, or timed out): end the job, unless it just moved on."""
        current = await self._jobs.job(job.user_id, job.id)
        if not current.terminal and current.state is not JobState.EXTRACTED:
            await self._jobs.set_state(
                job.id, JobState.FAILED, now=self._clock(), step="ingest", reason="workflow_closed"
            )

    @activity.defn
    @typed
    async def fail_chunk(self, failure: StepFailure) -> None:
        await self._jobs.fail_chunk(
            failure.chunk.job.job_id, failure.chunk.ordinal, step=failure.step, reason=failure.reason
        )

    @activity.defn
    @typed
    async def fail_index(self, failure: StepFailure) -> None:
        chunk = await self._jobs.chunk(failure.chunk.job.job_id, failure.chunk.ordinal)
        ids = await unfinished(self._records, chunk, failure.step)
        await self._records.set_index(ids, IndexStatus.FAILED, step=failure.step, reason=failure.reason)

    @activity.defn
    @typed
    async def fail_job(self, failure: JobFailure) -> None:
        state = JobState.CANCELLED if failure.cancelled else JobState.FAILED
        job = await self._jobs.job(failure.job.user_id, failure.job.job_id)
        if not job.terminal and job.attempt == failure.job.attempt:
            await self._jobs.set_state(job.id, state, now=self._clock(), step=failure.step, reason=failure.reason)
        await self._starter.wake_queue(failure.job.user_id)

    @activity.defn
    @typed
    async def finish(self, task: JobRef) -> JobOutcome:
        job = await self._jobs.finish(task.job_id, now=self._clock())
        return JobOutcome(
            state=job.state,
            records=sum(job.records.values()),
            indexed=job.indexed,
            index_failed=job.index_failed,
        )
