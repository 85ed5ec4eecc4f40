"""What a search is asked and what it answers (design 4)."""

from datetime import date
from uuid import UUID

from pydantic import AwareDatetime

from domain.memory import GRAPH_KINDS, FrameArm, Frozen, Literal, MemoryKind, Record, Source, Status, TimeSpan
from domain.retrieval.entry import ScoredAnchor
from domain.retrieval.fusion import Quota
from domain.retrieval.plan import Plan

MAX_QUERY = 4_000
"""Longest question in characters (ours)."""


class Filters(Frozen):
    """Rows must pass all that are set."""

    session_ids: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = ()
    since: date | None = None
    """The row's time (event, else mention) ends on this day or later."""
    until: date | None = None
    """The row's time starts on this day or earlier."""

    def admit(self, record: Record) -> bool:
        """True if the row passes."""
        start = record.event_time.start if record.event_time else record.mention_time.date()
        end = record.event_time.end if record.event_time else start
        return (
            (not self.session_ids or record.session_id in self.session_ids)
            and (not self.statuses or record.status in self.statuses)
            and (self.since is None or end >= self.since)
            and (self.until is None or start <= self.until)
        )


class SearchQuery(Frozen):
    """One read. `as_of` is the moment of asking: later mentions are not seen, relative dates resolve against it."""

    user_id: str
    query: str
    as_of: AwareDatetime
    timezone: str = "UTC"
    kinds: tuple[MemoryKind, ...] = GRAPH_KINDS
    filters: Filters = Filters()
    quota: Quota = Quota.SOFT
    limit_per_kind: int | None = None
    """Most rows of each kind; the plan's budget holds in any case."""
    explain: bool = False

    def sees(self, record: Record) -> bool:
        """True if the record is of an asked kind, known at `as_of` and passes the filters."""
        return record.kind in self.kinds and record.mention_time <= self.as_of and self.filters.admit(record)


class Fact(Frozen):
    """A frame as answered, with the records that justify it (invariant 1). Frames equal after a merge are one."""

    frame_ids: tuple[str, ...]
    kind: MemoryKind
    predicate: str
    arms: tuple[FrameArm, ...]
    literals: tuple[Literal, ...] = ()
    event_time: TimeSpan | None = None
    status: Status
    negated: bool = False
    modality: str = ""
    record_ids: tuple[UUID, ...]
    """Never empty; all are records of the user that the query sees."""
    score: float
    """s_F (paper Eq. 11)."""


class Row(Frozen):
    """A record as answered."""

    record_id: UUID
    kind: MemoryKind
    title: str
    text: str
    event_time: TimeSpan | None = None
    mention_time: AwareDatetime
    status: Status
    session_id: str
    sources: tuple[Source, ...] = ()
    score: float
    """Row score among the entered rows; comparable within one answer only."""
    why: tuple[str, ...] = ()
    """How it came in (`anchor`, `frame`, `co_participant`, `support`, `fact`, `direct`), then its share."""


class FactTerms(Frozen):
    """The terms of s_F of a returned fact, by its first frame."""

    frame_id: str
    terms: dict[str, float]


class Explanation(Frozen):
    """What a search did, for `explain`."""

    anchors: tuple[ScoredAnchor, ...] = ()
    """Kept anchors with the terms of s_A."""
    anchors_cut: int = 0
    """Anchors that were recalled or named and not kept."""
    facts: tuple[FactTerms, ...] = ()
    facts_cut: int = 0
    """Frames of the asked relation that found no room among the facts."""
    base_lane: tuple[UUID, ...] = ()
    """Rows that entered by the base lane."""
    relation_lane: tuple[UUID, ...] = ()
    """Rows cited by the facts considered."""
    frames_read: int = 0
    frames_scored: int = 0
    rows_entered: int = 0
    collapsed: tuple[UUID, ...] = ()
    cut: tuple[UUID, ...] = ()
    """Entered rows the budget had no room for, best first, at most 50."""
    rows_cut: int = 0
    """How many these are in all."""


class SearchResult(Frozen):
    """Facts with the rows that justify them, both bounded by the plan's budgets."""

    facts: tuple[Fact, ...] = ()
    rows: tuple[Row, ...] = ()
    degraded: bool = False
    """True if the graph could not be read and rows came by direct search; `reason` then is the error's type."""
    reason: str = ""
    truncated: bool = False
    """True if the budget cut evidence of a count or a list."""
    plan: Plan
    explanation: Explanation | None = None
