"""Frames: their identity (paper Eq. 6-8; design 3.3) and their one-line form."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from uuid import UUID

from domain.memory import FrameDraft, Literal, Status, TimeSpan

_GAPS = re.compile(r"[\s:_/\u2010-\u2015-]+")


def label(text: str) -> str:
    """A predicate or role as identity sees it: case and the mark between words levelled, no colon in it."""
    return _GAPS.sub("_", unicodedata.normalize("NFKC", text).casefold()).strip("_")


def sigma(arms: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """sigma(f): the sorted set of `role:key` over (role, anchor key) pairs (paper 2.3)."""
    return tuple(sorted({f"{label(role)}:{key}" for role, key in arms}))


def occurrence(frame: FrameDraft, record_id: UUID) -> str:
    """chi(f): the explicit event time if one was extracted, else the record's id (paper Eq. 8).

    Two mentions of one day agree whatever granularity they were read with; a time of day, where given, tells two
    occurrences of that day apart.
    """
    time = frame.event_time
    if time is None:
        return f"record:{record_id}"
    return f"time:{time.start.isoformat()}/{time.end.isoformat()}" + (f"T{time.clock}" if time.clock else "")


def semantic_id(user_id: str, predicate: str, sig: tuple[str, ...]) -> str:
    """id_S = H(u, p, sigma), 64 hexadecimal digits (paper Eq. 6)."""
    return _digest("S", user_id, label(predicate), *sig)


def episodic_id(user_id: str, predicate: str, sig: tuple[str, ...], occurrence: str) -> str:
    """id_E = H(u, p, sigma, chi), 64 hexadecimal digits (paper Eq. 7)."""
    return _digest("E", user_id, label(predicate), occurrence, *sig)


def render(
    predicate: str,
    arms: Iterable[tuple[str, str]],
    literals: Iterable[Literal] = (),
    event_time: TimeSpan | None = None,
    status: Status = Status.STATE,
    negated: bool = False,
) -> str:
    """A frame as one line of plain text, for audit and embedding; `arms` are (role, anchor name) pairs.

    `Priya (agent) run canal (place), distance 5 km, on 2024-03-04, planned`
    """
    named = [f"{_line(name)} ({_line(role)})" for role, name in arms]
    verb = ("not " if negated else "") + _line(predicate)
    parts = [" ".join([*named[:1], verb, *named[1:2]]), *named[2:]]
    parts += [" ".join(filter(None, map(_line, (each.name, each.value, each.unit)))) for each in literals]
    if event_time is not None:
        parts.append(_when(event_time))
    if status in (Status.PLANNED, Status.HYPOTHETICAL, Status.CANCELLED):
        parts.append(status.value)
    return ", ".join(parts)


def _line(text: str) -> str:
    return " ".join(text.replace("_", " ").split())


def _when(time: TimeSpan) -> str:
    if time.start == time.end:
        return f"on {time.start.isoformat()}" + (f" at {time.clock}" if time.clock else "")
    return f"from {time.start.isoformat()} to {time.end.isoformat()}"


def _digest(*parts: str) -> str:
    """A hash in which every part is preceded by its length, so that no two lists of parts read the same."""
    state = hashlib.blake2b(digest_size=32)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()
