"""Records with their vectors, and drafts on their way to the graph, in Postgres."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from pgvector import Vector as Embedding
from psycopg.types.json import Jsonb

from domain.errors import NotFound
from domain.graph import Vector
from domain.memory import IndexStatus, MemoryKind, Record, TimeSpan
from domain.model_calls import RecordView
from infra.stores.database import Database, fetch

SELECT_RECORD = """
SELECT r.id, r.user_id, r.kind, r.title, r.text, r.event_start, r.event_end, r.event_granularity, r.event_clock,
       r.mention_time, r.status, r.input_id, r.chunk_id, r.session_id, r.ordinal, r.sources, r.attributes, r.degraded,
       r.version, r.index_status, r.index_step, r.index_reason
FROM records r
"""

LOCK_USER = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 3))"
"""Commits of one user go one at a time, so that positions appear in their order: a page that ended at a position misses
none below it. The seed keeps this lock apart from those of accepted inputs and of the graph."""

INSERT_RECORD = """
INSERT INTO records (
    id, user_id, kind, title, text, event_start, event_end, event_granularity, event_clock, mention_time, status,
    input_id, chunk_id, session_id, ordinal, sources, attributes, degraded, version, index_status, index_step,
    index_reason
) VALUES (
    %(id)s, %(user_id)s, %(kind)s, %(title)s, %(text)s, %(event_start)s, %(event_end)s, %(event_granularity)s,
    %(event_clock)s, %(mention_time)s, %(status)s, %(input_id)s, %(chunk_id)s, %(session_id)s, %(ordinal)s, %(sources)s,
    %(attributes)s, %(degraded)s, %(version)s, %(index_status)s, %(index_step)s, %(index_reason)s
) ON CONFLICT (id) DO NOTHING
"""

INSERT_VECTOR = """
INSERT INTO record_vectors (user_id, record_id, model, vector)
VALUES (%s, %s, coalesce((SELECT value FROM meta WHERE key = 'embedder_name'), ''), %s)
ON CONFLICT DO NOTHING
"""

RECORD_OF_USER = SELECT_RECORD + "WHERE r.id = %s AND r.user_id = %s"
RECORDS_OF_USER = SELECT_RECORD + "WHERE r.id = ANY(%s) AND r.user_id || '' = %s"
"""`|| ''`, here and below: the ids' index is all that's wanted. A prepared statement's generic plan is made for the
average user and would read every index entry of a large one besides."""
RECORDS_OF_CHUNK = SELECT_RECORD + "WHERE r.chunk_id = %s ORDER BY r.kind, r.ordinal"
POSITION = "SELECT position FROM records WHERE id = %s AND user_id = %s"
PAGE = """
WHERE r.user_id = %(user)s AND (%(kinds)s::text[] IS NULL OR r.kind = ANY(%(kinds)s)) AND r.position > %(position)s
ORDER BY r.position LIMIT %(limit)s
"""
RECORDS_PAGE = SELECT_RECORD + PAGE

SEMANTIC_OF = """
SELECT r.id FROM records r
WHERE r.chunk_id = ANY(%(chunks)s) AND r.user_id || '' = %(user)s AND r.kind = 'semantic'
ORDER BY r.position LIMIT %(limit)s
"""
SEMANTIC_SINCE = """
SELECT r.id FROM jobs j JOIN records r ON r.input_id = j.id
WHERE j.user_id = %(user)s AND j.accepted_at >= %(since)s AND r.kind = 'semantic'
ORDER BY r.position LIMIT %(limit)s
"""

RECORDS_VIEW = """
SELECT title, text FROM records WHERE user_id = %s AND kind = %s ORDER BY mention_time DESC, id LIMIT %s
"""

SET_INDEX = "UPDATE records SET index_status = %s, index_step = %s, index_reason = %s WHERE id = ANY(%s)"

SAVE_DRAFT = "INSERT INTO drafts (record_id, step, draft) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
DRAFTS_OF_RECORDS = "SELECT record_id, draft FROM drafts WHERE record_id = ANY(%s) AND step = %s"

SAME_CHUNK = """
SELECT r.id FROM records r
WHERE r.user_id || '' = %(user)s AND r.id <> ALL(%(ids)s)
  AND r.chunk_id IN (SELECT chunk_id FROM records WHERE id = ANY(%(ids)s) AND user_id || '' = %(user)s)
