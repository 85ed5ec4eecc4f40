"""Storable text by example (case 19)."""

import pytest

from domain.text import has_words, storable, words


@pytest.mark.parametrize(
    ("text", "clean"),
    [("a\x00b", "ab"), ("a\x1bb\x07", "ab"), ("a\t\r\nb", "a\t\r\nb"), ("a\ud800b", "a\ufffdb"), ("é 🌱", "é 🌱")],
)
def test_storable(text: str, clean: str) -> None:
    assert storable(text) == (clean, clean != text)


def test_has_words() -> None:
    assert has_words("🌱 я")
    assert not has_words("🌱 12 --")


def test_words_of_a_table() -> None:
    assert words(" a\n b ") == ("a", "b")
