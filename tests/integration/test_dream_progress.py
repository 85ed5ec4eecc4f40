"""Rounds over many anchors in the real stores (case 51)."""

from domain.model_calls import Verdict
from infra.stores.consolidations import PostgresConsolidations
from infra.stores.database import Database
from infra.stores.graph import AgeGraph
from tests.unit.activities.world import USER, Answers, World, couples, name


async def test_all_of_1200_anchors_are_visited_over_rounds_and_every_pair_is_asked_once(database_url: str) -> None:
    """Case 51: no pass sees the first few only, and its counters are those of the store."""
    database = await Database.open(database_url)
    model = Answers(Verdict.UNSURE)
    world = World(model, consolidations=PostgresConsolidations(database), graph=AgeGraph(database))
    await couples(world, 600)
    rounds = 0
    while await world.graph.frontier(USER, limit=1):
        ref = await world.ask(f"round-{rounds}")
        formed, tally = await world.stage(ref)
        done = await world.end(ref, tally)
        stored = await world.consolidations.pairs(ref.consolidation_id)
        assert len(stored) == len(formed.pairs) == done.receipt.verified == done.receipt.unsure
        rounds += 1
        assert rounds < 30, "the same pairs keep others from their turn"
    assert {frozenset({name(2 * n), name(2 * n + 1)}) for n in range(600)} <= set(model.pairs)
    assert len(model.pairs) == len(set(model.pairs))
    await database.close()
