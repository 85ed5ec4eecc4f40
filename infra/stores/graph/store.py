"""The provenance hypergraph in Apache AGE: one graph for all users, every statement bound to one."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from uuid import UUID

from pgvector import Vector as Embedding

from domain.errors import GraphUnavailable, NotFound
from domain.graph import AnchorHit, GraphCounts, GraphWrite, GraphWritten, Vector, indexable
from domain.memory import Anchor, Frame, MemoryKind
from infra.stores.database import Connection, one
from infra.stores.graph import statements
from infra.stores.graph.dreaming import Dreaming
from infra.stores.graph.merging import Merging
from infra.stores.graph.properties import agtype, agtypes, anchor_of, frame_of, hit_of
from infra.stores.graph.session import graph_errors
from infra.stores.graph.upsert import apply
from infra.stores.migrations.age import ENSURE_GRAPH


class AgeGraph(Dreaming, Merging):
    """The GraphStore port over AGE's label tables and their side tables."""

    async def ensure(self) -> None:
        """Make the graph whole: anew if it, or a label of it, was dropped (its records are marked failed then, for a
        retry), and known to AGE again if it came from a dump. Changes nothing on a sound graph."""
        async with self._transaction() as connection:
            await connection.execute(ENSURE_GRAPH)

    async def smoke(self) -> None:
        """Raises GraphUnavailable if the graph is dropped, locked, or unknown to AGE after a restore."""
        async with self._transaction() as connection:
            await connection.execute(statements.COUNTS, {"owner": agtype("")})  # and loads AGE, which parses Cypher
            await connection.execute(statements.SMOKE)
            if not one(await (await connection.execute(statements.CATALOGUE)).fetchone())["sound"]:
                raise GraphUnavailable(
                    "AGE's catalogue and the graph's schema disagree, as after a restore: rebuild it"
                )

    async def upsert(self, write: GraphWrite) -> GraphWritten:
        """Apply a record's graph change in one transaction under the user's lock; applying it again changes nothing."""
        async with self._transaction() as connection:
            await connection.execute(statements.LOCK_USER, (write.user_id,))
            return await apply(connection, indexable(write))

    async def resolve(self, user_id: str, keys: Sequence[str]) -> Mapping[str, Anchor]:
        """Anchors that own a key, by the key asked.

        Their record ids are left out (`mentions` counts them): the cost of a write must not grow with them.
        """
        values = {"owner": agtype(user_id), "user": user_id, "keys": list(keys)}
        rows = await self._rows(statements.RESOLVE, values)
        return {row["key"]: anchor_of(row["properties"], {}) for row in rows}

    async def nearest(
        self, user_id: str, vectors: Sequence[Vector], *, limit: int, floor: float
    ) -> list[tuple[AnchorHit, ...]]:
        """For each vector the user's anchors with cosine of at least `floor`, best first, ties by id."""
        asked = [Embedding(vector) for vector in vectors]
        values = {"owner": agtype(user_id), "user": user_id, "vectors": asked, "limit": limit, "floor": floor}
        hits: list[list[AnchorHit]] = [[] for _ in vectors]
        for row in await self._rows(statements.NEAREST, values) if vectors else ():
            hits[row["place"] - 1].append(hit_of(row["properties"], row["score"]))
        return [tuple(found) for found in hits]

    async def anchors(self, user_id: str, anchor_ids: Sequence[UUID]) -> tuple[Anchor, ...]:
        """Those of the ids that exist and are the user's, in the order asked, with their record ids."""
        values = {"owner": agtype(user_id), "ids": agtypes(anchor_ids)}
        async with self._transaction() as connection:
            rows = await (await connection.execute(statements.ANCHORS, values)).fetchall()
            mentions = await _mentions(connection, user_id, anchor_ids)
        found = {anchor.id: anchor for anchor in (anchor_of(row["properties"], mentions) for row in rows)}
        return tuple(found[anchor_id] for anchor_id in anchor_ids if anchor_id in found)

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
        """For each anchor its records of the kinds with their cosines, best first, ties by id, at most `per_anchor`."""
        values = {
            "user": user_id,
            "anchors": list(dict.fromkeys(anchor_ids)),
            "vector": Embedding(vector),
            "kinds": [str(kind) for kind in kinds],
            "per_anchor": per_anchor,
            "ranked": ranked,
            "without": list(without),
        }
        found: dict[UUID, dict[UUID, float]] = {}
        for row in await self._rows(statements.NEAREST_RECORDS, values) if anchor_ids else ():
            found.setdefault(row["anchor_id"], {})[row["record_id"]] = row["cosine"]
        return found

    async def anchor_page(self, user_id: str, *, after: UUID | None = None, limit: int = 50) -> tuple[Anchor, ...]:
        """In id order, from just after an id."""
        values = {"owner": agtype(user_id), "after": agtype(str(after or "")), "limit": limit}
        async with self._transaction() as connection:
            rows = await (await connection.execute(statements.ANCHOR_PAGE, values)).fetchall()
            bare = [anchor_of(row["properties"], {}) for row in rows]
            mentions = await _mentions(connection, user_id, [anchor.id for anchor in bare])
        return tuple(anchor_of(row["properties"], mentions) for row in rows)

    async def frame(self, user_id: str, frame_id: str) -> Frame:
        """Raises NotFound, also for another user's frame."""
        rows = await self._rows(statements.FRAME_BY_ID, {"owner": agtype(user_id), "frame": agtype(frame_id)})
        if not rows:
            raise NotFound("no such frame")
        return frame_of(rows[0])

    async def frames_of_records(self, user_id: str, record_ids: Sequence[UUID], *, limit: int) -> tuple[Frame, ...]:
        """Frames that cite any of the records, in frame-id order."""
        values = {"owner": agtype(user_id), "user": user_id, "records": list(record_ids), "limit": limit}
        return tuple(map(frame_of, await self._rows(statements.FRAMES_OF_RECORDS, values)))

    async def incident_frames(self, user_id: str, anchor_ids: Sequence[UUID], *, per_anchor: int) -> tuple[Frame, ...]:
        """At most `per_anchor` frames of each anchor, each frame once, in frame-id order."""
        values = {"owner": agtype(user_id), "anchors": agtypes(anchor_ids), "per_anchor": per_anchor}
        return tuple(map(frame_of, await self._rows(statements.INCIDENT_FRAMES, values)))

    async def frames_page(
        self, user_id: str, anchor_id: UUID, *, after: str | None = None, limit: int = 50
    ) -> tuple[Frame, ...]:
        """An anchor's frames in id order, from just after an id."""
        anchors = agtypes([anchor_id])
        values = {"owner": agtype(user_id), "anchors": anchors, "after": agtype(after or ""), "limit": limit}
        return tuple(map(frame_of, await self._rows(statements.FRAMES_PAGE, values)))

    async def adjacent_frames(
        self, user_id: str, anchor_ids: Sequence[UUID], *, predicates: Sequence[str], cap: int
    ) -> tuple[Frame, ...]:
        """The first `cap` frames, in frame-id order, of the anchors and with one of the predicates (none means all)."""
        values = {"owner": agtype(user_id), "anchors": agtypes(anchor_ids), "cap": cap}
        if not predicates:
            return tuple(map(frame_of, await self._rows(statements.ALL_ADJACENT_FRAMES, values)))
        values["predicates"] = agtypes(dict.fromkeys(predicates))
        return tuple(map(frame_of, await self._rows(statements.ADJACENT_FRAMES, values)))

    async def degrees(self, user_id: str, anchor_ids: Sequence[UUID], *, ceiling: int) -> Mapping[UUID, int]:
        """How many arms end at each anchor, counted up to a ceiling."""
        values = {"owner": agtype(user_id), "anchors": agtypes(anchor_ids), "ceiling": ceiling}
        return {UUID(row["anchor_id"]): row["degree"] for row in await self._rows(statements.DEGREES, values)}

    async def frame_similarities(self, user_id: str, frame_ids: Sequence[str], vector: Vector) -> Mapping[str, float]:
        """Cosine of each rendered frame with a vector."""
        rows = await self._rows(statements.FRAME_SIMILARITIES, (Embedding(vector), user_id, list(frame_ids)))
        return {row["frame_id"]: row["cosine"] for row in rows}

    async def counts(self, user_id: str) -> GraphCounts:
        """Size of the user's graph."""
        rows = await self._rows(statements.COUNTS, {"owner": agtype(user_id)})
        return GraphCounts.model_validate(one(rows[0]))

    async def checksum(self, user_id: str | None = None) -> str:
        """SHA-256 over a user's graph, or everybody's, in the order of our own ids (see `statements.CHECKSUM_ROWS`)."""
        owner = None if user_id is None else agtype(user_id)
        digest = sha256()
        async with self._database.transaction() as connection:
            with graph_errors():
                await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                for statement in statements.CHECKSUM_ROWS:
                    async with connection.cursor("checksum") as cursor:
                        await cursor.execute(statement, {"owner": owner, "user": user_id})
                        async for row in cursor:
                            digest.update(row["row"].encode() + b"\n")
        return digest.hexdigest()


async def _mentions(
    connection: Connection, user_id: str, anchor_ids: Sequence[UUID]
) -> dict[tuple[UUID, str], tuple[UUID, ...]]:
    cursor = await connection.execute(statements.MENTIONS, (user_id, list(anchor_ids)))
    return {(row["anchor_id"], row["kind"]): tuple(row["records"]) for row in await cursor.fetchall()}
