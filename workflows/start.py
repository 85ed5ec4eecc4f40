"""Typed starters: the workflow id is the idempotency key. Imported by no workflow."""

from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle
from temporalio.common import (
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from domain.errors import Unavailable
from domain.jobs import Job
from domain.messages import IngestRequest, JobRef, UserQueueRequest
from workflows.ingest import IngestWorkflow
from workflows.policies import KIND, USER, WORKFLOW_QUEUE, fair, queue, workflow_id
from workflows.steps import attributes
from workflows.user_queue import UserQueueWorkflow


def reference(job: Job) -> JobRef:
    """A job as workflows name it."""
    return JobRef(user_id=job.user_id, job_id=job.id, request_id=job.request_id, attempt=job.attempt)


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
        pairs = [SearchAttributePair(USER, user_id), SearchAttributePair(KIND, "queue")]
        try:
            await self._client.start_workflow(
                UserQueueWorkflow.run,
                UserQueueRequest(user_id=user_id, prefix=self._prefix),
                id=workflow_id(self._prefix, "queue", user_id),
                task_queue=self._queue,
                start_signal="wake",
                search_attributes=TypedSearchAttributes(pairs),
                static_summary="Graph changes in arrival order",
                priority=fair(user_id),
            )
        except RPCError as error:
            raise _unavailable(error) from error

    def _handle(self, job: Job) -> WorkflowHandle[IngestWorkflow, object]:
        return self._client.get_workflow_handle_for(IngestWorkflow.run, self.ingest_id(job))


def _unavailable(error: RPCError) -> Unavailable:
    return Unavailable(f"the workflow server answered {error.status.name}")
