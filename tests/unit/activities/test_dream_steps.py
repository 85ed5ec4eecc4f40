"""What the steps of a round promise beyond the workflow: caps, progress, and answers that are no good."""

from uuid import UUID

import pytest
from temporalio.exceptions import ApplicationError

from domain.dream.candidates import FINAL_PAIRS, INTERMEDIATE_PAIRS
from domain.dream.rounds import ConsolidationState, Mode, Pair, PairState, Stage
from domain.errors import MergeConflict, ModelOutputInvalid
from domain.memory import MemoryKind
from domain.messages import ConsolidationRef, DreamEnd, PairDecision, PairsTask
from domain.model_calls import Purpose, Verdict
from tests.fakes.model import FakeModel
from tests.unit.activities.world import NOW, Answers, World, couples, run, turned


@pytest.mark.parametrize(("mode", "cap"), [(Mode.INTERMEDIATE, INTERMEDIATE_PAIRS), (Mode.FINAL, FINAL_PAIRS)])
async def test_a_round_verifies_no_more_than_its_cap_and_the_rest_waits(mode: Mode, cap: int) -> None:
    model = Answers(Verdict.DIFFERENT)
    world = World(model)
    await couples(world, 200)
    ref = await world.ask("first", mode=mode)
    formed, tally = await world.stage(ref)
    done = await world.end(ref, tally)
    assert len(model.pairs) == len(formed.pairs) == cap
    assert done.receipt.unreached == done.receipt.candidates - cap > 0
    waiting = await world.graph.frontier("u", limit=1_000)
    taken = await world.consolidations.sources(ref.consolidation_id, Stage.MAIN)
    assert set(waiting) == set(taken) - set(await world.consolidations.used_sources(ref.consolidation_id))


async def test_a_pair_without_a_valid_answer_is_not_reached() -> None:
    model = FakeModel(errors={Purpose.SAME: [ModelOutputInvalid("scripted")]})
    world = World(model)
    await couples(world, 1)
    ref = await world.ask("first")
    formed, tally = await world.stage(ref)
    done = await world.end(ref, tally)
    (pair,) = await world.consolidations.pairs(ref.consolidation_id)
    assert (pair.state, done.receipt.unreached, done.state) == (PairState.OPEN, 1, ConsolidationState.COMPLETED)
    assert len(await world.graph.frontier("u", limit=5)) == 2, "its ends wait for the next round"
    assert len(formed.pairs) == 1


async def test_a_verification_that_runs_twice_asks_once() -> None:
    model = Answers(Verdict.SAME)
    world = World(model)
    await couples(world, 3)
    ref = await world.ask("first")
    formed, _ = await world.stage(ref)
    await run(world.rounds.verify, PairsTask(consolidation=ref, pairs=formed.pairs))
    assert len(model.pairs) == 3


async def test_anchors_that_only_events_mention_are_left_alone() -> None:
    model = Answers(Verdict.SAME)
    world = World(model)
    await world.know("amber stone", turned(0), number=1)
    await world.know("ember stone", turned(0.1), number=2, kind=MemoryKind.EPISODIC)
    ref = await world.ask("first")
    formed, tally = await world.stage(ref)
    assert (formed.pairs, tally.frontier, model.pairs) == ((), 1, [])


async def test_an_unknown_chunk_is_an_empty_frontier() -> None:
    world = World()
    ref = await world.ask("first", mode=Mode.INTERMEDIATE, chunk_ids=(UUID(int=1),))
    formed, tally = await world.stage(ref)
    assert (formed.pairs, tally.frontier) == ((), 0)


async def test_an_anchor_keeps_its_own_name() -> None:
    world = World()
    amber = await world.know("amber stone", turned(0), number=1)
    ref = await world.ask("split", mode=Mode.SPLIT, target=amber, name="Amber Stone")
    with pytest.raises(ApplicationError, match="keeps its own name") as refused:
        await run(world.merging.by_hand, ref)
    assert refused.value.type == MergeConflict.type


