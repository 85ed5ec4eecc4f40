"""Which embedder the stored vectors were made with, and how to change it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pgvector import Vector as Embedding
from psycopg import sql

from domain.errors import EmbeddingMismatch, NotFound
from domain.frames import render
from domain.memory import Frame
from domain.ports import Embedder, GraphStore, RecordStore
from domain.records import embedding_text
from infra.stores.database import Connection, Database
from infra.stores.tables import NAME_INDEX_PREFIX

SELECT_META = "SELECT key, value FROM meta WHERE key = ANY(%s)"
INSERT_META = "INSERT INTO meta (key, value) VALUES (%s, %s) ON CONFLICT (key) DO NOTHING"
REPLACE_META = "INSERT INTO meta (key, value) VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

NAME, DIMENSION = "embedder_name", "embedder_dimension"

PLAIN_DIMENSIONS = 1900
"""Vectors up to this length fit into a table's page of 8 KB; longer ones must lie beside it."""
LET_LONG_VECTORS_OUT = (
    "ALTER TABLE record_vectors ALTER COLUMN vector SET STORAGE EXTERNAL",
    "ALTER TABLE anchor_vectors ALTER COLUMN vector SET STORAGE EXTERNAL",
    "ALTER TABLE frame_vectors ALTER COLUMN vector SET STORAGE EXTERNAL",
)

BATCH = 64
"""Texts a call to the embedder. Each batch is committed, so a re-embedding that was cut off goes on from there."""

COUNT_OUTDATED = {
    "records": """
        SELECT count(*) AS n FROM record_vectors WHERE model <> %(name)s OR vector_dims(vector) <> %(dimension)s
    """,
    "anchors": """
        SELECT count(*) AS n FROM anchor_vectors WHERE model <> %(name)s OR vector_dims(vector) <> %(dimension)s
    """,
    "frames": """
        SELECT count(*) AS n FROM frame_vectors WHERE model <> %(name)s OR vector_dims(vector) <> %(dimension)s
    """,
    "merges": """
        SELECT count(*) AS n FROM merges
        WHERE state = 'applied' AND (model <> %(name)s OR vector_dims(vector) <> %(dimension)s)
    """,
}
OUTDATED = {
    "records": """
        SELECT user_id, record_id AS id FROM record_vectors
        WHERE (user_id, record_id::text) > (%(user)s, %(after)s)
          AND (model <> %(name)s OR vector_dims(vector) <> %(dimension)s)
        ORDER BY user_id, record_id::text LIMIT %(batch)s
    """,
    "anchors": """
        SELECT user_id, anchor_id AS id FROM anchor_vectors
        WHERE (user_id, anchor_id::text) > (%(user)s, %(after)s)
          AND (model <> %(name)s OR vector_dims(vector) <> %(dimension)s)
        ORDER BY user_id, anchor_id::text LIMIT %(batch)s
    """,
    "frames": """
        SELECT user_id, frame_id AS id FROM frame_vectors
        WHERE (user_id, frame_id) > (%(user)s, %(after)s)
          AND (model <> %(name)s OR vector_dims(vector) <> %(dimension)s)
        ORDER BY user_id, frame_id LIMIT %(batch)s
    """,
    "merges": """
        SELECT user_id, id FROM merges
        WHERE (user_id, id::text) > (%(user)s, %(after)s)
          AND state = 'applied' AND (model <> %(name)s OR vector_dims(vector) <> %(dimension)s)
        ORDER BY user_id, id::text LIMIT %(batch)s
    """,
}
REPLACE = {
    "records": "UPDATE record_vectors SET vector = %s, model = %s WHERE user_id = %s AND record_id = %s",
    "anchors": "UPDATE anchor_vectors SET vector = %s, model = %s WHERE user_id = %s AND anchor_id = %s",
    "frames": "UPDATE frame_vectors SET vector = %s, model = %s WHERE user_id = %s AND frame_id = %s",
    "merges": "UPDATE merges SET vector = %s, model = %s WHERE user_id = %s AND id = %s",
}
ABSORBED_NAMES = "SELECT id, absorbed_name FROM merges WHERE user_id = %(user)s AND id = ANY(%(ids)s)"
NAME_INDEXES = """
SELECT indexname FROM pg_indexes WHERE schemaname = 'public' AND tablename = 'anchor_vectors'
  AND starts_with(indexname, %(prefix)s)
"""

SUBJECTS = tuple(OUTDATED)
"""What vectors are of: `merges` are the absorbed anchors in the log, whose vectors an undo brings back."""
Progress = Callable[[str, int, int], None]
"""Told after every batch: of what (one of SUBJECTS), how many are done, of how many."""


async def check_embedder(database: Database, *, name: str, dimension: int) -> None:
    """Note the embedder at the first start; at any other raise EmbeddingMismatch if it is not the same."""
    async with database.transaction() as connection:
        await _note(connection, INSERT_META, name, dimension)
        rows = await (await connection.execute(SELECT_META, ([NAME, DIMENSION],))).fetchall()
    stored = {row["key"]: row["value"] for row in rows}
    if (stored[NAME], stored[DIMENSION]) != (name, str(dimension)):
        raise EmbeddingMismatch(
            f"the stored vectors are {stored[NAME]}'s of {stored[DIMENSION]} dimensions, the configured embedder is "
            f"{name} of {dimension}: configure the former again, or change all vectors with `reverie reembed`"
        )


