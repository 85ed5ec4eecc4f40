"""Relative and absolute dates in English talk, resolved against the turn's time in the user's zone (design 3).

A phrase becomes the calendar days it covers at the precision it was said with: "last summer" is a season, never a day
(scenario S10). Weeks run from Monday to Sunday. Nothing is guessed: "recently" and "the other day" give no time.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime

from domain.memory import Granularity, TimeSpan
from domain.spans import MONTHS, WEEKDAYS, day_span, month_span, season_span, year_span
from infra.models.rules.moments import FEASTS, NUMBERS, Moment


@dataclass(frozen=True)
class Found:
    """A time phrase of a text: character positions, the days it covers, and which way it looks from the turn's time."""

    start: int
    end: int
    span: TimeSpan
    direction: int
    """-1 past, 0 the day of the turn or unclear, 1 future."""
    since: bool = False
    """The span is when a state began that still holds ("for three years", "since 2016")."""
    relative: bool = True
    """False where the phrase names the full date itself."""


_DAY = "(?:" + "|".join(WEEKDAYS) + ")"
_MON = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?)"
)
_NUM = (
    r"(?:\d{1,3}|a couple of|a couple|couple|"
    + "|".join(sorted((n for n in NUMBERS if " " not in n), key=len, reverse=True))
    + ")"
)
_VAGUE = r"(?:a few|few|several|some)"
_UNIT = r"(?:day|night|week|weekend|month|year|hour|minute|decade)s?"
_CLOCK = r"(?:\s*(?:,\s*)?(?:at|@)\s*(?P<clock>\d{1,2}(?::\d{2})?\s*(?:[ap]\.?m\b\.?)?))?"
_ORD = r"(?:st|nd|rd|th)?"


_Build = Callable[["re.Match[str]", Moment], "tuple[TimeSpan, int] | None"]


def _count(text: str) -> int:
    return int(text) if text.isdigit() else NUMBERS[text]


def _singular(unit: str) -> str:
    return unit.removesuffix("s")


def _month_number(text: str) -> int:
    return next(index for index, name in enumerate(MONTHS, start=1) if name.startswith(text[:3]))


def _named_day(match: "re.Match[str]", moment: Moment) -> tuple[TimeSpan, int] | None:
    word = match["word"]
    offset = {
        "the day before yesterday": -2,
        "yesterday": -1,
        "last night": -1,
        "today": 0,
        "tonight": 0,
        "tomorrow": 1,
        "the day after tomorrow": 2,
    }.get(re.sub(r"\s+", " ", word), 0)
    return moment.day(offset), (offset > 0) - (offset < 0)


def _weekday(match: "re.Match[str]", moment: Moment) -> tuple[TimeSpan, int] | None:
    span = moment.weekday(match["day"], match["which"] or "")
    return span, _direction(span, moment)


def _weekday_week(match: "re.Match[str]", moment: Moment) -> tuple[TimeSpan, int] | None:
    name = match["day"]
    first = {"today": 0, "tomorrow": 1}.get(name)
    offset = first if first is not None else (WEEKDAYS.index(name) - moment.today.weekday()) % 7 or 7
    return moment.day(offset + 7), 1


def _period(match: "re.Match[str]", moment: Moment) -> tuple[TimeSpan, int] | None:
    offset = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}[match["which"]]
    unit = match["unit"]
    span = {"week": moment.week, "weekend": moment.weekend, "month": moment.month, "year": moment.year}[unit](offset)
    return span, offset


def _season(match: "re.Match[str]", moment: Moment) -> tuple[TimeSpan, int] | None:
    if match["year"]:
        span = season_span(int(match["year"]), match["season"])
    elif match["which"]:
        span = moment.season(match["season"], match["which"])
    else:
        return None
    return span, _direction(span, moment)


def _feast(match: "re.Match[str]", moment: Moment) -> tuple[TimeSpan, int] | None:
    which = match["which"] or ""
    if which not in {"last", "this", "next", "on", "at"}:
        return None
    span = moment.feast(match["feast"], which if which in {"last", "next"} else "")
    return span, _direction(span, moment)


def _ago(match: "re.Match[str]", moment: Moment) -> tuple[TimeSpan, int] | None:
    return moment.ago(_count(match["n"]), _singular(match["unit"])), -1


def _few(match: "re.Match[str]", moment: Moment) -> tuple[TimeSpan, int] | None:
    return moment.few_ago(_singular(match["unit"]), 1), -1


