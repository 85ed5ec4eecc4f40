"""Hot statements use their indexes, and a hub is never traversed.

20 users of 200 anchors, one hub of 50,000 frames, and as many users with next to nothing as make the average user a
small one.
"""

import asyncio
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import psycopg
import pytest
from pgvector import Vector as Embedding
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.rows import dict_row

from api.search import Retriever
from domain.graph import Vector
from domain.retrieval import lanes
from domain.retrieval.entry import HUB_CEILING, K_A, MAX_EXACT
from domain.retrieval.query import SearchQuery
from infra.run.embedded.postgres import with_database
from infra.stores import records
from infra.stores.consolidations import statements as consolidations
from infra.stores.database import SESSION_OPTIONS, Database
from infra.stores.graph import AgeGraph, statements
from infra.stores.graph.properties import agtype, agtypes
from infra.stores.jobs import statements as jobs
from infra.stores.migrations.age import ENSURE_GRAPH
from infra.stores.records import PostgresRecords

HUB_FRAMES = 50_000
CAP = 240

BEFORE = (
    "SET session_replication_role = replica",
    "SET work_mem = '256MB'",
    *(f"DROP INDEX memory.{name}" for name in re.findall(r"INDEX IF NOT EXISTS (\w+)", ENSURE_GRAPH)),
)
"""For a quick fill: the graph's indexes are made again after it."""

