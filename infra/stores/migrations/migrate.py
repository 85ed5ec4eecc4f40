"""Bring a database to the code's schema: extensions, settings, tables, graph. Several processes may run it at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg import errors, sql

from domain.errors import ConfigurationError, StoreUnavailable
from infra.stores.database import SESSION_OPTIONS, describe, scrubbed
from infra.stores.migrations.age import ENSURE_GRAPH

EXTENSIONS = ("vector", "age")
MIGRATION_LOCK = "SELECT pg_advisory_lock(7225, 1)"
"""Held by the connection for the whole run; whoever waits finds the work done."""

DATABASE_SETTINGS = (
    "ALTER DATABASE {} SET search_path = public, ag_catalog",
    "ALTER DATABASE {} SET session_preload_libraries = 'age'",
)


def upgrade(url: str) -> None:
    """Apply the steps that are missing, and make the graph again if it was dropped.

    Raises ConfigurationError where the server lacks an extension, the role a right, or the database is newer than the
    code; StoreUnavailable where it can't be reached.
    """
    with _failures(), psycopg.connect(url, autocommit=True) as keeper:
        keeper.execute(MIGRATION_LOCK)
        _refuse_newer(_version(url))
        for extension in EXTENSIONS:
            _ensure_extension(keeper, extension)
        _set_database_settings(keeper)
        with _engine(url) as engine, engine.connect() as connection:
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.commit()
        keeper.execute(ENSURE_GRAPH)


def current(url: str) -> str | None:
    """The version a database stands at, None before the first step. ConfigurationError if the code doesn't know it."""
    with _failures():
        version = _version(url)
    _refuse_newer(version)
    return version


def _version(url: str) -> str | None:
    with _engine(url) as engine, engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def _refuse_newer(version: str | None) -> None:
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if version is not None and version not in known:
        raise ConfigurationError(
            f"the database is at schema version {version}, which this version of Reverie doesn't know: upgrade Reverie"
        )


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config


@contextmanager
def _engine(url: str) -> Iterator[sqlalchemy.Engine]:
    address = urlsplit(url)._replace(scheme="postgresql+psycopg").geturl()
    engine = sqlalchemy.create_engine(
        address, poolclass=sqlalchemy.NullPool, connect_args={"options": SESSION_OPTIONS}, hide_parameters=True
    )
    try:
        yield engine
    finally:
        engine.dispose()


def _ensure_extension(connection: psycopg.Connection, name: str) -> None:
    if connection.execute("SELECT 1 FROM pg_extension WHERE extname = %s", (name,)).fetchone():
        return
    try:
        connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(name)))
    except errors.InsufficientPrivilege as error:
        raise ConfigurationError(
            f"the role may not create extension {name}: let a superuser run CREATE EXTENSION {name}"
        ) from scrubbed(error)
    except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
        raise ConfigurationError(f"the server has no extension {name}: install it there") from scrubbed(error)


def _set_database_settings(connection: psycopg.Connection) -> None:
    """For whoever connects by other means than ours; a role that may not set them does without."""
    name = sql.Identifier(connection.info.dbname)
    for statement in DATABASE_SETTINGS:
        with _unless_forbidden():
            connection.execute(sql.SQL(statement).format(name))


@contextmanager
def _unless_forbidden() -> Iterator[None]:
    try:
        yield
    except errors.InsufficientPrivilege:
        return


@contextmanager
def _failures() -> Iterator[None]:
    """Errors of driver and toolkit as ours."""
    try:
        yield
    except psycopg.Error as error:
        raise StoreUnavailable(describe(error)) from scrubbed(error)
    except sqlalchemy.exc.DBAPIError as error:
        if isinstance(error.orig, psycopg.Error):
            raise StoreUnavailable(describe(error.orig)) from scrubbed(error.orig)
        raise
