"""What a search holds between its graph reads and its answer, and the choices made there (paper 2.4, A.3; design 4)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Self
from uuid import UUID

from pydantic import Field

from domain.graph import AnchorHit
from domain.memory import Anchor, AnchorType, Frame, Frozen, Record
from domain.retrieval import lanes
from domain.retrieval.entry import AnchorCandidate, ScoredAnchor
from domain.retrieval.fusion import Quota
from domain.retrieval.plan import Operator, Plan
from domain.retrieval.query import Fact, SearchQuery
from domain.retrieval.rows import RowFeatures, shortlist
from domain.retrieval.scoring import (
    K_F,
    OBJECT_TYPES,
    SAME_FAMILY,
    FactContext,
    FactScore,
    balanced,
    family_stems,
    frame_text,
    rarity,
    shared_objects,
    with_object,
)
from domain.retrieval.times import local_day
from domain.retrieval.words import content, stems


class Entered(Frozen):
    """Everything that may be answered, before fusion."""

    plan: Plan
    records: tuple[Record, ...] = ()
    """Entered rows the query sees, without repetition."""
    cosines: dict[UUID, float] = Field(default_factory=dict)
    frame_cosines: dict[UUID, float] = Field(default_factory=dict)
    """Best cosine of a frame that cites the row."""
    fact_scores: dict[UUID, float] = Field(default_factory=dict)
    """Best s_F of a frame that cites the row."""
    frame_texts: dict[UUID, str] = Field(default_factory=dict)
    """What the frames that cite the row say."""
    around: dict[UUID, str] = Field(default_factory=dict)
    """The messages around the rows that were looked at closely."""
    cited: frozenset[UUID] = frozenset()
    """Rows cited by the facts considered."""
    why: dict[UUID, tuple[str, ...]] = Field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    facts_cut: int = 0
    """Frames of the asked relation that found no room among the facts."""
    anchors: tuple[ScoredAnchor, ...] = ()
    anchors_cut: int = 0
    """Anchors that were recalled or named and not kept."""
    fact_terms: dict[str, FactScore] = Field(default_factory=dict)
    frames_read: int = 0
    reason: str = ""
    """Type of the error that made direct search necessary."""

    def joined(self, other: Self) -> Self:
        """With the rows of another way in; facts and plan stay."""
        return self.model_copy(
            update={
                "records": (*self.records, *other.records),
                "cosines": {**other.cosines, **self.cosines},
                "around": {**other.around, **self.around},
                "why": {**other.why, **self.why},
            }
        )


class Doors(Frozen):
    """Where a question enters the graph."""

    plan: Plan
    anchors: tuple[ScoredAnchor, ...]
    """At most K_A, best first."""
    anchors_cut: int = 0
    """Anchors that were recalled or named and not kept."""
    exact: dict[UUID, AnchorType] = Field(default_factory=dict)
    """Exactly named anchors, at most MAX_EXACT."""
    runs: dict[str, UUID] = Field(default_factory=dict)
    """Anchor by the words of the question that name it."""
    related: tuple[Frame, ...] = ()
    """Frames of the exactly named anchors that pass the predicate filter, at most K_F."""


class Pool(Frozen):
    """Frames and rows the lanes have read, with their cosines."""

    frames: tuple[Frame, ...]
    incident: tuple[Frame, ...]
    frame_cosines: dict[str, float]
    cosines: dict[UUID, float]
    why: dict[UUID, tuple[str, ...]]
    around: dict[UUID, str] = Field(default_factory=dict)
    """The messages around the rows that were looked at closely."""


def anchor_candidates(
    hits: Sequence[AnchorHit],
    exact: Iterable[Anchor],
    *,
    degrees: Mapping[UUID, int],
    related: Sequence[Frame],
) -> tuple[AnchorCandidate, ...]:
    """The recalled and the exactly named anchors, each once.

    A named anchor outside the recall lies below all of it: the lowest recalled cosine is the closest bound there is.
    """
    joined = {arm.anchor_id for frame in related for arm in frame.arms}
    cosines = {hit.anchor_id: hit.score for hit in hits}
    floor = min(cosines.values(), default=0.0)
    by_id = {
        hit.anchor_id: AnchorCandidate(
            anchor_id=hit.anchor_id, name=hit.name, type=hit.type, aliases=hit.aliases, cosine=hit.score
        )
        for hit in hits
    }
    for anchor in exact:
        by_id[anchor.id] = AnchorCandidate(
            anchor_id=anchor.id,
            name=anchor.name,
            type=anchor.type,
            aliases=anchor.aliases,
            cosine=cosines.get(anchor.id, floor),
            exact=True,
            degree=degrees.get(anchor.id, 0),
            predicate=anchor.id in joined,
        )
    return tuple(by_id.values())


def ways_in(
    own: Iterable[Iterable[UUID]], incident: Sequence[Frame], cosines: Mapping[UUID, float]
) -> dict[UUID, tuple[str, ...]]:
    """Rows that the kept anchors (`own`, under their cap already) and their frames bring into the base lane, and how
    each came in; those of the frames under a cap and in vector order."""
    why: dict[UUID, tuple[str, ...]] = {}
    for ids in own:
        note(why, ids, "anchor")
    by_frames = (record for frame in incident for record in frame.record_ids)
    note(why, lanes.nearest(by_frames, cosines, limit=lanes.CITED_ROWS), "frame")
    return why


def note(why: dict[UUID, tuple[str, ...]], ids: Iterable[UUID], way: str) -> None:
    """Add a way in to each of the rows."""
    for record in ids:
        if way not in why.get(record, ()):
            why[record] = (*why.get(record, ()), way)


def lane_frames(doors: Doors, pool: Pool) -> tuple[Frame, ...]:
    """At most K_F frames: those of the asked relation first, then others that the base lane read at the exactly named
    anchors, for predicates are an open vocabulary and a filter by surface form misses some. Only frames with the
    concrete object are kept, if the question names one."""
    if not doors.plan.relation:
        return ()
    named = frozenset(doors.exact)
    at_named = (frame for frame in pool.incident if any(arm.anchor_id in named for arm in frame.arms))
    frames = lanes.united((*doors.related, *at_named))[:K_F]
    objects = [
        frozenset(stems(" ".join(content(run))))  # `the roof` in the question is `roof` on the frame
        for run, anchor in doors.runs.items()
        if doors.exact[anchor] in OBJECT_TYPES
    ]
    return with_object(frames, objects)


def fact_context(
    doors: Doors, pool: Pool, candidates: Sequence[Frame], seen: Mapping[UUID, Record], query: SearchQuery
) -> FactContext:
    """What the terms of s_F need, from what the lanes have read."""
    named = frozenset(doors.exact)
    return FactContext(
        named=named,
        names=doors.runs,
        shared=shared_objects(candidates, named) if doors.plan.operator is Operator.INTERSECTION else frozenset(),
        family=family_stems(doors.plan),
        rarity=rarity(doors.plan.constraints, pool.frames),
        cosines=pool.frame_cosines,
        record_days={record.id: _day(record, query) for record in seen.values()},
    )


def _day(record: Record, query: SearchQuery) -> date:
    return record.event_time.start if record.event_time else local_day(record.mention_time, query.timezone)


def considered(ranked: Sequence[Frame], doors: Doors, *, quota: Quota) -> tuple[Frame, ...]:
    """Frames whose rows count as cited: the first B_R (paper), twice as many under a soft quota (platform.md 5); of an
    intersection both sides."""
    limit = doors.plan.budget.cited * (2 if quota is Quota.SOFT else 1)
    if doors.plan.operator is Operator.INTERSECTION:
        return balanced(ranked, frozenset(doors.exact), limit=limit)
    return tuple(ranked[:limit])


def without_room(ranked: Sequence[Frame], facts: Sequence[Fact], scores: Mapping[str, FactScore]) -> int:
    """How many frames of the asked relation are told by no fact."""
    told = {frame for fact in facts for frame in fact.frame_ids}
    return sum(frame.id not in told and scores[frame.id].terms["rel"] >= SAME_FAMILY for frame in ranked)


def best_of_rows(pool: Pool, scores: Mapping[str, FactScore]) -> tuple[dict[UUID, float], dict[UUID, float]]:
    """For each row the best cosine and the best s_F of the frames read that cite it."""
    cosines: dict[UUID, float] = {}
    facts: dict[UUID, float] = {}
    for frame in pool.frames:
        for record in frame.record_ids:
            cosines[record] = max(cosines.get(record, -1.0), pool.frame_cosines.get(frame.id, -1.0))
            facts[record] = max(facts.get(record, scores[frame.id].score), scores[frame.id].score)
    return cosines, facts


def row_features(record: Record, entered: Entered) -> RowFeatures:
    """What an entered row is scored by."""
    return RowFeatures(
        id=record.id,
        text=row_text(record, entered.frame_texts),
        cosine=entered.cosines.get(record.id, 0.0),
        frame_cosine=entered.frame_cosines.get(record.id),
        fact=entered.fact_scores.get(record.id),
        around=entered.around.get(record.id),
    )


def shortlisted(pool: Pool, seen: Mapping[UUID, Record], words: Sequence[str]) -> tuple[UUID, ...]:
    """Rows of the pool to look at closely, at most SHORTLIST, best first."""
    texts = texts_of_rows(pool.frames)
    rows = [
        RowFeatures(id=record.id, text=row_text(record, texts), cosine=pool.cosines.get(record.id, 0.0))
        for record in seen.values()
    ]
    return shortlist(rows, words, limit=lanes.SHORTLIST)


def row_text(record: Record, frame_texts: Mapping[UUID, str]) -> str:
    """Title, text, and what the frames say that cite it."""
    return f"{record.title}. {record.text} {frame_texts.get(record.id, '')}"


def texts_of_rows(frames: Iterable[Frame]) -> dict[UUID, str]:
    """For each row what the frames that cite it say, in the order given."""
    texts: dict[UUID, list[str]] = {}
    for frame in frames:
        said = frame_text(frame)
        for record in frame.record_ids:
            texts.setdefault(record, []).append(said)
    return {record: " ".join(parts) for record, parts in texts.items()}
