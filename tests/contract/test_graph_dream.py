"""The GraphStore port: what a Dream round reads, and the frontier it starts from."""

from uuid import UUID

from domain.jobs import anchor_id
from domain.memory import MemoryKind
from tests.contract.conftest import Stores
from tests.contract.consolidating import joined, running
from tests.contract.samples import NOW, anchor, cited, frame, unit, write

EPISODIC = MemoryKind.EPISODIC


def ids(*keys: str, user: str = "ona") -> tuple[UUID, ...]:
    return tuple(anchor_id(user, key) for key in keys)


async def test_semantic_news_join_the_frontier_and_keep_their_place(stores: Stores) -> None:
    upsert, frontier = stores.graph.upsert, stores.graph.frontier
    await upsert(write(1, [anchor("ann")]))
    await upsert(write(2, [anchor("bob")], kind=EPISODIC))
    await upsert(write(3, [anchor("dog")]))
    await upsert(write(4, [anchor("ann"), anchor("cat")]))
    assert await frontier("ona", limit=9) == ids("ann", "dog", "cat")
    assert await frontier("ona", limit=2) == ids("ann", "dog")
    await stores.graph.leave_frontier("ona", ids("ann", "dog", "bob"))
    assert await frontier("ona", limit=9) == ids("cat")
    await upsert(write(1, [anchor("ann")]))  # again: no news
    assert await frontier("ona", limit=9) == ids("cat")
    await upsert(write(5, [anchor("dog")]))
    assert await frontier("ona", limit=9) == ids("cat", "dog")
    await stores.graph.leave_frontier("bo", ids("cat"))
    assert await frontier("ona", limit=9) == ids("cat", "dog")
    assert await frontier("bo", limit=9) == ()


async def test_anchors_that_exist_wait_again_behind_all_others(stores: Stores) -> None:
    for number, key in enumerate(("ann", "bob", "cat")):
        await stores.graph.upsert(write(number, [anchor(key)]))
    await stores.graph.leave_frontier("ona", ids("ann"))
    await stores.graph.rejoin_frontier("ona", ids("ann", "bob", "gone"))
    await stores.graph.rejoin_frontier("bo", ids("ann"))
    assert await stores.graph.frontier("ona", limit=9) == ids("bob", "cat", "ann")
    assert await stores.graph.frontier("bo", limit=9) == ()


async def test_a_merge_hands_on_the_place_on_the_frontier(stores: Stores) -> None:
    for number, key in enumerate(("ann", "bob", "cat", "dog")):
        await stores.graph.upsert(write(number, [anchor(key)]))
    await stores.graph.leave_frontier("ona", ids("cat"))
    c = await running(stores)
    joins = [joined(c, "ann", "cat"), joined(c, "bob", "dog")]
    await stores.graph.merge("ona", joins, consolidation=c, now=NOW)
    assert await stores.graph.frontier("ona", limit=9) == ids("cat", "dog")
    await stores.graph.unmerge("ona", joins[0].id, consolidation=c, now=NOW)
    assert await stores.graph.frontier("ona", limit=9) == ids("cat", "dog")


async def test_users_with_news_are_paged(stores: Stores) -> None:
    for user in ("eva", "ann", "dan", "bob", "cat"):
        for number in range(3):
            await stores.graph.upsert(write(number, [anchor(f"k{number}", user=user)], user=user))
    await stores.graph.upsert(write(1, [anchor("k", user="quiet")], user="quiet", kind=EPISODIC))
    await stores.graph.leave_frontier("cat", ids("k0", "k1", "k2", user="cat"))
    users = stores.graph.users_with_frontier
    assert await users(limit=9) == ("ann", "bob", "dan", "eva")
    assert await users(limit=2) == ("ann", "bob")
    assert await users(after="bob", limit=1) == ("dan",)
    assert await users(after="c", limit=9) == ("dan", "eva")
    assert await users(after="eva", limit=9) == ()


async def test_what_records_mention(stores: Stores) -> None:
    await stores.graph.upsert(write(1, [anchor("ann"), anchor("bob")]))
    await stores.graph.upsert(write(2, [anchor("bob"), anchor("cat")], kind=EPISODIC))
    await stores.graph.upsert(write(3, [anchor("dog")]))
    mentioned = stores.graph.mentioned
    every = tuple(sorted(ids("ann", "bob", "cat")))
    assert await mentioned("ona", [cited(1), cited(2), cited(99)], limit=9) == every
    assert await mentioned("ona", [cited(1), cited(2)], limit=2) == every[:2]
    assert await mentioned("ona", [], limit=9) == await mentioned("bo", [cited(1)], limit=9) == ()


