"""Pages while others write: a cursor misses nothing, whatever order commits begin and end in."""

import asyncio
from uuid import UUID

from infra.stores.database import Database
from infra.stores.jobs import PostgresJobs
from infra.stores.records import INSERT_RECORD, PostgresRecords, _row
from tests.contract.samples import NOW, chunk, message, new_input, record, unit

WAIT_SECONDS = 0.5
"""How long a commit that is to wait is watched; one that doesn't wait ends in a tenth of it."""


async def test_a_cursor_misses_no_commit_that_began_before_and_ended_after_it(database_url: str) -> None:
    """The first commit has taken its positions and hangs at its last record when the second one arrives."""
    database = await Database.open(database_url, pool_size=4)
    jobs, store = PostgresJobs(database), PostgresRecords(database)
    new = new_input(messages=[message("m1")])
    job = (await jobs.accept(new, body_hash="h", now=NOW)).job
    await jobs.save_chunks(job.id, [chunk(new, 0), chunk(new, 1)])
    slow, quick = ([record(chunk(new, n), ordinal) for ordinal in range(4)] for n in (0, 1))

    async with database.transaction() as connection:
        await connection.execute(INSERT_RECORD, _row(slow[-1]))
        first = asyncio.create_task(store.commit(slow, [unit(each.text) for each in slow]))
        await asyncio.wait([first], timeout=WAIT_SECONDS)
        second = asyncio.create_task(store.commit(quick, [unit(each.text) for each in quick]))
        await asyncio.wait([second], timeout=WAIT_SECONDS)
        assert not first.done()
        seen = await ids(store, after=None)
        await connection.rollback()
    await asyncio.gather(first, second)

    seen += await ids(store, after=seen[-1] if seen else None)
    assert sorted(seen) == sorted(each.id for each in (*slow, *quick))
    await database.close()


async def ids(store: PostgresRecords, *, after: UUID | None) -> list[UUID]:
    """Every page from a cursor on."""
    found: list[UUID] = []
    while page := await store.page("ona", after=found[-1] if found else after, limit=3):
        found += [each.id for each in page]
    return found
