"""Typed starters: the workflow id is the idempotency key. Imported by no workflow."""

import asyncio
from typing import Any
from uuid import UUID

from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowExecutionStatus,
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from domain.dream.rounds import Consolidation
from domain.errors import MergeConflict, NotFound, ReverieError, Unavailable
from domain.jobs import Job
from domain.messages import (
    BatchRequest,
    IngestRequest,
    JobRef,
    PairDecision,
    ReviewRequest,
    UserQueueRequest,
    ref_of,
)
from workflows.batch import BatchWorkflow
from workflows.ingest import IngestWorkflow
from workflows.policies import WORKFLOW_QUEUE, fair, queue, workflow_id
from workflows.review import ReviewWorkflow
from workflows.steps import attributes, told_by
from workflows.user_queue import UserQueueWorkflow


def reference(job: Job) -> JobRef:
    """A job as workflows name it."""
    return JobRef(user_id=job.user_id, job_id=job.id, request_id=job.request_id, attempt=job.attempt)


DECISION_SECONDS = 30.0
"""How long a person's decision waits for a worker."""


class TemporalStarter:
    """WorkflowStarter over a Temporal client."""

    def __init__(self, client: Client, *, prefix: str) -> None:
        self._client = client
        self._prefix = prefix
        self._queue = queue(prefix, WORKFLOW_QUEUE)

    def ingest_id(self, job: Job) -> str:
        """Workflow id of a job's ingest: one per attempt asked for, so that a retry of a completed run is a new one."""
        again = "" if job.attempt == 1 else f" {job.attempt}"  # no request id has a space, but one may end in "/2"
        return workflow_id(self._prefix, "ingest", job.user_id, job.request_id + again)

    async def start_ingest(self, job: Job) -> None:
        """Raises Unavailable when Temporal can't be reached: the job stays `accepted` and is started later."""
        try:
            await self._client.start_workflow(
                IngestWorkflow.run,
                IngestRequest(job=reference(job), prefix=self._prefix),
                id=self.ingest_id(job),
                task_queue=self._queue,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                search_attributes=attributes(reference(job), "ingest"),
                static_summary=f"Ingest {job.messages} messages",
                priority=fair(job.user_id),
            )
        except WorkflowAlreadyStartedError:
            return
        except RPCError as error:
            raise _unavailable(error) from error

    async def ingest_open(self, job: Job) -> bool | None:
        """Whether the ingest workflow of the job's present attempt is open; None if there is none."""
        try:
            description = await self._handle(job).describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise _unavailable(error) from error
        return description.status in (WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.CONTINUED_AS_NEW)

    async def cancel_ingest(self, job: Job) -> None:
        """Ask the ingest workflow to end; it marks its job."""
        try:
            await self._handle(job).cancel()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise _unavailable(error) from error

    async def wake_queue(self, user_id: str) -> None:
        """Signal with start."""
        try:
            await self._client.start_workflow(
                UserQueueWorkflow.run,
                UserQueueRequest(user_id=user_id, prefix=self._prefix),
                id=workflow_id(self._prefix, "queue", user_id),
                task_queue=self._queue,
                start_signal="wake",
                search_attributes=told_by("queue", user_id=user_id),
                static_summary="Graph changes in arrival order",
                priority=fair(user_id),
            )
        except RPCError as error:
            raise _unavailable(error) from error

    async def cancel_consolidation(self, consolidation: Consolidation) -> bool:
        """Ask its workflow to end; False if none runs."""
        handle = self._client.get_workflow_handle(self.dream_id(consolidation))
        try:
            description = await handle.describe()
            if description.status is WorkflowExecutionStatus.RUNNING:
                await handle.cancel()
                return True
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise _unavailable(error) from error
        return False

    def dream_id(self, consolidation: Consolidation) -> str:
        """Workflow id of a consolidation's turn."""
        return workflow_id(self._prefix, "dream", consolidation.user_id, str(consolidation.id))

    async def start_review(self, consolidation: Consolidation) -> None:
        """Start the workflow that waits for a person's decisions; it runs already: does nothing."""
        try:
            await self._client.start_workflow(
                ReviewWorkflow.run,
                ReviewRequest(consolidation=ref_of(consolidation), prefix=self._prefix),
                **self._review(consolidation),
            )
        except RPCError as error:
            raise _unavailable(error) from error

    async def decide(self, consolidation: Consolidation, decision: PairDecision) -> None:
        """Hand a person's decision to the review's workflow, started again if it has closed; returns once it is
        stored. Raises MergeConflict or NotFound as storing it did."""
        start = WithStartWorkflowOperation(
            ReviewWorkflow.run,
            ReviewRequest(consolidation=ref_of(consolidation), prefix=self._prefix),
            **self._review(consolidation),
        )
        try:
            async with asyncio.timeout(DECISION_SECONDS):
                await self._client.execute_update_with_start_workflow(
                    ReviewWorkflow.decide, decision, start_workflow_operation=start
                )
        except WorkflowUpdateFailedError as error:
            raise _refusal(error.cause) from error
        except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError from error
            raise Unavailable("no worker has taken the decision yet; ask again, it may be stored by then") from error
        except RPCError as error:
            raise _unavailable(error) from error

    def _review(self, consolidation: Consolidation) -> dict[str, Any]:
        identity = str(consolidation.id)
        return {
            "id": workflow_id(self._prefix, "review", consolidation.user_id, identity),
            "task_queue": self._queue,
            "id_conflict_policy": WorkflowIDConflictPolicy.USE_EXISTING,
            "search_attributes": told_by("review", user_id=consolidation.user_id, request=identity),
            "static_summary": "Merges that wait for a person",
            "priority": fair(consolidation.user_id),
        }

    async def start_batch(self, user_id: str, batch_id: UUID) -> None:
        """Start the workflow that feeds a batch's inputs to the memory; it runs already: does nothing."""
        try:
            await self._client.start_workflow(
                BatchWorkflow.run,
                BatchRequest(user_id=user_id, batch_id=batch_id, prefix=self._prefix),
                id=workflow_id(self._prefix, "batch", user_id, str(batch_id)),
                task_queue=self._queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                search_attributes=told_by("batch", user_id=user_id, request=str(batch_id)),
                static_summary="Inputs with AutoDream between them",
                priority=fair(user_id),
            )
        except RPCError as error:
            raise _unavailable(error) from error

    def _handle(self, job: Job) -> WorkflowHandle[IngestWorkflow, object]:
        return self._client.get_workflow_handle_for(IngestWorkflow.run, self.ingest_id(job))


def _refusal(cause: BaseException | None) -> ReverieError:
    """What storing a decision raised, as ours."""
    if isinstance(cause, ApplicationError):
        kinds: tuple[type[ReverieError], ...] = (MergeConflict, NotFound)
        for kind in kinds:
            if cause.type == kind.type:
                return kind(cause.message)
    return Unavailable("the decision could not be stored; try again")


def _unavailable(error: RPCError) -> Unavailable:
    return Unavailable(f"the workflow server answered {error.status.name}")
