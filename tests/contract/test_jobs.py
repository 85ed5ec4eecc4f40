"""The JobStore port."""

import asyncio
from datetime import timedelta
from uuid import UUID, uuid5

import pytest

from domain.dream.rounds import ConsolidationState, Receipt
from domain.errors import NotFound, RequestConflict
from domain.jobs import NAMESPACE, Acceptance, Batch, Job, JobState, batch_id, job_id
from domain.memory import IndexStatus, MemoryKind, NewInput, TimeSource
from domain.messages import ref_of
from domain.model_calls import Purpose, Usage
from tests.contract.conftest import Stores
from tests.contract.consolidating import requested, running
from tests.contract.samples import NOW, chunk, message, new_input, record, unit


async def accept(stores: Stores, new: NewInput, *, body_hash: str = "hash") -> Acceptance:
    return await stores.jobs.accept(new, body_hash=body_hash, now=NOW)


async def test_an_input_comes_back_as_it_was_given(stores: Stores) -> None:
    new = new_input()
    accepted = await accept(stores, new)
    assert accepted.created
    assert accepted.job.id == job_id("ona", "r1")
    assert (accepted.job.state, accepted.job.sequence, accepted.job.messages) == (JobState.ACCEPTED, 1, 2)
    assert await stores.jobs.input(accepted.job.id) == new
    assert await stores.jobs.messages(accepted.job.id) == new.messages
    assert await stores.jobs.job("ona", accepted.job.id) == accepted.job


async def test_a_repeated_request_is_one_job_and_another_body_a_conflict(stores: Stores) -> None:
    first = await accept(stores, new_input())
    again = await accept(stores, new_input())
    assert (again.created, again.job) == (False, first.job)
    with pytest.raises(RequestConflict):
        await accept(stores, new_input(), body_hash="other")
    assert len(await stores.jobs.jobs("ona")) == 1


async def test_concurrent_accepts_of_one_request_make_one_job(stores: Stores) -> None:
    answers = await asyncio.gather(*(accept(stores, new_input()) for _ in range(10)))
    assert sum(answer.created for answer in answers) == 1
    assert len({answer.job.id for answer in answers}) == 1
    assert len(await stores.jobs.messages(answers[0].job.id)) == 2


async def test_concurrent_inputs_of_a_user_are_numbered_without_gaps(stores: Stores) -> None:
    news = [new_input(f"r{n}", messages=[message(f"m{n}")]) for n in range(12)]
    await asyncio.gather(*(accept(stores, new) for new in news))
    assert [job.sequence for job in await stores.jobs.jobs("ona")] == list(range(12, 0, -1))
    assert [job.sequence for job in await stores.jobs.jobs("ona", before=4, limit=2)] == [3, 2]


async def test_messages_that_the_session_holds_are_not_stored_again(stores: Stores) -> None:
    await accept(stores, new_input("r1", messages=[message("m1"), message("m2")]))
    second = await accept(stores, new_input("r2", messages=[message("m2"), message("m3"), message("m3")]))
    assert [stored.id for stored in await stores.jobs.messages(second.job.id)] == ["m3"]
    elsewhere = await accept(stores, new_input("r3", session="s2", messages=[message("m2")]))
    assert elsewhere.job.messages == 1
    nothing_new = await accept(stores, new_input("r4", messages=[message("m1")]))
    assert (await stores.jobs.finish(nothing_new.job.id, now=NOW)).reason == "already_stored"


async def test_a_known_message_id_with_another_content_is_a_conflict_and_stores_nothing(stores: Stores) -> None:
    await accept(stores, new_input("r1", messages=[message("m1")]))
    for changed in (message("m1", text="other"), message("m1", minutes=1)):
        with pytest.raises(RequestConflict):
            await accept(stores, new_input("r2", messages=[message("m9"), changed]))
    with pytest.raises(RequestConflict):
        await accept(stores, new_input("r2", messages=[message("m5"), message("m5", text="twice")]))
    assert [job.request_id for job in await stores.jobs.jobs("ona")] == ["r1"]


async def test_a_time_that_nobody_gave_makes_no_conflict(stores: Stores) -> None:
    await accept(stores, new_input("r1", messages=[message("m1")]))
    resent = new_input("r2", messages=[message("m1", minutes=9)]).model_copy(update={"time_source": TimeSource.INGEST})
    assert (await accept(stores, resent)).job.messages == 0


async def test_another_user_sees_no_job(stores: Stores) -> None:
    job = (await accept(stores, new_input())).job
    with pytest.raises(NotFound):
        await stores.jobs.job("bo", job.id)
    assert await stores.jobs.jobs("bo") == ()
    assert (await stores.jobs.queue_head("bo")).job is None
    same_ids = (await accept(stores, new_input(user="bo"))).job
    assert same_ids.id != job.id
    assert (same_ids.sequence, same_ids.messages) == (1, 2)
    with pytest.raises(NotFound):
        await stores.jobs.input(job_id("nobody", "r1"))


