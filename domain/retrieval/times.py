"""Dates a question asks about, resolved in the user's zone against the moment of asking (paper 2.4, T_q)."""

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from domain.errors import InvalidInput
from domain.memory import Frozen, TimeSpan
from domain.spans import MONTHS, SEASONS, day_span, month_away, month_span, season_span, week_span, year_span


class TimeRelation(StrEnum):
    """How an event is to lie to the days named."""

    ON = "on"
    BEFORE = "before"
    AFTER = "after"


class TimeConstraint(Frozen):
    """Calendar days in the user's zone, both ends included."""

    relation: TimeRelation
    start: date
    end: date

    def admits(self, start: date, end: date) -> bool:
        """True if an event from `start` to `end` satisfies it; ON means that they share a day."""
        if self.relation is TimeRelation.BEFORE:
            return start < self.start
        if self.relation is TimeRelation.AFTER:
            return end > self.end
        return start <= self.end and end >= self.start

    def admits_span(self, span: TimeSpan) -> bool:
        """The same for a stored time."""
        return self.admits(span.start, span.end)


def local_day(at: datetime, timezone: str) -> date:
    """The calendar day of a moment in an IANA zone. Raises InvalidInput for a zone that does not exist."""
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput("is not an IANA time zone", field="timezone") from error
    try:
        return at.astimezone(zone).date()
    except OverflowError:  # the first or last day of the calendar, which has no neighbour
        return at.date()


_MONTHS = {form: number for number, name in enumerate(MONTHS, 1) for form in (name, name[:3])} | {"sept": 9}
_MONTH = r"(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_SEASON = r"(?P<season>" + "|".join(SEASONS) + r")"
_LEAD = r"(?:in|of|during|since|before|after|until|by|last|this|early|late)"

_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?P<year>\d{4})-(?P<monthnumber>\d\d)-(?P<day>\d\d)\b",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}\b(?:,?\s+{_YEAR})?",
        rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR})?",
        rf"\b{_MONTH},?\s+{_YEAR}\b",
        rf"\b{_LEAD}\s+{_MONTH}\b",
        rf"\b{_SEASON}\s+(?:of\s+)?{_YEAR}\b",
        rf"\b(?P<which>last|this)\s+{_SEASON}\b",
        rf"\b{_YEAR}\b",
        r"\b(?P<which>last|this|next)\s+(?P<unit>week|month|year)\b",
        r"\b(?P<word>today|yesterday|tomorrow)\b",
        r"\b(?P<count>\d{1,3}|a|two|three|four|five|six)\s+(?P<ago>day|week|month|year)s?\s+ago\b",
    )
)
_COUNTS = {"a": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_BEFORE = re.compile(r"\b(?:before|until|prior to|by)\s+(?:the\s+)?$")
_AFTER = re.compile(r"\b(?:after|since|following)\s+(?:the\s+)?$")


def constraints(question: str, today: date) -> tuple[TimeConstraint, ...]:
    """The dates named in a question, most explicit reading first; a part of the text counts once. Order of appearance.

    A month, day or season without a year is the latest one that has begun by `today`.
    """
    text = question.casefold()
    found: dict[int, tuple[int, TimeConstraint]] = {}
    for match in _matches(text):
        if any(start < match.end() and match.start() < end for start, (end, _) in found.items()):
            continue
        days = _days({name: value for name, value in match.groupdict().items() if value}, today)
        if days:
            relation = _relation(text, match)
            found[match.start()] = (match.end(), TimeConstraint(relation=relation, start=days.start, end=days.end))
    return tuple(constraint for _, (_, constraint) in sorted(found.items()))


def _matches(text: str) -> Iterator[re.Match[str]]:
    for pattern in _PATTERNS:
        yield from pattern.finditer(text)


def _relation(text: str, match: re.Match[str]) -> TimeRelation:
    head = text[: match.start()]
    lead = match.group().split()[0]
    if lead in {"before", "until", "by"} or _BEFORE.search(head):
        return TimeRelation.BEFORE
    if lead in {"after", "since"} or _AFTER.search(head):
        return TimeRelation.AFTER
    return TimeRelation.ON


def _days(parts: dict[str, str], today: date) -> TimeSpan | None:
    try:
        return _resolve(parts, today)
    except (ValueError, OverflowError):  # beyond the calendar: no date
        return None


def _resolve(parts: dict[str, str], today: date) -> TimeSpan | None:
    """Days from the named groups of a match; None if it is no date (31 June)."""
    if "word" in parts:
        return day_span(today + timedelta(days={"today": 0, "yesterday": -1, "tomorrow": 1}[parts["word"]]))
    if "ago" in parts:
        return _away(-(_COUNTS.get(parts["count"]) or int(parts["count"])), parts["ago"], today)
    if "unit" in parts:
        return _away({"last": -1, "this": 0, "next": 1}[parts["which"]], parts["unit"], today)
    if "season" in parts:
        return _season(parts, today)
    month = int(parts["monthnumber"]) if "monthnumber" in parts else _MONTHS.get(parts.get("month", ""))
    year = int(parts["year"]) if "year" in parts else None
    if month is None:
        return year_span(year) if year else None
    return _month_or_day(year, month, int(parts["day"]) if "day" in parts else None, today)


def _month_or_day(year: int | None, month: int, day: int | None, today: date) -> TimeSpan:
    if year is None:
        year = today.year if (month, day or 1) <= (today.month, today.day) else today.year - 1
    return month_span(year, month) if day is None else day_span(date(year, month, day))


def _season(parts: dict[str, str], today: date) -> TimeSpan:
    """The season of a year, this one (the latest that has begun), or the last (the latest that is over)."""
    name = parts["season"]
    if "year" in parts:
        return season_span(int(parts["year"]), name)
    begun = [span for span in (season_span(today.year + offset, name) for offset in (-1, 0, 1)) if span.start <= today]
    return begun[-2] if parts["which"] == "last" and begun[-1].end >= today else begun[-1]


def _away(offset: int, unit: str, today: date) -> TimeSpan:
    """The day, week, month or year that many units away; the vaguer the unit, the wider the answer."""
    if unit == "day":
        return day_span(today + timedelta(days=offset))
    if unit == "week":
        return week_span(today, offset)
    return month_away(today, offset) if unit == "month" else year_span(today.year + offset)
