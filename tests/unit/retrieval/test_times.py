"""Dates in questions."""

from datetime import UTC, date, datetime

import pytest

from domain.retrieval.times import TimeConstraint, TimeRelation, constraints, local_day

TODAY = date(2024, 6, 15)  # a Saturday


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("what happened on 2023-05-07", date(2023, 5, 7), date(2023, 5, 7)),
        ("what happened on 7 May 2023", date(2023, 5, 7), date(2023, 5, 7)),
        ("what happened on May 7th, 2023", date(2023, 5, 7), date(2023, 5, 7)),
        ("what happened on the 7th of May", date(2024, 5, 7), date(2024, 5, 7)),
        ("what happened on 7 July", date(2023, 7, 7), date(2023, 7, 7)),
        ("what happened in May 2023", date(2023, 5, 1), date(2023, 5, 31)),
        ("what happened in February", date(2024, 2, 1), date(2024, 2, 29)),
        ("what happened on 31 June 2023", date(2023, 6, 1), date(2023, 6, 30)),
        ("what happened in 2022", date(2022, 1, 1), date(2022, 12, 31)),
        ("what happened in summer 2022", date(2022, 6, 1), date(2022, 8, 31)),
        ("what happened last summer", date(2023, 6, 1), date(2023, 8, 31)),
        ("what happened in winter 2024", date(2023, 12, 1), date(2024, 2, 29)),
        ("what happened yesterday", date(2024, 6, 14), date(2024, 6, 14)),
        ("what happened last week", date(2024, 6, 3), date(2024, 6, 9)),
        ("what happened this month", date(2024, 6, 1), date(2024, 6, 30)),
        ("what happened last year", date(2023, 1, 1), date(2023, 12, 31)),
        ("what happened 3 days ago", date(2024, 6, 12), date(2024, 6, 12)),
        ("what happened two years ago", date(2022, 1, 1), date(2022, 12, 31)),
    ],
)
def test_days_of_a_question(question: str, start: date, end: date) -> None:
    assert constraints(question, TODAY) == (TimeConstraint(relation=TimeRelation.ON, start=start, end=end),)


@pytest.mark.parametrize(
    ("question", "relation"),
    [
        ("who came before 7 May 2023", TimeRelation.BEFORE),
        ("who came after May 2023", TimeRelation.AFTER),
        ("who came since 2023", TimeRelation.AFTER),
        ("who came until last week", TimeRelation.BEFORE),
        ("who came before May", TimeRelation.BEFORE),
    ],
)
def test_order_words(question: str, relation: TimeRelation) -> None:
    assert [found.relation for found in constraints(question, TODAY)] == [relation]


@pytest.mark.parametrize(
    "question",
    ["what may Ana do", "march on", "the 1234 steps", "what happened on 0000-01-01"],
)
def test_no_date_is_read_where_none_is(question: str) -> None:
    assert constraints(question, TODAY) == ()


@pytest.mark.parametrize("today", [date.min, date.max])
@pytest.mark.parametrize(
    "question", ["last year", "next year", "999 days ago", "999 weeks ago", "last winter", "tomorrow", "yesterday"]
)
def test_the_ends_of_the_calendar_are_survived(question: str, today: date) -> None:
    for found in constraints(question, today):
        assert found.start <= found.end


def test_several_dates_keep_their_order() -> None:
    found = constraints("what happened in May 2023 and in March 2022", TODAY)
    assert [constraint.start for constraint in found] == [date(2023, 5, 1), date(2022, 3, 1)]


def test_admission() -> None:
    on = TimeConstraint(relation=TimeRelation.ON, start=date(2024, 5, 1), end=date(2024, 5, 31))
    assert on.admits(date(2024, 5, 31), date(2024, 6, 2))
    assert not on.admits(date(2024, 6, 1), date(2024, 6, 2))
    assert on.model_copy(update={"relation": TimeRelation.BEFORE}).admits(date(2024, 4, 30), date(2024, 4, 30))
    assert on.model_copy(update={"relation": TimeRelation.AFTER}).admits(date(2024, 6, 1), date(2024, 6, 1))


def test_the_first_moment_of_the_calendar_has_a_day_in_every_zone() -> None:
    assert local_day(datetime.min.replace(tzinfo=UTC), "America/Lima") == date.min