FILL = (
    """
    INSERT INTO memory."Anchor" (properties)
    SELECT jsonb_build_object('user_id', 'u' || u, 'key', 'k' || a, 'anchor_id', md5(u || '/' || a)::uuid,
                              'name', 'K' || a, 'type', 'person', 'aliases', '[]'::jsonb, 'mentions', 1,
                              'score', 1.0)::text::agtype
    FROM generate_series(1, 20) u, generate_series(0, 199) a
    """,
    """
    CREATE TEMPORARY TABLE made AS
    SELECT u, f, md5(u || '-' || f) || md5(f || '-' || u) AS fid, predicate, 1 + f % 199 AS other,
           CASE WHEN u = 1 THEN 0 ELSE f % 200 END AS subject, md5(u || 'r' || f)::uuid AS record
    FROM generate_series(1, 20) u, generate_series(1, 50000) f
    JOIN (VALUES (0, 'visit'), (1, 'buy'), (2, 'like'), (3, 'make'), (4, 'see')) verb(v, predicate) ON v = f % 5
    WHERE u = 1 OR f <= 600
    """,
    """
    INSERT INTO memory."Frame" (properties)
    SELECT jsonb_build_object('user_id', 'u' || u, 'fid', fid, 'kind', 'semantic', 'predicate', predicate,
                              'occurrence', '', 'literals', '[]'::jsonb, 'event_time', null, 'mention_time', now(),
                              'status', 'state', 'negated', false, 'modality', '', 'confidence', 1,
                              'record_ids', jsonb_build_array(record))::text::agtype
    FROM made
    """,
    statements.graph_sql("""
    INSERT INTO memory."ARM" (start_id, end_id, properties)
    SELECT f.id, a.id, jsonb_build_object('role', r.role, 'predicate', m.predicate, 'fid', m.fid)::text::agtype
    FROM made m
    JOIN memory."Frame" f ON ax(f.fid)::text = m.fid
    CROSS JOIN LATERAL (VALUES ('agent', m.subject), ('object', m.other)) r(role, anchor)
    JOIN memory."Anchor" a ON ax(a.user_id)::text = 'u' || m.u AND ax(a.key)::text = 'k' || r.anchor
    ON CONFLICT DO NOTHING
    """),
    """
    INSERT INTO anchor_aliases (user_id, key, anchor_id, name)
    SELECT 'u' || u, 'k' || a, md5(u || '/' || a)::uuid, 'K' || a
    FROM generate_series(1, 20) u, generate_series(0, 199) a
    """,
    """
    INSERT INTO anchor_vectors (user_id, anchor_id, model, vector)
    SELECT 'u' || u, md5(u || '/' || a)::uuid, '', ARRAY[1, a % 7, a % 11]::vector
    FROM generate_series(1, 20) u, generate_series(0, 199) a
    """,
    """
    INSERT INTO frame_vectors (user_id, frame_id, model, vector)
    SELECT 'u' || u, fid, '', ARRAY[1, f % 13, f % 17]::vector FROM made
    """,
    "INSERT INTO frame_citations (user_id, record_id, frame_id) SELECT 'u' || u, record, fid FROM made",
    """
    INSERT INTO anchor_records (user_id, anchor_id, record_id, kind)
    SELECT DISTINCT 'u' || u, md5(u || '/' || anchor)::uuid, record, 'episodic'
    FROM made CROSS JOIN LATERAL unnest(ARRAY[subject, other]) anchor
    """,
    """
    INSERT INTO jobs (id, user_id, request_id, body_hash, sequence, state, session_id, form, title, timezone,
                      time_source, sanitized, messages, chunks, step, reason, attempt, accepted_at, waiting_since)
    SELECT md5(u || 'j' || j)::uuid, 'u' || u, 'r' || j, '', j, 'completed', 's' || j, 'conversation', '', 'UTC',
           'given', false, 1, 1, '', '', 1, now(), now()
    FROM generate_series(1, 1500) u
    CROSS JOIN LATERAL generate_series(1, CASE WHEN u = 1 THEN 10000 WHEN u <= 20 THEN 200 ELSE 1 END) j
    """,
    """
    INSERT INTO chunks (id, job_id, user_id, ordinal, content, committed, failed_step, failed_reason)
    SELECT id, id, user_id, 0, '{}', true, '', '' FROM jobs
    """,
    """
    INSERT INTO messages (job_id, ordinal, user_id, session_id, message_id, speaker, text, sent_at, captions)
    SELECT id, n, user_id, session_id, 'm' || n, 'K0', 'said ' || n, now(), '[]' FROM jobs, generate_series(0, 4) n
    """,
    """
    INSERT INTO records (id, user_id, kind, title, text, mention_time, status, input_id, chunk_id, session_id, ordinal,
                         sources, attributes, degraded, version, index_status, index_step, index_reason)
    SELECT md5(substr(user_id, 2) || 'r' || 5 * (sequence - 1) + n + 1)::uuid, user_id, 'episodic', 'title',
           'text ' || n, timestamptz '2024-01-01 UTC' + sequence * interval '1 minute', 'done', id, id, session_id, n,
           jsonb_build_array(jsonb_build_object('turn_id', 'm' || n)), '{}', '', 1, 'indexed', '', ''
    FROM jobs, generate_series(0, 4) n
    """,
    """
    INSERT INTO model_calls (key, user_id, job_id, purpose, model, prompt_id, prompt_hash, tokens_in, tokens_out,
                             latency_ms, attempts, outcome, answer, first_at, last_at)
    SELECT j.id::text || n, j.user_id, j.id, 'write', 'm', '', '', 0, 0, 0, 1, 'ok', '{}', now(), now()
    FROM jobs j, generate_series(1, 5) n WHERE j.sequence <= 200
    """,
    """
    INSERT INTO record_vectors (user_id, record_id, model, vector)
    SELECT user_id, id, '', ARRAY[1, position % 19, position % 23]::float8[]::vector FROM records
    """,
    """
    INSERT INTO consolidations (id, user_id, request_id, sequence, mode, dry_run, review, chunk_ids, name, force, actor,
                                timeout_seconds, after_job, state, applying, step, reason, detail, receipt,
                                evidence_position, accepted_at)
    SELECT md5(u || 'c' || c)::uuid, 'u' || u, 'r' || c, c, 'final', false, false, '{}', '', false, '', 60, 1,
           CASE WHEN u % 50 = 1 AND c = 1 THEN 'accepted' ELSE 'completed' END, false, '', '', '', '{}', 0, now()
    FROM generate_series(1, 1500) u
    CROSS JOIN LATERAL generate_series(1, CASE WHEN u = 1 THEN 1000 ELSE 3 END) c
    """,
    """
    INSERT INTO dream_pairs (id, consolidation_id, stage, key, type, a_id, a_name, a_records, b_id, b_name, b_records,
                             similarity, state, verdict, reason, decided_by)
    SELECT md5(c.id::text || n)::uuid, c.id, 'main', md5(c.user_id || n), 'person', c.id, '', '{}', c.id, '', '{}', 1,
           'unsure', 'unsure', '', ''
    FROM consolidations c, generate_series(1, 20) n
    """,
    """
    INSERT INTO evidence_digests (user_id, records, first, second)
    SELECT user_id, count(*), 0, 0 FROM records GROUP BY user_id
    """,
)


