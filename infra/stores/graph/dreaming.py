"""What a Dream round reads of the graph: the frontier, the neighbourhoods of names, and the evidence of pairs."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any
from uuid import UUID

from pydantic_core import from_json

from domain.graph import AnchorHit, Neighbourhood
from infra.stores.database import Connection, one
from infra.stores.graph import dream_statements
from infra.stores.graph.properties import agtype, agtypes, anchor_of, hit_of
from infra.stores.graph.session import GraphSession, graph_errors
from infra.stores.tables import NAME_INDEX_PREFIX

INDEXED_FROM = 20_000
"""Anchors of a user from which an index of the user's own beats reading all vectors (22 ms there; trial)."""
LONGEST_INDEXED = 2_000
"""Longest vector that pgvector's HNSW takes; names of a longer embedder are always compared one by one."""
EF_SEARCH = 100
"""Entries that the index visits for an answer."""
ROWS_CONSIDERED = 300
"""Of a hub's rows: ids are hashes, so the first are as good as drawn by lot."""

Ends = tuple[tuple[UUID, ...], tuple[UUID, ...]]


class Dreaming(GraphSession):
    """The methods of the GraphStore port that a Dream round reads with."""

    async def mentioned(self, user_id: str, record_ids: Sequence[UUID], *, limit: int) -> tuple[UUID, ...]:
        """The anchors that any of the records mentions, by id."""
        rows = await self._rows(dream_statements.MENTIONED, (user_id, list(record_ids), limit))
        return tuple(row["anchor_id"] for row in rows)

    async def frontier(self, user_id: str, *, limit: int) -> tuple[UUID, ...]:
        """Anchors with semantic news, longest waiting first."""
        rows = await self._rows(dream_statements.FRONTIER, (user_id, limit))
        return tuple(row["anchor_id"] for row in rows)

    async def leave_frontier(self, user_id: str, anchor_ids: Sequence[UUID]) -> None:
        """Note that a round has taken these anchors."""
        async with self._transaction() as connection:
            await connection.execute(dream_statements.LEAVE_FRONTIER, (user_id, list(anchor_ids)))

    async def rejoin_frontier(self, user_id: str, anchor_ids: Sequence[UUID]) -> None:
        """Let the anchors that exist wait for a round again, behind all others."""
        async with self._transaction() as connection:
            await connection.execute(dream_statements.REJOIN_FRONTIER, (user_id, list(anchor_ids)))

    async def users_with_frontier(self, *, after: str = "", limit: int) -> tuple[str, ...]:
        """Users with anchors on the frontier, in the database's order of ids, from just after one."""
        rows = await self._rows(dream_statements.USERS_WITH_FRONTIER, {"after": after, "limit": limit})
        return tuple(row["user_id"] for row in rows)

    async def index_names(self, user_id: str) -> bool:
        """Build the name index of a user with INDEXED_FROM anchors or more, beside reads and writes; True if it was
        built now. What a killed build left behind is built anew; two builders at once build once."""
        (found,) = await self._rows(dream_statements.COUNT_NAMES, (user_id, INDEXED_FROM))
        if found["names"] < INDEXED_FROM or found["dimension"] > LONGEST_INDEXED:
            return False
        name = name_index(user_id)
        async with self._database.session() as connection:
            with graph_errors():
                claimed = one(await (await connection.execute(dream_statements.CLAIM_BUILD, (name,))).fetchone())
                index = await _index(connection, name)
                if not claimed["claimed"] or (index is not None and index["valid"]):
                    return False
                await connection.execute(dream_statements.BUILD_MEMORY)
                for statement in (dream_statements.DROP_INDEX, dream_statements.CREATE_INDEX):
                    await connection.execute(
                        dream_statements.indexing(statement, user_id, found["dimension"], name), prepare=False
                    )
        return True

    async def neighbourhoods(
        self, user_id: str, anchor_ids: Sequence[UUID], *, limit: int, floor: float
    ) -> tuple[Neighbourhood, ...]:
        """For each anchor that exists the `limit` nearest entries of the name index, the anchor itself among them, of
        which those stay that are similar enough and mentioned by a semantic record."""
        values = {
            "user": user_id, "owner": agtype(user_id), "anchors": list(anchor_ids), "limit": limit, "floor": floor
        }  # fmt: skip
        async with self._transaction() as connection:
            index = await _index(connection, name_index(user_id))
            sources = await (await connection.execute(dream_statements.COMPARED, values)).fetchall()
            near = await _near(connection, values, index["dimension"] if index and index["valid"] else None)
        hits: dict[int, list[AnchorHit]] = {row["place"]: [] for row in sources}
        for row in near:
            hits[row["place"]].append(hit_of(row["properties"], row["score"]))
        return tuple(
            Neighbourhood(
                anchor=anchor_of(row["properties"], {}), semantic=row["semantic"], nearest=tuple(hits[row["place"]])
            )
            for row in sources
        )

    async def rows_of_pairs(self, user_id: str, pairs: Sequence[tuple[UUID, UUID]], *, limit: int) -> tuple[Ends, ...]:
        """For each pair the records to read of either anchor, at most `limit` each: first those that mention both, then
        semantic ones, ties by id; of the first ROWS_CONSIDERED of the anchor."""
        values = {"user": user_id, **_ends(pairs), "limit": limit, "considered": ROWS_CONSIDERED}
        found: list[tuple[list[UUID], list[UUID]]] = [([], []) for _ in pairs]
        for row in await self._rows(dream_statements.ROWS_OF_PAIRS, values):
            found[row["place"] - 1][row["side"]].append(row["record_id"])
        return tuple((tuple(one_side), tuple(other)) for one_side, other in found)

    async def shared_frames(
        self, user_id: str, pairs: Sequence[tuple[UUID, UUID]], *, limit: int
    ) -> tuple[tuple[tuple[UUID, ...], ...], ...]:
        """For each pair the frames in which both take part, at most `limit` in frame-id order: the records each
        cites."""
        ends = {side: agtypes(ids) for side, ids in _ends(pairs).items()}
        found: list[list[tuple[UUID, ...]]] = [[] for _ in pairs]
        for row in await self._rows(dream_statements.SHARED_FRAMES, {"owner": agtype(user_id), **ends, "limit": limit}):
            cited = from_json(row["properties"])["record_ids"]
            found[row["place"] - 1].append(tuple(map(UUID, cited)))
        return tuple(map(tuple, found))


def name_index(user_id: str) -> str:
    """Name of a user's own index."""
    return NAME_INDEX_PREFIX + blake2b(user_id.encode(), digest_size=8).hexdigest()


def _ends(pairs: Sequence[tuple[UUID, UUID]]) -> dict[str, list[UUID]]:
    return {"a": [a for a, _ in pairs], "b": [b for _, b in pairs]}


async def _index(connection: Connection, name: str) -> Mapping[str, Any] | None:
    return await (await connection.execute(dream_statements.INDEX, (name,))).fetchone()


async def _near(connection: Connection, values: Mapping[str, Any], dimension: int | None) -> list[dict[str, Any]]:
    if dimension is None:
        return await (await connection.execute(dream_statements.NEAREST_NAMES, values)).fetchall()
    await connection.execute(dream_statements.FOR_INDEX, (str(max(EF_SEARCH, values["limit"])),))
    statement = dream_statements.indexed(dream_statements.INDEXED_NAMES, values["user"], dimension)
    return await (await connection.execute(statement, values, prepare=False)).fetchall()
