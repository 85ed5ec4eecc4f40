"""The key kappa(n) of an anchor name, and the content words of a text (paper A.2; design 3.1)."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from domain.plurals import singular
from domain.text import words

FUNCTION_WORDS = frozenset({"a", "an", "the", "of", "and", "for", "in", "on", "at", "to", "with"})
"""The eleven articles and function words that a key drops (paper A.2 gives the number, not the list)."""

STOP_WORDS = FUNCTION_WORDS | frozenset(
    words(
        """
    about after again all also am any are as be because been before being but by can could did do does doing
    done each else even ever every few from had has have having he her here hers him his how i if into is it its
    just like many may me might mine more most much must my no nor not now off once one only or other our ours
    out over own really s same shall she should so some such t than that their theirs them then there these they
    this those through too under until up us very was we were what when where which while who whom whose why
    will would yes you your yours
    """
    )
)
"""Words that say nothing about what a text is about: left out of lexical coverage."""

_MARKS_OF_TRADE = str.maketrans(dict.fromkeys("™®©℠\ufe0e\ufe0f"))
_VULGAR_FRACTION = re.compile("([\u00bc-\u00be\u2150-\u215e\u2189])")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,.])")
_JOINED_NUMBER = re.compile(r"(?<=\d)[/\u2010-\u2015-](?=\d)")
_NUMBER = "N[NM]*(?:JN[NM]*)*"
_TOKEN = re.compile(
    f"(?:{_NUMBER})?K(?:[KM]|{_NUMBER})*"  # a run of Han, Kana or Hangul with its numbers
    f"|(?:L|{_NUMBER})(?:[LM]|{_NUMBER})*(?:(?<=[LM])P+(?![LKNM]))?"  # a word, a number, a code; C++ and C#
    "|S[SM]*"  # emoji, currency signs
)
"""Words over character classes: Letter, K (Han, Kana, Hangul), Number, Mark, Symbol, J (joins digits), Plus or hash."""
_CJK_RANGES = (
    (0x1100, 0x11FF), (0x3005, 0x3007), (0x3041, 0x30FF), (0x3105, 0x318F), (0x31A0, 0x31BF), (0x31F0, 0x31FF),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA960, 0xA97F), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0x1AFF0, 0x1B16F),
    (0x20000, 0x3FFFF),
)  # fmt: skip
"""Han, Kana, Bopomofo and Hangul: no plural forms, and a space inside a name is a matter of taste."""


@lru_cache(maxsize=16_384)
def anchor_key(name: str) -> str:
    """kappa(name): names with one key denote one anchor.

    Case, punctuation, eleven function words, word order and plural endings are levelled; every number stays, decimals
    and dates as one word. A name of nothing but function words or punctuation keeps its casefolded self; only a name of
    white space and control characters has an empty key. `anchor_key(anchor_key(n)) == anchor_key(n)`.
    """
    words = list(_words(name))
    kept = [word for word in words if word not in FUNCTION_WORDS]
    if not words:
        return _bare(name)
    return " ".join(sorted(_one_cjk_word(singular(word) for word in kept or words)))


def content_tokens(text: str) -> tuple[str, ...]:
    """The words of a text in order, levelled as in a key, no stop words; Han, Kana and Hangul as character pairs."""
    return tuple(token for word in _words(text) if word not in STOP_WORDS for token in _pairs(singular(word)) if token)


def levelled(text: str) -> str:
    """Compatibility forms, case, invisible characters and the digits of every script levelled; words left in place."""
    visible = "".join(map(_visible, text.translate(_MARKS_OF_TRADE)))
    folded = unicodedata.normalize("NFKC", _VULGAR_FRACTION.sub(r" \1", visible))
    while (again := unicodedata.normalize("NFKC", folded.casefold())) != folded:
        folded = again
    return folded if folded.isascii() else "".join(map(_ascii_digit, folded))


@lru_cache(maxsize=16_384)
def is_cjk(character: str) -> bool:
    """Whether a character is of a script that writes without spaces between words and has no plural (or is Hangul)."""
    return any(first <= ord(character) <= last for first, last in _CJK_RANGES)


@lru_cache(maxsize=16_384)
def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cs":
        return "\ufffd"
    return "" if category == "Cf" else character


@lru_cache(maxsize=16_384)
def _ascii_digit(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _words(text: str) -> Iterator[str]:
    level = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), levelled(text))
    level = _JOINED_NUMBER.sub("-", level)
    for match in _TOKEN.finditer("".join(map(_class, level))):
        yield level[match.start() : match.end()]


@lru_cache(maxsize=16_384)
def _class(ch: str) -> str:
    """One letter for what a character does in a name; the alphabet of `_TOKEN`."""
    category = unicodedata.category(ch)
    if category[0] in "LNM":
        return "K" if category[0] != "M" and is_cjk(ch) else category[0]
    if category in ("So", "Sc") or 0x1F3FB <= ord(ch) <= 0x1F3FF:
        return "S"
    return {"+": "P", "#": "P"}.get(ch, "J" if ch in ".,:-\u2044" else " ")


def _one_cjk_word(words: Iterable[str]) -> list[str]:
    """Join the words of scripts without word spaces, so that a spacing variant has the same key."""
    parts = list(words)
    joined = "".join(word for word in parts if any(map(is_cjk, word)))
    return [word for word in parts if not any(map(is_cjk, word))] + ([joined] if joined else [])


def _pairs(word: str) -> tuple[str, ...]:
    if len(word) < 3 or not any(map(is_cjk, word)):
        return (word,)
    return tuple(word[i : i + 2] for i in range(len(word) - 1))


def _bare(name: str) -> str:
    printable = "".join(" " if unicodedata.category(ch)[0] == "C" else ch for ch in levelled(name))
    return " ".join(printable.split())
