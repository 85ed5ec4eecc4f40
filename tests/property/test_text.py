"""Laws of storable text (cases 19)."""

from hypothesis import given

from domain.text import has_words, storable
from tests.strategies import wild_text


@given(wild_text)
def test_storable_text_encodes_and_stays(text: str) -> None:
    clean, changed = storable(text)
    clean.encode("utf-8")
    assert "\x00" not in clean
    assert changed == (clean != text)
    assert storable(clean) == (clean, False)


@given(wild_text)
def test_words_are_letters(text: str) -> None:
    assert has_words(text + "я")
    assert not has_words("".join(ch for ch in text if not ch.isalpha()))
