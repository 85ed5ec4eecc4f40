"""What the routes of AutoDream take and give."""

from typing import Annotated, Literal, Self
from urllib.parse import quote
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field, StrictBool

from api.views import User, storable_text
from domain.dream.asking import (
    MAX_ACTOR_CHARACTERS,
    MAX_CHUNKS,
    MAX_NAME_CHARACTERS,
    MAX_TIMEOUT_SECONDS,
    MIN_TIMEOUT_SECONDS,
)
from domain.dream.rounds import (
    Consolidation,
    ConsolidationState,
    Mode,
    NewConsolidation,
    Pair,
    PairState,
    Receipt,
    Stage,
)
from domain.graph import Merge, MergeState
from domain.memory import AnchorType, Frozen
from domain.model_calls import Verdict

DEFAULT_TIMEOUT_SECONDS = 3600

Actor = Annotated[str, Field(max_length=MAX_ACTOR_CHARACTERS), AfterValidator(storable_text)]
"""Who asks, for the audit."""

Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARACTERS), AfterValidator(storable_text)]
"""Of an anchor."""


class ConsolidationIn(Frozen):
    """A Dream round. Its frontier: the semantic records of chunks, or of inputs accepted from a time on, or with
    neither all news that no round has used. The request id comes from the `Idempotency-Key` header."""

    user_id: User
    mode: Literal["intermediate", "final"] = "intermediate"
    dry_run: StrictBool = False
    """Propose merges, and change nothing."""
    review: StrictBool = False
    """Hold each merge for a person."""
    chunk_ids: Annotated[tuple[UUID, ...], Field(max_length=MAX_CHUNKS)] = ()
    since: AwareDatetime | None = None
    actor: Actor = ""
    timeout_seconds: int = Field(
        default=DEFAULT_TIMEOUT_SECONDS, strict=True, ge=MIN_TIMEOUT_SECONDS, le=MAX_TIMEOUT_SECONDS
    )
    """From its turn at the graph to its end."""

    def new(self, request_id: str) -> NewConsolidation:
        """The same under a request id."""
        return NewConsolidation(**self.model_dump(), request_id=request_id)


class UndoIn(Frozen):
    """Merges to take back: all of a consolidation, or the one that absorbed an anchor."""

    absorbed: UUID | None = None
    actor: Actor = ""


class DecisionIn(Frozen):
    """A person's word on a merge under review."""

    approve: StrictBool
    keep: Name | None = None
    """With approval: the one of the two names that stays, where it is not the one proposed."""
    actor: Actor = ""


class MergeIn(Frozen):
    """A merge by hand: what `absorbed` holds goes to the anchor of the path."""

    absorbed: UUID
    force: StrictBool = False
    """Though the guard forbids it (another type, another number, a frame with both)."""
    actor: Actor = ""


class SplitIn(Frozen):
    """A name that leaves its anchor."""

    name: Name
    actor: Actor = ""


class ConsolidationView(Frozen):
    """What was asked of AutoDream, and what came of it."""

    id: UUID
    user_id: str
    request_id: str
    sequence: int
    mode: Mode
    dry_run: bool
    review: bool
    chunk_ids: tuple[UUID, ...]
    since: AwareDatetime | None
    target: UUID | None
    absorbed: UUID | None
    name: str
    force: bool
    actor: str
    timeout_seconds: int
    state: ConsolidationState
    step: str
    reason: str
    detail: str
    receipt: Receipt
    accepted_at: AwareDatetime
    started_at: AwareDatetime | None
    finished_at: AwareDatetime | None
    status_url: str

    @classmethod
    def of(cls, consolidation: Consolidation) -> Self:
        """From a consolidation; `status_url` is relative to the server."""
        url = f"/v1/consolidations/{consolidation.id}?user_id={quote(consolidation.user_id, safe='')}"
        return cls(**consolidation.model_dump(include=set(cls.model_fields)), status_url=url)


class RequestedView(Frozen):
    """The answer to a request."""

    consolidation: ConsolidationView
    created: bool
    """False if the same was asked for before."""
    status_url: str


class ConsolidationPage(Frozen):
    """Newest first; `next` is the `before` of the following page, null on the last."""

    items: tuple[ConsolidationView, ...]
    next: int | None


class PairEndView(Frozen):
    """One anchor of a pair, as it was when the pair was formed."""

    anchor_id: UUID
    name: str
    record_ids: tuple[UUID, ...]
    """The evidence that the verification read."""


class PairView(Frozen):
    """Two anchors that were compared."""

    id: UUID
    stage: Stage
    type: AnchorType
    a: PairEndView
    b: PairEndView
    similarity: float
    """Cosine of the two names."""
    state: PairState
    verdict: Verdict | None
    canonical: UUID | None
    canonical_name: str | None
    """The name that stays."""
    reason: str
    decided_by: str

    @classmethod
    def of(cls, pair: Pair) -> Self:
        """From a pair."""
        return cls.model_validate({**pair.model_dump(exclude={"key"}), "canonical_name": canonical_name(pair)})


class PairPage(Frozen):
    """In a stable order; `next` is the `after` of the following page, null on the last."""

    items: tuple[PairView, ...]
    next: UUID | None


class MergeView(Frozen):
    """An entry of the merge log."""

    id: UUID
    consolidation_id: UUID
    absorbed: UUID
    absorbed_name: str
    representative: UUID
    representative_name: str
    type: AnchorType
    state: MergeState
    merged_at: AwareDatetime
    undone_by: UUID | None
    """The consolidation that took it back."""

    @classmethod
    def of(cls, merge: Merge) -> Self:
        """From an entry of the log."""
        return cls(**{name: getattr(merge, name) for name in cls.model_fields})


class MergePage(Frozen):
    """In a stable order; `next` is the `after` of the following page, null on the last."""

    items: tuple[MergeView, ...]
    next: UUID | None

    @classmethod
    def of(cls, merges: tuple[Merge, ...], limit: int) -> Self:
        """From a page of the log."""
        return cls(items=tuple(map(MergeView.of, merges)), next=merges[-1].id if len(merges) == limit else None)


def canonical_name(pair: Pair) -> str | None:
    """The name that stays if the two are one; None without a verdict."""
    return next((end.name for end in (pair.a, pair.b) if end.anchor_id == pair.canonical), None)
