"""Asking for a consolidation on the command line, waiting for it, and saying what became of it."""

import asyncio
import getpass
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

import typer

from api.services import Services
from domain.dream.rounds import ROUNDS, Consolidation, ConsolidationState, NewConsolidation, Pair, PairState, Stage
from domain.errors import InvalidInput, NotFound
from domain.memory import Record
from infra.run.cli.output import INTERRUPTED, err, plain, say
from infra.run.cli.progress import LINE_SECONDS
from infra.run.cli.stack import connected

POLL_SECONDS = 0.5
"""Between two looks at a consolidation."""

T = TypeVar("T")
Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A consolidation with what is shown beside it."""

    consolidation: Consolidation
    created: bool | None = None
    """Whether this command asked for it first; None if it asked for nothing."""
    pairs: Sequence[Pair] | None = None
    """None: not asked for."""
    records: Mapping[UUID, Record] = field(default_factory=dict)
    """The evidence of the pairs."""


class NoConsolidation(NotFound):
    """There is none of this id, or of this user."""

    advice = "`reverie dream list --user USER` lists the consolidations of a user"


class NoAnchor(NotFound):
    """There is none of this id or name, or of this user."""

    advice = "`reverie anchors list --user USER` lists the anchors of a user"


@contextmanager
def in_words_of(options: Mapping[str, str], absent: type[NotFound]) -> Iterator[None]:
    """Errors by the names that the command has for fields, and what is not found with where to look."""
    try:
        yield
    except InvalidInput as error:
        told = error.message.removeprefix(f"{error.field}: ")
        raise InvalidInput(told, field=options.get(error.field, error.field)) from error
    except NotFound as error:
        raise absent(error.message) from error


def actor_of(given: str) -> str:
    """Who asks: the name given, else that of the system's user, where it has one."""
    if given:
        return given
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""


def id_of(text: str, *, argument: str) -> UUID:
    """Raises InvalidInput naming the argument."""
    try:
        return UUID(text)
    except ValueError as error:
        raise InvalidInput("is not an id (32 hexadecimal digits, as printed by --json)", field=argument) from error


def done(action: Callable[[Services], Awaitable[T]]) -> T:
    """The result of an action on the services in place."""

    async def act() -> T:
        async with connected() as services:
            return await action(services)

    return asyncio.run(act())


def asked(new: NewConsolidation, *, wait: bool, states: Sequence[PairState] | None = None) -> Outcome:
    """Ask, and with `wait` stay until it has settled; `states` are those of the pairs to bring along."""

    async def act(services: Services) -> Outcome:
        answer = await services.dreamer.request(new)
        found = answer.consolidation
        if wait:
            found = await settled(services, found)
        return await outcome(services, found, created=answer.created, states=states)

    return interruptible(new.user_id, lambda: done(act))


def interruptible(user_id: str, work: Callable[[], T]) -> T:
    """Ctrl-C ends the waiting alone, and says so."""
    try:
        return work()
    except KeyboardInterrupt:
        say(f"stopped waiting; what was accepted goes on: `reverie dream list --user {user_id}`")
        raise typer.Exit(INTERRUPTED) from None


async def outcome(
    services: Services,
    found: Consolidation,
    *,
    created: bool | None = None,
    states: Sequence[PairState] | None = None,
) -> Outcome:
    """With the pairs of some states and their evidence; of all states if none is named."""
    if states is None:
        return Outcome(consolidation=found, created=created)
    pairs = await services.consolidations.pairs(found.id, states=states)
    return await with_evidence(services, Outcome(consolidation=found, created=created, pairs=pairs))


async def with_evidence(services: Services, shown: Outcome) -> Outcome:
    """The same with the records that its pairs cite."""
    cited = {record for pair in shown.pairs or () for end in (pair.a, pair.b) for record in end.record_ids}
    records = await services.records.records(shown.consolidation.user_id, sorted(cited))
    return Outcome(
        consolidation=shown.consolidation,
        created=shown.created,
        pairs=shown.pairs,
        records={record.id: record for record in records},
    )


async def settled(services: Services, consolidation: Consolidation) -> Consolidation:
    """The consolidation once it has ended or waits for a person; its progress is told meanwhile."""
    with telling() as tell:
        while not consolidation.settled:
            pairs = await services.consolidations.pairs(consolidation.id) if consolidation.mode in ROUNDS else ()
            tell(progress_text(consolidation, pairs))
            await asyncio.sleep(POLL_SECONDS)
            consolidation = await services.consolidations.consolidation(consolidation.user_id, consolidation.id)
    return consolidation


def progress_text(consolidation: Consolidation, pairs: Sequence[Pair]) -> str:
    """Where it stands, by the pairs of its stage."""
    if consolidation.state is ConsolidationState.ACCEPTED:
        return "approved merges wait for their turn" if consolidation.applying else "waiting for its turn at the graph"
    if consolidation.applying or consolidation.mode not in ROUNDS:
        return "changing the graph"
    stage = Stage.REPAIR if any(pair.stage is Stage.REPAIR for pair in pairs) else Stage.MAIN
    own = [pair for pair in pairs if pair.stage is stage]
    if not own:
        return "looking for candidates"
    verified = sum(pair.state is not PairState.OPEN for pair in own)
    name = "repair round" if stage is Stage.REPAIR else "round"
    return f"{name}: {verified} of {len(own)} pairs verified"


@contextmanager
def telling() -> Iterator[Tell]:
    """A line that changes on a terminal, else a line every few seconds."""
    if err.is_terminal:
        with err.status("asking") as status:
            yield lambda text: status.update(plain(text))
        return
    last = time.monotonic()

    def tell(text: str) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            say(text)

    yield tell
