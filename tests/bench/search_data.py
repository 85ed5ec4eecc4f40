"""The data of the search benchmark, made by SQL alone from fixed seeds: one graph on AGE's label tables and the same on
plain tables, over one evidence plane.

Sizes as a conversation of LoCoMo gave them (669 records, 825 anchors, 765 frames, 2,119 arms): 0.87 records and three
arms a frame, two speakers in most frames, the other participants by a power law. A vocabulary grows slower than what is
said with it: a user has as many anchors as frames up to 1,000, beyond that by the 0.7th power. Rows of all users lie
mixed in the tables, as they would have come.
"""

import re
from collections.abc import Iterator

import psycopg

from infra.stores.database import SESSION_OPTIONS
from infra.stores.migrations.age import ENSURE_GRAPH

USERS = 1_000
"""Users that share a scale's frames."""

CONSTANT = ("constant1", "constant2", "constant3")
CONSTANT_FRAMES = 1_000
"""Users of one size at every scale: what they cost tells of the tables, not of their own growth."""

HUB = "hub"
HUB_FRAMES = 50_000
"""Frames of one more user, all of which meet in the anchor `Ona`."""

DIMENSION = 384

PERSONS = ("Ona", "Bram", "Cleo", "Dov", "Esra", "Finn", "Greta", "Hugo")
ADJECTIVES = (
    "amber", "blue", "calm", "dusty", "early", "faint", "grey", "humble", "icy", "jolly", "keen", "large", "bright",
    "cheap", "dark", "empty", "fancy", "gentle", "heavy", "inner", "little", "broken", "clean", "fresh", "golden",
)  # fmt: skip
"""All of them sort before the nouns, so that `amber piano` is a name and its own key."""
NOUNS = (
    "market", "novel", "orchard", "piano", "quarry", "river", "school", "temple", "umbrella", "violin", "window",
    "yard", "museum", "notebook", "oven", "painting", "quilt", "recipe", "saddle", "ticket", "vase", "wagon", "mirror",
)  # fmt: skip
VERBS = (
    "visit", "buy", "like", "make", "read", "attend", "give", "own", "play", "study", "paint", "cook", "move_to",
    "join", "see", "plan", "sell", "repair", "teach", "write",
)  # fmt: skip
ROLES = ("agent", "object", "location")

INDEXES_OF_GRAPH = re.findall(r"INDEX IF NOT EXISTS (\w+)", ENSURE_GRAPH)

PREPARE = (
    "SET session_replication_role = replica",  # no foreign key is looked up row by row
    "SET maintenance_work_mem = '1GB'",
    "SET work_mem = '512MB'",
    "DROP INDEX records_words",  # a search reads it only where the graph is broken
    *(f"DROP INDEX memory.{index}" for index in INDEXES_OF_GRAPH),
    """
    CREATE FUNCTION chance(n bigint, seed bigint) RETURNS float8 IMMUTABLE PARALLEL SAFE LANGUAGE sql
    RETURN (hashint8extended(n, seed) & 2147483647) / 2147483648.0
    """,
    """
    CREATE FUNCTION label(name text) RETURNS int STABLE PARALLEL SAFE LANGUAGE sql
    RETURN (SELECT l.id FROM ag_catalog.ag_label l WHERE l.relation = format('memory.%%I', $1)::regclass)
    """,
    """
    CREATE SCHEMA plain
    CREATE TABLE anchor (id bigint PRIMARY KEY, user_id text, key text, anchor_id uuid, name text, type text,
                         aliases text[], mentions int, score float8)
    CREATE TABLE frame (id bigint PRIMARY KEY, user_id text, fid text, kind text, predicate text, occurrence text,
                        literals jsonb, event_time jsonb, mention_time timestamptz, status text, negated boolean,
                        modality text, confidence float8, record_ids uuid[])
    CREATE TABLE arm (id bigint PRIMARY KEY, start_id bigint, end_id bigint, role text, predicate text, fid text)
    """,
)

