"""SQL on AGE's label tables (platform trial: Cypher's SET and CREATE scan whole tables, these use the indexes).

`ax(a.key)` stands for AGE's access to a property; `graph_sql` writes it out in the form that the migration's indexes
have. Values that are compared with properties go in as agtype, which is JSON. Properties are read as text and parsed
here; those to be stored go in as one JSON array, which costs the client a third of an array of texts.
"""

import re


def graph_sql(text: str) -> str:
    """The text with AGE's access to properties written out."""
    access = r"""ag_catalog.agtype_access_operator(VARIADIC ARRAY[\1.properties, '"\2"'::ag_catalog.agtype])"""
    return re.sub(r"\bax\((\w+)\.(\w+)\)", access, text)


LIMIT_WAITING = "SELECT set_config('lock_timeout', %s, true), set_config('statement_timeout', %s, true)"
LOCK_USER = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 2))"
"""Graph changes of one user apply one at a time; the seed keeps this lock apart from that of accepted inputs."""

OWNERS = "SELECT key, anchor_id FROM anchor_aliases WHERE user_id = %s AND key = ANY(%s)"

RESOLVE = graph_sql("""
SELECT l.key, a.properties::text AS properties
FROM anchor_aliases l
JOIN memory."Anchor" a
  ON ax(a.user_id) = %(owner)s::agtype AND ax(a.anchor_id) = ('"' || l.anchor_id::text || '"')::agtype
WHERE l.user_id = %(user)s AND l.key = ANY(%(keys)s)
""")

ANCHORS = graph_sql("""
SELECT a.id, a.properties::text AS properties FROM memory."Anchor" a
WHERE ax(a.user_id) = %(owner)s::agtype AND ax(a.anchor_id) = ANY(%(ids)s::agtype[])
""")

ANCHOR_PAGE = graph_sql("""
SELECT a.properties::text AS properties FROM memory."Anchor" a
WHERE ax(a.user_id) = %(owner)s::agtype AND ax(a.anchor_id) > %(after)s::agtype
ORDER BY ax(a.user_id), ax(a.anchor_id) LIMIT %(limit)s
""")

MENTIONS = """
SELECT anchor_id, kind, array_agg(record_id ORDER BY record_id) AS records FROM anchor_records
WHERE user_id = %s AND anchor_id = ANY(%s) GROUP BY anchor_id, kind
"""

NEAREST_RECORDS = """
SELECT asked.anchor_id, x.record_id, x.cosine
FROM unnest(%(anchors)s::uuid[]) WITH ORDINALITY asked(anchor_id, place)
CROSS JOIN LATERAL (
    SELECT v.record_id, 1 - (v.vector <=> %(vector)s) AS cosine FROM record_vectors v
    WHERE v.user_id = %(user)s AND v.record_id = ANY(ARRAY(
        SELECT m.record_id FROM anchor_records m
        WHERE m.user_id = %(user)s AND m.anchor_id = asked.anchor_id AND m.kind = ANY(%(kinds)s)
          AND m.record_id <> ALL(%(without)s::uuid[])
        ORDER BY m.user_id, m.anchor_id, m.record_id LIMIT %(ranked)s
    ))
    ORDER BY cosine DESC, v.record_id LIMIT %(per_anchor)s
) x
ORDER BY asked.place, x.cosine DESC, x.record_id
"""
"""An anchor's ids go into the index as one sorted array: its leaves are walked once, a sixth of the pages of a join."""

NEAREST = graph_sql("""
SELECT q.place, 1 - v.distance AS score, a.properties::text AS properties
FROM unnest(%(vectors)s::vector[]) WITH ORDINALITY q(vector, place)
CROSS JOIN LATERAL (
    SELECT n.anchor_id, (n.vector <=> q.vector) + 0 AS distance FROM anchor_vectors n
    WHERE n.user_id = %(user)s ORDER BY distance, n.anchor_id LIMIT %(limit)s
) v
JOIN memory."Anchor" a
  ON ax(a.user_id) = %(owner)s::agtype AND ax(a.anchor_id) = ('"' || v.anchor_id::text || '"')::agtype
WHERE 1 - v.distance >= %(floor)s
ORDER BY q.place, v.distance, v.anchor_id
""")

