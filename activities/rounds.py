"""A round of AutoDream up to its verdicts (Algorithm 1, Dream): frontier, candidates, verification."""

import asyncio
from collections.abc import Sequence
from hashlib import sha256
from uuid import UUID, uuid5

from temporalio import activity

from activities.failures import typed
from activities.recorded import Clock, RecordedCalls
from activities.signatures import RoundSteps
from domain.dream.candidates import (
    DREAM_SIMILARITY,
    EVIDENCE_ROWS,
    NEIGHBOURS,
    SOURCES,
    formed,
    pair_cap,
    select,
    with_rows,
)
from domain.dream.guards import judged
from domain.dream.rounds import Consolidation, Mode, Pair, PairEnd, PairState, Stage
from domain.dream.verifying import canonical_end, state_of, view_of
from domain.errors import ModelOutputInvalid
from domain.graph import MergeState, Neighbourhood
from domain.jobs import NAMESPACE
from domain.keys import anchor_key
from domain.messages import ConsolidationRef, Formed, JobRef, PairsTask, StageTask, StepCount
from domain.model_calls import Purpose, SameAnswer, SameRequest
from domain.ports import ConsolidationStore, GraphStore, MemoryModel, RecordStore

SOURCES_A_READ = 100
"""Sources whose nearest names are read in one statement: a few seconds at most, however many anchors the user has."""
MERGES_A_PAGE = 500


