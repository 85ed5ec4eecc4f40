"""The guards that stand after the verdict (design 5)."""

import pytest

from domain.dream.guards import (
    INVENTED,
    TOGETHER,
    alias_stated,
    frames_forbid,
    judged,
    names_forbid,
    without_participants,
)
from domain.memory import Arm, Entity, Extraction, FrameDraft
from domain.model_calls import (
    AnchorView,
    Candidate,
    CanonicalizeRequest,
    EntityQuestion,
    Rename,
    SameAnswer,
    SameRequest,
    Verdict,
)
from tests.integration.openai.samples import RECORD

REQUEST = SameRequest(type="person", a=AnchorView(name="Bob"), b=AnchorView(name="Robert"))


def test_a_name_that_is_neither_of_the_two_is_no_verdict() -> None:
    told = judged(REQUEST, SameAnswer(verdict=Verdict.SAME, canonical="Rob"))
    assert (told.verdict, told.reason) == (Verdict.UNSURE, INVENTED)


@pytest.mark.parametrize(
    "answer",
    [
        SameAnswer(verdict=Verdict.SAME, canonical="Robert"),
        SameAnswer(verdict=Verdict.DIFFERENT, reason="two persons"),
        SameAnswer(verdict=Verdict.UNSURE),
    ],
)
def test_any_other_answer_counts_as_it_is(answer: SameAnswer) -> None:
    assert judged(REQUEST, answer) == answer


def test_every_name_of_both_is_looked_at() -> None:
    assert names_forbid(["the cabin", "Cabin 4"], ["cabin", "Cabin 5"]) is not None
    assert names_forbid(["Acme"], ["Acme Ltd", "ACME"]) is None


def test_participants_of_one_fact_are_two_unless_it_says_otherwise() -> None:
    lent, stated = ("Bob lent Robert a tent.",), ("They met in May.", "Robert (aka Bob) joined the crew.")
    assert frames_forbid(["Bob"], ["Robert"], [lent]) == TOGETHER
    assert frames_forbid(["Bob"], ["Robert"], [stated]) is None
    assert frames_forbid(["Bob"], ["Robert"], [stated, lent]) == TOGETHER
    assert frames_forbid(["Bob"], ["Robert"], [()]) == TOGETHER
    assert frames_forbid(["Bob"], ["Robert"], []) is None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Bob lent Robert a tent.", 0),
        ("Robert, also known as Bob, was lent a tent.", 1),
    ],
)
def test_canonicalization_keeps_participants_of_one_frame_apart(text: str, left: int) -> None:
    record = RECORD.model_copy(update={"text": text})
    question = EntityQuestion(
        entity=Entity(name="Bob"), candidates=(Candidate(name="Robert", type="person", score=0.8),)
    )
    request = CanonicalizeRequest(record=record, questions=(question,))
    renames = (Rename(name="Bob", candidate="Robert"),)
    frame = FrameDraft(predicate="lend", arms=(Arm(role="agent", name="Bob"), Arm(role="recipient", name="robert")))
    assert len(without_participants(renames, request, Extraction(frames=(frame,)))) == left
    assert without_participants(renames, request, Extraction()) == renames


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("cognitive therapy (CT) helps", True),
        ("CT (cognitive therapy) helps", True),
        ("cognitive therapy, also known as CT, helps", True),
        ("cognitive therapy, or CT for short", True),
        ("CT, which most people call cognitive therapy, helps", True),
        ("CT, who often calls cognitive therapy, helps", False),
        ("CT called cognitive therapy", False),
        ("CT and cognitive therapy", False),
        ("cognitive therapy (with CT scans)", False),
        ("cognitive therapy. (CTX)", False),
    ],
)
def test_an_alias_is_stated_in_so_many_words(text: str, stated: bool) -> None:
    assert alias_stated(text, "cognitive therapy", "CT") is stated
    assert alias_stated(text, "CT", "cognitive therapy") is stated
