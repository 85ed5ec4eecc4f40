"""Every contract test runs over the stores in memory and over those in Postgres."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

import pytest

from domain.ports import ConsolidationStore, GraphStore, JobStore, ModelCallStore, RecordStore, VaultStore
from infra.stores.consolidations import PostgresConsolidations
from infra.stores.database import Database
from infra.stores.graph import AgeGraph
from infra.stores.jobs import PostgresJobs
from infra.stores.model_calls import PostgresModelCalls
from infra.stores.records import PostgresRecords
from infra.stores.vault import PostgresVault
from tests.fakes.consolidations import MemoryConsolidations
from tests.fakes.graph import MemoryGraph
from tests.fakes.stores import Evidence, MemoryJobs, MemoryModelCalls, MemoryRecords
from tests.fakes.vault import MemoryVault

MASTER_KEY = bytes(range(32))


@dataclass
class Stores:
    """One database, or one memory."""

    jobs: JobStore
    records: RecordStore
    calls: ModelCallStore
    graph: GraphStore
    consolidations: ConsolidationStore
    vault_with: Callable[[bytes], VaultStore]
    tamper: Callable[[UUID], Awaitable[None]]
    """Change the text of a record, which no port does."""

    @property
    def vault(self) -> VaultStore:
        return self.vault_with(MASTER_KEY)


def in_memory() -> Stores:
    evidence, entries = Evidence(), {}  # type: ignore[var-annotated]

    async def tamper(record: UUID) -> None:
        evidence.records[record] = evidence.records[record].model_copy(update={"text": "tampered"})

    return Stores(
        jobs=MemoryJobs(evidence),
        records=MemoryRecords(evidence),
        calls=MemoryModelCalls(evidence),
        graph=MemoryGraph(evidence),
        consolidations=MemoryConsolidations(evidence),
        vault_with=lambda key: MemoryVault(entries, key),
        tamper=tamper,
    )


def in_postgres(database: Database) -> Stores:
    async def tamper(record: UUID) -> None:
        async with database.transaction() as connection:
            await connection.execute("UPDATE records SET text = 'tampered' WHERE id = %s", (record,))

    return Stores(
        jobs=PostgresJobs(database),
        records=PostgresRecords(database),
        calls=PostgresModelCalls(database),
        graph=AgeGraph(database),
        consolidations=PostgresConsolidations(database),
        vault_with=lambda key: PostgresVault(database, key),
        tamper=tamper,
    )


@pytest.fixture(params=["memory", "postgres"])
async def stores(request: pytest.FixtureRequest) -> AsyncIterator[Stores]:
    if request.param == "memory":
        yield in_memory()
        return
    database = await Database.open(request.getfixturevalue("database_url"), pool_size=10)
    yield in_postgres(database)
    await database.close()
