"""The pool through a crash of the server, errors without values, and the change of the embedder."""

from collections.abc import Sequence
from pathlib import Path

import psycopg
import pytest

from domain.errors import EmbeddingMismatch, StoreUnavailable
from domain.graph import Vector
from domain.records import embedding_text
from infra.run.embedded.postgres import EmbeddedPostgres
from infra.stores.database import Database, fetch
from infra.stores.graph import AgeGraph
from infra.stores.jobs import PostgresJobs
from infra.stores.meta import Reembedding, check_embedder
from infra.stores.migrations.migrate import upgrade
from infra.stores.records import PostgresRecords
from tests.contract.samples import DIMENSION, NOW, anchor, chunk, fid, frame, new_input, record, unit, write


async def _run(database: Database, *statements: str) -> None:
    async with database.transaction() as connection:
        for statement in statements:
            await connection.execute(statement)


async def test_a_killed_server_is_unavailable_and_then_used_again(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir)
    server.start()
    upgrade(server.url)
    database = await Database.open(server.url, pool_size=3)
    jobs = PostgresJobs(database)
    accepted = await jobs.accept(new_input(), body_hash="h", now=NOW)
    server.kill()
    with pytest.raises(StoreUnavailable):
        await jobs.job("ona", accepted.job.id)
    server.start()
    assert await jobs.job("ona", accepted.job.id) == accepted.job
    await database.close()
    server.stop()


async def test_a_connection_lost_in_a_transaction_undoes_it(database_url: str) -> None:
    database = await Database.open(database_url, pool_size=2)
    insert = "INSERT INTO meta (key, value) VALUES ('k', 'v')"
    with pytest.raises(StoreUnavailable):
        await _run(database, insert, "SELECT pg_terminate_backend(pg_backend_pid())")
    async with database.transaction() as connection:
        assert await (await connection.execute("SELECT * FROM meta")).fetchall() == []
    await database.close()


async def test_an_idle_connection_that_was_ended_is_replaced_at_checkout(database_url: str) -> None:
    database = await Database.open(database_url, pool_size=1)
    async with database.transaction() as connection:
        (before,) = await fetch(connection, "SELECT pg_backend_pid() AS pid", ())
    with psycopg.connect(database_url, autocommit=True) as administrator:
        administrator.execute("SELECT pg_terminate_backend(%s, 10000)", (before["pid"],))
    async with database.transaction() as connection:
        (after,) = await fetch(connection, "SELECT pg_backend_pid() AS pid", ())
    assert after["pid"] != before["pid"]
    await database.close()


async def test_an_error_of_a_read_in_one_round_trip_is_the_statements_own(database_url: str) -> None:
    database = await Database.open(database_url, pool_size=1)
    with pytest.raises(StoreUnavailable, match="DivisionByZero"):
        async with database.transaction() as connection:
            await fetch(connection, "SELECT 1 / 0", (), first=("SELECT set_config('lock_timeout', '9s', true)", ()))
    async with database.transaction() as connection:
        assert await fetch(connection, "SHOW lock_timeout", ()) == [{"lock_timeout": "0"}]
    await database.close()


async def test_an_error_quotes_no_value(database_url: str) -> None:
    database = await Database.open(database_url, pool_size=1)
    for statement in (
        "SELECT 'canary'::int",
        "INSERT INTO meta (key, value) VALUES ('canary', 'a'), ('canary', 'b')",
        "SELECT canary",
    ):
        with pytest.raises(StoreUnavailable) as caught:
            await _run(database, statement)
        chain = f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__cause__}"
        assert "canary" not in chain
        assert "SQLSTATE" in chain
    await database.close()


async def test_a_server_that_is_not_there(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.stores.database.CHECKOUT_SECONDS", 0.5)
    with pytest.raises(StoreUnavailable, match="no connection to the database"):
        await Database.open(database_url.replace("reverie:", "nobody:", 1))


class OtherEmbedder:
    """Vectors of another length; fails at the call asked for."""

    def __init__(self, *, failing_at: int = 0) -> None:
        self.name = "other"
        self.dimension = DIMENSION + 1
        self.texts: list[str] = []
        self._calls = 0
        self._failing_at = failing_at

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self._calls += 1
        if self._calls == self._failing_at:
            raise StoreUnavailable("cut off")
        self.texts += texts
        return [[*unit(text), 0.0] for text in texts]


async def test_reembedding_goes_on_where_it_was_cut_off(database_url: str) -> None:
    database = await Database.open(database_url, pool_size=2)
    jobs, records, graph = PostgresJobs(database), PostgresRecords(database), AgeGraph(database)
    await check_embedder(database, name="small", dimension=DIMENSION)
    new = new_input()
    job = (await jobs.accept(new, body_hash="h", now=NOW)).job
    await jobs.save_chunks(job.id, [chunk(new)])
    made = [record(chunk(new), ordinal) for ordinal in range(70)]
    await records.commit(made, [unit(each.text) for each in made])
    await graph.upsert(write(1, [anchor("a"), anchor("b")], [frame("f", "likes", {"x": "a", "y": "b"})]))

    heard: list[tuple[str, int, int]] = []
    cut = Reembedding(database, records, graph, OtherEmbedder(failing_at=2))
    with pytest.raises(StoreUnavailable):
        await cut.run(lambda *told: heard.append(told))
    embedder = OtherEmbedder()
    assert await Reembedding(database, records, graph, embedder).run(lambda *told: heard.append(told)) == 70 + 3 - 64
    assert heard == [("records", 64, 70), ("records", 6, 6), ("anchors", 2, 2), ("frames", 1, 1)]

    await check_embedder(database, name="other", dimension=DIMENSION + 1)
    with pytest.raises(EmbeddingMismatch):
        await check_embedder(database, name="small", dimension=DIMENSION)
    wanted = [*unit(embedding_text(made[0])), 0.0]
    assert (await records.similarities("ona", [made[0].id], wanted))[made[0].id] == pytest.approx(1.0, abs=1e-6)
    assert embedder.texts[-1] == "A (x) likes B (y)"
    assert (await graph.nearest("ona", [[*unit("A"), 0.0]], limit=1, floor=0.9))[0][0].name == "A"
    found = await graph.frame_similarities("ona", [fid("f")], [*unit("A (x) likes B (y)"), 0.0])
    assert found[fid("f")] == pytest.approx(1.0, abs=1e-6)
    assert await Reembedding(database, records, graph, embedder).run(lambda *_: None) == 0
    await database.close()
