"""SQL that finds what a Dream round compares: the frontier, nearest names, and the evidence of pairs."""

from psycopg import sql

from infra.stores.graph.statements import graph_sql

MENTIONED = """
SELECT DISTINCT anchor_id FROM anchor_records WHERE user_id = %s AND record_id = ANY(%s) ORDER BY anchor_id LIMIT %s
"""

FRONTIER = "SELECT anchor_id FROM dream_frontier WHERE user_id = %s ORDER BY position LIMIT %s"
LEAVE_FRONTIER = "DELETE FROM dream_frontier WHERE user_id = %s AND anchor_id = ANY(%s)"
REJOIN_FRONTIER = """
INSERT INTO dream_frontier (user_id, anchor_id)
SELECT v.user_id, v.anchor_id FROM anchor_vectors v WHERE v.user_id = %s AND v.anchor_id = ANY(%s)
ORDER BY v.anchor_id ON CONFLICT DO NOTHING
"""
"""Every anchor has a vector, and what has none is gone."""

USERS_WITH_FRONTIER = """
WITH RECURSIVE users AS (
    (SELECT user_id FROM dream_frontier WHERE user_id > %(after)s ORDER BY user_id LIMIT 1)
    UNION ALL
    SELECT (SELECT f.user_id FROM dream_frontier f WHERE f.user_id > users.user_id ORDER BY f.user_id LIMIT 1)
    FROM users WHERE users.user_id IS NOT NULL
)
SELECT user_id FROM users WHERE user_id IS NOT NULL LIMIT %(limit)s
"""
"""From one user to the next by the index: no more is read than there are users asked for."""

COMPARED = graph_sql("""
SELECT q.place, a.properties::text AS properties,
       EXISTS (SELECT FROM anchor_records r
               WHERE r.user_id = %(user)s AND r.anchor_id = q.id AND r.kind = 'semantic') AS semantic
FROM unnest(%(anchors)s::uuid[]) WITH ORDINALITY q(id, place)
JOIN memory."Anchor" a ON ax(a.user_id) = %(owner)s::agtype AND ax(a.anchor_id) = ('"' || q.id::text || '"')::agtype
ORDER BY q.place
""")

_SOURCES = """
WITH sources AS MATERIALIZED (
    SELECT q.place, n.anchor_id, n.vector
    FROM unnest(%(anchors)s::uuid[]) WITH ORDINALITY q(id, place)
    JOIN anchor_vectors n ON n.user_id = %(user)s AND n.anchor_id = q.id
)
"""
_NEIGHBOURS = graph_sql("""
SELECT s.place, 1 - v.distance AS score, a.properties::text AS properties
FROM sources s
CROSS JOIN LATERAL nearest v
JOIN memory."Anchor" a
  ON ax(a.user_id) = %(owner)s::agtype AND ax(a.anchor_id) = ('"' || v.anchor_id::text || '"')::agtype
WHERE v.anchor_id <> s.anchor_id AND 1 - v.distance >= %(floor)s AND EXISTS (
    SELECT FROM anchor_records r WHERE r.user_id = %(user)s AND r.anchor_id = v.anchor_id AND r.kind = 'semantic'
)
ORDER BY s.place, v.distance, v.anchor_id
""")

NEAREST_NAMES = _SOURCES + _NEIGHBOURS.replace(
    "nearest",
    """(
    SELECT n.anchor_id, (n.vector <=> s.vector) + 0 AS distance FROM anchor_vectors n
    WHERE n.user_id = %(user)s ORDER BY distance, n.anchor_id LIMIT %(limit)s
)""",
)
"""Exact: all of the user's vectors are read, which is the fastest up to some 20,000; `+ 0` forbids any other plan."""

INDEXED_NAMES = _SOURCES + _NEIGHBOURS.replace(
    "nearest",
    """(
    SELECT n.anchor_id, n.vector::vector({dimension}) <=> s.vector AS distance FROM anchor_vectors n
    WHERE n.user_id = {user} AND vector_dims(n.vector) = {dimension}
    ORDER BY n.vector::vector({dimension}) <=> s.vector LIMIT %(limit)s
)""",
)
"""By the user's own index: its predicate must stand in the text, user and all, or the planner won't use it."""

INDEX = """
SELECT i.indexrelid::regclass::text AS name, i.indisvalid AS valid, a.atttypmod AS dimension
FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indexrelid AND a.attnum = 1
WHERE i.indexrelid = to_regclass(%s)
"""
FOR_INDEX = """
SELECT set_config('hnsw.ef_search', %s, true), set_config('enable_sort', 'off', true)
"""
"""Without sorting, the index's order is the only way to the nearest names. The rest of the statement sorts rows that
are few, and still does."""

