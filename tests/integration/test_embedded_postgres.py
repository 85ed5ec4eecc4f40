"""The embedded Postgres keeps data over kills, asks for its password, and listens on loopback alone."""

from pathlib import Path

import psutil
import psycopg
import pytest
from psycopg import sql

from infra.run.embedded.postgres import EmbeddedPostgres, with_database, without_password
from tests.conftest import TEST_SETTINGS


def test_data_outlives_stop_and_kill_at_the_same_address(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir, settings=TEST_SETTINGS)
    url = server.start()
    try:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE kept (n int)")
            connection.execute("INSERT INTO kept VALUES (1)")
        server.kill()
        assert not server.is_running()
        assert server.start() == url
        assert _kept(url) == [(1,)]
        server.stop()
        assert EmbeddedPostgres(data_dir, settings=TEST_SETTINGS).url == url
        assert server.start() == url
        assert _kept(url) == [(1,)]
    finally:
        server.stop()


def test_a_server_left_by_a_dead_owner_is_replaced(data_dir: Path) -> None:
    former = EmbeddedPostgres(data_dir, settings=TEST_SETTINGS)
    former.start()
    left = former.pid
    assert left is not None
    later = EmbeddedPostgres(data_dir, settings=TEST_SETTINGS)
    try:
        later.start()
        assert later.is_running()
        assert later.pid != left
        assert not former.is_running()
    finally:
        later.stop()
        former.stop()


def test_start_while_running_changes_nothing(postgres_server: EmbeddedPostgres) -> None:
    before = postgres_server.pid
    assert postgres_server.start() == postgres_server.url
    assert postgres_server.pid == before


def test_listens_on_loopback_alone(postgres_server: EmbeddedPostgres) -> None:
    assert listening(postgres_server.pid) == {"127.0.0.1"}


@pytest.mark.parametrize("password", ["", "wrong"])
def test_a_wrong_password_is_refused(postgres_server: EmbeddedPostgres, password: str) -> None:
    address = without_password(postgres_server.url)
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://reverie:{password}@{address}", connect_timeout=5)


def test_password_is_generated_and_private(postgres_server: EmbeddedPostgres, session_dir: Path) -> None:
    file = session_dir / "postgres.password"
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(file.read_text()) >= 32


def test_statements_and_values_stay_out_of_the_log(postgres_server: EmbeddedPostgres, database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE canary (text text PRIMARY KEY)")
        connection.execute("INSERT INTO canary VALUES ('heron-4471')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO canary VALUES ('heron-4471')")
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            connection.execute("SELECT CAST('heron-4471' AS int)")
    assert "heron-4471" not in postgres_server.log_file.read_text()


def test_a_graph_works_in_a_database_copied_from_a_template(
    postgres_server: EmbeddedPostgres, database_url: str
) -> None:
    """The graph's oids are those of its schema, which a copy by files keeps."""
    copy = with_database(database_url, "copy_of_a_graph")
    create = "SELECT * FROM cypher('probe', $$ CREATE (n:Anchor {key: 'a'}) RETURN n $$) AS (n agtype)"
    count = "SELECT * FROM cypher('probe', $$ MATCH (n:Anchor) RETURN count(n) $$) AS (n agtype)"
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("SELECT create_graph('probe')")
        connection.execute(create)
        source = connection.info.dbname
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE copy_of_a_graph TEMPLATE {}").format(sql.Identifier(source)))
    with psycopg.connect(copy, autocommit=True) as connection:
        connection.execute(create)
        assert connection.execute(count).fetchall() == [("2",)]
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        connection.execute("DROP DATABASE copy_of_a_graph")


def _kept(url: str) -> list[tuple[int]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT n FROM kept").fetchall()


def listening(pid: int | None) -> set[str]:
    """Addresses a process listens on."""
    assert pid is not None
    connections = psutil.Process(pid).net_connections("all")
    return {connection.laddr.ip for connection in connections if connection.status == psutil.CONN_LISTEN}