STAGE = (
    """
    CREATE UNLOGGED TABLE bench_user AS
    SELECT u, user_id, frames, anchors, records, sum(frames) OVER past AS frames_before,
           sum(anchors) OVER past AS anchors_before, sum(records) OVER past AS records_before
    FROM (
        SELECT u, user_id, frames, ceil(0.87 * frames)::int AS records,
               greatest(least(frames, 1000 * (frames / 1000.0) ^ 0.7), 20)::int AS anchors
        FROM (
            SELECT u, 'user' || u AS user_id, %(each)s::int AS frames FROM generate_series(1, %(users)s) u
            UNION ALL SELECT %(users)s + place, name, %(constant_frames)s
                      FROM unnest(%(constant)s::text[]) WITH ORDINALITY c(name, place)
            UNION ALL SELECT 0, %(hub)s, %(hub_frames)s
        ) sized
    ) counted
    WINDOW past AS (ORDER BY u ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    """,
    "UPDATE bench_user SET frames_before = 0, anchors_before = 0, records_before = 0 WHERE frames_before IS NULL",
    """
    CREATE UNLOGGED TABLE bench_anchor AS
    SELECT n, user_id, i, md5('a' || n)::uuid AS id, name,
           lower(CASE WHEN rare THEN i || ' ' ELSE '' END || word) AS key,
           CASE WHEN i < 8 THEN 'person' ELSE 'object' END AS type
    FROM (
        SELECT anchors_before + i AS n, user_id, i, i >= 583 AS rare, word,
               word || CASE WHEN i >= 583 THEN ' ' || i ELSE '' END AS name
        FROM bench_user
        CROSS JOIN LATERAL generate_series(0, anchors - 1) i
        CROSS JOIN LATERAL (
            SELECT CASE WHEN i < 8 THEN (%(persons)s::text[])[i + 1]
                   ELSE (%(adjectives)s::text[])[1 + (i - 8) %% 25] || ' '
                        || (%(nouns)s::text[])[1 + (i - 8) / 25 %% 23] END AS word
        ) w
        ORDER BY i, u
    ) named
    """,
    """
    CREATE UNLOGGED TABLE bench_frame AS
    SELECT n, f, u, user_id, md5('f' || n) || md5('g' || n) AS fid,
           (%(verbs)s::text[])[1 + floor(20 * chance(n, 1) ^ 2)::int] AS predicate,
           records_before + f * records::bigint / frames AS r,
           CASE WHEN chance(n, 2) < 0.15 THEN records_before + floor(chance(n, 3) * records) END AS other_r,
           anchors_before + CASE WHEN user_id = %(hub)s THEN 0 WHEN chance(n, 4) < 0.7 THEN round(chance(n, 5))
                                 ELSE floor(anchors * chance(n, 6) ^ 2.5) END AS agent,
           anchors_before + 2 + floor((anchors - 2) * chance(n, 7) ^ 2.5) AS object,
           anchors_before + 2 + floor((anchors - 2) * chance(n, 8) ^ 2.5) AS place
    FROM (SELECT frames_before + f AS n, f, b.* FROM bench_user b, generate_series(0, frames - 1) f ORDER BY f, u) every
    """,
    "CREATE UNIQUE INDEX ON bench_anchor (n)",
    """
    CREATE UNLOGGED TABLE bench_arm AS
    SELECT 3 * f.n + arm.at AS n, f.n AS frame, f.user_id, f.fid, f.predicate, a.n AS anchor, a.id AS anchor_id,
           (%(roles)s::text[])[arm.at] AS role
    FROM bench_frame f
    CROSS JOIN LATERAL unnest(ARRAY[f.agent, f.object, f.place]) WITH ORDINALITY arm(anchor, at)
    JOIN bench_anchor a ON a.n = arm.anchor::bigint
    """,
    """
    CREATE UNLOGGED TABLE bench_record AS
    SELECT n, user_id, r, md5('r' || n)::uuid AS id, CASE WHEN r %% 2 = 0 THEN 'episodic' ELSE 'semantic' END AS kind,
           r / 20 AS session, md5(user_id || '/' || r / 20)::uuid AS job, md5(user_id || '|' || r / 10)::uuid AS chunk,
           timestamptz '2024-01-01 UTC' + r / 20 * interval '2 hours' + r %% 20 * interval '1 minute' AS at
    FROM (SELECT records_before + r AS n, r, b.* FROM bench_user b, generate_series(0, records - 1) r ORDER BY r, u) e
    """,
    """
    CREATE UNLOGGED TABLE bench_said AS
    SELECT f.r AS n, string_agg(
               concat_ws(' ', a.name, replace(f.predicate, '_', ' '), 'the', o.name, 'near the', p.name), '. '
               ORDER BY f.n
           ) AS text
    FROM bench_frame f JOIN bench_anchor a ON a.n = f.agent::bigint JOIN bench_anchor o ON o.n = f.object::bigint
    JOIN bench_anchor p ON p.n = f.place::bigint GROUP BY f.r
    """,
    """
    CREATE UNLOGGED TABLE bench_vector AS
    SELECT i, (SELECT array_agg(2 * chance(i * 1000 + d, 9) - 1) FROM generate_series(1, %(dimension)s) d)::vector AS v
    FROM generate_series(0, 4095) i
    """,
    "ANALYZE bench_user, bench_anchor, bench_frame, bench_arm, bench_record, bench_said, bench_vector",
)

