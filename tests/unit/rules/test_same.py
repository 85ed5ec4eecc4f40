"""The rules' verdict on two anchors: same only beyond doubt, whichever way round they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.memory import AnchorType
from domain.model_calls import AnchorView, SameRequest, Verdict
from infra.models.rules.same import same

WORDS = st.sampled_from(
    ["Room", "14", "15", "Acme", "Ltd", "left", "right", "knee", "Zoë", "Zoe", "co-working", "space"]
)
NAMES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


def asked(kind: str, a: str, b: str, *texts: str) -> SameRequest:
    """A question about two names with the texts as evidence of both."""
    return SameRequest(type=kind, a=AnchorView(name=a, evidence=texts), b=AnchorView(name=b, evidence=texts))


@given(st.sampled_from(AnchorType), NAMES, NAMES, NAMES)
def test_the_order_of_the_two_does_not_matter(kind: AnchorType, a: str, b: str, text: str) -> None:
    assert same(asked(kind.value, a, b, text)) == same(asked(kind.value, b, a, text))


@pytest.mark.parametrize(
    ("kind", "a", "b", "texts"),
    [
        ("organization", "Acme", "Acme Ltd.", ()),
        ("person", "Zoë Brandt", "Zoe Brandt", ()),
        ("location", "coworking space", "co-working space", ()),
        ("object", "20 gallon tank", "twenty gallon tank", ()),
        ("concept", "talking cure", "TC", ("The talking cure (TC) helps.",)),
    ],
)
def test_one_name_in_two_writings_is_one(kind: str, a: str, b: str, texts: tuple[str, ...]) -> None:
    answer = same(asked(kind, a, b, *texts))
    assert (answer.verdict, len(answer.canonical)) == (Verdict.SAME, max(len(a), len(b)))


@pytest.mark.parametrize(
    ("kind", "a", "b", "verdict"),
    [
        ("location", "Room 14", "Room 15", Verdict.DIFFERENT),
        ("object", "left glove", "right glove", Verdict.DIFFERENT),
        ("event", "planned launch", "launch", Verdict.DIFFERENT),
        ("person", "Sam", "Samantha", Verdict.UNSURE),
        ("person", "Lee", "Lee", Verdict.UNSURE),
        ("object", "bottle", "steel bottle", Verdict.UNSURE),
        ("object", "flute", "flutes", Verdict.UNSURE),
    ],
)
def test_anything_else_stays_two(kind: str, a: str, b: str, verdict: Verdict) -> None:
    assert same(asked(kind, a, b)).verdict is verdict
