"""Fact scores: the cases each term is there for."""

from datetime import date

import pytest

from domain.memory import AnchorType, Frame, Literal, Status
from domain.retrieval.plan import Plan
from domain.retrieval.scoring import (
    FactContext,
    balanced,
    family_stems,
    rank,
    rarity,
    score_fact,
    shared_objects,
    with_object,
)
from domain.retrieval.words import stems
from tests.unit.retrieval.build import PEOPLE, arm, ask, day, frame, uid


def context_of(planned: Plan, frames: list[Frame], named: tuple[str, ...], **fields: object) -> FactContext:
    """The context as the lanes make it."""
    ids = frozenset(uid(name) for name in named)
    given = {
        "named": ids,
        "names": {name.casefold(): uid(name) for name in named if name in PEOPLE},
        "shared": shared_objects(frames, ids),
        "family": family_stems(planned),
        "rarity": rarity(planned.constraints, frames),
        **fields,
    }
    return FactContext.model_validate(given)


def order(question: str, frames: list[Frame], named: tuple[str, ...], **fields: object) -> list[Frame]:
    """The frames, best first."""
    planned = ask(question)
    context = context_of(planned, frames, named, **fields)
    scores = {found.id: score_fact(found, planned, context) for found in frames}
    return list(rank(frames, scores, planned, context))


def term(name: str, question: str, of: Frame, named: tuple[str, ...], **fields: object) -> float:
    """One weighted term of a frame."""
    planned = ask(question)
    return score_fact(of, planned, context_of(planned, [of], named, **fields)).terms[name]


def gave(giver: str, taker: str) -> Frame:
    """Somebody gave somebody a ring."""
    return frame("give", [arm("agent", giver), arm("recipient", taker), arm("object", "ring")])


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("Who gave Ana the ring?", gave("Ben", "Ana"), gave("Ana", "Ben")),
        ("Whom did Ana give the ring?", gave("Ana", "Ben"), gave("Ben", "Ana")),
        ("When was Ana given the ring?", gave("Ben", "Ana"), gave("Ana", "Ben")),
        ("From whom did Ana receive the ring?", gave("Ben", "Ana"), gave("Ana", "Ben")),
    ],
)
def test_who_gave_whom(question: str, right: Frame, wrong: Frame) -> None:
    """Two frames of the same words differ by their roles alone; the role term rewards one and punishes the other."""
    assert order(question, [wrong, right], ("Ana", "ring"))[0] == right
    assert term("role", question, right, ("Ana",)) > 0 > term("role", question, wrong, ("Ana",))


def test_a_question_without_direction_has_no_role_term() -> None:
    assert term("role", "What about Ana's ring?", gave("Ana", "Ben"), ("Ana",)) == 0


@pytest.mark.parametrize("status", [Status.PLANNED, Status.HYPOTHETICAL, Status.CANCELLED])
@pytest.mark.parametrize(
    "question", ["How many races did Ana run?", "Which races has Ana run?", "When did Ana run the race?"]
)
def test_what_is_not_done_ranks_below_in_counts_lists_and_times(question: str, status: Status) -> None:
    done = frame("run", [arm("agent", "Ana"), arm("object", "race")], of=["one"])
    not_done = frame("run", [arm("agent", "Ana"), arm("object", "race")], of=["two"], status=status)
    assert order(question, [not_done, done], ("Ana", "race")) == [done, not_done]


def test_planned_events_are_no_fault_where_plans_are_asked_or_one_value_is() -> None:
    planned = frame("run", [arm("agent", "Ana"), arm("object", "race")], status=Status.PLANNED)
    assert term("state", "When is Ana going to run the race?", planned, ("Ana",)) == 0
    assert term("state", "Where does Ana run the race?", planned, ("Ana",)) == 0


def test_the_time_of_the_source_record_counts_half() -> None:
    """A frame without a time competes by its record's at half weight; one with another time does not."""
    question = "What did Ana paint in May 2024?"
    arms = [arm("agent", "Ana"), arm("object", "boat")]
    own = frame("paint", arms, event_time=day(2024, 5, 3))
    undated = frame("paint", arms, of=["undated"])
    other = frame("paint", arms, of=["other"], event_time=day(2023, 5, 3))
    days = {uid("undated"): date(2024, 5, 9), uid("other"): date(2024, 5, 9)}
    states = [term("state", question, found, ("Ana",), record_days=days) for found in (own, undated, other)]
    assert states[1] == pytest.approx(states[0] / 2)
    assert states[2] == 0
    assert order(question, [other, undated, own], ("Ana",), record_days=days) == [own, undated, other]


