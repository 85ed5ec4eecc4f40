"""SQL of the merge log: merging two anchors in place, and taking it back.

A merge re-points rows, it makes none and loses none: what it moved stands in `merge_arms`, `merge_records` and
`merge_aliases`. A row that the representative had already has *collided*: the absorbed anchor's is dropped, and kept in
the log only. Every statement is set-based: a hub's arms cost one statement, not one each.
"""

from infra.stores.graph.statements import graph_sql

RUNNING = "SELECT state FROM consolidations WHERE id = %s AND user_id = %s FOR SHARE"
"""Locked until the commit: a consolidation can't end while a step of it changes the graph."""

LOGGED = "SELECT id FROM merges WHERE id = ANY(%s)"

LOG_MERGE = """
INSERT INTO merges (id, user_id, consolidation_id, absorbed, absorbed_name, representative, representative_name, type,
                    graph_id, properties, model, vector, names_added, score_before, evidence_position, state, merged_at)
SELECT %(merge)s, %(user)s, %(consolidation)s, v.anchor_id, %(absorbed_name)s, %(representative_id)s,
       %(representative_name)s, %(type)s, %(absorbed)s, %(properties)s, v.model, v.vector, %(names_added)s::text[],
       %(score_before)s,
       coalesce((SELECT max(position) FROM records WHERE user_id = %(user)s), 0), 'applied', %(now)s
FROM anchor_vectors v WHERE v.user_id = %(user)s AND v.anchor_id = %(absorbed_id)s
"""

LOG_ARMS = graph_sql("""
INSERT INTO merge_arms (merge_id, frame_id, role, arm_id, frame_graph_id, properties, collided)
SELECT %(merge)s, ax(e.fid)::text, ax(e.role)::text, e.id::text, e.start_id::text, e.properties::text,
       EXISTS (SELECT FROM memory."ARM" o
               WHERE o.start_id = e.start_id AND o.end_id = %(representative)s::graphid AND ax(o.role) = ax(e.role))
FROM memory."ARM" e WHERE e.end_id = %(absorbed)s::graphid
""")
DROP_COLLIDED_ARMS = """
DELETE FROM memory."ARM" e USING merge_arms m
WHERE m.merge_id = %(merge)s AND m.collided AND e.start_id = m.frame_graph_id::graphid
  AND e.end_id = %(absorbed)s::graphid AND e.id = m.arm_id::graphid
"""
MOVE_ARMS = """
UPDATE memory."ARM" SET end_id = %(representative)s::graphid WHERE end_id = %(absorbed)s::graphid
"""

LOG_RECORDS = """
INSERT INTO merge_records (merge_id, record_id, kind, collided)
SELECT %(merge)s, m.record_id, m.kind,
       EXISTS (SELECT FROM anchor_records o WHERE o.user_id = %(user)s AND o.anchor_id = %(representative_id)s
               AND o.record_id = m.record_id)
FROM anchor_records m WHERE m.user_id = %(user)s AND m.anchor_id = %(absorbed_id)s
"""
DROP_COLLIDED_RECORDS = """
DELETE FROM anchor_records r USING merge_records m
WHERE m.merge_id = %(merge)s AND m.collided AND r.user_id = %(user)s AND r.anchor_id = %(absorbed_id)s
  AND r.record_id = m.record_id
"""
MOVE_RECORDS = """
UPDATE anchor_records SET anchor_id = %(representative_id)s WHERE user_id = %(user)s AND anchor_id = %(absorbed_id)s
"""

LOG_ALIASES = """
INSERT INTO merge_aliases (merge_id, key)
SELECT %(merge)s, key FROM anchor_aliases WHERE user_id = %(user)s AND anchor_id = %(absorbed_id)s
"""
MOVE_ALIASES = """
UPDATE anchor_aliases SET anchor_id = %(representative_id)s WHERE user_id = %(user)s AND anchor_id = %(absorbed_id)s
"""

MOVE_FRONTIER = """
UPDATE dream_frontier SET anchor_id = %(representative_id)s
WHERE user_id = %(user)s AND anchor_id = %(absorbed_id)s AND NOT EXISTS (
    SELECT FROM dream_frontier WHERE user_id = %(user)s AND anchor_id = %(representative_id)s
)
"""
"""It keeps its place, unless the representative has one of its own."""
LEAVE_FRONTIER = "DELETE FROM dream_frontier WHERE user_id = %(user)s AND anchor_id = %(absorbed_id)s"

DROP_VECTOR = "DELETE FROM anchor_vectors WHERE user_id = %(user)s AND anchor_id = %(absorbed_id)s"
DROP_ANCHOR = 'DELETE FROM memory."Anchor" WHERE id = %(absorbed)s::graphid'

