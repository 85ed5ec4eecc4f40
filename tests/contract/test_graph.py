"""The GraphStore port."""

import asyncio
from datetime import date
from functools import partial
from uuid import UUID

import pytest

from domain.errors import NotFound
from domain.graph import FrameWrite, GraphCounts, GraphWrite, GraphWritten
from domain.jobs import anchor_id
from domain.memory import Granularity, MemoryKind, Record, Status, TimeSpan
from tests.contract.conftest import Stores
from tests.contract.samples import NOW, anchor, chunk, cited, fid, frame, message, new_input, record, unit, write

DAY = TimeSpan(start=date(2025, 2, 3), end=date(2025, 2, 3), granularity=Granularity.DAY)
ANN, BOB, DOG = (anchor_id("ona", key) for key in ("ann", "bob", "dog"))


def pets(number: int = 1, *, user: str = "ona") -> GraphWrite:
    anchors = [anchor("ann", user=user, aliases=["annie"]), anchor("bob", user=user), anchor("dog", user=user)]
    made = [
        frame("f1", "likes", {"agent": "ann", "object": "dog"}),
        frame("f2", "owns", {"agent": "bob", "object": "dog"}),
    ]
    return write(number, anchors, made, user=user)


async def test_a_write_can_be_read_back(stores: Stores) -> None:
    written = await stores.graph.upsert(pets())
    assert written == GraphWritten(anchors_created=3, frames_created=2, citations_added=2)
    assert await stores.graph.counts("ona") == GraphCounts(anchors=3, frames=2, arms=4)
    (ann,) = await stores.graph.anchors("ona", [ANN])
    assert (ann.name, ann.key, ann.type, ann.aliases) == ("Ann", "ann", "person", ("Annie",))
    assert (ann.episodic_ids, ann.semantic_ids, ann.mentions) == ((), (cited(1),), 1)
    likes = await stores.graph.frame("ona", fid("f1"))
    assert (likes.predicate, likes.kind, likes.record_ids) == ("likes", MemoryKind.SEMANTIC, (cited(1),))
    assert {(arm.role, arm.anchor_id, arm.name) for arm in likes.arms} == {
        ("agent", ANN, "Ann"),
        ("object", DOG, "Dog"),
    }
    with pytest.raises(NotFound):
        await stores.graph.frame("ona", "none")


async def test_the_same_write_twice_changes_nothing(stores: Stores) -> None:
    await stores.graph.upsert(pets())
    before = await stores.graph.checksum()
    assert await stores.graph.upsert(pets()) == GraphWritten()
    assert await stores.graph.checksum() == before


async def test_keys_resolve_through_aliases(stores: Stores) -> None:
    await stores.graph.upsert(pets())
    found = await stores.graph.resolve("ona", ["annie", "dog", "nobody"])
    assert {key: each.id for key, each in found.items()} == {"annie": ANN, "dog": DOG}
    second = write(2, [anchor("annie", score=3.0), anchor("cat")], [frame("f3", "likes", {"a": "annie", "b": "cat"})])
    assert (await stores.graph.upsert(second)).anchors_created == 1
    (ann,) = await stores.graph.anchors("ona", [ANN])
    assert (ann.mentions, ann.score, ann.semantic_ids) == (2, 3.0, tuple(sorted([cited(1), cited(2)])))
    likes = await stores.graph.frame("ona", fid("f3"))
    assert ANN in {arm.anchor_id for arm in likes.arms}


async def test_an_alias_that_another_anchor_owns_stays_there(stores: Stores) -> None:
    await stores.graph.upsert(pets())
    await stores.graph.upsert(write(2, [anchor("bob", aliases=["annie", "robert"])]))
    found = await stores.graph.resolve("ona", ["annie", "robert"])
    assert (found["annie"].id, found["robert"].id) == (ANN, BOB)
    assert found["robert"].aliases == ("Robert",)


async def test_two_anchors_of_a_write_may_be_one(stores: Stores) -> None:
    await stores.graph.upsert(pets())
    both = write(2, [anchor("ann"), anchor("annie")], [frame("f9", "is", {"a": "ann", "b": "annie"})])
    assert await stores.graph.upsert(both) == GraphWritten()
    (ann,) = await stores.graph.anchors("ona", [ANN])
    assert ann.mentions == 2


