"""One pool of Postgres connections a process, and the one place where psycopg's errors become ours."""

import select
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool
from pydantic_core import from_json

from domain.errors import StoreUnavailable

Connection = psycopg.AsyncConnection[DictRow]

CHECKOUT_SECONDS = 15.0
"""Longest wait for a free connection."""
RECONNECT_SECONDS = 5.0
"""How long one attempt to connect goes on; the next checkout makes a new one, so a restart is noticed at once."""
SESSION_OPTIONS = "-c search_path=public,ag_catalog -c TimeZone=UTC"
"""public first, or new tables would land in ag_catalog."""
CONNECTION: dict[str, Any] = {"row_factory": dict_row, "options": SESSION_OPTIONS, "application_name": "reverie"}


class Database:
    """A pool of connections. Stores hold one and never a connection of their own."""

    def __init__(self, pool: AsyncConnectionPool[Connection], url: str) -> None:
        self._pool = pool
        self._url = url

    @classmethod
    async def open(cls, url: str, pool_size: int = 10) -> Self:
        """Connect to a migrated database. Raises StoreUnavailable if no connection comes about."""
        pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            connection_class=psycopg.AsyncConnection[DictRow],
            kwargs=CONNECTION,
            min_size=1,
            max_size=pool_size,
            open=False,
            configure=_configure,
            check=_check,
            timeout=CHECKOUT_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            name="reverie",
        )
        try:
            await pool.open(wait=True, timeout=CHECKOUT_SECONDS)
        except psycopg.Error as error:
            await pool.close()
            raise StoreUnavailable(f"no connection to the database within {CHECKOUT_SECONDS:.0f} s") from scrubbed(
                error
            )
        return cls(pool, url)

    async def close(self) -> None:
        """Give the connections back. The pool can't be opened again."""
        await self._pool.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A connection in a transaction: committed at the end, rolled back on an error.

        Raises StoreUnavailable for every error of the database. A connection that is lost in the middle is dropped from
        the pool, and one that was lost before is replaced at checkout.
        """
        try:
            async with self._pool.connection() as connection:
                yield connection
        except psycopg.Error as error:
            raise StoreUnavailable(describe(error)) from scrubbed(error)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Connection]:
        """A connection outside the pool, for minutes of work by statements that refuse a transaction: each commits by
        itself, and settings and locks end with it. Raises StoreUnavailable for every error of the database."""
        try:
            async with await psycopg.AsyncConnection.connect(self._url, autocommit=True, **CONNECTION) as connection:
                yield connection
        except psycopg.Error as error:
            raise StoreUnavailable(describe(error)) from scrubbed(error)


async def fetch(
    connection: Connection,
    statement: str,
    arguments: Sequence[object] | Mapping[str, object],
    *,
    first: tuple[str, Sequence[object]] | None = None,
) -> list[DictRow]:
    """The rows of the one statement of a transaction; with it, what is to run `first`, and the commit: all of them in
    one round trip."""
    async with connection.pipeline():
        if first is not None:
            await connection.execute(*first)
        cursor = await connection.execute(statement, arguments)
        await connection.commit()
        return await cursor.fetchall()


async def _configure(connection: Connection) -> None:
    await register_vector_async(connection)
    set_json_loads(from_json, connection)  # half the time of the standard library's
    await connection.commit()


async def _check(connection: Connection) -> None:
    """Raises if an idle connection is dead. A server says nothing unasked but goodbye: a silent socket is taken for a
    live one, without a round trip."""
    watch = select.poll()
    watch.register(connection.fileno(), select.POLLIN)
    if watch.poll(0):
        await AsyncConnectionPool.check_connection(connection)


def describe(error: psycopg.Error) -> str:
    """What happened, without the statement's values: the server's own message may quote them (invariant 7)."""
    state = f" (SQLSTATE {error.sqlstate})" if error.sqlstate else ""
    return f"the database failed: {type(error).__name__}{state}"


def scrubbed(error: psycopg.Error) -> psycopg.Error:
    """The same error with its text replaced, so that a logged chain of causes quotes no stored value."""
    error.args = (describe(error),)
    return error


def one(row: DictRow | None) -> dict[str, Any]:
    """The row of a statement that always gives one."""
    if row is None:
        raise StoreUnavailable("the database answered with no row where one is certain")
    return row
