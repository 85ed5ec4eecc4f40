"""Anchor entry: names looked up, terms of s_A, caps."""

import pytest

from domain.keys import anchor_key
from domain.memory import Anchor, AnchorType
from domain.retrieval.entry import (
    HUB_CEILING,
    K_A,
    MAX_EXACT,
    MAX_NAME_KEYS,
    AnchorCandidate,
    exact_anchors,
    exact_names,
    keep,
    score_anchor,
)
from domain.retrieval.words import stems
from tests.unit.retrieval.build import uid


def candidate(name: str, **fields: object) -> AnchorCandidate:
    """A candidate with cosine 0.5 unless said."""
    given = {"type": AnchorType.OBJECT, "cosine": 0.5, **fields}
    return AnchorCandidate.model_validate({"anchor_id": uid(name), "name": name, **given})


def score(name: str, question: str, *, relation: bool = True, **fields: object) -> float:
    """s_A of a candidate."""
    return score_anchor(candidate(name, **fields), frozenset(stems(question)), relation=relation).score


def anchor(name: str) -> Anchor:
    """A stored anchor."""
    return Anchor(id=uid(name), user_id="ana", name=name, key=anchor_key(name), type=AnchorType.OBJECT)


def test_every_run_of_words_can_be_a_name() -> None:
    names = exact_names("Who sat in the New York office with Ana's dog?")
    assert {anchor_key("New York"), anchor_key("New York office"), anchor_key("Ana"), anchor_key("dog")} <= names.keys()
    assert anchor_key("who") not in names


def test_names_keep_their_numbers() -> None:
    assert anchor_key("20 gallon") in exact_names("Which fish are in the 20 gallon tank?")


def test_the_longest_name_wins_over_its_parts() -> None:
    names = exact_names("When did she visit New York?")
    resolved = {anchor_key(name): anchor(name) for name in ("New York", "York")}
    assert [found.name for found, _ in exact_anchors(names, resolved).values()] == ["New York"]


def test_exact_anchors_are_capped() -> None:
    words = [f"thing{number}" for number in range(40)]
    names = exact_names(" ".join(words))
    resolved = {anchor_key(word): anchor(word) for word in words}
    assert len(exact_anchors(names, resolved)) == MAX_EXACT


def test_keys_of_a_long_question_are_capped() -> None:
    assert len(exact_names(" ".join(f"w{number}" for number in range(900)))) == MAX_NAME_KEYS


def test_the_vector_dominates() -> None:
    """All that breaks ties on one side does not outweigh a clearly better cosine."""
    assert score("boat", "Where is it?", cosine=0.9) > score("sea", "Where is the sea?", cosine=0.6)


def test_an_exact_name_helps_and_so_does_its_predicate() -> None:
    plain = score("boat", "Who repaired the boat?")
    named = score("boat", "Who repaired the boat?", exact=True)
    assert plain < named < score("boat", "Who repaired the boat?", exact=True, predicate=True)


def test_the_hub_penalty_grows_with_the_logarithm_of_the_degree_up_to_a_ceiling() -> None:
    by_degree = [score("boat", "the boat", exact=True, degree=degree) for degree in (0, 10, 100, HUB_CEILING)]
    assert by_degree == sorted(by_degree, reverse=True)
    assert by_degree[0] - by_degree[-1] < 0.3
    assert score("boat", "the boat", exact=True, degree=10**9) == by_degree[-1]


def test_a_person_hub_is_punished_more_unless_a_relation_question_names_it() -> None:
    person = AnchorType.PERSON
    named = score("Ana", "Who met Ana?", relation=True, type=person, exact=True, degree=500)
    assert score("Ana", "Ana", relation=False, type=person, exact=True, degree=500) < named
    assert named == score("Ana", "Who met Ana?", type=AnchorType.OBJECT, exact=True, degree=500)


def test_hub_and_predicate_act_on_exactly_named_anchors_alone() -> None:
    assert score("boat", "a boat", degree=500, predicate=True) == score("boat", "a boat")


@pytest.mark.parametrize("count", [0, 1, K_A, 100])
def test_the_best_fifteen_are_kept_ties_by_id(count: int) -> None:
    candidates = [candidate(f"thing {number}") for number in range(count)]
    kept = keep(candidates, "Who?", relation=True)
    assert len(kept) == min(count, K_A)
    assert kept == keep(reversed(candidates), "Who?", relation=True)
    assert [found.anchor_id for found in kept] == sorted(found.anchor_id for found in candidates)[:K_A]


def test_the_terms_add_up() -> None:
    office = candidate("New York office", exact=True, degree=7)
    found = score_anchor(office, frozenset(stems("New York")), relation=True)
    assert found.score == sum(found.terms.values())
