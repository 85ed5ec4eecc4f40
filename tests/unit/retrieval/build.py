"""Values for the tests of the read path: people, things and frames by name."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from hashlib import sha256
from uuid import UUID, uuid5

from domain.jobs import NAMESPACE
from domain.memory import (
    AnchorType,
    Frame,
    FrameArm,
    Granularity,
    Literal,
    MemoryKind,
    Status,
    TimeSpan,
)
from domain.retrieval.plan import Plan, plan

AS_OF = datetime(2024, 6, 1, 12, tzinfo=UTC)

PEOPLE = ("Ana", "Ben", "Cleo")


def uid(name: str) -> UUID:
    """An id that stands for a name."""
    return uuid5(NAMESPACE, name)


def day(year: int, month: int, number: int) -> TimeSpan:
    """One day."""
    return TimeSpan(start=date(year, month, number), end=date(year, month, number), granularity=Granularity.DAY)


def arm(role: str, name: str, kind: AnchorType | None = None) -> FrameArm:
    """An arm; the known people are persons, everything else is an object unless said."""
    default = AnchorType.PERSON if name in PEOPLE else AnchorType.OBJECT
    return FrameArm(role=role, anchor_id=uid(name), name=name, type=kind or default)


def frame(
    predicate: str,
    arms: Sequence[FrameArm],
    *,
    of: Sequence[str] = ("record",),
    status: Status = Status.DONE,
    event_time: TimeSpan | None = None,
    literals: Sequence[Literal] = (),
    kind: MemoryKind = MemoryKind.EPISODIC,
) -> Frame:
    """A frame that cites the records named; its id depends on all of it."""
    text = "|".join((predicate, *(f"{a.role}:{a.name}" for a in arms), *of, status, str(event_time)))
    return Frame(
        id=sha256(text.encode()).hexdigest(),
        user_id="ana",
        kind=kind,
        predicate=predicate,
        arms=tuple(arms),
        literals=tuple(literals),
        event_time=event_time,
        status=status,
        record_ids=tuple(uid(name) for name in of),
    )


def ask(question: str, people: Sequence[str] = PEOPLE) -> Plan:
    """The plan of a question asked at AS_OF."""
    return plan(question, as_of=AS_OF, people=[name for name in people if name in question])
