"""What the model is shown: domain values as JSON lines between the markers of the prompts.

Memory text is data. It stands in JSON strings, so that it can't end its line, and what looks like a marker is
escaped, so that it can't end the data.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from domain.memory import Chunk, Entity, Extraction, FrameDraft, Record, TimeSpan, Turn
from domain.model_calls import (
    AnchorView,
    CanonicalizeRequest,
    EntityQuestion,
    ExtractRequest,
    RepairRequest,
    RouteRequest,
    SameRequest,
    WriteRequest,
)
from domain.text import storable

MARKER = "<<<"
"""How every marker of the prompts begins."""

Values = Mapping[str, str]


def route_values(request: RouteRequest) -> Values:
    """Values of the prompt `route`."""
    return _chunk_values(request.chunk)


def write_values(request: WriteRequest) -> Values:
    """Values of the prompts `write_*`."""
    view = _lines([{"title": seen.title, "text": seen.text} for seen in request.view])
    return {**_chunk_values(request.chunk), "view": view}


def extract_values(request: ExtractRequest) -> Values:
    """Values of the prompt `extract`."""
    return _record_values(request.record, request.turns, zone=request.timezone, speakers=request.speakers)


def repair_values(request: RepairRequest) -> Values:
    """Values of the prompt `repair`."""
    values = _record_values(request.record, request.turns, zone=request.timezone, speakers=request.speakers)
    return {**values, "extraction": _extraction(request.extraction), "missing": _lines(list(request.missing))}


def canonicalize_values(request: CanonicalizeRequest) -> Values:
    """Values of the prompt `canonicalize`."""
    record = {"title": request.record.title, "text": request.record.text}
    return {"record": _lines([record]), "questions": _lines([_question(question) for question in request.questions])}


def _chunk_values(chunk: Chunk) -> Values:
    zone = ZoneInfo(chunk.timezone)
    before = [{"context": True, **_turn(chunk.previous, zone)}] if chunk.previous else []
    turns = [{"n": number, **_turn(turn, zone)} for number, turn in enumerate(chunk.turns, start=1)]
    facts = {"form": chunk.form.value, "title": chunk.title, "zone": chunk.timezone, "speakers": chunk.speakers}
    return {"context": _context(facts), "turns": _lines([*before, *turns])}


def same_values(request: SameRequest) -> Values:
    """The two anchors, each with its aliases and a few records that mention it."""
    return {"type": request.type, "anchors": _lines([_anchor(request.a), _anchor(request.b)])}


def _anchor(anchor: AnchorView) -> dict[str, object]:
    return _filled({"name": anchor.name, "aliases": anchor.aliases, "records": anchor.evidence})


def _record_values(record: Record, turns: Sequence[Turn], *, zone: str, speakers: Sequence[str]) -> Values:
    shown = {
        "kind": record.kind.value,
        "title": record.title,
        "text": record.text,
        "status": record.status.value,
        "event_time": _span(record.event_time),
        **record.attributes,
    }
    numbered = [{"n": number, **_turn(turn, ZoneInfo(zone))} for number, turn in enumerate(turns, start=1)]
    return {
        "context": _context({"zone": zone, "speakers": speakers}),
        "record": _lines([_filled(shown)]),
        "turns": _lines(numbered),
    }


def _context(facts: Mapping[str, object]) -> str:
    return f"Context, data like the rest: {_line(_filled(facts))}"


def _turn(turn: Turn, zone: ZoneInfo) -> dict[str, object]:
    return _filled(
        {"speaker": turn.speaker, "said": _local(turn.at, zone), "text": turn.text, "image_captions": turn.captions}
    )


def _local(moment: datetime, zone: ZoneInfo) -> str:
    """The moment in the user's zone, with weekday: `2023-05-08 13:56 Monday +0100`."""
    return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M %A %z")


def _span(span: TimeSpan | None) -> object:
    return span.model_dump(mode="json", exclude_none=True) if span else None


def _extraction(extraction: Extraction) -> str:
    return _lines([*map(_entity, extraction.entities), *map(_frame, extraction.frames)])


def _entity(entity: Entity) -> dict[str, object]:
    return _filled({"entity": entity.name, "type": entity.type.value, "aliases": entity.aliases})


def _frame(frame: FrameDraft) -> dict[str, object]:
    shown = frame.model_dump(mode="json", include={"arms", "literals", "status", "negated", "modality"})
    return _filled({"frame": frame.predicate, **shown, "event_time": _span(frame.event_time)})


def _question(question: EntityQuestion) -> dict[str, object]:
    candidates = [
        _filled({"name": candidate.name, "type": candidate.type, "aliases": candidate.aliases})
        for candidate in question.candidates
    ]
    return {**_entity(question.entity), "candidates": candidates}


def _filled(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields that say something; every one of them costs tokens."""
    return {name: value for name, value in fields.items() if value not in (None, "", (), [], False)}


def _lines(items: Sequence[object]) -> str:
    return "\n".join(map(_line, items)) if items else "(none)"


def _line(item: object) -> str:
    return storable(json.dumps(item, ensure_ascii=False))[0].replace(MARKER, r"\u003c\u003c\u003c")
