"""Laws of AutoDream's domain: candidates, guards and the merge algebra (paper Eq. 13, 2.5, A.5)."""

from random import Random
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from domain.dream.candidates import DREAM_SIMILARITY, SAFE_TYPES, formed, pair_cap, pair_key, select
from domain.dream.merging import Grouping, Holdings, SamePair, grouped, united
from domain.dream.rounds import Mode, Stage
from domain.graph import AnchorHit, Neighbourhood
from domain.keys import anchor_key
from domain.memory import Anchor, AnchorType

ROUND = UUID(int=9)
IDS = st.integers(1, 12).map(lambda number: UUID(int=number))
SIMILARITIES = st.floats(0.5, 1.0).map(lambda value: round(value, 2))
HOLDINGS = st.builds(
    Holdings,
    episodic_ids=st.frozensets(IDS),
    semantic_ids=st.frozensets(IDS),
    aliases=st.frozensets(st.sampled_from(["Ana", "Anna", "A. Costa"])),
    mentions=st.integers(0, 50),
    score=st.floats(0, 1),
)


@st.composite
def same_pairs(draw: st.DrawFn) -> SamePair:
    """Two different anchors told to be one."""
    a, b = sorted(draw(st.lists(IDS, min_size=2, max_size=2, unique=True)))
    return SamePair(
        key=f"{a.int}-{b.int}", a=a, b=b, canonical=draw(st.sampled_from([a, b])), similarity=draw(SIMILARITIES)
    )


PAIRS = st.lists(same_pairs(), max_size=15, unique_by=lambda pair: pair.key)
APART = st.frozensets(st.frozensets(IDS, min_size=2, max_size=2), max_size=8)


def join(pairs: list[SamePair], apart: frozenset[frozenset[UUID]]) -> Grouping:
    """The groups of pairs where some anchors may not be one."""
    weights = {UUID(int=number): number % 5 for number in range(1, 13)}
    return grouped(pairs, weights, forbidden=lambda a, b: "apart" if frozenset({a, b}) in apart else None)


@given(HOLDINGS, HOLDINGS, HOLDINGS)
def test_uniting_commutes_and_associates(a: Holdings, b: Holdings, c: Holdings) -> None:
    """Union, sum, maximum (paper 2.5): the order of repeated merges does not change what is reached."""
    assert united(a, b) == united(b, a)
    assert united(united(a, b), c) == united(a, united(b, c))
    assert united(a, Holdings()) == a


@given(PAIRS, APART, st.randoms(use_true_random=False))
def test_groups_do_not_depend_on_the_order(
    pairs: list[SamePair], apart: frozenset[frozenset[UUID]], order: Random
) -> None:
    """The same pairs in any order give the same groups, representatives and refusals."""
    shuffled = list(pairs)
    order.shuffle(shuffled)
    assert join(shuffled, apart) == join(pairs, apart)


@given(PAIRS, APART)
def test_no_group_holds_two_that_may_not_be_one(pairs: list[SamePair], apart: frozenset[frozenset[UUID]]) -> None:
    """Not even by a chain; and what was not refused is in one group."""
    made = join(pairs, apart)
    refused = {refusal.key for refusal in made.refused}
    home = {end: group.representative for group in made.groups for end in (group.representative, *group.absorbed)}
    for group in made.groups:
        members = {group.representative, *group.absorbed}
        assert len(members) == len(group.absorbed) + 1 >= 2
        assert not any(pair <= members for pair in apart)
    for pair in pairs:
        assert pair.key in refused or home[pair.a] == home[pair.b]
    assert sum(len(group.absorbed) + 1 for group in made.groups) == len(home)


def test_a_chain_ends_at_the_name_that_no_verdict_gives_up() -> None:
    """a -> b, b -> c: all become c."""
    a, b, c = (UUID(int=number) for number in (1, 2, 3))
    chain = [
        SamePair(key="ab", a=a, b=b, canonical=b, similarity=0.9),
        SamePair(key="bc", a=b, b=c, canonical=c, similarity=0.9),
    ]
    (group,) = grouped(chain, {a: 100}, forbidden=lambda _a, _b: None).groups
    assert (group.representative, group.absorbed) == (c, (a, b))


