"""The admission gate by example (paper A.2)."""

import pytest

from domain.admission import MAX_EPISODIC_ANCHORS, MAX_SEMANTIC_ANCHORS, admit, is_admissible
from domain.memory import AnchorType, Arm, Entity, Extraction, FrameDraft, MemoryKind


@pytest.mark.parametrize(
    "name",
    [
        "user", "User", "Users", "the user", "assistant", "Speaker", "advice", "details", "the information", "plan",
        "tips", "I", "she", "them", "us", "", "  ", "---", "…", "用户", "пользователь",
    ],
)  # fmt: skip
def test_refused(name: str) -> None:
    assert not is_admissible(name)


@pytest.mark.parametrize(
    "name",
    ["🌱", "Priya", "pension plan", "user manual", "US", "the US", "10", "김하나", "C++", "The The", "Ωmega", "Plan 9"],
)
def test_admitted(name: str) -> None:
    assert is_admissible(name)


def frame(*names: str) -> FrameDraft:
    """A frame over the names."""
    return FrameDraft(predicate="p", arms=tuple(Arm(role=f"r{at}", name=name) for at, name in enumerate(names)))


def test_the_cap_takes_entities_without_a_frame_first() -> None:
    loose = tuple(Entity(name=f"loose {number}") for number in range(30))
    extraction = Extraction(
        entities=(*loose, Entity(name="Omar"), Entity(name="tank")), frames=(frame("Omar", "tank"),)
    )
    episodic = admit(MemoryKind.EPISODIC, extraction)
    assert [entity.name for entity in episodic.entities[:3]] == ["Omar", "tank", "loose 0"]
    assert len(episodic.entities) == MAX_EPISODIC_ANCHORS == 16
    assert len(admit(MemoryKind.SEMANTIC, extraction).entities) == MAX_SEMANTIC_ANCHORS == 18
    assert admit(MemoryKind.CORE, extraction) == Extraction()


def test_arms_of_refused_entities_go_and_frames_without_two_anchors_with_them() -> None:
    extraction = Extraction(
        entities=(Entity(name="user"), Entity(name="Omar"), Entity(name="tank")),
        frames=(frame("user", "tank"), frame("user", "Omar", "tank"), frame("Omar", "omar")),
    )
    admitted = admit(MemoryKind.EPISODIC, extraction)
    assert [[arm.name for arm in each.arms] for each in admitted.frames] == [["Omar", "tank"]]


def test_entities_of_one_key_are_one() -> None:
    extraction = Extraction(
        entities=(
            Entity(name="Mobile Apps", aliases=("MA",)),
            Entity(name="the mobile app", type=AnchorType.OBJECT),
            Entity(name="Omar"),
        ),
        frames=(frame("Omar", "mobile app"),),
    )
    admitted = admit(MemoryKind.SEMANTIC, extraction)
    merged = Entity(name="Mobile Apps", type=AnchorType.OBJECT, aliases=("MA", "the mobile app"))
    assert admitted.entities == (Entity(name="Omar"), merged)
    assert admitted.frames[0].arms[1].name == "Mobile Apps"


def test_an_arm_may_use_an_alias_or_name_an_unlisted_entity() -> None:
    extraction = Extraction(entities=(Entity(name="Rebecca", aliases=("Bex",)),), frames=(frame("Bex", "kiln"),))
    admitted = admit(MemoryKind.SEMANTIC, extraction)
    assert [entity.name for entity in admitted.entities] == ["Rebecca", "kiln"]
    assert admitted.frames[0].arms[0].name == "Rebecca"
