"""Properties of the label tables as JSON, and the domain values they stand for."""

import json
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from pydantic_core import from_json

from domain.graph import AnchorHit, AnchorWrite, FrameWrite, GraphWrite
from domain.memory import Anchor, Frame, MemoryKind, TimeSpan

Properties = dict[str, Any]


def agtype(value: object) -> str:
    """A value in the text form of AGE's type, which reads JSON."""
    return json.dumps(value, ensure_ascii=False)


def agtypes(values: Iterable[object]) -> list[str]:
    """Of each value; ids go in as strings."""
    return [agtype(str(value)) for value in values]


def anchor_properties(user_id: str, write: AnchorWrite) -> Properties:
    """Of a new anchor, not mentioned yet. The records that mention it stand in `anchor_records`."""
    return {
        "user_id": user_id,
        "key": write.key,
        "anchor_id": str(write.id),
        "name": write.name,
        "type": str(write.type),
        "aliases": [],
        "mentions": 0,
        "score": write.score,
    }


def frame_properties(write: GraphWrite, frame: FrameWrite) -> Properties:
    """Of a new frame, not cited yet."""
    return {
        "user_id": write.user_id,
        "fid": frame.id,
        "kind": str(write.kind),
        "predicate": frame.predicate,
        "occurrence": frame.occurrence,
        "literals": [literal.model_dump() for literal in frame.literals],
        "event_time": span(frame.event_time),
        "mention_time": write.mention_time.isoformat(),
        "status": str(frame.status),
        "negated": frame.negated,
        "modality": frame.modality,
        "confidence": frame.confidence,
        "record_ids": [],
    }


def span(time: TimeSpan | None) -> Properties | None:
    """A time span as JSON."""
    return time.model_dump(mode="json") if time else None


def anchor_of(properties: str, mentions: Mapping[tuple[UUID, str], tuple[UUID, ...]]) -> Anchor:
    """An anchor; `mentions` holds record ids by anchor and kind."""
    values = from_json(properties)
    identity = UUID(values.pop("anchor_id"))
    return Anchor(
        id=identity,
        episodic_ids=mentions.get((identity, MemoryKind.EPISODIC), ()),
        semantic_ids=mentions.get((identity, MemoryKind.SEMANTIC), ()),
        **values,
    )


def hit_of(properties: str, score: float) -> AnchorHit:
    """An anchor found by its name's vector."""
    values = from_json(properties)
    return AnchorHit(
        anchor_id=values["anchor_id"],
        name=values["name"],
        type=values["type"],
        aliases=values["aliases"],
        score=score,
    )


def frame_of(row: Mapping[str, Any]) -> Frame:
    """A frame from its properties and its arms."""
    values = from_json(row["properties"])
    unread = ("occurrence", "confidence")
    return Frame(
        id=values.pop("fid"), arms=row["arms"] or (), **{name: values[name] for name in values if name not in unread}
    )