ORDER BY r.mention_time, r.chunk_id, r.kind, r.ordinal LIMIT %(limit)s
"""

TEMPORAL_NEIGHBOURS = """
SELECT DISTINCT n.id, n.mention_time
FROM records r
CROSS JOIN LATERAL (
    (SELECT b.id, b.mention_time FROM records b
     WHERE b.user_id = r.user_id AND b.session_id = r.session_id AND b.id <> r.id
       AND (b.mention_time, b.id) < (r.mention_time, r.id)
     ORDER BY b.mention_time DESC, b.id DESC LIMIT 1)
    UNION ALL
    (SELECT a.id, a.mention_time FROM records a
     WHERE a.user_id = r.user_id AND a.session_id = r.session_id AND a.id <> r.id
       AND (a.mention_time, a.id) > (r.mention_time, r.id)
     ORDER BY a.mention_time, a.id LIMIT 1)
) n
WHERE r.user_id || '' = %(user)s AND r.id = ANY(%(ids)s) AND n.id <> ALL(%(ids)s)
ORDER BY n.mention_time, n.id LIMIT %(limit)s
"""

SURROUNDINGS = """
WITH cited AS (
    SELECT r.id, m.job_id, m.ordinal, min((s.value ->> 'start')::int) AS start
    FROM records r
    CROSS JOIN LATERAL jsonb_array_elements(r.sources) s
    CROSS JOIN LATERAL (
        SELECT t.job_id, t.ordinal FROM messages t
        WHERE t.user_id = r.user_id AND t.session_id = r.session_id AND t.message_id = s.value ->> 'turn_id' LIMIT 1
    ) m
    WHERE r.user_id || '' = %(user)s AND r.id = ANY(%(ids)s)
    GROUP BY r.id, m.job_id, m.ordinal
)
SELECT c.id, string_agg(concat_ws(' ', w.speaker, CASE
        WHEN w.ordinal < c.ordinal THEN right(w.text, %(characters)s)
        WHEN w.ordinal > c.ordinal THEN left(w.text, %(characters)s)
        ELSE substr(w.text, coalesce(c.start, 0) + 1, %(characters)s)
    END, nullif(w.captions::text, '[]')), ' ' ORDER BY c.job_id, c.ordinal, w.ordinal) AS words
FROM cited c JOIN messages w ON w.job_id = c.job_id AND w.ordinal BETWEEN c.ordinal - 1 AND c.ordinal + 1
GROUP BY c.id
"""
"""`LIMIT 1`, though a message's id is unique: without it the planner reads the whole session for each record."""

SIMILARITIES = """
SELECT record_id, 1 - (vector <=> %s) AS cosine FROM record_vectors WHERE user_id = %s AND record_id = ANY(%s)
"""

SEARCH_VECTORS = """
SELECT v.record_id AS id FROM record_vectors v JOIN records r ON r.id = v.record_id
WHERE v.user_id = %(user)s AND r.kind = ANY(%(kinds)s)
ORDER BY (v.vector <=> %(vector)s) + 0, v.record_id LIMIT %(limit)s
"""
"""`+ 0` forbids an approximate plan: exact search inside one user is faster and complete."""

SEARCH_WORDS = """
WITH q AS (
    SELECT array_to_string(ARRAY(
        SELECT '(' || plainto_tsquery('simple', word)::text || ')' FROM unnest(%(words)s::text[]) word
        WHERE numnode(plainto_tsquery('simple', word)) > 0
    ), ' | ')::tsquery AS query
)
SELECT r.id FROM records r, q
WHERE r.user_id = %(user)s AND r.kind = ANY(%(kinds)s) AND r.words @@ q.query
ORDER BY ts_rank_cd(r.words, q.query) DESC, r.id LIMIT %(limit)s
"""

RANK_FUSION_DEPTH = 60
"""k of reciprocal rank fusion, 1 / (k + rank) (Cormack, Clarke, Buettcher 2009)."""

