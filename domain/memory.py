"""What is remembered: inputs, chunks, records, anchors and frames (design 1, 3, 7; paper Eq. 2, 4, 5)."""

from datetime import date, datetime
from enum import StrEnum
from typing import Self
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, model_validator


class Frozen(BaseModel):
    """Base of every domain value: immutable, compared by value, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class MemoryKind(StrEnum):
    """The six tiers (paper A.1, Table 5)."""

    CORE = "core"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    RESOURCE = "resource"
    VAULT = "vault"


GRAPH_KINDS = (MemoryKind.EPISODIC, MemoryKind.SEMANTIC)
"""The only kinds the hypergraph indexes (paper 2.2)."""


class AnchorType(StrEnum):
    """Entity types of anchors (design 3.1)."""

    PERSON = "person"
    ORGANIZATION = "organization"
    LOCATION = "location"
    OBJECT = "object"
    CONCEPT = "concept"
    EVENT = "event"
    DATE = "date"
    CONTENT = "content"
    METHOD = "method"
    OTHER = "other"


class Status(StrEnum):
    """How a record or a frame stands to the world. Never part of a frame's identity (paper 2.3)."""

    DONE = "done"
    PLANNED = "planned"
    HYPOTHETICAL = "hypothetical"
    CANCELLED = "cancelled"
    STATE = "state"


class Granularity(StrEnum):
    """How precisely a time is known; `minute` means that `TimeSpan.clock` is set."""

    MINUTE = "minute"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    YEAR = "year"
    RANGE = "range"


class TimeSpan(Frozen):
    """A time as the speaker gave it: calendar days in the user's zone, both ends included."""

    start: date
    end: date
    granularity: Granularity
    clock: str | None = None
    """Local time of day `HH:MM`, only with granularity `minute`."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.end < self.start:
            raise ValueError("a time span ends before it starts")
        return self


class Message(Frozen):
    """One turn of a conversation, or the whole text of a document, as handed in."""

    id: str
    """Unique within its session; a re-send with the same id is the same turn."""
    speaker: str
    """Name or role of who speaks; empty for a document."""
    text: str
    sent_at: AwareDatetime
    captions: tuple[str, ...] = ()
    """Descriptions of images sent with the message."""


class InputForm(StrEnum):
    """Whether an input is talk (cut between turns) or a document (cut between sentences)."""

    CONVERSATION = "conversation"
    DOCUMENT = "document"


class TimeSource(StrEnum):
    """Where `Message.sent_at` came from: the caller, or the moment of ingestion for want of one."""

    GIVEN = "given"
    INGEST = "ingest"


class NewInput(Frozen):
    """A validated input, before it is stored. Secrets found by rule are already out of every text."""

    user_id: str
    request_id: str
    """Idempotency key, unique per user."""
    session_id: str
    form: InputForm
    title: str = ""
    timezone: str = "UTC"
    """IANA zone in which relative dates resolve."""
    time_source: TimeSource = TimeSource.GIVEN
    sanitized: bool = False
    """True if characters that can't be stored (NUL, lone surrogates) were replaced."""
    messages: tuple[Message, ...]


class Turn(Frozen):
    """A message, or a part of a long one, inside a chunk."""

    id: str
    """The message id (parts of one message share it)."""
    speaker: str
    text: str
    captions: tuple[str, ...] = ()
    at: AwareDatetime
    offset: int = 0
    """Character position of `text` in the message."""


class Chunk(Frozen):
    """The unit of routing, writing and of Dream's frontier (design 3)."""

    id: UUID
    input_id: UUID
    user_id: str
    session_id: str
    ordinal: int
    form: InputForm
    title: str = ""
    timezone: str = "UTC"
    turns: tuple[Turn, ...]
    previous: Turn | None = None
    """The turn just before the chunk in the same session: context only, never a source."""
    speakers: tuple[str, ...] = ()
    """Everyone who speaks in the input, in order of first turn."""


class Source(Frozen):
    """A turn that a record was written from; `start` and `end` are character positions in the message, if known."""

    turn_id: str
    start: int | None = None
    end: int | None = None


