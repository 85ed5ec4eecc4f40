"""The part of the hypergraph in memory that AutoDream reads and changes (GraphStore, with tests/fakes/graph.py)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from uuid import UUID

from domain.dream.rounds import ConsolidationState
from domain.errors import ConsolidationEnded, GraphUnavailable, MergeConflict, NotFound
from domain.graph import AnchorHit, AnchorWrite, Joined, Merge, MergeState, Neighbourhood, Unmerged, Vector
from domain.keys import anchor_key
from domain.memory import Anchor, Frame, MemoryKind
from tests.fakes.stores import Evidence, dot

Arms = tuple[tuple[str, UUID], ...]

ROWS_CONSIDERED = 300


@dataclass
class Logged:
    """A merge with the absorbed anchor as it was. What it moved is marked True where it collided: the representative
    had it already."""

    merge: Merge
    anchor: Anchor
    vector: Vector
    keys: tuple[str, ...]
    names_added: tuple[str, ...]
    score_before: float
    position: int
    arms: dict[tuple[str, str], bool]
    records: dict[UUID, bool]


class MemoryMerging:
    """Rows of the graph, and the methods of the port that merge, undo, and read for a Dream round."""

    def __init__(self, evidence: Evidence) -> None:
        self.broken = False
        self._evidence = evidence
        self._owners: dict[tuple[str, str], UUID] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._anchors: dict[tuple[str, UUID], Anchor] = {}
        self._anchor_vectors: dict[tuple[str, UUID], Vector] = {}
        self._frames: dict[tuple[str, str], Frame] = {}
        self._arms: dict[tuple[str, str], Arms] = {}
        self._frontier: dict[tuple[str, UUID], int] = {}
        self._places = count()
        self._log: dict[UUID, Logged] = {}

    def _check(self) -> None:
        if self.broken:
            raise GraphUnavailable("the graph failed: made to")

    def _change(self, anchor: Anchor, **values: object) -> None:
        self._anchors[anchor.user_id, anchor.id] = anchor.model_copy(update=values)

    def _hold(self, user: str, anchor: UUID, records: Mapping[UUID, MemoryKind]) -> None:
        """Add records to those that mention an anchor."""
        stored = self._anchors[user, anchor]
        episodic = {*stored.episodic_ids, *(r for r, kind in records.items() if kind is MemoryKind.EPISODIC)}
        semantic = {*stored.semantic_ids, *(r for r, kind in records.items() if kind is MemoryKind.SEMANTIC)}
        self._change(stored, episodic_ids=tuple(sorted(episodic)), semantic_ids=tuple(sorted(semantic)))

    def _drop(self, user: str, anchor: UUID, records: Iterable[UUID]) -> None:
        stored, gone = self._anchors[user, anchor], set(records)
        self._change(
            stored,
            episodic_ids=tuple(r for r in stored.episodic_ids if r not in gone),
            semantic_ids=tuple(r for r in stored.semantic_ids if r not in gone),
        )

    # ---------------------------------------------------------------------------------------- for a Dream round

    async def mentioned(self, user_id: str, record_ids: Sequence[UUID], *, limit: int) -> tuple[UUID, ...]:
        self._check()
        asked = {*record_ids}
        own = [anchor for (user, _), anchor in self._anchors.items() if user == user_id]
        return tuple(sorted(a.id for a in own if asked & _records(a).keys())[:limit])

    async def frontier(self, user_id: str, *, limit: int) -> tuple[UUID, ...]:
        self._check()
        own = [(place, anchor) for (user, anchor), place in self._frontier.items() if user == user_id]
        return tuple(anchor for _, anchor in sorted(own)[:limit])

    async def leave_frontier(self, user_id: str, anchor_ids: Sequence[UUID]) -> None:
        self._check()
        for anchor in anchor_ids:
            self._frontier.pop((user_id, anchor), None)

    async def rejoin_frontier(self, user_id: str, anchor_ids: Sequence[UUID]) -> None:
        self._check()
        for anchor in sorted(anchor_ids):
            if (user_id, anchor) in self._anchors:
                self._frontier.setdefault((user_id, anchor), next(self._places))

    async def users_with_frontier(self, *, after: str = "", limit: int) -> tuple[str, ...]:
        self._check()
        return tuple(sorted({user for user, _ in self._frontier if user > after})[:limit])

    async def index_names(self, user_id: str) -> bool:
        self._check()
        return False

    async def neighbourhoods(
        self, user_id: str, anchor_ids: Sequence[UUID], *, limit: int, floor: float
    ) -> tuple[Neighbourhood, ...]:
        self._check()
        asked = [self._anchors[user_id, a] for a in anchor_ids if (user_id, a) in self._anchors]
        bare = {"episodic_ids": (), "semantic_ids": ()}
        return tuple(
            Neighbourhood(
                anchor=anchor.model_copy(update=bare),
                semantic=bool(anchor.semantic_ids),
                nearest=tuple(
                    hit
                    for hit in self._nearest(user_id, self._anchor_vectors[user_id, anchor.id])[:limit]
                    if hit.score >= floor
                    and hit.anchor_id != anchor.id
                    and self._anchors[user_id, hit.anchor_id].semantic_ids
                ),
            )
            for anchor in asked
        )

    def _nearest(self, user_id: str, vector: Vector, floor: float = -2.0) -> tuple[AnchorHit, ...]:
        scores = {key[1]: dot(own, vector) for key, own in self._anchor_vectors.items() if key[0] == user_id}
        best = sorted((anchor for anchor in scores if scores[anchor] >= floor), key=lambda a: (-scores[a], a))
        stored = [self._anchors[user_id, anchor] for anchor in best]
        return tuple(
            AnchorHit(anchor_id=a.id, name=a.name, type=a.type, aliases=a.aliases, score=scores[a.id]) for a in stored
        )

    async def rows_of_pairs(
        self, user_id: str, pairs: Sequence[tuple[UUID, UUID]], *, limit: int
    ) -> tuple[tuple[tuple[UUID, ...], tuple[UUID, ...]], ...]:
        self._check()

        def rows(end: UUID, other: UUID) -> tuple[UUID, ...]:
            mine, theirs = (self._records_of(user_id, each) for each in (end, other))
            considered = sorted(mine)[:ROWS_CONSIDERED]
            considered.sort(key=lambda r: (r not in theirs, mine[r] is not MemoryKind.SEMANTIC, r))
            return tuple(considered[:limit])

        return tuple((rows(a, b), rows(b, a)) for a, b in pairs)

    def _records_of(self, user: str, anchor: UUID) -> Mapping[UUID, MemoryKind]:
        return _records(self._anchors[user, anchor]) if (user, anchor) in self._anchors else {}

    async def shared_frames(
        self, user_id: str, pairs: Sequence[tuple[UUID, UUID]], *, limit: int
    ) -> tuple[tuple[tuple[UUID, ...], ...], ...]:
        self._check()

        def shared(pair: tuple[UUID, UUID]) -> tuple[tuple[UUID, ...], ...]:
            both = [
                fid
                for (user, fid), arms in self._arms.items()
                if user == user_id and {*pair} <= {anchor for _, anchor in arms}
            ]
            return tuple(self._frames[user_id, fid].record_ids for fid in sorted(both)[:limit])

        return tuple(map(shared, pairs))

    # ---------------------------------------------------------------------------------------- merges

    def _running(self, user: str, consolidation: UUID) -> None:
        found = self._evidence.consolidations.get(consolidation)
        if found is None or found.user_id != user or found.state is not ConsolidationState.RUNNING:
            raise ConsolidationEnded(f"consolidation {consolidation} is not running")

    async def merge(
        self, user_id: str, joins: Sequence[Joined], *, consolidation: UUID, now: datetime
    ) -> tuple[Merge, ...]:
        self._check()
        self._running(user_id, consolidation)
        for join in joins:
            absorbed = self._anchors.get((user_id, join.absorbed))
            representative = self._anchors.get((user_id, join.representative))
            if join.id not in self._log and absorbed and representative and absorbed != representative:
                merge = Merge(
                    id=join.id,
                    consolidation_id=consolidation,
                    absorbed=join.absorbed,
                    absorbed_name=absorbed.name,
                    representative=join.representative,
                    representative_name=representative.name,
                    type=absorbed.type,
                    state=MergeState.APPLIED,
                    merged_at=now,
                )
                self._absorb(user_id, merge, absorbed, representative)
        made = {join.id for join in joins} & self._log.keys()
        return tuple(self._log[each].merge for each in sorted(made) if self._log[each].anchor.user_id == user_id)

    def _absorb(self, user: str, merge: Merge, absorbed: Anchor, representative: Anchor) -> None:
        old, new = absorbed.id, representative.id
        theirs = _records(representative)
        known = {representative.name, *representative.aliases}
        every = list(self._evidence.records.values())
        self._evidence.merges[merge.id] = merge.consolidation_id
        self._log[merge.id] = Logged(
            merge=merge,
            anchor=absorbed,
            vector=self._anchor_vectors.pop((user, old)),
            keys=tuple(key for (owner, key), anchor in self._owners.items() if (owner, anchor) == (user, old)),
            names_added=tuple(n for n in dict.fromkeys((absorbed.name, *absorbed.aliases)) if n not in known),
            score_before=representative.score,
            position=max((n for n, record in enumerate(every, start=1) if record.user_id == user), default=0),
            arms=self._point(user, old, new),
            records={record: record in theirs for record in _records(absorbed)},
        )
        self._own_keys(user, self._log[merge.id].keys, old, new)
        self._hold(user, new, _records(absorbed))
        self._change(
            self._anchors[user, new],
            mentions=representative.mentions + absorbed.mentions,
            score=max(representative.score, absorbed.score),
            aliases=(*representative.aliases, *self._log[merge.id].names_added),
        )
        if (user, old) in self._frontier:
            self._frontier.setdefault((user, new), self._frontier.pop((user, old)))
        del self._anchors[user, old]

    def _own_keys(self, user: str, keys: Iterable[str], old: UUID, new: UUID) -> None:
        for key in keys:
            if self._owners[user, key] == old:
                self._owners[user, key] = new

    def _point(self, user: str, old: UUID, new: UUID) -> dict[tuple[str, str], bool]:
        """Point every arm of one anchor at another; says of each whether there was one already."""
        moved: dict[tuple[str, str], bool] = {}
        for (owner, fid), arms in list(self._arms.items()):
            if owner == user:
                moved |= {(fid, role): (role, new) in arms for role, anchor in arms if anchor == old}
                pointed = dict.fromkeys((role, new if anchor == old else anchor) for role, anchor in arms)
                self._arms[user, fid] = tuple(pointed)
        return moved

    async def unmerge(self, user_id: str, merge: UUID, *, consolidation: UUID, now: datetime) -> Unmerged:
        self._check()
        self._running(user_id, consolidation)
        logged = self._log.get(merge)
        if logged is None or logged.anchor.user_id != user_id:
            raise NotFound(f"no merge {merge}")
        if (logged.merge.state, logged.merge.undone_by) != (MergeState.UNDONE, consolidation):
            self._undoable(user_id, logged.merge)
            self._give_back(user_id, logged)
            undone = {"state": MergeState.UNDONE, "undone_by": consolidation}
            logged.merge = logged.merge.model_copy(update=undone)
        return Unmerged(merge=logged.merge, kept=self._kept(user_id, logged))

    def _undoable(self, user: str, merge: Merge) -> None:
        if merge.state is not MergeState.APPLIED:
            raise MergeConflict(f"merge {merge.id} is {merge.state}")
        if (user, merge.representative) not in self._anchors:
            since = [each for each in self._standing(user) if each.merge.absorbed == merge.representative]
            raise MergeConflict(f"undo merge {since[-1].merge.id} first")
        if (user, merge.absorbed) in self._anchors:
            raise MergeConflict(f"anchor {merge.absorbed} exists again")

    def _standing(self, user: str) -> list[Logged]:
        """Merges that were not taken back, in the order in which they were made."""
        own = [logged for logged in self._log.values() if logged.anchor.user_id == user]
        return [logged for logged in own if logged.merge.state is MergeState.APPLIED]

    def _later(self, user: str, logged: Logged) -> list[Logged]:
        into = [each for each in self._standing(user) if each.merge.representative == logged.merge.representative]
        return into[into.index(logged) + 1 :]

    def _give_back(self, user: str, logged: Logged) -> None:
        old, new, later = logged.merge.absorbed, logged.merge.representative, self._later(user, logged)
        lost = {self._names[user, key] for key in logged.keys if self._owners[user, key] != new}
        kept = tuple(name for name in logged.anchor.aliases if name not in lost)
        self._anchors[user, old] = logged.anchor.model_copy(
            update={"aliases": kept, "episodic_ids": (), "semantic_ids": ()}
        )
        self._anchor_vectors[user, old] = logged.vector
        self._own_keys(user, logged.keys, new, old)
        self._return_arms(user, logged, later)
        self._return_records(user, logged, later)
        stored = self._anchors[user, new]
        self._change(
            stored,
            mentions=max(stored.mentions - logged.anchor.mentions, 0),
            score=_score_without(logged, later, stored.score),
            aliases=tuple(name for name in stored.aliases if name not in logged.names_added),
        )

    def _return_arms(self, user: str, logged: Logged, later: Sequence[Logged]) -> None:
        old, new = logged.merge.absorbed, logged.merge.representative
        for (fid, role), collided in logged.arms.items():
            arms = self._arms[user, fid]
            if not collided and (role, new) in arms:
                heir = next((each for each in later if each.arms.get((fid, role))), None)
                rest = tuple(arm for arm in arms if arm != (role, new))
                self._arms[user, fid] = (*rest, (role, old), *([(role, new)] if heir else []))
                if heir:
                    heir.arms[fid, role] = False
            elif collided:
                self._arms[user, fid] = (*arms, (role, old))

    def _return_records(self, user: str, logged: Logged, later: Sequence[Logged]) -> None:
        old, new = logged.merge.absorbed, logged.merge.representative
        kinds, theirs = _records(logged.anchor), self._records_of(user, new)
        for record, collided in logged.records.items():
            if not collided and record not in theirs:
                continue
            self._hold(user, old, {record: kinds[record]})
            heir = next((each for each in later if each.records.get(record)), None)
            if not collided and heir:
                heir.records[record] = False
            elif not collided:
                self._drop(user, new, [record])

    def _kept(self, user: str, logged: Logged) -> int:
        into = [one for one in self._standing(user) if one.merge.representative == logged.merge.representative]
        moved = {record for one in into for record, collided in one.records.items() if not collided}
        since = {r.id for r in list(self._evidence.records.values())[logged.position :] if r.user_id == user}
        return len(since & self._records_of(user, logged.merge.representative).keys() - moved)

    async def detach(
        self,
        user_id: str,
        anchor: UUID,
        *,
        write: AnchorWrite,
        record_ids: Sequence[UUID],
        consolidation: UUID,
        now: datetime,
    ) -> None:
        self._check()
        self._running(user_id, consolidation)
        if self._owners.get((user_id, write.key)) != anchor or (user_id, write.id) in self._anchors:
            return
        stored = self._anchors[user_id, anchor]
        if stored.key == write.key:
            raise MergeConflict("an anchor keeps its own name")
        leaving = {record: kind for record, kind in _records(stored).items() if record in record_ids}
        values = write.model_dump(include={"id", "name", "key", "type", "score"})
        self._anchors[user_id, write.id] = Anchor(user_id=user_id, mentions=len(leaving), **values)
        self._anchor_vectors[user_id, write.id] = write.vector
        self._owners[user_id, write.key] = write.id
        self._hold(user_id, write.id, leaving)
        self._drop(user_id, anchor, leaving)
        others = tuple(name for name in stored.aliases if anchor_key(name) != write.key)
        self._change(self._anchors[user_id, anchor], aliases=others, mentions=stored.mentions - len(leaving))
        for (user, fid), arms in list(self._arms.items()):
            if user == user_id and {*self._frames[user, fid].record_ids} <= {*record_ids}:
                self._arms[user, fid] = tuple((role, write.id if end == anchor else end) for role, end in arms)

    async def merges(
        self,
        user_id: str,
        *,
        consolidation: UUID | None = None,
        anchor: UUID | None = None,
        after: UUID | None = None,
        limit: int = 50,
    ) -> tuple[Merge, ...]:
        self._check()
        own = [logged.merge for logged in self._log.values() if logged.anchor.user_id == user_id]
        found = [
            merge
            for merge in sorted(own, key=lambda merge: merge.id)
            if consolidation in (None, merge.consolidation_id)
            and anchor in (None, merge.absorbed, merge.representative)
            and (after is None or merge.id > after)
        ]
        return tuple(found[:limit])


def _records(anchor: Anchor) -> dict[UUID, MemoryKind]:
    return dict.fromkeys(anchor.episodic_ids, MemoryKind.EPISODIC) | dict.fromkeys(
        anchor.semantic_ids, MemoryKind.SEMANTIC
    )


def _score_without(logged: Logged, later: Sequence[Logged], present: float) -> float:
    """The representative's score as if a merge had not been, unless a write raised it since; later merges forget it
    too."""
    was, now = max(logged.score_before, logged.anchor.score), logged.score_before
    for each in later:
        told = each.score_before
        each.score_before = now if told == was else told
        was, now = max(told, each.anchor.score), max(each.score_before, each.anchor.score)
    return now if present == was else present
