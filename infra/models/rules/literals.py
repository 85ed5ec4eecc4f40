"""Prices, durations, measurements, clock times and codes of seats: values that stay on their frame (paper 2.3)."""

import re
from collections.abc import Iterator

from domain.memory import Literal

_AMOUNT = r"(?P<value>\d[\d,]*(?:\.\d+)?)"
_SMALL = r"(?P<value>\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|a couple of|a few)"
_LENGTHS = r"(?P<unit>minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|months?|years?|decades?)"
_MEASURES = (
    r"(?P<unit>km|kilomet(?:er|re)s?|miles?|met(?:er|re)s?|feet|cm|mm|kg|kilos?|grams?|lbs?|ounces?|lit(?:er|re)s?|gallons?|"
    r"mph|calories|points?|laps?|gb|tb|mb|degrees?)"
)
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("price", r"(?P<unit>[$€£])\s?(?P<value>\d[\d,]*(?:\.\d+)?(?:\s?(?:k|million|thousand))?)"),
    ("price", rf"{_AMOUNT}\s?(?P<unit>dollars?|euros?|bucks|pounds|usd|eur|gbp)\b"),
    ("share", r"(?P<value>\d+(?:\.\d+)?)\s?(?P<unit>%|percent)"),
    ("seat", r"\bseat\s(?P<value>\d{1,3}[a-k]?)\b"),
    ("clock", r"\b(?P<value>\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?|\d{1,2}\s?[ap]m)\b"),
    ("duration", rf"\b{_SMALL}[\s-]{_LENGTHS}\b(?!\s+(?:ago|old))"),
    ("age", r"\b(?P<value>\d{1,3})[\s-](?P<unit>years?)[\s-]old\b"),
    ("measure", rf"\b{_AMOUNT}\s?-?{_MEASURES}\b"),
)
_COMPILED = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _PATTERNS)


def literals(text: str, times: tuple[tuple[int, int], ...] = ()) -> tuple[tuple[int, Literal], ...]:
    """Literals of a text with their positions; stretches that are resolved dates (`times`) are left out."""
    taken = list(times)
    found: list[tuple[int, Literal]] = []
    for name, match in _matches(text):
        if any(match.start() < end and start < match.end() for start, end in taken):
            continue
        taken.append((match.start(), match.end()))
        groups = match.groupdict()
        found.append(
            (match.start(), Literal(name=name, value=groups["value"], unit=(groups.get("unit") or "").lower()))
        )
    return tuple(sorted(found, key=lambda item: item[0]))


def _matches(text: str) -> Iterator[tuple[str, "re.Match[str]"]]:
    for name, pattern in _COMPILED:
        for match in pattern.finditer(text):
            yield name, match
