"""AutoDream on real servers: what a round merges and leaves alone, and everything it did can be seen and undone."""

import pytest

from api.services import Services
from domain.dream.rounds import ConsolidationState, Mode, PairState
from domain.errors import MergeConflict, RequestConflict
from domain.graph import MergeState
from domain.memory import MemoryKind
from domain.model_calls import SameAnswer, Verdict
from tests.e2e.deployment import Deployment, state_of
from tests.e2e.dream_world import (
    ALIKE,
    APART,
    NOW,
    USER,
    Verdicts,
    ask,
    consolidated,
    flat,
    ids,
    owners,
    seed,
    until,
)

NAMES = [*flat(ALIKE), *flat(APART)]


async def test_a_round_merges_what_is_one_and_nothing_else(deployment: Deployment) -> None:
    async with deployment.services() as services:
        await seed(services, NAMES)
        episodic = await seed(services, ["Harbour Street Bakery Fair"], request="events", kind=MemoryKind.EPISODIC)
        evidence = await services.records.checksum()
        async with deployment.worker(services):
            done = await consolidated(services)
            assert done.state is ConsolidationState.COMPLETED
            found = await owners(services, NAMES)
            assert all(found[a].id == found[b].id for a, b in ALIKE)
            assert len(ids({name: found[name] for name in flat(APART)})) == 2 * len(APART)
            assert await services.records.checksum() == evidence
            receipt = done.receipt
            assert (receipt.merged, receipt.guarded, receipt.unreached) == (len(ALIKE), 0, 0)
            assert receipt.evidence_before == receipt.evidence_after != ""
            assert receipt.verified == receipt.candidates == receipt.model_calls >= len(ALIKE)
            pairs = await services.consolidations.pairs(done.id, states=(PairState.MERGED,))
            assert all(pair.reason and pair.decided_by and pair.a.record_ids and pair.b.record_ids for pair in pairs)
            await _holds_what_both_held(services)
            (fair,) = (await owners(services, ["Harbour Street Bakery Fair"])).values()
            assert fair.id not in {found[name].id for name in flat(ALIKE)}
            assert await services.graph.frames_of_records(USER, [episodic[0].id], limit=5)
            await _has_no_news(services)


async def _holds_what_both_held(services: Services) -> None:
    found = await owners(services, flat(ALIKE))
    for anchor in await services.graph.anchors(USER, sorted(ids(found))):
        names = {name for name in found if found[name].id == anchor.id}
        assert names <= {anchor.name, *anchor.aliases}
        assert anchor.mentions == len(anchor.semantic_ids) == len(names)
        frames = await services.graph.incident_frames(USER, [anchor.id], per_anchor=10)
        assert {record for frame in frames for record in frame.record_ids} == set(anchor.semantic_ids)


async def _has_no_news(services: Services) -> None:
    """A second round without news makes no model call and changes nothing, and so does a third that is told where to
    look."""
    before = await state_of(services)
    again = await consolidated(services, "again")
    jobs = await services.jobs.jobs(USER)
    chunks = [(await services.jobs.chunk(job.id, 0)).id for job in jobs]
    told = await consolidated(services, "told", mode=Mode.INTERMEDIATE, chunk_ids=chunks)
    assert (again.receipt.frontier, again.receipt.candidates) == (0, 0)
    assert told.receipt.frontier > 0
    assert again.receipt.model_calls == told.receipt.model_calls == 0
    assert again.receipt.merged == told.receipt.merged == 0
    assert await state_of(services) == before


async def test_undoing_a_round_restores_the_graph_and_it_stays_undone(deployment: Deployment) -> None:
    async with deployment.services() as services:
        await seed(services, NAMES)
        before = await state_of(services)
        async with deployment.worker(services):
            done = await consolidated(services)
            assert await state_of(services) != before
            undone = await consolidated(services, "undo", mode=Mode.UNDO, target=done.id)
            assert undone.state is ConsolidationState.COMPLETED
            assert (undone.receipt.undone, undone.receipt.kept) == (len(ALIKE), 0)
            assert await state_of(services) == before
            log = await services.graph.merges(USER, consolidation=done.id)
            assert {(merge.state, merge.undone_by) for merge in log} == {(MergeState.UNDONE, undone.id)}
            again = await consolidated(services, "again", since=NOW)
            assert (again.receipt.frontier > 0, again.receipt.merged) == (True, 0)
            assert again.receipt.cached >= len(ALIKE)


