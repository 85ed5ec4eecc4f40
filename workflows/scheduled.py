"""A run of a schedule: the round of one user, or of every user with news."""

import asyncio
from collections.abc import Collection

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception
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
    """Asks for rounds and waits for their ends, a bounded number at a time; users take turns by fairness.

    Goes on as new after a page of users, and before looking at long rounds fills its history.
    """

    @workflow.init
    def __init__(self, request: ScheduledRequest) -> None:
        self._options = Policies(request.prefix)
        self._places = asyncio.Semaphore(ROUNDS_AT_A_TIME)
        self._ends: dict[str, DreamOutcome] = {}

    @workflow.run
    async def run(self, request: ScheduledRequest) -> ScheduledOutcome:
        """Counts the rounds by how they ended."""
        request = request.model_copy(update={"run": request.run or workflow.info().first_execution_run_id})
        users = request.left or await self._users(request)
        await asyncio.gather(*(self._round(request, user_id) for user_id in users))
        outcome = _counted(request.outcome or ScheduledOutcome(), self._ends.values())
        left = tuple(user_id for user_id in users if user_id not in self._ends)
        last_page = request.user_id is not None or (not request.left and len(users) < USERS_A_PAGE)
        if left or not last_page:
            after = request.after if request.left else users[-1]
            workflow.continue_as_new(request.model_copy(update={"after": after, "left": left, "outcome": outcome}))
        return outcome

    async def _users(self, request: ScheduledRequest) -> tuple[str, ...]:
        if request.user_id is not None:
            return (request.user_id,)
        page = await workflow.execute_activity_method(
            ConsolidationSteps.frontier_users,
            UserPage(after=request.after, limit=USERS_A_PAGE),
            **self._options.bookkeeping,
        )
        return page.user_ids

    async def _round(self, request: ScheduledRequest, user_id: str) -> None:
        """Notes how the round ended; one that can't be asked for is a failed one, and no other user's matter."""
        async with self._places:
            try:
                outcome = await self._outcome(request, user_id)
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                outcome = DreamOutcome(state=ConsolidationState.FAILED)
        if outcome is not None:
            self._ends[user_id] = outcome

    async def _outcome(self, request: ScheduledRequest, user_id: str) -> DreamOutcome | None:
        """None where the history is full before the round has ended: asked for again, it is the same."""
        if workflow.info().is_continue_as_new_suggested():
            return None
        asked = ScheduledRound(
            user_id=user_id,
            schedule=request.schedule,
            run=request.run,
            mode=request.mode,
            review=request.review,
            timeout_seconds=request.timeout_seconds,
        )
        options = self._options.bookkeeping | ActivityConfig(priority=fair(user_id))
        ref = await workflow.execute_activity_method(ConsolidationSteps.request_round, asked, **options)
        pause = FIRST_LOOK
        while True:
            outcome = await workflow.execute_activity_method(ConsolidationSteps.look_at_round, ref, **options)
            if outcome.settled:
                return outcome
            if workflow.info().is_continue_as_new_suggested():
                return None
            await workflow.sleep(pause)
            pause = min(pause * 2, LONGEST_LOOK)


def _counted(before: ScheduledOutcome, ends: Collection[DreamOutcome]) -> ScheduledOutcome:
    return ScheduledOutcome(
        rounds=before.rounds + len(ends),
        failed=before.failed + sum(end.state is ConsolidationState.FAILED for end in ends),
        merged=before.merged + sum(end.merged for end in ends),
    )