async def test_a_frame_needs_two_anchors(stores: Stores) -> None:
    alone = [
        frame("f1", "is", {"a": "ann", "b": "ann"}),
        frame("f2", "likes", {"a": "ann", "b": "unheard of"}),
    ]
    written = await stores.graph.upsert(write(1, [anchor("ann")], alone))
    assert written == GraphWritten(anchors_created=1)
    assert (await stores.graph.counts("ona")).frames == 0


async def test_a_frame_of_the_same_id_gets_a_citation(stores: Stores) -> None:
    await stores.graph.upsert(pets(1))
    assert await stores.graph.upsert(pets(2)) == GraphWritten(citations_added=2)
    assert (await stores.graph.frame("ona", fid("f1"))).record_ids == tuple(sorted([cited(1), cited(2)]))


async def test_equal_arms_under_another_id_get_a_citation(stores: Stores) -> None:
    await stores.graph.upsert(pets(1))
    renamed = frame("other", "likes", {"object": "dog", "agent": "annie"})
    assert await stores.graph.upsert(write(2, [anchor("annie"), anchor("dog")], [renamed])) == GraphWritten(
        citations_added=1
    )
    assert len((await stores.graph.frame("ona", fid("f1"))).record_ids) == 2


@pytest.mark.parametrize(
    "differing",
    [
        frame("other", "loves", {"agent": "ann", "object": "dog"}),
        frame("other", "likes", {"object": "ann", "agent": "dog"}),
        frame("other", "likes", {"agent": "ann", "object": "dog", "place": "bob"}),
        frame("other", "likes", {"agent": "ann", "object": "dog"}, occurrence="2025-01-01"),
        frame("other", "likes", {"agent": "ann", "object": "dog"}, negated=True),
    ],
    ids=["predicate", "direction", "arms", "occurrence", "polarity"],
)
async def test_what_differs_is_another_frame(stores: Stores, differing: FrameWrite) -> None:
    await stores.graph.upsert(pets(1))
    keys = ("ann", "bob", "dog")
    written = await stores.graph.upsert(write(2, [anchor(key) for key in keys], [differing]))
    assert written == GraphWritten(frames_created=1, citations_added=1)


async def test_the_kind_tells_frames_apart(stores: Stores) -> None:
    await stores.graph.upsert(pets(1))
    like = frame("other", "likes", {"agent": "ann", "object": "dog"})
    await stores.graph.upsert(write(2, [anchor("ann"), anchor("dog")], [like], kind=MemoryKind.EPISODIC))
    assert (await stores.graph.counts("ona")).frames == 3
    (ann,) = await stores.graph.anchors("ona", [ANN])
    assert (ann.episodic_ids, ann.semantic_ids) == ((cited(2),), (cited(1),))


async def test_two_equal_frames_of_one_write_are_one(stores: Stores) -> None:
    twice = [
        frame("f1", "likes", {"agent": "ann", "object": "dog"}),
        frame("f2", "likes", {"agent": "annie", "object": "dog"}),
    ]
    anchors = [anchor("ann", aliases=["annie"]), anchor("dog")]
    written = await stores.graph.upsert(write(1, anchors, twice))
    assert written == GraphWritten(anchors_created=2, frames_created=1, citations_added=1)


async def test_what_was_said_first_stands_but_gaps_are_filled(stores: Stores) -> None:
    keys = {"agent": "ann", "place": "dog"}
    anchors = [anchor("ann"), anchor("dog")]
    planned = frame("f1", "visit", keys, status=Status.PLANNED)
    await stores.graph.upsert(write(1, anchors, [planned]))
    await stores.graph.upsert(write(2, anchors, [frame("f1", "visit", keys, status=Status.DONE, event_time=DAY)]))
    later = DAY.model_copy(update={"end": date(2025, 2, 9)})
    await stores.graph.upsert(write(3, anchors, [frame("f1", "visit", keys, status=Status.PLANNED, event_time=later)]))
    visit = await stores.graph.frame("ona", fid("f1"))
    assert (visit.status, visit.event_time, len(visit.record_ids)) == (Status.DONE, DAY, 3)


