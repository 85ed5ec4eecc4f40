"""Fact scoring of the relation lane (paper Eq. 11, A.3; design 4.3). Each term is one function."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from uuid import UUID

from pydantic import Field

from domain.memory import AnchorType, Frame, Frozen, Status
from domain.retrieval.lexicon import CONVERSES
from domain.retrieval.plan import ANCHOR_TYPES, AnswerType, Operator, Plan, Side
from domain.retrieval.words import NOT_CONTENT, stem, stems

K_F = 240
"""Frames the relation lane scores at most (paper 2.4)."""

OBJECT_TYPES = frozenset({AnchorType.OBJECT, AnchorType.CONTENT, AnchorType.ORGANIZATION, AnchorType.LOCATION})
"""Types whose exactly named anchors are a concrete object of the question (the paper gives no list)."""

SUBJECT_ROLES = frozenset((
    "agent", "subject", "actor", "experiencer", "author", "owner", "possessor", "giver", "sender", "speaker",
    "performer", "passenger", "participant", "member", "co_agent", "co_experiencer", "traveler", "traveller",
    "student", "employee", "winner", "host", "seller", "buyer", "creator",
))  # fmt: skip
"""Roles of who does, feels or has something. Roles are an open vocabulary: every other role is on the object side."""

NOT_DONE = frozenset({Status.PLANNED, Status.HYPOTHETICAL, Status.CANCELLED})
"""What has not happened and is no member of a count or a list of what did."""

STATE_OPERATORS = frozenset({Operator.COUNT, Operator.LIST_UNION, Operator.TEMPORAL})
"""Operators under which planned events are punished (paper A.3)."""

SAME_FAMILY = 0.6
COSINE_SHARE = 0.8
COSINE_FLOOR = 0.3
WRONG_ROLE = -0.5
HALF_WEIGHT = 0.5
FULL_FRAME = 6
_EMPTY_STEMS = frozenset(stem(word) for word in NOT_CONTENT)
_CONVERSE_STEMS = frozenset(frozenset(stem(verb) for verb in pair) for pair in CONVERSES)


class FactWeights(Frozen):
    """Weights of s_F, as tried on recorded answers (platform.md 5)."""

    rel: float = 1.0
    """The asked relation, the unit of the scale."""
    entity: float = 0.6
    """Below the relation: a speaker is named in most questions and joins most frames."""
    constraint: float = 1.2
    """Above the relation: rare words of the question single out a frame better than its verb."""
    type: float = 0.3
    """A frame that could hold the answer."""
    time: float = 0.6
    """A date asked for is as telling as a participant."""
    intersection: float = 0.6
    """As much as an entity: the shared object is one (ours; the trial had no figure)."""
    specificity: float = 0.05
    """Breaks ties for the frame that binds more."""
    role: float = 0.4
    """Enough to turn `A gave B` against `B gave A`, not to outweigh the relation."""
    state: float = 0.3
    """Status and exact date refine; they never bring in what does not fit otherwise."""


WEIGHTS = FactWeights()


class FactContext(Frozen):
    """What the terms need beside frame and plan."""

    named: frozenset[UUID] = frozenset()
    """Exactly named anchors."""
    names: dict[str, UUID] = Field(default_factory=dict)
    """The persons of the plan's directions by their words in the question."""
    shared: frozenset[UUID] = frozenset()
    """Objects that frames of two named sides have in common (`shared_objects`)."""
    family: frozenset[str] = frozenset()
    """Stems of the plan's surface forms (`family_stems`)."""
    rarity: dict[str, float] = Field(default_factory=dict)
    """Idf of the plan's constraint stems over the frames scored (`rarity`)."""
    cosines: dict[str, float] = Field(default_factory=dict)
    """Cosine of the question with each rendered frame, by frame id."""
    record_days: dict[UUID, date] = Field(default_factory=dict)
    """Event day, or day of mention, of source records, in the user's zone."""


class FactScore(Frozen):
    """A frame's terms of s_F, weighted, and their sum."""

    frame_id: str
    score: float
    terms: dict[str, float]


def frame_text(frame: Frame) -> str:
    """Everything a frame says: predicate, arms and literals."""
    literals = (f"{lit.name} {lit.value} {lit.unit}" for lit in frame.literals)
    return " ".join((frame.predicate, *(arm.name for arm in frame.arms), *literals))


