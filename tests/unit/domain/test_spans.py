"""Calendar spans at their edges."""

from datetime import date

import pytest

from domain.memory import Granularity, TimeSpan
from domain.spans import month_away, month_span, season_span, week_span


def _days(span: TimeSpan) -> tuple[date, date]:
    return span.start, span.end


def test_a_month_ends_with_its_last_day() -> None:
    assert _days(month_span(2024, 2)) == (date(2024, 2, 1), date(2024, 2, 29))
    assert _days(month_span(9999, 12)) == (date(9999, 12, 1), date(9999, 12, 31))


@pytest.mark.parametrize(("months", "start"), [(-1, date(2023, 12, 1)), (0, date(2024, 1, 1)), (12, date(2025, 1, 1))])
def test_months_are_counted_over_the_year(months: int, start: date) -> None:
    assert month_away(date(2024, 1, 31), months).start == start


def test_a_winter_begins_in_the_december_before() -> None:
    assert _days(season_span(2024, "winter")) == (date(2023, 12, 1), date(2024, 2, 29))
    assert _days(season_span(2022, "summer")) == (date(2022, 6, 1), date(2022, 8, 31))


def test_a_week_runs_from_monday_to_sunday() -> None:
    span = week_span(date(2023, 5, 24), -1)
    assert (*_days(span), span.granularity) == (date(2023, 5, 15), date(2023, 5, 21), Granularity.WEEK)