MOVE = (
    LOG_ARMS, DROP_COLLIDED_ARMS, MOVE_ARMS,
    LOG_RECORDS, DROP_COLLIDED_RECORDS, MOVE_RECORDS,
    LOG_ALIASES, MOVE_ALIASES, MOVE_FRONTIER, LEAVE_FRONTIER,
    DROP_VECTOR, DROP_ANCHOR,
)  # fmt: skip
"""What a merge does, in this order, once its entry is in the log; the absorbed vertex goes last."""

_ENTRY = """
SELECT m.id, m.consolidation_id, m.absorbed, m.absorbed_name, m.representative, m.representative_name, m.type, m.state,
       m.merged_at, m.undone_by
FROM merges m WHERE m.user_id = %(user)s
"""
_PAGE = " AND (%(after)s::uuid IS NULL OR m.id > %(after)s) ORDER BY m.id LIMIT %(limit)s"
_OF_CONSOLIDATION = " AND m.consolidation_id = %(consolidation)s"
_OF_ANCHOR = " AND (m.absorbed = %(anchor)s OR m.representative = %(anchor)s)"

ENTRIES = _ENTRY + " AND m.id = ANY(%(ids)s) ORDER BY m.id"
MERGES = _ENTRY + _PAGE
MERGES_OF_CONSOLIDATION = _ENTRY + _OF_CONSOLIDATION + _PAGE
MERGES_OF_ANCHOR = _ENTRY + _OF_ANCHOR + _PAGE
MERGES_OF_BOTH = _ENTRY + _OF_CONSOLIDATION + _OF_ANCHOR + _PAGE

LOGGED_ANCHOR = """
SELECT graph_id, properties, names_added, score_before FROM merges WHERE id = %(merge)s AND user_id = %(user)s
"""
ABSORBED_SINCE = """
SELECT id FROM merges WHERE user_id = %(user)s AND absorbed = %(representative_id)s AND state = 'applied'
ORDER BY sequence DESC LIMIT 1
"""
LATER = """
SELECT o.id, o.score_before, (o.properties::json ->> 'score')::float8 AS score FROM merges o
WHERE o.user_id = %(user)s AND o.representative = %(representative_id)s AND o.state = 'applied'
  AND o.sequence > (SELECT sequence FROM merges WHERE id = %(merge)s)
ORDER BY o.sequence
"""
"""Merges into the same representative, made after one and still standing."""
SET_SCORES_BEFORE = """
UPDATE merges m SET score_before = n.score FROM unnest(%s::uuid[], %s::float8[]) n(id, score) WHERE m.id = n.id
"""

RESTORE_ANCHOR = """
INSERT INTO memory."Anchor" (id, properties) VALUES (%(absorbed)s::graphid, %(properties)s::agtype)
"""
RESTORE_VECTOR = """
INSERT INTO anchor_vectors (user_id, anchor_id, model, vector)
SELECT user_id, absorbed, model, vector FROM merges WHERE id = %(merge)s
"""
LOST_NAMES = """
SELECT l.name FROM merge_aliases m JOIN anchor_aliases l ON l.user_id = %(user)s AND l.key = m.key
WHERE m.merge_id = %(merge)s AND l.anchor_id <> %(representative_id)s
"""
"""Names that came with the merge and have left the representative since, by a split: they stay where they are."""
RETURN_ALIASES = """
UPDATE anchor_aliases l SET anchor_id = %(absorbed_id)s FROM merge_aliases m
WHERE m.merge_id = %(merge)s AND l.user_id = %(user)s AND l.key = m.key AND l.anchor_id = %(representative_id)s
"""

RETURN_ARMS = """
UPDATE memory."ARM" e SET end_id = %(absorbed)s::graphid FROM merge_arms m
WHERE m.merge_id = %(merge)s AND NOT m.collided AND e.start_id = m.frame_graph_id::graphid
  AND e.end_id = %(representative)s::graphid AND e.id = m.arm_id::graphid
"""
INHERIT_ARMS = """
WITH heirs AS MATERIALIZED (
    SELECT DISTINCT ON (l.frame_id, l.role) l.merge_id, l.frame_id, l.role, l.arm_id, l.frame_graph_id, l.properties
    FROM unnest(%(later)s::uuid[]) WITH ORDINALITY o(merge_id, place)
    JOIN merge_arms l ON l.merge_id = o.merge_id AND l.collided
    JOIN merge_arms m ON m.merge_id = %(merge)s AND m.frame_id = l.frame_id AND m.role = l.role AND NOT m.collided
    JOIN memory."ARM" e ON e.start_id = m.frame_graph_id::graphid AND e.end_id = %(absorbed)s::graphid
        AND e.id = m.arm_id::graphid
    ORDER BY l.frame_id, l.role, o.place
), put AS (
    INSERT INTO memory."ARM" (id, start_id, end_id, properties)
    SELECT arm_id::graphid, frame_graph_id::graphid, %(representative)s::graphid, properties::agtype FROM heirs
)
UPDATE merge_arms l SET collided = false FROM heirs h
WHERE l.merge_id = h.merge_id AND l.frame_id = h.frame_id AND l.role = h.role
"""
"""An arm that goes back stood for those of later merges too, which collided with it: the first of them takes its place
at the representative."""
RESTORE_ARMS = """
INSERT INTO memory."ARM" (id, start_id, end_id, properties)
SELECT arm_id::graphid, frame_graph_id::graphid, %(absorbed)s::graphid, properties::agtype FROM merge_arms
WHERE merge_id = %(merge)s AND collided
"""

