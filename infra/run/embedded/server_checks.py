"""Are the two servers fit for us: reachable, new enough, with the extensions, namespace and search attributes?"""

import asyncio
import re
from datetime import timedelta

import psycopg
from temporalio.api.workflowservice.v1 import GetSystemInfoRequest
from temporalio.client import Client
from temporalio.service import RPCError

from domain.errors import ConfigurationError, Unavailable
from infra.run.embedded.check import Check
from infra.run.embedded.namespace import (
    RETENTION,
    existing_temporal,
    missing_search_attributes,
    prepare_namespace,
    retention,
)
from infra.run.embedded.postgres import without_password
from infra.run.embedded.state import read_state
from infra.settings import Settings
from infra.stores.migrations.migrate import upgrade
from infra.temporal import connect

OLDEST_POSTGRES = 16
OLDEST_VECTOR = (0, 7)
OLDEST_AGE = (1, 5)
NEWEST_AGE = (1, 7)
"""AGE 1.8 has a known crash (platform section 2)."""

CONNECT_SECONDS = 5
TEMPORAL_SECONDS = 15.0

_PACKAGES = {"vector": "postgresql-17-pgvector", "age": "postgresql-17-age"}
"""Debian 13's packages of the extensions."""


def require_database(url: str) -> None:
    """See to it that a database can hold our data, and bring it to our schema.

    ConfigurationError with every failing line and its fix otherwise.
    """
    _require(check_database(url))
    upgrade(url)


def require_temporal(settings: Settings) -> None:
    """See to it that the Temporal server of the settings has our namespace. ConfigurationError with every failing line
    otherwise.
    """
    asyncio.run(_prepare_temporal(settings))
    _require(check_temporal(settings))


def _require(checks: tuple[Check, ...]) -> None:
    failed = [f"{check.name}: {check.detail} ({check.fix})" for check in checks if not check.ok]
    if failed:
        raise ConfigurationError("; ".join(failed))


def check_database_of(settings: Settings) -> tuple[Check, ...]:
    """The database of the settings, else that of the running stack."""
    state = read_state(settings.data_dir)
    if settings.database_url is not None:
        return check_database(settings.database_url)
    if state is not None:
        return check_database(state.database_url.get_secret_value())
    return (Check(name="Database", ok=True, detail="embedded, not running (`reverie up` starts it)"),)


def check_database(url: str) -> tuple[Check, ...]:
    """Reachable, new enough, with both extensions. Details name the host and database, never the password."""
    place = without_password(url)
    try:
        with psycopg.connect(url, connect_timeout=CONNECT_SECONDS) as connection:
            return (
                _check_postgres_version(connection, place),
                _check_extension(connection, "vector", oldest=OLDEST_VECTOR, newest=None),
                _check_extension(connection, "age", oldest=OLDEST_AGE, newest=NEWEST_AGE),
            )
    except psycopg.Error as error:
        return (
            Check(
                name="Database",
                ok=False,
                detail=f"can't connect to {place} ({_reason(error)})",
                fix="start the server and check host, user, password and database name in REVERIE_DATABASE_URL",
            ),
        )


def _reason(error: psycopg.Error) -> str:
    """Why a connection failed, as a word: the full text of the driver may quote the connection string."""
    text = str(error)
    known = (
        "Connection refused",
        "password authentication failed",
        "does not exist",
        "timeout",
        "resolve",
        "no password",
    )
    return next((phrase for phrase in known if phrase in text), type(error).__name__)


def _check_postgres_version(connection: psycopg.Connection, place: str) -> Check:
    version = connection.info.server_version
    ok = version // 10_000 >= OLDEST_POSTGRES
    return Check(
        name="Database",
        ok=ok,
        detail=f"Postgres {version // 10_000}.{version % 10_000} at {place}",
        fix="" if ok else f"upgrade to Postgres {OLDEST_POSTGRES} or newer",
    )


