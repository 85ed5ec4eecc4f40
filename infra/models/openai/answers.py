"""From wire answers to domain values: whatever the request did not offer is dropped, unknown words get defaults,
sizes are bounded.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date, time
from enum import StrEnum
from typing import TypeVar

from domain.dream.guards import judged
from domain.frames import label
from domain.memory import (
    AnchorType,
    Arm,
    Chunk,
    Entity,
    Extraction,
    FrameDraft,
    Granularity,
    Literal,
    MemoryKind,
    RecordDraft,
    Source,
    Status,
    TimeSpan,
    Turn,
)
from domain.model_calls import (
    CanonicalizeAnswer,
    CanonicalizeRequest,
    EntityQuestion,
    Rename,
    RouteAnswer,
    SameAnswer,
    SameRequest,
    Verdict,
)
from domain.text import storable
from infra.models.openai.schemas import (
    WireDecisions,
    WireEntity,
    WireExtraction,
    WireFrame,
    WireRecord,
    WireRecords,
    WireRoute,
    WireSame,
    WireTime,
)

MAX_RECORDS = 64
"""Records one writer may answer with; a chunk has a few turns, so more is a runaway answer."""

MAX_ENTITIES = 64
"""Entities of one answer; four times the larger admission cap (paper A.2)."""

MAX_FRAMES = 64
"""Frames of one answer."""

MAX_ARMS = 16
"""Arms and literals of one frame; the paper's example has seven arguments (A.2)."""

MAX_NAME = 200
"""Characters of a name, role, predicate or unit. A longer one is dropped: cut short it would be another name."""

MAX_TITLE = 300
"""Characters of a record's title; cut there."""

MAX_REASON = 300
"""Characters of the reason of a verdict; cut there."""

