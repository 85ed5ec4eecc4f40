"""The GraphStore port: merging anchors in place, taking it back, splitting a name off."""

import random
from functools import partial
from uuid import UUID

import pytest

from domain.dream.merging import Holdings, united
from domain.dream.rounds import ConsolidationState
from domain.errors import ConsolidationEnded, MergeConflict, NotFound
from domain.graph import GraphCounts, Merge, MergeState
from domain.jobs import anchor_id
from domain.memory import Anchor, MemoryKind
from tests.contract.conftest import Stores, in_memory
from tests.contract.consolidating import joined, running
from tests.contract.samples import NOW, anchor, chunk, cited, fid, frame, message, new_input, record, unit, write

ANN, ANNA, BOB, DOG = (anchor_id("ona", key) for key in ("ann", "anna", "bob", "dog"))


async def told(stores: Stores) -> None:
    """Ann and Anna, each with records and frames of her own, one record and one frame in common."""
    likes = frame("f1", "likes", {"agent": "ann", "object": "dog"})
    owns = frame("f2", "owns", {"agent": "anna", "object": "dog"})
    both = frame("f3", "meets", {"with": "ann", "place": "dog"})
    mixed = frame("f4", "sees", {"agent": "bob", "object": "anna"})
    await stores.graph.upsert(write(1, [anchor("ann", score=2.0), anchor("dog")], [likes, both]))
    await stores.graph.upsert(write(2, [anchor("anna", aliases=["annie"], score=5.0), anchor("dog")], [owns]))
    await stores.graph.upsert(write(3, [anchor("ann"), anchor("anna"), anchor("bob")], [mixed]))
    collide = frame("f5", "trusts", {"agent": "ann", "object": "bob"})
    twice = collide.model_copy(update={"arms": (*collide.arms, collide.arms[0].model_copy(update={"key": "anna"}))})
    await stores.graph.upsert(
        write(4, [anchor("ann"), anchor("anna"), anchor("bob")], [twice], kind=MemoryKind.EPISODIC)
    )


async def one(stores: Stores, identity: UUID, *, user: str = "ona") -> Anchor:
    (found,) = await stores.graph.anchors(user, [identity])
    return found


def holdings(of: Anchor) -> Holdings:
    return Holdings(
        episodic_ids=frozenset(of.episodic_ids),
        semantic_ids=frozenset(of.semantic_ids),
        aliases=frozenset({of.name, *of.aliases}),
        mentions=of.mentions,
        score=of.score,
    )


async def arms_of(stores: Stores, name: str, *, user: str = "ona") -> list[tuple[str, UUID]]:
    stored = await stores.graph.frame(user, fid(name))
    return sorted((arm.role, arm.anchor_id) for arm in stored.arms)


async def test_a_merge_unites_what_two_anchors_hold(stores: Stores) -> None:
    """Union of records and aliases, sum of mentions, maximum of scores (paper 2.5); arms are rewired, none doubled."""
    await told(stores)
    before = united(holdings(await one(stores, ANN)), holdings(await one(stores, ANNA)))
    c = await running(stores)
    (merge,) = await stores.graph.merge("ona", [joined(c, "anna", "ann")], consolidation=c, now=NOW)
    assert (merge.absorbed, merge.absorbed_name, merge.representative, merge.representative_name) == (
        ANNA, "Anna", ANN, "Ann",
    )  # fmt: skip
    assert (merge.state, merge.merged_at, merge.consolidation_id, merge.undone_by) == ("applied", NOW, c, None)
    ann = await one(stores, ANN)
    assert holdings(ann) == before
    assert (ann.name, ann.aliases, ann.mentions, ann.score) == ("Ann", ("Anna", "Annie"), 6, 5.0)
    assert await stores.graph.anchors("ona", [ANNA]) == ()
    owners = await stores.graph.resolve("ona", ["ann", "anna", "annie"])
    assert {key: owner.id for key, owner in owners.items()} == dict.fromkeys(("ann", "anna", "annie"), ANN)
    assert await arms_of(stores, "f2") == sorted([("agent", ANN), ("object", DOG)])
    assert await arms_of(stores, "f5") == sorted([("agent", ANN), ("object", BOB)])
    assert await stores.graph.counts("ona") == GraphCounts(anchors=3, frames=5, arms=10)
    assert [hit.anchor_id for hit in (await stores.graph.nearest("ona", [unit("anna")], limit=9, floor=0.99))[0]] == []


