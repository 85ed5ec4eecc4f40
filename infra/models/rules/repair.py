"""Repair: frames for quoted titles, numbers and caption words that the audit found uncovered (paper A.2). Only adds."""

from collections.abc import Iterator

from domain.memory import AnchorType, Arm, Extraction, FrameDraft, Literal, Turn
from domain.model_calls import RepairRequest
from infra.models.rules.extract import caption_frames, distinct, entities, named_alike
from infra.models.rules.names import Named
from infra.models.rules.parse import quoted
from infra.models.rules.records import local

CONFIDENCE = 0.5


def repair(request: RepairRequest) -> Extraction:
    """Frames that mention each missing title or number beside its turn's speaker; captions once more, in full."""
    frames: list[FrameDraft] = []
    participants: list[Named] = []
    for turn in request.turns:
        frames += _mentions(turn, request)
        participants += [
            Named(arm.name, AnchorType.CONTENT) for frame in frames for arm in frame.arms if arm.role == "object"
        ]
        for caption in turn.captions:
            if caption.strip() in request.record.text and any(caption.strip() in item for item in request.missing):
                made, members = caption_frames(caption, turn, local(turn.at, request.timezone))
                frames += made
                participants += members
    known = {frame.model_dump_json() for frame in request.extraction.frames}
    people = [Named(turn.speaker, AnchorType.PERSON) for turn in request.turns if turn.speaker]
    listed = entities([*people, *participants])
    fresh = [frame for frame in distinct(named_alike(frames, listed)) if frame.model_dump_json() not in known]
    return Extraction(entities=listed if fresh else (), frames=tuple(fresh))


def _mentions(turn: Turn, request: RepairRequest) -> Iterator[FrameDraft]:
    if not turn.speaker:
        return
    titles = [text for _, _, text in quoted(turn.text)]
    numbers = [item for item in request.missing if any(char.isdigit() for char in item) and item in turn.text]
    anchor = next((entity.name for entity in request.extraction.entities if entity.name != turn.speaker), "")
    for item in request.missing:
        title = next((title for title in titles if item.strip('"“”') in {title, title.strip()}), "")
        if title:
            yield _mention(turn.speaker, title, ())
    if numbers and anchor:
        yield _mention(turn.speaker, anchor, tuple(Literal(name="number", value=number) for number in numbers))


def _mention(speaker: str, name: str, values: tuple[Literal, ...]) -> FrameDraft:
    arms = (Arm(role="agent", name=speaker), Arm(role="object", name=name))
    return FrameDraft(predicate="mention", arms=arms, literals=values, confidence=CONFIDENCE)
