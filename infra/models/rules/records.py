"""Writers: what each turn gives to each kind of memory, as records that cite their turns (design 3; paper A.1)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from domain.memory import Chunk, InputForm, MemoryKind, RecordDraft, Source, Status, Turn
from infra.models.rules.lexicon import words
from infra.models.rules.names import named
from infra.models.rules.parse import gate, parse_ahead
from infra.models.rules.people import Cast
from infra.models.rules.rewrite import rewrite
from infra.models.rules.said import Said, is_talk, said

MAX_GROUP = 3
"""Sentences a record at most: finer records retrieve better (platform, section 4)."""
TITLE_CHARS = 72
_VAULT = re.compile(r"\[vault:([^\]]*)\]")
DOCUMENT = "document"


@dataclass(frozen=True)
class Group:
    """Neighbouring sentences of a turn that go into one record."""

    kind: MemoryKind
    items: tuple[Said, ...]


def local(at: datetime, timezone: str) -> datetime:
    """A time in the user's zone; UTC if the zone is unknown here."""
    try:
        return at.astimezone(ZoneInfo(timezone))
    except (ZoneInfoNotFoundError, ValueError):
        return at


def groups(items: Iterable[Said]) -> list[Group]:
    """The kept sentences in groups of one kind; a sentence that leans on the one before stays with it."""
    found: list[list[Said]] = []
    kinds: list[MemoryKind] = []
    for item in items:
        if not item.keep:
            continue
        kind = MemoryKind.EPISODIC if item.eventful else MemoryKind.SEMANTIC
        joins = (
            bool(found) and len(found[-1]) < MAX_GROUP and ((item.pointing and not item.eventful) or kind is kinds[-1])
        )
        if joins and not (kind is MemoryKind.EPISODIC and _other_event(found[-1], item)):
            found[-1].append(item)
        else:
            found.append([item])
            kinds.append(kind)
    return [Group(kind, tuple(group)) for kind, group in zip(kinds, found, strict=True)]


def _other_event(group: list[Said], item: Said) -> bool:
    """The sentence tells of another day, or stands otherwise to the world, than those before it."""
    known = {each.event.status for each in group if each.event is not None}
    if item.event is not None and known and item.event.status not in known:
        return True
    spans = {found.span for each in group for found in each.times}
    return any(found.span not in spans for found in item.times)


def write(kind: MemoryKind, chunk: Chunk) -> tuple[RecordDraft, ...]:
    """The records of one kind that a chunk gives."""
    if kind is MemoryKind.VAULT:
        return tuple(_vault(chunk))
    if kind is MemoryKind.RESOURCE:
        return tuple(_resource(chunk))
    if kind not in {MemoryKind.EPISODIC, MemoryKind.SEMANTIC}:
        return ()
    parse_ahead(turn.text for turn in chunk.turns)
    drafts: list[RecordDraft] = []
    previous = chunk.previous
    inside = False
    for turn in chunk.turns:
        drafts += _turn(kind, chunk, turn, previous if turn.text.strip() else None, inside)
        previous, inside = turn, True
    return tuple(drafts)


def _turn(kind: MemoryKind, chunk: Chunk, turn: Turn, previous: Turn | None, inside: bool) -> Iterator[RecordDraft]:
    degraded = gate(turn.text) if turn.text.strip() else ""
    if degraded:
        if kind is MemoryKind.SEMANTIC:
            yield _verbatim(turn, degraded)
    else:
        yield from _talk(kind, chunk, turn, previous, inside)
    if kind is MemoryKind.SEMANTIC:
        for caption in turn.captions:
            yield _caption(turn, caption)


def _talk(kind: MemoryKind, chunk: Chunk, turn: Turn, previous: Turn | None, inside: bool) -> Iterator[RecordDraft]:
    at = local(turn.at, chunk.timezone)
    cast = Cast(turn.speaker, speakers(chunk))
    items = said(turn.text, at)
    first = True
    for group in groups(items):
        lines = []
        for item in group.items:
            lines.append(rewrite(item, cast))
            note_people((item,), cast)
        if group.kind is kind:
            question = _question(previous, chunk.timezone) if first and _answers(turn, previous) else None
            yield _record(group, turn, lines, question, previous if inside else None)
        first = False


def _answers(turn: Turn, previous: Turn | None) -> bool:
    return previous is not None and previous.speaker != turn.speaker


def speakers(chunk: Chunk) -> tuple[str, ...]:
    """Everyone who speaks around the chunk, in order."""
    here = [turn.speaker for turn in chunk.turns]
    before = [chunk.previous.speaker] if chunk.previous is not None else []
    return tuple(dict.fromkeys(name for name in (*chunk.speakers, *before, *here) if name))


def note_people(items: Iterable[Said], cast: Cast) -> None:
    """Note the persons and the company of the sentences, for the pronouns that follow."""
    for item in items:
        for token in item.sentence.tokens:
            if token.pos_ in {"NOUN", "PROPN"}:
                named(token, cast)
            if token.lower_ in words("group") and any(
                child.dep_ == "poss" and child.lower_ in {"my", "our", "the"} for child in token.children
            ):
                cast.group = f"{cast.speaker}'s {token.lower_}"