async def test_a_merge_happens_once(stores: Stores) -> None:
    await told(stores)
    c = await running(stores)
    joins = [joined(c, "anna", "ann"), joined(c, "nobody", "ann")]
    first = await stores.graph.merge("ona", joins, consolidation=c, now=NOW)
    after = await stores.graph.checksum()
    assert await stores.graph.merge("ona", joins, consolidation=c, now=NOW) == first
    assert await stores.graph.merge("ona", [], consolidation=c, now=NOW) == ()
    assert await stores.graph.checksum() == after
    assert len(first) == 1


async def test_writes_after_a_merge_find_the_representative(stores: Stores) -> None:
    await told(stores)
    c = await running(stores)
    await stores.graph.merge("ona", [joined(c, "anna", "ann")], consolidation=c, now=NOW)
    cat = frame("f9", "likes", {"agent": "anna", "object": "cat"})
    written = await stores.graph.upsert(write(9, [anchor("anna"), anchor("cat")], [cat]))
    assert written.anchors_created == 1
    assert (await one(stores, ANN)).mentions == 7
    assert ("agent", ANN) in await arms_of(stores, "f9")


async def test_only_a_running_consolidation_changes_the_graph(stores: Stores) -> None:
    await told(stores)
    c = await running(stores)
    (merge,) = await stores.graph.merge("ona", [joined(c, "anna", "ann")], consolidation=c, now=NOW)
    foreign = await running(stores, user="bo")
    ended = await running(stores, "c2", state=ConsolidationState.CANCELLED)
    before = await stores.graph.checksum()
    for consolidation in (ended, foreign, UUID(int=1)):
        with pytest.raises(ConsolidationEnded):
            await stores.graph.merge("ona", [joined(c, "bob", "ann")], consolidation=consolidation, now=NOW)
        with pytest.raises(ConsolidationEnded):
            await stores.graph.unmerge("ona", merge.id, consolidation=consolidation, now=NOW)
        with pytest.raises(ConsolidationEnded):
            await stores.graph.detach(
                "ona", ANN, write=anchor("annie"), record_ids=[], consolidation=consolidation, now=NOW
            )
    assert await stores.graph.checksum() == before


async def test_an_undo_leaves_no_trace(stores: Stores) -> None:
    await told(stores)
    before = await stores.graph.checksum()
    c = await running(stores)
    (merge,) = await stores.graph.merge("ona", [joined(c, "anna", "ann")], consolidation=c, now=NOW)
    undo = await running(stores, "c2")
    undone = await stores.graph.unmerge("ona", merge.id, consolidation=undo, now=NOW)
    assert (undone.merge.state, undone.merge.undone_by, undone.kept) == (MergeState.UNDONE, undo, 0)
    assert await stores.graph.checksum() == before
    assert await stores.graph.unmerge("ona", merge.id, consolidation=undo, now=NOW) == undone
    assert await stores.graph.checksum() == before
    third = await running(stores, "c3")
    with pytest.raises(MergeConflict, match="undone"):
        await stores.graph.unmerge("ona", merge.id, consolidation=third, now=NOW)
    with pytest.raises(NotFound):
        await stores.graph.unmerge("ona", UUID(int=7), consolidation=third, now=NOW)
    foreign = await running(stores, user="bo")
    with pytest.raises(NotFound):
        await stores.graph.unmerge("bo", merge.id, consolidation=foreign, now=NOW)
    again = await stores.graph.merge("ona", [joined(third, "anna", "ann")], consolidation=third, now=NOW)
    assert [each.state for each in again] == [MergeState.APPLIED]


