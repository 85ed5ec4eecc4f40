"""Where a gold turn that an answer lacks was lost: the stage that dropped the last record that cites it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from uuid import UUID

from domain.memory import Anchor, Frozen, Record
from domain.ports import GraphStore
from tests.evals.asking import Answered
from tests.evals.conversations import CATEGORIES

FRAMES = 1_000
"""Frames of the records of one turn that are looked at."""


class Stage(StrEnum):
    """From the first to the last step of a read; a turn counts for the latest that any of its records reached."""

    NO_RECORD = "no record"
    """No record cites the turn."""
    NO_ANCHOR = "no anchor entry"
    """Its records share no frame with an anchor that was kept."""
    LANE = "lane"
    """A kept anchor shares a frame with one of its anchors, yet it is no row of a kept anchor."""
    CAP = "cap"
    """A kept anchor holds it, and the row did not get in."""
    FUSION = "fusion"
    """The row entered and had no room in the answer."""


class Miss(Frozen):
    """A gold turn that no row of the answer cites."""

    question_id: str
    category: str
    operator: str
    turn: str
    stage: Stage


async def misses(
    answered: Sequence[Answered], records: Mapping[str, Sequence[Record]], graph: GraphStore
) -> list[Miss]:
    """Every miss of the answers; `records` holds all records by user."""
    return [
        Miss(
            question_id=one.question.id,
            category=CATEGORIES[one.question.category],
            operator=one.result.plan.operator.value,
            turn=turn,
            stage=await _stage(one, turn, records[one.user_id], graph),
        )
        for one in answered
        for turn in sorted(one.question.gold - {cited for row in one.rows for cited in row})
    ]


def by_stage(found: Sequence[Miss]) -> Mapping[Stage, tuple[int, int]]:
    """Turns lost at each stage, and questions with at least one such turn."""
    turns = Counter(miss.stage for miss in found)
    questions = Counter(stage for _, stage in {(miss.question_id, miss.stage) for miss in found})
    return {stage: (turns[stage], questions[stage]) for stage in Stage}


async def _stage(one: Answered, turn: str, records: Sequence[Record], graph: GraphStore) -> Stage:
    citing = {record.id for record in records if any(source.turn_id == turn for source in record.sources)}
    if not citing:
        return Stage.NO_RECORD
    if citing & {*one.explanation.base_lane, *one.explanation.relation_lane}:
        return Stage.FUSION
    kept = await graph.anchors(one.user_id, [anchor.anchor_id for anchor in one.explanation.anchors])
    if citing & _held(kept):
        return Stage.CAP
    frames = await graph.frames_of_records(one.user_id, sorted(citing), limit=FRAMES)
    beside = await graph.anchors(one.user_id, sorted({arm.anchor_id for frame in frames for arm in frame.arms}))
    return Stage.LANE if _held(beside) & _held(kept) else Stage.NO_ANCHOR


def _held(anchors: Sequence[Anchor]) -> set[UUID]:
    return {record for anchor in anchors for record in (*anchor.episodic_ids, *anchor.semantic_ids)}
