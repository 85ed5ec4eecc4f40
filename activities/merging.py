"""From verdicts to the graph, and back: merges of a round, of a review and by hand, splits and undoing."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from temporalio import activity

from activities.failures import typed
from activities.recorded import Clock, RecordedCalls
from activities.signatures import MergeSteps
from domain.dream.applying import (
    Couple,
    alias_of,
    couples,
    guard,
    joins,
    leaves_with,
    merge_forbidden,
    same_pair,
    undo_order,
)
from domain.dream.candidates import SHARED_FRAMES, pair_key
from domain.dream.merging import Group, Grouping, SamePair, grouped
from domain.dream.rounds import Consolidation, Mode, Pair, PairState, Stage, merge_id
from domain.errors import MergeConflict, NotFound
from domain.graph import AnchorWrite, Joined, Merge, MergeState
from domain.jobs import anchor_id
from domain.keys import anchor_key
from domain.memory import Anchor
from domain.messages import ConsolidationRef, JobRef, StageTask, StepCount, Tally
from domain.ports import ConsolidationStore, GraphStore, RecordStore

MERGES_A_PAGE = 500
SPLIT_RECORDS = 2_000
"""Records of an anchor that a split looks through at most."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a set of pairs comes to."""

    joining: Sequence[Pair]
    groups: Sequence[Group]


