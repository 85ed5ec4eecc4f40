"""How the graph's stores speak to the database: in short transactions, and with the graph's own errors."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from psycopg import errors

from domain.errors import GraphUnavailable
from infra.stores.database import Connection, Database, describe, fetch, scrubbed
from infra.stores.graph import statements

LOCK_WAIT = "3s"
"""Longest wait for a lock on the graph: shorter than an activity's patience, longer than a queue of other writes."""
STATEMENT_LIMIT = "30s"

BROKEN = (
    errors.UndefinedTable,
    errors.UndefinedObject,
    errors.UndefinedFunction,
    errors.UndefinedColumn,
    errors.InvalidSchemaName,
    errors.InvalidParameterValue,
    errors.FeatureNotSupported,
    errors.InternalError_,
    errors.LockNotAvailable,
    errors.QueryCanceled,
)
"""What a dropped, locked or otherwise broken graph answers with. Anything else is the database's own trouble."""


class GraphSession:
    """Holds the pool; every read and write of the graph goes through `_rows` or `_transaction`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[Connection]:
        async with self._database.transaction() as connection:
            with graph_errors():
                await connection.execute(statements.LIMIT_WAITING, (LOCK_WAIT, STATEMENT_LIMIT))
                yield connection

    async def _rows(self, statement: str, arguments: Sequence[object] | Mapping[str, object]) -> list[dict[str, Any]]:
        limits = (statements.LIMIT_WAITING, (LOCK_WAIT, STATEMENT_LIMIT))
        async with self._database.transaction() as connection:
            with graph_errors():
                return await fetch(connection, statement, arguments, first=limits)


@contextmanager
def graph_errors() -> Iterator[None]:
    """What a broken graph answers becomes GraphUnavailable."""
    try:
        yield
    except BROKEN as error:
        raise GraphUnavailable(describe(error).replace("database", "graph")) from scrubbed(error)