@pytest.fixture(scope="module")
def filled_url(postgres_server: Any, template_database: str) -> Iterator[str]:
    """A database with enough rows for the planner to care."""
    url, name = postgres_server.url, "reverie_plans"
    with psycopg.connect(url, autocommit=True) as administrator:
        administrator.execute(f"CREATE DATABASE {name} TEMPLATE {template_database}")
        target = with_database(url, name)
        with psycopg.connect(target, autocommit=True, options=SESSION_OPTIONS) as connection:
            for statement in (*BEFORE, *FILL, ENSURE_GRAPH, "VACUUM ANALYZE"):
                connection.execute(statement)
        yield target
        administrator.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def filled(filled_url: str) -> Iterator[psycopg.Connection[dict[str, Any]]]:
    """A connection to it."""
    with psycopg.connect(filled_url, autocommit=True, row_factory=dict_row, options=SESSION_OPTIONS) as connection:
        register_vector(connection)
        yield connection


def identity(connection: psycopg.Connection[dict[str, Any]], text: str) -> str:
    row = connection.execute("SELECT md5(%s)::uuid::text AS id", (text,)).fetchone()
    assert row is not None
    return str(row["id"])


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


@pytest.fixture(params=["force_custom_plan", "force_generic_plan"])
def explain(request: pytest.FixtureRequest, filled: psycopg.Connection[dict[str, Any]]) -> Iterator[Any]:
    """Plan of a statement as planned for its values, and as a prepared statement's generic plan, which is made for the
    average user. (An EXPLAIN that is itself prepared always plans for its values.)"""

    filled.execute(f"SET plan_cache_mode = {request.param}")
    yield partial(plan_of, filled)
    filled.execute("RESET plan_cache_mode")


def plan_of(
    connection: psycopg.Connection[dict[str, Any]], statement: str, values: Sequence[object] | Mapping[str, object]
) -> Mapping[str, Any]:
    """Of a prepared statement, with what it read."""
    text, ordered = numbered(statement, values)
    connection.execute(f"PREPARE asked AS {text}".encode())
    execute = sql.SQL("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE asked ({})")
    row = connection.execute(execute.format(sql.SQL(", ").join(map(literal, ordered)))).fetchone()
    connection.execute("DEALLOCATE asked")
    assert row is not None
    plan: Mapping[str, Any] = row["QUERY PLAN"][0]["Plan"]
    return plan


def numbered(statement: str, values: Sequence[object] | Mapping[str, object]) -> tuple[str, list[object]]:
    """The statement with $1, $2 … for its placeholders, each name one number, and the values in that order."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    if isinstance(values, Mapping):
        return re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", statement), [
            values[n] for n in names
        ]
    numbers = itertools.count(1)
    return re.sub(r"%s", lambda _: f"${next(numbers)}", statement), list(values)


def literal(value: object) -> sql.Composable:
    """Of no type of its own, so that it takes the parameter's."""
    if value is None:
        return sql.SQL("NULL")
    if isinstance(value, list):
        value = (
            "{"
            + ",".join(json.dumps(each.to_text() if isinstance(each, Embedding) else str(each)) for each in value)
            + "}"
        )
    return sql.Literal(value.to_text() if isinstance(value, Embedding) else str(value))


def assert_indexed(plan: Mapping[str, Any], *, buffers: int) -> None:
    """No table is read from end to end, and no more pages than the answer is worth."""
    scanned = [node["Relation Name"] for node in nodes(plan) if node["Node Type"] == "Seq Scan"]
    assert scanned == []
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] <= buffers


