"""A record's change to the graph: what exists is read, united in Python, and written back in a few statements.

The caller holds the user's lock and the transaction.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from pgvector import Vector as Embedding

from domain.errors import GraphUnavailable
from domain.graph import AnchorWrite, FrameWrite, GraphWrite, GraphWritten, Vector
from domain.memory import Status
from infra.stores.database import Connection
from infra.stores.graph import statements
from infra.stores.graph.properties import Properties, agtype, agtypes, anchor_properties, frame_properties, span

Arms = frozenset[tuple[str, UUID]]


@dataclass
class _Vertex:
    """An anchor or a frame on its way back; `graph_id` is empty until it is stored."""

    properties: Properties
    graph_id: str = ""
    vector: Vector = field(default_factory=list)
    changed: bool = False

    def change(self, **values: object) -> None:
        self.changed = True
        self.properties.update(values)


async def apply(connection: Connection, write: GraphWrite) -> GraphWritten:
    """Apply a write; applying it again changes nothing."""
    anchors = _Anchors(connection, write)
    await anchors.load()
    await anchors.store()
    frames = _Frames(connection, write, anchors)
    await frames.load()
    return GraphWritten(
        anchors_created=anchors.created, frames_created=await frames.store(), citations_added=frames.citations
    )


class _Anchors:
    """The anchors that a write names: those that own its keys, and those it makes."""

    def __init__(self, connection: Connection, write: GraphWrite) -> None:
        self._connection = connection
        self._write = write
        self._aliases: list[tuple[str, UUID, str]] = []
        self.owners: dict[str, UUID] = {}
        self.vertices: dict[UUID, _Vertex] = {}
        self.known: frozenset[UUID] = frozenset()
        self.created = 0

    async def load(self) -> None:
        """Give every anchor of the write its vertex: first by own keys, then aliases take the keys that are left."""
        keys = {key for anchor in self._write.anchors for key in (anchor.key, *(alias.key for alias in anchor.aliases))}
        keys |= {arm.key for frame in self._write.frames for arm in frame.arms}
        user = self._write.user_id
        cursor = await self._connection.execute(statements.OWNERS, (user, sorted(keys)))
        self.owners = {row["key"]: row["anchor_id"] for row in await cursor.fetchall()}
        values = {"owner": agtype(user), "ids": agtypes(set(self.owners.values()))}
        for row in await (await self._connection.execute(statements.ANCHORS, values)).fetchall():
            vertex = _Vertex(json.loads(row["properties"]), row["id"])
            self.vertices[UUID(vertex.properties["anchor_id"])] = vertex
        self.known = frozenset(self.vertices)
        if set(self.owners.values()) - self.known:
            raise GraphUnavailable("the graph lacks anchors that its look-up names: rebuild it")
        for anchor in self._write.anchors:
            self._claim_key(anchor)
        for anchor in self._write.anchors:
            self._claim_aliases(anchor)

    def _claim_key(self, anchor: AnchorWrite) -> None:
        if anchor.key not in self.owners:
            self.owners[anchor.key] = anchor.id
            self.vertices[anchor.id] = _Vertex(anchor_properties(self._write.user_id, anchor), vector=anchor.vector)
            self._aliases.append((anchor.key, anchor.id, anchor.name))
        vertex = self.vertices[self.owners[anchor.key]]
        if anchor.score > vertex.properties["score"]:
            vertex.change(score=anchor.score)

    def _claim_aliases(self, anchor: AnchorWrite) -> None:
        owner = self.owners[anchor.key]
        vertex = self.vertices[owner]
        for alias in anchor.aliases:
            if alias.key not in self.owners:
                self.owners[alias.key] = owner
                self._aliases.append((alias.key, owner, alias.name))
                vertex.change(aliases=[*vertex.properties["aliases"], alias.name])

    async def store(self) -> None:
        """Note the mention on each anchor, insert the new ones, rewrite those that changed."""
        run, user, record = self._connection.execute, self._write.user_id, self._write.record_id
        mentioned = list(dict.fromkeys(self.owners[anchor.key] for anchor in self._write.anchors))
        values = {"user": user, "record": record, "kind": str(self._write.kind), "anchors": mentioned}
        cursor = await run(statements.INSERT_MENTIONS, values)
        for row in await cursor.fetchall():
            vertex = self.vertices[row["anchor_id"]]
            vertex.change(mentions=vertex.properties["mentions"] + 1)
        fresh = {anchor: vertex for anchor, vertex in self.vertices.items() if not vertex.graph_id}
        self.created = len(fresh)
        await _rewrite(self._connection, statements.UPDATE_ANCHORS, self.vertices.values())
        if fresh:
            cursor = await run(statements.INSERT_ANCHORS, (_array(fresh.values()),))
            for row in await cursor.fetchall():
                fresh[UUID(row["anchor_id"])].graph_id = row["id"]
            await run(statements.INSERT_ANCHOR_VECTORS, (user, list(fresh), _vectors(fresh.values())))
        if self._aliases:
            keys, owners, names = map(list, zip(*self._aliases, strict=True))
            await run(statements.INSERT_ALIASES, (user, keys, owners, names))


class _Frames:
    """The frames of a write over stored anchors: cited where they exist, by id or by equal arms, made where not."""

    def __init__(self, connection: Connection, write: GraphWrite, anchors: _Anchors) -> None:
        self._connection = connection
        self._write = write
        self._anchors = anchors
        self._vertices: dict[str, _Vertex] = {}
        self._arms: dict[str, Sequence[tuple[str, UUID]]] = {}
        self.citations = 0

    async def load(self) -> None:
        """Find what exists of the frames, then cite or make each in the order of the write."""
        every = [(frame, self._placed(frame)) for frame in self._write.frames]
        placed = [(frame, arms) for frame, arms in every if len({anchor for _, anchor in arms}) > 1]
        values = {"owner": agtype(self._write.user_id), "ids": agtypes(frame.id for frame, _ in placed)}
        for row in await (await self._connection.execute(statements.FRAMES, values)).fetchall():
            self._remember(row["id"], json.loads(row["properties"]))
        twins = await self._twins([pair for pair in placed if pair[0].id not in self._vertices])
        for frame, arms in placed:
            claim = (frame.predicate, frame.occurrence, frame.negated, frozenset(arms))
            fid = frame.id if frame.id in self._vertices else twins.get(claim, frame.id)
            if fid not in self._vertices:
                self._vertices[fid] = _Vertex(frame_properties(self._write, frame), vector=frame.vector)
                self._arms[fid] = arms
            twins.setdefault(claim, fid)
            self._cite(self._vertices[fid], frame)

    def _placed(self, frame: FrameWrite) -> list[tuple[str, UUID]]:
        """The arms by anchor, each once; one whose key nobody owns is left out."""
        owners = self._anchors.owners
        return list(dict.fromkeys((arm.role, owners[arm.key]) for arm in frame.arms if arm.key in owners))

    def _remember(self, graph_id: str, properties: Properties) -> None:
        self._vertices.setdefault(properties["fid"], _Vertex(properties, graph_id))

    async def _twins(
        self, missing: Sequence[tuple[FrameWrite, list[tuple[str, UUID]]]]
    ) -> dict[tuple[str, str, bool, Arms], str]:
        """Ids of frames that say the same of the same anchors; only anchors that were there before can have any."""
        asked = [pair for pair in missing if {anchor for _, anchor in pair[1]} <= self._anchors.known]
        if not asked:
            return {}
        ends = [self._two_rarest(arms) for _, arms in asked]
        values = {
            "places": list(range(len(asked))),
            "rare": [rare.graph_id for rare, _ in ends],
            "other": [other.graph_id for _, other in ends],
            "predicates": agtypes(frame.predicate for frame, _ in asked),
        }
        anchor_of = {vertex.graph_id: anchor for anchor, vertex in self._anchors.vertices.items()}
        found: dict[tuple[str, str, bool, Arms], str] = {}
        for row in await (await self._connection.execute(statements.TWINS, values)).fetchall():
            frame, arms = asked[row["place"]]
            stored = json.loads(row["properties"])
            said = (stored["kind"], stored["occurrence"], stored["negated"])
            same_arms = {(role, anchor_of.get(end)) for role, end in row["arms"]} == set(arms)
            if same_arms and said == (str(self._write.kind), frame.occurrence, frame.negated):
                claim = (frame.predicate, frame.occurrence, frame.negated, frozenset(arms))
                self._remember(row["id"], stored)
                found[claim] = min(stored["fid"], found.get(claim, stored["fid"]))
        return found

    def _two_rarest(self, arms: Iterable[tuple[str, UUID]]) -> tuple[_Vertex, _Vertex]:
        vertices = {anchor: self._anchors.vertices[anchor] for _, anchor in arms}
        rare, other, *_ = sorted(vertices, key=lambda anchor: (vertices[anchor].properties["mentions"], anchor))
        return vertices[rare], vertices[other]

    def _cite(self, vertex: _Vertex, frame: FrameWrite) -> None:
        """Add the record; what was said first stands, but a time is filled in and what was planned gets done."""
        record, stored = str(self._write.record_id), vertex.properties
        if record not in stored["record_ids"]:
            self.citations += 1
            vertex.change(record_ids=sorted([*stored["record_ids"], record]))
        if stored["event_time"] is None and frame.event_time is not None:
            vertex.change(event_time=span(frame.event_time))
        if stored["status"] == Status.PLANNED and frame.status is Status.DONE:
            vertex.change(status=str(Status.DONE))

    async def store(self) -> int:
        """Write the frames and their arms; returns how many were made."""
        run, user, record = self._connection.execute, self._write.user_id, self._write.record_id
        fresh = {fid: vertex for fid, vertex in self._vertices.items() if not vertex.graph_id}
        await _rewrite(self._connection, statements.UPDATE_FRAMES, self._vertices.values())
        if fresh:
            cursor = await run(statements.INSERT_FRAMES, (_array(fresh.values()),))
            for row in await cursor.fetchall():
                fresh[row["fid"]].graph_id = row["id"]
            await run(statements.INSERT_ARMS, (agtype(self._arm_rows(fresh)),))
            await run(statements.INSERT_FRAME_VECTORS, (user, list(fresh), _vectors(fresh.values())))
        if cited := [fid for fid, vertex in self._vertices.items() if str(record) in vertex.properties["record_ids"]]:
            await run(statements.INSERT_CITATIONS, (user, record, cited))
        return len(fresh)

    def _arm_rows(self, fresh: dict[str, _Vertex]) -> list[Properties]:
        return [
            {
                "frame": vertex.graph_id,
                "anchor": self._anchors.vertices[anchor].graph_id,
                "properties": {"role": role, "predicate": vertex.properties["predicate"], "fid": fid},
            }
            for fid, vertex in fresh.items()
            for role, anchor in self._arms[fid]
        ]


async def _rewrite(connection: Connection, statement: str, vertices: Iterable[_Vertex]) -> None:
    changed = [{"id": v.graph_id, "properties": v.properties} for v in vertices if v.graph_id and v.changed]
    if changed:
        await connection.execute(statement, (agtype(changed),))


def _array(vertices: Iterable[_Vertex]) -> str:
    return agtype([vertex.properties for vertex in vertices])


def _vectors(vertices: Iterable[_Vertex]) -> list[Embedding]:
    return [Embedding(vertex.vector) for vertex in vertices]
