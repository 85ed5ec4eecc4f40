"""Planning a record's graph change (Algorithm 1, lines 5-9)."""

from datetime import date
from uuid import UUID

import pytest

from domain.frames import episodic_id, semantic_id, sigma
from domain.graph_plan import keys_to_resolve, plan_write, renamed, with_vectors
from domain.jobs import anchor_id
from domain.keys import anchor_key
from domain.memory import (
    Anchor,
    AnchorType,
    Arm,
    Entity,
    Extraction,
    FrameDraft,
    Granularity,
    Literal,
    MemoryKind,
    Status,
    TimeSpan,
)
from domain.model_calls import Rename
from tests.strategies import a_record

DAY = TimeSpan(start=date(2024, 3, 11), end=date(2024, 3, 11), granularity=Granularity.DAY)
TANK = Anchor(
    id=UUID(int=50), user_id="u1", name="20 Gallons", key="20 gallon", type=AnchorType.OBJECT, aliases=("big tank",)
)


def frame(predicate: str, *arms: tuple[str, str], literals: tuple[Literal, ...] = (), **fields: object) -> FrameDraft:
    """A frame over (role, name) pairs."""
    draft = FrameDraft(
        predicate=predicate, arms=tuple(Arm(role=role, name=name) for role, name in arms), literals=literals
    )
    return draft.model_copy(update=fields)


RUN = frame("run", ("agent", "Priya"), ("place", "canal"))


def test_new_anchors_and_an_undated_episode() -> None:
    record = a_record()
    planned = plan_write(
        record, Extraction(entities=(Entity(name="Priya", type=AnchorType.PERSON),), frames=(RUN,)), {}
    )
    assert [anchor.id for anchor in planned.anchors] == [anchor_id("u1", "priya"), anchor_id("u1", "canal")]
    assert planned.anchor_names == ("Priya", "canal")
    sig = sigma([("agent", "priya"), ("place", "canal")])
    assert planned.frames[0].id == episodic_id("u1", "run", sig, f"record:{record.id}")
    assert planned.frame_texts == ("Priya (agent) run canal (place)",)


def test_the_same_words_on_two_days_are_two_and_a_mention_again_is_none() -> None:
    dated = RUN.model_copy(update={"event_time": DAY})
    ids = [
        plan_write(a_record(number=number), Extraction(frames=(each,)), {}).frames[0].id
        for number, each in ((1, RUN), (2, RUN), (3, dated), (4, dated.model_copy(update={"status": Status.PLANNED})))
    ]
    assert len(set(ids)) == 3
    assert ids[2] == ids[3]


def test_semantic_records_share_a_frame() -> None:
    ids = {
        plan_write(a_record(kind=MemoryKind.SEMANTIC, number=number), Extraction(frames=(RUN,)), {}).frames[0].id
        for number in (1, 2)
    }
    assert ids == {semantic_id("u1", "run", sigma([("agent", "priya"), ("place", "canal")]))}


def test_a_name_reaches_the_anchor_that_owns_its_key_under_the_name_it_has_now() -> None:
    extraction = Extraction(frames=(frame("need", ("owner", "big tanks"), ("thing", "heater")),))
    assert keys_to_resolve(extraction) == ("big tank", "heater")
    planned = plan_write(a_record(kind=MemoryKind.SEMANTIC), extraction, {"big tank": TANK})
    anchor = planned.anchors[0]
    assert (anchor.id, anchor.name, anchor.key, anchor.type) == (TANK.id, "20 Gallons", "big tank", AnchorType.OBJECT)
    assert planned.frames[0].arms[0].key == "big tank"
    sig = sigma([("owner", anchor_key("20 Gallons")), ("thing", "heater")])
    assert planned.frames[0].id == semantic_id("u1", "need", sig)


def test_an_alias_the_source_states_reaches_its_owner_unless_forbidden() -> None:
    entity = Entity(name="aquarium", aliases=("big tank",))
    twenty_nine = Entity(name="29 gallon tank", aliases=("big tank",))
    planned = plan_write(a_record(), Extraction(entities=(twenty_nine,)), {"big tank": TANK})
    assert planned.anchors[0].id != TANK.id
    other = TANK.model_copy(update={"name": "tank in the hall"})
    planned = plan_write(a_record(), Extraction(entities=(entity,)), {"big tank": other})
    assert planned.anchors[0].id == TANK.id
    assert [alias.name for alias in planned.anchors[0].aliases] == ["aquarium"]


def test_two_names_of_one_anchor_make_no_frame() -> None:
    extraction = Extraction(frames=(frame("be", ("a", "big tank"), ("b", "20 Gallons")),))
    planned = plan_write(a_record(), extraction, {"big tank": TANK, "20 gallon": TANK})
    assert len(planned.anchors) == 1
    assert planned.frames == ()


def test_frames_of_one_id_are_fused_with_their_literals() -> None:
    distance, pace = Literal(name="distance", value="5", unit="km"), Literal(name="pace", value="6:10")
    extraction = Extraction(
        frames=(
            RUN.model_copy(update={"literals": (distance,), "confidence": 0.5}),
            RUN.model_copy(update={"literals": (distance, pace)}),
        )
    )
    planned = plan_write(a_record(), extraction, {})
    assert [each.literals for each in planned.frames] == [(distance, pace)]
    assert planned.frames[0].confidence == 1.0
    assert "pace 6:10" in planned.frame_texts[0]


def test_renames_keep_the_spoken_name_as_an_alias() -> None:
    extraction = Extraction(
        entities=(Entity(name="twenty-gallon", aliases=("tank",)),),
        frames=(frame("need", ("o", "twenty-gallon"), ("t", "x")),),
    )
    changed = renamed(extraction, [Rename(name="twenty-gallon", candidate="20 Gallons")])
    assert changed.entities == (Entity(name="20 Gallons", aliases=("twenty-gallon", "tank")),)
    assert changed.frames[0].arms[0].name == "20 Gallons"
    planned = plan_write(a_record(), changed, {"20 gallon": TANK})
    assert planned.anchors[0].id == TANK.id
    assert {alias.name for alias in planned.anchors[0].aliases} == {"twenty-gallon", "tank"}


def test_vectors_must_match_the_plan() -> None:
    planned = plan_write(a_record(), Extraction(frames=(RUN,)), {})
    with pytest.raises(ValueError, match="shorter"):
        with_vectors(planned, [[1.0]], [[1.0]])
    write = with_vectors(planned, [[1.0], [2.0]], [[3.0]])
    assert [anchor.vector for anchor in write.anchors] == [[1.0], [2.0]]