def _question(previous: Turn | None, timezone: str) -> tuple[Turn, Said] | None:
    """The question that a turn answers: it makes "Luna and Oliver!" readable and its record findable.

    Kept for every answer, not for fragments alone: all-gold at 10 rows of a plain hybrid search rose from 0.59 to 0.71,
    from 0.64 to 0.68 and from 0.63 to 0.67 on the three development conversations.
    """
    if previous is None or gate(previous.text):
        return None
    asked = [
        item for item in said(previous.text, local(previous.at, timezone)) if item.question and not is_talk(item.text)
    ]
    return (previous, asked[-1]) if asked else None


def _record(
    group: Group, turn: Turn, lines: list[str], question: tuple[Turn, Said] | None, inside: Turn | None
) -> RecordDraft:
    text = " ".join(lines)
    sources = [_source(turn, group.items)]
    if question is not None:
        asker, item = question
        text = f"{asker.speaker or 'Someone'} asked: {item.text.strip()} {turn.speaker}: {text}"
        if inside is not None:
            sources.insert(0, _source(asker, (item,)))
    elif turn.speaker and turn.speaker not in text:
        text = f"{turn.speaker}: {text}"
    return RecordDraft(
        kind=group.kind,
        title=title(text),
        text=text,
        event_time=_event_time(group),
        status=_status(group),
        sources=tuple(sources),
        attributes=_attributes(group, turn) if group.kind is MemoryKind.EPISODIC else {},
    )


def _source(turn: Turn, items: tuple[Said, ...]) -> Source:
    return Source(
        turn_id=turn.id, start=turn.offset + items[0].sentence.start, end=turn.offset + items[-1].sentence.end
    )


def _event_time(group: Group):  # type: ignore[no-untyped-def]
    for item in group.items:
        event = item.event or item.main
        found = item.time_of_clause(event) if event is not None else None
        if found is None:
            found = next((each for each in item.times if not each.since or group.kind is MemoryKind.SEMANTIC), None)
        if found is not None:
            return found.span
    return None


def _status(group: Group) -> Status:
    for item in group.items:
        if item.event is not None:
            found = item.time_of_clause(item.event)
            return Status.PLANNED if found is not None and found.direction > 0 else item.event.status
    mains = [item.main.status for item in group.items if item.main is not None]
    if any(found.direction > 0 for item in group.items for found in item.times) and not mains:
        return Status.PLANNED
    return Status.HYPOTHETICAL if mains and all(status is Status.HYPOTHETICAL for status in mains) else Status.STATE


def _attributes(group: Group, turn: Turn) -> dict[str, str]:
    event = next((item.event for item in group.items if item.event is not None), None)
    kind = event.verb.lemma_.lower() if event is not None else ""
    return {"actor": turn.speaker, "event_type": kind}


def title(text: str) -> str:
    """The first words of a text, whole words only."""
    line = " ".join(text.split())
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[:TITLE_CHARS].rsplit(" ", 1)[0]
    return cut.rstrip(" ,;:-–—") + "…"


def _caption(turn: Turn, caption: str) -> RecordDraft:
    who = turn.speaker or "Someone"
    text = f"{who} shared {_with_article(caption)}"
    return RecordDraft(kind=MemoryKind.SEMANTIC, title=title(text), text=text, sources=(Source(turn_id=turn.id),))


def _with_article(caption: str) -> str:
    clean = caption.strip()
    return clean if re.match(r"(?:an?|the)\b", clean, re.IGNORECASE) else f"an image: {clean}"


def _verbatim(turn: Turn, degraded: str) -> RecordDraft:
    text = f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text
    source = Source(turn_id=turn.id, start=turn.offset, end=turn.offset + len(turn.text))
    return RecordDraft(kind=MemoryKind.SEMANTIC, title=title(text), text=text, sources=(source,), degraded=degraded)


def _vault(chunk: Chunk) -> Iterator[RecordDraft]:
    for turn in chunk.turns:
        for match in _VAULT.finditer(turn.text):
            caption = match[1].strip() or "secret"
            source = Source(turn_id=turn.id, start=turn.offset + match.start(), end=turn.offset + match.end())
            yield RecordDraft(
                kind=MemoryKind.VAULT,
                title=title(caption),
                text=caption,
                sources=(source,),
                attributes={"caption": caption},
            )


def _resource(chunk: Chunk) -> Iterator[RecordDraft]:
    if chunk.form is not InputForm.DOCUMENT:
        return
    text = "\n".join(turn.text for turn in chunk.turns)
    if text.strip():
        yield RecordDraft(
            kind=MemoryKind.RESOURCE,
            title=title(chunk.title or text),
            text=text,
            sources=tuple(
                Source(turn_id=turn.id, start=turn.offset, end=turn.offset + len(turn.text)) for turn in chunk.turns
            ),
        )
