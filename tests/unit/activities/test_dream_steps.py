"""What the steps of a round promise beyond the workflow: caps, progress, and answers that are no good."""

from uuid import UUID

import pytest
from temporalio.exceptions import ApplicationError

from domain.dream.candidates import FINAL_PAIRS, INTERMEDIATE_PAIRS
from domain.dream.rounds import ConsolidationState, Mode, PairState, Stage
from domain.errors import MergeConflict, ModelOutputInvalid
from domain.memory import MemoryKind
from domain.messages import PairsTask
from domain.model_calls import Purpose, Verdict
from tests.fakes.model import FakeModel
from tests.unit.activities.world import Answers, World, couples, run, turned


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
