"""Dates resolve against the turn's time, at the precision they were said with."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.memory import Granularity
from infra.models.rules.moments import render
from infra.models.rules.times import Found, find

THURSDAY = datetime(2023, 5, 25, 10, tzinfo=UTC)


def one(text: str, at: datetime = THURSDAY, *, future: bool | None = None) -> Found:
    (found,) = find(text, at, future=future)
    return found


@pytest.mark.parametrize(
    ("text", "start", "end", "granularity", "shown"),
    [
        ("yesterday", "2023-05-24", "2023-05-24", "day", "24 May 2023"),
        ("the day before yesterday", "2023-05-23", "2023-05-23", "day", "23 May 2023"),
        ("last night", "2023-05-24", "2023-05-24", "day", "24 May 2023"),
        ("this morning", "2023-05-25", "2023-05-25", "day", "25 May 2023"),
        ("tomorrow", "2023-05-26", "2023-05-26", "day", "26 May 2023"),
        ("last Saturday", "2023-05-20", "2023-05-20", "day", "20 May 2023"),
        ("last Thursday", "2023-05-18", "2023-05-18", "day", "18 May 2023"),
        ("next Monday", "2023-05-29", "2023-05-29", "day", "29 May 2023"),
        ("on Monday week", "2023-06-05", "2023-06-05", "day", "5 June 2023"),
        ("a week on Monday", "2023-06-05", "2023-06-05", "day", "5 June 2023"),
        ("last week", "2023-05-15", "2023-05-21", "week", "week of 15 May 2023"),
        ("next week", "2023-05-29", "2023-06-04", "week", "week of 29 May 2023"),
        ("two weeks ago", "2023-05-08", "2023-05-14", "week", "week of 8 May 2023"),
        ("3 days ago", "2023-05-22", "2023-05-22", "day", "22 May 2023"),
        ("last month", "2023-04-01", "2023-04-30", "month", "April 2023"),
        ("next month", "2023-06-01", "2023-06-30", "month", "June 2023"),
        ("last year", "2022-01-01", "2022-12-31", "year", "2022"),
        ("three years ago", "2020-01-01", "2020-12-31", "year", "2020"),
        ("last summer", "2022-06-01", "2022-08-31", "season", "summer 2022"),
        ("next spring", "2024-03-01", "2024-05-31", "season", "spring 2024"),
        ("winter 2022", "2021-12-01", "2022-02-28", "season", "winter 2022"),
        ("this weekend", "2023-05-27", "2023-05-28", "range", "27 May 2023 to 28 May 2023"),
        ("two weekends ago", "2023-05-13", "2023-05-14", "range", "13 May 2023 to 14 May 2023"),
        ("a few days ago", "2023-05-20", "2023-05-23", "range", "20 May 2023 to 23 May 2023"),
        ("May 2023", "2023-05-01", "2023-05-31", "month", "May 2023"),
        ("2 May 2023", "2023-05-02", "2023-05-02", "day", "2 May 2023"),
        ("May 5th, 2022", "2022-05-05", "2022-05-05", "day", "5 May 2022"),
        ("2024-02-29", "2024-02-29", "2024-02-29", "day", "29 February 2024"),
        ("in 2016", "2016-01-01", "2016-12-31", "year", "2016"),
        ("in two weeks", "2023-06-05", "2023-06-11", "week", "week of 5 June 2023"),
    ],
)
def test_phrases(text: str, start: str, end: str, granularity: str, shown: str) -> None:
    span = one(f"We met {text}.").span
    assert (span.start.isoformat(), span.end.isoformat(), span.granularity.value) == (start, end, granularity)
    assert render(span) == shown


def test_a_clock_time_makes_a_day_a_minute() -> None:
    span = one("on 2 May at 07:15, seat 14C", datetime(2025, 4, 10, tzinfo=UTC), future=True).span
    assert (span.start, span.granularity, span.clock) == (date(2025, 5, 2), Granularity.MINUTE, "07:15")
    assert one("tomorrow at 7pm").span.clock == "19:00"


@pytest.mark.parametrize(
    "text",
    [
        "I may go",
        "it may be 3",
        "They march daily",
        "the other day",
        "recently",
        "2022-13-45",
        "31 February",
        "I won 5 games",
        "the 2020s",
        "12345 people",
        "seconds",
        "a Monday person",
        "Sundays",
        "room 1999a",
    ],
)
def test_no_time_is_guessed(text: str) -> None:
    assert find(text, THURSDAY) == ()


def test_an_undirected_day_follows_the_tense() -> None:
    assert one("on Friday", future=True).span.start == date(2023, 5, 26)
    assert one("on Friday", future=False).span.start == date(2023, 5, 19)
    assert one("on 5 October", future=False).span.start == date(2022, 10, 5)
    assert one("on 5 October", future=True).span.start == date(2023, 10, 5)


def test_how_long_it_has_lasted_gives_when_it_began() -> None:
    found = one("for three years")
    assert found.since
    assert (found.span.start, found.span.granularity) == (date(2020, 5, 1), Granularity.MONTH)


@given(st.text(max_size=80), st.datetimes(timezones=st.just(UTC)))
def test_no_text_and_no_moment_raises(text: str, at: datetime) -> None:
    for phrase in (text, f"{text} last summer", "in 999 years", "999 years ago", "next month", "this weekend"):
        for found in find(phrase, at):
            assert 0 <= found.start < found.end <= len(phrase)