VECTOR = """
JOIN bench_vector b ON b.i = floor(4096 * chance(x.n, {seed}))::int
JOIN bench_vector c ON c.i = floor(4096 * chance(x.n, {seed} + 1))::int
"""
"""The sum of two of 4,096 random vectors: no two rows are alike, and random() isn't called for every number."""

EVIDENCE = (
    """
    INSERT INTO jobs (id, user_id, request_id, body_hash, sequence, state, session_id, form, title, timezone,
                      time_source, sanitized, messages, chunks, step, reason, attempt, accepted_at, waiting_since)
    SELECT job, user_id, 'r' || session, '', session, 'completed', 's' || session, 'conversation', '', 'UTC', 'given',
           false, count(*), 2, '', '', 1, min(at), min(at) FROM bench_record GROUP BY job, user_id, session
    """,
    """
    INSERT INTO chunks (id, job_id, user_id, ordinal, content, committed, failed_step, failed_reason)
    SELECT chunk, job, user_id, min(r) / 10 %% 2, '{}', true, '', '' FROM bench_record GROUP BY chunk, job, user_id
    """,
    """
    INSERT INTO messages (job_id, ordinal, user_id, session_id, message_id, speaker, text, sent_at, captions)
    SELECT job, r %% 20, user_id, 's' || session, 'm' || r, (%(persons)s::text[])[1 + r %% 2],
           coalesce(text, 'Well, so it goes.'), at, '[]'
    FROM bench_record x LEFT JOIN bench_said s ON s.n = x.n
    """,
    """
    INSERT INTO records (id, user_id, kind, title, text, event_start, event_end, event_granularity, mention_time,
                         status, input_id, chunk_id, session_id, ordinal, sources, attributes, degraded, version,
                         index_status, index_step, index_reason)
    SELECT id, user_id, kind, 'What was said, part ' || r, coalesce(text, 'Well, so it goes.'), d, d,
           CASE WHEN d IS NOT NULL THEN 'day' END, at, 'done', job, chunk, 's' || session, r %% 10,
           jsonb_build_array(jsonb_build_object('turn_id', 'm' || r, 'start', 0, 'end', 40)), '{}', '', 1, 'indexed',
           '', ''
    FROM bench_record x LEFT JOIN bench_said s ON s.n = x.n
    CROSS JOIN LATERAL (SELECT CASE WHEN r %% 3 = 0 THEN at::date END AS d) day
    """,
    "INSERT INTO record_vectors (user_id, record_id, model, vector) SELECT user_id, id, '', l2_normalize(b.v + c.v) "
    "FROM bench_record x" + VECTOR.format(seed=10),
)

SIDES = (
    "INSERT INTO anchor_aliases (user_id, key, anchor_id, name) SELECT user_id, key, id, name FROM bench_anchor",
    """
    INSERT INTO anchor_records (user_id, anchor_id, record_id, kind)
    SELECT DISTINCT a.user_id, a.anchor_id, r.id, r.kind
    FROM bench_arm a JOIN bench_frame f ON f.n = a.frame
    CROSS JOIN LATERAL unnest(ARRAY[f.r, f.other_r::bigint]) cited(n)
    JOIN bench_record r ON r.n = cited.n
    """,
    """
    INSERT INTO frame_citations (user_id, record_id, frame_id)
    SELECT DISTINCT f.user_id, r.id, f.fid
    FROM bench_frame f CROSS JOIN LATERAL unnest(ARRAY[f.r, f.other_r::bigint]) cited(n)
    JOIN bench_record r ON r.n = cited.n
    """,
    "INSERT INTO anchor_vectors (user_id, anchor_id, model, vector) SELECT user_id, id, '', l2_normalize(b.v + c.v) "
    "FROM bench_anchor x" + VECTOR.format(seed=20),
    "INSERT INTO frame_vectors (user_id, frame_id, model, vector) SELECT user_id, fid, '', l2_normalize(b.v + c.v) "
    "FROM bench_frame x" + VECTOR.format(seed=30),
)

