"""What no verdict may merge (paper 2.5, A.5; design 5): the one guard of canonicalization, and what the graph shows."""

import re
from collections.abc import Iterable, Iterator, Sequence

from domain.identity import veto
from domain.keys import anchor_key
from domain.memory import Extraction, Frozen
from domain.model_calls import CanonicalizeRequest, Rename, SameAnswer, SameRequest, Verdict

ALIAS_PREDICATES = frozenset(
    {"alias", "call", "called", "be called", "know as", "known as", "nickname", "nicknamed", "name", "named", "rename",
     "renamed", "refer to as", "stand for", "abbreviate", "shorten", "also known as", "mean"}
)  # fmt: skip
"""Predicates of a frame that says its two participants are one (ours)."""

INVENTED = "the canonical name is neither of the two"
TOGETHER = "both take part in one fact"

_STATED = (
    r"(?<!\w){a}(?!\w)\s*(?:"
    r"\(\s*(?:aka\s+|a\.k\.a\.\s+|or\s+)?{b}\s*\)"
    r"|,?\s+(?:also\s+|better\s+)?(?:known|called|referred\s+to)\s+as\s+{b}(?!\w)"
    r"|,?\s+(?:aka|a\.k\.a\.)\s+{b}(?!\w)"
    r"|,?\s+(?:which|whom?|that)\s+(?:\w+\s+){{1,3}}(?:call|name|nickname)(?:s|ed)?\s+{b}(?!\w)"
    r"|,\s+or\s+{b}\s+for\s+short"
    r")"
)


class SharedFrame(Frozen):
    """A frame in which two anchors take part, with the texts of records that it cites."""

    predicate: str
    texts: tuple[str, ...] = ()


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


def frames_forbid(one: Sequence[str], other: Sequence[str], shared: Iterable[SharedFrame]) -> str | None:
    """Why two anchors that take part in one frame may not be one: a frame has distinct participants, unless it, or a
    record it cites, states that the one name is another for the other (design 5)."""
    apart = any(not _states_alias(frame, one, other) for frame in shared)
    return TOGETHER if apart else None


def without_participants(
    renames: Iterable[Rename], request: CanonicalizeRequest, extraction: Extraction
) -> tuple[Rename, ...]:
    """The renames of canonicalization that the record's own frames allow: not of one participant of a frame to another
    one, unless the record states the alias."""
    aliases = {
        candidate.name: (candidate.name, *candidate.aliases)
        for question in request.questions
        for candidate in question.candidates
    }
    return tuple(
        rename
        for rename in renames
        if frames_forbid(
            (rename.name,),
            aliases[rename.candidate],
            _shared(extraction, rename.name, aliases[rename.candidate], request.record.text),
        )
        is None
    )


def _shared(extraction: Extraction, name: str, names: Sequence[str], text: str) -> Iterator[SharedFrame]:
    """The frames of a record in which both take part."""
    one, other = anchor_key(name), {anchor_key(each) for each in names}
    for frame in extraction.frames:
        keys = {anchor_key(arm.name) for arm in frame.arms}
        if one in keys and not other.isdisjoint(keys - {one}):
            yield SharedFrame(predicate=frame.predicate, texts=(text,))


def alias_stated(text: str, a: str, b: str) -> bool:
    """Whether a text says that two names are one: "the Duke (Alan)", "Alan, also known as the Duke"."""
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in _patterns(a, b))


def _states_alias(frame: SharedFrame, one: Sequence[str], other: Sequence[str]) -> bool:
    if frame.predicate.casefold() in ALIAS_PREDICATES:
        return True
    return any(alias_stated(text, a, b) for text in frame.texts for a in one for b in other)


def _patterns(a: str, b: str) -> Iterator[str]:
    if a.strip() and b.strip():
        for first, second in ((a, b), (b, a)):
            yield _STATED.format(a=re.escape(first), b=re.escape(second))