async def test_the_previous_message_is_the_sessions_last_before_the_input(stores: Stores) -> None:
    first = await accept(stores, new_input("r1"))
    await accept(stores, new_input("r2", session="s2"))
    third = await accept(stores, new_input("r3", messages=[message("m3")]))
    assert await stores.jobs.previous_message(first.job.id) is None
    assert await stores.jobs.previous_message(third.job.id) == message("m2", minutes=1)


async def test_chunks_are_saved_once_and_start_the_job(stores: Stores) -> None:
    new = new_input()
    job = (await accept(stores, new)).job
    await stores.jobs.save_chunks(job.id, [chunk(new, 0), chunk(new, 1)])
    await stores.jobs.save_kinds(chunk(new).id, [MemoryKind.SEMANTIC])
    await stores.jobs.save_chunks(job.id, [chunk(new, 0).model_copy(update={"title": "changed"}), chunk(new, 1)])
    assert await stores.jobs.chunk(job.id, 0) == chunk(new, 0)
    assert await stores.jobs.kinds(chunk(new, 0).id) == (MemoryKind.SEMANTIC,)
    assert await stores.jobs.kinds(chunk(new, 1).id) is None
    with pytest.raises(NotFound):
        await stores.jobs.chunk(job.id, 2)
    job = await stores.jobs.job("ona", job.id)
    assert (job.state, job.chunks, job.chunks_done) == (JobState.RUNNING, 2, 0)


async def test_a_job_counts_what_it_wrote(stores: Stores) -> None:
    new = new_input()
    job = (await accept(stores, new)).job
    one = chunk(new)
    await stores.jobs.save_chunks(job.id, [one])
    kinds = (MemoryKind.EPISODIC, MemoryKind.EPISODIC, MemoryKind.SEMANTIC)
    records = [record(one, ordinal, kind=kind) for ordinal, kind in enumerate(kinds)]
    await stores.records.commit(records, [unit(each.text) for each in records])
    await stores.jobs.mark_committed(one.id)
    await stores.records.set_index([records[0].id], IndexStatus.INDEXED)
    await stores.records.set_index([records[1].id], IndexStatus.FAILED, step="upsert", reason="graph_unavailable")
    await stores.calls.record(
        "key",
        user_id="ona",
        job_id=job.id,
        purpose=Purpose.ROUTE,
        usage=Usage(model="m"),
        outcome="ok",
        answer="{}",
        now=NOW,
    )
    done = await stores.jobs.finish(job.id, now=NOW)
    assert (done.state, done.reason, done.finished_at) == (JobState.COMPLETED, "", NOW)
    assert (done.chunks_done, done.records) == (1, {"episodic": 2, "semantic": 1})
    assert (done.indexed, done.index_failed, done.model_calls) == (1, 1, 1)


async def test_a_job_without_a_record_says_so(stores: Stores) -> None:
    new = new_input()
    job = (await accept(stores, new)).job
    await stores.jobs.save_chunks(job.id, [chunk(new)])
    await stores.jobs.mark_committed(chunk(new).id)
    done = await stores.jobs.finish(job.id, now=NOW)
    assert (done.state, done.reason) == (JobState.COMPLETED, "no_facts")


async def test_a_chunk_that_failed_fails_the_job_until_it_is_reopened(stores: Stores) -> None:
    new = new_input()
    job = (await accept(stores, new)).job
    await stores.jobs.save_chunks(job.id, [chunk(new, n) for n in range(3)])
    await stores.jobs.mark_committed(chunk(new, 0).id)
    await stores.jobs.fail_chunk(job.id, 0, step="late", reason="ignored")
    await stores.jobs.fail_chunk(job.id, 2, step="write", reason="model_error")
    failed = await stores.jobs.finish(job.id, now=NOW)
    assert (failed.state, failed.step, failed.reason) == (JobState.FAILED, "write", "model_error")
    later = NOW + timedelta(hours=1)
    again = await stores.jobs.reopen(job.id, now=later)
    assert (again.state, again.attempt, again.step, again.finished_at) == (JobState.ACCEPTED, 2, "", None)
    assert await stores.jobs.open_jobs(before=later) == ()
    assert await stores.jobs.open_jobs(before=later + timedelta(seconds=1)) == (again,)
    for ordinal in (1, 2):
        await stores.jobs.mark_committed(chunk(new, ordinal).id)
    assert (await stores.jobs.finish(job.id, now=NOW)).state is JobState.COMPLETED