@given(st.text(max_size=8), st.text(max_size=8), st.sampled_from(AnchorType))
def test_the_key_of_a_pair_knows_no_order_and_no_case(a: str, b: str, kind: AnchorType) -> None:
    """H(sorted casefolded pair, type)."""
    assert pair_key(a, b, kind) == pair_key(b, a, kind) == pair_key(a.casefold(), b.casefold(), kind)
    assert len({pair_key(a, b, other) for other in AnchorType}) == len(AnchorType)


NAMES = ("Acme", "Acme Ltd", "Room 14", "Room 15", "steel bottle", "stainless bottle", "Ana", "Anna")


@st.composite
def neighbourhoods(draw: st.DrawFn) -> list[Neighbourhood]:
    """Anchors with some of the others as their nearest names."""
    types = draw(st.lists(st.sampled_from(AnchorType), min_size=len(NAMES), max_size=len(NAMES)))

    def hit(place: int) -> AnchorHit:
        return AnchorHit(anchor_id=UUID(int=place + 1), name=NAMES[place], type=types[place], score=draw(SIMILARITIES))

    return [
        Neighbourhood(
            anchor=Anchor(id=UUID(int=place + 1), user_id="u", name=name, key=anchor_key(name), type=types[place]),
            semantic=draw(st.booleans()),
            nearest=tuple(hit(other) for other in draw(st.lists(st.integers(0, len(NAMES) - 1), max_size=4))),
        )
        for place, name in enumerate(NAMES)
    ]


@given(neighbourhoods(), st.integers(0, 6), st.integers(0, 3), st.integers(0, 3))
def test_candidates_keep_to_the_rule_and_the_cap(
    places: list[Neighbourhood], cap: int, remembered: int, before: int
) -> None:
    """Eq. 13, the cap, the negative cache; a source whose pair had no room waits for a later round."""
    pairs = formed(places)
    semantic = {place.anchor.id for place in places if place.semantic}
    rejected = sorted(pairs)[:remembered]
    asked = sorted(pairs)[-before:] if before else []
    chosen = select(pairs, consolidation=ROUND, stage=Stage.MAIN, known=rejected, asked=asked, cap=cap)
    assert len(chosen.pairs) == min(cap, len(pairs) - len(rejected))
    assert chosen.cached == len(rejected)
    new = len(set(pairs) - {*rejected, *asked})
    assert sum(pair.key not in asked for pair in chosen.pairs) == min(cap, new)
    assert [pair.key for pair in chosen.pairs] == sorted(pair.key for pair in chosen.pairs)
    for pair in chosen.pairs:
        assert pair.key not in rejected
        assert pair.type in SAFE_TYPES
        assert pair.similarity >= DREAM_SIMILARITY
        assert pair.a.anchor_id < pair.b.anchor_id
        assert {pair.a.name, pair.b.name} != {"Room 14", "Room 15"}
        assert semantic & {pair.a.anchor_id, pair.b.anchor_id}
    told = {pair.key for pair in chosen.pairs} | {*rejected, *asked}
    assert chosen.unreached == len(set(pairs) - told)
    beyond = [(anchor.id, hit.anchor_id) for key, (anchor, hit) in pairs.items() if key not in told]
    assert set(chosen.waiting) == {anchor for ends in beyond for anchor in ends}


def test_the_caps_are_the_papers() -> None:
    """80 pairs in an intermediate round, 120 in the final one, 60 in its repair round (A.5)."""
    assert pair_cap(Mode.INTERMEDIATE, Stage.MAIN) == 80
    assert pair_cap(Mode.FINAL, Stage.MAIN) == 120
    assert pair_cap(Mode.FINAL, Stage.REPAIR) == 60