def _check_extension(
    connection: psycopg.Connection, name: str, *, oldest: tuple[int, int], newest: tuple[int, int] | None
) -> Check:
    """Installed in the database, or to be had in the server."""
    row = connection.execute(
        "SELECT installed_version, default_version FROM pg_available_extensions WHERE name = %s", (name,)
    ).fetchone()
    title = f"Extension {name}"
    if row is None:
        return Check(
            name=title,
            ok=False,
            detail="not available in this server",
            fix=f"install it into the server (Debian 13: apt install {_PACKAGES[name]})",
        )
    installed, available = row
    version = _version(installed or available)
    ok = version >= oldest and (newest is None or version <= newest)
    wanted = f"{oldest[0]}.{oldest[1]}" + (f" to {newest[0]}.{newest[1]}" if newest else " or newer")
    return Check(
        name=title,
        ok=ok,
        detail=f"{installed} installed" if installed else f"{available} available, not installed yet",
        fix="" if ok else f"install version {wanted}",
    )


def _version(text: str) -> tuple[int, int]:
    numbers = [int(number) for number in re.findall(r"\d+", text)[:2]]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)


def check_temporal_of(settings: Settings) -> tuple[Check, ...]:
    """The server of the settings, else that of the running stack."""
    address = existing_temporal(settings)
    state = read_state(settings.data_dir)
    if address is None and state is not None:
        address = state.temporal_address
    if address is None:
        return (Check(name="Temporal", ok=True, detail="embedded, not running (`reverie up` starts it)"),)
    return check_temporal(settings.model_copy(update={"temporal_address": address}))


def check_temporal(settings: Settings) -> tuple[Check, ...]:
    """Reachable, with the namespace, its retention and our search attributes. Blocks; not for a running event loop."""
    try:
        return asyncio.run(asyncio.wait_for(_look_at_temporal(settings), TEMPORAL_SECONDS))
    except (Unavailable, RPCError, TimeoutError) as error:
        return (
            Check(
                name="Temporal",
                ok=False,
                detail=f"no answer from {existing_temporal(settings)} ({type(error).__name__})",
                fix="start the server; check REVERIE_TEMPORAL_ADDRESS (host:port), and TEMPORAL_* for TLS and keys",
            ),
        )


async def _look_at_temporal(settings: Settings) -> tuple[Check, ...]:
    client = await connect(settings)
    info = await client.workflow_service.get_system_info(GetSystemInfoRequest())
    server = Check(name="Temporal", ok=True, detail=f"server {info.server_version} at {existing_temporal(settings)}")
    kept = await retention(client)
    if kept is None:
        fix = f"run `reverie up`, or: temporal operator namespace create --retention 90d {client.namespace}"
        return (
            server,
            Check(name="Temporal namespace", ok=False, detail=f"{client.namespace} does not exist", fix=fix),
        )
    return (server, _check_retention(kept, client.namespace), await _check_search_attributes(client))


def _check_retention(kept: timedelta, namespace: str) -> Check:
    ok = kept >= RETENTION
    fix = f"run `reverie up`, or: temporal operator namespace update --retention 90d {namespace}"
    return Check(
        name="Temporal namespace",
        ok=ok,
        detail=f"{namespace}, histories kept {kept.total_seconds() / 86_400:g} days",
        fix="" if ok else fix,
    )


async def _check_search_attributes(client: Client) -> Check:
    missing = await missing_search_attributes(client)
    return Check(
        name="Search attributes",
        ok=not missing,
        detail=f"missing: {', '.join(missing)}" if missing else "all known",
        fix="run `reverie up`, or: temporal operator search-attribute create --type Keyword --name …"
        if missing
        else "",
    )


async def _prepare_temporal(settings: Settings) -> None:
    address = existing_temporal(settings)
    try:
        await asyncio.wait_for(_connect_and_prepare(settings), 2 * TEMPORAL_SECONDS)
    except (Unavailable, TimeoutError) as error:
        raise ConfigurationError(f"no answer from Temporal at {address}; check REVERIE_TEMPORAL_ADDRESS") from error
    except RPCError as error:
        refusal = f"Temporal at {address} refused to prepare {settings.temporal_namespace}: {error.status.name}"
        raise ConfigurationError(refusal) from error


async def _connect_and_prepare(settings: Settings) -> None:
    await prepare_namespace(await connect(settings))
