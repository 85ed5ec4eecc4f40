"""The statements of a Dream round and of merges use their indexes, and a hub costs no more than its cap.

Over the graph of test_query_plans: 20 users of 200 anchors, one hub of 50,000 frames; every other mention is semantic.
"""

import itertools
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from pgvector.psycopg import register_vector
from psycopg.rows import dict_row

from domain.graph import Joined
from infra.run.embedded.postgres import with_database
from infra.stores.database import SESSION_OPTIONS, Database
from infra.stores.graph import dream_statements, dreaming, merge_statements
from infra.stores.graph.properties import agtype, agtypes
from infra.stores.migrations.age import ENSURE_GRAPH
from tests.contract.conftest import in_postgres
from tests.contract.consolidating import running
from tests.contract.samples import NOW
from tests.integration.test_query_plans import BEFORE, FILL, assert_indexed, identity, nodes, plan_of, rows_read

GRAPH = tuple(itertools.takewhile(lambda statement: "INTO jobs" not in statement, FILL))
SEMANTIC = (
    "UPDATE anchor_records SET kind = 'semantic' WHERE record_id::text > '8'",
    """
    INSERT INTO dream_frontier (user_id, anchor_id)
    SELECT DISTINCT user_id, anchor_id FROM anchor_records WHERE kind = 'semantic' ORDER BY user_id, anchor_id
    """,
    """
    INSERT INTO dream_frontier (user_id, anchor_id)
    SELECT 'v' || u, md5(u || '/' || a)::uuid FROM generate_series(1, 20) u, generate_series(1, 500) a
    """,
)
COMPARED = 20
NEIGHBOURS = 8


@pytest.fixture(scope="module")
def graph_url(postgres_server: Any, template_database: str) -> Iterator[str]:
    url, name = postgres_server.url, "reverie_dream_plans"
    with psycopg.connect(url, autocommit=True) as administrator:
        administrator.execute(f"CREATE DATABASE {name} TEMPLATE {template_database}")
        target = with_database(url, name)
        with psycopg.connect(target, autocommit=True, options=SESSION_OPTIONS) as connection:
            for statement in (*BEFORE, *GRAPH, *SEMANTIC, ENSURE_GRAPH, "VACUUM ANALYZE"):
                connection.execute(statement)
        yield target
        administrator.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def graph(graph_url: str) -> Iterator[psycopg.Connection[dict[str, Any]]]:
    with psycopg.connect(graph_url, autocommit=True, row_factory=dict_row, options=SESSION_OPTIONS) as connection:
        register_vector(connection)
        yield connection


@pytest.fixture(params=["force_custom_plan", "force_generic_plan"])
def explain(request: pytest.FixtureRequest, graph: psycopg.Connection[dict[str, Any]]) -> Iterator[Any]:
    graph.execute(f"SET plan_cache_mode = {request.param}")
    yield partial(plan_of, graph)
    graph.execute("RESET plan_cache_mode")


def test_the_frontier_is_read_from_its_start(explain: Any) -> None:
    plan = explain(dream_statements.FRONTIER, ("v3", 50))
    assert plan["Actual Rows"] == 50
    assert_indexed(plan, buffers=60)


def test_users_with_news_are_skipped_to(explain: Any) -> None:
    plan = explain(dream_statements.USERS_WITH_FRONTIER, {"after": "u", "limit": 30})
    assert plan["Actual Rows"] == 30
    assert_indexed(plan, buffers=30 * 8)
    assert rows_read(plan, "dream_frontier") <= 31


def test_what_records_mention(graph: Any, explain: Any) -> None:
    records = [identity(graph, f"3r{number}") for number in range(1, 40)]
    plan = explain(dream_statements.MENTIONED, ("u3", records, 1_000))
    assert_indexed(plan, buffers=39 * 8)
    assert rows_read(plan, "anchor_records") <= 2 * 39