def _ahead(match: "re.Match[str]", moment: Moment) -> tuple[TimeSpan, int] | None:
    return moment.ago(-_count(match["n"]), _singular(match["unit"])), 1


def _lasting(match: "re.Match[str]", moment: Moment) -> tuple[TimeSpan, int] | None:
    return moment.began(_count(match["n"]), _singular(match["unit"])), -1


def _full_date(match: "re.Match[str]", moment: Moment) -> tuple[TimeSpan, int] | None:
    month = _month_number(match["month"]) if not match["month"].isdigit() else int(match["month"])
    number = int(match["number"])
    groups = match.groupdict()
    named = groups.get("year")
    years = [int(named)] if named else [moment.today.year + offset for offset in (-1, 0, 1)]
    days = [date(year, month, number) for year in years if _valid(year, month, number)]
    if not days:
        return None
    future = [day for day in days if day >= moment.today]
    past = [day for day in days if day <= moment.today]
    if moment.future is None:
        day = min(days, key=lambda day: abs((day - moment.today).days))
    else:
        day = (future or days)[0] if moment.future else (past or days)[-1]
    span = day_span(day)
    return span, _direction(span, moment)


def _valid(year: int, month: int, number: int) -> bool:
    try:
        date(year, month, number)
    except ValueError:
        return False
    return True


def _month(match: "re.Match[str]", moment: Moment) -> tuple[TimeSpan, int] | None:
    number = _month_number(match["month"])
    groups = match.groupdict()
    if groups.get("year"):
        span = month_span(int(groups["year"] or 0), number)
    else:
        which = groups.get("which") or ""
        span = moment.named_month(number, which if which in {"last", "next", "this", "past", "coming"} else "")
    return span, _direction(span, moment)


def _year(match: "re.Match[str]", moment: Moment) -> tuple[TimeSpan, int] | None:
    year = int(match["year"])
    if not 1900 <= year <= 2100:
        return None
    span = year_span(year)
    return span, _direction(span, moment)


def _direction(span: TimeSpan, moment: Moment) -> int:
    if span.end < moment.today:
        return -1
    return 1 if span.start > moment.today else 0


_YEAR = r"(?P<year>(?:19|20)\d{2})"
_WHICH = "last|past|this|next|coming"
_HOURS = r"(?:\s+(?:morning|afternoon|evening|night))?"
_ROUGHLY = r"(?:(?:about|around|almost|nearly|over|more than|the last|the past|like)\s+)*"
_LONG = r"(?P<unit>(?:day|week|month|year|decade)s?)(?!\s+(?:ago|from|later|old|in))"
_NAMED = (
    r"(?P<word>the\s+day\s+before\s+yesterday|the\s+day\s+after\s+tomorrow|yesterday|last\s+night|tonight|today|tomorrow|"
    r"this\s+(?:morning|afternoon|evening))"
)
_LEADS = f"{_WHICH}|in|since|until|by|during|early|late|mid|mid-"
_ISO = r"(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<number>[0-3]\d)(?:[T ](?P<clock>\d{1,2}:\d{2}))?"
_FEAST = "|".join(sorted(FEASTS, key=len, reverse=True))
_RULES: tuple[tuple[str, _Build], ...] = (
    (rf"(?P<since>for|over|in)\s+{_ROUGHLY}(?P<n>{_NUM})\s+{_LONG}", _lasting),
    (rf"(?P<n>{_NUM})\s+(?P<unit>{_UNIT})\s+(?:ago|back|earlier)", _ago),
    (rf"(?P<n>{_VAGUE})\s+(?P<unit>(?:day|week|weekend|month|year)s)\s+(?:ago|back)", _few),
    (rf"in\s+(?:about\s+)?(?P<n>{_NUM})\s+(?P<unit>{_UNIT})(?!\s+ago)", _ahead),
    (rf"(?P<n>{_NUM})\s+(?P<unit>{_UNIT})\s+(?:from now|from today)", _ahead),
    (_ISO, _full_date),
    (rf"(?P<number>[0-3]?\d){_ORD}(?:\s+of)?\s+(?P<month>{_MON})\b\.?(?:,?\s+{_YEAR})?{_CLOCK}", _full_date),
    (rf"(?P<month>{_MON})\b\.?\s+(?:the\s+)?(?P<number>[0-3]?\d){_ORD}(?!\d)(?:,?\s+{_YEAR})?{_CLOCK}", _full_date),
    (rf"(?P<month>{_MON})\b\.?(?:\s+of)?,?\s+{_YEAR}", _month),
    (rf"(?P<which>{_LEADS})\s+(?P<month>{_MON})(?!\s+\d)", _month),
    (rf"{_NAMED}{_HOURS}(?!\s+week){_CLOCK}", _named_day),
    (rf"(?:a\s+week\s+on\s+(?P<day2>{_DAY})|(?P<day>{_DAY}|today|tomorrow)\s+week)\b", _weekday_week),
    (rf"(?:(?P<which>{_WHICH}|on)\s+)(?P<day>{_DAY})\b(?!s){_HOURS}{_CLOCK}", _weekday),
    (rf"(?:earlier\s+|later\s+|the\s+)?(?P<which>{_WHICH})\s+(?P<unit>week|weekend|month|year)(?!s)", _period),
    (
        rf"(?:(?P<which>{_WHICH})\s+)?(?:the\s+)?(?P<season>spring|summer|autumn|fall|winter)(?:\s+(?:of\s+)?{_YEAR})?",
        _season,
    ),
    (rf"(?:(?P<which>last|next|this|on|at)\s+)(?P<feast>{_FEAST})", _feast),
    (rf"(?:in|since|back in|during|until|of|year)\s+{_YEAR}(?![\d:])", _year),
)
_COMPILED = tuple((re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.IGNORECASE), build) for pattern, build in _RULES)
_FULL = re.compile(r"\b(?:19|20)\d{2}\b")


