"""Laws of frame identity (paper Eq. 6-8; design 2 invariant 2, 3.3)."""

import random
from uuid import UUID

from hypothesis import assume, given
from hypothesis import strategies as st

from domain.frames import episodic_id, occurrence, render, semantic_id, sigma
from domain.graph_plan import plan_write, with_vectors
from domain.keys import anchor_key
from domain.memory import (
    GRAPH_KINDS,
    Arm,
    Entity,
    Extraction,
    FrameDraft,
    Granularity,
    MemoryKind,
    Status,
    TimeSpan,
)
from tests.strategies import a_record, days, extractions, ids, names, predicates, roles, statuses, wild_text

arms = st.lists(st.tuples(roles, names.map(anchor_key)), min_size=2, max_size=7)


@given(arms, st.randoms(use_true_random=False))
def test_sigma_ignores_order_and_repetition(pairs: list[tuple[str, str]], shuffler: random.Random) -> None:
    shuffled = shuffler.sample(pairs, len(pairs)) + pairs[:1]
    assert sigma(shuffled) == sigma(pairs)
    assert list(sigma(pairs)) == sorted(set(sigma(pairs)))


@given(arms, arms, predicates)
def test_ids_differ_with_sigma(first: list[tuple[str, str]], second: list[tuple[str, str]], predicate: str) -> None:
    same = set(first) == set(second)
    assert (semantic_id("u", predicate, sigma(first)) == semantic_id("u", predicate, sigma(second))) == same


@given(predicates, arms, ids, ids)
def test_undated_occurrences_of_two_records_differ(
    predicate: str, pairs: list[tuple[str, str]], first: UUID, second: UUID
) -> None:
    assume(first != second)
    frame = FrameDraft(predicate=predicate, arms=())
    one, other = (episodic_id("u", predicate, sigma(pairs), occurrence(frame, each)) for each in (first, second))
    assert one != other
    assert one == episodic_id("u", predicate, sigma(pairs), occurrence(frame, first))


@given(predicates, arms, ids, ids, days, statuses, statuses)
def test_one_day_is_one_occurrence_whatever_its_status(
    predicate: str, pairs: list[tuple[str, str]], first: UUID, second: UUID, day: object, done: Status, planned: Status
) -> None:
    found = set()
    for record, status, granularity in ((first, done, Granularity.DAY), (second, planned, Granularity.RANGE)):
        span = TimeSpan.model_validate({"start": day, "end": day, "granularity": granularity})
        frame = FrameDraft(predicate=predicate, arms=(), event_time=span, status=status)
        found.add(episodic_id("u", predicate, sigma(pairs), occurrence(frame, record)))
    assert len(found) == 1


@given(st.lists(wild_text, min_size=1, max_size=4), st.lists(wild_text, min_size=1, max_size=4), wild_text)
def test_no_two_inputs_collide_by_concatenation(first: list[str], second: list[str], user: str) -> None:
    ids_equal = semantic_id(user, "p", tuple(first)) == semantic_id(user, "p", tuple(second))
    assert ids_equal == (first == second)


@given(st.sampled_from(GRAPH_KINDS), extractions())
def test_a_plan_is_closed_and_the_same_every_time(kind: MemoryKind, extraction: Extraction) -> None:
    record = a_record(kind=kind)
    planned = plan_write(record, extraction, {})
    assert planned == plan_write(record, extraction, {})
    keys = {anchor.key for anchor in planned.anchors}
    assert len(keys) == len(planned.anchors) == len(planned.anchor_names)
    assert len({frame.id for frame in planned.frames}) == len(planned.frames) == len(planned.frame_texts)
    for frame in planned.frames:
        assert {arm.key for arm in frame.arms} <= keys
        assert len({arm.key for arm in frame.arms}) >= 2
        assert bool(frame.occurrence) == (kind is MemoryKind.EPISODIC)
    vectors = ([[1.0]] * len(planned.anchors), [[0.5]] * len(planned.frames))
    write = with_vectors(planned, *vectors)
    assert all(anchor.vector == [1.0] for anchor in write.anchors)
    assert all(frame.vector == [0.5] for frame in write.frames)


@given(extractions(), st.randoms(use_true_random=False))
def test_frame_ids_do_not_depend_on_the_order_of_arms(extraction: Extraction, shuffler: random.Random) -> None:
    turned = tuple(
        frame.model_copy(update={"arms": tuple(shuffler.sample(frame.arms, len(frame.arms)))})
        for frame in extraction.frames
    )
    few = Extraction(frames=extraction.frames[:2])
    assume(len({anchor_key(arm.name) for frame in few.frames for arm in frame.arms}) <= 14)
    record = a_record()
    ids_before = {frame.id for frame in plan_write(record, few, {}).frames}
    assert ids_before == {frame.id for frame in plan_write(record, Extraction(frames=turned[:2]), {}).frames}


@given(predicates, st.lists(st.tuples(roles, wild_text), max_size=4))
def test_a_frame_renders_as_one_line(predicate: str, pairs: list[tuple[str, str]]) -> None:
    assert len(render(predicate, pairs).splitlines()) <= 1


def test_a_denial_is_not_support_for_what_it_denies() -> None:
    entities = (Entity(name="Priya"), Entity(name="fish"))
    pair = (Arm(role="agent", name="Priya"), Arm(role="object", name="fish"))
    likes = FrameDraft(predicate="like", arms=pair)
    both = Extraction(entities=entities, frames=(likes, likes.model_copy(update={"negated": True})))
    assert len(plan_write(a_record(kind=MemoryKind.SEMANTIC), both, {}).frames) == 2
