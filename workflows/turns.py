"""A consolidation's turn, as the workflows that give it one run it."""

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ChildWorkflowError, is_cancelled_exception
from temporalio.exceptions import TimeoutError as TimedOut

with workflow.unsafe.imports_passed_through():
    from activities.signatures import ConsolidationSteps
    from domain.messages import ConsolidationRef, DreamEnd, DreamRequest
    from workflows.dream import DreamWorkflow
    from workflows.policies import Policies, workflow_id
    from workflows.steps import heed_cancellation, told_by

TIMED_OUT = "timed_out"


async def take_turn(ref: ConsolidationRef, prefix: str) -> None:
    """Run a consolidation to its end. One that does not end in time, or is ended from outside, has failed, and what
    waits behind it goes on."""
    identity = str(ref.consolidation_id)
    try:
        await workflow.execute_child_workflow(
            DreamWorkflow.run,
            DreamRequest(consolidation=ref, prefix=prefix),
            id=workflow_id(prefix, "dream", ref.user_id, identity),
            execution_timeout=timedelta(seconds=ref.timeout_seconds),
            search_attributes=told_by("dream", user_id=ref.user_id, request=identity),
            static_summary=f"Consolidation, {ref.mode}",
        )
    except ChildWorkflowError as error:
        cancelled = is_cancelled_exception(error)
        reason = TIMED_OUT if isinstance(error.cause, TimedOut) else "dream_ended"
        end = DreamEnd(consolidation=ref, step="dream", reason=reason, cancelled=cancelled)
        await workflow.execute_activity_method(ConsolidationSteps.end, end, **Policies(prefix).bookkeeping)
        heed_cancellation()