RETURN_RECORDS = """
UPDATE anchor_records r SET anchor_id = %(absorbed_id)s FROM merge_records m
WHERE m.merge_id = %(merge)s AND NOT m.collided AND r.user_id = %(user)s AND r.anchor_id = %(representative_id)s
  AND r.record_id = m.record_id
"""
INHERIT_RECORDS = """
WITH heirs AS MATERIALIZED (
    SELECT DISTINCT ON (l.record_id) l.merge_id, l.record_id, l.kind
    FROM unnest(%(later)s::uuid[]) WITH ORDINALITY o(merge_id, place)
    JOIN merge_records l ON l.merge_id = o.merge_id AND l.collided
    JOIN merge_records m ON m.merge_id = %(merge)s AND m.record_id = l.record_id AND NOT m.collided
    JOIN anchor_records r ON r.user_id = %(user)s AND r.anchor_id = %(absorbed_id)s AND r.record_id = m.record_id
    ORDER BY l.record_id, o.place
), put AS (
    INSERT INTO anchor_records (user_id, anchor_id, record_id, kind)
    SELECT %(user)s, %(representative_id)s, record_id, kind FROM heirs
)
UPDATE merge_records l SET collided = false FROM heirs h
WHERE l.merge_id = h.merge_id AND l.record_id = h.record_id
"""
RESTORE_RECORDS = """
INSERT INTO anchor_records (user_id, anchor_id, record_id, kind)
SELECT %(user)s, %(absorbed_id)s, record_id, kind FROM merge_records WHERE merge_id = %(merge)s AND collided
"""

SET_UNDONE = "UPDATE merges SET state = 'undone', undone_by = %(consolidation)s WHERE id = %(merge)s"

RETURN = (
    RESTORE_ANCHOR, RESTORE_VECTOR, RETURN_ALIASES,
    RETURN_ARMS, INHERIT_ARMS, RESTORE_ARMS,
    RETURN_RECORDS, INHERIT_RECORDS, RESTORE_RECORDS,
    SET_UNDONE,
)  # fmt: skip
"""What taking a merge back does, in this order."""

KEPT = """
SELECT count(*) AS kept
FROM records r JOIN anchor_records a ON a.user_id = %(user)s AND a.anchor_id = %(representative_id)s
    AND a.record_id = r.id
WHERE r.user_id = %(user)s AND r.position > (SELECT evidence_position FROM merges WHERE id = %(merge)s)
  AND NOT EXISTS (
    SELECT FROM merge_records l JOIN merges o ON o.id = l.merge_id
    WHERE o.user_id = %(user)s AND o.representative = %(representative_id)s AND o.state = 'applied'
      AND l.record_id = r.id AND NOT l.collided
)
"""

DETACH_RECORDS = """
UPDATE anchor_records SET anchor_id = %(new_id)s
WHERE user_id = %(user)s AND anchor_id = %(anchor_id)s AND record_id = ANY(%(records)s)
"""
DETACH_ARMS = graph_sql("""
UPDATE memory."ARM" e SET end_id = %(new)s::graphid
FROM (SELECT DISTINCT frame_id FROM frame_citations WHERE user_id = %(user)s AND record_id = ANY(%(records)s)) c
JOIN memory."Frame" f ON ax(f.user_id) = %(owner)s::agtype AND ax(f.fid) = ('"' || c.frame_id || '"')::agtype
WHERE e.start_id = f.id AND e.end_id = %(anchor)s::graphid
  AND f.properties::text::jsonb -> 'record_ids' <@ to_jsonb(%(records)s::uuid[])
""")
"""Of frames that cite none but the records that leave."""
DETACH_KEY = """
UPDATE anchor_aliases SET anchor_id = %(new_id)s
WHERE user_id = %(user)s AND key = %(key)s AND anchor_id = %(anchor_id)s
"""
