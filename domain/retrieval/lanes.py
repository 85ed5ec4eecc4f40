"""Choices between graph reads: which rows, frames and anchors each lane takes on (paper 2.4, A.3; design 4.2, 4.3)."""

from collections.abc import Container, Iterable, Mapping, Sequence
from uuid import UUID

from domain.memory import Frame, FrameArm, MemoryKind, Record
from domain.retrieval.query import Fact
from domain.retrieval.scoring import FactScore

ROWS_PER_ANCHOR = 60
"""Rows of one anchor that enter, in vector order (platform.md 5: 30 to 100)."""

FRAMES_PER_ANCHOR = 60
"""Incident frames of one kept anchor the base lane reads (ours)."""

CITED_ROWS = 240
"""Rows that enter because a frame of the base lane cites them, in vector order (ours; as many as K_F)."""

CO_PARTICIPANTS = 20
"""Co-participants of the best frames whose rows are looked at (ours)."""

CO_PARTICIPANT_ROWS = 30
"""Rows of co-participants that enter (platform.md 5: 20 to 40 are enough)."""

ROWS_RANKED = 20_000
"""Rows of one anchor ranked by vector: up to here an exact scan is quick (platform.md 2, vectors). Of a larger hub as
many are ranked, drawn by their ids."""

CO_PARTICIPANT_ROWS_RANKED = 2_000
"""The same of one co-participant (ours): all of them together bring in no more than CO_PARTICIPANT_ROWS."""

SEEDS = 10
"""Best rows whose surroundings are looked up (ours)."""

SUPPORT_ROWS = 40
"""Same-chunk rows and temporal neighbours looked up, each (ours)."""

CHUNK_DISTANCE = 2
"""Same-chunk support reaches this many records either way (platform.md 5)."""

SHORTLIST = 60
"""Rows looked at closely: their frames and the messages around them are read (ours; 40 to 100 are alike)."""

FRAMES_OF_ROWS = 400
"""Frames of the rows looked at closely (ours): six or seven each."""

AROUND_CHARACTERS = 1_000
"""Of each message around a row (ours): a turn is shorter, a document is longer."""

CITATIONS_PER_FACT = 8
"""Rows one fact brings in, in vector order (ours): a claim supported a hundred times is not to fill the budget."""


def nearest(ids: Iterable[UUID], cosines: Mapping[UUID, float], *, limit: int) -> tuple[UUID, ...]:
    """The ids in vector order, ties by id; ids without a cosine are no rows of the user and fall out."""
    return tuple(sorted((i for i in set(ids) if i in cosines), key=lambda i: (-cosines[i], i))[:limit])


def joined(ranked: Iterable[Mapping[UUID, float]]) -> dict[UUID, float]:
    """The rows of several rankings with their cosines."""
    return {record: cosine for rows in ranked for record, cosine in rows.items()}


def co_participants(frames: Iterable[Frame], kept: frozenset[UUID], cosines: Mapping[str, float]) -> tuple[UUID, ...]:
    """Anchors that share a frame with a kept one, those of the frames nearest to the question first."""
    ordered = sorted(frames, key=lambda frame: (-cosines.get(frame.id, 0.0), frame.id))
    found = (arm.anchor_id for frame in ordered for arm in frame.arms if arm.anchor_id not in kept)
    return tuple(dict.fromkeys(found))[:CO_PARTICIPANTS]


def near_in_chunk(candidates: Iterable[Record], seeds: Iterable[Record]) -> tuple[Record, ...]:
    """Candidates within CHUNK_DISTANCE of a seed among the records of their chunk and kind."""
    spots: dict[tuple[UUID, MemoryKind], list[int]] = {}
    for seed in seeds:
        spots.setdefault((seed.chunk_id, seed.kind), []).append(seed.ordinal)
    return tuple(
        record
        for record in candidates
        if any(abs(record.ordinal - at) <= CHUNK_DISTANCE for at in spots.get((record.chunk_id, record.kind), ()))
    )


def united(frames: Iterable[Frame]) -> tuple[Frame, ...]:
    """The frames without repetition, in order of first appearance."""
    return tuple({frame.id: frame for frame in reversed(list(frames))}.values())[::-1]


def facts_of(
    frames: Sequence[Frame], scores: Mapping[str, FactScore], seen: Container[UUID], *, limit: int
) -> tuple[Fact, ...]:
    """At most `limit` facts of ranked frames, each citing only records in `seen`; a frame without any is left out.

    Frames that say the same of the same anchors are one fact with the union of citations (design 3.3): semantic ones,
    and episodic ones of the same explicit time. Undated occurrences stay apart (invariant 2).
    """
    merged: dict[str, Fact] = {}
    for frame in frames:
        cited = tuple(record for record in frame.record_ids if record in seen)
        if not cited:
            continue
        same = _sameness(frame)
        if same in merged:
            merged[same] = _with(merged[same], frame, cited)
        elif len(merged) < limit:
            merged[same] = _fact(frame, cited, scores[frame.id].score)
    return tuple(merged.values())


def _sameness(frame: Frame) -> str:
    if frame.kind is MemoryKind.EPISODIC and frame.event_time is None:
        return frame.id
    arms = sorted(f"{arm.role}:{arm.anchor_id}" for arm in frame.arms)
    literals = sorted(f"{literal.name}={literal.value} {literal.unit}" for literal in frame.literals)
    when = frame.event_time.model_dump_json() if frame.event_time else ""
    parts = (frame.kind, frame.predicate, *arms, *literals, when, frame.status, str(frame.negated), frame.modality)
    return "\n".join(parts)


def _with(fact: Fact, frame: Frame, cited: tuple[UUID, ...]) -> Fact:
    return fact.model_copy(
        update={
            "frame_ids": (*fact.frame_ids, frame.id),
            "record_ids": tuple(dict.fromkeys((*fact.record_ids, *cited))),
        }
    )


def _fact(frame: Frame, cited: tuple[UUID, ...], score: float) -> Fact:
    return Fact(
        frame_ids=(frame.id,),
        kind=frame.kind,
        predicate=frame.predicate,
        arms=_ordered(frame.arms),
        literals=frame.literals,
        event_time=frame.event_time,
        status=frame.status,
        negated=frame.negated,
        modality=frame.modality,
        record_ids=cited,
        score=score,
    )


def _ordered(arms: tuple[FrameArm, ...]) -> tuple[FrameArm, ...]:
    return tuple(sorted(arms, key=lambda arm: (arm.role, arm.anchor_id)))
