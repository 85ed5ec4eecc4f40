"""The graph's reads on plain relational tables (schema `plain` of tests.bench.search_data): what a search costs without
Apache AGE. The side tables are those of the real graph."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pgvector import Vector as Embedding

from domain.graph import AnchorHit, Vector
from domain.memory import Anchor, Frame
from infra.stores.graph import AgeGraph

ANCHOR = "a.anchor_id AS id, a.user_id, a.name, a.key, a.type, a.aliases, a.mentions, a.score"

RESOLVE = f"""
SELECT l.key AS asked, {ANCHOR} FROM anchor_aliases l
JOIN plain.anchor a ON a.user_id = %(user)s AND a.anchor_id = l.anchor_id
WHERE l.user_id = %(user)s AND l.key = ANY(%(keys)s)
"""

NEAREST = """
SELECT q.place, 1 - v.distance AS score, a.anchor_id, a.name, a.type, a.aliases
FROM unnest(%(vectors)s::vector[]) WITH ORDINALITY q(vector, place)
CROSS JOIN LATERAL (
    SELECT n.anchor_id, (n.vector <=> q.vector) + 0 AS distance FROM anchor_vectors n
    WHERE n.user_id = %(user)s ORDER BY distance, n.anchor_id LIMIT %(limit)s
) v
JOIN plain.anchor a ON a.user_id = %(user)s AND a.anchor_id = v.anchor_id
WHERE 1 - v.distance >= %(floor)s
ORDER BY q.place, v.distance, v.anchor_id
"""

SELECT_FRAMES = """
SELECT f.fid AS id, f.user_id, f.kind, f.predicate, f.literals, f.event_time, f.mention_time, f.status, f.negated,
       f.modality, f.record_ids, arms.arms
FROM found
JOIN plain.frame f ON f.id = found.id
CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('role', e.role, 'anchor_id', a.anchor_id, 'name', a.name, 'type', a.type)
                     ORDER BY e.id) AS arms
    FROM plain.arm e JOIN plain.anchor a ON a.id = e.end_id WHERE e.start_id = f.id
) arms
ORDER BY f.fid
"""

FRAMES_OF_RECORDS = f"""
WITH cited AS MATERIALIZED (
    SELECT DISTINCT c.frame_id FROM frame_citations c
    WHERE c.user_id = %(user)s AND c.record_id = ANY(%(records)s) ORDER BY c.frame_id LIMIT %(limit)s
), found AS (
    SELECT f.id FROM cited JOIN plain.frame f ON f.user_id = %(user)s AND f.fid = cited.frame_id
)
{SELECT_FRAMES}
"""

ASKED = """
WITH asked AS MATERIALIZED (
    SELECT a.id FROM plain.anchor a WHERE a.user_id = %(user)s AND a.anchor_id = ANY(%(anchors)s)
)
"""

INCIDENT_FRAMES = f"""
{ASKED}, found AS MATERIALIZED (
    SELECT DISTINCT x.id FROM asked, LATERAL (
        SELECT DISTINCT ON (e.fid) e.start_id AS id FROM plain.arm e
        WHERE e.end_id = asked.id ORDER BY e.fid LIMIT %(per_anchor)s
    ) x
)
{SELECT_FRAMES}
"""

ADJACENT_FRAMES = f"""
{ASKED}, found AS MATERIALIZED (
    SELECT DISTINCT x.fid, x.id FROM asked, unnest(%(predicates)s::text[]) p(predicate), LATERAL (
        SELECT DISTINCT ON (e.fid) e.start_id AS id, e.fid FROM plain.arm e
        WHERE e.end_id = asked.id AND e.predicate = p.predicate ORDER BY e.fid LIMIT %(cap)s
    ) x ORDER BY x.fid LIMIT %(cap)s
)
{SELECT_FRAMES}
"""

DEGREES = """
SELECT a.anchor_id, (SELECT count(*) FROM (SELECT FROM plain.arm e WHERE e.end_id = a.id LIMIT %(ceiling)s) x) AS degree
FROM plain.anchor a WHERE a.user_id = %(user)s AND a.anchor_id = ANY(%(anchors)s)
"""


class RelationalGraph(AgeGraph):
    """The reads of a search, each with the statement a relational schema would have."""

    async def resolve(self, user_id: str, keys: Sequence[str]) -> Mapping[str, Anchor]:
        rows = await self._rows(RESOLVE, {"user": user_id, "keys": list(keys)})
        return {row.pop("asked"): Anchor(**row) for row in rows}

    async def nearest(
        self, user_id: str, vectors: Sequence[Vector], *, limit: int, floor: float
    ) -> list[tuple[AnchorHit, ...]]:
        asked = [Embedding(vector) for vector in vectors]
        values = {"user": user_id, "vectors": asked, "limit": limit, "floor": floor}
        hits: list[list[AnchorHit]] = [[] for _ in vectors]
        for row in await self._rows(NEAREST, values):
            hits[row.pop("place") - 1].append(AnchorHit(**row))
        return [tuple(found) for found in hits]

    async def frames_of_records(self, user_id: str, record_ids: Sequence[UUID], *, limit: int) -> tuple[Frame, ...]:
        values = {"user": user_id, "records": list(record_ids), "limit": limit}
        return tuple(map(_frame, await self._rows(FRAMES_OF_RECORDS, values)))

    async def incident_frames(self, user_id: str, anchor_ids: Sequence[UUID], *, per_anchor: int) -> tuple[Frame, ...]:
        values = {"user": user_id, "anchors": list(anchor_ids), "per_anchor": per_anchor}
        return tuple(map(_frame, await self._rows(INCIDENT_FRAMES, values)))

    async def adjacent_frames(
        self, user_id: str, anchor_ids: Sequence[UUID], *, predicates: Sequence[str], cap: int
    ) -> tuple[Frame, ...]:
        values = {"user": user_id, "anchors": list(anchor_ids), "predicates": list(predicates), "cap": cap}
        return tuple(map(_frame, await self._rows(ADJACENT_FRAMES, values)))

    async def degrees(self, user_id: str, anchor_ids: Sequence[UUID], *, ceiling: int) -> Mapping[UUID, int]:
        values = {"user": user_id, "anchors": list(anchor_ids), "ceiling": ceiling}
        return {row["anchor_id"]: row["degree"] for row in await self._rows(DEGREES, values)}


def _frame(row: Mapping[str, Any]) -> Frame:
    return Frame(**{**row, "arms": row["arms"] or ()})