async def reviewed(world: World) -> tuple[ConsolidationRef, Pair]:
    """A review in which one merge waits."""
    await couples(world, 1)
    ref = await world.ask("first", review=True)
    _, tally = await world.stage(ref)
    assert (await world.end(ref, tally)).state is ConsolidationState.REVIEW
    (pair,) = await world.consolidations.pairs(ref.consolidation_id)
    return ref, pair


async def decide(world: World, ref: ConsolidationRef, pair: Pair, *, approve: bool, keep: UUID | None = None) -> None:
    decision = PairDecision(
        user_id="u",
        consolidation_id=ref.consolidation_id,
        pair_id=pair.id,
        approve=approve,
        canonical=keep,
        actor="eve",
    )
    await run(world.keeping.decide, decision)


async def one_by_hand(world: World, pair: Pair) -> None:
    """The two are merged elsewhere."""
    hand = await world.ask("hand", mode=Mode.MERGE, target=pair.a.anchor_id, absorbed=pair.b.anchor_id, force=True)
    await run(world.merging.by_hand, hand)


async def test_what_waits_for_a_person_no_other_round_merges() -> None:
    world = World(Answers(Verdict.SAME))
    _, pair = await reviewed(world)
    await world.graph.rejoin_frontier("u", [pair.a.anchor_id, pair.b.anchor_id])
    formed, tally = await world.stage(await world.ask("second"))
    assert (formed.pairs, formed.cached, tally.merged) == ((), 1, 0)


async def test_what_a_cancelled_review_left_open_is_found_again() -> None:
    world = World(Answers(Verdict.SAME))
    ref, pair = await reviewed(world)
    assert await world.graph.frontier("u", limit=9) == ()
    await run(world.keeping.end, DreamEnd(consolidation=ref, cancelled=True))
    assert set(await world.graph.frontier("u", limit=9)) == {pair.a.anchor_id, pair.b.anchor_id}
    _, tally = await world.stage(await world.ask("second"))
    assert tally.merged == 1


@pytest.mark.parametrize("approve", [True, False])
async def test_there_is_nothing_to_decide_of_two_that_are_one(approve: bool) -> None:
    world = World(Answers(Verdict.SAME))
    ref, pair = await reviewed(world)
    await one_by_hand(world, pair)
    with pytest.raises(ApplicationError, match="one anchor by now"):
        await decide(world, ref, pair, approve=approve)
    done = await world.consolidations.consolidation("u", ref.consolidation_id)
    assert (done.state, done.receipt.stale) == (ConsolidationState.COMPLETED, 1)
    assert await world.consolidations.rejected("u", [pair.key]) == frozenset()


async def test_an_approved_pair_that_became_one_elsewhere_is_stale() -> None:
    world = World(Answers(Verdict.SAME))
    ref, pair = await reviewed(world)
    await world.consolidations.decide(pair.model_copy(update={"state": PairState.APPROVED}), now=NOW)
    await one_by_hand(world, pair)
    await run(world.rounds.begin, ref)
    assert (await run(world.merging.merge_approved, ref)).done == 0
    assert [each.state for each in await world.consolidations.pairs(ref.consolidation_id)] == [PairState.STALE]


async def test_a_decision_again_is_the_same_and_another_conflicts() -> None:
    world = World(Answers(Verdict.SAME))
    ref, pair = await reviewed(world)
    await decide(world, ref, pair, approve=True, keep=pair.b.anchor_id)
    await decide(world, ref, pair, approve=True)
    await run(world.rounds.begin, ref)
    await run(world.merging.merge_approved, ref)
    await run(world.merging.merge_approved, ref)
    await decide(world, ref, pair, approve=True, keep=pair.b.anchor_id)
    for approve, keep in ((False, None), (True, pair.a.anchor_id)):
        with pytest.raises(ApplicationError) as refused:
            await decide(world, ref, pair, approve=approve, keep=keep)
        assert refused.value.type == MergeConflict.type
