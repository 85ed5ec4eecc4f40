"""A consolidation's turn at the user's graph: a round of AutoDream, merges that were approved, or a change by hand."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception
from temporalio.workflow import ActivityConfig

with workflow.unsafe.imports_passed_through():
    from activities.signatures import ConsolidationSteps, MergeSteps, RoundSteps
    from domain.dream.rounds import ROUNDS, Mode, Stage
    from domain.messages import (
        ConsolidationRef,
        DreamEnd,
        DreamOutcome,
        DreamRequest,
        PairsTask,
        StageTask,
        Tally,
    )
    from workflows.policies import PAIRS_A_STEP, STEPS_AT_A_TIME, Policies
    from workflows.steps import detail_of, heed_cancellation, reason_of, stage


T = TypeVar("T")
R = TypeVar("R")


@workflow.defn
class DreamWorkflow:
    """frontier -> candidates -> verification -> merge -> repair round (Algorithm 1, Dream). Run by the user's queue, or
    between the chunks of a batch, so that no write changes the graph meanwhile; evidence commits go on."""

    @workflow.init
    def __init__(self, request: DreamRequest) -> None:
        self._options = Policies(request.prefix)
        self._places = asyncio.Semaphore(STEPS_AT_A_TIME)
        self._at = ""
        """The step under way, for the note of a failure."""

    @workflow.run
    async def run(self, request: DreamRequest) -> DreamOutcome:
        """Ends the consolidation, also when a step fails or the workflow is cancelled."""
        ref = request.consolidation
        try:
            tally = await self._work(ref)
        except (asyncio.CancelledError, ActivityError) as error:
            cancelled = is_cancelled_exception(error)
            reason = "cancelled" if cancelled else reason_of(error)
            detail = "" if cancelled else detail_of(error)
            end = DreamEnd(consolidation=ref, step=self._at, reason=reason, detail=detail, cancelled=cancelled)
            await self._end(end)
            if cancelled:
                raise
            raise ApplicationError(f"consolidation ended: {reason}", type=reason, non_retryable=True) from None
        return await self._end(DreamEnd(consolidation=ref, tally=tally))

    async def _work(self, ref: ConsolidationRef) -> Tally:
        await self._step(RoundSteps.begin, ref, self._options.bookkeeping)
        if ref.applying:
            merged = await self._step(MergeSteps.merge_approved, ref, self._options.graph)
            return Tally(merged=merged.done)
        if ref.mode not in ROUNDS:
            return await self._step(MergeSteps.by_hand, ref, self._options.graph)
        await self._step(RoundSteps.index_names, ref, self._options.graph)
        tally = await self._stage(ref, Stage.MAIN)
        if ref.mode is Mode.FINAL and tally.merged:
            repair = await self._stage(ref, Stage.REPAIR)
            tally = (tally + repair).model_copy(update={"merged": repair.merged})
        return tally

    async def _stage(self, ref: ConsolidationRef, which: Stage) -> Tally:
        task = StageTask(consolidation=ref, stage=which)
        stage(f"{which}: frontier")
        taken = await self._step(RoundSteps.take_frontier, task, self._options.graph)
        stage(f"{which}: candidates")
        formed = await self._step(RoundSteps.form_pairs, task, self._options.graph)
        stage(f"{which}: verification")
        slices = [formed.pairs[start : start + PAIRS_A_STEP] for start in range(0, len(formed.pairs), PAIRS_A_STEP)]
        await asyncio.gather(*(self._verify(PairsTask(consolidation=ref, pairs=pairs)) for pairs in slices))
        stage(f"{which}: merge")
        merged = await self._step(MergeSteps.merge_pairs, task, self._options.graph)
        return Tally(frontier=taken.done, cached=formed.cached, unreached=formed.unreached, merged=merged.done)

    async def _verify(self, task: PairsTask) -> None:
        async with self._places:
            await self._step(RoundSteps.verify, task, self._options.model)

    async def _step(self, step: Callable[[Any, T], Awaitable[R]], task: T, options: ActivityConfig) -> R:
        self._at = step.__name__
        result = await workflow.execute_activity_method(step, task, **options)
        heed_cancellation()
        return result

    async def _end(self, end: DreamEnd) -> DreamOutcome:
        outcome = await workflow.execute_activity_method(ConsolidationSteps.end, end, **self._options.bookkeeping)
        stage(outcome.state)
        return outcome
