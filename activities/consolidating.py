"""Bookkeeping of consolidations, reviews, batches and schedules: short, idempotent, never a model call."""

from temporalio import activity

from activities.failures import typed
from activities.recorded import Clock
from activities.signatures import ConsolidationSteps
from domain.dream.candidates import BATCH_CHUNKS
from domain.dream.rounds import (
    Consolidation,
    ConsolidationState,
    Mode,
    NewConsolidation,
    Pair,
    PairState,
    Receipt,
    final_request,
    round_request,
)
from domain.errors import MergeConflict, NotFound
from domain.keys import anchor_key
from domain.messages import (
    BatchRequest,
    BatchStep,
    ChunkTask,
    ConsolidationRef,
    DreamEnd,
    DreamOutcome,
    PairDecision,
    ScheduledRound,
    UserPage,
    Users,
    ref_of,
)
from domain.ports import ConsolidationStore, GraphStore, JobStore, WorkflowStarter

BATCH_WINDOW = 16
"""Inputs of a batch under way at a time: enough to keep the models busy while the graph takes one after the other."""
INGEST = "ingest"
"""Who asks for the rounds of a batch."""


class Consolidating(ConsolidationSteps):
    """The consolidation steps over the ports."""

    def __init__(
        self,
        consolidations: ConsolidationStore,
        jobs: JobStore,
        graph: GraphStore,
        starter: WorkflowStarter,
        clock: Clock,
    ) -> None:
        self._consolidations = consolidations
        self._jobs = jobs
        self._graph = graph
        self._starter = starter
        self._clock = clock

    @activity.defn
    @typed
    async def end(self, end: DreamEnd) -> DreamOutcome:
        ref = end.consolidation
        state = _state_of(end)
        if state in (ConsolidationState.COMPLETED, ConsolidationState.REVIEW) and not ref.dry_run:
            await self._remember(ref)
        ended = await self._consolidations.end(
            ref.consolidation_id,
            state,
            receipt=Receipt(**end.tally.model_dump()),
            now=self._clock(),
            step=end.step,
            reason=end.reason,
            detail=end.detail,
        )
        if ended.state is ConsolidationState.REVIEW:
            await self._starter.start_review(ended)
        if ended.state in (ConsolidationState.FAILED, ConsolidationState.CANCELLED):
            await let_go(ended, self._consolidations, self._graph)
        await self._starter.wake_queue(ref.user_id)
        return outcome_of(ended)

    async def _remember(self, ref: ConsolidationRef) -> None:
        """Explicit rejections, so that they are not asked again; and the sources that have had their turn (A.5)."""
        rejected = await self._consolidations.pairs(ref.consolidation_id, states=(PairState.REJECTED,))
        keys = sorted({pair.key for pair in rejected})
        await self._consolidations.reject(ref.user_id, keys, now=self._clock())
        used = await self._consolidations.used_sources(ref.consolidation_id)
        await self._graph.leave_frontier(ref.user_id, used)

    @activity.defn
    @typed
    async def decide(self, decision: PairDecision) -> DreamOutcome:
        asked = await self._consolidations.consolidation(decision.user_id, decision.consolidation_id)
        pair = await self._pair(asked, decision)
        if pair.state is PairState.PENDING:
            apart = await self._apart(asked.user_id, pair)
            decided = _decided(pair, decision) if apart else pair.model_copy(update={"state": PairState.STALE})
            await self._consolidations.decide(decided, now=self._clock())
            pair = await self._pair(asked, decision)
        await self._starter.wake_queue(asked.user_id)
        _check_stands(pair, decision)
        asked = await self._consolidations.consolidation(decision.user_id, decision.consolidation_id)
        waiting = await self._consolidations.pairs(asked.id, states=(PairState.PENDING,))
        return DreamOutcome(state=asked.state, merged=asked.receipt.merged, pending=len(waiting))

    async def _apart(self, user_id: str, pair: Pair) -> bool:
        """Whether the names still denote two anchors."""
        keys = {anchor_key(pair.a.name), anchor_key(pair.b.name)}
        return len({anchor.id for anchor in (await self._graph.resolve(user_id, sorted(keys))).values()}) == 2

    async def _pair(self, asked: Consolidation, decision: PairDecision) -> Pair:
        for pair in await self._consolidations.pairs(asked.id):
            if pair.id == decision.pair_id:
                return pair
        raise NotFound(f"consolidation {asked.id} has no pair {decision.pair_id}")

    @activity.defn
    @typed
    async def plan_round(self, task: ChunkTask) -> ConsolidationRef | None:
        job = await self._jobs.job(task.job.user_id, task.job.job_id)
        if job.batch_id is None:
            return None
        chunk = await self._jobs.chunk(job.id, task.ordinal)
        number = await self._jobs.note_chunk(job.batch_id, chunk.id)
        if number % BATCH_CHUNKS:
            return None
        chunks = await self._jobs.noted_chunks(job.batch_id, after=number - BATCH_CHUNKS, up_to=number)
        asked = NewConsolidation(
            user_id=job.user_id,
            request_id=round_request(job.batch_id, number),
            mode=Mode.INTERMEDIATE,
            chunk_ids=tuple(sorted(chunks)),
            actor=INGEST,
        )
        requested = await self._consolidations.request(asked, now=self._clock())
        return None if requested.consolidation.ended else ref_of(requested.consolidation)

    @activity.defn
    @typed
    async def advance(self, task: BatchRequest) -> BatchStep:
        for job in await self._jobs.next_jobs(task.batch_id, window=BATCH_WINDOW):
            await self._starter.start_ingest(job)
        batch = await self._jobs.batch(task.user_id, task.batch_id)
        return BatchStep(jobs=batch.jobs, ended=batch.ended)

    @activity.defn
    @typed
    async def finish_batch(self, task: BatchRequest) -> None:
        batch = await self._jobs.batch(task.user_id, task.batch_id)
        asked = NewConsolidation(
            user_id=task.user_id,
            request_id=final_request(batch.id, batch.jobs),
            mode=Mode.FINAL,
            actor=INGEST,
        )
        await self._consolidations.request(asked, now=self._clock())
        await self._starter.wake_queue(task.user_id)

    @activity.defn
    @typed
    async def frontier_users(self, task: UserPage) -> Users:
        return Users(user_ids=await self._graph.users_with_frontier(after=task.after, limit=task.limit))

    @activity.defn
    @typed
    async def request_round(self, task: ScheduledRound) -> ConsolidationRef:
        asked = NewConsolidation(
            user_id=task.user_id,
            request_id=f"schedule/{task.schedule}/{task.run}",
            mode=task.mode,
            review=task.review,
            actor=f"schedule/{task.schedule}",
            timeout_seconds=task.timeout_seconds,
        )
        requested = await self._consolidations.request(asked, now=self._clock())
        await self._starter.wake_queue(task.user_id)
        return ref_of(requested.consolidation)

    @activity.defn
    @typed
    async def look_at_round(self, task: ConsolidationRef) -> DreamOutcome:
        return outcome_of(await self._consolidations.consolidation(task.user_id, task.consolidation_id))


