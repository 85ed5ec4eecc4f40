"""The activities of a schedule's run without stores: users with news, and rounds that end as they are told."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any
from uuid import UUID, uuid5

from temporalio import activity
from temporalio.exceptions import ApplicationError

from domain.dream.rounds import ConsolidationState
from domain.jobs import NAMESPACE
from domain.messages import ConsolidationRef, DreamOutcome, ScheduledRound, UserPage, Users


class ScriptedRounds:
    """Rounds of `users`: they have ended when looked at for the `looks`th time."""

    def __init__(
        self, users: Sequence[str], *, looks: int = 1, failing: Collection[str] = (), refusing: Collection[str] = ()
    ) -> None:
        self.users = sorted(users)
        self.looks = looks
        self.failing = failing
        """Users whose rounds fail."""
        self.refusing = refusing
        """Users whose rounds can't even be asked for."""
        self.hung: set[str] = set()
        """Users whose rounds don't end."""
        self.pages: list[UserPage] = []
        self.asked: list[ScheduledRound] = []
        self.looked: Counter[UUID] = Counter()
        self.most_open = 0
        self._open: set[UUID] = set()
        self._changed = asyncio.Condition()

    async def asked_for(self, rounds: int) -> None:
        """Returns once that many rounds were asked for."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.asked) >= rounds)

    @activity.defn
    async def frontier_users(self, task: UserPage) -> Users:
        self.pages.append(task)
        return Users(user_ids=tuple([user for user in self.users if user > task.after][: task.limit]))

    @activity.defn
    async def request_round(self, task: ScheduledRound) -> ConsolidationRef:
        async with self._changed:
            self.asked.append(task)
            self._changed.notify_all()
        if task.user_id in self.refusing:
            raise ApplicationError("scripted", type="invalid_input", non_retryable=True)
        identity = uuid5(NAMESPACE, f"{task.schedule}/{task.run}/{task.user_id}")
        self._open.add(identity)
        self.most_open = max(self.most_open, len(self._open))
        return ConsolidationRef(user_id=task.user_id, consolidation_id=identity, mode=task.mode, review=task.review)

    @activity.defn
    async def look_at_round(self, task: ConsolidationRef) -> DreamOutcome:
        self.looked[task.consolidation_id] += 1
        if task.user_id in self.hung or self.looked[task.consolidation_id] < self.looks:
            return DreamOutcome(state=ConsolidationState.RUNNING)
        self._open.discard(task.consolidation_id)
        if task.user_id in self.failing:
            return DreamOutcome(state=ConsolidationState.FAILED)
        return DreamOutcome(state=ConsolidationState.COMPLETED, merged=1)

    def steps(self) -> Sequence[Callable[..., Any]]:
        """All of them, for a worker."""
        return [self.frontier_users, self.request_round, self.look_at_round]
