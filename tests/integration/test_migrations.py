"""Migrations: from nothing, again, by five processes at once, and what they refuse or repair."""

import subprocess
import sys
from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from psycopg import sql

from domain.errors import ConfigurationError, EmbeddingMismatch, GraphUnavailable, StoreUnavailable
from domain.memory import IndexStatus
from infra.run.embedded.postgres import EmbeddedPostgres, with_database
from infra.stores.database import Database
from infra.stores.graph import AgeGraph
from infra.stores.jobs import PostgresJobs
from infra.stores.meta import check_embedder
from infra.stores.migrations.migrate import current, upgrade
from infra.stores.records import PostgresRecords
from infra.stores.tables import Table
from tests.contract.samples import NOW, anchor, chunk, frame, new_input, record, unit, write

SIDE_TABLES = ("anchor_aliases", "anchor_records", "anchor_vectors", "frame_vectors", "frame_citations")


@pytest.fixture
def bare_url(postgres_server: EmbeddedPostgres) -> Iterator[str]:
    """A database with nothing in it."""
    name = "reverie_bare"
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield with_database(postgres_server.url, name)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def rows(url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement).fetchall()


def shape(url: str) -> list[tuple[object, ...]]:
    columns = """
        SELECT table_schema, table_name, column_name, data_type, is_nullable FROM information_schema.columns
        WHERE table_schema IN ('public', 'memory') ORDER BY 1, 2, 3
    """
    indexes = (
        "SELECT schemaname, indexname, indexdef FROM pg_indexes WHERE schemaname IN ('public', 'memory') ORDER BY 1, 2"
    )
    return rows(url, columns) + rows(url, indexes)


def test_from_nothing_and_again(bare_url: str) -> None:
    assert current(bare_url) is None
    upgrade(bare_url)
    made = shape(bare_url)
    assert current(bare_url) is not None
    upgrade(bare_url)
    assert shape(bare_url) == made
    assert {row[1] for row in made if row[0] == "memory"} >= {"Anchor", "Frame", "ARM", "arm_adjacency", "arm_role"}
    assert not {"ARM_start_id_idx", "ARM_end_id_idx"} & {row[1] for row in made}
    settings = rows(bare_url, "SELECT current_setting('search_path'), current_setting('session_preload_libraries')")
    assert settings == [("public, ag_catalog", "age")]


def test_five_processes_at_once(bare_url: str) -> None:
    code = "import sys; from infra.stores.migrations.migrate import upgrade; upgrade(sys.argv[1])"
    runs = [subprocess.Popen([sys.executable, "-c", code, bare_url], stderr=subprocess.PIPE) for _ in range(5)]
    ends = [(run.communicate()[1].decode(), run.returncode) for run in runs]
    assert ends == [("", 0)] * 5
    assert rows(bare_url, "SELECT count(*) FROM alembic_version") == [(1,)]
    assert rows(bare_url, "SELECT count(*) FROM ag_catalog.ag_graph WHERE name = 'memory'") == [(1,)]


def test_the_tables_are_those_of_record(database_url: str) -> None:
    engine = sqlalchemy.create_engine(
        database_url.replace("postgresql://", "postgresql+psycopg://"),
        connect_args={"options": "-c search_path=public"},
        poolclass=sqlalchemy.NullPool,
    )
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": _ours, "compare_type": True})
        assert compare_metadata(context, Table.metadata) == []
    engine.dispose()
    storage = (
        "SELECT count(*) FROM pg_attribute WHERE attname = 'vector' AND attstorage = 'p' AND attrelid::regclass::text"
    )
    assert rows(database_url, f"{storage} IN ('record_vectors', 'anchor_vectors', 'frame_vectors')") == [(3,)]


def _ours(name: str | None, kind: str, _parents: object) -> bool:
    return not (kind == "table" and name == "alembic_version")


def test_a_newer_database_is_refused(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    for step in (current, upgrade):
        with pytest.raises(ConfigurationError, match="9999"):
            step(database_url)


def test_an_unreachable_server_is_unavailable(database_url: str) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        upgrade(database_url.replace("reverie:", "nobody:", 1))
    assert "nobody" not in str(caught.value)


async def test_a_dropped_graph_is_made_again_and_its_records_wait(database_url: str) -> None:
    database = await Database.open(database_url, pool_size=2)
    graph = AgeGraph(database)
    made = write(1, [anchor("a"), anchor("b")], [frame("f", "likes", {"x": "a", "y": "b"})])
    await graph.upsert(made)
    indexed = await _an_indexed_record(database)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("SELECT ag_catalog.drop_graph('memory', true)")
        for attempt in (graph.smoke(), graph.upsert(made), graph.counts("ona"), graph.resolve("ona", ["a"])):
            with pytest.raises(GraphUnavailable):
                await attempt
    await graph.ensure()
    await graph.smoke()
    waiting = await PostgresRecords(database).record("ona", indexed)
    assert (waiting.index_status, waiting.index_reason) == (IndexStatus.FAILED, "graph_lost")
    for table in SIDE_TABLES:
        assert rows(database_url, f"SELECT count(*) FROM {table}") == [(0,)]
    assert (await graph.upsert(made)).frames_created == 1
    await database.close()


async def _an_indexed_record(database: Database) -> UUID:
    new = new_input()
    jobs, records = PostgresJobs(database), PostgresRecords(database)
    job = (await jobs.accept(new, body_hash="h", now=NOW)).job
    await jobs.save_chunks(job.id, [chunk(new)])
    one = record(chunk(new))
    await records.commit([one], [unit(one.text)])
    await records.set_index([one.id], IndexStatus.INDEXED)
    return one.id


async def test_a_lost_label_makes_the_graph_anew(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("SELECT ag_catalog.drop_label('memory', 'ARM')")
    upgrade(database_url)
    database = await Database.open(database_url, pool_size=1)
    await AgeGraph(database).smoke()
    await database.close()


async def test_a_restored_graph_is_found_and_mended(database_url: str) -> None:
    """pg_dump keeps the old schema's number in AGE's catalogue."""
    with psycopg.connect(database_url) as connection:
        connection.execute("ALTER TABLE ag_catalog.ag_label DROP CONSTRAINT fk_graph_oid")
        connection.execute("UPDATE ag_catalog.ag_graph SET graphid = 1")
        connection.execute("UPDATE ag_catalog.ag_label SET graph = 1")
    database = await Database.open(database_url, pool_size=1)
    with pytest.raises(GraphUnavailable, match="rebuild"):
        await AgeGraph(database).smoke()
    upgrade(database_url)
    await AgeGraph(database).smoke()
    await database.close()


async def test_a_locked_graph_is_unavailable_in_seconds(database_url: str) -> None:
    database = await Database.open(database_url, pool_size=2)
    with psycopg.connect(database_url) as connection:
        connection.execute('LOCK TABLE memory."Anchor" IN ACCESS EXCLUSIVE MODE')
        with pytest.raises(GraphUnavailable):
            await AgeGraph(database).upsert(write(1, [anchor("a")]))
    await database.close()


async def test_another_embedder_is_refused_by_name(database_url: str) -> None:
    database = await Database.open(database_url, pool_size=1)
    await check_embedder(database, name="small", dimension=16)
    await check_embedder(database, name="small", dimension=16)
    for name, dimension in (("large", 16), ("small", 32)):
        with pytest.raises(EmbeddingMismatch, match=r"small.*16.*reverie reembed"):
            await check_embedder(database, name=name, dimension=dimension)
    await database.close()
