"""Chunks of a turn or two, and what the rules model makes of them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid5

from domain.memory import Chunk, Entity, FrameDraft, InputForm, MemoryKind, Record, RecordDraft, Turn
from domain.model_calls import ExtractRequest, RouteRequest, WriteRequest
from infra.models.rules.model import RulesModel

ROOT = UUID(int=7)


@dataclass(frozen=True)
class Understood:
    """Kinds, records, entities and frames of a chunk, in order."""

    kinds: tuple[MemoryKind, ...]
    records: tuple[RecordDraft, ...]
    entities: tuple[Entity, ...]
    frames: tuple[FrameDraft, ...]

    def frame(self, predicate: str) -> FrameDraft:
        """The one frame of a predicate."""
        (found,) = [frame for frame in self.frames if frame.predicate == predicate]
        return found

    @property
    def names(self) -> set[str]:
        """Names of all entities."""
        return {entity.name for entity in self.entities}


def turn(text: str, *, at: str, speaker: str = "Mel", turn_id: str = "t1", captions: tuple[str, ...] = ()) -> Turn:
    """A turn at a UTC time."""
    sent = datetime.fromisoformat(at)
    return Turn(
        id=turn_id,
        speaker=speaker,
        text=text,
        at=sent if sent.tzinfo else sent.replace(tzinfo=UTC),
        captions=captions,
    )


def chunk(*turns: Turn, speakers: tuple[str, ...] = (), timezone: str = "UTC", **fields: object) -> Chunk:
    """A chunk of one conversation."""
    values: dict[str, object] = {
        "id": uuid5(ROOT, "chunk"),
        "input_id": uuid5(ROOT, "input"),
        "user_id": "u",
        "session_id": "s",
        "ordinal": 0,
        "form": InputForm.CONVERSATION,
        "turns": turns,
        "speakers": speakers or tuple(dict.fromkeys(each.speaker for each in turns)),
        "timezone": timezone,
    }
    return Chunk.model_validate(values | fields)


def record_of(draft: RecordDraft, chunk: Chunk, ordinal: int) -> Record:
    """The record that the commit would make of a draft."""
    return Record(
        id=uuid5(ROOT, f"{draft.kind}{ordinal}"),
        user_id=chunk.user_id,
        input_id=chunk.input_id,
        chunk_id=chunk.id,
        session_id=chunk.session_id,
        mention_time=chunk.turns[0].at,
        ordinal=ordinal,
        **{name: getattr(draft, name) for name in RecordDraft.model_fields},
    )


async def understood(chunk: Chunk) -> Understood:
    """Route, write and extract, as the workflow would, without audit and admission."""
    model = RulesModel()
    kinds = (await model.route(RouteRequest(chunk=chunk))).answer.kinds
    records: list[RecordDraft] = []
    entities: list[Entity] = []
    frames: list[FrameDraft] = []
    for kind in kinds:
        drafts = (await model.write(WriteRequest(kind=kind, chunk=chunk))).answer.records
        records += drafts
        for ordinal, draft in enumerate(drafts if kind in {MemoryKind.EPISODIC, MemoryKind.SEMANTIC} else ()):
            cited = {source.turn_id for source in draft.sources}
            request = ExtractRequest(
                record=record_of(draft, chunk, ordinal),
                turns=tuple(each for each in chunk.turns if each.id in cited),
                timezone=chunk.timezone,
                speakers=chunk.speakers,
            )
            extraction = (await model.extract(request)).answer
            entities += extraction.entities
            frames += extraction.frames
    return Understood(kinds, tuple(records), tuple(entities), tuple(frames))