INSERT_ANCHORS = graph_sql("""
INSERT INTO memory."Anchor" AS a (properties) SELECT p::text::agtype FROM json_array_elements(%s::json) p
RETURNING a.id, ax(a.anchor_id)::text AS anchor_id
""")
UPDATE_ANCHORS = """
UPDATE memory."Anchor" a SET properties = (p -> 'properties')::text::agtype
FROM json_array_elements(%s::json) p WHERE a.id = (p ->> 'id')::graphid
"""
INSERT_ALIASES = """
INSERT INTO anchor_aliases (user_id, key, anchor_id, name) SELECT %s, * FROM unnest(%s::text[], %s::uuid[], %s::text[])
"""
INSERT_MENTIONS = """
WITH fresh AS (
    INSERT INTO anchor_records (user_id, anchor_id, record_id, kind)
    SELECT %(user)s, anchor_id, %(record)s, %(kind)s FROM unnest(%(anchors)s::uuid[]) anchor_id
    ON CONFLICT DO NOTHING RETURNING anchor_id
), news AS (
    INSERT INTO dream_frontier (user_id, anchor_id)
    SELECT %(user)s, anchor_id FROM fresh WHERE %(kind)s = 'semantic' ORDER BY anchor_id ON CONFLICT DO NOTHING
)
SELECT anchor_id FROM fresh
"""
"""The anchors that the record had not mentioned. With semantic news they join the frontier, or keep their place."""
INSERT_ANCHOR_VECTORS = """
INSERT INTO anchor_vectors (user_id, anchor_id, model, vector)
SELECT %s, n.id, coalesce((SELECT value FROM meta WHERE key = 'embedder_name'), ''), n.vector
FROM unnest(%s::uuid[], %s::vector[]) n(id, vector)
"""

FRAMES = graph_sql("""
SELECT f.id, f.properties::text AS properties FROM memory."Frame" f
WHERE ax(f.user_id) = %(owner)s::agtype AND ax(f.fid) = ANY(%(ids)s::agtype[])
""")

TWINS = graph_sql("""
SELECT t.place, f.id, f.properties::text AS properties,
       (SELECT jsonb_agg(jsonb_build_array(ax(e.role)::text, e.end_id::text))
        FROM memory."ARM" e WHERE e.start_id = f.id) AS arms
FROM unnest(%(places)s::int[], %(rare)s::text[], %(other)s::text[], %(predicates)s::text[])
     t(place, rare, other, predicate)
JOIN memory."ARM" r ON r.end_id = t.rare::graphid AND ax(r.predicate) = t.predicate::agtype
JOIN memory."Frame" f ON f.id = r.start_id
WHERE EXISTS (SELECT FROM memory."ARM" o WHERE o.start_id = r.start_id AND o.end_id = t.other::graphid)
""")
"""Frames with a predicate over two given anchors, found from the anchor that is mentioned less."""

INSERT_FRAMES = graph_sql("""
INSERT INTO memory."Frame" AS f (properties) SELECT p::text::agtype FROM json_array_elements(%s::json) p
RETURNING f.id, ax(f.fid)::text AS fid
""")
UPDATE_FRAMES = """
UPDATE memory."Frame" f SET properties = (p -> 'properties')::text::agtype
FROM json_array_elements(%s::json) p WHERE f.id = (p ->> 'id')::graphid
"""
INSERT_ARMS = """
INSERT INTO memory."ARM" (start_id, end_id, properties)
SELECT (a ->> 'frame')::graphid, (a ->> 'anchor')::graphid, (a -> 'properties')::text::agtype
FROM json_array_elements(%s::json) a
"""
INSERT_CITATIONS = """
INSERT INTO frame_citations (user_id, record_id, frame_id) SELECT %s, %s, f FROM unnest(%s::text[]) f
ON CONFLICT DO NOTHING
"""
INSERT_FRAME_VECTORS = """
INSERT INTO frame_vectors (user_id, frame_id, model, vector)
SELECT %s, n.id, coalesce((SELECT value FROM meta WHERE key = 'embedder_name'), ''), n.vector
FROM unnest(%s::text[], %s::vector[]) n(id, vector)
"""