def frame_stems(frame: Frame) -> frozenset[str]:
    """Stems of everything a frame says."""
    return frozenset(stems(frame_text(frame))) - _EMPTY_STEMS


def family_stems(plan: Plan) -> frozenset[str]:
    """Stems of every word of the plan's surface forms that carries content."""
    return frozenset(part for surface in plan.predicates for part in stems(surface)) - _EMPTY_STEMS


def rarity(words: Sequence[str], frames: Sequence[Frame]) -> dict[str, float]:
    """Idf, ln(1 + n / (1 + df)), of stems over the frames."""
    found = Counter(part for frame in frames for part in frame_stems(frame) & frozenset(words))
    return {word: math.log1p(len(frames) / (1 + found[word])) for word in words}


def shared_objects(frames: Iterable[Frame], named: frozenset[UUID]) -> frozenset[UUID]:
    """Anchors, themselves not named, that frames of at least two different named anchors touch."""
    sides: dict[UUID, set[UUID]] = {}
    for frame in frames:
        present = {arm.anchor_id for arm in frame.arms}
        for other in present - named:
            sides.setdefault(other, set()).update(present & named)
    return frozenset(anchor for anchor, of in sides.items() if len(of) >= 2)


def s_rel(frame: Frame, plan: Plan, context: FactContext) -> float:
    """1 if a word of the predicate is asked for, 0.6 if it is of its family, else 0.8 (cos - 0.3) / 0.7 above 0."""
    predicate = frozenset(stems(frame.predicate)) - _EMPTY_STEMS
    if predicate & frozenset(plan.asked):
        return 1.0
    if predicate & context.family:
        return SAME_FAMILY
    return max(COSINE_SHARE * (context.cosines.get(frame.id, 0.0) - COSINE_FLOOR) / (1 - COSINE_FLOOR), 0.0)


def s_entity(frame: Frame, _plan: Plan, context: FactContext) -> float:
    """Share of the exactly named anchors that the frame joins."""
    present = {arm.anchor_id for arm in frame.arms}
    return len(present & context.named) / len(context.named) if context.named else 0.0


def s_constraint(frame: Frame, plan: Plan, context: FactContext) -> float:
    """Share, by rarity, of the question's constraint words that the frame has in its predicate, arms or literals."""
    total = sum(context.rarity.get(word, 1.0) for word in plan.constraints)
    present = frame_stems(frame)
    return sum(context.rarity.get(w, 1.0) for w in plan.constraints if w in present) / total if total else 0.0


def s_type(frame: Frame, plan: Plan, context: FactContext) -> float:
    """1 if the frame holds something of an expected answer type that the question does not name itself."""
    return float(any(_holds(frame, kind, context) for kind in plan.answer_types))


def _holds(frame: Frame, kind: AnswerType, context: FactContext) -> bool:
    if kind is AnswerType.TIME and frame.event_time is not None:
        return True
    if kind is AnswerType.NUMBER and any(any(c.isdigit() for c in literal.value) for literal in frame.literals):
        return True
    types = ANCHOR_TYPES[kind]
    return any(arm.type in types and arm.anchor_id not in context.named for arm in frame.arms)


def s_time(frame: Frame, plan: Plan, _context: FactContext) -> float:
    """Share of the date and order constraints that the frame's own event time satisfies; 0 if either is wanting."""
    if not plan.times or frame.event_time is None:
        return 0.0
    return sum(constraint.admits_span(frame.event_time) for constraint in plan.times) / len(plan.times)


def s_intersection(frame: Frame, plan: Plan, context: FactContext) -> float:
    """1 if the frame touches an object the named sides share, in an intersection question."""
    return float(plan.operator is Operator.INTERSECTION and in_shared_group(frame, context))


def in_shared_group(frame: Frame, context: FactContext) -> bool:
    """True if the frame joins a shared object, or two named anchors at once."""
    present = {arm.anchor_id for arm in frame.arms}
    return bool(present & context.shared) or len(present & context.named) >= 2


def s_specificity(frame: Frame, _plan: Plan, _context: FactContext) -> float:
    """Arguments the frame binds, arms and literals, in sixths, at most 1."""
    return min(len(frame.arms) + len(frame.literals), FULL_FRAME) / FULL_FRAME


