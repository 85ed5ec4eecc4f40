"""The ConsolidationStore port."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from domain.dream.rounds import (
    ENDED,
    Consolidation,
    ConsolidationState,
    Mode,
    NewConsolidation,
    Pair,
    PairState,
    Receipt,
    Stage,
    consolidation_id,
)
from domain.errors import NotFound, RequestConflict
from domain.jobs import JobState, anchor_id
from domain.memory import Record
from domain.model_calls import Purpose, Usage, Verdict
from tests.contract.conftest import Stores
from tests.contract.consolidating import joined, requested, running, two
from tests.contract.samples import NOW, anchor, chunk, message, new_input, record, unit, write

LATER = NOW + timedelta(minutes=1)
NOBODY = consolidation_id("ona", "never asked")

EVERYTHING = NewConsolidation(
    user_id="ona", request_id="all", mode=Mode.FINAL, dry_run=True, review=True, chunk_ids=(NOBODY,), since=NOW,
    target=NOBODY, absorbed=NOBODY, name="Ona", force=True, actor="schedule/nightly", timeout_seconds=77,
)  # fmt: skip


async def accept(stores: Stores, request: str) -> int:
    """An input's place in the user's order."""
    new = new_input(request, messages=[message(request)])
    return (await stores.jobs.accept(new, body_hash="h", now=NOW)).job.sequence


async def end(
    stores: Stores,
    identity: UUID,
    state: ConsolidationState = ConsolidationState.COMPLETED,
    *,
    receipt: Receipt | None = None,
    now: datetime = LATER,
) -> Consolidation:
    return await stores.consolidations.end(identity, state, receipt=receipt or Receipt(), now=now)


# -------------------------------------------------------------------------------------------------- requests


async def test_a_request_comes_back_as_it_was_made(stores: Stores) -> None:
    made = await stores.consolidations.request(EVERYTHING, now=NOW)
    expected = Consolidation(
        **EVERYTHING.model_dump(),
        id=consolidation_id("ona", "all"),
        sequence=1,
        after_job=0,
        state=ConsolidationState.ACCEPTED,
        accepted_at=NOW,
    )
    assert (made.created, made.consolidation) == (True, expected)
    assert await stores.consolidations.consolidation("ona", expected.id) == expected


async def test_a_repeated_request_is_one_consolidation(stores: Stores) -> None:
    made = await stores.consolidations.request(EVERYTHING, now=NOW)
    await end(stores, made.consolidation.id)
    again = await stores.consolidations.request(EVERYTHING, now=LATER)
    assert (again.created, again.consolidation.state) == (False, ConsolidationState.COMPLETED)
    assert len(await stores.consolidations.consolidations("ona")) == 1


@pytest.mark.parametrize("field", sorted(NewConsolidation.model_fields.keys() - {"user_id", "request_id"}))
async def test_the_same_request_id_with_anything_else_is_a_conflict(stores: Stores, field: str) -> None:
    await stores.consolidations.request(EVERYTHING, now=NOW)
    other = NewConsolidation(user_id="ona", request_id="all", mode=Mode.INTERMEDIATE)
    changed = EVERYTHING.model_copy(update={field: getattr(other, field)})
    with pytest.raises(RequestConflict):
        await stores.consolidations.request(changed, now=NOW)
    assert len(await stores.consolidations.consolidations("ona")) == 1


async def test_concurrent_requests_are_numbered_without_gaps_and_each_once(stores: Stores) -> None:
    answers = await asyncio.gather(*(requested(stores, f"c{n % 6}") for n in range(12)))
    assert {each.sequence for each in answers} == {1, 2, 3, 4, 5, 6}
    page = await stores.consolidations.consolidations("ona", before=5, limit=2)
    assert [each.sequence for each in page] == [4, 3]
    assert (await requested(stores, "c1", user="bo")).sequence == 1


async def test_a_request_comes_after_the_inputs_accepted_before_it(stores: Stores) -> None:
    await accept(stores, "r1")
    await accept(stores, "r2")
    assert (await requested(stores)).after_job == 2
    await accept(stores, "r3")
    assert (await requested(stores)).after_job == 2
    assert (await requested(stores, "c2")).after_job == 3
    assert (await requested(stores, "c1", user="bo")).after_job == 0


async def test_another_user_sees_no_consolidation(stores: Stores) -> None:
    made = await requested(stores)
    with pytest.raises(NotFound):
        await stores.consolidations.consolidation("bo", made.id)
    assert await stores.consolidations.consolidations("bo") == ()
    for act in (stores.consolidations.begin(NOBODY, now=NOW), end(stores, NOBODY)):
        with pytest.raises(NotFound):
            await act


async def test_users_wait_until_their_consolidations_have_ended_or_are_under_review(stores: Stores) -> None:
    users = ["ona", "bo", "cid", "dan", "eve"]
    c = {user: (await requested(stores, user=user)).id for user in users}
    await requested(stores, "c2", user="ona")
    await stores.consolidations.begin(c["bo"], now=NOW)
    await end(stores, c["cid"], ConsolidationState.REVIEW)
    await end(stores, c["dan"], ConsolidationState.CANCELLED)
    assert await stores.consolidations.waiting_users(before=LATER) == ("bo", "eve", "ona")
    assert await stores.consolidations.waiting_users(before=LATER, limit=2) == ("bo", "eve")
    assert await stores.consolidations.waiting_users(before=NOW) == ()


# -------------------------------------------------------------------------------------------------- evidence


async def remember(stores: Stores, request: str, *, user: str = "ona") -> Sequence[Record]:
    """Two records of a new input."""
    new = new_input(request, user=user, messages=[message(request)])
    job = (await stores.jobs.accept(new, body_hash="h", now=NOW)).job
    await stores.jobs.save_chunks(job.id, [chunk(new)])
    records = [record(chunk(new), n, text=f"{request} {n}") for n in range(2)]
    await stores.records.commit(records, [unit(each.text) for each in records])
    return records


async def test_what_begins_runs_and_notes_when(stores: Stores) -> None:
    made = await requested(stores)
    begun = await stores.consolidations.begin(made.id, now=NOW)
    assert (begun.state, begun.started_at) == (ConsolidationState.RUNNING, NOW)
    assert begun.receipt.evidence_before.startswith("0:")
    await remember(stores, "r1")
    assert await stores.consolidations.begin(made.id, now=LATER) == begun
    ended = await end(stores, made.id)
    assert await stores.consolidations.begin(made.id, now=LATER) == ended


async def test_news_leave_the_digest_of_the_evidence_alone(stores: Stores) -> None:
    await remember(stores, "r1")
    c = await running(stores)
    await remember(stores, "r2")
    await remember(stores, "r1", user="bo")
    receipt = (await end(stores, c)).receipt
    assert receipt.evidence_before.startswith("2:")
    assert receipt.evidence_after == receipt.evidence_before
    after = (await end(stores, await running(stores, "c2"))).receipt
    assert after.evidence_before.startswith("4:")
    assert after.evidence_before == after.evidence_after


async def test_a_changed_record_shows_in_the_digest_unless_it_is_news(stores: Stores) -> None:
    old, _ = await remember(stores, "r1")
    c, d = await running(stores), await running(stores, "c2")
    new, _ = await remember(stores, "r2")
    await stores.tamper(new.id)
    receipt = (await end(stores, c)).receipt
    assert receipt.evidence_after == receipt.evidence_before
    await stores.tamper(old.id)
    receipt = (await end(stores, d)).receipt
    assert receipt.evidence_after != receipt.evidence_before
    assert receipt.evidence_after.startswith("2:")


async def test_records_that_are_written_meanwhile_never_count_as_changed(stores: Stores) -> None:
    async def consolidate(number: int) -> Receipt:
        c = await running(stores, f"c{number}")
        await asyncio.sleep(0)
        return (await end(stores, c)).receipt

    writing = [remember(stores, f"r{n}") for n in range(8)]
    receipts, _ = await asyncio.gather(asyncio.gather(*map(consolidate, range(8))), asyncio.gather(*writing))
    assert all(receipt.evidence_before == receipt.evidence_after for receipt in receipts)


async def test_what_never_began_has_no_digest(stores: Stores) -> None:
    receipt = (await end(stores, (await requested(stores)).id, ConsolidationState.CANCELLED)).receipt
    assert (receipt.evidence_before, receipt.evidence_after, receipt.seconds) == ("", "", 0)


# -------------------------------------------------------------------------------------------------- pairs


async def test_sources_are_kept_once_by_stage(stores: Stores) -> None:
    c = await running(stores)
    a, b, d = sorted(anchor_id("ona", key) for key in "abd")
    await stores.consolidations.save_sources(c, Stage.MAIN, [d, a])
    await stores.consolidations.save_sources(c, Stage.MAIN, [a, b])
    await stores.consolidations.save_sources(c, Stage.REPAIR, [b])
    await stores.consolidations.save_sources(c, Stage.REPAIR, [])
    assert await stores.consolidations.sources(c, Stage.MAIN) == (a, b, d)
    assert await stores.consolidations.sources(c, Stage.REPAIR) == (b,)
    assert await stores.consolidations.sources(await running(stores, "c2"), Stage.MAIN) == ()


async def save(stores: Stores, consolidation: UUID, *pairs: Pair, waiting: Sequence[UUID] = ()) -> None:
    for stage in Stage:
        own = [pair for pair in pairs if pair.stage is stage]
        await stores.consolidations.save_pairs(consolidation, stage, own, waiting=waiting)


async def test_pairs_come_back_in_pages_by_stage_and_state(stores: Stores) -> None:
    c, other = await running(stores), await running(stores, "c2")
    states = [PairState.OPEN, PairState.SAME, PairState.OPEN, PairState.REJECTED]
    main = [two(c, "hub", f"k{n}", state=state) for n, state in enumerate(states)]
    repair = two(c, "hub", "k0", stage=Stage.REPAIR)
    await save(stores, c, *main, repair)
    await save(stores, other, two(other, "hub", "k0"))
    every = tuple(sorted([*main, repair], key=lambda pair: pair.id))
    store = stores.consolidations
    assert await store.pairs(c) == every
    assert await store.pairs(c, stage=Stage.REPAIR) == (repair,)
    assert await store.pairs(c, states=(PairState.SAME, PairState.REJECTED), stage=Stage.MAIN) == tuple(
        pair for pair in every if pair.state is not PairState.OPEN
    )
    assert await store.pairs(c, limit=2) == every[:2]
    assert await store.pairs(c, after=every[1].id, limit=2) == every[2:4]
    assert await store.pairs(c, after=every[1].id, states=(PairState.OPEN,)) == tuple(
        pair for pair in every[2:] if pair.state is PairState.OPEN
    )


async def test_a_pair_is_kept_as_first_saved_until_it_is_settled(stores: Stores) -> None:
    c = await running(stores)
    pair, bystander = two(c, "a", "b"), two(c, "a", "d")
    await save(stores, c, pair, bystander)
    told = {
        "state": PairState.SAME, "verdict": Verdict.SAME, "canonical": pair.b.anchor_id, "reason": "\tlike: 日本",
        "decided_by": "model",
    }  # fmt: skip
    settled = pair.model_copy(update=told)
    await stores.consolidations.settle([settled.model_copy(update={"similarity": 0.1})])
    await save(stores, c, pair.model_copy(update={"similarity": 0.2}))
    assert {*await stores.consolidations.pairs(c)} == {settled, bystander}
    await stores.consolidations.settle([])


async def test_a_merged_pair_stays_merged(stores: Stores) -> None:
    c = await running(stores)
    one, other = two(c, "a", "b"), two(c, "a", "d")
    await save(stores, c, one, other)
    merged = one.model_copy(update={"state": PairState.MERGED, "decided_by": "model"})
    await stores.consolidations.settle([merged])
    late = [pair.model_copy(update={"state": PairState.STALE, "decided_by": "late"}) for pair in (one, other)]
    await stores.consolidations.settle(late)
    assert {*await stores.consolidations.pairs(c)} == {merged, late[1]}


async def test_sources_are_used_unless_they_wait_or_have_an_open_pair(stores: Stores) -> None:
    c = await running(stores)
    ids = {key: anchor_id("ona", key) for key in "abdefgh"}
    await stores.consolidations.save_sources(c, Stage.MAIN, [ids[key] for key in "abdef"])
    await stores.consolidations.save_sources(c, Stage.REPAIR, [ids[key] for key in "bgh"])
    pairs = [two(c, "a", "x", state=PairState.UNSURE), two(c, "d", "e"), two(c, "f", "x", state=PairState.STALE)]
    await stores.consolidations.save_pairs(c, Stage.MAIN, pairs, waiting=[ids["b"], anchor_id("ona", "x")])
    await stores.consolidations.save_pairs(c, Stage.REPAIR, [], waiting=[ids["h"]])
    assert await stores.consolidations.used_sources(c) == tuple(sorted(ids[key] for key in "afg"))
    assert anchor_id("ona", "x") not in await stores.consolidations.sources(c, Stage.MAIN)


async def test_the_negative_cache_is_each_users_own(stores: Stores) -> None:
    await stores.consolidations.reject("ona", ["k1", "k2"], now=NOW)
    await stores.consolidations.reject("ona", ["k2", "k3"], now=LATER)
    await stores.consolidations.reject("ona", [], now=LATER)
    assert await stores.consolidations.rejected("ona", ["k3", "k1", "k9"]) == {"k1", "k3"}
    assert await stores.consolidations.rejected("ona", []) == frozenset()
    assert await stores.consolidations.rejected("bo", ["k1"]) == frozenset()


async def test_a_pair_was_asked_about_once_another_consolidation_has_its_verdict(stores: Stores) -> None:
    c, other, foreign = await running(stores), await running(stores, "c2"), await running(stores, user="bo")
    answered, unanswered = two(c, "a", "b"), two(c, "a", "d")
    await save(stores, c, answered, unanswered)
    await stores.consolidations.settle(
        [answered.model_copy(update={"state": PairState.UNSURE, "verdict": Verdict.UNSURE})]
    )
    keys = [answered.key, unanswered.key]
    assert await stores.consolidations.asked("ona", keys, without=other) == {answered.key}
    assert await stores.consolidations.asked("ona", keys, without=c) == frozenset()
    assert await stores.consolidations.asked("ona", [unanswered.key], without=other) == frozenset()
    assert await stores.consolidations.asked("bo", keys, without=foreign) == frozenset()


# -------------------------------------------------------------------------------------------------- ends


@pytest.mark.parametrize("state", ENDED)
async def test_what_has_ended_is_moved_by_nothing(stores: Stores, state: ConsolidationState) -> None:
    c = await running(stores)
    ended = await stores.consolidations.end(
        c, state, receipt=Receipt(frontier=3), now=LATER, step="verify", reason="model_error", detail="refused"
    )
    assert (ended.state, ended.finished_at, ended.applying) == (state, LATER, False)
    assert (ended.step, ended.reason, ended.detail) == ("verify", "model_error", "refused")
    assert (ended.receipt.frontier, ended.receipt.seconds) == (3, 60)
    for other in ConsolidationState.FAILED, ConsolidationState.REVIEW:
        assert await end(stores, c, other, receipt=Receipt(frontier=9), now=LATER + timedelta(hours=1)) == ended
    assert await stores.consolidations.consolidation("ona", c) == ended


async def call(stores: Stores, key: str, job: UUID, purpose: Purpose = Purpose.SAME) -> None:
    usage = Usage(model="m", tokens_in=10, tokens_out=2)
    await stores.calls.record(
        key, user_id="ona", job_id=job, purpose=purpose, usage=usage, outcome="ok", answer="{}", now=NOW
    )


async def test_a_receipt_counts_what_the_store_knows(stores: Stores) -> None:
    c, other = await running(stores), await running(stores, "c2")
    pairs = [two(c, "hub", state, state=state) for state in PairState]
    asked = {PairState.SAME, PairState.MERGED, PairState.REJECTED, PairState.UNSURE, PairState.GUARDED}
    answered = [pair.model_copy(update={"verdict": Verdict.SAME}) if pair.state in asked else pair for pair in pairs]
    again = two(c, "hub", "late", stage=Stage.REPAIR, state=PairState.REJECTED)
    await save(stores, c, *answered, again)
    await save(stores, other, two(other, "hub", "x"))
    await call(stores, "one", c)
    await call(stores, "two", c)
    await call(stores, "vector", c, Purpose.EMBED)
    await call(stores, "other", other)
    told = Receipt(frontier=7, cached=4, unreached=5, merged=2, undone=6, kept=8, seconds=99, model_calls=99)
    receipt = (await end(stores, c, ConsolidationState.FAILED, receipt=told)).receipt
    assert receipt == Receipt(
        frontier=7, cached=4, unreached=5 + 1, merged=2, undone=6, kept=8, seconds=60, model_calls=2, tokens_in=20,
        tokens_out=4, candidates=len(PairState) + 1 + 5, verified=5, rejected=2 + 1, unsure=1, guarded=1, stale=1,
        proposed=1, pending=2, evidence_before=receipt.evidence_before, evidence_after=receipt.evidence_after,
    )  # fmt: skip


async def test_merges_count_though_the_consolidation_was_stopped_before_it_could_tell(stores: Stores) -> None:
    c = await running(stores)
    await stores.graph.upsert(write(1, [anchor(key) for key in "abd"]))
    await stores.graph.merge("ona", [joined(c, "b", "a"), joined(c, "d", "a")], consolidation=c, now=NOW)
    assert (await end(stores, c, ConsolidationState.CANCELLED)).receipt.merged == 2


# -------------------------------------------------------------------------------------------------- reviews


async def decide(stores: Stores, pair: Pair, state: PairState, *, now: datetime = LATER) -> bool:
    """What a person says of a pair, or what becomes of it by the merge step."""
    decided = pair.model_copy(update={"state": state, "decided_by": "Eve"})
    if state is not PairState.MERGED:
        return await stores.consolidations.decide(decided, now=now)
    await stores.consolidations.settle([decided])
    return True


async def reviewed(stores: Stores) -> tuple[UUID, Pair, Pair]:
    """A consolidation under review, and its two pending pairs."""
    c = await running(stores)
    pairs = [two(c, "a", key, state=PairState.PENDING) for key in "bd"]
    await save(stores, c, *pairs, two(c, "a", "e"))
    under = await end(stores, c, ConsolidationState.REVIEW, receipt=Receipt(frontier=3, cached=2, unreached=4))
    assert (under.state, under.finished_at, under.receipt.pending) == (ConsolidationState.REVIEW, None, 2)
    assert (under.receipt.unreached, under.receipt.candidates) == (4 + 1, 3 + 4)
    return c, pairs[0], pairs[1]


async def test_approved_merges_get_a_turn_after_the_inputs_that_came_meanwhile(stores: Stores) -> None:
    c, pair, _ = await reviewed(stores)
    await accept(stores, "r1")
    assert (await stores.jobs.queue_head("ona")).consolidation is None
    await decide(stores, pair, PairState.APPROVED)
    again = await stores.consolidations.consolidation("ona", c)
    assert (again.state, again.applying, again.after_job) == (ConsolidationState.ACCEPTED, True, 1)
    await accept(stores, "r2")
    assert await stores.consolidations.consolidation("ona", c) == again
    for job in await stores.jobs.jobs("ona"):
        if job.request_id == "r1":
            await stores.jobs.set_state(job.id, JobState.COMPLETED, now=LATER)
    head = (await stores.jobs.queue_head("ona")).consolidation
    assert head is not None
    assert (head.consolidation_id, head.applying) == (c, True)


async def test_a_second_turn_keeps_the_first_ones_counts_and_evidence(stores: Stores) -> None:
    await remember(stores, "r1")
    c, pair, last = await reviewed(stores)
    first = (await stores.consolidations.consolidation("ona", c)).receipt
    await decide(stores, pair, PairState.APPROVED)
    await remember(stores, "r2")
    begun = await stores.consolidations.begin(c, now=LATER + timedelta(hours=1))
    assert (begun.state, begun.applying, begun.started_at) == (ConsolidationState.RUNNING, True, NOW)
    assert begun.receipt.evidence_before == first.evidence_before
    await decide(stores, pair, PairState.MERGED)
    under = await end(stores, c, ConsolidationState.REVIEW, receipt=Receipt(merged=1))
    assert (under.state, under.applying) == (ConsolidationState.REVIEW, False)
    await decide(stores, last, PairState.DECLINED)
    done = await end(stores, c)
    assert done.state is ConsolidationState.COMPLETED
    assert done.receipt == first.model_copy(update={"merged": 1, "pending": 0, "rejected": 1})


@pytest.mark.parametrize("state", [ConsolidationState.COMPLETED, ConsolidationState.REVIEW])
async def test_what_is_approved_while_it_runs_gets_another_turn(stores: Stores, state: ConsolidationState) -> None:
    c, pair, last = await reviewed(stores)
    await decide(stores, pair, PairState.APPROVED)
    await stores.consolidations.begin(c, now=LATER)
    await decide(stores, pair, PairState.MERGED)
    await decide(stores, last, PairState.APPROVED)
    assert (await stores.consolidations.consolidation("ona", c)).state is ConsolidationState.RUNNING
    again = await end(stores, c, state)
    assert (again.state, again.applying, again.finished_at) == (ConsolidationState.ACCEPTED, True, None)
    await stores.consolidations.begin(c, now=LATER)
    await decide(stores, last, PairState.MERGED)
    assert (await end(stores, c)).state is ConsolidationState.COMPLETED


@pytest.mark.parametrize("state", [ConsolidationState.FAILED, ConsolidationState.CANCELLED])
async def test_what_is_stopped_gets_no_other_turn_for_what_is_approved(
    stores: Stores, state: ConsolidationState
) -> None:
    c, pair, _ = await reviewed(stores)
    await decide(stores, pair, PairState.APPROVED)
    stopped = await end(stores, c, state)
    assert (stopped.state, stopped.applying, stopped.receipt.pending) == (state, False, 2)


async def test_the_receipt_tells_what_waits_after_each_decision_and_the_last_ends_it(stores: Stores) -> None:
    c, pair, last = await reviewed(stores)
    assert await decide(stores, pair, PairState.DECLINED, now=LATER + timedelta(hours=1))
    left = await stores.consolidations.consolidation("ona", c)
    assert left.receipt.seconds == 60, "a person's time is none of the round's"
    assert (left.state, left.receipt.pending, left.receipt.rejected) == (ConsolidationState.REVIEW, 1, 1)
    assert (left.receipt.frontier, left.receipt.cached, left.finished_at) == (3, 2, None)
    assert await stores.consolidations.rejected("ona", [pair.key, last.key]) == {pair.key}
    assert await decide(stores, last, PairState.STALE)
    done = await stores.consolidations.consolidation("ona", c)
    assert (done.state, done.receipt.pending, done.receipt.stale) == (ConsolidationState.COMPLETED, 0, 1)
    assert done.finished_at == LATER


async def test_of_two_decisions_the_first_stands(stores: Stores) -> None:
    c, pair, last = await reviewed(stores)
    said = [
        (pair, PairState.APPROVED),
        (pair, PairState.DECLINED),
        (last, PairState.DECLINED),
        (last, PairState.APPROVED),
    ]
    assert [await decide(stores, each, state) for each, state in said] == [True, False, True, False]
    states = {each.id: each.state for each in await stores.consolidations.pairs(c)}
    assert (states[pair.id], states[last.id]) == (PairState.APPROVED, PairState.DECLINED)
    assert await stores.consolidations.rejected("ona", [pair.key, last.key]) == {last.key}
    nobodys = two(NOBODY, "a", "b", state=PairState.PENDING)
    assert not await decide(stores, nobodys, PairState.APPROVED)


async def test_decisions_at_once_are_one(stores: Stores) -> None:
    _, pair, _ = await reviewed(stores)
    both = [decide(stores, pair, PairState.APPROVED), decide(stores, pair, PairState.DECLINED)]
    taken = await asyncio.gather(*both)
    assert sorted(taken) == [False, True]
    assert (await stores.consolidations.rejected("ona", [pair.key]) == {pair.key}) == taken[1]


async def test_what_waits_for_a_person_is_held_from_other_rounds(stores: Stores) -> None:
    c, pair, last = await reviewed(stores)
    await decide(stores, pair, PairState.APPROVED)
    keys, none = [pair.key, last.key, "else"], frozenset[str]()
    held = stores.consolidations.held
    assert await held("ona", keys, without=NOBODY) == {pair.key, last.key}
    assert (await held("ona", keys, without=c), await held("bo", keys, without=NOBODY)) == (none, none)
    await end(stores, c, ConsolidationState.CANCELLED)
    assert await held("ona", keys, without=NOBODY) == none
    assert not await decide(stores, last, PairState.APPROVED)


async def test_a_review_without_a_pair_that_waits_is_complete(stores: Stores) -> None:
    assert (await end(stores, await running(stores), ConsolidationState.REVIEW)).state is ConsolidationState.COMPLETED
