"""Steps of AutoDream that do nothing but note that they ran, and fail or hang where they are told to."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from temporalio import activity
from temporalio.exceptions import ApplicationError

from domain.dream.rounds import ConsolidationState
from domain.messages import (
    BatchRequest,
    BatchStep,
    ChunkTask,
    ConsolidationRef,
    DreamEnd,
    DreamOutcome,
    Formed,
    PairDecision,
    PairsTask,
    StageTask,
    StepCount,
    Tally,
)


class ScriptedDream:
    """`pairs` are formed in the main stage; `failing` maps a step to the type of its error; `hanging` steps never end.

    `plans` says for which chunk of a batch a round is due; `batch` is how many of its inputs have ended, look by look.
    """

    def __init__(
        self,
        *,
        pairs: int = 0,
        merged: int = 0,
        failing: dict[str, str] | None = None,
        hanging: Sequence[str] = (),
        plans: dict[int, ConsolidationRef] | None = None,
        batch: Sequence[BatchStep] = (),
        pending: int = 0,
    ) -> None:
        self.pairs = tuple(UUID(int=number + 1) for number in range(pairs))
        self.merged = merged
        self.failing = failing or {}
        self.hanging = hanging
        self.plans = plans or {}
        self.batch = list(batch)
        self.pending = pending
        self.ran: list[str] = []
        self.ends: list[DreamEnd] = []
        self.asked: list[UUID] = []
        self.at_once = 0
        self.most_at_once = 0
        self.changed = asyncio.Condition()

    async def until(self, met: Callable[[], bool]) -> None:
        """Returns once something that was noted meets a condition."""
        async with self.changed:
            await asyncio.wait_for(self.changed.wait_for(met), timeout=60)

    async def _step(self, name: str) -> None:
        async with self.changed:
            self.ran.append(name)
            self.changed.notify_all()
        if (kind := self.failing.get(name)) is not None:
            raise ApplicationError("scripted", type=kind, non_retryable=True)
        while name in self.hanging:
            activity.heartbeat()
            await asyncio.sleep(0.05)

    @activity.defn
    async def begin(self, task: ConsolidationRef) -> None:
        await self._step("begin")

    @activity.defn
    async def index_names(self, task: ConsolidationRef) -> None:
        await self._step("index_names")

    @activity.defn
    async def take_frontier(self, task: StageTask) -> StepCount:
        await self._step(f"take_frontier {task.stage}")
        return StepCount(done=3)

    @activity.defn
    async def form_pairs(self, task: StageTask) -> Formed:
        await self._step(f"form_pairs {task.stage}")
        return Formed(pairs=self.pairs, cached=1, unreached=2)

    @activity.defn
    async def verify(self, task: PairsTask) -> StepCount:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self._step("verify")
            await asyncio.sleep(0.05)
        finally:
            self.at_once -= 1
        self.asked += task.pairs
        return StepCount(done=len(task.pairs))

    @activity.defn
    async def merge_pairs(self, task: StageTask) -> StepCount:
        await self._step(f"merge_pairs {task.stage}")
        return StepCount(done=self.merged)

    @activity.defn
    async def merge_approved(self, task: ConsolidationRef) -> StepCount:
        await self._step("merge_approved")
        return StepCount(done=self.merged)

    @activity.defn
    async def by_hand(self, task: ConsolidationRef) -> Tally:
        await self._step("by_hand")
        return Tally(undone=1)

    @activity.defn
    async def end(self, end: DreamEnd) -> DreamOutcome:
        async with self.changed:
            self.ends.append(end)
            self.changed.notify_all()
        state = ConsolidationState.COMPLETED
        if end.reason:
            state = ConsolidationState.CANCELLED if end.cancelled else ConsolidationState.FAILED
        return DreamOutcome(state=state, merged=end.tally.merged)

    @activity.defn
    async def decide(self, decision: PairDecision) -> DreamOutcome:
        await self._step("decide")
        self.pending -= 1
        return DreamOutcome(state=ConsolidationState.REVIEW, pending=self.pending)

    @activity.defn
    async def plan_round(self, task: ChunkTask) -> ConsolidationRef | None:
        await self._step(f"plan_round {task.ordinal}")
        return self.plans.get(task.ordinal)

    @activity.defn
    async def advance(self, task: BatchRequest) -> BatchStep:
        await self._step("advance")
        return self.batch.pop(0)

    @activity.defn
    async def finish_batch(self, task: BatchRequest) -> None:
        await self._step("finish_batch")

    def steps(self) -> Sequence[Callable[..., Any]]:
        """All of them, for a worker."""
        rounds: list[Callable[..., Any]] = [self.begin, self.index_names, self.take_frontier, self.form_pairs]
        merging: list[Callable[..., Any]] = [self.verify, self.merge_pairs, self.merge_approved, self.by_hand]
        return [*rounds, *merging, self.end, self.decide, self.plan_round, self.advance, self.finish_batch]