def s_role(frame: Frame, plan: Plan, context: FactContext) -> float:
    """Mean over the directed names the frame joins: 1 on the side the question puts them, -0.5 if only on the other."""
    agreements = []
    flipped = _converse(frame, plan)
    for direction in plan.directions:
        roles = {arm.role for arm in frame.arms if arm.anchor_id == context.names.get(direction.name)}
        if roles:
            subject = (direction.side is Side.SUBJECT) is not flipped
            agreements.append(1.0 if any((role in SUBJECT_ROLES) is subject for role in roles) else WRONG_ROLE)
    return sum(agreements) / len(agreements) if agreements else 0.0


def _converse(frame: Frame, plan: Plan) -> bool:
    """True if the frame's verb says the asked one with the sides exchanged (`receive` asked, `give` stored)."""
    predicate = stems(frame.predicate)[:1]
    return any(frozenset({verb, asked}) in _CONVERSE_STEMS for verb in predicate for asked in plan.asked)


def s_state(frame: Frame, plan: Plan, context: FactContext) -> float:
    """Agreement with the asked date, half of it where only the source record has a time; minus 1 for what is not done
    in a count, list or temporal question that does not ask about plans."""
    planned = plan.operator in STATE_OPERATORS and not plan.future and frame.status in NOT_DONE
    return _date_agreement(frame, plan, context) - float(planned)


def _date_agreement(frame: Frame, plan: Plan, context: FactContext) -> float:
    if not plan.times:
        return 0.0
    if frame.event_time is not None:
        return float(all(constraint.admits_span(frame.event_time) for constraint in plan.times))
    days = [context.record_days[record] for record in frame.record_ids if record in context.record_days]
    fits = any(all(constraint.admits(day, day) for constraint in plan.times) for day in days)
    return HALF_WEIGHT * float(fits)


TERMS = {
    "rel": s_rel,
    "entity": s_entity,
    "constraint": s_constraint,
    "type": s_type,
    "time": s_time,
    "intersection": s_intersection,
    "specificity": s_specificity,
    "role": s_role,
    "state": s_state,
}


def score_fact(frame: Frame, plan: Plan, context: FactContext, *, weights: FactWeights = WEIGHTS) -> FactScore:
    """s_F(f, q) (paper Eq. 11)."""
    terms = {name: getattr(weights, name) * term(frame, plan, context) for name, term in TERMS.items()}
    return FactScore(frame_id=frame.id, score=sum(terms.values()), terms=terms)


def with_object(frames: Iterable[Frame], objects: Sequence[frozenset[str]]) -> tuple[Frame, ...]:
    """Frames that contain a concrete object the question names, as stems of its name; all frames if it names none.

    An arm contains an object if it has all its words: `pottery class` contains `pottery`.
    """
    if not objects:
        return tuple(frames)
    return tuple(frame for frame in frames if _contains(frame, objects))


def _contains(frame: Frame, objects: Sequence[frozenset[str]]) -> bool:
    arms = [frozenset(stems(arm.name)) for arm in frame.arms]
    return any(wanted <= arm for wanted in objects for arm in arms)


def rank(
    frames: Sequence[Frame], scores: Mapping[str, FactScore], plan: Plan, context: FactContext
) -> tuple[Frame, ...]:
    """Frames best first, ties by id. In an intersection the shared-object group stands before all others, so that
    recency or wording can't replace evidence of both sides (paper A.3)."""
    grouped = plan.operator is Operator.INTERSECTION

    def order(frame: Frame) -> tuple[bool, float, str]:
        outside = grouped and not in_shared_group(frame, context)
        return outside, -(scores[frame.id].score + context.cosines.get(frame.id, 0.0)), frame.id

    return tuple(sorted(frames, key=order))


def balanced(frames: Sequence[Frame], named: frozenset[UUID], *, limit: int) -> tuple[Frame, ...]:
    """The first `limit` frames of a ranking, taken in turn from the frames of each named side, so that both sides of an
    intersection stay in; the order is that of the ranking."""
    queues = [[frame for frame in frames if any(arm.anchor_id == side for arm in frame.arms)] for side in sorted(named)]
    queues.append(list(frames))
    chosen: dict[str, Frame] = {}
    for turn in range(len(frames)):
        for queue in queues:
            if turn < len(queue) and len(chosen) < limit:
                chosen.setdefault(queue[turn].id, queue[turn])
    return tuple(frame for frame in frames if frame.id in chosen)
