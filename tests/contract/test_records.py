"""The RecordStore port."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from domain.errors import NotFound, StoreUnavailable
from domain.jobs import chunk_id
from domain.memory import Chunk, IndexStatus, MemoryKind, Record, Source
from tests.contract.conftest import Stores
from tests.contract.samples import NOW, chunk, message, new_input, record, unit


async def a_chunk(stores: Stores, request: str = "r1", *, user: str = "ona", chunks: int = 1) -> list[Chunk]:
    new = new_input(request, user=user, messages=[message(f"{request} m1")])
    job = (await stores.jobs.accept(new, body_hash="h", now=NOW)).job
    made = [chunk(new, ordinal) for ordinal in range(chunks)]
    await stores.jobs.save_chunks(job.id, made)
    return made


async def commit(stores: Stores, *records: Record) -> int:
    return await stores.records.commit(records, [unit(each.text) for each in records])


async def test_records_come_back_as_they_were_committed(stores: Stores) -> None:
    (one,) = await a_chunk(stores)
    dated, undated = record(one, 0), record(one, 1).model_copy(update={"event_time": None, "sources": ()})
    assert await commit(stores, dated, undated) == 2
    assert await stores.records.record("ona", dated.id) == dated
    assert await stores.records.records("ona", [undated.id, UUID(int=1), dated.id]) == (undated, dated)
    assert await stores.records.of_chunk(one.id) == (dated, undated)
    assert await stores.records.of_chunk(UUID(int=1)) == ()


async def test_a_commit_that_is_repeated_writes_nothing(stores: Stores) -> None:
    (one,) = await a_chunk(stores)
    first = record(one, 0)
    assert await commit(stores, first) == 1
    before = await stores.records.checksum()
    assert await commit(stores, first.model_copy(update={"text": "a forked answer"})) == 0
    assert await stores.records.checksum() == before
    assert await commit(stores, first, record(one, 1)) == 1
    assert await stores.records.commit([], []) == 0


async def test_concurrent_commits_of_one_chunk_write_it_once(stores: Stores) -> None:
    (one,) = await a_chunk(stores)
    records = [record(one, ordinal) for ordinal in range(5)]
    counts = await asyncio.gather(*(commit(stores, *records) for _ in range(6)))
    assert sum(counts) == 5
    assert await stores.records.of_chunk(one.id) == tuple(records)


async def test_the_third_of_five_inserts_fails_and_nothing_stays(stores: Stores) -> None:
    (one,) = await a_chunk(stores)
    records = [record(one, ordinal) for ordinal in range(5)]
    records[2] = records[2].model_copy(update={"chunk_id": chunk_id(one.input_id, 99)})
    before = await stores.records.checksum()
    with pytest.raises((StoreUnavailable, LookupError)):
        await commit(stores, *records)
    assert await stores.records.page("ona") == ()
    assert await stores.records.checksum() == before
    with pytest.raises(ValueError, match="zip"):
        await stores.records.commit(records[:2], [unit("only one")])
    assert await stores.records.page("ona") == ()


async def test_no_method_shows_another_users_records(stores: Stores) -> None:
    (mine,), (theirs,) = await a_chunk(stores), await a_chunk(stores, user="bo")
    own, other = record(mine), record(theirs)
    await commit(stores, own, other)
    ids, vector = [own.id, other.id], unit(other.text)
    kinds = (MemoryKind.EPISODIC,)
    with pytest.raises(NotFound):
        await stores.records.record("ona", other.id)
    assert await stores.records.records("ona", ids) == (own,)
    assert await stores.records.page("ona") == (own,)
    assert len(await stores.records.view("ona", MemoryKind.EPISODIC, limit=9)) == 1
    assert await stores.records.same_chunk("ona", [other.id], limit=9) == ()
    assert await stores.records.temporal_neighbours("ona", [other.id], limit=9) == ()
    assert set(await stores.records.similarities("ona", ids, vector)) == {own.id}
    found = await stores.records.search_direct("ona", vector=vector, words=["text"], kinds=kinds, limit=9)
    assert found == (own.id,)


async def test_pages_do_not_shift_under_writes(stores: Stores) -> None:
    chunks = await a_chunk(stores, chunks=3)
    await commit(stores, *(record(chunks[1], ordinal) for ordinal in range(4)))
    first = await stores.records.page("ona", limit=3)
    await commit(stores, *(record(chunks[0], ordinal) for ordinal in range(4)))
    second = await stores.records.page("ona", after=first[-1].id, limit=3)
    third = await stores.records.page("ona", after=second[-1].id, limit=3)
    assert [each.chunk_id for each in first] == [chunks[1].id] * 3
    listed = [each.id for each in (*first, *second, *third)]
    assert len(listed) == len(set(listed)) == 8
    assert await stores.records.page("ona", after=third[-1].id) == ()
    assert await stores.records.page("ona", kinds=[MemoryKind.CORE]) == ()


async def test_the_view_is_the_newest_of_a_kind(stores: Stores) -> None:
    chunks = await a_chunk(stores, chunks=2)
    await commit(stores, record(chunks[0], 0), record(chunks[1], 0), record(chunks[1], 1))
    await commit(stores, record(chunks[1], 2, kind=MemoryKind.SEMANTIC))
    view = await stores.records.view("ona", MemoryKind.EPISODIC, limit=2)
    assert [each.title for each in view] == ["title 1", "title 0"]


async def test_semantic_records_of_chunks_and_of_a_time_in_the_order_of_writing(stores: Stores) -> None:
    one, two = await a_chunk(stores, chunks=2)
    semantic = [record(each, n, kind=MemoryKind.SEMANTIC) for each in (two, one) for n in range(2)]
    await commit(stores, *semantic, record(one, 0))
    ids = [each.id for each in semantic]
    assert await stores.records.semantic_of("ona", [one.id, two.id], limit=9) == tuple(ids)
    assert await stores.records.semantic_of("ona", [one.id], limit=1) == (ids[2],)
    assert await stores.records.semantic_of("bo", [one.id], limit=9) == ()
    assert await stores.records.semantic_since("ona", NOW, limit=3) == tuple(ids[:3])
    assert await stores.records.semantic_since("ona", NOW + timedelta(seconds=1), limit=3) == ()
    assert await stores.records.semantic_since("bo", NOW, limit=3) == ()


async def test_index_status_is_kept(stores: Stores) -> None:
    (one,) = await a_chunk(stores)
    await commit(stores, record(one))
    await stores.records.set_index([record(one).id], IndexStatus.FAILED, step="extract", reason="model_error")
    stored = await stores.records.record("ona", record(one).id)
    assert (stored.index_status, stored.index_step, stored.index_reason) == ("failed", "extract", "model_error")
    await stores.records.set_index([], IndexStatus.INDEXED)
    await stores.records.set_index([stored.id], IndexStatus.INDEXED)
    stored = await stores.records.record("ona", stored.id)
    assert (stored.index_status, stored.index_step, stored.index_reason) == ("indexed", "", "")


async def test_the_first_draft_of_a_step_stays(stores: Stores) -> None:
    (one,) = await a_chunk(stores)
    await commit(stores, record(one))
    assert await stores.records.drafts([record(one).id], "extract") == {}
    await asyncio.gather(*(stores.records.save_draft(record(one).id, "extract", '{"a": 1}') for _ in range(4)))
    await stores.records.save_draft(record(one).id, "extract", '{"a": 2}')
    assert await stores.records.drafts([record(one).id], "extract") == {record(one).id: '{"a": 1}'}
    assert await stores.records.drafts([record(one).id], "repair") == {}


async def test_support_from_provenance(stores: Stores) -> None:
    chunks = await a_chunk(stores, chunks=2)
    line = [record(chunks[0], 0), record(chunks[0], 1), record(chunks[1], 0), record(chunks[1], 1)]
    await commit(stores, *line)
    ids = [each.id for each in line]
    assert await stores.records.same_chunk("ona", [ids[0]], limit=9) == (ids[1],)
    assert await stores.records.same_chunk("ona", ids[:2], limit=9) == ()
    assert await stores.records.temporal_neighbours("ona", [ids[1]], limit=9) == (ids[0], ids[2])
    assert await stores.records.temporal_neighbours("ona", [ids[0], ids[3]], limit=1) == (ids[1],)


async def test_the_messages_around_a_record(stores: Stores) -> None:
    talk = [message(name, text=f"{name} says {name * 3}", minutes=minute) for minute, name in enumerate("abcd")]
    new = new_input(messages=talk)
    await stores.jobs.accept(new, body_hash="h", now=NOW)
    one = chunk(new)
    await stores.jobs.save_chunks(one.input_id, [one])
    asked, last, far = (
        record(one, ordinal).model_copy(update={"sources": sources})
        for ordinal, sources in enumerate(((Source(turn_id="b", start=2),), (Source(turn_id="d"),), ()))
    )
    await commit(stores, asked, last, far)
    around = await stores.records.surroundings("ona", [asked.id, last.id, far.id], characters=4)
    assert around == {
        asked.id: 'Ona  aaa ["a picture of a"] Ona says ["a picture of b"] Ona c sa ["a picture of c"]',
        last.id: 'Ona  ccc ["a picture of c"] Ona d sa ["a picture of d"]',
    }
    assert await stores.records.surroundings("other", [asked.id], characters=4) == {}


async def test_similarities_are_cosines(stores: Stores) -> None:
    (one,) = await a_chunk(stores)
    await commit(stores, record(one, 0), record(one, 1))
    ids = [record(one, 0).id, record(one, 1).id]
    found = await stores.records.similarities("ona", ids, unit("text number 1"))
    assert found[ids[1]] == pytest.approx(1.0, abs=1e-6)
    expected = sum(a * b for a, b in zip(unit("text number 0"), unit("text number 1"), strict=True))
    assert found[ids[0]] == pytest.approx(expected, abs=1e-6)


async def test_direct_search_fuses_vector_and_words(stores: Stores) -> None:
    (one,) = await a_chunk(stores)
    texts = ["the otter swims", "bread is baked", "a kite flies", "rain falls"]
    made = [record(one, ordinal, text=text) for ordinal, text in enumerate(texts)]
    await commit(stores, *made)
    await commit(stores, record(one, 9, kind=MemoryKind.CORE, text="otter"))
    kinds = (MemoryKind.EPISODIC,)
    words = ["otter", "(", "& | !", "'"]
    found = await stores.records.search_direct("ona", vector=unit(texts[2]), words=words, kinds=kinds, limit=2)
    assert set(found) == {made[2].id, made[0].id}
    near = await stores.records.search_direct("ona", vector=unit(texts[1]), words=[], kinds=kinds, limit=1)
    assert near == (made[1].id,)


async def test_the_checksum_does_not_depend_on_the_order_of_writes(stores: Stores) -> None:
    sums = []
    for user, turned in (("ona", False), ("bo", True)):
        chunks = await a_chunk(stores, user=user, chunks=2)
        records = [record(each, ordinal) for each in chunks for ordinal in range(3)]
        for each in reversed(records) if turned else records:
            await commit(stores, each)
        sums.append(await stores.records.checksum(user))
    assert sums[0] != sums[1], "users differ"
    both = await stores.records.checksum()
    await stores.records.set_index([record(chunks[0]).id], IndexStatus.INDEXED)
    assert await stores.records.checksum() != both
    assert await stores.records.checksum("ona") == sums[0]
    await stores.records.set_index([record(chunks[0]).id], IndexStatus.PENDING)
    assert await stores.records.checksum() == both


async def test_a_large_batch(stores: Stores) -> None:
    (one,) = await a_chunk(stores)
    records = [record(one, ordinal) for ordinal in range(500)]
    assert await commit(stores, *records) == 500
    assert len(await stores.records.page("ona", limit=1000)) == 500
    newest = await stores.records.view("ona", MemoryKind.EPISODIC, limit=1)
    assert newest[0].title == "title 499"
    assert records[-1].mention_time == NOW + timedelta(minutes=499)