class Rounds(RoundSteps):
    """The steps of a round over the ports."""

    def __init__(
        self,
        consolidations: ConsolidationStore,
        records: RecordStore,
        graph: GraphStore,
        model: MemoryModel,
        calls: RecordedCalls,
        clock: Clock,
    ) -> None:
        self._consolidations = consolidations
        self._records = records
        self._graph = graph
        self._model = model
        self._calls = calls
        self._clock = clock

    @activity.defn
    @typed
    async def begin(self, task: ConsolidationRef) -> None:
        await self._consolidations.begin(task.consolidation_id, now=self._clock())

    @activity.defn
    @typed
    async def index_names(self, task: ConsolidationRef) -> None:
        await self._graph.index_names(task.user_id)

    @activity.defn
    @typed
    async def take_frontier(self, task: StageTask) -> StepCount:
        ref = task.consolidation
        asked = await self._consolidations.consolidation(ref.user_id, ref.consolidation_id)
        found = await (self._frontier(asked) if task.stage is Stage.MAIN else self._touched(asked))
        await self._consolidations.save_sources(asked.id, task.stage, found[:SOURCES])
        return StepCount(done=len(await self._consolidations.sources(asked.id, task.stage)))

    async def _frontier(self, asked: Consolidation) -> Sequence[UUID]:
        """Chunks just written -> new semantic records -> their anchors (paper 2.5); with a final round, or without
        chunks, also what waits for a round."""
        named: tuple[UUID, ...] = ()
        if asked.chunk_ids or asked.since is not None:
            named = await self._graph.mentioned(asked.user_id, await self._written(asked), limit=SOURCES)
            if asked.mode is not Mode.FINAL:
                return named
        waiting = await self._graph.frontier(asked.user_id, limit=SOURCES)
        return tuple(dict.fromkeys((*named, *waiting)))

    async def _written(self, asked: Consolidation) -> Sequence[UUID]:
        if asked.since is not None:
            return await self._records.semantic_since(asked.user_id, asked.since, limit=SOURCES)
        return await self._records.semantic_of(asked.user_id, asked.chunk_ids, limit=SOURCES)

    async def _touched(self, asked: Consolidation) -> Sequence[UUID]:
        """The representatives of the merges just made (paper A.5)."""
        log = await self._graph.merges(asked.user_id, consolidation=asked.id, limit=MERGES_A_PAGE)
        return sorted({merge.representative for merge in log if merge.state is MergeState.APPLIED})

    @activity.defn
    @typed
    async def form_pairs(self, task: StageTask) -> Formed:
        ref = task.consolidation
        sources = await self._consolidations.sources(ref.consolidation_id, task.stage)
        candidates = formed(await self._neighbourhoods(ref.user_id, sources))
        keys, own = sorted(candidates), ref.consolidation_id
        rejected = await self._consolidations.rejected(ref.user_id, keys)
        selection = select(
            candidates,
            consolidation=ref.consolidation_id,
            stage=task.stage,
            known=rejected | await self._consolidations.held(ref.user_id, keys, without=own),
            asked=await self._consolidations.asked(ref.user_id, keys, without=own),
            cap=pair_cap(ref.mode, task.stage),
        )
        ends = [(pair.a.anchor_id, pair.b.anchor_id) for pair in selection.pairs]
        rows = await self._graph.rows_of_pairs(ref.user_id, ends, limit=EVIDENCE_ROWS)
        pairs = with_rows(selection.pairs, rows)
        await self._consolidations.save_pairs(ref.consolidation_id, task.stage, pairs, waiting=selection.waiting)
        return Formed(pairs=tuple(pair.id for pair in pairs), cached=selection.cached, unreached=selection.unreached)

    async def _neighbourhoods(self, user_id: str, sources: Sequence[UUID]) -> list[Neighbourhood]:
        found: list[Neighbourhood] = []
        for start in range(0, len(sources), SOURCES_A_READ):
            asked = sources[start : start + SOURCES_A_READ]
            found += await self._graph.neighbourhoods(user_id, asked, limit=NEIGHBOURS, floor=DREAM_SIMILARITY)
        return found

    @activity.defn
    @typed
    async def verify(self, task: PairsTask) -> StepCount:
        open_pairs = await self._consolidations.pairs(task.consolidation.consolidation_id, states=(PairState.OPEN,))
        pairs = [pair for pair in open_pairs if pair.id in task.pairs]
        ends = await asyncio.gather(*(self._verify(task.consolidation, pair) for pair in pairs), return_exceptions=True)
        for end in ends:  # every answer is recorded before a failure is told
            if isinstance(end, BaseException):
                raise end
        return StepCount(done=sum(end is True for end in ends), failed=sum(end is False for end in ends))

    async def _verify(self, ref: ConsolidationRef, pair: Pair) -> bool:
        """False if no valid answer came: the pair stays open, as one that was not reached."""
        request = await self._request(ref.user_id, pair)
        if request is None:
            await self._consolidations.settle([pair.model_copy(update={"state": PairState.STALE})])
            return True
        try:
            answer = judged(request, await self._ask(ref, pair, request))
        except ModelOutputInvalid:
            return False
        update = {
            "state": state_of(answer),
            "verdict": answer.verdict,
            "canonical": canonical_end(pair, request, answer),
            "reason": answer.reason,
            "decided_by": self._model.name,
        }
        await self._consolidations.settle([pair.model_copy(update=update)])
        return True

    async def _request(self, user_id: str, pair: Pair) -> SameRequest | None:
        """What the model is asked; None if an end is gone."""
        keys = {anchor_key(pair.a.name), anchor_key(pair.b.name)}
        owners = {anchor.id: anchor for anchor in (await self._graph.resolve(user_id, sorted(keys))).values()}
        if not {pair.a.anchor_id, pair.b.anchor_id} <= owners.keys():
            return None
        texts = [await self._texts(user_id, end) for end in (pair.a, pair.b)]
        a, b = (view_of(owners[end.anchor_id], shown) for end, shown in zip((pair.a, pair.b), texts, strict=True))
        return SameRequest(type=pair.type.value, a=a, b=b)

    async def _texts(self, user_id: str, end: PairEnd) -> list[str]:
        return [record.text for record in await self._records.records(user_id, end.record_ids)]

    async def _ask(self, ref: ConsolidationRef, pair: Pair, request: SameRequest) -> SameAnswer:
        """Once for the same question of the same model, whichever round asks it."""
        asked = f"{self._model.name}\n{request.model_dump_json()}"
        return await self._calls.ask(
            self._model.same,
            request,
            SameAnswer,
            job=JobRef(user_id=ref.user_id, job_id=ref.consolidation_id),
            purpose=Purpose.SAME,
            subject=uuid5(NAMESPACE, f"pair\n{ref.user_id}\n{pair.key}"),
            detail=sha256(asked.encode("utf-8", "surrogatepass")).hexdigest(),
            model=self._model.name,
        )