async def test_what_was_written_since_stays(stores: Stores) -> None:
    """The absorbed anchor has what it had; the representative its own, and what was written under either name."""
    await told(stores)
    anna, ann = await one(stores, ANNA), await one(stores, ANN)
    c = await running(stores)
    (merge,) = await stores.graph.merge("ona", [joined(c, "anna", "ann")], consolidation=c, now=NOW)
    new = new_input("later", messages=[message("m9")])
    job = (await stores.jobs.accept(new, body_hash="h", now=NOW)).job
    await stores.jobs.save_chunks(job.id, [chunk(new)])
    since = [record(chunk(new), number, kind=MemoryKind.SEMANTIC) for number in range(3)]
    await stores.records.commit(since, [unit(each.text) for each in since])
    named = (anchor("anna", aliases=["annika"], score=9.0), anchor("ann"), anchor("bob"))
    for each, by in zip(since, named, strict=True):
        await stores.graph.upsert(write(0, [by]).model_copy(update={"record_id": each.id}))
    undone = await stores.graph.unmerge("ona", merge.id, consolidation=c, now=NOW)
    assert undone.kept == 2
    assert await one(stores, ANNA) == anna
    now = await one(stores, ANN)
    assert set(now.semantic_ids) == {*ann.semantic_ids, since[0].id, since[1].id}
    assert (now.aliases, now.mentions, now.score) == (("Annika",), ann.mentions + 2, 9.0)


async def test_a_chain_is_undone_from_its_end(stores: Stores) -> None:
    await told(stores)
    before = await stores.graph.checksum()
    c = await running(stores)
    first, second = joined(c, "anna", "ann"), joined(c, "ann", "bob")
    await stores.graph.merge("ona", [first, second], consolidation=c, now=NOW)
    merged = await stores.graph.checksum()
    with pytest.raises(MergeConflict, match=str(second.id)):
        await stores.graph.unmerge("ona", first.id, consolidation=c, now=NOW)
    assert await stores.graph.checksum() == merged
    for each in (second, first):
        await stores.graph.unmerge("ona", each.id, consolidation=c, now=NOW)
    assert await stores.graph.checksum() == before


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
async def test_merges_into_one_are_undone_in_any_order(stores: Stores, order: tuple[int, int, int]) -> None:
    """Three of one record and one frame, in one role: they all collide, and the score goes up and down."""
    names = ["one", "two", "three"]
    meet = frame("f1", "meets", {"place": "dog"})
    arms = (*meet.arms, *(meet.arms[0].model_copy(update={"role": "with", "key": name}) for name in names))
    scores = [3.0, 5.0, 4.0]
    every = [anchor(name, score=score) for name, score in zip(names, scores, strict=True)]
    together = write(1, [*every, anchor("dog")], [meet.model_copy(update={"arms": arms})])
    await stores.graph.upsert(together)
    await stores.graph.upsert(write(2, [anchor("hub")]))
    before = await stores.graph.checksum()
    c = await running(stores)
    joins = [joined(c, name, "hub") for name in names]
    await stores.graph.merge("ona", joins, consolidation=c, now=NOW)
    assert (await stores.graph.counts("ona")).arms == 2
    left = dict(zip(names, scores, strict=True))
    for place in order:
        await stores.graph.unmerge("ona", joins[place].id, consolidation=c, now=NOW)
        del left[names[place]]
        hub = await one(stores, anchor_id("ona", "hub"))
        assert hub.score == max([1.0, *left.values()])
        assert (cited(1) in hub.semantic_ids, hub.mentions) == (bool(left), 1 + len(left))
        assert (("with", hub.id) in await arms_of(stores, "f1")) == bool(left)
    assert await stores.graph.checksum() == before