CHECKSUM_ROWS = (
    """
    SELECT jsonb_build_array('job', id, user_id, request_id, body_hash, state, session_id, form, title, timezone,
                             time_source, sanitized, messages, chunks, step, reason)::text AS row
    FROM jobs WHERE %(user)s::text IS NULL OR user_id = %(user)s ORDER BY id
    """,
    """
    SELECT jsonb_build_array('message', job_id, ordinal, user_id, session_id, message_id, speaker, text, sent_at,
                             captions)::text AS row
    FROM messages WHERE %(user)s::text IS NULL OR user_id = %(user)s ORDER BY job_id, ordinal
    """,
    """
    SELECT jsonb_build_array('chunk', id, job_id, user_id, ordinal, content, kinds, committed, failed_step,
                             failed_reason)::text AS row
    FROM chunks WHERE %(user)s::text IS NULL OR user_id = %(user)s ORDER BY id
    """,
    """
    SELECT jsonb_build_array('record', id, user_id, kind, title, text, event_start, event_end, event_granularity,
                             event_clock, mention_time, status, input_id, chunk_id, session_id, ordinal, sources,
                             attributes, degraded, version, index_status, index_step, index_reason)::text AS row
    FROM records WHERE %(user)s::text IS NULL OR user_id = %(user)s ORDER BY id
    """,
    """
    SELECT jsonb_build_array('vector', user_id, record_id, model, vector::text)::text AS row
    FROM record_vectors WHERE %(user)s::text IS NULL OR user_id = %(user)s ORDER BY user_id, record_id
    """,
    """
    SELECT jsonb_build_array('draft', d.record_id, d.step, d.draft)::text AS row
    FROM drafts d JOIN records r ON r.id = d.record_id
    WHERE %(user)s::text IS NULL OR r.user_id = %(user)s ORDER BY d.record_id, d.step
    """,
    """
    SELECT jsonb_build_array('call', m.user_id, m.job_id, m.purpose, m.key, m.outcome, m.answer)::text AS row
    FROM model_calls m JOIN jobs j ON j.id = m.job_id
    WHERE %(user)s::text IS NULL OR m.user_id = %(user)s ORDER BY m.key
    """,
    """
    SELECT jsonb_build_array('vault', user_id, job_id, message_id, caption)::text AS row
    FROM vault_entries WHERE %(user)s::text IS NULL OR user_id = %(user)s ORDER BY 1
    """,
)
"""What two runs over the same input agree in: no times of processing, attempts, costs, arrival order, or random key. Of
the calls those made for an input: what a consolidation asked is no evidence."""


