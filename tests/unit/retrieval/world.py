"""A small world for searches: what users said, written through the ports as the write path would."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from uuid import UUID

from domain.graph import Vector
from domain.graph_plan import keys_to_resolve, plan_write, with_vectors
from domain.jobs import JobState, chunk_id
from domain.memory import (
    GRAPH_KINDS,
    AnchorType,
    Arm,
    Chunk,
    Entity,
    Extraction,
    FrameDraft,
    InputForm,
    MemoryKind,
    Message,
    NewInput,
    Record,
    RecordDraft,
    Source,
    Status,
    TimeSpan,
    Turn,
)
from domain.ports import Embedder, GraphStore, JobStore, RecordStore
from domain.records import embedding_text, records_of
from domain.retrieval.words import stems
from tests.unit.retrieval.build import PEOPLE

DIMENSION = 48

START = datetime(2024, 5, 1, 9, tzinfo=UTC)


class WordEmbedder:
    """Embedder for tests: a bag of stems hashed into DIMENSION places, of unit length."""

    @property
    def name(self) -> str:
        """Name of the model."""
        return "words"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return DIMENSION

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text; texts that share words are near."""
        return [_vector(text) for text in texts]


def _vector(text: str) -> Vector:
    values = [0.01] * DIMENSION
    for part in stems(text):
        values[blake2b(part.encode("utf-8", "surrogatepass"), digest_size=2).digest()[0] % DIMENSION] += 1.0
    length = sum(value * value for value in values) ** 0.5
    return [value / length for value in values]


@dataclass
class Said:
    """One thing said, with the record and the frame it becomes."""

    text: str
    predicate: str = ""
    arms: tuple[tuple[str, str], ...] = ()
    kind: MemoryKind = MemoryKind.EPISODIC
    day: int = 0
    """Days after START."""
    event_time: TimeSpan | None = None
    status: Status = Status.DONE


@dataclass
class World:
    """Stores to write to, and what was written."""

    jobs: JobStore
    records: RecordStore
    graph: GraphStore
    embedder: Embedder = field(default_factory=WordEmbedder)

    async def tell(self, user: str, session: str, said: Sequence[Said]) -> tuple[Record, ...]:
        """Store one input of a turn each, with a record a turn, and index the records; the records in order."""
        messages = tuple(
            Message(
                id=f"{session}:{n}", speaker="Ana", text=each.text, sent_at=START + timedelta(days=each.day, minutes=n)
            )
            for n, each in enumerate(said)
        )
        new = NewInput(
            user_id=user, request_id=session, session_id=session, form=InputForm.CONVERSATION, messages=messages
        )
        job = (await self.jobs.accept(new, body_hash=f"hash of {session}", now=START)).job
        chunk = _chunk(user, job.id, new)
        await self.jobs.save_chunks(job.id, [chunk])
        written = [
            _record(chunk, each, message, n) for n, (each, message) in enumerate(zip(said, messages, strict=True))
        ]
        vectors = await self.embedder.embed([embedding_text(record) for record in written])
        await self.records.commit(written, vectors)
        for record, each in zip(written, said, strict=True):
            if record.kind in GRAPH_KINDS and each.arms:
                await self._index(record, each)
        await self.jobs.mark_committed(chunk.id)
        await self.jobs.set_state(job.id, JobState.COMPLETED, now=START)
        return tuple(written)

    async def _index(self, record: Record, said: Said) -> None:
        extraction = _extraction(said)
        resolved = await self.graph.resolve(record.user_id, keys_to_resolve(extraction))
        planned = plan_write(record, extraction, resolved)
        anchors = await self.embedder.embed(planned.anchor_names)
        frames = await self.embedder.embed(planned.frame_texts)
        await self.graph.upsert(with_vectors(planned, anchors, frames))


def _record(chunk: Chunk, said: Said, message: Message, number: int) -> Record:
    """The record of a turn; its place among the records of the chunk is that of the turn."""
    draft = RecordDraft(
        kind=said.kind,
        title=said.text[:40],
        text=said.text,
        event_time=said.event_time,
        status=said.status,
        sources=(Source(turn_id=message.id),),
    )
    return records_of(chunk, {said.kind: (draft,) * (number + 1)})[number]


def _chunk(user: str, job: UUID, new: NewInput) -> Chunk:
    turns = tuple(Turn(id=m.id, speaker=m.speaker, text=m.text, at=m.sent_at) for m in new.messages)
    return Chunk(
        id=chunk_id(job, 0),
        input_id=job,
        user_id=user,
        session_id=new.session_id,
        ordinal=0,
        form=new.form,
        turns=turns,
        speakers=("Ana",),
    )


def _extraction(said: Said) -> Extraction:
    names = dict.fromkeys(name for _, name in said.arms)
    return Extraction(
        entities=tuple(
            Entity(name=name, type=AnchorType.PERSON if name in PEOPLE else AnchorType.OBJECT) for name in names
        ),
        frames=(
            FrameDraft(
                predicate=said.predicate,
                arms=tuple(Arm(role=role, name=name) for role, name in said.arms),
                event_time=said.event_time,
                status=said.status,
            ),
        ),
    )
