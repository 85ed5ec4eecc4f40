"""A run of a schedule: the round of one user, or of every user with news."""

import asyncio
from collections.abc import Sequence

from temporalio import workflow
from temporalio.workflow import ActivityConfig

with workflow.unsafe.imports_passed_through():
    from activities.signatures import ConsolidationSteps
    from domain.dream.rounds import ConsolidationState
    from domain.messages import (
        DreamOutcome,
        ScheduledOutcome,
        ScheduledRequest,
        ScheduledRound,
        UserPage,
    )
    from workflows.policies import FIRST_LOOK, LONGEST_LOOK, ROUNDS_AT_A_TIME, USERS_A_PAGE, Policies, fair


@workflow.defn
class ScheduledWorkflow:
    """Asks for rounds and waits for their ends, a bounded number at a time; users take turns by fairness."""

    @workflow.init
    def __init__(self, request: ScheduledRequest) -> None:
        self._options = Policies(request.prefix)
        self._places = asyncio.Semaphore(ROUNDS_AT_A_TIME)

    @workflow.run
    async def run(self, request: ScheduledRequest) -> ScheduledOutcome:
        """Counts the rounds by how they ended."""
        request = request.model_copy(update={"run": request.run or workflow.info().first_execution_run_id})
        if request.user_id is not None:
            return await self._rounds(request, [request.user_id])
        page = await workflow.execute_activity_method(
            ConsolidationSteps.frontier_users,
            UserPage(after=request.after, limit=USERS_A_PAGE),
            **self._options.bookkeeping,
        )
        outcome = await self._rounds(request, page.user_ids)
        if len(page.user_ids) == USERS_A_PAGE:
            workflow.continue_as_new(request.model_copy(update={"after": page.user_ids[-1], "outcome": outcome}))
        return outcome

    async def _rounds(self, request: ScheduledRequest, user_ids: Sequence[str]) -> ScheduledOutcome:
        ends = await asyncio.gather(*(self._round(request, user_id) for user_id in user_ids))
        before = request.outcome or ScheduledOutcome()
        return ScheduledOutcome(
            rounds=before.rounds + len(ends),
            failed=before.failed + sum(end.state is ConsolidationState.FAILED for end in ends),
            merged=before.merged + sum(end.merged for end in ends),
        )

    async def _round(self, request: ScheduledRequest, user_id: str) -> DreamOutcome:
        asked = ScheduledRound(
            user_id=user_id,
            schedule=request.schedule,
            run=request.run,
            mode=request.mode,
            review=request.review,
            timeout_seconds=request.timeout_seconds,
        )
        options = self._options.bookkeeping | ActivityConfig(priority=fair(user_id))
        async with self._places:
            ref = await workflow.execute_activity_method(ConsolidationSteps.request_round, asked, **options)
            pause = FIRST_LOOK
            while True:
                outcome = await workflow.execute_activity_method(ConsolidationSteps.look_at_round, ref, **options)
                if outcome.settled:
                    return outcome
                await workflow.sleep(pause)
                pause = min(pause * 2, LONGEST_LOOK)