async def test_what_was_written_after_a_merge_stays_with_the_name_it_reached(deployment: Deployment) -> None:
    async with deployment.services() as services:
        await seed(services, flat(ALIKE))
        async with deployment.worker(services):
            before = await owners(services, flat(ALIKE))
            done = await consolidated(services)
            (name, other), *_ = ALIKE
            kept = (await owners(services, [name]))[name]
            old = other if kept.name == name else name
            (later,) = await seed(services, [old], request="later")
            (written,) = await services.graph.anchors(USER, [kept.id])
            assert later.id in written.semantic_ids
            assert len(await services.graph.frames_of_records(USER, [later.id], limit=5)) == 1
            undone = await consolidated(services, "undo", mode=Mode.UNDO, target=done.id)
            assert (undone.receipt.undone, undone.receipt.kept) == (len(ALIKE), 1)
            restored = await owners(services, flat(ALIKE))
            assert {n: a.id for n, a in restored.items()} == {n: a.id for n, a in before.items()}
            (apart, stays) = await services.graph.anchors(USER, [before[old].id, kept.id])
            assert later.id not in apart.semantic_ids
            assert later.id in stays.semantic_ids


async def test_a_dry_run_lists_every_merge_and_changes_nothing(deployment: Deployment) -> None:
    async with deployment.services() as services:
        await seed(services, NAMES)
        before = await state_of(services)
        async with deployment.worker(services):
            dry = await consolidated(services, "dry", dry_run=True)
            assert await state_of(services) == before
            assert (dry.receipt.proposed, dry.receipt.merged) == (len(ALIKE), 0)
            proposed = await services.consolidations.pairs(dry.id, states=(PairState.PROPOSED,))
            assert {frozenset({pair.a.name, pair.b.name}) for pair in proposed} == {frozenset(pair) for pair in ALIKE}
            for pair in proposed:
                assert pair.verdict is Verdict.SAME
                assert pair.canonical in (pair.a.anchor_id, pair.b.anchor_id)
                assert pair.reason
                assert pair.similarity >= 0.86
                assert pair.a.record_ids
                assert pair.b.record_ids
            done = await consolidated(services)
            assert done.receipt.merged == len(ALIKE)
            assert done.receipt.model_calls == 0, "the dry run's answers are recorded"


async def test_a_person_decides_on_each_merge_under_review(deployment: Deployment) -> None:
    async with deployment.services() as services:
        await seed(services, flat(ALIKE))
        before = await state_of(services)
        async with deployment.worker(services):
            held = await until(services, await ask(services, review=True), ConsolidationState.REVIEW)
            assert await state_of(services) == before
            assert (held.receipt.pending, held.receipt.merged) == (len(ALIKE), 0)
            pairs = {pair.a.name: pair for pair in await services.consolidations.pairs(held.id)}
            first, second, *rest = sorted(pairs.values(), key=lambda pair: pair.key)
            other = first.b if first.canonical == first.a.anchor_id else first.a
            await services.dreamer.decide(USER, held.id, first.id, approve=True, keep=other.name, actor="rita")
            await services.dreamer.decide(USER, held.id, second.id, approve=False, actor="rita")
            with pytest.raises(MergeConflict, match="does not wait"):
                await services.dreamer.decide(USER, held.id, second.id, approve=True, actor="rita")
            for pair in rest:
                await services.dreamer.decide(USER, held.id, pair.id, approve=True, actor="rita")
            done = await until(services, held)
            assert done.state is ConsolidationState.COMPLETED
            assert (done.receipt.merged, done.receipt.rejected, done.receipt.pending) == (len(ALIKE) - 1, 1, 0)
            found = await owners(services, flat(ALIKE))
            assert found[first.a.name].id == found[first.b.name].id == other.anchor_id
            assert found[second.a.name].id != found[second.b.name].id
            assert await services.consolidations.rejected(USER, [second.key]) == {second.key}
            decided = await services.consolidations.pairs(held.id)
            assert {pair.decided_by for pair in decided} == {"rita"}