async def test_an_alias_leaves_with_its_records(stores: Stores) -> None:
    await told(stores)
    annie = anchor("annie", score=1.5)
    alone = frame("f7", "sings", {"agent": "annie", "place": "dog"})
    shared = frame("f2", "owns", {"agent": "anna", "object": "dog"})
    await stores.graph.upsert(write(7, [anchor("anna"), anchor("dog")], [alone, shared]))
    c = await running(stores)
    anna = await one(stores, ANNA)
    leaving = [cited(7), cited(99)]
    detach = partial(stores.graph.detach, "ona", record_ids=leaving, consolidation=c, now=NOW)
    await detach(ANNA, write=annie)
    after = await stores.graph.checksum()
    split, rest = await one(stores, annie.id), await one(stores, ANNA)
    assert (split.name, split.key, split.aliases, split.mentions, split.score) == ("Annie", "annie", (), 1, 1.5)
    assert (split.semantic_ids, split.type) == ((cited(7),), anna.type)
    assert (rest.aliases, rest.mentions) == ((), anna.mentions - 1)
    assert set(rest.semantic_ids) == {*anna.semantic_ids} - {cited(7)}
    assert await arms_of(stores, "f7") == sorted([("agent", annie.id), ("place", DOG)])
    assert ("agent", ANNA) in await arms_of(stores, "f2")
    assert (await stores.graph.resolve("ona", ["annie"]))["annie"].id == annie.id
    assert (await stores.graph.nearest("ona", [unit("annie")], limit=1, floor=0.9))[0][0].anchor_id == annie.id
    await detach(ANNA, write=annie)
    await detach(BOB, write=anchor("robert"))
    assert await stores.graph.checksum() == after
    with pytest.raises(MergeConflict):
        await detach(ANNA, write=anchor("anna").model_copy(update={"id": UUID(int=5)}))


async def test_a_name_split_off_stays_off_when_its_merge_is_undone(stores: Stores) -> None:
    await told(stores)
    c = await running(stores)
    (merge,) = await stores.graph.merge("ona", [joined(c, "anna", "ann")], consolidation=c, now=NOW)
    await stores.graph.detach("ona", ANN, write=anchor("annie"), record_ids=[], consolidation=c, now=NOW)
    await stores.graph.unmerge("ona", merge.id, consolidation=c, now=NOW)
    owners = await stores.graph.resolve("ona", ["ann", "anna", "annie"])
    assert {key: owner.id for key, owner in owners.items()} == {
        "ann": ANN, "anna": ANNA, "annie": anchor_id("ona", "annie"),
    }  # fmt: skip
    assert [owner.aliases for owner in owners.values()] == [(), (), ()]


async def test_the_log_is_paged_by_consolidation_and_by_anchor(stores: Stores) -> None:
    await stores.graph.upsert(write(1, [anchor(f"k{number}") for number in range(6)]))
    await stores.graph.upsert(write(1, [anchor(f"k{number}", user="bo") for number in range(2)], user="bo"))
    c, d, foreign = await running(stores), await running(stores, "c2"), await running(stores, user="bo")
    made = [*await stores.graph.merge("ona", [joined(c, f"k{n}", "k0") for n in (1, 2)], consolidation=c, now=NOW)]
    made += await stores.graph.merge("ona", [joined(d, "k4", "k3"), joined(d, "k0", "k5")], consolidation=d, now=NOW)
    (other,) = await stores.graph.merge("bo", [joined(foreign, "k1", "k0", user="bo")], consolidation=foreign, now=NOW)
    made.sort(key=lambda merge: merge.id)
    k0 = anchor_id("ona", "k0")

    def those(fitting: object) -> tuple[Merge, ...]:
        return tuple(merge for merge in made if fitting(merge))  # type: ignore[operator]

    log = stores.graph.merges
    assert await log("ona") == tuple(made)
    assert await log("ona", limit=3) == tuple(made[:3])
    assert await log("ona", after=made[2].id) == tuple(made[3:])
    assert await log("ona", consolidation=c) == those(lambda merge: merge.consolidation_id == c)
    assert await log("ona", anchor=k0) == those(lambda merge: k0 in (merge.absorbed, merge.representative))
    both = those(lambda merge: merge.consolidation_id == d and k0 in (merge.absorbed, merge.representative))
    assert await log("ona", consolidation=d, anchor=k0) == both
    assert await log("bo") == (other,)
    assert await log("bo", consolidation=c) == await log("ona", anchor=anchor_id("bo", "k0")) == ()
    stolen = joined(c, "k1", "k0", user="bo")
    assert await stores.graph.merge("ona", [stolen], consolidation=c, now=NOW) == ()


