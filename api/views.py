"""What the HTTP API takes and gives: explicit fields, nothing of a store or a workflow."""

from datetime import datetime
from typing import Annotated, Self
from urllib.parse import quote
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field
from pydantic_core import PydanticCustomError

from domain.intake import USER_ID, InputIn, MessageIn
from domain.jobs import Job, JobState
from domain.memory import (
    GRAPH_KINDS,
    Anchor,
    AnchorType,
    Frame,
    FrameArm,
    Frozen,
    IndexStatus,
    InputForm,
    Literal,
    MemoryKind,
    Message,
    Record,
    Source,
    Status,
    TimeSpan,
)
from domain.retrieval.fusion import Quota
from domain.retrieval.plan import Plan
from domain.retrieval.query import MAX_QUERY, Explanation, Fact, Filters, Row, SearchResult
from domain.text import storable

MAX_LIMIT = 200
"""Most items of one page."""

MAX_SEQUENCE = 2**63 - 1


def storable_text(text: str) -> str:
    """The text. Raises the error of a field that can't be stored."""
    if storable(text)[1]:
        raise PydanticCustomError("unstorable", "contains NUL, another control character or a lone surrogate")
    return text


Storable = Annotated[str, AfterValidator(storable_text)]
"""Text that Postgres can hold and compare."""


User = Annotated[str, Field(pattern=f"^{USER_ID.pattern}$")]
"""Whose memory."""


class ErrorBody(Frozen):
    """What went wrong, for programs (`type`), for people (`message`), and whether the same call may succeed later."""

    type: str
    message: str
    retryable: bool


class ErrorView(Frozen):
    """The shape of every error."""

    error: ErrorBody


class MemoryIn(Frozen):
    """An input: messages of one session, or a document. The request id comes from the `Idempotency-Key` header."""

    user_id: User
    session_id: str | None = None
    timezone: str | None = None
    """IANA zone in which relative dates of the text resolve."""
    form: InputForm = InputForm.CONVERSATION
    title: str = ""
    messages: tuple[MessageIn, ...]

    def input(self, request_id: str) -> InputIn:
        """The same under a request id."""
        return InputIn(
            user_id=self.user_id,
            request_id=request_id,
            session_id=self.session_id,
            timezone=self.timezone,
            form=self.form,
            title=self.title,
            messages=self.messages,
        )


class JobView(Frozen):
    """One accepted input."""

    id: UUID
    user_id: str
    request_id: str
    sequence: int
    state: JobState
    session_id: str
    form: InputForm
    messages: int
    chunks: int
    chunks_done: int
    records: dict[str, int]
    indexed: int
    index_failed: int
    model_calls: int
    step: str
    reason: str
    attempt: int
    sanitized: bool
    accepted_at: AwareDatetime
    finished_at: AwareDatetime | None
    status_url: str

    @classmethod
    def of(cls, job: Job) -> Self:
        """From a job; `status_url` is relative to the server."""
        url = f"/v1/jobs/{job.id}?user_id={quote(job.user_id, safe='')}"
        return cls(**job.model_dump(include=set(cls.model_fields)), status_url=url)


class AcceptedView(Frozen):
    """The answer to a new input."""

    job: JobView
    created: bool
    """False if the same request was accepted before."""
    status_url: str


class JobPage(Frozen):
    """Newest first; `next` is the `before` of the following page, null on the last."""

    items: tuple[JobView, ...]
    next: int | None


class SearchIn(Frozen):
    """A question."""

    user_id: User
    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY), AfterValidator(storable_text)]
    kinds: Annotated[tuple[MemoryKind, ...], Field(min_length=1, max_length=len(MemoryKind))] = GRAPH_KINDS
    as_of: AwareDatetime | None = None
    """The moment of asking; now if it is left out."""
    timezone: Storable = "UTC"
    filters: Filters = Filters()
    quota: Quota = Quota.SOFT
    limit_per_kind: Annotated[int | None, Field(ge=1, le=MAX_LIMIT)] = None
    explain: bool = False


class SearchView(Frozen):
    """Facts and the rows that justify them."""

    facts: tuple[Fact, ...]
    rows: tuple[Row, ...]
    degraded: bool
    """True if the graph could not be read; `reason` then names the error's type."""
    reason: str
    truncated: bool
    """True if the budget cut evidence of a count or a list."""
    plan: Plan
    explanation: Explanation | None

    @classmethod
    def of(cls, result: SearchResult) -> Self:
        """From a search."""
        return cls(**{name: getattr(result, name) for name in cls.model_fields})


class MemoryView(Frozen):
    """A record."""

    id: UUID
    kind: MemoryKind
    title: str
    text: str
    event_time: TimeSpan | None
    mention_time: AwareDatetime
    status: Status
    input_id: UUID
    chunk_id: UUID
    """The part of the input it was written from: what a round of AutoDream may take as its frontier."""
    session_id: str
    sources: tuple[Source, ...]
    attributes: dict[str, str]
    degraded: str
    version: int
    index_status: IndexStatus
    index_step: str
    index_reason: str

    @classmethod
    def of(cls, record: Record) -> Self:
        """From a record."""
        return cls(**{name: getattr(record, name) for name in cls.model_fields})


class MemoryPage(Frozen):
    """In a stable order; `next` is the `after` of the following page, null on the last."""

    items: tuple[MemoryView, ...]
    next: UUID | None


class MessageView(Frozen):
    """A turn as it was said, secrets replaced by `[vault:<caption>]`."""

    id: str
    speaker: str
    text: str
    sent_at: AwareDatetime
    captions: tuple[str, ...]

    @classmethod
    def of(cls, message: Message) -> Self:
        """From a message."""
        return cls(**{name: getattr(message, name) for name in cls.model_fields})


class SourcesView(Frozen):
    """The turns a record was written from."""

    record_id: UUID
    items: tuple[MessageView, ...]


class FrameView(Frozen):
    """A fact of the graph with the records it cites."""

    id: str
    kind: MemoryKind
    predicate: str
    arms: tuple[FrameArm, ...]
    literals: tuple[Literal, ...]
    event_time: TimeSpan | None
    mention_time: datetime | None
    status: Status
    negated: bool
    modality: str
    record_ids: tuple[UUID, ...]

    @classmethod
    def of(cls, frame: Frame) -> Self:
        """From a frame."""
        return cls(**{name: getattr(frame, name) for name in cls.model_fields})


class FactsView(Frozen):
    """The frames that cite a record."""

    record_id: UUID
    items: tuple[FrameView, ...]


class AnchorView(Frozen):
    """An entity or concept of the graph."""

    id: UUID
    name: str
    type: AnchorType
    aliases: tuple[str, ...]
    mentions: int
    score: float

    @classmethod
    def of(cls, anchor: Anchor) -> Self:
        """From an anchor."""
        return cls(**{name: getattr(anchor, name) for name in cls.model_fields})


class AnchorPage(Frozen):
    """In a stable order; `next` is the `after` of the following page, null on the last."""

    items: tuple[AnchorView, ...]
    next: UUID | None


class AnchorDetail(Frozen):
    """An anchor with its degree, counted up to a ceiling, and a page of its frames in id order; `next` is the `after`
    of the following page, null on the last."""

    anchor: AnchorView
    degree: int
    frames: tuple[FrameView, ...]
    next: str | None


class HealthView(Frozen):
    """The process answers."""

    status: str


class ReadyView(Frozen):
    """Whether requests can be served, by part: `ok` or the error's type."""

    ready: bool
    parts: dict[str, str]
