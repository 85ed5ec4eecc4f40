"""Frame identity and its one-line form by example (paper Eq. 6-8)."""

from datetime import date
from uuid import UUID

from domain.frames import episodic_id, occurrence, render, semantic_id, sigma
from domain.memory import FrameDraft, Granularity, Literal, Status, TimeSpan

DAY = TimeSpan(start=date(2024, 3, 4), end=date(2024, 3, 4), granularity=Granularity.DAY)
MINUTE = DAY.model_copy(update={"granularity": Granularity.MINUTE, "clock": "07:15"})
RECORD = UUID(int=1)


def test_sigma_is_sorted_and_labels_are_levelled() -> None:
    assert sigma([("place", "canal"), ("Agent", "priya")]) == ("agent:priya", "place:canal")
    assert sigma([("seat of", "x")]) == sigma([("seat_of", "x")])
    assert sigma([("a:b", "c")]) != sigma([("a", "b:c")])


def test_occurrence_is_the_event_time_or_the_record() -> None:
    assert occurrence(FrameDraft(predicate="run", arms=()), RECORD) == f"record:{RECORD}"
    assert occurrence(FrameDraft(predicate="run", arms=(), event_time=DAY), RECORD) == "time:2024-03-04/2024-03-04"
    assert "07:15" in occurrence(FrameDraft(predicate="run", arms=(), event_time=MINUTE), RECORD)


def test_ids_are_64_hexadecimal_digits_and_apart() -> None:
    sig = ("agent:priya", "place:canal")
    found = {
        semantic_id("u1", "run", sig),
        semantic_id("u2", "run", sig),
        semantic_id("u1", "runs", sig),
        semantic_id("u1", "run", ("agent:priyaplace:canal",)),
        episodic_id("u1", "run", sig, ""),
        episodic_id("u1", "run", sig, "time:2024-03-04/2024-03-04"),
    }
    assert len(found) == 6
    assert all(len(each) == 64 and int(each, 16) >= 0 for each in found)


def test_render() -> None:
    line = render(
        "go_for_run",
        [("agent", "Priya"), ("place", "canal"), ("companion", "Omar")],
        [Literal(name="distance", value="5", unit="km")],
        event_time=DAY,
        status=Status.PLANNED,
        negated=True,
    )
    assert line == (
        "Priya (agent) not go for run canal (place), Omar (companion), distance 5 km, on 2024-03-04, planned"
    )
    assert render("own", [("a", "x"), ("b", "y\nz")]) == "x (a) own y z (b)"
    week = TimeSpan(start=date(2023, 5, 15), end=date(2023, 5, 21), granularity=Granularity.WEEK)
    assert render("go", [("a", "x")], event_time=week).endswith("from 2023-05-15 to 2023-05-21")
    assert render("go", [("a", "x")], event_time=MINUTE).endswith("on 2024-03-04 at 07:15")
