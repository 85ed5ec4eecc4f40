"""What no verdict may merge (paper 2.5, A.5; design 5): the one guard of canonicalization, and what the graph shows."""

import re
from collections.abc import Iterable, Iterator, Sequence

from domain.identity import veto
from domain.keys import anchor_key
from domain.memory import Extraction
from domain.model_calls import CanonicalizeRequest, Rename, SameAnswer, SameRequest, Verdict

INVENTED = "the canonical name is neither of the two"
TOGETHER = "both take part in one fact"

_STATED = (
    r"(?<!\w){a}(?!\w)\s*(?:"
    r"\(\s*(?:aka\s+|a\.k\.a\.\s+|or\s+)?{b}\s*\)"
    r"|,?\s+(?:also\s+|better\s+)?(?:known|called|referred\s+to)\s+as\s+{b}(?!\w)"
    r"|,?\s+(?:aka|a\.k\.a\.)\s+{b}(?!\w)"
    r"|,?\s+(?:which|whom)\s+(?:\w+\s+){{1,3}}(?:call|name|nickname)(?:s|ed)?\s+{b}(?!\w)"
    r"|,\s+or\s+{b}\s+for\s+short"
    r")"
)


def judged(request: SameRequest, answer: SameAnswer) -> SameAnswer:
    """The answer as far as it counts: `same` with a name that is neither of the two is unsure (paper 2.5)."""
    if answer.verdict is not Verdict.SAME:
        return answer
    if answer.canonical not in (request.a.name, request.b.name):
        return SameAnswer(verdict=Verdict.UNSURE, reason=INVENTED)
    return answer


def names_forbid(one: Iterable[str], other: Sequence[str]) -> str | None:
    """Why two anchors may not be one, from all names that each has; None if nothing in them forbids it."""
    return next((reason for a in one for b in other if (reason := veto(a, b)) is not None), None)


def frames_forbid(one: Sequence[str], other: Sequence[str], shared: Iterable[Sequence[str]]) -> str | None:
    """Why two anchors that take part in one frame may not be one: a frame has distinct participants, unless a record it
    cites states that the one name is another for the other (design 5).

    `shared` holds, for each frame in which both take part, the texts of records that it cites. A predicate alone states
    nothing: who calls whom may do so by telephone.
    """
    apart = any(not _state_alias(texts, one, other) for texts in shared)
    return TOGETHER if apart else None


def without_participants(
    renames: Iterable[Rename], request: CanonicalizeRequest, extraction: Extraction
) -> tuple[Rename, ...]:
    """The renames of canonicalization that the record's own frames allow: not of one participant of a frame to another
    one, unless the record states the alias."""
    names = {
        candidate.name: (candidate.name, *candidate.aliases)
        for question in request.questions
        for candidate in question.candidates
    }
    kept = []
    for rename in renames:
        shared = _shared(extraction, rename.name, names[rename.candidate])
        if frames_forbid((rename.name,), names[rename.candidate], [(request.record.text,)] * shared) is None:
            kept.append(rename)
    return tuple(kept)


def _shared(extraction: Extraction, name: str, names: Iterable[str]) -> int:
    """In how many frames of a record both take part."""
    one, other = anchor_key(name), {anchor_key(each) for each in names}
    participants = ({anchor_key(arm.name) for arm in frame.arms} for frame in extraction.frames)
    return sum(one in keys and not other.isdisjoint(keys - {one}) for keys in participants)


def alias_stated(text: str, a: str, b: str) -> bool:
    """Whether a text says that two names are one: "the Duke (Alan)", "Alan, also known as the Duke"."""
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in _patterns(a, b))


def _state_alias(texts: Iterable[str], one: Sequence[str], other: Sequence[str]) -> bool:
    return any(alias_stated(text, a, b) for text in texts for a in one for b in other)


def _patterns(a: str, b: str) -> Iterator[str]:
    if a.strip() and b.strip():
        for first, second in ((a, b), (b, a)):
            yield _STATED.format(a=re.escape(first), b=re.escape(second))