def rows_read(plan: Mapping[str, Any], relation: str) -> int:
    """Rows that the scans of a table gave, over all loops."""
    scans = [node for node in nodes(plan) if node.get("Relation Name") == relation]
    return sum(round(node["Actual Rows"] * node["Actual Loops"]) for node in scans)


@dataclass(frozen=True)
class Bound:
    """The most that one statement of a search may touch, however large the hub. What is not named counts as 0."""

    buffers: int
    rows: Mapping[str, int]
    """Rows that the scans of a table give, over all loops."""


FRAME_ROWS = {"Anchor": 3 * 900, "Frame": 900, "ARM": 4 * 900}
"""Of 15 anchors with 60 frames each, with their arms."""

BOUNDS = {
    statements.RESOLVE: Bound(200, {"anchor_aliases": 20, "Anchor": 20}),
    statements.NEAREST: Bound(400, {"anchor_vectors": 200, "Anchor": K_A}),
    statements.DEGREES: Bound(1_200, {"Anchor": MAX_EXACT, "ARM": 2 * HUB_CEILING}),
    statements.ADJACENT_FRAMES: Bound(30 * CAP, {"Anchor": 3 * CAP, "Frame": CAP, "ARM": 20 * CAP}),
    statements.NEAREST_RECORDS: Bound(
        80_000, {"anchor_records": 2 * lanes.ROWS_RANKED, "record_vectors": 2 * lanes.ROWS_RANKED}
    ),
    statements.INCIDENT_FRAMES: Bound(20_000, FRAME_ROWS),
    statements.FRAME_SIMILARITIES: Bound(6_000, {"frame_vectors": 1_200}),
    statements.FRAMES_OF_RECORDS: Bound(
        20 * lanes.FRAMES_OF_ROWS,
        {
            "frame_citations": lanes.FRAMES_OF_ROWS,
            "Frame": lanes.FRAMES_OF_ROWS,
            "ARM": 3 * lanes.FRAMES_OF_ROWS,
            "Anchor": 3 * lanes.FRAMES_OF_ROWS,
        },
    ),
    records.SIMILARITIES: Bound(6_000, {"record_vectors": 1_200}),
    records.SAME_CHUNK: Bound(400, {"records": 10 * lanes.SEEDS}),
    records.TEMPORAL_NEIGHBOURS: Bound(800, {"records": 10 * lanes.SEEDS}),
    records.RECORDS_OF_USER: Bound(8_000, {"records": 1_500}),
    records.SURROUNDINGS: Bound(3_000, {"records": lanes.SHORTLIST, "messages": 6 * lanes.SHORTLIST}),
}
"""Every statement of a search with its bound: caps of domain.retrieval times what one row costs."""

QUESTIONS = ("What did K0 buy with K7?", "How often did K0 and K9 visit K11?", "Where is it?")