async def _note(connection: Connection, statement: str, name: str, dimension: int) -> None:
    for key, value in ((NAME, name), (DIMENSION, str(dimension))):
        cursor = await connection.execute(statement, (key, value))
    if cursor.rowcount and dimension > PLAIN_DIMENSIONS:
        await _let_long_vectors_out(connection)


async def _let_long_vectors_out(connection: Connection) -> None:
    for alteration in LET_LONG_VECTORS_OUT:
        await connection.execute(alteration)


@dataclass(frozen=True)
class Reembedding:
    """Changes every vector to another embedder's, while nothing else writes or searches."""

    database: Database
    records: RecordStore
    graph: GraphStore
    embedder: Embedder

    async def run(self, progress: Progress) -> int:
        """Embed what is not the embedder's yet, then note the embedder; returns how many vectors were made.

        Cut off at any point and run again it goes on from there. Raises ModelError, StoreUnavailable, GraphUnavailable.
        """
        if self.embedder.dimension > PLAIN_DIMENSIONS:
            async with self.database.transaction() as connection:
                await _let_long_vectors_out(connection)
        made = 0
        texts = dict(zip(SUBJECTS, (self._records, self._anchors, self._frames, self._merges), strict=True))
        for subject in SUBJECTS:
            made += await self._replace(subject, texts[subject], progress)
        async with self.database.transaction() as connection:
            await _note(connection, REPLACE_META, self.embedder.name, self.embedder.dimension)
        return made

    async def _replace(
        self, subject: str, texts: Callable[[str, Sequence[Any]], Awaitable[Mapping[Any, str]]], progress: Progress
    ) -> int:
        wanted = {"name": self.embedder.name, "dimension": self.embedder.dimension}
        (count,) = await self._rows(COUNT_OUTDATED[subject], wanted)
        if subject == "anchors" and count["n"]:
            await self._drop_name_indexes()
        done, user, after = 0, "", ""
        while rows := await self._rows(OUTDATED[subject], {**wanted, "user": user, "after": after, "batch": BATCH}):
            user, after = rows[-1]["user_id"], str(rows[-1]["id"])
            for owner in dict.fromkeys(row["user_id"] for row in rows):
                found = await texts(owner, [row["id"] for row in rows if row["user_id"] == owner])
                await self._store(subject, owner, found)
                done += len(found)
            progress(subject, done, count["n"])
        return done

    async def _drop_name_indexes(self) -> None:
        """Of users with very many anchors: they are of one dimension, and are built again by the next round."""
        found = await self._rows(NAME_INDEXES, {"prefix": NAME_INDEX_PREFIX})
        async with self.database.transaction() as connection:
            for row in found:
                await connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(row["indexname"])))

    async def _store(self, subject: str, user_id: str, texts: Mapping[Any, str]) -> None:
        vectors = await self.embedder.embed(list(texts.values()))
        name = self.embedder.name
        rows = [(Embedding(vector), name, user_id, key) for key, vector in zip(texts, vectors, strict=True)]
        async with self.database.transaction() as connection, connection.cursor() as cursor:
            await cursor.executemany(REPLACE[subject], rows)

    async def _rows(self, statement: str, values: Mapping[str, object]) -> list[dict[str, Any]]:
        async with self.database.transaction() as connection:
            return await (await connection.execute(statement, values)).fetchall()

    async def _records(self, user_id: str, ids: Sequence[Any]) -> Mapping[Any, str]:
        return {record.id: embedding_text(record) for record in await self.records.records(user_id, ids)}

    async def _anchors(self, user_id: str, ids: Sequence[Any]) -> Mapping[Any, str]:
        return {anchor.id: anchor.name for anchor in await self.graph.anchors(user_id, ids)}

    async def _merges(self, user_id: str, ids: Sequence[Any]) -> Mapping[Any, str]:
        rows = await self._rows(ABSORBED_NAMES, {"user": user_id, "ids": list(ids)})
        return {row["id"]: row["absorbed_name"] for row in rows}

    async def _frames(self, user_id: str, ids: Sequence[Any]) -> Mapping[Any, str]:
        frames = [await self._frame(user_id, frame_id) for frame_id in ids]
        return {frame.id: _rendered(frame) for frame in frames if frame is not None}

    async def _frame(self, user_id: str, frame_id: str) -> Frame | None:
        try:
            return await self.graph.frame(user_id, frame_id)
        except NotFound:  # its vector outlived it; nothing will ever look for it
            return None


def _rendered(frame: Frame) -> str:
    arms = [(arm.role, arm.name) for arm in frame.arms]
    return render(
        frame.predicate,
        arms,
        frame.literals,
        event_time=frame.event_time,
        status=frame.status,
        negated=frame.negated,
    )