async def test_reopening_makes_failed_records_pending(stores: Stores) -> None:
    new = new_input()
    job = (await accept(stores, new)).job
    one = chunk(new)
    await stores.jobs.save_chunks(job.id, [one])
    kept, lost = record(one, 0), record(one, 1)
    await stores.records.commit([kept, lost], [unit("a"), unit("b")])
    await stores.jobs.mark_committed(one.id)
    await stores.records.set_index([kept.id], IndexStatus.INDEXED)
    await stores.records.set_index([lost.id], IndexStatus.FAILED, step="upsert", reason="graph_unavailable")
    assert (await stores.jobs.reopen(job.id, now=NOW)).attempt == 1
    await stores.jobs.finish(job.id, now=NOW)
    assert (await stores.jobs.reopen(job.id, now=NOW)).attempt == 2
    states = [(each.index_status, each.index_reason) for each in await stores.records.of_chunk(one.id)]
    assert states == [(IndexStatus.INDEXED, ""), (IndexStatus.PENDING, "")]


async def test_a_step_that_comes_late_does_not_move_an_ended_job(stores: Stores) -> None:
    new = new_input()
    job = (await accept(stores, new)).job
    cancelled = await stores.jobs.set_state(job.id, JobState.CANCELLED, now=NOW, step="ingest", reason="cancelled")
    assert (cancelled.state, cancelled.finished_at) == (JobState.CANCELLED, NOW)
    await stores.jobs.save_chunks(job.id, [chunk(new)])
    assert (await stores.jobs.set_state(job.id, JobState.EXTRACTED, now=NOW)).state is JobState.CANCELLED
    assert (await stores.jobs.finish(job.id, now=NOW)).state is JobState.CANCELLED
    with pytest.raises(NotFound):
        await stores.jobs.set_state(job_id("ona", "none"), JobState.FAILED, now=NOW)


async def test_the_queue_holds_jobs_in_order_of_arrival(stores: Stores) -> None:
    news = [new_input(f"r{n}", messages=[message(f"m{n}")]) for n in range(3)]
    jobs = [(await accept(stores, new)).job for new in news]
    await stores.jobs.set_state(jobs[1].id, JobState.EXTRACTED, now=NOW)
    head = await stores.jobs.queue_head("ona")
    assert head.job is not None
    assert (head.job.job_id, head.job.request_id, head.ready) == (jobs[0].id, "r0", False)
    await stores.jobs.set_state(jobs[0].id, JobState.FAILED, now=NOW)
    head = await stores.jobs.queue_head("ona")
    assert head.job is not None
    assert (head.job.job_id, head.ready) == (jobs[1].id, True)


async def test_a_consolidation_takes_its_turn_between_the_inputs_before_and_after_it(stores: Stores) -> None:
    before = (await accept(stores, new_input("r1"))).job
    asked = await requested(stores)
    after = (await accept(stores, new_input("r2", messages=[message("m3")]))).job
    assert asked.after_job == before.sequence
    await stores.jobs.set_state(before.id, JobState.EXTRACTED, now=NOW)
    head = await stores.jobs.queue_head("ona")
    assert (head.consolidation, head.job and head.job.job_id) == (None, before.id)
    await stores.jobs.finish(before.id, now=NOW)
    await stores.jobs.set_state(after.id, JobState.EXTRACTED, now=NOW)
    head = await stores.jobs.queue_head("ona")
    assert (head.consolidation, head.job, head.ready) == (ref_of(asked), None, False)
    await running(stores)
    assert (await stores.jobs.queue_head("ona")).consolidation == ref_of(asked)
    await stores.consolidations.end(asked.id, ConsolidationState.COMPLETED, receipt=Receipt(), now=NOW)
    head = await stores.jobs.queue_head("ona")
    assert (head.consolidation, head.job and head.job.job_id, head.ready) == (None, after.id, True)


async def test_consolidations_take_turns_in_order_and_none_waits_for_nothing(stores: Stores) -> None:
    first, second = await requested(stores, "c1"), await requested(stores, "c2")
    await requested(stores, "c1", user="bo")
    assert (await stores.jobs.queue_head("ona")).consolidation == ref_of(first)
    await stores.consolidations.begin(second.id, now=NOW)
    assert (await stores.jobs.queue_head("ona")).consolidation == ref_of(first)
    await stores.consolidations.end(first.id, ConsolidationState.REVIEW, receipt=Receipt(), now=NOW)
    assert (await stores.jobs.queue_head("ona")).consolidation == ref_of(second)
    await stores.consolidations.end(second.id, ConsolidationState.FAILED, receipt=Receipt(), now=NOW)
    assert await stores.jobs.queue_head("ona") == await stores.jobs.queue_head("nobody")


BATCH = batch_id("ona", ["r0", "r1", "r2", "r3"])


async def feed(stores: Stores, count: int = 4) -> list[Job]:
    """Inputs of a batch, accepted only."""
    news = [new_input(f"r{n}", messages=[message(f"m{n}")]) for n in range(count)]
    return [(await stores.jobs.accept(new, body_hash="hash", now=NOW, batch_id=BATCH)).job for new in news]