async def test_twenty_parallel_first_writes_of_a_user(stores: Stores) -> None:
    answers = await asyncio.gather(*(stores.graph.upsert(pets(number)) for number in range(20)))
    assert sum(answer.anchors_created for answer in answers) == 3
    assert sum(answer.frames_created for answer in answers) == 2
    assert sum(answer.citations_added for answer in answers) == 40
    assert await stores.graph.counts("ona") == GraphCounts(anchors=3, frames=2, arms=4)
    (ann,) = await stores.graph.anchors("ona", [ANN])
    assert ann.mentions == 20


async def test_users_are_apart_in_every_method(stores: Stores) -> None:
    await stores.graph.upsert(pets(1))
    empty = await stores.graph.checksum("bo")
    before = await stores.graph.checksum("ona")
    likes, records = fid("f1"), [cited(1)]
    assert await stores.graph.resolve("bo", ["ann", "annie"]) == {}
    assert await stores.graph.nearest("bo", [unit("ann")], limit=4, floor=-1.0) == [()]
    assert await stores.graph.anchors("bo", [ANN]) == ()
    assert await stores.graph.anchor_page("bo") == ()
    assert await stores.graph.frames_of_records("bo", records, limit=9) == ()
    assert await stores.graph.incident_frames("bo", [ANN], per_anchor=9) == ()
    assert await stores.graph.frames_page("bo", ANN) == ()
    assert await stores.graph.adjacent_frames("bo", [ANN], predicates=["likes"], cap=9) == ()
    assert await stores.graph.adjacent_frames("bo", [ANN], predicates=[], cap=9) == ()
    assert await stores.graph.degrees("bo", [ANN], ceiling=9) == {}
    assert await stores.graph.frame_similarities("bo", [likes], unit("f1")) == {}
    assert await stores.graph.counts("bo") == GraphCounts(anchors=0, frames=0, arms=0)
    with pytest.raises(NotFound):
        await stores.graph.frame("bo", likes)
    assert (await stores.graph.upsert(pets(1, user="bo"))).anchors_created == 3
    assert await stores.graph.checksum("ona") == before
    assert await stores.graph.checksum("bo") != empty


async def test_nearest_names_first(stores: Stores) -> None:
    await stores.graph.upsert(pets())
    found, none, every = await stores.graph.nearest("ona", [unit("bob"), unit("zzz")], limit=4, floor=0.9) + (
        await stores.graph.nearest("ona", [unit("ann")], limit=2, floor=-1.0)
    )
    assert [(hit.anchor_id, hit.name) for hit in found] == [(BOB, "Bob")]
    assert found[0].score == pytest.approx(1.0, abs=1e-6)
    assert none == ()
    assert every[0].anchor_id == ANN
    assert len(every) == 2
    assert every[0].score >= every[1].score
    assert every[0].aliases == ("Annie",)
    assert await stores.graph.nearest("ona", [], limit=2, floor=0.0) == []


async def test_records_of_an_anchor_in_vector_order(stores: Stores) -> None:
    """Ranked, capped and filtered for each anchor by itself; ids without a vector of the user's fall out."""
    kinds = (MemoryKind.SEMANTIC, MemoryKind.EPISODIC)
    mine = await told(stores, "ona", 9)
    (foreign,) = await told(stores, "bo", 1)
    for number, each in enumerate((*mine, foreign)):
        anchors = [anchor("hub"), *([anchor("leaf")] if number < 2 else [])]
        await stores.graph.upsert(write(0, anchors, kind=each.kind).model_copy(update={"record_id": each.id}))
    await stores.graph.upsert(write(0, [anchor("hub"), anchor("bare")]))
    hub, leaf, bare = (anchor_id("ona", key) for key in ("hub", "leaf", "bare"))
    asked = unit("text number 4")
    cosines = await stores.records.similarities("ona", [each.id for each in mine], asked)
    best = sorted(cosines, key=lambda record: (-cosines[record], record))

    near = partial(stores.graph.nearest_records, ranked=99)
    found = await near("ona", [leaf, hub, bare, hub], asked, kinds=kinds, per_anchor=4)
    assert list(found) == [leaf, hub]
    assert list(found[hub]) == best[:4]
    assert set(found[leaf]) == {mine[0].id, mine[1].id}
    assert found[hub] == {record: cosines[record] for record in best[:4]}
    semantic = {each.id for each in mine if each.kind is MemoryKind.SEMANTIC}
    only = await near("ona", [hub], asked, kinds=[MemoryKind.SEMANTIC], per_anchor=9)
    assert list(only[hub]) == [record for record in best if record in semantic]
    rest = await near("ona", [hub], asked, kinds=kinds, per_anchor=9, without=best[:2])
    assert list(rest[hub]) == best[2:]
    drawn = await near("ona", [hub], asked, kinds=kinds, per_anchor=9, ranked=5, without=best[:2])
    lots = sorted([*best[2:], cited(0), foreign.id])[:5]
    assert list(drawn[hub]) == [record for record in best if record in lots]
    assert await near("ona", [hub], asked, kinds=(), per_anchor=9) == {}
    assert await near("ona", [], asked, kinds=kinds, per_anchor=9) == {}
    assert await near("bo", [hub], asked, kinds=kinds, per_anchor=9) == {}


