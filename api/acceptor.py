"""The one way in for a memory: validate, seal secrets, store durably, start the workflow."""

import logging
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from domain.errors import InvalidInput, Unavailable
from domain.intake import InputIn, Limits, build_input, sealed
from domain.jobs import Acceptance, Job, JobState, job_id
from domain.ports import JobStore, VaultStore, WorkflowStarter

logger = logging.getLogger(__name__)


class Acceptor:
    """What was accepted is stored before the answer is given; a workflow that can't be started now is started later."""

    def __init__(
        self,
        jobs: JobStore,
        vault: VaultStore,
        starter: WorkflowStarter,
        *,
        limits: Limits,
        default_timezone: str,
        clock: Callable[[], datetime],
    ) -> None:
        self._jobs = jobs
        self._vault = vault
        self._starter = starter
        self._limits = limits
        self._timezone = default_timezone
        self._clock = clock

    async def accept(self, raw: InputIn, *, batch_id: UUID | None = None) -> Acceptance:
        """An input of a batch is stored only: `start_batch` has it started once all of it is there. One that was stored
        before stays in the batch it came with.

        Raises InvalidInput before anything is stored, RequestConflict, StoreUnavailable.
        """
        now = self._clock()
        new, body_hash = build_input(raw, limits=self._limits, default_timezone=self._timezone, now=now)
        safe, secrets = sealed(new)
        job = job_id(new.user_id, new.request_id)
        for found in secrets:
            await self._vault.seal(
                new.user_id,
                secret=found.value.get_secret_value(),
                caption=found.caption,
                job_id=job,
                message_id=found.message_id,
                now=now,
            )
        acceptance = await self._jobs.accept(safe, body_hash=body_hash, now=now, batch_id=batch_id)
        waits = batch_id is not None and acceptance.job.batch_id is not None
        if not acceptance.job.terminal and not waits:
            await self._start(acceptance.job)
        return acceptance

    async def start_batch(self, user_id: str, batch_id: UUID) -> None:
        """Feed a batch's inputs to the memory, with rounds of AutoDream between their chunks and one at the end."""
        try:
            await self._starter.start_batch(user_id, batch_id)
        except Unavailable as error:
            logger.warning("batch %s is stored and will be started later: %s", batch_id, error.message)

    async def retry(self, user_id: str, job: UUID) -> Job:
        """Run a job that ended again from where it stopped. Raises NotFound, InvalidInput if it has not ended."""
        found = await self._jobs.job(user_id, job)
        if not found.terminal:
            raise InvalidInput(f"job {job} has not ended; only a job that ended can be retried", field="job_id")
        if found.state is JobState.COMPLETED and not found.index_failed:
            return found
        reopened = await self._jobs.reopen(job, now=self._clock())
        await self._start(reopened)
        return reopened

    async def cancel(self, user_id: str, job: UUID) -> Job:
        """Stop a job; what it committed stays. A job that ended is left as it is."""
        found = await self._jobs.job(user_id, job)
        if not found.terminal:
            if await self._starter.ingest_open(found):
                await self._starter.cancel_ingest(found)
            else:  # it waits for its turn at the graph, or was never started: no workflow could end it
                await self._jobs.set_state(
                    job, JobState.CANCELLED, now=self._clock(), step="cancel", reason="cancelled"
                )
        return await self._jobs.job(user_id, job)

    async def _start(self, job: Job) -> None:
        try:
            await self._starter.start_ingest(job)
        except Unavailable as error:
            logger.warning("job %s is stored and will be started later: %s", job.id, error.message)
