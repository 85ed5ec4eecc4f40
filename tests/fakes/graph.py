"""The hypergraph in memory. Passes the contract suite that Apache AGE passes (tests/contract)."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from domain.errors import NotFound
from domain.graph import AnchorHit, AnchorWrite, FrameWrite, GraphCounts, GraphWrite, GraphWritten, Vector, indexable
from domain.memory import Anchor, Frame, FrameArm, MemoryKind, Status
from tests.fakes.graph_merging import Arms, MemoryMerging
from tests.fakes.stores import Evidence, digest, dot


class MemoryGraph(MemoryMerging):
    """GraphStore. `broken` makes every call raise GraphUnavailable. `evidence` holds the records' vectors: without it,
    no record is near."""

    def __init__(self, evidence: Evidence | None = None) -> None:
        super().__init__(evidence or Evidence())
        self._occurrences: dict[tuple[str, str], str] = {}
        self._frame_vectors: dict[tuple[str, str], Vector] = {}

    async def upsert(self, write: GraphWrite) -> GraphWritten:
        self._check()
        write = indexable(write)
        before = (len(self._anchors), len(self._frames), self._citations())
        for anchor in write.anchors:
            self._own(write, anchor)
        for anchor in write.anchors:
            self._name(write, anchor)
        for owner in sorted({self._owners[write.user_id, anchor.key] for anchor in write.anchors}):
            self._mention(write, owner)
        for frame in write.frames:
            self._frame(write, frame)
        made = (len(self._anchors) - before[0], len(self._frames) - before[1], self._citations() - before[2])
        return GraphWritten(anchors_created=made[0], frames_created=made[1], citations_added=made[2])

    def _citations(self) -> int:
        return sum(len(frame.record_ids) for frame in self._frames.values())

    def _own(self, write: GraphWrite, anchor: AnchorWrite) -> None:
        key = (write.user_id, anchor.key)
        if key not in self._owners:
            self._owners[key], self._names[key] = anchor.id, anchor.name
            values = anchor.model_dump(include={"id", "name", "key", "type", "score"})
            self._anchors[write.user_id, anchor.id] = Anchor(user_id=write.user_id, **values)
            self._anchor_vectors[write.user_id, anchor.id] = anchor.vector
        owner = self._owners[key]
        stored = self._anchors[write.user_id, owner]
        self._change(stored, score=max(stored.score, anchor.score))

    def _name(self, write: GraphWrite, anchor: AnchorWrite) -> None:
        owner = self._owners[write.user_id, anchor.key]
        for alias in anchor.aliases:
            if (write.user_id, alias.key) not in self._owners:
                self._owners[write.user_id, alias.key] = owner
                self._names[write.user_id, alias.key] = alias.name
                stored = self._anchors[write.user_id, owner]
                self._change(stored, aliases=(*stored.aliases, alias.name))

    def _mention(self, write: GraphWrite, anchor: UUID) -> None:
        stored = self._anchors[write.user_id, anchor]
        if write.record_id in {*stored.episodic_ids, *stored.semantic_ids}:
            return
        self._change(stored, mentions=stored.mentions + 1)
        self._hold(write.user_id, anchor, {write.record_id: write.kind})
        if write.kind is MemoryKind.SEMANTIC:
            self._frontier.setdefault((write.user_id, anchor), next(self._places))

    def _frame(self, write: GraphWrite, frame: FrameWrite) -> None:
        owners = {arm: self._owners.get((write.user_id, arm.key)) for arm in frame.arms}
        arms = tuple(dict.fromkeys((arm.role, owner) for arm, owner in owners.items() if owner is not None))
        if len({anchor for _, anchor in arms}) < 2:
            return
        key = (write.user_id, frame.id)
        if key not in self._frames:
            key = (write.user_id, self._twin(write, frame, arms) or frame.id)
        if key not in self._frames:
            values = frame.model_dump(exclude={"arms", "occurrence", "confidence", "vector"})
            self._frames[key] = Frame(
                user_id=write.user_id, kind=write.kind, arms=(), mention_time=write.mention_time, **values
            )
            self._arms[key], self._occurrences[key] = arms, frame.occurrence
            self._frame_vectors[key] = frame.vector
        self._cite(key, write.record_id, frame)

    def _twin(self, write: GraphWrite, frame: FrameWrite, arms: Arms) -> str | None:
        said = (write.kind, frame.predicate, frame.negated, frame.occurrence, set(arms))
        twins = [
            fid
            for (user, fid), stored in self._frames.items()
            if user == write.user_id
            and (stored.kind, stored.predicate, stored.negated) == said[:3]
            and (self._occurrences[user, fid], set(self._arms[user, fid])) == said[3:]
        ]
        return min(twins, default=None)

    def _cite(self, key: tuple[str, str], record: UUID, frame: FrameWrite) -> None:
        stored = self._frames[key]
        done = stored.status is Status.PLANNED and frame.status is Status.DONE
        update = {
            "record_ids": tuple(sorted({*stored.record_ids, record})),
            "event_time": stored.event_time or frame.event_time,
            "status": Status.DONE if done else stored.status,
        }
        self._frames[key] = stored.model_copy(update=update)

    async def resolve(self, user_id: str, keys: Sequence[str]) -> Mapping[str, Anchor]:
        self._check()
        found = {key: self._owners[user_id, key] for key in keys if (user_id, key) in self._owners}
        bare = {"episodic_ids": (), "semantic_ids": ()}
        return {key: self._anchors[user_id, owner].model_copy(update=bare) for key, owner in found.items()}

    async def nearest(
        self, user_id: str, vectors: Sequence[Vector], *, limit: int, floor: float
    ) -> list[tuple[AnchorHit, ...]]:
        self._check()
        return [self._nearest(user_id, vector, floor)[:limit] for vector in vectors]

    async def anchors(self, user_id: str, anchor_ids: Sequence[UUID]) -> tuple[Anchor, ...]:
        self._check()
        return tuple(self._anchors[user_id, a] for a in anchor_ids if (user_id, a) in self._anchors)

    async def nearest_records(
        self,
        user_id: str,
        anchor_ids: Sequence[UUID],
        vector: Vector,
        *,
        kinds: Sequence[MemoryKind],
        per_anchor: int,
        ranked: int,
        without: Sequence[UUID] = (),
    ) -> Mapping[UUID, Mapping[UUID, float]]:
        found: dict[UUID, dict[UUID, float]] = {}
        for anchor in await self.anchors(user_id, tuple(dict.fromkeys(anchor_ids))):
            sides = {MemoryKind.EPISODIC: anchor.episodic_ids, MemoryKind.SEMANTIC: anchor.semantic_ids}
            ids = sorted(i for kind, side in sides.items() if kind in kinds for i in side if i not in without)
            near = {i: dot(self._evidence.vectors[i], vector) for i in ids[:ranked] if self._own_record(user_id, i)}
            if near:
                best = sorted(near.items(), key=lambda pair: (-pair[1], pair[0]))
                found[anchor.id] = dict(best[:per_anchor])
        return found

    def _own_record(self, user_id: str, record: UUID) -> bool:
        return record in self._evidence.records and self._evidence.records[record].user_id == user_id

    async def anchor_page(self, user_id: str, *, after: UUID | None = None, limit: int = 50) -> tuple[Anchor, ...]:
        self._check()
        own = sorted((key[1] for key in self._anchors if key[0] == user_id), key=str)
        return tuple(self._anchors[user_id, a] for a in own if after is None or str(a) > str(after))[:limit]

    def _stored(self, key: tuple[str, str]) -> Frame:
        pairs = [(role, self._anchors[key[0], anchor]) for role, anchor in self._arms[key]]
        arms = tuple(FrameArm(role=role, anchor_id=a.id, name=a.name, type=a.type) for role, a in pairs)
        return self._frames[key].model_copy(update={"arms": arms})

    def _listed(self, user_id: str, frame_ids: Iterable[str]) -> tuple[Frame, ...]:
        return tuple(self._stored((user_id, fid)) for fid in sorted(set(frame_ids)))

    def _of_anchor(self, user_id: str, anchor: UUID) -> list[str]:
        return sorted(
            fid for (user, fid), arms in self._arms.items() if user == user_id and anchor in {a for _, a in arms}
        )

    async def frame(self, user_id: str, frame_id: str) -> Frame:
        self._check()
        if (user_id, frame_id) not in self._frames:
            raise NotFound("no such frame")
        return self._stored((user_id, frame_id))

    async def frames_of_records(self, user_id: str, record_ids: Sequence[UUID], *, limit: int) -> tuple[Frame, ...]:
        self._check()
        citing = [f.id for key, f in self._frames.items() if key[0] == user_id and {*f.record_ids} & {*record_ids}]
        return self._listed(user_id, sorted(citing)[:limit])

    async def incident_frames(self, user_id: str, anchor_ids: Sequence[UUID], *, per_anchor: int) -> tuple[Frame, ...]:
        self._check()
        return self._listed(user_id, [f for a in anchor_ids for f in self._of_anchor(user_id, a)[:per_anchor]])

    async def frames_page(
        self, user_id: str, anchor_id: UUID, *, after: str | None = None, limit: int = 50
    ) -> tuple[Frame, ...]:
        self._check()
        return self._listed(user_id, [f for f in self._of_anchor(user_id, anchor_id) if f > (after or "")][:limit])

    async def adjacent_frames(
        self, user_id: str, anchor_ids: Sequence[UUID], *, predicates: Sequence[str], cap: int
    ) -> tuple[Frame, ...]:
        self._check()
        every = {fid for anchor in anchor_ids for fid in self._of_anchor(user_id, anchor)}
        fitting = [f for f in every if not predicates or self._frames[user_id, f].predicate in predicates]
        return self._listed(user_id, sorted(fitting)[:cap])

    async def degrees(self, user_id: str, anchor_ids: Sequence[UUID], *, ceiling: int) -> Mapping[UUID, int]:
        self._check()
        arms = [anchor for (user, _), pairs in self._arms.items() if user == user_id for _, anchor in pairs]
        return {a: min(arms.count(a), ceiling) for a in anchor_ids if (user_id, a) in self._anchors}

    async def frame_similarities(self, user_id: str, frame_ids: Sequence[str], vector: Vector) -> Mapping[str, float]:
        self._check()
        known = [fid for fid in frame_ids if (user_id, fid) in self._frame_vectors]
        return {fid: dot(self._frame_vectors[user_id, fid], vector) for fid in known}

    async def counts(self, user_id: str) -> GraphCounts:
        self._check()
        arms = [pairs for key, pairs in self._arms.items() if key[0] == user_id]
        anchors = sum(key[0] == user_id for key in self._anchors)
        return GraphCounts(anchors=anchors, frames=len(arms), arms=sum(map(len, arms)))

    async def checksum(self, user_id: str | None = None) -> str:
        self._check()
        rows: list[object] = [(key[0], a.model_dump_json()) for key, a in self._anchors.items()]
        rows += [(user, key, owner) for (user, key), owner in self._owners.items()]
        rows += [(key[0], f.model_dump_json(), sorted(self._arms[key])) for key, f in self._frames.items()]
        rows += [(*key, vector) for key, vector in self._anchor_vectors.items()]
        rows += [(*key, vector) for key, vector in self._frame_vectors.items()]
        return digest(rows, user_id)