SELECT_FRAMES = graph_sql("""
SELECT f.properties::text AS properties, arms.arms
FROM found
JOIN memory."Frame" f ON f.id = found.id
CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object(
        'role', ax(e.role)::text, 'anchor_id', ax(a.anchor_id)::text, 'name', ax(a.name)::text, 'type', ax(a.type)::text
    ) ORDER BY e.id) AS arms
    FROM memory."ARM" e JOIN memory."Anchor" a ON a.id = e.end_id WHERE e.start_id = f.id
) arms
ORDER BY ax(f.fid)
""")
"""Ends every statement that finds frames: with their arms, in frame-id order."""

FRAME_BY_ID = (
    graph_sql("""
WITH found AS (
    SELECT f.id FROM memory."Frame" f WHERE ax(f.user_id) = %(owner)s::agtype AND ax(f.fid) = %(frame)s::agtype
)
""")
    + SELECT_FRAMES
)

FRAMES_OF_RECORDS = (
    graph_sql("""
WITH cited AS MATERIALIZED (
    SELECT DISTINCT c.frame_id FROM frame_citations c
    WHERE c.user_id = %(user)s AND c.record_id = ANY(%(records)s) ORDER BY c.frame_id LIMIT %(limit)s
), found AS (
    SELECT f.id FROM cited
    JOIN memory."Frame" f ON ax(f.user_id) = %(owner)s::agtype AND ax(f.fid) = ('"' || cited.frame_id || '"')::agtype
)
""")
    + SELECT_FRAMES
)

_ANCHORS_ASKED = graph_sql("""
WITH asked AS MATERIALIZED (
    SELECT a.id FROM memory."Anchor" a
    WHERE ax(a.user_id) = %(owner)s::agtype AND ax(a.anchor_id) = ANY(%(anchors)s::agtype[])
)
""")

INCIDENT_FRAMES = (
    _ANCHORS_ASKED
    + graph_sql("""
, found AS MATERIALIZED (
    SELECT DISTINCT x.id FROM asked, LATERAL (
        SELECT DISTINCT ON (e.end_id, ax(e.fid)) e.start_id AS id FROM memory."ARM" e
        WHERE e.end_id = asked.id ORDER BY e.end_id, ax(e.fid) LIMIT %(per_anchor)s
    ) x
)
""")
    + SELECT_FRAMES
)

FRAMES_PAGE = (
    _ANCHORS_ASKED
    + graph_sql("""
, found AS MATERIALIZED (
    SELECT x.id FROM asked, LATERAL (
        SELECT DISTINCT ON (e.end_id, ax(e.fid)) e.start_id AS id FROM memory."ARM" e
        WHERE e.end_id = asked.id AND ax(e.fid) > %(after)s::agtype ORDER BY e.end_id, ax(e.fid) LIMIT %(limit)s
    ) x
)
""")
    + SELECT_FRAMES
)

ADJACENT_FRAMES = (
    _ANCHORS_ASKED
    + graph_sql("""
, found AS MATERIALIZED (
    SELECT DISTINCT x.fid, x.id FROM asked, unnest(%(predicates)s::agtype[]) p(predicate), LATERAL (
        SELECT DISTINCT ON (e.end_id, ax(e.predicate), ax(e.fid)) e.start_id AS id, ax(e.fid) AS fid
        FROM memory."ARM" e WHERE e.end_id = asked.id AND ax(e.predicate) = p.predicate
        ORDER BY e.end_id, ax(e.predicate), ax(e.fid) LIMIT %(cap)s
    ) x ORDER BY x.fid LIMIT %(cap)s
)
""")
    + SELECT_FRAMES
)
"""The whole ORDER BY lets the index give the order: agtype's `=` doesn't tell the planner that a column is constant."""

ALL_ADJACENT_FRAMES = (
    _ANCHORS_ASKED
    + graph_sql("""
, found AS MATERIALIZED (
    SELECT DISTINCT x.fid, x.id FROM asked, LATERAL (
        SELECT DISTINCT ON (e.end_id, ax(e.fid)) e.start_id AS id, ax(e.fid) AS fid
        FROM memory."ARM" e WHERE e.end_id = asked.id ORDER BY e.end_id, ax(e.fid) LIMIT %(cap)s
    ) x ORDER BY x.fid LIMIT %(cap)s
)
""")
    + SELECT_FRAMES
)

