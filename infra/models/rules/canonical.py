"""Is an extracted entity one of the offered anchors? Same, different or unsure: only "same" is told (platform, 4)."""

from rapidfuzz.distance import DamerauLevenshtein

from domain.identity import veto
from domain.keys import anchor_key
from domain.memory import AnchorType
from domain.model_calls import Candidate, CanonicalizeRequest, EntityQuestion, Rename

MIN_LETTERS = 8
"""Shorter names that differ by a letter are too often two things ("Marta", "Maria")."""


def renames(request: CanonicalizeRequest) -> tuple[Rename, ...]:
    """The entities that safely denote an offered anchor."""
    found = []
    for question in request.questions:
        same = [candidate for candidate in question.candidates if is_same(question, candidate)]
        if len(same) == 1 and same[0].name != question.entity.name:
            found.append(Rename(name=question.entity.name, candidate=same[0].name))
    return tuple(found)


def is_same(question: EntityQuestion, candidate: Candidate) -> bool:
    """Equal keys, or a spelling variant of one long name of the same type."""
    entity = question.entity
    if veto(entity.name, candidate.name) is not None:
        return False
    mine = {anchor_key(name) for name in (entity.name, *entity.aliases)}
    theirs = {anchor_key(name) for name in (candidate.name, *candidate.aliases)}
    if mine & theirs:
        return True
    if entity.type.value != candidate.type or entity.type is AnchorType.PERSON:
        return False
    return spelling_variant(anchor_key(entity.name), anchor_key(candidate.name))


def spelling_variant(one: str, other: str) -> bool:
    """One letter apart in a long name, the first letter and all digits equal."""
    if min(len(one), len(other)) < MIN_LETTERS or one[:1] != other[:1] or any(char.isdigit() for char in one + other):
        return False
    return DamerauLevenshtein.distance(one, other, score_cutoff=1) <= 1 and one.split()[0][:3] == other.split()[0][:3]