@pytest.fixture(scope="module")
def asked(filled_url: str) -> list[tuple[str, Any]]:
    """Statements, with their values, of searches by the user of the hub."""
    seen: list[tuple[str, Any]] = []
    execute = psycopg.AsyncConnection.execute

    async def noting(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
        seen.append((query, params))
        return await execute(self, query, params, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.AsyncConnection, "execute", noting)
        asyncio.run(ask(filled_url))
    return [(query, params) for query, params in seen if params and query != statements.LIMIT_WAITING]


async def ask(url: str) -> None:
    """Every question once."""
    database = await Database.open(url, pool_size=4)
    retriever = Retriever(AgeGraph(database), PostgresRecords(database), Constant())
    for question in QUESTIONS:
        result = await retriever.search(SearchQuery(user_id="u1", query=question, as_of=datetime.now(UTC)))
        assert result.rows
        assert not result.degraded
    await database.close()


class Constant:
    """Embedder of one vector."""

    name = "constant"
    dimension = 3

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [[1.0, 0.0, 0.0] for _ in texts]


def test_a_search_runs_these_statements(asked: list[tuple[str, Any]]) -> None:
    """A new statement of a search needs a bound."""
    assert {query for query, _ in asked} == set(BOUNDS)


def test_every_statement_of_a_search_is_bounded_at_a_hub(explain: Any, asked: list[tuple[str, Any]]) -> None:
    for query, values in asked:
        plan, bound = explain(query, values), BOUNDS[query]
        assert_indexed(plan, buffers=bound.buffers)
        read = {relation: rows_read(plan, relation) for relation in relations(plan)}
        assert {name: count for name, count in read.items() if count > bound.rows.get(name, 0)} == {}, query


def relations(plan: Mapping[str, Any]) -> set[str]:
    """The tables a plan reads."""
    return {node["Relation Name"] for node in nodes(plan) if "Relation Name" in node}


@pytest.mark.parametrize("predicates", [["buy"], ["visit", "buy", "like", "make"]])
def test_adjacency_at_a_hub(filled: Any, explain: Any, predicates: list[str]) -> None:
    hub = [identity(filled, f"1/{a}") for a in range(16)]
    values = {"owner": agtype("u1"), "anchors": agtypes(hub), "predicates": agtypes(predicates), "cap": CAP}
    plan = explain(statements.ADJACENT_FRAMES, values)
    assert plan["Actual Rows"] == CAP
    assert_indexed(plan, buffers=30 * CAP)
    assert rows_read(plan, "ARM") < HUB_FRAMES / 2


def test_all_frames_of_a_hub_stop_at_the_cap(filled: Any, explain: Any) -> None:
    values = {"owner": agtype("u1"), "anchors": agtypes([identity(filled, "1/0")]), "cap": CAP}
    plan = explain(statements.ALL_ADJACENT_FRAMES, values)
    assert plan["Actual Rows"] == CAP
    assert_indexed(plan, buffers=15 * CAP)
    assert rows_read(plan, "ARM") <= 4 * CAP


def test_incident_frames_stop_at_the_cap(filled: Any, explain: Any) -> None:
    anchors = agtypes([identity(filled, f"1/{a}") for a in range(3)])
    plan = explain(statements.INCIDENT_FRAMES, {"owner": agtype("u1"), "anchors": anchors, "per_anchor": 20})
    assert_indexed(plan, buffers=60 * 15)
    assert rows_read(plan, "ARM") <= 60 * 4


def test_a_page_of_a_hubs_frames_starts_at_its_cursor(filled: Any, explain: Any) -> None:
    values = {"owner": agtype("u1"), "anchors": agtypes([identity(filled, "1/0")]), "limit": 50}
    for after in ("", "8" * 64):
        plan = explain(statements.FRAMES_PAGE, {**values, "after": agtype(after)})
        assert plan["Actual Rows"] == 50
        assert_indexed(plan, buffers=50 * 15)
        assert rows_read(plan, "ARM") <= 50 * 4


def test_degree_stops_at_the_ceiling(filled: Any, explain: Any) -> None:
    values = {"owner": agtype("u1"), "anchors": agtypes([identity(filled, "1/0")]), "ceiling": 100}
    plan = explain(statements.DEGREES, values)
    assert_indexed(plan, buffers=200)
    assert rows_read(plan, "ARM") <= 101


def test_names_are_looked_up(explain: Any) -> None:
    values = {"owner": agtype("u3"), "user": "u3", "keys": [f"k{n}" for n in range(10)]}
    assert_indexed(explain(statements.RESOLVE, values), buffers=120)
    assert_indexed(explain(statements.OWNERS, ("u3", values["keys"])), buffers=60)


def test_anchors_and_their_records(filled: Any, explain: Any) -> None:
    ids = [identity(filled, f"3/{a}") for a in range(10)]
    assert_indexed(explain(statements.ANCHORS, {"owner": agtype("u3"), "ids": agtypes(ids)}), buffers=60)
    assert_indexed(explain(statements.MENTIONS, ("u3", ids)), buffers=120)
    page = {"owner": agtype("u3"), "after": agtype(""), "limit": 20}
    assert_indexed(explain(statements.ANCHOR_PAGE, page), buffers=60)


def test_equal_arms_are_found_from_the_rarer_anchor(filled: Any, explain: Any) -> None:
    ends = filled.execute(
        statements.graph_sql(
            'SELECT a.id FROM memory."Anchor" a WHERE ax(a.anchor_id) = ANY(%s::agtype[]) ORDER BY a.id'
        ),
        (agtypes([identity(filled, "1/0"), identity(filled, "1/7")]),),
    ).fetchall()
    hub, leaf = (row["id"] for row in ends)
    values = {"places": [0], "rare": [leaf], "other": [hub], "predicates": agtypes(["buy"])}
    plan = explain(statements.TWINS, values)
    assert_indexed(plan, buffers=1_000)
    assert rows_read(plan, "ARM") < 300


def test_a_frame_by_its_id(filled: Any, explain: Any) -> None:
    frame = filled.execute("SELECT md5('1-5') || md5('5-1') AS id").fetchone()["id"]
    plan = explain(statements.FRAME_BY_ID, {"owner": agtype("u1"), "frame": agtype(frame)})
    assert plan["Actual Rows"] == 1
    assert_indexed(plan, buffers=40)


def test_vectors_of_one_user_only(filled: Any, explain: Any) -> None:
    values = {"owner": agtype("u3"), "user": "u3", "vectors": ["[1,0,0]"], "limit": 4, "floor": 0.5}
    plan = explain(statements.NEAREST, values)
    assert_indexed(plan, buffers=200)
    assert rows_read(plan, "anchor_vectors") <= 200


def test_records_by_chunk_page_and_view(filled: Any, explain: Any) -> None:
    one = identity(filled, "3j5")
    plan = explain(records.RECORDS_OF_CHUNK, (one,))
    assert plan["Actual Rows"] == 5
    assert_indexed(plan, buffers=20)
    page = {"user": "u3", "kinds": None, "position": 0, "limit": 20}
    assert_indexed(explain(records.RECORDS_PAGE, page), buffers=60)
    assert_indexed(explain(records.RECORDS_VIEW, ("u3", "episodic", 20)), buffers=1_200)


def test_a_job_and_the_queue(filled: Any, explain: Any) -> None:
    assert_indexed(explain(jobs.JOB_BY_ID, (identity(filled, "3j5"),)), buffers=60)
    assert_indexed(explain(jobs.QUEUE_HEAD, ("u3",)), buffers=5)


def test_consolidations_whose_turn_it_is(explain: Any) -> None:
    for sequence in (None, 2):
        plan = explain(jobs.QUEUED_CONSOLIDATION, {"user": "u1", "sequence": sequence})
        assert plan["Actual Rows"] == 1
        assert_indexed(plan, buffers=5)
    plan = explain(consolidations.WAITING_USERS, (datetime.now(UTC), 1_000))
    assert plan["Actual Rows"] == 30
    assert_indexed(plan, buffers=40)
    assert rows_read(plan, "consolidations") == 30


def test_a_digest_costs_what_is_new(filled: Any, explain: Any) -> None:
    last = filled.execute("SELECT max(position) AS last FROM records WHERE user_id = 'u1'").fetchone()["last"]
    assert_indexed(explain(consolidations.POSITION, ("u1",)), buffers=10)
    plan = explain(consolidations.DIGEST, {"user": "u1", "position": last - 10})
    assert_indexed(plan, buffers=60)
    assert rows_read(plan, "records") <= 10


def test_pairs_and_what_was_asked_about_them(filled: Any, explain: Any) -> None:
    one = identity(filled, "1c7")
    page = {"id": one, "stage": None, "states": None, "after": None, "limit": None}
    plan = explain(consolidations.PAIRS, page)
    assert plan["Actual Rows"] == 20
    assert_indexed(plan, buffers=40)
    keys = [filled.execute("SELECT md5('u3' || %s) AS key", (n,)).fetchone()["key"] for n in range(1, 6)]
    plan = explain(consolidations.HELD, (keys, "u3", one))
    assert plan["Actual Rows"] == 0
    assert_indexed(plan, buffers=400)
    plan = explain(consolidations.ASKED, (keys, "u3", one))
    assert plan["Actual Rows"] == 5
    assert_indexed(plan, buffers=200)
