"""Tokens, stems and content words."""

import pytest

from domain.retrieval.words import content, stem, tokens


@pytest.mark.parametrize(
    "forms",
    [
        "give gives giving gave given",
        "run runs running ran",
        "paint paints painting painted",
        "carry carries carried carrying",
        "stop stops stopped stopping",
        "watch watches watched watching",
        "book books booked",
        "bake bakes baked baking",
    ],
)
def test_inflections_have_one_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(("one", "other"), [("10", "20"), ("bus", "bush"), ("glass", "glad"), ("mai", "maid")])
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_tokens_of_names_predicates_and_scripts() -> None:
    assert tokens("Ana's X-100, don't") == ("ana", "x", "100", "dont")
    assert tokens("take_part_in") == ("take", "part", "in")
    assert tokens("Ольга ΩMEGA") == ("ольга", "ωmega")
    assert tokens("東京都") == ("東京", "京都")


def test_content_leaves_out_what_only_shapes_a_question() -> None:
    assert content("How many times did she really like the blue canal?") == ("like", "blue", "canal")
