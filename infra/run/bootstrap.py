"""The one composition root: from settings to services."""

import base64
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from temporalio.client import Client

from api.acceptor import Acceptor
from api.dreamer import Dreamer
from api.search import Retriever
from api.services import Services
from domain.errors import ConfigurationError
from domain.intake import Limits
from domain.ports import Embedder
from infra.run.lexicon import relation_families
from infra.run.models import make_embedder
from infra.settings import Settings
from infra.stores.consolidations import PostgresConsolidations
from infra.stores.database import Database
from infra.stores.graph import AgeGraph
from infra.stores.jobs import PostgresJobs
from infra.stores.meta import Reembedding, check_embedder
from infra.stores.migrations.migrate import upgrade
from infra.stores.model_calls import PostgresModelCalls
from infra.stores.records import PostgresRecords
from infra.stores.vault import PostgresVault
from infra.temporal import connect as connect_temporal
from workflows.schedules import TemporalSchedules
from workflows.start import TemporalStarter

VAULT_KEY_BYTES = 32


@asynccontextmanager
async def connect(
    settings: Settings, *, client: Client | None = None, migrate: bool = False
) -> AsyncIterator[Services]:
    """Services over the configured database and Temporal, closed at the end.

    Raises ConfigurationError, StoreUnavailable or Unavailable, each saying what to mend.
    """
    url = database_url(settings)
    if migrate:
        upgrade(url)
    database = await Database.open(url, pool_size=settings.database_pool_size)
    try:
        embedder = make_embedder(settings)
        await check_embedder(database, name=embedder.name, dimension=embedder.dimension)
        temporal = client or await connect_temporal(settings)
        yield _services(settings, database, temporal, embedder)
    finally:
        await database.close()


@asynccontextmanager
async def reembedding(settings: Settings) -> AsyncIterator[Reembedding]:
    """The change of every stored vector to the configured embedder's."""
    database = await Database.open(database_url(settings), pool_size=2)
    try:
        yield Reembedding(database, PostgresRecords(database), AgeGraph(database), make_embedder(settings))
    finally:
        await database.close()


def database_url(settings: Settings) -> str:
    """The configured database. Raises ConfigurationError when there is none."""
    if settings.database_url is None:
        raise ConfigurationError("no database: start the embedded stack with `reverie up`, or set REVERIE_DATABASE_URL")
    return settings.database_url


def _services(settings: Settings, database: Database, client: Client, embedder: Embedder) -> Services:
    jobs = PostgresJobs(database)
    records = PostgresRecords(database)
    graph = AgeGraph(database)
    vault = PostgresVault(database, vault_key(settings))
    consolidations = PostgresConsolidations(database)
    starter = TemporalStarter(client, prefix=settings.task_queue_prefix)
    acceptor = Acceptor(
        jobs,
        vault,
        starter,
        limits=input_limits(settings),
        default_timezone=settings.default_timezone,
        clock=_now,
    )
    return Services(
        jobs=jobs,
        records=records,
        graph=graph,
        calls=PostgresModelCalls(database),
        vault=vault,
        embedder=embedder,
        retriever=Retriever(graph, records, embedder, families=relation_families(settings.relation_lexicon)),
        acceptor=acceptor,
        consolidations=consolidations,
        dreamer=Dreamer(consolidations, graph, starter, clock=_now),
        schedules=TemporalSchedules(client, prefix=settings.task_queue_prefix),
        settings=settings,
    )


def _now() -> datetime:
    return datetime.now(UTC)


def input_limits(settings: Settings) -> Limits:
    """The sizes an input may have."""
    return Limits(
        max_message_characters=settings.max_message_characters, max_input_messages=settings.max_input_messages
    )


def vault_key(settings: Settings) -> bytes:
    """The vault's master key: from the settings, else generated once under the data directory (mode 600)."""
    if settings.vault_key is not None:
        return _decoded(settings.vault_key.get_secret_value(), "REVERIE_VAULT_KEY")
    path = settings.data_dir / "vault.key"
    _generate(path)
    return _decoded(path.read_text(encoding="ascii"), str(path))


def _generate(path: Path) -> None:
    """Write a new key unless one is there; of several processes at once exactly one writes."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_suffix(f".{os.getpid()}.{secrets.token_hex(4)}")
    draft.touch(mode=0o600)
    draft.write_text(base64.b64encode(secrets.token_bytes(VAULT_KEY_BYTES)).decode("ascii"), encoding="ascii")
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        draft.unlink()


def _decoded(text: str, where: str) -> bytes:
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except ValueError:
        key = b""
    if len(key) != VAULT_KEY_BYTES:
        raise ConfigurationError(f"{where} must hold {VAULT_KEY_BYTES} bytes in base64")
    return key