async def told(stores: Stores, user: str, count: int) -> list[Record]:
    """Records of a user, every other one semantic, with the vectors of their texts."""
    new = new_input("told", user=user, messages=[message(f"{user} m1")])
    job = (await stores.jobs.accept(new, body_hash="h", now=NOW)).job
    await stores.jobs.save_chunks(job.id, [chunk(new)])
    kinds = (MemoryKind.EPISODIC, MemoryKind.SEMANTIC)
    made = [record(chunk(new), number, kind=kinds[number % 2]) for number in range(count)]
    await stores.records.commit(made, [unit(each.text) for each in made])
    return made


async def test_anchors_are_paged_in_id_order(stores: Stores) -> None:
    await stores.graph.upsert(write(1, [anchor(f"k{number}") for number in range(7)]))
    pages: list[list[UUID]] = []
    after = None
    while page := await stores.graph.anchor_page("ona", after=after, limit=3):
        pages.append([each.id for each in page])
        after = page[-1].id
    assert [len(page) for page in pages] == [3, 3, 1]
    listed = [identity for page in pages for identity in page]
    assert listed == sorted(listed)
    asked = [listed[3], listed[0]]
    assert [each.id for each in await stores.graph.anchors("ona", asked)] == asked


async def crowd(stores: Stores) -> list[str]:
    """A hub in twelve frames of two predicates, one record each; returns the frame ids in order."""
    for number in range(12):
        predicate = "likes" if number % 2 else "meets"
        made = frame(f"{11 - number:02d}", predicate, {"agent": "hub", "object": f"k{number}"})
        await stores.graph.upsert(write(number, [anchor("hub"), anchor(f"k{number}")], [made]))
    return [fid(f"{number:02d}") for number in range(12)]


async def test_frames_come_in_frame_id_order_and_filtered_before_the_cap(stores: Stores) -> None:
    ids = await crowd(stores)
    hub = anchor_id("ona", "hub")
    adjacent = stores.graph.adjacent_frames
    assert [f.id for f in await adjacent("ona", [hub], predicates=[], cap=5)] == ids[:5]
    likes = await adjacent("ona", [hub], predicates=["likes"], cap=4)
    assert [f.id for f in likes] == ids[0:8:2]
    assert {f.predicate for f in likes} == {"likes"}
    both = await adjacent("ona", [hub, anchor_id("ona", "k1")], predicates=["meets", "likes", "likes"], cap=240)
    assert [f.id for f in both] == ids
    assert await adjacent("ona", [hub], predicates=["hates"], cap=4) == ()
    assert await adjacent("ona", [], predicates=["likes"], cap=4) == ()


async def test_incident_frames_are_capped_for_each_anchor(stores: Stores) -> None:
    ids = await crowd(stores)
    hub, leaf = anchor_id("ona", "hub"), anchor_id("ona", "k0")
    found = await stores.graph.incident_frames("ona", [hub, leaf], per_anchor=2)
    assert [f.id for f in found] == [ids[0], ids[1], ids[11]]
    assert await stores.graph.degrees("ona", [hub, leaf], ceiling=9) == {hub: 9, leaf: 1}