@pytest.mark.parametrize("seed", range(6))
async def test_any_sequence_of_merges_and_undos_agrees_with_the_model(stores: Stores, seed: int) -> None:
    """The store in memory, whose laws tests/property proves, and this one show the same after every step."""
    model = in_memory()
    chance = random.Random(seed)
    keys = [f"k{number}" for number in range(6)]
    standing: list[UUID] = []
    undos = 0
    for each in (stores, model):
        c = await running(each)
    for step in range(40):
        act = chance.random()
        if act < 0.4 or step < 6:
            chosen = chance.sample(keys, 3)
            arms = {"a": chosen[0], "b": chosen[1], chance.choice("ab") + "x": chosen[2]}
            made = frame(f"f{step}", chance.choice(["likes", "sees"]), arms)
            doubled = (*made.arms, made.arms[0].model_copy(update={"role": "b"}))
            aliases = [f"n{chance.randrange(9)}"]
            several = [
                anchor(chosen[0], aliases=aliases, score=chance.choice([1.0, 2.0, 3.0])),
                *map(anchor, chosen[1:]),
            ]
            kind = chance.choice([MemoryKind.SEMANTIC, MemoryKind.EPISODIC])
            change = write(step, several, [made.model_copy(update={"arms": doubled})], kind=kind)
            assert await stores.graph.upsert(change) == await model.graph.upsert(change)
        elif act < 0.75 or not standing:
            join = joined(c, *chance.sample(keys, 2), again=str(step))
            merged = await model.graph.merge("ona", [join], consolidation=c, now=NOW)
            assert await stores.graph.merge("ona", [join], consolidation=c, now=NOW) == merged
            standing += [merge.id for merge in merged]
        else:
            merge = chance.choice(standing)
            try:
                undone = await model.graph.unmerge("ona", merge, consolidation=c, now=NOW)
            except MergeConflict:
                with pytest.raises(MergeConflict):
                    await stores.graph.unmerge("ona", merge, consolidation=c, now=NOW)
                continue
            assert await stores.graph.unmerge("ona", merge, consolidation=c, now=NOW) == undone
            standing.remove(merge)
            undos += 1
        assert await shown(stores) == await shown(model)
    assert undos > 2


async def shown(stores: Stores) -> object:
    """Everything a reader sees of the graph."""
    anchors = await stores.graph.anchor_page("ona", limit=99)
    listed = await stores.graph.anchors("ona", [each.id for each in anchors])
    frames = await stores.graph.incident_frames("ona", [each.id for each in anchors], per_anchor=99)
    arms = [
        (each.id, each.record_ids, sorted((arm.role, arm.anchor_id, arm.name) for arm in each.arms)) for each in frames
    ]
    keys = [*(f"k{number}" for number in range(6)), *(f"n{number}" for number in range(9))]
    owners = {key: owner.id for key, owner in (await stores.graph.resolve("ona", keys)).items()}
    return listed, arms, owners, await stores.graph.frontier("ona", limit=99)