def test_neighbourhoods_read_the_vectors_of_one_user(graph: Any, explain: Any) -> None:
    anchors = [identity(graph, f"3/{number}") for number in range(COMPARED)]
    values = {"user": "u3", "owner": agtype("u3"), "anchors": anchors, "limit": NEIGHBOURS, "floor": 0.5}
    plan = explain(dream_statements.NEAREST_NAMES, values)
    assert_indexed(plan, buffers=COMPARED * 90)
    assert rows_read(plan, "anchor_vectors") <= COMPARED * 201
    assert rows_read(plan, "anchor_records") <= COMPARED * NEIGHBOURS
    compared = explain(dream_statements.COMPARED, values)
    assert compared["Actual Rows"] == COMPARED
    assert_indexed(compared, buffers=COMPARED * 15)


def test_rows_of_pairs_at_a_hub(graph: Any, explain: Any) -> None:
    hub, *others = (identity(graph, f"1/{number}") for number in range(COMPARED + 1))
    values = {"user": "u1", "a": [hub] * COMPARED, "b": others, "limit": 6, "considered": dreaming.ROWS_CONSIDERED}
    plan = explain(dream_statements.ROWS_OF_PAIRS, values)
    assert_indexed(plan, buffers=COMPARED * 2 * dreaming.ROWS_CONSIDERED * 6)
    assert rows_read(plan, "anchor_records") <= COMPARED * 4 * dreaming.ROWS_CONSIDERED


def test_shared_frames_are_found_from_the_end_with_fewer_mentions(graph: Any, explain: Any) -> None:
    hub, *others = (identity(graph, f"1/{number}") for number in range(COMPARED + 1))
    graph.execute(
        """
        UPDATE memory."Anchor"
        SET properties = replace(properties::text, '"mentions": 1,', '"mentions": 50000,')::agtype
        WHERE properties::text LIKE %s
        """,
        (f"%{hub}%",),
    )
    values = {"owner": agtype("u1"), "a": agtypes([hub] * COMPARED), "b": agtypes(others), "limit": 6}
    plan = explain(dream_statements.SHARED_FRAMES, values)
    assert plan["Actual Rows"] == COMPARED * 6
    assert_indexed(plan, buffers=COMPARED * 6 * 40)
    assert rows_read(plan, "ARM") <= COMPARED * 6 * 4


@pytest.mark.parametrize("into", [pytest.param(8, id="one-like-it"), pytest.param(0, id="hub")])
async def test_a_merge_and_its_undo_touch_what_the_absorbed_anchor_has(
    graph_url: str, graph: Any, monkeypatch: pytest.MonkeyPatch, into: int
) -> None:
    """Of an anchor with some 250 frames, in a graph of 61,400 frames."""
    database = await Database.open(graph_url, pool_size=2)
    stores = in_postgres(database)
    c = await running(stores, user="u1", request=str(into))
    absorbed, representative = (UUID(identity(graph, f"1/{number}")) for number in (7, into))
    before = await stores.graph.checksum("u1")
    join = Joined(id=uuid4(), absorbed=absorbed, representative=representative)
    plans = explaining(monkeypatch)
    assert len(await stores.graph.merge("u1", [join], consolidation=c, now=NOW)) == 1
    await stores.graph.unmerge("u1", join.id, consolidation=c, now=NOW)
    assert set(plans) == {*merge_statements.MOVE, *merge_statements.RETURN}
    for statement, cursor in plans.items():
        plan: Mapping[str, Any] = (await cursor.fetchone())["QUERY PLAN"][0]["Plan"]
        log = {node["Relation Name"] for node in nodes(plan) if node["Node Type"] == "Seq Scan"}
        assert log <= {"merges", "merge_arms", "merge_records", "merge_aliases"}, statement
        assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] <= 252 * 50, statement
        assert rows_read(plan, "ARM") <= 252 * 2, statement
        assert rows_read(plan, "anchor_records") <= 252 * 2, statement
    assert await stores.graph.checksum("u1") == before
    await database.close()


def explaining(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """From now on every statement of a merge and of its undo is explained while it runs; its cursor has the plan."""
    execute = psycopg.AsyncConnection.execute
    plans: dict[str, Any] = {}

    async def explained(self: Any, query: Any, params: Any = None, **options: Any) -> Any:
        if query not in {*merge_statements.MOVE, *merge_statements.RETURN}:
            return await execute(self, query, params, **options)
        plans[query] = await execute(self, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + query, params, **options)
        return plans[query]

    monkeypatch.setattr(psycopg.AsyncConnection, "execute", explained)
    return plans
