"""Stories of one turn: what a writer and an extractor owe the rest of the service (scenarios S1, S2, S3, S5, S10)."""

from datetime import date

import pytest

from domain.memory import FrameDraft, Granularity, MemoryKind, Status, TimeSpan
from tests.unit.rules.conftest import Understand


def arms(frame: FrameDraft) -> dict[str, str]:
    return {arm.role: arm.name for arm in frame.arms}


def test_last_saturday_is_a_day(understand: Understand) -> None:
    told = understand("I ran the charity race last Saturday.", at="2023-05-25")
    (record,) = told.records
    assert record.kind is MemoryKind.EPISODIC
    assert record.status is Status.DONE
    day = date(2023, 5, 20)
    assert record.event_time == TimeSpan(start=day, end=day, granularity=Granularity.DAY)
    assert record.text == "Mel ran the charity race last Saturday (20 May 2023)."
    assert arms(told.frame("run")) == {"agent": "Mel", "object": "charity race"}
    assert told.frame("run").event_time == record.event_time


def test_last_summer_is_a_season_and_never_a_day(understand: Understand) -> None:
    told = understand("Last summer we hiked in Norway.", at="2023-05-25")
    (record,) = told.records
    season = TimeSpan(start=date(2022, 6, 1), end=date(2022, 8, 31), granularity=Granularity.SEASON)
    assert record.event_time == season
    assert "summer 2022" in record.text
    hike = told.frame("hike")
    assert (hike.event_time, hike.status) == (season, Status.DONE)
    assert arms(hike) == {"agent": "Mel", "location": "Norway"}
    assert ("participants", "group") in {(each.name, each.value) for each in hike.literals}


def test_tomorrow_crosses_the_year_and_is_planned(understand: Understand) -> None:
    told = understand("Tomorrow I start at Brightly.", at="2023-12-31T23:50")
    (record,) = told.records
    day = date(2024, 1, 1)
    assert record.event_time == TimeSpan(start=day, end=day, granularity=Granularity.DAY)
    assert record.status is Status.PLANNED
    assert told.frame("start").status is Status.PLANNED
    assert "Brightly" in arms(told.frame("start")).values()


def test_for_three_years_is_a_state_with_a_vague_start(understand: Understand) -> None:
    told = understand("I've been vegetarian for three years.", at="2023-05-25")
    (record,) = told.records
    assert record.kind is MemoryKind.SEMANTIC
    assert record.status is Status.STATE
    month = TimeSpan(start=date(2020, 5, 1), end=date(2020, 5, 31), granularity=Granularity.MONTH)
    assert record.event_time == month
    assert [(frame.status, frame.event_time) for frame in told.frames] == [(Status.STATE, month)]


def test_monday_week_is_the_monday_after_the_next(understand: Understand) -> None:
    told = understand("Dentist on Monday week.", at="2023-05-25")
    (record,) = told.records
    assert record.event_time is not None
    assert record.event_time.start == record.event_time.end == date(2023, 6, 5)
    assert record.status is Status.PLANNED
    assert told.frame("have").status is Status.PLANNED


def test_a_week_resolves_against_the_turn_and_not_against_now(understand: Understand) -> None:
    (record,) = understand("I went to Lyon last week", at="2023-05-24T10:00:00").records
    week = TimeSpan(start=date(2023, 5, 15), end=date(2023, 5, 21), granularity=Granularity.WEEK)
    assert record.event_time == week


def test_the_day_is_that_of_the_users_zone(understand: Understand) -> None:
    (record,) = understand("I ran 5 km this morning.", at="2023-05-24T22:30:00", timezone="Asia/Tokyo").records
    assert record.event_time is not None
    assert record.event_time.start == date(2023, 5, 25)


def test_like_words_on_two_days_carry_no_time_of_their_own(understand: Understand) -> None:
    told = understand("Did 5 km along the canal before work.", speaker="Priya", at="2024-03-04")
    (record,) = told.records
    assert record.kind is MemoryKind.EPISODIC
    assert record.event_time is None
    (frame,) = told.frames
    assert arms(frame)["agent"] == "Priya"
    assert arms(frame)["location"] == "canal"
    assert ("measure", "5", "km") in {(each.name, each.value, each.unit) for each in frame.literals}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Set up the 10 Gallons tank. Six neon tetras went in.", {"10 Gallons tank", "neon tetras"}),
        ("Set up the 20 Gallons tank. Two angelfish went in.", {"20 Gallons tank", "angelfish"}),
        ("The twenty-gallon needs a new heater.", {"twenty-gallon", "new heater"}),
        ("I parked at Terminal 1, my flight left from Terminal 2.", {"Terminal 1", "Terminal 2"}),
        ("The X-100 pump died, so I ordered the X-1000.", {"X-100 pump", "X-1000"}),
    ],
)
def test_numbers_stay_in_names(understand: Understand, text: str, names: set[str]) -> None:
    told = understand(text, speaker="Omar", at="2024-05-01")
    assert names <= told.names
    assert all(
        word in " ".join(record.text for record in told.records) for word in text.split()[1:] if word not in {"my", "I"}
    )


def test_a_flight_is_one_frame(understand: Understand) -> None:
    text = "Booked! I'm on TP1359 with TAP from Lisbon to London on 2 May at 07:15, seat 14C."
    told = understand(text, speaker="Mara", at="2025-04-10")
    (frame,) = [frame for frame in told.frames if "TP1359" in arms(frame).values()]
    assert {"Mara", "TAP", "TP1359", "Lisbon", "London"} <= set(arms(frame).values())
    day = date(2025, 5, 2)
    assert frame.event_time == TimeSpan(start=day, end=day, granularity=Granularity.MINUTE, clock="07:15")
    assert ("seat", "14C") in {(each.name, each.value) for each in frame.literals}
    assert frame.status is Status.PLANNED
    assert not any("14C" in name for name in told.names)


def test_he_is_tom_where_only_tom_was_named(understand: Understand) -> None:
    told = understand("Tom got onto the same flight, but he's in 22A.", speaker="Mara", at="2025-04-11")
    assert [arms(frame) for frame in told.frames if "22A" in arms(frame).values()] == [
        {"subject": "Tom", "location": "22A"}
    ]


@pytest.mark.parametrize(
    ("text", "at", "status", "day"),
    [
        ("I'm running the Bristol half on 11 May.", "2025-03-03", Status.PLANNED, date(2025, 5, 11)),
        ("Had to pull out of Bristol, my knee was bad.", "2025-05-13", Status.CANCELLED, None),
        ("Finished Cardiff yesterday in 1:58!", "2025-10-06", Status.DONE, date(2025, 10, 5)),
        ("Thinking about doing Leeds next spring.", "2025-11-01", Status.PLANNED, date(2026, 3, 1)),
    ],
)
def test_planned_done_cancelled(understand: Understand, text: str, at: str, status: Status, day: date | None) -> None:
    told = understand(text, speaker="Jonas", at=at)
    (record,) = told.records
    assert record.kind is MemoryKind.EPISODIC
    assert record.status is status
    assert (record.event_time.start if record.event_time else None) == day
    assert told.frames[0].status is status
    assert arms(told.frames[0])["agent"] == "Jonas"


def test_a_sign_up_is_done_though_its_race_lies_ahead(understand: Understand) -> None:
    told = understand("Signed up for the Cardiff half on 5 October.", speaker="Jonas", at="2025-05-20")
    assert told.frame("sign_up").status is Status.DONE
    (record,) = told.records
    assert record.event_time is not None
    assert record.event_time.start == date(2025, 10, 5)
