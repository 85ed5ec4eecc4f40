"""The deterministic guard on identity: what no model may merge (design 3.2, 5; paper A.2, A.5)."""

import re
import unicodedata
from collections.abc import Callable, Iterable

from domain.contrasts import (
    CALLED_OFF,
    CONTRASTING_CHARACTERS,
    CONTRASTS,
    DATE_WORDS,
    DONE,
    MONTHS,
    PLANNED,
    REVERSALS,
    WEEKDAYS,
)
from domain.keys import anchor_key, levelled
from domain.model_calls import CanonicalizeAnswer, CanonicalizeRequest, Rename
from domain.numerals import Numerals, numerals

_WORD = re.compile(r"[^\W\d_]+")
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)


def _sides_by_word() -> dict[str, tuple[tuple[int, int], ...]]:
    """A word to the (contrast, side) places it has; few words have more than one."""
    places: dict[str, tuple[tuple[int, int], ...]] = {}
    for contrast, sides in enumerate(CONTRASTS):
        for side, words in enumerate(sides):
            places |= {word: (*places.get(word, ()), (contrast, side)) for word in words}
    return places


_SIDES = _sides_by_word()


def veto(a: str, b: str) -> str | None:
    """Why two names must never be merged, or None if nothing in them forbids it. Symmetric.

    Reasons are fixed words and hold no part of the names.
    """
    if anchor_key(a) == anchor_key(b):
        return None
    first, second = numerals(a), numerals(b)
    words_a, words_b = _words(a), _words(b)
    return (
        _numeric_veto(first, second)
        or _date_veto(words_a, words_b)
        or _contrast_veto(words_a, words_b)
        or _plan_veto(words_a, words_b)
        or _character_veto(a, b)
    )


def accepted(answer: CanonicalizeAnswer, request: CanonicalizeRequest) -> tuple[Rename, ...]:
    """The renames that may be applied: of an entity of the request, to a candidate offered for it, not vetoed.

    At most one an entity, the first; in the order of the answer. All others are dropped.
    """
    offered = {
        question.entity.name: frozenset(candidate.name for candidate in question.candidates)
        for question in request.questions
    }
    chosen: dict[str, Rename] = {}
    for rename in answer.renames:
        if rename.candidate in offered.get(rename.name, ()) and veto(rename.name, rename.candidate) is None:
            chosen.setdefault(rename.name, rename)
    return tuple(chosen.values())


def _words(name: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(levelled(_POSSESSIVE.sub("", name))))


def _numeric_veto(a: Numerals, b: Numerals) -> str | None:
    if a.numbers != b.numbers:
        return "different numbers" if a.numbers and b.numbers else "a number in one name only"
    if a.codes != b.codes:
        return "different codes"
    if _differ(a.units, b.units):
        return "different units"
    return "different currencies" if _differ(a.currencies, b.currencies) else None


def _date_veto(a: Iterable[str], b: Iterable[str]) -> str | None:
    for calendar, reason in ((MONTHS, "different months"), (WEEKDAYS, "different days")):
        if _differ(_mapped(a, calendar.get), _mapped(b, calendar.get)):
            return reason
    only = DATE_WORDS.intersection(a) ^ DATE_WORDS.intersection(b)
    dates_a, dates_b = (bool(_mapped(words, MONTHS.get) or _mapped(words, WEEKDAYS.get)) for words in (a, b))
    return "a date in one name only" if only and dates_a != dates_b else None


def _contrast_veto(a: Iterable[str], b: Iterable[str]) -> str | None:
    sides_a, sides_b = _sides(a), _sides(b)
    if any(sides_a[contrast].isdisjoint(sides_b[contrast]) for contrast in sides_a.keys() & sides_b.keys()):
        return "opposites"
    if REVERSALS.intersection(a) != REVERSALS.intersection(b):
        return "a negation in one name only"
    last_a, last_b = _designator(a), _designator(b)
    return "different letters" if last_a and last_b and last_a != last_b else None


def _plan_veto(a: Iterable[str], b: Iterable[str]) -> str | None:
    if PLANNED.isdisjoint(a) != PLANNED.isdisjoint(b):
        return "planned and not planned"
    if CALLED_OFF.isdisjoint(a) != CALLED_OFF.isdisjoint(b):
        return "called off and not called off"
    done_a, done_b = DONE.intersection(a), DONE.intersection(b)
    return "different outcomes" if done_a and done_b and done_a.isdisjoint(done_b) else None


def _character_veto(a: str, b: str) -> str | None:
    symbols_a, symbols_b = _symbols(a), _symbols(b)
    if symbols_a and symbols_b and symbols_a.isdisjoint(symbols_b):
        return "different symbols"
    for pair in CONTRASTING_CHARACTERS:
        one, other = pair[0], pair[1]
        if (one in a and a.replace(one, other) == b) or (other in a and a.replace(other, one) == b):
            return "opposites"
    return None


def _sides(words: Iterable[str]) -> dict[int, set[int]]:
    """The sides a name takes, by contrast."""
    taken: dict[int, set[int]] = {}
    for word in words:
        for contrast, side in _SIDES.get(word, ()):
            taken.setdefault(contrast, set()).add(side)
    return taken


def _mapped(words: Iterable[str], value: Callable[[str], int | None]) -> frozenset[int]:
    return frozenset(found for word in words if (found := value(word)) is not None)


def _differ(a: Iterable[object], b: Iterable[object]) -> bool:
    first, second = frozenset(a), frozenset(b)
    return bool(first and second and first != second)


def _designator(words: Iterable[str]) -> str:
    """The single Latin letter that a name of several words ends with: `Vitamin B`, `Model S`."""
    parts = tuple(words)
    return parts[-1] if len(parts) > 1 and len(parts[-1]) == 1 and parts[-1].isascii() else ""


def _symbols(name: str) -> frozenset[str]:
    return frozenset(ch for ch in name if unicodedata.category(ch) == "So")