async def test_a_neighbourhood_has_the_nearest_names_with_semantic_mentions(stores: Stores) -> None:
    """The nearest are counted first, the anchor itself among them; then those that don't fit fall out."""
    near = {"one": [1.0, 0.0], "two": [0.8, 0.6], "three": [0.6, 0.8], "four": [0.0, 1.0]}
    made = {key: anchor(key, aliases=[f"the {key}"]) for key in near}
    made = {key: each.model_copy(update={"vector": [*near[key], *[0.0] * 14]}) for key, each in made.items()}
    await stores.graph.upsert(write(1, [made["one"], made["three"], made["four"]]))
    await stores.graph.upsert(write(2, [made["two"], made["one"]], kind=EPISODIC))
    one, two, three, four = ids("one", "two", "three", "four")

    async def nearest(*asked: UUID, limit: int = 9, floor: float = -1.0) -> list[list[UUID]]:
        places = await stores.graph.neighbourhoods("ona", asked, limit=limit, floor=floor)
        return [[hit.anchor_id for hit in place.nearest] for place in places]

    assert await nearest(one, two) == [[three, four], [three, one, four]]
    assert await nearest(one, limit=3) == [[three]]
    assert await nearest(one, limit=2) == [[]]
    assert await nearest(one, floor=0.7) == [[]]
    assert await nearest(four, UUID(int=1), three) == [[three, one], [four, one]]
    assert await stores.graph.neighbourhoods("bo", [one], limit=9, floor=-1.0) == ()
    assert await stores.graph.neighbourhoods("ona", [], limit=9, floor=-1.0) == ()
    first, second = await stores.graph.neighbourhoods("ona", [one, two], limit=9, floor=0.5)
    assert (first.semantic, second.semantic) == (True, False)
    assert (first.anchor.name, first.anchor.aliases, first.anchor.mentions) == ("One", ("The One",), 2)
    assert (first.anchor.semantic_ids, first.anchor.episodic_ids) == ((), ())
    (hit,) = first.nearest
    assert (hit.name, hit.aliases, round(hit.score, 6)) == ("Three", ("The Three",), 0.6)


async def test_equally_near_names_come_by_id(stores: Stores) -> None:
    made = [anchor(f"k{number}").model_copy(update={"vector": unit("same")}) for number in range(6)]
    await stores.graph.upsert(write(1, made))
    every = sorted(each.id for each in made)
    (last,) = await stores.graph.neighbourhoods("ona", [every[5]], limit=3, floor=0.5)
    (first,) = await stores.graph.neighbourhoods("ona", [every[0]], limit=3, floor=0.5)
    assert [hit.anchor_id for hit in last.nearest] == every[:3]
    assert [hit.anchor_id for hit in first.nearest] == every[1:3]


async def test_an_index_of_names_is_for_many_names(stores: Stores) -> None:
    await stores.graph.upsert(write(1, [anchor("ann")]))
    assert not await stores.graph.index_names("ona")
    assert not await stores.graph.index_names("nobody")


async def test_rows_of_pairs_that_name_both_come_first_then_semantic_ones(stores: Stores) -> None:
    for number in range(4):
        await stores.graph.upsert(write(number, [anchor("ann")], kind=EPISODIC))
        await stores.graph.upsert(write(10 + number, [anchor("ann")]))
    await stores.graph.upsert(write(20, [anchor("ann"), anchor("bob")], kind=EPISODIC))
    await stores.graph.upsert(write(21, [anchor("bob")]))
    await stores.graph.upsert(write(22, [anchor("cat")], kind=EPISODIC))
    ann, bob, cat = ids("ann", "bob", "cat")
    episodic = sorted(map(cited, range(4)))
    semantic = sorted(map(cited, range(10, 14)))
    rows = stores.graph.rows_of_pairs
    (one, other), (third, fourth) = await rows("ona", [(ann, bob), (cat, ann)], limit=6)
    assert one == (cited(20), *semantic, episodic[0])
    assert other == (cited(20), cited(21))
    assert third == (cited(22),)
    assert fourth == (*semantic, *sorted([*episodic, cited(20)])[:2])
    assert await rows("ona", [(UUID(int=1), bob)], limit=1) == (((), (cited(21),)),)
    assert await rows("bo", [(ann, bob)], limit=1) == (((), ()),)
    assert await rows("ona", [], limit=1) == ()


async def test_of_a_hub_the_first_rows_are_considered(stores: Stores) -> None:
    every = sorted(map(cited, range(310)))
    kinds = [EPISODIC] * 305 + [MemoryKind.SEMANTIC] * 5
    for identity, kind in zip(every, kinds, strict=True):
        await stores.graph.upsert(write(0, [anchor("hub")], kind=kind).model_copy(update={"record_id": identity}))
    await stores.graph.upsert(write(0, [anchor("leaf")]).model_copy(update={"record_id": every[309]}))
    hub, leaf = ids("hub", "leaf")
    (hubs, leafs), *_ = await stores.graph.rows_of_pairs("ona", [(hub, leaf)], limit=3)
    assert hubs == tuple(every[:3])
    assert leafs == (every[309],)


async def test_frames_in_which_both_take_part(stores: Stores) -> None:
    people = [anchor(key) for key in ("ann", "bob", "cat")]
    for number in range(4):
        meets = frame(f"f{number}", f"meets {number}", {"a": "ann", "b": "bob"})
        await stores.graph.upsert(write(number, people[:2], [meets]))
    again = frame("f1", "meets 1", {"a": "ann", "b": "bob"})
    alone = frame("f9", "meets", {"a": "ann", "b": "cat"})
    await stores.graph.upsert(write(9, people, [again, alone]))
    ann, bob, cat = ids("ann", "bob", "cat")
    shared = stores.graph.shared_frames
    both = tuple(sorted([cited(1), cited(9)]))
    found = await shared("ona", [(ann, bob), (bob, cat), (bob, ann), (cat, ann)], limit=3)
    assert found == (((cited(0),), both, (cited(2),)), (), ((cited(0),), both, (cited(2),)), ((cited(9),),))
    assert await shared("ona", [(ann, UUID(int=1))], limit=3) == ((),)
    assert await shared("bo", [(ann, bob)], limit=3) == ((),)
    assert await shared("ona", [], limit=3) == ()
