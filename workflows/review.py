"""The wait for a person's decisions on merges that a round holds back."""

import asyncio
from contextlib import suppress
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.signatures import ConsolidationSteps
    from domain.messages import DreamOutcome, PairDecision, ReviewRequest
    from workflows.policies import Policies
    from workflows.steps import detail_of, reason_of, stage


@workflow.defn
class ReviewWorkflow:
    """Takes decisions until none is missing, or until its time is over: what is undecided then stays pending, and a
    decision that comes later starts it again. What is approved is merged at the user's next turn."""

    @workflow.init
    def __init__(self, request: ReviewRequest) -> None:
        self._options = Policies(request.prefix)
        self._decided = False

    @workflow.run
    async def run(self, request: ReviewRequest) -> None:
        """Returns when nothing is pending, or time is over."""
        stage("review")
        with suppress(asyncio.TimeoutError):
            await workflow.wait_condition(lambda: self._decided, timeout=timedelta(seconds=request.wait_seconds))
        await workflow.wait_condition(workflow.all_handlers_finished)

    @workflow.update
    async def decide(self, decision: PairDecision) -> DreamOutcome:
        """Approve (with the name proposed or the other one) or reject a merge; returns once that is stored."""
        try:
            outcome = await workflow.execute_activity_method(
                ConsolidationSteps.decide, decision, **self._options.bookkeeping
            )
        except ActivityError as error:
            message = detail_of(error) or "the decision was not stored"
            raise ApplicationError(message, type=reason_of(error), non_retryable=True) from None
        self._decided = outcome.pending == 0
        return outcome