async def test_the_frames_of_an_anchor_are_paged(stores: Stores) -> None:
    """Each once and in id order, also one that is written before the cursor's place while pages are read."""
    ids = await crowd(stores)
    hub = anchor_id("ona", "hub")
    first = await stores.graph.frames_page("ona", hub, limit=5)
    await stores.graph.upsert(
        write(50, [anchor("hub"), anchor("late")], [frame("late", "likes", {"a": "hub", "b": "late"})])
    )
    seen = list(first)
    while page := await stores.graph.frames_page("ona", hub, after=seen[-1].id, limit=5):
        seen += page
    listed = [f.id for f in seen]
    assert [f.id for f in first] == ids[:5]
    assert listed == sorted(set(listed))
    assert set(ids) <= set(listed) <= {*ids, fid("late")}
    assert await stores.graph.frames_page("ona", anchor_id("ona", "nobody")) == ()


async def test_frames_of_records(stores: Stores) -> None:
    ids = await crowd(stores)
    found = await stores.graph.frames_of_records("ona", [cited(0), cited(3), cited(99)], limit=9)
    assert [f.id for f in found] == [ids[8], ids[11]]
    assert len(await stores.graph.frames_of_records("ona", [cited(n) for n in range(9)], limit=4)) == 4


async def test_frame_similarities(stores: Stores) -> None:
    await stores.graph.upsert(pets())
    ids = [fid("f1"), fid("f2"), "none"]
    found = await stores.graph.frame_similarities("ona", ids, unit("f2"))
    assert set(found) == set(ids[:2])
    assert found[ids[1]] == pytest.approx(1.0, abs=1e-6)


async def test_names_of_any_script_and_quoting(stores: Stores) -> None:
    names = ["김하나", "شركة نور", "🌱", 'a"b', "it's", "back\\slash", "tab\tline\nend", "\u2028", "{}[]:", "null", "1"]
    user = "o\"na\\ 'é"
    pairs = [frame(f"f{n}", f'p"{name}', {f"r'{n}": name, "b": names[0]}) for n, name in enumerate(names[1:])]
    await stores.graph.upsert(write(1, [anchor(name, user=user) for name in names], pairs, user=user))
    found = await stores.graph.resolve(user, names)
    assert {key: each.key for key, each in found.items()} == {name: name for name in names}
    stored = await stores.graph.adjacent_frames(user, [found['a"b'].id], predicates=['p"a"b'], cap=9)
    assert [(f.predicate, f.user_id) for f in stored] == [('p"a"b', user)]
    assert (await stores.graph.counts(user)).frames == len(pairs)


async def test_what_is_too_long_for_a_name_is_left_out(stores: Stores) -> None:
    endless = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(3_000))
    anchors = [anchor("ann", aliases=[endless]), anchor("dog"), anchor(endless + "x")]
    frames = [
        frame("f1", "likes", {"agent": "ann", "object": "dog"}),
        frame("f2", endless, {"agent": "ann", "object": "dog"}),
        frame("f3", "likes", {"agent": "ann", endless: "dog"}),
        frame("f4", "likes", {"agent": "ann", "object": endless + "x"}),
    ]
    written = await stores.graph.upsert(write(1, anchors, frames))
    assert written == GraphWritten(anchors_created=2, frames_created=1, citations_added=1)
    assert await stores.graph.resolve("ona", [endless]) == {}


async def test_a_large_write(stores: Stores) -> None:
    keys = [f"k{number}" for number in range(200)]
    frames = [frame(f"f{n}", "next", {"a": keys[n], "b": keys[n + 1]}) for n in range(199)]
    written = await stores.graph.upsert(write(1, [anchor(key) for key in keys], frames))
    assert written == GraphWritten(anchors_created=200, frames_created=199, citations_added=199)


async def test_the_checksum_is_the_users_own(stores: Stores) -> None:
    await stores.graph.upsert(pets(1))
    mine, every = await stores.graph.checksum("ona"), await stores.graph.checksum()
    await stores.graph.upsert(pets(1, user="bo"))
    assert await stores.graph.checksum("ona") == mine
    assert await stores.graph.checksum() != every