MAX_TEXT = 8_000
"""Characters of a record's text, an attribute or a literal; cut there. Twice the aim for a chunk's length."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLOCK = re.compile(r"\d{2}:\d{2}")
E = TypeVar("E", bound=StrEnum)


def route_answer(wire: WireRoute) -> RouteAnswer:
    """The known kinds, each once, in the order of MemoryKind."""
    named = {_word(kind) for kind in wire.kinds}
    return RouteAnswer(kinds=tuple(kind for kind in MemoryKind if kind.value in named))


def record_drafts(wire: WireRecords, *, kind: MemoryKind, chunk: Chunk) -> tuple[RecordDraft, ...]:
    """Records of the asked kind that have a text. A vault record counts only if its value stands in a turn."""
    drafts = (_draft(record, kind, chunk.turns) for record in wire.records[:MAX_RECORDS])
    filled = tuple(draft for draft in drafts if draft.text)
    return (
        tuple(_covered(draft) for draft in filled if _stands_in(draft, chunk)) if kind is MemoryKind.VAULT else filled
    )


def extraction(wire: WireExtraction, *, known: Sequence[Entity] = ()) -> Extraction:
    """Entities and frames. Arms may name an entity of the answer or a `known` one; another name becomes an entity of
    type other.
    """
    entities = _distinct(_entity(entity) for entity in wire.entities[:MAX_ENTITIES])
    spelling = _spelling((*known, *entities))
    drafts = (_frame(frame, spelling) for frame in wire.frames[:MAX_FRAMES])
    frames = tuple(frame for frame in drafts if frame.predicate and frame.arms)
    named = (Entity(name=arm.name) for frame in frames for arm in frame.arms)
    used = {arm.name for frame in frames for arm in frame.arms}
    reused = (entity for entity in known if entity.name in used)
    return Extraction(entities=_distinct((*entities, *reused, *named)), frames=frames)


def renames(wire: WireDecisions, *, request: CanonicalizeRequest) -> CanonicalizeAnswer:
    """The first decision for each asked entity that names one of its own candidates."""
    asked = {question.entity.name: question for question in reversed(request.questions)}
    chosen: dict[str, str] = {}
    for decision in wire.decisions:
        candidate = _offered(decision.same_as, asked.get(decision.entity))
        if candidate and decision.entity not in chosen:
            chosen[decision.entity] = candidate
    return CanonicalizeAnswer(renames=tuple(Rename(name=name, candidate=found) for name, found in chosen.items()))


def same_answer(wire: WireSame, *, request: SameRequest) -> SameAnswer:
    """The verdict as far as it counts; an unknown word is unsure."""
    verdict = _member(Verdict, wire.verdict) or Verdict.UNSURE
    reason = storable(wire.reason.strip())[0][:MAX_REASON]
    return judged(request, SameAnswer(verdict=verdict, canonical=wire.canonical, reason=reason))


def time_span(wire: WireTime | None) -> TimeSpan | None:
    """The span if its dates are real days in order, else None. A clock counts only with granularity minute."""
    start, end = (_day(wire.start), _day(wire.end or wire.start)) if wire else (None, None)
    if wire is None or start is None or end is None or end < start:
        return None
    granularity = _member(Granularity, wire.granularity) or (Granularity.DAY if start == end else Granularity.RANGE)
    clock = _clock(wire.clock) if granularity is Granularity.MINUTE else None
    if granularity is Granularity.MINUTE and clock is None:
        granularity = Granularity.DAY if start == end else Granularity.RANGE
    return TimeSpan(start=start, end=end, granularity=granularity, clock=clock)


def _draft(wire: WireRecord, kind: MemoryKind, turns: Sequence[Turn]) -> RecordDraft:
    text = _clean(wire.text)[:MAX_TEXT]
    return RecordDraft(
        kind=kind,
        title=(_line(wire.title) or _line(text))[:MAX_TITLE],
        text=text,
        event_time=time_span(wire.event_time),
        status=_member(Status, wire.status) or Status.STATE,
        sources=_sources(wire.turns, turns),
        attributes=_attributes(wire),
    )


def _covered(draft: RecordDraft) -> RecordDraft:
    """A vault record whose title and caption do not give its value away."""
    caption = draft.attributes.get("caption", "")
    shown = caption if caption and draft.text.casefold() not in caption.casefold() else "secret"
    return draft.model_copy(update={"title": shown[:MAX_TITLE], "attributes": {"caption": shown}})


def _attributes(wire: WireRecord) -> dict[str, str]:
    """The fields a kind adds to the plain record, empty ones left out; a list has one item a line."""
    own = [name for name in type(wire).model_fields if name not in WireRecord.model_fields]
    raw = {name: getattr(wire, name) for name in own}
    texts = {name: "\n".join(map(_line, value)) if isinstance(value, list) else value for name, value in raw.items()}
    return {name: clean for name, text in texts.items() if (clean := _clean(text)[:MAX_TEXT])}


def _sources(cited: Sequence[int | str], turns: Sequence[Turn]) -> tuple[Source, ...]:
    """The cited turns that exist, each once, in their order in the chunk; all turns if none does."""
    numbers = {str(reference).strip() for reference in cited}
    found = [turn for number, turn in enumerate(turns, start=1) if numbers & {str(number), turn.id}]
    return tuple(
        Source(turn_id=turn.id, start=turn.offset, end=turn.offset + len(turn.text)) for turn in found or turns
    )


def _stands_in(draft: RecordDraft, chunk: Chunk) -> bool:
    return any(draft.text in turn.text for turn in chunk.turns)


def _entity(wire: WireEntity) -> Entity:
    names = dict.fromkeys(name for name in map(_name, wire.aliases[:MAX_ARMS]) if name)
    name = _name(wire.name)
    names.pop(name, None)
    return Entity(name=name, type=_member(AnchorType, wire.type) or AnchorType.OTHER, aliases=tuple(names))


def _distinct(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """The first entity of each name, nameless ones left out."""
    by_name: dict[str, Entity] = {}
    for entity in entities:
        if entity.name:
            by_name.setdefault(entity.name, entity)
    return tuple(by_name.values())


def _spelling(entities: Sequence[Entity]) -> dict[str, str]:
    """Names of entities by their names and, where no name is meant, by their aliases, without case."""
    aliases = {_word(alias): entity.name for entity in entities for alias in entity.aliases}
    return aliases | {_word(entity.name): entity.name for entity in entities} | {e.name: e.name for e in entities}


def _frame(wire: WireFrame, spelling: dict[str, str]) -> FrameDraft:
    """A frame; an arm that differs from an entity's name or alias only in case gets that entity's name."""
    names = ((arm.role, _name(arm.name)) for arm in wire.arms[:MAX_ARMS])
    arms = (
        Arm(role=_term(role) or "participant", name=spelling.get(name) or spelling.get(_word(name)) or name)
        for role, name in names
    )
    return FrameDraft(
        predicate=_term(wire.predicate),
        arms=tuple(dict.fromkeys(arm for arm in arms if arm.name)),
        literals=_literals(wire),
        event_time=time_span(wire.event_time),
        status=_member(Status, wire.status) or Status.STATE,
        negated=wire.negated,
        modality=_term(wire.modality),
    )


def _literals(wire: WireFrame) -> tuple[Literal, ...]:
    literals = (
        Literal(name=_term(item.name) or "value", value=_line(item.value)[:MAX_TEXT], unit=_name(item.unit))
        for item in wire.literals[:MAX_ARMS]
    )
    return tuple(dict.fromkeys(literal for literal in literals if literal.value))


def _offered(name: str, question: EntityQuestion | None) -> str:
    candidates = question.candidates if question else ()
    return next((candidate.name for candidate in candidates if candidate.name == name), "")


def _member(kind: type[E], word: str) -> E | None:
    return next((member for member in kind if member.value == _word(word)), None)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def _clock(text: str) -> str | None:
    try:
        return time.fromisoformat(text).strftime("%H:%M") if _CLOCK.fullmatch(text) else None
    except ValueError:
        return None


def _clean(text: str) -> str:
    return storable(text)[0].strip()


def _line(text: str) -> str:
    return " ".join(_clean(text).split())


def _name(text: str) -> str:
    line = _line(text)
    return line if len(line) <= MAX_NAME else ""


def _term(text: str) -> str:
    """A predicate, role or modality in the spelling that frame identity uses."""
    return label(_name(text))


def _word(text: str) -> str:
    return _line(text).casefold()