class PostgresRecords:
    """The RecordStore port over Postgres."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def commit(self, records: Sequence[Record], vectors: Sequence[Vector]) -> int:
        """Insert the records that are not there yet, each with its vector, all or none; returns how many were new."""
        rows = [_row(record) for record in records]
        embeddings = [(r.user_id, r.id, Embedding(v)) for r, v in zip(records, vectors, strict=True)]
        async with self._database.transaction() as connection, connection.cursor() as cursor:
            for user in sorted({record.user_id for record in records}):
                await cursor.execute(LOCK_USER, (user,))
            await cursor.executemany(INSERT_RECORD, rows)
            created = cursor.rowcount if rows else 0
            await cursor.executemany(INSERT_VECTOR, embeddings)
        return created

    async def record(self, user_id: str, record_id: UUID) -> Record:
        """Raises NotFound, also for another user's record."""
        rows = await self._rows(RECORD_OF_USER, (record_id, user_id))
        if not rows:
            raise NotFound(f"no record {record_id}")
        return _record(rows[0])

    async def records(self, user_id: str, record_ids: Sequence[UUID]) -> tuple[Record, ...]:
        """Those of the ids that exist and are the user's, in the order asked."""
        rows = await self._rows(RECORDS_OF_USER, (list(record_ids), user_id))
        found = {row["id"]: _record(row) for row in rows}
        return tuple(found[record_id] for record_id in record_ids if record_id in found)

    async def of_chunk(self, chunk_id: UUID) -> tuple[Record, ...]:
        """By kind and ordinal."""
        return tuple(_record(row) for row in await self._rows(RECORDS_OF_CHUNK, (chunk_id,)))

    async def page(
        self, user_id: str, *, kinds: Sequence[MemoryKind] = (), after: UUID | None = None, limit: int = 50
    ) -> tuple[Record, ...]:
        """In the order of insertion, which later writes do not shift. No kind means all of them."""
        position = await self._rows(POSITION, (after, user_id))
        start = position[0]["position"] if position else 0
        values = {"user": user_id, "kinds": _names(kinds) or None, "position": start, "limit": limit}
        return tuple(_record(row) for row in await self._rows(RECORDS_PAGE, values))

    async def semantic_of(self, user_id: str, chunk_ids: Sequence[UUID], *, limit: int) -> tuple[UUID, ...]:
        """The user's semantic records of chunks, in the order of writing."""
        values = {"user": user_id, "chunks": list(chunk_ids), "limit": limit}
        return tuple(row["id"] for row in await self._rows(SEMANTIC_OF, values))

    async def semantic_since(self, user_id: str, since: datetime, *, limit: int) -> tuple[UUID, ...]:
        """The user's semantic records of inputs accepted from a time on, in the order of writing."""
        values = {"user": user_id, "since": since, "limit": limit}
        return tuple(row["id"] for row in await self._rows(SEMANTIC_SINCE, values))

    async def view(self, user_id: str, kind: MemoryKind, *, limit: int) -> tuple[RecordView, ...]:
        """The newest records of a kind, newest first by mention time."""
        rows = await self._rows(RECORDS_VIEW, (user_id, str(kind), limit))
        return tuple(RecordView.model_validate(row) for row in rows)

    async def set_index(
        self, record_ids: Sequence[UUID], status: IndexStatus, *, step: str = "", reason: str = ""
    ) -> None:
        """Note where records stand on their way into the graph."""
        async with self._database.transaction() as connection:
            await connection.execute(SET_INDEX, (str(status), step, reason, list(record_ids)))

    async def save_draft(self, record_id: UUID, step: str, draft: str) -> None:
        """Keep a step's result (JSON) for a record; the first one saved stays."""
        async with self._database.transaction() as connection:
            await connection.execute(SAVE_DRAFT, (record_id, step, draft))

    async def drafts(self, record_ids: Sequence[UUID], step: str) -> Mapping[UUID, str]:
        """The saved results of a step, by record; records without one are left out."""
        rows = await self._rows(DRAFTS_OF_RECORDS, (list(record_ids), step))
        return {row["record_id"]: row["draft"] for row in rows}

    async def same_chunk(self, user_id: str, record_ids: Sequence[UUID], *, limit: int) -> tuple[UUID, ...]:
        """The other records of the same chunks, oldest first (paper A.3: recomputed from provenance)."""
        return await self._ids(SAME_CHUNK, {"user": user_id, "ids": list(record_ids), "limit": limit})

    async def temporal_neighbours(self, user_id: str, record_ids: Sequence[UUID], *, limit: int) -> tuple[UUID, ...]:
        """The records just before and after each, by mention time within its session, oldest first."""
        return await self._ids(TEMPORAL_NEIGHBOURS, {"user": user_id, "ids": list(record_ids), "limit": limit})

    async def surroundings(self, user_id: str, record_ids: Sequence[UUID], *, characters: int) -> Mapping[UUID, str]:
        """For each record the messages it cites with the one before and after, at most `characters` of each text."""
        values = {"user": user_id, "ids": list(record_ids), "characters": characters}
        return {row["id"]: row["words"] for row in await self._rows(SURROUNDINGS, values)}

    async def similarities(self, user_id: str, record_ids: Sequence[UUID], vector: Vector) -> Mapping[UUID, float]:
        """Cosine of each record with a vector."""
        rows = await self._rows(SIMILARITIES, (Embedding(vector), user_id, list(record_ids)))
        return {row["record_id"]: row["cosine"] for row in rows}

    async def search_direct(
        self, user_id: str, *, vector: Vector, words: Sequence[str], kinds: Sequence[MemoryKind], limit: int
    ) -> tuple[UUID, ...]:
        """The user's rows by vector and by full text, fused by reciprocal rank, ties by id. No kind means all."""
        scope = {"user": user_id, "kinds": _names(kinds or tuple(MemoryKind)), "limit": limit}
        near = await self._ids(SEARCH_VECTORS, {**scope, "vector": Embedding(vector)})
        said = await self._ids(SEARCH_WORDS, {**scope, "words": list(words)})
        scores: dict[UUID, float] = {}
        for ranking in (near, said):
            for rank, found in enumerate(ranking, start=1):
                scores[found] = scores.get(found, 0.0) + 1 / (RANK_FUSION_DEPTH + rank)
        return tuple(sorted(scores, key=lambda found: (-scores[found], found))[:limit])

    async def checksum(self, user_id: str | None = None) -> str:
        """SHA-256 over the evidence plane, of one user or of all, in id order (see CHECKSUM_ROWS)."""
        digest = sha256()
        async with self._database.transaction() as connection:
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            for statement in CHECKSUM_ROWS:
                async with connection.cursor("checksum") as cursor:
                    await cursor.execute(statement, {"user": user_id})
                    async for row in cursor:
                        digest.update(row["row"].encode() + b"\n")
        return digest.hexdigest()

    async def _rows(self, statement: str, arguments: Sequence[object] | Mapping[str, object]) -> list[dict[str, Any]]:
        async with self._database.transaction() as connection:
            return await fetch(connection, statement, arguments)

    async def _ids(self, statement: str, arguments: Mapping[str, object]) -> tuple[UUID, ...]:
        return tuple(row["id"] for row in await self._rows(statement, arguments))


def _names(kinds: Sequence[MemoryKind]) -> list[str]:
    return [str(kind) for kind in kinds]


def _row(record: Record) -> dict[str, object]:
    row = record.model_dump(mode="json", exclude={"event_time", "sources", "attributes"})
    time = record.event_time
    return {
        **row,
        "event_start": time and time.start,
        "event_end": time and time.end,
        "event_granularity": time and str(time.granularity),
        "event_clock": time and time.clock,
        "sources": Jsonb([source.model_dump() for source in record.sources]),
        "attributes": Jsonb(record.attributes),
    }


def _record(row: Mapping[str, Any]) -> Record:
    values = dict(row)
    span = {name: values.pop(f"event_{name}") for name in TimeSpan.model_fields}
    return Record(**values, event_time=None if span["start"] is None else TimeSpan(**span))
