"""Calendar spans: days, weeks, months, seasons and years as TimeSpans (scenario S10).

Weeks run from Monday to Sunday; seasons are whole months of the northern year.
"""

import calendar
from datetime import date, timedelta

from domain.memory import Granularity, TimeSpan

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First month of each season (northern, meteorological)."""


def day_span(day: date) -> TimeSpan:
    """One day."""
    return TimeSpan(start=day, end=day, granularity=Granularity.DAY)


def month_span(year: int, month: int) -> TimeSpan:
    """A calendar month."""
    last = calendar.monthrange(year, month)[1]
    return TimeSpan(start=date(year, month, 1), end=date(year, month, last), granularity=Granularity.MONTH)


def year_span(year: int) -> TimeSpan:
    """A calendar year."""
    return TimeSpan(start=date(year, 1, 1), end=date(year, 12, 31), granularity=Granularity.YEAR)


def season_span(year: int, name: str) -> TimeSpan:
    """Three whole months; the winter of a year begins in the December before it."""
    first = SEASONS[name]
    begins = year - 1 if first == 12 else year
    last = month_span(year, 2 if first == 12 else first + 2)
    return TimeSpan(start=date(begins, first, 1), end=last.end, granularity=Granularity.SEASON)


def week_span(day: date, offset: int = 0) -> TimeSpan:
    """The week of a day, or one `offset` weeks away."""
    monday = day - timedelta(days=day.weekday()) + timedelta(weeks=offset)
    return TimeSpan(start=monday, end=monday + timedelta(days=6), granularity=Granularity.WEEK)


def month_away(day: date, months: int) -> TimeSpan:
    """The calendar month that many months from a day's."""
    index = day.year * 12 + day.month - 1 + months
    return month_span(index // 12, index % 12 + 1)
