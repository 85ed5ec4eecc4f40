"""Laws of the merge log: whatever was merged and in whatever order it is taken back, nothing is lost (design 3.4).

Run over the store in memory; tests/contract shows that Postgres agrees with it after every step.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any
from uuid import UUID

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from domain.dream.merging import Holdings, united
from domain.errors import MergeConflict
from domain.graph import GraphWrite, Joined, Merge, MergeState
from domain.jobs import anchor_id
from domain.memory import Anchor, MemoryKind
from tests.contract.conftest import Stores, in_memory
from tests.contract.consolidating import joined, running
from tests.contract.samples import NOW, anchor, frame, write

KEYS = tuple(f"k{number}" for number in range(6))
ALIASES = tuple(f"n{number}" for number in range(6))
SCORES = st.sampled_from([1.0, 2.0, 3.0])
ENDS = st.lists(st.sampled_from(KEYS), min_size=2, max_size=2, unique=True)
CHAIN = ("k0", "k1", "k2")


@st.composite
def writes(draw: st.DrawFn, *, first: int = 0, size: int = 8) -> list[GraphWrite]:
    """Records that mention some of a few anchors, in frames with several arms of one role."""
    made = []
    for number in range(first, first + draw(st.integers(1, size))):
        keys = draw(st.lists(st.sampled_from(KEYS), min_size=2, max_size=4, unique=True))
        arms = {f"r{place}": key for place, key in enumerate(keys)}
        said = frame(f"f{number}", draw(st.sampled_from(["likes", "sees"])), arms)
        doubled = tuple(arm.model_copy(update={"role": "r0"}) for arm in said.arms)
        aliases = draw(st.lists(st.sampled_from(ALIASES), max_size=1))
        anchors = [anchor(keys[0], aliases=aliases, score=draw(SCORES)), *map(anchor, keys[1:])]
        kind = draw(st.sampled_from([MemoryKind.SEMANTIC, MemoryKind.EPISODIC]))
        made.append(write(number, anchors, [said.model_copy(update={"arms": (*said.arms, *doubled)})], kind=kind))
    return made


MERGES = st.lists(ENDS, min_size=1, max_size=5)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


async def filled(told: Sequence[GraphWrite]) -> tuple[Stores, UUID]:
    stores = in_memory()
    for each in told:
        await stores.graph.upsert(each)
    return stores, await running(stores)


async def apply(stores: Stores, consolidation: UUID, merges: Sequence[Sequence[str]]) -> list[Merge]:
    made: list[Merge] = []
    for number, (absorbed, representative) in enumerate(merges):
        join = joined(consolidation, absorbed, representative, again=str(number))
        made += await stores.graph.merge("ona", [join], consolidation=consolidation, now=NOW)
    return made


async def take_back(
    stores: Stores, consolidation: UUID, merges: Sequence[Merge], chosen: st.DataObject, told: Sequence[GraphWrite]
) -> None:
    """All of them, in an order that hypothesis chooses; one that has to wait for another is refused until then. After
    each the graph is as if only those that are left had been made."""
    left = list(merges)
    while left:
        allowed = []
        for merge in left:
            blocked = any(other.absorbed == merge.representative for other in left[left.index(merge) + 1 :])
            if blocked:
                before = await stores.graph.checksum()
                with pytest.raises(MergeConflict):
                    await stores.graph.unmerge("ona", merge.id, consolidation=consolidation, now=NOW)
                assert await stores.graph.checksum() == before
            else:
                allowed.append(merge)
        merge = chosen.draw(st.sampled_from(allowed))
        await stores.graph.unmerge("ona", merge.id, consolidation=consolidation, now=NOW)
        left.remove(merge)
        assert await stores.graph.checksum() == await replayed(told, left)


async def replayed(told: Sequence[GraphWrite], merges: Sequence[Merge]) -> str:
    """Checksum of a graph of its own with these merges alone."""
    stores, c = await filled(told)
    joins = [Joined(id=each.id, absorbed=each.absorbed, representative=each.representative) for each in merges]
    assert len(await stores.graph.merge("ona", joins, consolidation=c, now=NOW)) == len(merges)
    return await stores.graph.checksum()


def holdings(of: Anchor) -> Holdings:
    return Holdings(
        episodic_ids=frozenset(of.episodic_ids),
        semantic_ids=frozenset(of.semantic_ids),
        aliases=frozenset({of.name, *of.aliases}),
        mentions=of.mentions,
        score=of.score,
    )


async def anchors(stores: Stores) -> dict[UUID, Anchor]:
    return {each.id: each for each in await stores.graph.anchor_page("ona", limit=99)}


@settings(deadline=None)
@given(writes(), ENDS)
def test_a_merge_is_the_union_of_the_algebra(told: list[GraphWrite], ends: list[str]) -> None:
    """What the store makes of two anchors is `united` of them, and every other anchor is as it was."""

    async def test() -> None:
        stores, c = await filled(told)
        before = await anchors(stores)
        absorbed, representative = (anchor_id("ona", key) for key in ends)
        made = await apply(stores, c, [ends])
        after = await anchors(stores)
        if not made:
            assert after == before
            assert not {absorbed, representative} <= before.keys()
            return
        assert holdings(after.pop(representative)) == united(
            holdings(before.pop(representative)), holdings(before.pop(absorbed))
        )
        assert after == before

    run(test())


@settings(deadline=None)
@given(writes(), MERGES, st.data())
def test_undoing_merges_in_any_order_leaves_no_trace_of_them(
    told: list[GraphWrite], merges: list[list[str]], chosen: st.DataObject
) -> None:
    async def test() -> None:
        stores, c = await filled(told)
        before = await stores.graph.checksum()
        made = await apply(stores, c, merges)
        assert all(merge.state is MergeState.APPLIED for merge in made)
        await take_back(stores, c, made, chosen, told)
        assert await stores.graph.checksum() == before
        assert all(merge.state is MergeState.UNDONE for merge in await stores.graph.merges("ona"))

    run(test())


@settings(deadline=None)
@given(writes(), MERGES, st.data())
def test_merges_made_again_after_some_undos_are_undone_as_well(
    told: list[GraphWrite], merges: list[list[str]], chosen: st.DataObject
) -> None:
    async def test() -> None:
        stores, c = await filled(told)
        before = await stores.graph.checksum()
        made = await apply(stores, c, merges)
        ends = {merge.representative for merge in made} - {merge.absorbed for merge in made}
        assume(made)
        back = chosen.draw(st.sampled_from([merge for merge in made if merge.representative in ends]))
        await stores.graph.unmerge("ona", back.id, consolidation=c, now=NOW)
        d = await running(stores, "c2")
        by_id = {anchor_id("ona", key): key for key in KEYS}
        again = joined(d, by_id[back.absorbed], by_id[back.representative])
        last = await stores.graph.merge("ona", [again], consolidation=d, now=NOW)
        await take_back(stores, d, [*(merge for merge in made if merge.id != back.id), *last], chosen, told)
        assert await stores.graph.checksum() == before

    run(test())


@settings(deadline=None)
@given(writes(), writes(first=50, size=4), ENDS)
def test_what_was_written_since_stays_and_the_absorbed_has_what_it_had(
    told: list[GraphWrite], since: list[GraphWrite], ends: list[str]
) -> None:
    """The same as if what was written under the absorbed name had been written under the representative's."""

    async def test() -> None:
        stores, c = await filled(told)
        before = await anchors(stores)
        made = await apply(stores, c, [ends])
        assume(made)
        for each in since:
            await stores.graph.upsert(each)
        await stores.graph.unmerge("ona", made[0].id, consolidation=c, now=NOW)
        after = await anchors(stores)
        absorbed, representative = (anchor_id("ona", key) for key in ends)
        assert after[absorbed] == before[absorbed]
        own, was = after[representative], before[representative]
        mention = {each.record_id for each in since if {*ends} & {anchor.key for anchor in each.anchors}}
        assert {*own.episodic_ids, *own.semantic_ids} == {*was.episodic_ids, *was.semantic_ids, *mention}
        assert own.mentions == was.mentions + len(mention)
        assert own.aliases[: len(was.aliases)] == was.aliases
        written = {each.record_id for each in since}
        for stored in await stores.graph.frames_of_records("ona", tuple(written), limit=99):
            if {*stored.record_ids} <= written:
                assert absorbed not in {arm.anchor_id for arm in stored.arms}

    run(test())


@settings(deadline=None)
@given(writes(), st.permutations(CHAIN))
def test_a_chain_is_undone_from_its_end(told: list[GraphWrite], keys: list[str]) -> None:
    """a -> b, then b -> c: the first has to wait for the second, and the refusal names it."""

    async def test() -> None:
        stores, c = await filled([*told, write(99, [anchor(key) for key in CHAIN])])
        before = await stores.graph.checksum()
        first, second = await apply(stores, c, [keys[:2], keys[1:]])
        with pytest.raises(MergeConflict, match=str(second.id)):
            await stores.graph.unmerge("ona", first.id, consolidation=c, now=NOW)
        for merge in (second, first):
            await stores.graph.unmerge("ona", merge.id, consolidation=c, now=NOW)
        assert await stores.graph.checksum() == before

    run(test())
