"""Two databases that took the same in another order agree (design invariant 6)."""

from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

import pytest

from domain.memory import IndexStatus, MemoryKind
from infra.stores.database import Database
from tests.contract.conftest import Stores, in_memory, in_postgres
from tests.contract.samples import NOW, anchor, chunk, frame, message, new_input, record, unit, write

T = TypeVar("T")


@pytest.fixture(params=["memory", "postgres"])
async def pair(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Stores, Stores]]:
    if request.param == "memory":
        yield in_memory(), in_memory()
        return
    make_database = request.getfixturevalue("make_database")
    one, other = [await Database.open(make_database(), pool_size=2) for _ in range(2)]
    yield in_postgres(one), in_postgres(other)
    await one.close()
    await other.close()


async def remember(stores: Stores, user: str, *, backwards: bool) -> None:
    """Two chunks of three records, each record in the graph; the order of the chunks and records is the argument's."""
    new = new_input(user=user, messages=[message("m1"), message("m2")])
    job = (await stores.jobs.accept(new, body_hash="h", now=NOW)).job
    chunks = [chunk(new, 0), chunk(new, 1)]
    await stores.jobs.save_chunks(job.id, chunks)
    records = [record(each, n, kind=MemoryKind.SEMANTIC) for each in chunks for n in range(3)]
    for each in _ordered(records, backwards=backwards):
        await stores.records.commit([each], [unit(each.text)])
        await stores.records.save_draft(each.id, "extract", "{}")
        await stores.records.set_index([each.id], IndexStatus.INDEXED)
    for number in _ordered(range(6), backwards=backwards):
        anchors = [anchor("hub", user=user, aliases=["the hub"]), anchor(f"k{number}", user=user)]
        meets = frame(f"{user}{number}", "meets", {"a": "hub", "b": f"k{number}"})
        await stores.graph.upsert(write(number, anchors, [meets], user=user))
    for piece in chunks:
        await stores.jobs.mark_committed(piece.id)
    await stores.jobs.finish(job.id, now=NOW)


def _ordered(things: Sequence[T], *, backwards: bool) -> Sequence[T]:
    return things[::-1] if backwards else things


async def test_the_order_of_writes_leaves_no_trace(pair: tuple[Stores, Stores]) -> None:
    one, other = pair
    for user in ("ona", "bo"):
        await remember(one, user, backwards=False)
    for user in ("bo", "ona"):
        await remember(other, user, backwards=True)
    for scope in ("ona", "bo", None):
        assert await one.records.checksum(scope) == await other.records.checksum(scope)
        assert await one.graph.checksum(scope) == await other.graph.checksum(scope)
    await other.graph.upsert(write(7, [anchor("one more")]))
    assert await one.graph.checksum() != await other.graph.checksum()
    assert await one.graph.checksum("bo") == await other.graph.checksum("bo")
