"""Values that the contract tests store."""

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import UUID, uuid5

from domain.graph import AnchorWrite, ArmWrite, FrameWrite, GraphWrite, NameKey, Vector
from domain.jobs import NAMESPACE, anchor_id, chunk_id, job_id, record_id
from domain.memory import (
    AnchorType,
    Chunk,
    Granularity,
    InputForm,
    MemoryKind,
    Message,
    NewInput,
    Record,
    Source,
    Status,
    TimeSpan,
    Turn,
)

NOW = datetime(2025, 3, 1, 12, 30, tzinfo=UTC)
DIMENSION = 16


def unit(text: str) -> Vector:
    """A unit vector of the text's own."""
    generator = random.Random(text)
    values = [generator.gauss(0, 1) for _ in range(DIMENSION)]
    length = sum(value * value for value in values) ** 0.5
    return [value / length for value in values]


def message(name: str, *, text: str = "", minutes: int = 0) -> Message:
    return Message(
        id=name,
        speaker="Ona",
        text=text or f"said in {name}: tab\t, line\n, back\\slash, 日本, 🌱",
        sent_at=NOW + timedelta(minutes=minutes),
        captions=(f"a picture of {name}",),
    )


def new_input(
    request: str = "r1", *, user: str = "ona", session: str = "s1", messages: Sequence[Message] | None = None
) -> NewInput:
    return NewInput(
        user_id=user,
        request_id=request,
        session_id=session,
        form=InputForm.CONVERSATION,
        title="talk",
        timezone="Europe/Riga",
        messages=tuple(messages if messages is not None else [message("m1"), message("m2", minutes=1)]),
    )


def chunk(new: NewInput, ordinal: int = 0) -> Chunk:
    job = job_id(new.user_id, new.request_id)
    return Chunk(
        id=chunk_id(job, ordinal),
        input_id=job,
        user_id=new.user_id,
        session_id=new.session_id,
        ordinal=ordinal,
        form=new.form,
        timezone=new.timezone,
        turns=(Turn(id="m1", speaker="Ona", text="hello", at=NOW),),
        speakers=("Ona",),
    )


def record(of: Chunk, ordinal: int = 0, *, kind: MemoryKind = MemoryKind.EPISODIC, text: str = "") -> Record:
    return Record(
        id=record_id(of.id, kind, ordinal),
        user_id=of.user_id,
        kind=kind,
        title=f"title {ordinal}",
        text=text or f"text number {ordinal}",
        event_time=TimeSpan(start=date(2025, 2, 1), end=date(2025, 2, 2), granularity=Granularity.RANGE),
        mention_time=NOW + timedelta(hours=of.ordinal, minutes=ordinal),
        status=Status.DONE,
        input_id=of.input_id,
        chunk_id=of.id,
        session_id=of.session_id,
        ordinal=ordinal,
        sources=(Source(turn_id="m1", start=0, end=5),),
        attributes={"actor": "Ona"},
    )


def cited(number: int) -> UUID:
    """Id of a record that a graph write may name."""
    return uuid5(NAMESPACE, f"contract record {number}")


def anchor(key: str, *, user: str = "ona", aliases: Sequence[str] = (), score: float = 1.0) -> AnchorWrite:
    return AnchorWrite(
        id=anchor_id(user, key),
        name=key.title(),
        key=key,
        type=AnchorType.PERSON,
        aliases=tuple(NameKey(name=alias.title(), key=alias) for alias in aliases),
        vector=unit(key),
        score=score,
    )


def fid(name: str) -> str:
    """A frame id that sorts as its name does."""
    return name.ljust(64, ".")


def frame(
    name: str,
    predicate: str,
    arms: dict[str, str],
    *,
    occurrence: str = "",
    status: Status = Status.STATE,
    negated: bool = False,
    event_time: TimeSpan | None = None,
) -> FrameWrite:
    """`arms`: anchor key by role."""
    return FrameWrite(
        id=fid(name),
        predicate=predicate,
        arms=tuple(ArmWrite(role=role, key=key) for role, key in arms.items()),
        occurrence=occurrence,
        status=status,
        negated=negated,
        event_time=event_time,
        vector=unit(name),
    )


def write(
    number: int,
    anchors: Sequence[AnchorWrite],
    frames: Sequence[FrameWrite] = (),
    *,
    user: str = "ona",
    kind: MemoryKind = MemoryKind.SEMANTIC,
) -> GraphWrite:
    return GraphWrite(
        user_id=user,
        record_id=cited(number),
        kind=kind,
        mention_time=NOW,
        anchors=tuple(anchors),
        frames=tuple(frames),
    )
