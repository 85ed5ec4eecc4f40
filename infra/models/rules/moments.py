"""What words of time mean around the moment of a turn, at the precision they were said with (scenario S10)."""

from datetime import date, datetime, timedelta

from domain.memory import Granularity, TimeSpan
from domain.spans import MONTHS, SEASONS, WEEKDAYS, day_span, month_away, season_span, week_span, year_span

NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "a couple of": 2,
    "a couple": 2,
    "couple": 2,
}
FEW = (2, 5)
"""Least and most that "a few" or "several" stands for."""
FEASTS = {
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "christmas": (12, 25),
    "boxing day": (12, 26),
    "halloween": (10, 31),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "valentine's day": (2, 14),
    "valentine's": (2, 14),
}


class Moment:
    """The turn's local time and the arithmetic around it."""

    def __init__(self, at: datetime, future: bool | None) -> None:
        self.today = at.date()
        self.future = future

    def day(self, offset: int) -> TimeSpan:
        return day_span(self.today + timedelta(days=offset))

    def week(self, offset: int) -> TimeSpan:
        return week_span(self.today, offset)

    def weekend(self, offset: int) -> TimeSpan:
        saturday = self.week(offset).start + timedelta(days=5)
        return TimeSpan(start=saturday, end=saturday + timedelta(days=1), granularity=Granularity.RANGE)

    def month(self, offset: int) -> TimeSpan:
        return month_away(self.today, offset)

    def year(self, offset: int) -> TimeSpan:
        return year_span(self.today.year + offset)

    def weekday(self, name: str, which: str) -> TimeSpan:
        ahead = (WEEKDAYS.index(name) - self.today.weekday()) % 7
        if which in {"last", "past"}:
            return self.day(ahead - 7)
        if which in {"next", "coming"}:
            return self.day(ahead or 7)
        if which == "this" or self.future is not False:
            return self.day(ahead)
        return self.day(ahead - 7 if ahead else 0)

    def named_month(self, number: int, which: str) -> TimeSpan:
        ahead = (number - self.today.month) % 12
        if which in {"last", "past"} or (not which and self.future is not True):
            return self.month(ahead - 12 if ahead or which else 0)
        if which == "this":
            return self.month(number - self.today.month)
        return self.month(ahead or (12 if which else 0))

    def season(self, name: str, which: str) -> TimeSpan:
        spans = [season_span(self.today.year + offset, name) for offset in (-2, -1, 0, 1, 2)]
        if which in {"last", "past"} or (not which and self.future is False):
            return [span for span in spans if span.end < self.today][-1]
        if which == "this":
            return min(spans, key=lambda span: abs((span.start + timedelta(days=45) - self.today).days))
        return next(span for span in spans if span.start > self.today)

    def feast(self, name: str, which: str) -> TimeSpan:
        month, number = FEASTS[name]
        days = [date(self.today.year + offset, month, number) for offset in (-1, 0, 1)]
        if which == "last" or (not which and self.future is not True):
            return day_span([day for day in days if day < self.today][-1])
        return day_span(next(day for day in days if day > self.today))

    def ago(self, count: int, unit: str) -> TimeSpan:
        """`count` units back (forward if negative), at the precision of the unit."""
        if unit in {"hour", "minute"}:
            return self.day(0)
        if unit in {"day", "night"}:
            return self.day(-count)
        if unit == "week":
            return self.week(-count)
        if unit == "weekend":
            return self.weekend(-count)
        if unit == "month":
            return self.month(-count)
        return self.year(-count * (10 if unit == "decade" else 1))

    def few_ago(self, unit: str, sign: int) -> TimeSpan:
        spans = [self.ago(sign * count, unit) for count in FEW]
        start, end = min(span.start for span in spans), max(span.end for span in spans)
        return TimeSpan(start=start, end=end, granularity=Granularity.RANGE)

    def began(self, count: int, unit: str) -> TimeSpan:
        """The month (day, week) in which something began that has lasted for `count` units."""
        if unit == "year":
            return self.month(-12 * count)
        return self.year(-10 * count) if unit == "decade" else self.ago(count, unit)


_NAMES = tuple(name.capitalize() for name in MONTHS)


def render(span: TimeSpan) -> str:
    """The time in words at its own precision: "7 May 2023", "May 2023", "summer 2022", "2016"."""
    start, end = span.start, span.end
    if span.granularity is Granularity.MINUTE:
        return f"{_day_text(start)} {span.clock}"
    if span.granularity is Granularity.DAY:
        return _day_text(start)
    if span.granularity is Granularity.MONTH:
        return f"{_NAMES[start.month - 1]} {start.year}"
    if span.granularity is Granularity.YEAR:
        return str(start.year)
    if span.granularity is Granularity.SEASON:
        name = next(name for name, month in SEASONS.items() if month == start.month and name != "fall")
        return f"{name} {span.end.year}"
    if span.granularity is Granularity.WEEK:
        return f"week of {_day_text(start)}"
    return f"{_day_text(start)} to {_day_text(end)}"


def _day_text(day: date) -> str:
    return f"{day.day} {_NAMES[day.month - 1]} {day.year}"
