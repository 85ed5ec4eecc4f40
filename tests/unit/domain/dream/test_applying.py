"""From verdicts to merges, and the order of undoing."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from domain.dream.applying import (
    alias_of,
    couples,
    guard,
    joins,
    leaves_with,
    merge_forbidden,
    same_pair,
    undo_order,
)
from domain.dream.guards import TOGETHER
from domain.dream.merging import Group, SamePair
from domain.dream.rounds import Pair, PairEnd, merge_id
from domain.errors import MergeConflict
from domain.graph import Merge, MergeState
from domain.keys import anchor_key
from domain.memory import Anchor, AnchorType

A, B, C, D = (UUID(int=number) for number in (1, 2, 3, 4))
ROUND = UUID(int=99)


def anchor(identity: UUID, name: str, *aliases: str, kind: AnchorType = AnchorType.OBJECT) -> Anchor:
    return Anchor(id=identity, user_id="u", name=name, key=anchor_key(name), type=kind, aliases=aliases)


def pair(a: UUID, b: UUID, *, canonical: UUID | None = None) -> Pair:
    names = {A: "Amber", B: "Amber Lamp", C: "Clay Pot", D: "Dune"}
    one, other = (PairEnd(anchor_id=end, name=names[end]) for end in (a, b))
    return Pair(
        id=UUID(int=7), key=f"{a}{b}", type=AnchorType.OBJECT, a=one, b=other, similarity=0.9, canonical=canonical
    )


def same(a: UUID, b: UUID) -> SamePair:
    return SamePair(key=f"{a}{b}", a=a, b=b, canonical=a, similarity=0.9)


def merge(absorbed: UUID, representative: UUID) -> Merge:
    return Merge(
        id=merge_id(ROUND, absorbed), consolidation_id=ROUND, absorbed=absorbed, absorbed_name="x",
        representative=representative, representative_name="y", type=AnchorType.OBJECT, state=MergeState.APPLIED,
        merged_at=datetime(2025, 5, 1, tzinfo=UTC),
    )  # fmt: skip


def test_the_ends_of_a_pair_are_who_owns_their_names_now() -> None:
    lamp = anchor(D, "Lamp", "Amber Lamp")
    owners = {"amber": anchor(A, "Amber"), "amber lamp": lamp}
    placed = same_pair(pair(A, B, canonical=B), owners)
    assert placed is not None
    assert (placed.a, placed.b, placed.canonical) == (A, D, D)
    assert same_pair(pair(A, B), {"amber": anchor(A, "Amber")}) is None


def test_the_guard_looks_at_every_two_that_a_chain_brings_together() -> None:
    assert couples([same(A, B), same(C, B)]) == ((A, B), (A, C), (B, C))
    assert couples([same(A, B), same(C, D)]) == ((A, B), (C, D))


def test_the_guard_reads_all_names_and_the_common_frames() -> None:
    anchors = {
        A: anchor(A, "Bay 14"),
        B: anchor(B, "the dock"),
        C: anchor(C, "the ramp"),
        D: anchor(D, "Bay", "Bay 15"),
    }
    forbidden = guard(anchors, {(B, C): (("The dock meets the ramp.",),)})
    assert forbidden(A, D) == forbidden(D, A) == "a number in one name only"
    assert forbidden(B, D) == "a number in one name only"
    assert forbidden(B, C) == forbidden(C, B) == TOGETHER
    assert guard(anchors, {(B, C): (("The dock (the ramp) is closed.",),)})(B, C) is None


def test_a_group_is_one_merge_for_each_that_goes() -> None:
    made = joins(ROUND, [Group(representative=A, absorbed=(B, C))])
    assert [(one.absorbed, one.representative, one.id) for one in made] == [
        (B, A, merge_id(ROUND, B)),
        (C, A, merge_id(ROUND, C)),
    ]


def test_the_merge_of_a_representative_is_undone_before_those_into_it() -> None:
    chain = [merge(A, B), merge(B, C), merge(D, B)]
    order = [one.absorbed for one in undo_order(chain)]
    assert order[0] == B
    assert set(order) == {A, B, D}


def test_by_hand_the_guard_and_the_type_hold_too() -> None:
    bay, dock = anchor(A, "Bay 14"), anchor(B, "Bay 15")
    assert merge_forbidden(bay, dock, ()) == "different numbers"
    assert merge_forbidden(bay, anchor(B, "the bay", kind=AnchorType.LOCATION), ()) == "different types"
    assert merge_forbidden(anchor(A, "old mill"), anchor(B, "the watermill"), ()) is None
    assert merge_forbidden(anchor(B, "old mill"), anchor(A, "the watermill"), [["It is one."]]) == TOGETHER


def test_only_an_alias_can_leave() -> None:
    ann = anchor(A, "Ann", "Annie")
    assert alias_of(ann, "annie") == "annie"
    with pytest.raises(MergeConflict, match="own name"):
        alias_of(ann, "ANN")
    with pytest.raises(MergeConflict, match="no such alias"):
        alias_of(ann, "Bob")


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("Annie sings.", True),
        ("Ann sings.", False),
        ("Annie, that is Ann, sings.", False),
        ("Somebody sings.", False),
        ("Grannie sings.", False),
    ],
)
def test_a_record_goes_with_the_name_it_uses(text: str, leaves: bool) -> None:
    assert leaves_with(text, "annie", anchor(A, "Ann", "Annie")) is leaves