COUNT_NAMES = """
SELECT count(*) AS names, max(n.dimension) AS dimension FROM (
    SELECT coalesce((SELECT value::int FROM meta WHERE key = 'embedder_dimension'), vector_dims(vector)) AS dimension
    FROM anchor_vectors WHERE user_id = %s LIMIT %s
) n
"""
CLAIM_BUILD = "SELECT pg_try_advisory_lock(hashtextextended(%s, 3)) AS claimed"
BUILD_MEMORY = "SELECT set_config('maintenance_work_mem', '256MB', false), set_config('statement_timeout', '0', false)"
DROP_INDEX = "DROP INDEX CONCURRENTLY IF EXISTS {name}"
CREATE_INDEX = """
CREATE INDEX CONCURRENTLY {name} ON anchor_vectors USING hnsw ((vector::vector({dimension})) vector_cosine_ops)
WHERE user_id = {user} AND vector_dims(vector) = {dimension}
"""
"""Vectors of another dimension, met only while all are changed to another embedder's, stay outside."""

ROWS_OF_PAIRS = """
SELECT e.place, e.side, x.record_id
FROM unnest(%(a)s::uuid[], %(b)s::uuid[]) WITH ORDINALITY p(a, b, place)
CROSS JOIN LATERAL (VALUES (p.place, 0, p.a, p.b), (p.place, 1, p.b, p.a)) e(place, side, anchor, other)
CROSS JOIN LATERAL (
    SELECT m.record_id, m.kind <> 'semantic' AS episodic, (
        SELECT o.record_id FROM anchor_records o
        WHERE o.user_id = %(user)s AND o.anchor_id = e.other AND o.record_id = m.record_id LIMIT 1
    ) IS NULL AS alone
    FROM (
        SELECT r.record_id, r.kind FROM anchor_records r
        WHERE r.user_id = %(user)s AND r.anchor_id = e.anchor
        ORDER BY r.user_id, r.anchor_id, r.record_id LIMIT %(considered)s
    ) m
    ORDER BY alone, episodic, m.record_id LIMIT %(limit)s
) x
ORDER BY e.place, e.side, x.alone, x.episodic, x.record_id
"""
"""LIMIT 1 where EXISTS would do: of that the planner would make a hash of all of a hub's rows."""

SHARED_FRAMES = graph_sql("""
WITH ends AS MATERIALIZED (
    SELECT p.place, CASE WHEN ax(b.mentions) < ax(a.mentions) THEN b.id ELSE a.id END AS rare,
           CASE WHEN ax(b.mentions) < ax(a.mentions) THEN a.id ELSE b.id END AS other
    FROM unnest(%(a)s::agtype[], %(b)s::agtype[]) WITH ORDINALITY p(a, b, place)
    JOIN memory."Anchor" a ON ax(a.user_id) = %(owner)s::agtype AND ax(a.anchor_id) = p.a
    JOIN memory."Anchor" b ON ax(b.user_id) = %(owner)s::agtype AND ax(b.anchor_id) = p.b
)
SELECT ends.place, f.properties::text AS properties
FROM ends
CROSS JOIN LATERAL (
    SELECT DISTINCT ON (e.end_id, ax(e.fid)) e.start_id FROM memory."ARM" e
    WHERE e.end_id = ends.rare AND (
        SELECT o.id FROM memory."ARM" o WHERE o.start_id = e.start_id AND o.end_id = ends.other LIMIT 1
    ) IS NOT NULL
    ORDER BY e.end_id, ax(e.fid) LIMIT %(limit)s
) x
JOIN memory."Frame" f ON f.id = x.start_id
ORDER BY ends.place, ax(f.fid)
""")
"""From the end with fewer mentions, in frame-id order, until there are enough; LIMIT 1 for the same reason."""


def indexing(statement: str, user_id: str, dimension: int, name: str) -> sql.Composed:
    """A statement that drops or makes a user's own index."""
    return sql.SQL(statement).format(
        user=sql.Literal(user_id), dimension=sql.Literal(dimension), name=sql.Identifier(name)
    )


def indexed(statement: str, user_id: str, dimension: int) -> sql.Composed:
    """A statement with values that names the predicate of a user's own index; a per cent sign of the user's would be
    taken for a value's place."""
    user = sql.SQL(sql.Literal(user_id).as_string().replace("%", "%%"))
    return sql.SQL(statement).format(user=user, dimension=sql.Literal(dimension))
