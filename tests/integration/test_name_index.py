"""The name index of a user with very many anchors: built once, used, and gone before vectors change their length."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from uuid import UUID

import pytest

from domain.graph import Vector
from infra.stores.database import Database
from infra.stores.graph import AgeGraph, dream_statements, dreaming
from infra.stores.graph.properties import agtype
from infra.stores.meta import Reembedding, check_embedder
from infra.stores.records import PostgresRecords
from tests.contract.conftest import in_postgres
from tests.contract.consolidating import joined, running
from tests.contract.samples import DIMENSION, NOW, anchor, unit, write

MANY = 1_500
USER = "o'na \\ {} %s"


@pytest.fixture
async def database(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    monkeypatch.setattr(dreaming, "INDEXED_FROM", 1_000)
    database = await Database.open(database_url, pool_size=4)
    await check_embedder(database, name="small", dimension=DIMENSION)
    yield database
    await database.close()


async def crowd(graph: AgeGraph, count: int = MANY, *, user: str = USER) -> Sequence[UUID]:
    """Anchors with names in no order, all of one semantic record."""
    made = [anchor(f"k{number}", user=user) for number in range(count)]
    await graph.upsert(write(1, made, user=user))
    return [each.id for each in made]


async def test_a_users_own_index_finds_what_comparing_all_finds(database: Database) -> None:
    graph = AgeGraph(database)
    ids = random.Random(1).sample(await crowd(graph), 100)
    exact = await graph.neighbourhoods(USER, ids, limit=8, floor=-1.0)
    assert {len(place.nearest) for place in exact} == {7}
    assert await graph.index_names(USER)
    assert not await graph.index_names(USER)
    indexed = await graph.neighbourhoods(USER, ids, limit=8, floor=-1.0)
    assert [place.anchor for place in indexed] == [place.anchor for place in exact]
    found = [len({*mine.nearest} & {*theirs.nearest}) for mine, theirs in zip(indexed, exact, strict=True)]
    assert sum(found) >= 0.97 * 7 * len(ids)
    assert await graph.neighbourhoods(USER, ids[:3], limit=8, floor=2.0) == tuple(
        place.model_copy(update={"nearest": ()}) for place in exact[:3]
    )


async def test_the_plan_uses_the_index(database: Database) -> None:
    graph = AgeGraph(database)
    ids = await crowd(graph)
    await crowd(graph, 30, user="bo")
    await graph.index_names(USER)
    values = {"user": USER, "owner": agtype(USER), "anchors": ids[:20], "limit": 8, "floor": 0.5}
    statement = dream_statements.indexed("EXPLAIN " + dream_statements.INDEXED_NAMES, USER, DIMENSION)
    async with database.transaction() as connection:
        await connection.execute(dream_statements.FOR_INDEX, ("100",))
        rows = await (await connection.execute(statement, values, prepare=False)).fetchall()
    plan = "\n".join(row["QUERY PLAN"] for row in rows)
    assert f"Index Scan using {dreaming.name_index(USER)}" in plan


async def test_small_users_have_no_index(database: Database) -> None:
    graph = AgeGraph(database)
    await crowd(graph, 999)
    assert not await graph.index_names(USER)
    assert not await graph.index_names("nobody")
    assert await indexes(database) == {}


async def test_two_builders_build_once_and_a_killed_build_is_begun_anew(database: Database) -> None:
    graph = AgeGraph(database)
    await crowd(graph)
    assert sorted(await asyncio.gather(graph.index_names(USER), graph.index_names(USER))) == [False, True]
    name = dreaming.name_index(USER)
    async with database.transaction() as connection:
        await connection.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass(%s)", (name,))
    assert await indexes(database) == {name: False}
    assert len(await graph.neighbourhoods(USER, [anchor("k0", user=USER).id], limit=8, floor=-1.0)) == 1
    assert await graph.index_names(USER)
    assert await indexes(database) == {name: True}


async def indexes(database: Database) -> dict[str, bool]:
    async with database.transaction() as connection:
        cursor = await connection.execute(
            "SELECT indexrelid::regclass::text AS name, indisvalid AS valid FROM pg_index "
            "WHERE indexrelid::regclass::text LIKE 'anchor\\_near%'"
        )
        return {row["name"]: row["valid"] for row in await cursor.fetchall()}


class Longer:
    """Vectors of one more number."""

    name = "longer"
    dimension = DIMENSION + 1

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [[*unit(text), 0.0] for text in texts]


async def test_another_embedders_vectors_reach_names_indexes_and_the_merge_log(database: Database) -> None:
    """What was merged before the change can be taken back after it, and found."""
    stores, graph = in_postgres(database), AgeGraph(database)
    ids = await crowd(graph)
    await graph.index_names(USER)
    c = await running(stores, user=USER)
    (merge,) = await graph.merge(USER, [joined(c, "k1", "k0", user=USER)], consolidation=c, now=NOW)
    work = Reembedding(database, PostgresRecords(database), graph, Longer())
    assert await work.run(lambda *_: None) == MANY
    assert await indexes(database) == {}
    assert await graph.index_names(USER)
    await graph.unmerge(USER, merge.id, consolidation=c, now=NOW)
    (place,) = await graph.neighbourhoods(USER, [ids[1]], limit=8, floor=-1.0)
    assert len(place.nearest) == 7
    ((hit,),) = await graph.nearest(USER, [[*unit("K1"), 0.0]], limit=1, floor=0.99)
    assert hit.anchor_id == ids[1]
    assert await work.run(lambda *_: None) == 0
    assert await indexes(database) != {}
