"""One queue per user: the graph changes of a user's inputs and consolidations, one at a time, in arrival order.

The order itself lies in the evidence plane (each job's sequence number), so the queue holds no state: a lost wake-up, a
restart or continue-as-new can't lose or reorder work. Work that changes a user's graph goes through here and nowhere
else.
"""

import asyncio
from contextlib import suppress
from uuid import UUID

from temporalio import workflow
from temporalio.exceptions import ChildWorkflowError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.signatures import JobSteps
    from domain.messages import IndexRequest, JobFailure, JobRef, UserQueueRequest
    from workflows.index import IndexWorkflow
    from workflows.policies import QUEUE_CHECK, QUEUE_IDLE, Policies, workflow_id
    from workflows.steps import attributes
    from workflows.turns import take_turn


@workflow.defn(failure_exception_types=[workflow.NondeterminismError])
class UserQueueWorkflow:
    """Runs while its user has unfinished inputs, and a little longer.

    A run that a new release can't replay fails instead of being stuck: it holds no state, and the sweep starts it anew.
    """

    @workflow.init
    def __init__(self, request: UserQueueRequest) -> None:
        self._prefix = request.prefix
        self._options = Policies(request.prefix)
        self._woken = True
        self._awaited: JobRef | None = None
        self._look_at = workflow.now()

    @workflow.signal
    def wake(self) -> None:
        """There may be something to do: an input is ready, or has ended."""
        self._woken = True

    @workflow.run
    async def run(self, request: UserQueueRequest) -> None:
        """Returns when it has been idle; the next input starts it again."""
        while True:
            self._woken = False
            head = await workflow.execute_activity_method(
                JobSteps.queue_head, request.user_id, **self._options.bookkeeping
            )
            if head.consolidation is not None:
                await take_turn(head.consolidation, self._prefix)
            elif head.job is None:
                if not await self._wait(QUEUE_IDLE.total_seconds()):
                    return
            elif head.ready:
                await self._index(head.job, head.chunks, head.batch_id)
            else:
                await self._await_head(head.job)
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(request)

    async def _await_head(self, job: JobRef) -> None:
        """Until a wake-up, or until it is time to look after the head's workflow.

        A wake-up does not put that off: the worker's sweep wakes the queue of an old job every few seconds.
        """
        if job != self._awaited:
            self._awaited, self._look_at = job, workflow.now() + QUEUE_CHECK
        await self._wait(max((self._look_at - workflow.now()).total_seconds(), 0.0))
        if workflow.now() >= self._look_at:
            await workflow.execute_activity_method(JobSteps.check_ingest, job, **self._options.bookkeeping)
            self._look_at = workflow.now() + QUEUE_CHECK

    async def _wait(self, seconds: float) -> bool:
        """Whether a wake-up came in time."""
        with suppress(asyncio.TimeoutError):
            await workflow.wait_condition(lambda: self._woken, timeout=seconds)
        return self._woken

    async def _index(self, job: JobRef, chunks: int, batch_id: UUID | None) -> None:
        try:
            await workflow.execute_child_workflow(
                IndexWorkflow.run,
                IndexRequest(job=job, prefix=self._prefix, chunks=chunks, batch_id=batch_id),
                id=workflow_id(self._prefix, "index", job.user_id, job.request_id),
                search_attributes=attributes(job, "index"),
                static_summary=f"Index {chunks} chunks",
            )
        except ChildWorkflowError as error:
            cancelled = is_cancelled_exception(error)
            reason = "cancelled" if cancelled else "index_ended"
            failure = JobFailure(job=job, step="index", reason=reason, cancelled=cancelled)
            await workflow.execute_activity_method(JobSteps.fail_job, failure, **self._options.bookkeeping)