def find(text: str, at: datetime, *, future: bool | None = None) -> tuple[Found, ...]:
    """Time phrases in order of position, not overlapping; `at` is the local time of the turn.

    `future` tells which way an undirected phrase ("on Monday", "in May") looks: True ahead, False back, None nearest.
    """
    moment = Moment(at, future)
    taken: list[Found] = []
    for pattern, build in _COMPILED:
        for match in pattern.finditer(text):
            found = _found(match, build, moment, text)
            if found is not None and not any(found.start < other.end and other.start < found.end for other in taken):
                taken.append(found)
    return tuple(sorted(taken, key=lambda found: found.start))


def _found(match: "re.Match[str]", build: _Build, moment: Moment, text: str) -> Found | None:
    lowered = _Lowered(match)
    if build is _lasting and match["since"].lower() == "in" and not re.search(r"\blast|\bpast", match[0].lower()):
        return None
    if build is _month and _is_verb_may(match):
        return None
    try:
        result = build(lowered, moment)  # type: ignore[arg-type]
    except (ValueError, OverflowError, StopIteration, IndexError):
        return None
    if result is None:
        return None
    span, direction = result
    clock = _clock(match.groupdict().get("clock"))
    if clock is not None and span.granularity is Granularity.DAY:
        span = span.model_copy(update={"granularity": Granularity.MINUTE, "clock": clock})
    since = (
        build is _lasting or match[0].lower().startswith("since") or text[: match.start()].lower().endswith("since ")
    )
    relative = not _FULL.search(match[0])
    return Found(match.start(), match.end(), span, direction, since=since, relative=relative)


class _Lowered:
    """A match whose groups read in lower case."""

    def __init__(self, match: "re.Match[str]") -> None:
        self._match = match

    def __getitem__(self, group: str) -> str | None:
        value = self._match[group]
        if group == "day" and value is None:
            value = self._match["day2"]
        return re.sub(r"\s+", " ", value.lower()) if value is not None else None

    def groupdict(self) -> dict[str, str | None]:
        return {name: self._match[name] for name in self._match.groupdict()}


def _is_verb_may(match: "re.Match[str]") -> bool:
    """ "may" in lower case is the verb, unless a year or a preposition of time makes it the month."""
    month = match["month"]
    if month.lower() != "may":
        return False
    return month == "may" and not match.groupdict().get("year")


def _clock(text: str | None) -> str | None:
    if not text:
        return None
    match = re.match(r"(\d{1,2})(?::(\d{2}))?\s*([ap])?", text.strip().lower())
    if match is None or not (match[2] or match[3]):
        return None
    hour = int(match[1]) % 12 + (12 if match[3] == "p" else 0) if match[3] else int(match[1])
    minute = int(match[2] or 0)
    return f"{hour:02d}:{minute:02d}" if hour < 24 and minute < 60 else None
