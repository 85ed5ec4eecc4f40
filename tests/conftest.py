"""Real servers for the tests that ask for them; nothing starts for a test that doesn't.

One Postgres and one Temporal serve a whole session, both started by the service's own code under a temporary
directory. A test that asks for `database_url` gets a database of its own, copied from a migrated template in some 50
ms.
"""

import itertools
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from temporalio.client import Client

from infra.run.embedded.postgres import EmbeddedPostgres, ensure_database, with_database
from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from infra.stores.migrations.migrate import upgrade

TEMPLATE = "reverie_template"
TEST_SETTINGS = {"fsync": "off", "shared_buffers": "64MB", "max_connections": "200"}
"""A killed process loses nothing without fsync; only a power cut would."""

_numbers = itertools.count(1)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """An empty directory that another OS user can reach, unlike pytest's tmp_path when run by root."""
    directory = Path(tempfile.mkdtemp(prefix="reverie-test-"))
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="session")
def session_dir() -> Iterator[Path]:
    """The data directory of the session's servers."""
    directory = Path(tempfile.mkdtemp(prefix="reverie-tests-"))
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="session")
def postgres_server(session_dir: Path) -> Iterator[EmbeddedPostgres]:
    """The session's Postgres. A test that kills it must start it again."""
    server = EmbeddedPostgres(session_dir, settings=TEST_SETTINGS)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def temporal_server(session_dir: Path) -> Iterator[EmbeddedTemporal]:
    """The session's Temporal, with the namespace prepared. Use task queues and workflow ids of your own."""
    server = EmbeddedTemporal(session_dir)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def template_database(postgres_server: EmbeddedPostgres) -> str:
    """Name of the database that the tests' databases are copied from."""
    ensure_database(postgres_server.url, TEMPLATE)
    upgrade(with_database(postgres_server.url, TEMPLATE))
    return TEMPLATE


@pytest.fixture
def make_database(postgres_server: EmbeddedPostgres, template_database: str) -> Iterator[Callable[[], str]]:
    """Makes databases, migrated and empty; they are dropped after the test, whoever is still connected."""
    names: list[str] = []

    def make() -> str:
        names.append(f"reverie_test_{next(_numbers)}")
        _administer(postgres_server.url, "CREATE DATABASE {} TEMPLATE {}", names[-1], template_database)
        return with_database(postgres_server.url, names[-1])

    yield make
    for name in names:
        _administer(postgres_server.url, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def database_url(make_database: Callable[[], str]) -> str:
    """A database of the test's own."""
    return make_database()


@pytest.fixture
async def temporal_client(temporal_server: EmbeddedTemporal) -> Client:
    """A client of the session's Temporal, plain data converter."""
    return await Client.connect(temporal_server.address, namespace=NAMESPACE)


def _administer(url: str, statement: str, *names: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
