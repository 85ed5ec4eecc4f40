"""Laws of the admission gate and of frames (design 2 invariant 2, 3.1, 3.3)."""

from hypothesis import given
from hypothesis import strategies as st

from domain.admission import MAX_EPISODIC_ANCHORS, MAX_SEMANTIC_ANCHORS, admit, is_admissible
from domain.keys import anchor_key
from domain.memory import GRAPH_KINDS, Extraction, MemoryKind
from tests.strategies import extractions, names, wild_text


@given(st.sampled_from(GRAPH_KINDS), extractions(max_entities=40, max_frames=10))
def test_caps_and_distinct_admissible_anchors(kind: MemoryKind, extraction: Extraction) -> None:
    admitted = admit(kind, extraction)
    cap = MAX_EPISODIC_ANCHORS if kind is MemoryKind.EPISODIC else MAX_SEMANTIC_ANCHORS
    keys = [anchor_key(entity.name) for entity in admitted.entities]
    assert len(keys) <= cap
    assert len(set(keys)) == len(keys)
    assert all(is_admissible(entity.name) for entity in admitted.entities)


@given(st.sampled_from(GRAPH_KINDS), extractions())
def test_every_frame_joins_two_admitted_anchors(kind: MemoryKind, extraction: Extraction) -> None:
    admitted = admit(kind, extraction)
    listed = {entity.name for entity in admitted.entities}
    for frame in admitted.frames:
        assert {arm.name for arm in frame.arms} <= listed
        assert len({anchor_key(arm.name) for arm in frame.arms}) >= 2


@given(st.sampled_from(GRAPH_KINDS), extractions())
def test_admitting_twice_changes_nothing(kind: MemoryKind, extraction: Extraction) -> None:
    admitted = admit(kind, extraction)
    assert admit(kind, admitted) == admitted


@given(st.one_of(names, wild_text))
def test_the_gate_reads_the_key(name: str) -> None:
    key = anchor_key(name)
    assert is_admissible(name) or not is_admissible(key)
    assert not (is_admissible(name) and not key)