def outcome_of(consolidation: Consolidation) -> DreamOutcome:
    """What a workflow is told of a consolidation."""
    receipt = consolidation.receipt
    return DreamOutcome(state=consolidation.state, merged=receipt.merged, pending=receipt.pending)


async def let_go(ended: Consolidation, consolidations: ConsolidationStore, graph: GraphStore) -> None:
    """What a review leaves undecided is found by a round again: the ends of its pairs go back to the frontier."""
    left = await consolidations.pairs(ended.id, states=(PairState.PENDING, PairState.APPROVED))
    ends = {end.anchor_id for pair in left for end in (pair.a, pair.b)}
    await graph.rejoin_frontier(ended.user_id, sorted(ends))


def _state_of(end: DreamEnd) -> ConsolidationState:
    if end.cancelled:
        return ConsolidationState.CANCELLED
    if end.reason:
        return ConsolidationState.FAILED
    return ConsolidationState.REVIEW if end.consolidation.review else ConsolidationState.COMPLETED


def _decided(pair: Pair, decision: PairDecision) -> Pair:
    """The pair as decided. Raises MergeConflict for a name that is neither of the two."""
    canonical = decision.canonical or pair.canonical
    if canonical not in (pair.a.anchor_id, pair.b.anchor_id):
        raise MergeConflict("the name that stays must be one of the two")
    state = PairState.APPROVED if decision.approve else PairState.DECLINED
    return pair.model_copy(update={"state": state, "canonical": canonical, "decided_by": decision.actor})


def _check_stands(pair: Pair, decision: PairDecision) -> None:
    """Raises MergeConflict unless the pair is decided so, now or before."""
    if pair.state is PairState.STALE:
        raise MergeConflict(
            "there is nothing to decide any more: the two are one anchor by now, or one of them is gone"
        )
    wanted = (PairState.APPROVED, PairState.MERGED) if decision.approve else (PairState.DECLINED,)
    if pair.state not in wanted:
        raise MergeConflict(f"the pair does not wait for this decision: it is {pair.state}")
    if decision.canonical not in (None, pair.canonical):
        raise MergeConflict("it was approved before, and the other name stays")