DEGREES = graph_sql("""
SELECT ax(a.anchor_id)::text AS anchor_id,
       (SELECT count(*) FROM (SELECT FROM memory."ARM" e WHERE e.end_id = a.id LIMIT %(ceiling)s) x) AS degree
FROM memory."Anchor" a
WHERE ax(a.user_id) = %(owner)s::agtype AND ax(a.anchor_id) = ANY(%(anchors)s::agtype[])
""")

FRAME_SIMILARITIES = """
SELECT frame_id, 1 - (vector <=> %s) AS cosine FROM frame_vectors WHERE user_id = %s AND frame_id = ANY(%s)
"""

COUNTS = graph_sql("""
SELECT (SELECT count(*) FROM memory."Anchor" a WHERE ax(a.user_id) = %(owner)s::agtype) AS anchors,
       (SELECT count(*) FROM memory."Frame" f WHERE ax(f.user_id) = %(owner)s::agtype) AS frames,
       (SELECT count(*) FROM memory."Frame" f JOIN memory."ARM" e ON e.start_id = f.id
        WHERE ax(f.user_id) = %(owner)s::agtype) AS arms
""")

SMOKE = """
SELECT * FROM ag_catalog.cypher('memory', $$ MATCH (f:Frame)-[r:ARM]->(a:Anchor) RETURN r LIMIT 1 $$) AS (r agtype)
"""
"""The only Cypher: it looks the labels up in AGE's catalogue, and so finds what SQL on the tables would not."""

CATALOGUE = """
SELECT count(*) AS sound FROM ag_catalog.ag_graph WHERE name = 'memory' AND graphid = to_regnamespace('memory')::oid
"""
"""0 after a restore from a dump, which gives the schema another number than AGE's catalogue says."""

CHECKSUM_ROWS = (
    graph_sql("""
    SELECT a.properties::text AS row FROM memory."Anchor" a
    WHERE %(owner)s::text IS NULL OR ax(a.user_id) = %(owner)s::text::agtype ORDER BY ax(a.user_id), ax(a.anchor_id)
    """),
    graph_sql("""
    SELECT f.properties::text AS row FROM memory."Frame" f
    WHERE %(owner)s::text IS NULL OR ax(f.user_id) = %(owner)s::text::agtype ORDER BY ax(f.user_id), ax(f.fid)
    """),
    graph_sql("""
    SELECT jsonb_build_array('arm', ax(f.fid)::text, ax(e.role)::text, ax(e.predicate)::text,
                             ax(a.anchor_id)::text)::text AS row
    FROM memory."Frame" f JOIN memory."ARM" e ON e.start_id = f.id JOIN memory."Anchor" a ON a.id = e.end_id
    WHERE %(owner)s::text IS NULL OR ax(f.user_id) = %(owner)s::text::agtype
    ORDER BY ax(f.user_id), ax(f.fid), ax(a.anchor_id), ax(e.role)
    """),
    """
    SELECT jsonb_build_array('alias', user_id, key, anchor_id, name)::text AS row
    FROM anchor_aliases WHERE %(user)s::text IS NULL OR user_id = %(user)s ORDER BY user_id, key
    """,
    """
    SELECT jsonb_build_array('mention', user_id, anchor_id, record_id, kind)::text AS row
    FROM anchor_records WHERE %(user)s::text IS NULL OR user_id = %(user)s ORDER BY user_id, anchor_id, record_id
    """,
    """
    SELECT jsonb_build_array('citation', user_id, record_id, frame_id)::text AS row
    FROM frame_citations WHERE %(user)s::text IS NULL OR user_id = %(user)s ORDER BY user_id, record_id, frame_id
    """,
    """
    SELECT jsonb_build_array('name vector', user_id, anchor_id, model, vector::text)::text AS row
    FROM anchor_vectors WHERE %(user)s::text IS NULL OR user_id = %(user)s ORDER BY user_id, anchor_id
    """,
    """
    SELECT jsonb_build_array('frame vector', user_id, frame_id, model, vector::text)::text AS row
    FROM frame_vectors WHERE %(user)s::text IS NULL OR user_id = %(user)s ORDER BY user_id, frame_id
    """,
)