async def test_an_input_belongs_to_the_batch_that_it_was_first_accepted_with(stores: Stores) -> None:
    (fed,) = await feed(stores, 1)
    alone = (await accept(stores, new_input("alone", messages=[message("m9")]))).job
    assert (fed.batch_id, alone.batch_id) == (BATCH, None)
    again = await stores.jobs.accept(
        new_input("alone", messages=[message("m9")]), body_hash="hash", now=NOW, batch_id=BATCH
    )
    assert again.job == alone
    assert {job.batch_id for job in await stores.jobs.open_jobs(before=NOW + timedelta(seconds=1))} == {BATCH, None}
    assert (await stores.jobs.queue_head("ona")).batch_id == BATCH
    await stores.jobs.set_state(fed.id, JobState.FAILED, now=NOW)
    assert (await stores.jobs.queue_head("ona")).batch_id is None


async def test_a_batch_has_no_more_inputs_under_way_than_its_window(stores: Stores) -> None:
    jobs = await feed(stores)
    assert await stores.jobs.next_jobs(BATCH, window=2) == tuple(jobs[:2])
    assert await stores.jobs.next_jobs(BATCH, window=2) == tuple(jobs[:2])
    await stores.jobs.set_state(jobs[0].id, JobState.RUNNING, now=NOW)
    await stores.jobs.set_state(jobs[1].id, JobState.EXTRACTED, now=NOW)
    assert await stores.jobs.next_jobs(BATCH, window=2) == ()
    assert await stores.jobs.next_jobs(BATCH, window=1) == ()
    assert await stores.jobs.next_jobs(BATCH, window=3) == (jobs[2],)
    await stores.jobs.set_state(jobs[0].id, JobState.COMPLETED, now=NOW)
    assert await stores.jobs.next_jobs(BATCH, window=2) == (jobs[2],)
    assert await stores.jobs.next_jobs(batch_id("ona", ["other"]), window=2) == ()


async def test_a_batch_tells_how_far_it_is(stores: Stores) -> None:
    jobs = await feed(stores)
    assert await stores.jobs.batch("ona", BATCH) == Batch(id=BATCH, user_id="ona", jobs=4)
    await stores.jobs.set_state(jobs[0].id, JobState.FAILED, now=NOW)
    await stores.jobs.set_state(jobs[1].id, JobState.RUNNING, now=NOW)
    await stores.jobs.note_chunk(BATCH, piece(1))
    whole = Batch(id=BATCH, user_id="ona", jobs=4, started=2, ended=1, chunks=1)
    assert await stores.jobs.batch("ona", BATCH) == whole
    assert await stores.jobs.batch("bo", BATCH) == Batch(id=BATCH, user_id="bo")


def piece(number: int) -> UUID:
    """Id of a chunk."""
    return uuid5(NAMESPACE, f"piece {number}")


async def test_chunks_of_a_batch_are_numbered_once_without_gaps(stores: Stores) -> None:
    numbers = await asyncio.gather(*(stores.jobs.note_chunk(BATCH, piece(n % 6)) for n in range(12)))
    assert sorted(numbers) == sorted([*range(1, 7)] * 2)
    assert numbers[:6] == numbers[6:]
    by_number = {number: piece(n % 6) for n, number in enumerate(numbers)}
    assert await stores.jobs.noted_chunks(BATCH, after=1, up_to=4) == tuple(by_number[n] for n in (2, 3, 4))
    assert await stores.jobs.noted_chunks(BATCH, after=-2, up_to=1) == (by_number[1],)
    assert await stores.jobs.note_chunk(batch_id("ona", ["other"]), piece(3)) == 1


async def test_open_jobs_are_all_users_and_oldest_first(stores: Stores) -> None:
    for place, user in enumerate(["ona", "bo", "ona"]):
        new = new_input(f"r{place}", user=user, messages=[message(f"m{place}")])
        await stores.jobs.accept(new, body_hash="h", now=NOW + timedelta(minutes=place))
    await stores.jobs.set_state(job_id("bo", "r1"), JobState.COMPLETED, now=NOW)
    found = await stores.jobs.open_jobs(before=NOW + timedelta(minutes=5))
    assert [job.request_id for job in found] == ["r0", "r2"]
    assert len(await stores.jobs.open_jobs(before=NOW + timedelta(minutes=5), limit=1)) == 1


async def test_an_input_of_five_thousand_messages(stores: Stores) -> None:
    new = new_input(messages=[message(f"m{n}", minutes=n) for n in range(5_000)])
    accepted = await accept(stores, new)
    assert accepted.job.messages == 5_000
    assert await stores.jobs.input(accepted.job.id) == new
