"""Lengths of time as options: 90s, 30m, 6h, 1d12h."""

import re

from domain.errors import InvalidInput

_UNITS = {"d": 24 * 3600, "h": 3600, "m": 60, "s": 1}
"""Seconds of each unit, longest first."""
_PARTS = re.compile("".join(rf"(?:(?P<{unit}>[0-9]{{1,9}}){unit})?" for unit in _UNITS))


def seconds_of(text: str, *, option: str) -> int:
    """Raises InvalidInput naming the option."""
    found = _PARTS.fullmatch(text)
    if found is None or not text:
        raise InvalidInput("is not a length of time such as 90s, 30m, 6h or 1d12h", field=option)
    return sum(int(number) * _UNITS[unit] for unit, number in found.groupdict(default="0").items())


def shown(seconds: int) -> str:
    """The same the other way."""
    parts = []
    for unit, length in _UNITS.items():
        count, seconds = divmod(seconds, length)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0s"