async def test_a_review_nobody_answers_merges_nothing(deployment: Deployment) -> None:
    async with deployment.services() as services:
        await seed(services, flat(ALIKE))
        before = await state_of(services)
        async with deployment.worker(services):
            held = await until(services, await ask(services, review=True), ConsolidationState.REVIEW)
            client = await deployment.client()
            review = client.get_workflow_handle(f"{deployment.prefix}/review/{USER}/{held.id}")
            await review.terminate("its time is over")
            assert await state_of(services) == before
            following = await consolidated(services, "next", dry_run=True)
            assert following.receipt.proposed == 0, "what is held back is not asked again before it is decided"
            (pair, *_) = await services.consolidations.pairs(held.id)
            await services.dreamer.decide(USER, held.id, pair.id, approve=True, actor="rita")
            await until(services, held, ConsolidationState.ACCEPTED, ConsolidationState.REVIEW)
            assert (await services.dreamer.cancel(USER, held.id)).state is ConsolidationState.CANCELLED


@pytest.mark.parametrize("couple", APART)
async def test_no_verdict_merges_what_the_guard_forbids(couple: tuple[str, str], deployment: Deployment) -> None:
    async with deployment.services() as services:
        await seed(services, couple)
        model = Verdicts()
        async with deployment.worker(services, model):
            done = await consolidated(services)
            assert len(ids(await owners(services, couple))) == 2
            assert (done.receipt.merged, done.receipt.candidates, model.asked) == (0, 0, [])


async def test_two_participants_of_one_fact_are_not_merged(deployment: Deployment) -> None:
    async with deployment.services() as services:
        await seed(services, ["Harbour Street Bakery"], partner="Harbor Street Bakery Team")
        await seed(services, ["Harbour Street Bakery"], partner="Pia", request="more")
        async with deployment.worker(services, Verdicts()):
            await consolidated(services)
        assert len(ids(await owners(services, ["Harbour Street Bakery", "Harbor Street Bakery Team"]))) == 2


async def test_users_are_never_merged_with_or_counted_for_one_another(deployment: Deployment) -> None:
    async with deployment.services() as services:
        (ours, theirs), *_ = ALIKE
        await seed(services, [ours])
        await seed(services, [theirs], user="eva")
        before = await services.graph.checksum("eva")
        async with deployment.worker(services, Verdicts()):
            done = await consolidated(services)
            assert (done.receipt.candidates, done.receipt.merged) == (0, 0)
        assert await services.graph.checksum("eva") == before


async def test_merging_by_hand_asks_for_force_and_is_undone_by_hand(deployment: Deployment) -> None:
    async with deployment.services() as services:
        await seed(services, flat(APART))
        before = await state_of(services)
        (one, other), *_ = APART
        found = await owners(services, (one, other))
        asked = {"mode": Mode.MERGE, "target": found[one].id, "absorbed": found[other].id}
        async with deployment.worker(services):
            refused = await consolidated(services, "merge", **asked)
            assert (refused.state, refused.reason) == (ConsolidationState.FAILED, "merge_conflict")
            assert await state_of(services) == before
            forced = await consolidated(services, "force", **asked, force=True)
            assert (forced.state, forced.receipt.merged) == (ConsolidationState.COMPLETED, 1)
            assert ids(await owners(services, (one, other))) == {found[one].id}
            split = await consolidated(services, "split", mode=Mode.SPLIT, target=found[one].id, name=other)
            assert (split.state, split.receipt.undone) == (ConsolidationState.COMPLETED, 1)
            assert await state_of(services) == before
            log = await services.consolidations.consolidations(USER)
            assert [(each.mode, each.actor) for each in log] == [
                (Mode.SPLIT, "test"), (Mode.MERGE, "test"), (Mode.MERGE, "test")
            ]  # fmt: skip


async def test_an_unsure_pair_is_neither_merged_nor_remembered(deployment: Deployment) -> None:
    async with deployment.services() as services:
        (couple, *_) = ALIKE
        await seed(services, couple)
        model = Verdicts(lambda _a, _b: SameAnswer(verdict=Verdict.UNSURE))
        async with deployment.worker(services, model):
            first = await consolidated(services)
            (pair,) = await services.consolidations.pairs(first.id)
            assert (pair.state, first.receipt.unsure) == (PairState.UNSURE, 1)
            assert await services.consolidations.rejected(USER, [pair.key]) == frozenset()
            await seed(services, couple[:1], request="news")
            second = await consolidated(services, "second")
        assert second.receipt.candidates == 1
        assert len(model.asked) == 2, "new evidence is a new question"


async def test_the_same_request_is_one_consolidation(deployment: Deployment) -> None:
    async with deployment.services() as services:
        first = await ask(services, "r", dry_run=True)
        assert await ask(services, "r", dry_run=True) == first
        with pytest.raises(RequestConflict):
            await ask(services, "r")