class Merging(MergeSteps):
    """The merge steps over the ports."""

    def __init__(
        self,
        consolidations: ConsolidationStore,
        records: RecordStore,
        graph: GraphStore,
        calls: RecordedCalls,
        clock: Clock,
    ) -> None:
        self._consolidations = consolidations
        self._records = records
        self._graph = graph
        self._calls = calls
        self._clock = clock

    @activity.defn
    @typed
    async def merge_pairs(self, task: StageTask) -> StepCount:
        ref = task.consolidation
        plan = await self._plan(ref, PairState.SAME, task.stage)
        if ref.dry_run or ref.review:
            await self._settle(plan.joining, PairState.PROPOSED if ref.dry_run else PairState.PENDING)
            return StepCount()
        return await self._merge(ref, plan)

    @activity.defn
    @typed
    async def merge_approved(self, task: ConsolidationRef) -> StepCount:
        return await self._merge(task, await self._plan(task, PairState.APPROVED))

    async def _plan(self, ref: ConsolidationRef, state: PairState, stage: Stage | None = None) -> Plan:
        """What the pairs of a state come to. Those that can't join are settled; one that is one anchor already is
        merged if that was an earlier attempt of this step or another pair, and stale if it was not this consolidation.
        """
        pairs = await self._consolidations.pairs(ref.consolidation_id, stage=stage, states=(state,))
        owners = await self._owners(ref.user_id, pairs)
        made = {merge.representative for merge in await self._merges_of(ref.user_id, ref.consolidation_id)}
        placed = {pair.key: same_pair(pair, owners) for pair in pairs}
        same = sorted(
            (one for one in placed.values() if one is not None and (one.a != one.b or one.a in made)),
            key=lambda one: one.key,
        )
        open_keys = {one.key for one in same}
        await self._settle([pair for pair in pairs if pair.key not in open_keys], PairState.STALE)
        grouping = await self._grouped(ref.user_id, [one for one in same if one.a != one.b], owners)
        refused = {refusal.key: refusal.reason for refusal in grouping.refused}
        guarded = [pair.model_copy(update={"reason": refused[pair.key]}) for pair in pairs if pair.key in refused]
        await self._settle(guarded, PairState.GUARDED)
        allowed = {one.key for one in same} - refused.keys()
        return Plan(joining=[pair for pair in pairs if pair.key in allowed], groups=grouping.groups)

    async def _grouped(self, user_id: str, same: Sequence[SamePair], owners: Mapping[str, Anchor]) -> Grouping:
        anchors = {anchor.id: anchor for anchor in owners.values()}
        weights = {identity: anchor.mentions for identity, anchor in anchors.items()}
        shared = await self._shared(user_id, couples(same))
        return grouped(same, weights, forbidden=guard(anchors, shared))

    async def _merge(self, ref: ConsolidationRef, plan: Plan) -> StepCount:
        made = joins(ref.consolidation_id, plan.groups)
        if made:
            await self._graph.merge(ref.user_id, made, consolidation=ref.consolidation_id, now=self._clock())
        await self._settle(plan.joining, PairState.MERGED)
        return StepCount(done=len(await self._merges_of(ref.user_id, ref.consolidation_id)))

    async def _owners(self, user_id: str, pairs: Iterable[Pair]) -> Mapping[str, Anchor]:
        """The anchors, without record ids, that the names of pairs denote now, by key."""
        keys = {anchor_key(end.name) for pair in pairs for end in (pair.a, pair.b)}
        return await self._graph.resolve(user_id, sorted(keys))

    async def _shared(self, user_id: str, asked: Sequence[Couple]) -> Mapping[Couple, Sequence[Sequence[str]]]:
        """The texts that the common frames of couples cite."""
        frames = await self._graph.shared_frames(user_id, asked, limit=SHARED_FRAMES)
        ids = sorted({record for each in frames for cited in each for record in cited})
        texts = {record.id: record.text for record in await self._records.records(user_id, ids)}
        return {
            couple: [[texts[record] for record in cited if record in texts] for cited in each]
            for couple, each in zip(asked, frames, strict=True)
        }

    async def _settle(self, pairs: Sequence[Pair], state: PairState) -> None:
        if pairs:
            await self._consolidations.settle([pair.model_copy(update={"state": state}) for pair in pairs])

    async def _merges_of(self, user_id: str, consolidation: UUID) -> Sequence[Merge]:
        found: list[Merge] = []
        while page := await self._graph.merges(
            user_id, consolidation=consolidation, after=found[-1].id if found else None, limit=MERGES_A_PAGE
        ):
            found += page
        return found

    @activity.defn
    @typed
    async def by_hand(self, task: ConsolidationRef) -> Tally:
        asked = await self._consolidations.consolidation(task.user_id, task.consolidation_id)
        if asked.target is None:
            raise NotFound("nothing was named")
        works = {Mode.MERGE: self._merge_two, Mode.SPLIT: self._split, Mode.UNDO: self._undo}
        return await works[asked.mode](asked, asked.target)

    async def _merge_two(self, asked: Consolidation, target: UUID) -> Tally:
        if asked.absorbed is None:
            raise NotFound("nothing was named to merge")
        made = Joined(id=merge_id(asked.id, asked.absorbed), absorbed=asked.absorbed, representative=target)
        if made.id not in {merge.id for merge in await self._merges_of(asked.user_id, asked.id)}:
            await self._check_merge(asked, target, asked.absorbed)
            await self._graph.merge(asked.user_id, [made], consolidation=asked.id, now=self._clock())
        return Tally(merged=1)

    async def _check_merge(self, asked: Consolidation, target: UUID, absorbed: UUID) -> None:
        one, other = await self._anchor(asked.user_id, target), await self._anchor(asked.user_id, absorbed)
        couple = (min(target, absorbed), max(target, absorbed))
        shared = await self._shared(asked.user_id, [couple])
        reason = merge_forbidden(one, other, shared[couple])
        if reason is not None and not asked.force:
            raise MergeConflict(f"the two may not be one ({reason}); force it if you know better")

    async def _anchor(self, user_id: str, identity: UUID) -> Anchor:
        found = await self._graph.anchors(user_id, [identity])
        if not found:
            raise NotFound(f"no anchor {identity}")
        return found[0]

    async def _undo(self, asked: Consolidation, target: UUID) -> Tally:
        every = await self._merges_of(asked.user_id, target)
        chosen = [merge for merge in every if asked.absorbed in (None, merge.absorbed)]
        if not chosen:
            raise NotFound(f"consolidation {target} has merged nothing" + (" of this anchor" if asked.absorbed else ""))
        standing = [merge for merge in chosen if merge.state is MergeState.APPLIED]
        await self._check_undo(asked.user_id, standing)
        return await self._take_back(asked, [*standing, *(merge for merge in chosen if merge.undone_by == asked.id)])

    async def _check_undo(self, user_id: str, merges: Sequence[Merge]) -> None:
        """Before anything is undone: no merge outside may stand in the way."""
        inside = {merge.id for merge in merges}
        for representative in sorted({merge.representative for merge in merges}):
            for later in await self._graph.merges(user_id, anchor=representative, limit=MERGES_A_PAGE):
                absorbed_since = later.absorbed == representative and later.state is MergeState.APPLIED
                if absorbed_since and later.id not in inside:
                    raise MergeConflict(f"undo consolidation {later.consolidation_id} first: it merged what this made")

    async def _take_back(self, asked: Consolidation, merges: Collection[Merge]) -> Tally:
        """Undo in order, and remember that a person holds the two apart."""
        kept = 0
        for merge in undo_order(merges):
            undone = await self._graph.unmerge(asked.user_id, merge.id, consolidation=asked.id, now=self._clock())
            kept += undone.kept
        keys = sorted({pair_key(each.absorbed_name, each.representative_name, each.type) for each in merges})
        await self._consolidations.reject(asked.user_id, keys, now=self._clock())
        return Tally(undone=len(merges), kept=kept)

    async def _split(self, asked: Consolidation, target: UUID) -> Tally:
        """A name that came by a merge leaves by undoing it; any other gets an anchor of its own."""
        key = anchor_key(asked.name)
        log = await self._graph.merges(asked.user_id, anchor=target, limit=MERGES_A_PAGE)
        came = [merge for merge in log if merge.representative == target and anchor_key(merge.absorbed_name) == key]
        standing = [merge for merge in came if merge.state is MergeState.APPLIED or merge.undone_by == asked.id]
        if standing:
            return await self._take_back(asked, standing)
        return await self._detach(asked, target, key)

    async def _detach(self, asked: Consolidation, target: UUID, key: str) -> Tally:
        owner = (await self._graph.resolve(asked.user_id, [key])).get(key)
        if owner is not None and target != owner.id == anchor_id(asked.user_id, key):
            return Tally(undone=1)  # an earlier attempt got this far
        anchor = await self._anchor(asked.user_id, target)
        alias_of(anchor, asked.name)
        ids = (*anchor.semantic_ids, *anchor.episodic_ids)[:SPLIT_RECORDS]
        records = await self._records.records(asked.user_id, ids)
        leaving = [record.id for record in records if leaves_with(record.text, key, anchor)]
        job = JobRef(user_id=asked.user_id, job_id=asked.id)
        (vector,) = await self._calls.embed([asked.name], job=job, subject=asked.id, detail="split")
        write = AnchorWrite(id=anchor_id(asked.user_id, key), name=asked.name, key=key, type=anchor.type, vector=vector)
        await self._graph.detach(
            asked.user_id, target, write=write, record_ids=leaving, consolidation=asked.id, now=self._clock()
        )
        kept = len(records) - len(leaving)
        await self._consolidations.reject(
            asked.user_id, [pair_key(asked.name, anchor.name, anchor.type)], now=self._clock()
        )
        return Tally(undone=1, kept=kept)