def test_order_constraints_are_read_from_the_frames_own_time() -> None:
    question = "What did Ana paint after May 2024?"
    late = frame("paint", [arm("agent", "Ana"), arm("object", "boat")], event_time=day(2024, 6, 3))
    early = frame("paint", [arm("agent", "Ana"), arm("object", "boat")], event_time=day(2024, 4, 3))
    assert order(question, [early, late], ("Ana",)) == [late, early]


def test_an_intersection_puts_the_shared_group_first_whatever_the_wording() -> None:
    """Only pottery is liked by both; the frame of one side that fits the words better stays behind."""
    shared = [frame("try", [arm("agent", name), arm("object", "pottery")], of=[name]) for name in ("Ana", "Ben")]
    loud = frame("like", [arm("experiencer", "Ana"), arm("object", "chess")], of=["loud"], event_time=day(2024, 5, 31))
    found = order("What do Ana and Ben both like?", [loud, *shared], ("Ana", "Ben"), cosines={loud.id: 0.99})
    assert set(found[:2]) == set(shared)
    assert found[2] == loud


def test_an_intersection_keeps_both_sides() -> None:
    """Ten frames of one side do not crowd out the two of the other."""
    ana = [frame("like", [arm("experiencer", "Ana"), arm("object", "tea")], of=[f"a{n}"]) for n in range(10)]
    ben = [frame("like", [arm("experiencer", "Ben"), arm("object", "tea")], of=[f"b{n}"]) for n in range(2)]
    kept = balanced([*ana, *ben], frozenset({uid("Ana"), uid("Ben")}), limit=4)
    assert len(kept) == 4
    assert set(ben) <= set(kept)


def test_only_frames_with_the_concrete_object_are_kept() -> None:
    ten = frame("hold", [arm("container", "10 Gallons tank"), arm("object", "neon tetra")])
    twenty = frame("hold", [arm("container", "20 Gallons tank"), arm("object", "angelfish")])
    assert with_object([ten, twenty], [frozenset(stems("20 gallon tank"))]) == (twenty,)
    assert with_object([ten, twenty], []) == (ten, twenty)
    assert with_object([ten], [frozenset(stems("30 gallon tank"))]) == ()


def test_relation_by_word_by_family_by_vector() -> None:
    question = "What did Ana paint?"
    arms = [arm("agent", "Ana"), arm("object", "boat")]
    asked, family, other = (frame(verb, arms) for verb in ("paint", "draw", "restore"))
    values = [term("rel", question, found, ("Ana",), cosines={other.id: 0.65}) for found in (asked, family, other)]
    assert values == [pytest.approx(1.0), pytest.approx(0.6), pytest.approx(0.4)]
    assert term("rel", question, other, ("Ana",), cosines={other.id: 0.1}) == 0


def test_rare_words_of_the_question_weigh_more() -> None:
    common = [frame("see", [arm("agent", "Ana"), arm("object", f"red boat {n}")], of=[str(n)]) for n in range(5)]
    rare = frame("see", [arm("agent", "Ana"), arm("object", "old lighthouse")], of=["rare"])
    found = order("When did Ana see the red lighthouse?", [*common, rare], ("Ana",))
    assert found[0] == rare


def test_literals_count_as_words_and_as_numbers() -> None:
    bare = frame("run", [arm("agent", "Ana"), arm("location", "canal")], of=["bare"])
    distance = Literal(name="distance", value="5", unit="km")
    full = frame("run", [arm("agent", "Ana"), arm("location", "canal")], of=["full"], literals=[distance])
    assert order("How many km did Ana run?", [bare, full], ("Ana",)) == [full, bare]


def test_an_answer_type_is_met_by_an_arm_the_question_does_not_name() -> None:
    place = frame("live", [arm("agent", "Ana"), arm("location", "Porto", AnchorType.LOCATION)])
    assert term("type", "Where does Ana live?", place, ("Ana",)) > 0
    assert term("type", "Where does Ana live?", place, ("Ana", "Porto")) == 0


def test_the_terms_add_up() -> None:
    planned = ask("Who gave Ana the ring?")
    found = score_fact(gave("Ben", "Ana"), planned, context_of(planned, [], ("Ana",)))
    assert found.score == sum(found.terms.values())