PLAIN = (
    """
    INSERT INTO plain.anchor SELECT n, user_id, key, id, name, type, '{}', 1, 1.0 FROM bench_anchor
    """,
    """
    INSERT INTO plain.frame
    SELECT f.n, f.user_id, fid, r.kind, predicate, CASE WHEN r.kind = 'episodic' THEN r.id::text ELSE '' END, '[]',
           CASE WHEN r.r %% 3 = 0 THEN jsonb_build_object('start', r.at::date, 'end', r.at::date, 'granularity', 'day',
                                                         'clock', null) END,
           r.at, 'done', false, '', 1.0, array_remove(ARRAY[r.id, o.id], null)
    FROM bench_frame f JOIN bench_record r ON r.n = f.r
    LEFT JOIN bench_record o ON o.n = f.other_r::bigint AND o.n <> r.n
    """,
    "INSERT INTO plain.arm SELECT n, frame, anchor, role, predicate, fid FROM bench_arm",
    "CREATE UNIQUE INDEX ON plain.anchor (user_id, key)",
    "CREATE UNIQUE INDEX ON plain.anchor (user_id, anchor_id)",
    "CREATE UNIQUE INDEX ON plain.frame (user_id, fid)",
    "CREATE UNIQUE INDEX ON plain.arm (start_id, end_id, role)",
    "CREATE INDEX ON plain.arm (end_id, predicate, fid)",
    "CREATE INDEX ON plain.arm (end_id, fid)",
)

GRAPH = (
    """
    INSERT INTO memory."Anchor" (id, properties)
    SELECT ag_catalog._graphid((SELECT label('Anchor')), id),
           jsonb_build_object('user_id', user_id, 'key', key, 'anchor_id', anchor_id, 'name', name, 'type', type,
                              'aliases', aliases, 'mentions', mentions, 'score', score)::text::agtype
    FROM plain.anchor
    """,
    """
    INSERT INTO memory."Frame" (id, properties)
    SELECT ag_catalog._graphid((SELECT label('Frame')), id),
           jsonb_build_object('user_id', user_id, 'fid', fid, 'kind', kind, 'predicate', predicate, 'occurrence',
                              occurrence, 'literals', literals, 'event_time', event_time, 'mention_time', mention_time,
                              'status', status, 'negated', negated, 'modality', modality, 'confidence', confidence,
                              'record_ids', record_ids)::text::agtype
    FROM plain.frame
    """,
    """
    INSERT INTO memory."ARM" (id, start_id, end_id, properties)
    SELECT ag_catalog._graphid((SELECT label('ARM')), id), ag_catalog._graphid((SELECT label('Frame')), start_id),
           ag_catalog._graphid((SELECT label('Anchor')), end_id),
           jsonb_build_object('role', role, 'predicate', predicate, 'fid', fid)::text::agtype
    FROM plain.arm
    """,
    ENSURE_GRAPH,  # makes its indexes again
    "DROP TABLE bench_user, bench_anchor, bench_frame, bench_arm, bench_record, bench_said, bench_vector",
    "VACUUM ANALYZE",
)

STATEMENTS = (*PREPARE, *STAGE, *EVIDENCE, *SIDES, *PLAIN, *GRAPH)


def build(url: str, frames: int) -> Iterator[None]:
    """Fill a migrated, empty database; yields after each of STATEMENTS. `frames` are shared by the USERS."""
    values = {
        "each": frames // USERS,
        "users": USERS,
        "constant": list(CONSTANT),
        "constant_frames": CONSTANT_FRAMES,
        "hub": HUB,
        "hub_frames": HUB_FRAMES,
        "persons": list(PERSONS),
        "adjectives": list(ADJECTIVES),
        "nouns": list(NOUNS),
        "verbs": list(VERBS),
        "roles": list(ROLES),
        "dimension": DIMENSION,
    }
    with psycopg.connect(url, autocommit=True, options=SESSION_OPTIONS) as connection:
        for statement in STATEMENTS:
            connection.execute(statement, values if "%" in statement else None)
            yield