class RecordDraft(Frozen):
    """What a writer hands over: a record without identity."""

    kind: MemoryKind
    title: str
    text: str
    event_time: TimeSpan | None = None
    status: Status = Status.STATE
    sources: tuple[Source, ...] = ()
    attributes: dict[str, str] = {}
    """Fields of the kind's own schema: episodic `actor`, `event_type`; core `label`; procedural `when_to_use`,
    `steps`; vault `caption`."""
    degraded: str = ""
    """Why no frames can be made of it (`language:xx`, `code`, `no_words`), or empty."""


class IndexStatus(StrEnum):
    """Where a record stands on its way into the graph."""

    NOT_INDEXED = "not_indexed"
    """Its kind never enters the graph."""
    PENDING = "pending"
    INDEXED = "indexed"
    FAILED = "failed"


class Record(Frozen):
    """A memory of the evidence plane, m = (i, k, y, tau_e, tau_m, rho, z) (paper Eq. 2); z lies beside it in the
    store."""

    id: UUID
    user_id: str
    kind: MemoryKind
    title: str
    text: str
    event_time: TimeSpan | None = None
    mention_time: AwareDatetime
    status: Status = Status.STATE
    input_id: UUID
    chunk_id: UUID
    session_id: str
    ordinal: int
    """Position among the records of its chunk and kind."""
    sources: tuple[Source, ...] = ()
    attributes: dict[str, str] = {}
    degraded: str = ""
    version: int = 1
    index_status: IndexStatus = IndexStatus.PENDING
    index_step: str = ""
    """With `failed`: the step that gave up."""
    index_reason: str = ""
    """With `failed`: the error's type."""


class Entity(Frozen):
    """A participant named by the extractor, before canonicalization."""

    name: str
    type: AnchorType = AnchorType.OTHER
    aliases: tuple[str, ...] = ()
    """Other names that the source itself states for it."""


class Literal(Frozen):
    """A value that stays on its frame: date, price, count, duration, measurement (paper 2.3)."""

    name: str
    value: str
    unit: str = ""


class Arm(Frozen):
    """A role-typed participant of a frame."""

    role: str
    name: str


class FrameDraft(Frozen):
    """A frame as extracted: f = (p, arms, literals, tau_e, status) (paper Eq. 5). Arms name entities of the same
    extraction."""

    predicate: str
    arms: tuple[Arm, ...]
    literals: tuple[Literal, ...] = ()
    event_time: TimeSpan | None = None
    status: Status = Status.STATE
    negated: bool = False
    modality: str = ""
    confidence: float = 1.0


class Extraction(Frozen):
    """Everything one record says, in the speaker's names."""

    entities: tuple[Entity, ...] = ()
    frames: tuple[FrameDraft, ...] = ()


class Anchor(Frozen):
    """A canonical participant of one user, a = (i, n, t, e, I_E, I_S) (paper Eq. 4); the name vector lies in its own
    table."""

    id: UUID
    user_id: str
    name: str
    key: str
    """kappa(name) at creation."""
    type: AnchorType
    aliases: tuple[str, ...] = ()
    episodic_ids: tuple[UUID, ...] = ()
    semantic_ids: tuple[UUID, ...] = ()
    mentions: int = 0
    """How many records mention it: the size of the two sets together."""
    score: float = 1.0
    """Admission score."""


class FrameArm(Frozen):
    """A stored arm: the role and the anchor it points at now."""

    role: str
    anchor_id: UUID
    name: str
    type: AnchorType = AnchorType.OTHER


class Frame(Frozen):
    """A stored frame with its citations C_f (paper Eq. 5)."""

    id: str
    """64 hexadecimal digits (domain.frames)."""
    user_id: str
    kind: MemoryKind
    predicate: str
    arms: tuple[FrameArm, ...]
    literals: tuple[Literal, ...] = ()
    event_time: TimeSpan | None = None
    mention_time: datetime | None = None
    status: Status = Status.STATE
    negated: bool = False
    modality: str = ""
    record_ids: tuple[UUID, ...] = ()
