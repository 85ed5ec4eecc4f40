"""Is an extracted entity one of the offered anchors? Same, different or unsure: only "same" is told (platform, 4).

Two names are the same thing where they are one writing of it: determiners, hyphens, number words, accents of proper
names, legal forms of organizations, one slip of the pen in a long word, or a short form that the record itself states.
"""

import re
import unicodedata
from collections.abc import Iterable

from rapidfuzz.distance import DamerauLevenshtein

from domain.dream.guards import alias_stated
from domain.identity import veto
from domain.keys import is_cjk, levelled
from domain.memory import AnchorType
from domain.model_calls import Candidate, CanonicalizeRequest, EntityQuestion, Rename
from domain.numerals import number_values, numerals
from infra.models.rules.lexicon import words

MIN_JOINED = 8
"""Letters from which "co-working" and "coworking" are one; shorter ones may be two words by chance."""
MIN_SLIP = 6
"""Letters of a word from which a letter left out is a slip and not another word."""
_DETERMINERS = frozenset({"a", "an", "the"})
_PROPER = frozenset({AnchorType.PERSON, AnchorType.ORGANIZATION, AnchorType.LOCATION})
_WORD = re.compile(r"[^\W_]+(?:[.’'][^\W_]+)*")
_STROKES = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i"})
_ASCII = dict.fromkeys(range(128))
_JOINED_FORM = re.compile("株式会社|有限会社|合同会社|有限公司")


def renames(request: CanonicalizeRequest) -> tuple[Rename, ...]:
    """The entities that safely denote exactly one offered anchor."""
    found = []
    for question in request.questions:
        same = [candidate for candidate in question.candidates if is_same(question, candidate, request.record.text)]
        if len(same) == 1 and same[0].name != question.entity.name:
            found.append(Rename(name=question.entity.name, candidate=same[0].name))
    return tuple(found)


def is_same(question: EntityQuestion, candidate: Candidate, text: str = "") -> bool:
    """Whether an entity is a candidate beyond doubt; `text` is that of the record it was extracted from."""
    entity = question.entity
    if veto(entity.name, candidate.name) is not None or _contradict(entity.type, candidate.type):
        return False
    if alias_stated(text, entity.name, candidate.name):
        return True
    pairs = (
        (mine, theirs) for mine in (entity.name, *entity.aliases) for theirs in (candidate.name, *candidate.aliases)
    )
    return any(_one_writing(mine, theirs, entity.type) for mine, theirs in pairs)


def _contradict(one: AnchorType, other: str) -> bool:
    """Two definite types that differ; `other` says nothing."""
    return AnchorType.OTHER.value not in {one.value, other} and one.value != other


def _one_writing(one: str, other: str, kind: AnchorType) -> bool:
    mine, theirs = _words(one, kind), _words(other, kind)
    if not mine or not theirs or _symbols(one) != _symbols(other):
        return False
    if sorted(mine) == sorted(theirs) or (_joined(mine) == _joined(theirs) and _is_long(_joined(mine))):
        return numerals(one) == numerals(other)
    return kind is not AnchorType.PERSON and (kind not in _PROPER or len(mine) > 1) and _slip(mine, theirs)


def _symbols(name: str) -> list[str]:
    return sorted(char for char in name if unicodedata.category(char) == "So")


def _is_long(joined: str) -> bool:
    rest = joined.translate(_ASCII)
    return len(joined) >= MIN_JOINED or (bool(rest) and all(map(is_cjk, rest)))


def _words(name: str, kind: AnchorType) -> tuple[str, ...]:
    """The words of a name as compared: without determiners and legal forms, numbers as digits, accents levelled."""
    text = levelled(name)
    if kind is AnchorType.ORGANIZATION:
        text = _JOINED_FORM.sub(" ", text)
    if kind in _PROPER:
        decomposed = unicodedata.normalize("NFD", text.translate(_STROKES))
        text = "".join(char for char in decomposed if not unicodedata.combining(char) or not _is_latin(text))
    found = [_as_digits(word) for word in _WORD.findall(text) if word not in _DETERMINERS]
    if kind is AnchorType.ORGANIZATION:
        found = [word for word in found if word not in words("legal forms")] or found
    return tuple(found)


def _is_latin(text: str) -> bool:
    return all(ord(char) < 0x250 for char in text if char.isalpha())


def _as_digits(word: str) -> str:
    values = number_values(word)
    return next(iter(values)) if len(values) == 1 and word.isalpha() else word


def _joined(found: Iterable[str]) -> str:
    return "".join(found)


def _slip(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """The same words but for a letter left out, doubled or swapped inside long ones; numbers never."""
    if len(mine) != len(theirs) or not any(len(word) >= MIN_SLIP for word in mine):
        return False
    return all(one == other or _slipped(one, other) for one, other in zip(mine, theirs, strict=True))


def _slipped(one: str, other: str) -> bool:
    if max(len(one), len(other)) < MIN_SLIP or one[0] != other[0] or one[-1] != other[-1]:
        return False
    if not (one.isalpha() and other.isalpha()) or one + "s" == other or other + "s" == one:
        return False
    swapped = len(one) == len(other) and sorted(one) == sorted(other)
    return DamerauLevenshtein.distance(one, other, score_cutoff=1) == 1 and (len(one) != len(other) or swapped)
