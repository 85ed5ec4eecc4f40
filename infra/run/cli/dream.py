"""`reverie dream`: rounds of AutoDream now: run one, look at it, decide what waits, take it back."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from uuid import uuid4

import typer

from api.consolidation_views import DEFAULT_TIMEOUT_SECONDS
from api.services import Services
from api.views import MAX_SEQUENCE
from domain.dream.rounds import Consolidation, Mode, NewConsolidation, Pair, PairState
from domain.errors import InvalidInput
from infra.run.cli.consolidating import (
    NoConsolidation,
    Outcome,
    actor_of,
    asked,
    done,
    id_of,
    in_words_of,
    interruptible,
    outcome,
    settled,
    with_evidence,
)
from infra.run.cli.dream_tables import listing, print_outcome, report
from infra.run.cli.durations import seconds_of, shown
from infra.run.cli.ingest import parse_time
from infra.run.cli.output import edge, emit, out, say
from infra.run.formats.inputs import DEFAULT_USER

PAGE = 20
WAITING = (PairState.PROPOSED, PairState.PENDING)
"""Merges that a dry run proposes, or that a person has to decide."""

User = Annotated[str, typer.Option(help="Whose memory.")]
Actor = Annotated[str, typer.Option(help="Who asks, for the audit; default: the system's user.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it has ended.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The consolidation's id.")]

_OPTIONS = {
    "user_id": "--user",
    "chunk_ids": "--chunks",
    "since": "--since",
    "timeout_seconds": "--timeout",
    "actor": "--actor",
    "absorbed": "--absorbed",
    "keep": "--keep",
}
"""Where a field's value comes from."""

app = typer.Typer(
    no_args_is_help=True,
    help="Merge anchors that are one (AutoDream): run a round, review, undo.",
    epilog="Example: reverie dream run --user ana --dry-run   ·   reverie dream run --user ana --final",
)


@app.command(epilog="Example: reverie dream run --user ana --final --review")
def run(
    user: User = DEFAULT_USER,
    chunks: Annotated[
        list[str] | None,
        typer.Option(
            help="Frontier: the records of this chunk, by the id that `reverie add --json` prints; may be repeated."
        ),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Frontier: inputs accepted from this time on (ISO 8601).")] = None,
    final: Annotated[
        bool, typer.Option("--final", help="Take anchors that no round has taken too, with a repair round.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Propose merges, and change nothing.")] = False,
    review: Annotated[bool, typer.Option("--review", help="Hold each merge for a person.")] = False,
    timeout: Annotated[str, typer.Option(help="Longest time: seconds, or 30m, 6h, 1d.")] = shown(
        DEFAULT_TIMEOUT_SECONDS
    ),
    actor: Actor = "",
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Run a round over what is new, after the user's inputs so far, and print its receipt."""
    with edge(as_json=as_json), in_words_of(_OPTIONS, NoConsolidation):
        new = NewConsolidation(
            user_id=user,
            request_id=str(uuid4()),
            mode=Mode.FINAL if final else Mode.INTERMEDIATE,
            dry_run=dry_run,
            review=review,
            chunk_ids=tuple(id_of(each, argument="--chunks") for each in chunks or ()),
            since=None if since is None else _since(since),
            actor=actor_of(actor),
            timeout_seconds=seconds_of(f"{timeout}s" if timeout.isdecimal() else timeout, option="--timeout"),
        )
        found = asked(new, wait=wait, states=WAITING if dry_run or review else None)
        raise typer.Exit(report(found, as_json=as_json))


@app.command("list", epilog="Example: reverie dream list --user ana --limit 50")
def list_consolidations(
    user: User = DEFAULT_USER,
    before: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_SEQUENCE, help="Only those before this sequence number: the next page."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Consolidations a page.")] = PAGE,
    as_json: AsJson = False,
) -> None:
    """List a user's consolidations, newest first: rounds, merges by hand, splits and undoings."""
    with edge(as_json=as_json):
        found = done(lambda services: services.consolidations.consolidations(user, before=before, limit=limit))
        following = found[-1].sequence if len(found) == limit and found[-1].sequence > 1 else None
        if as_json:
            emit({"consolidations": [each.model_dump(mode="json") for each in found], "before": following})
            return
        if not found:
            say(f"no consolidations of {user}" + (f" before {before}" if before else ""))
            return
        out.print(listing(found))
        if following:
            say(f"older ones: reverie dream list --user {user} --before {following}")


@app.command(epilog="Example: reverie dream show 4e0d… --user ana --pairs --state rejected")
def show(
    consolidation: Id,
    user: User = DEFAULT_USER,
    pairs: Annotated[bool, typer.Option("--pairs", help="Also list the pairs it compared.")] = False,
    state: Annotated[
        list[PairState] | None, typer.Option(help="Only pairs in this state; may be repeated; implies --pairs.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a consolidation with its receipt."""
    states = state or () if pairs or state else None

    async def act(services: Services) -> Outcome:
        return await outcome(services, await _found(services, user, consolidation), states=states)

    with edge(as_json=as_json), in_words_of(_OPTIONS, NoConsolidation):
        report(done(act), as_json=as_json)


@app.command(epilog="Example: reverie dream undo 4e0d… --user ana --absorbed a15b…")
def undo(
    consolidation: Id,
    user: User = DEFAULT_USER,
    absorbed: Annotated[str | None, typer.Option(help="Only the merge that absorbed this anchor.")] = None,
    actor: Actor = "",
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Take its merges back; what was written since stays with the anchor that it names now."""
    with edge(as_json=as_json), in_words_of(_OPTIONS, NoConsolidation):
        new = NewConsolidation(
            user_id=user,
            request_id=str(uuid4()),
            mode=Mode.UNDO,
            target=id_of(consolidation, argument="ID"),
            absorbed=None if absorbed is None else id_of(absorbed, argument="--absorbed"),
            actor=actor_of(actor),
        )
        raise typer.Exit(report(asked(new, wait=wait), as_json=as_json))


@app.command(epilog="Example: reverie dream cancel 4e0d… --user ana")
def cancel(consolidation: Id, user: User = DEFAULT_USER, as_json: AsJson = False) -> None:
    """Stop a consolidation; what it has merged stays, and can be undone."""

    async def act(services: Services) -> Outcome:
        return Outcome(consolidation=await services.dreamer.cancel(user, id_of(consolidation, argument="ID")))

    with edge(as_json=as_json), in_words_of(_OPTIONS, NoConsolidation):
        print_outcome(done(act), as_json=as_json)


@app.command(epilog="Example: reverie dream review 4e0d… --user ana --approve 7b2e --keep Porto --reject 8c3f")
def review(
    consolidation: Id,
    user: User = DEFAULT_USER,
    approve: Annotated[
        list[str] | None, typer.Option(help="Merge this pair (its id, or how it starts); may be repeated.")
    ] = None,
    reject: Annotated[list[str] | None, typer.Option(help="Hold this pair apart for good; may be repeated.")] = None,
    approve_all: Annotated[
        bool, typer.Option("--approve-all", help="Merge all that wait and are not rejected.")
    ] = False,
    keep: Annotated[str, typer.Option(help="With one --approve: the name that stays.")] = "",
    actor: Actor = "",
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """List the merges that wait for a person, or decide them."""
    with edge(as_json=as_json), in_words_of(_OPTIONS, NoConsolidation):
        if keep and (approve_all or len(approve or ()) != 1):
            raise InvalidInput("goes with one --approve", field="--keep")
        decisions = _Decisions(
            approve=approve or (), reject=reject or (), approve_all=approve_all, keep=keep, actor=actor_of(actor)
        )

        async def act(services: Services) -> Outcome:
            found = await _found(services, user, consolidation)
            return await decisions.carried_out(services, found, wait=wait)

        raise typer.Exit(report(interruptible(user, lambda: done(act)), as_json=as_json))


class _Decisions:
    """What a person decided in one command."""

    def __init__(
        self, *, approve: Sequence[str], reject: Sequence[str], approve_all: bool, keep: str, actor: str
    ) -> None:
        self._approve = approve
        self._reject = reject
        self._all = approve_all
        self._keep = keep
        self._actor = actor

    async def carried_out(self, services: Services, found: Consolidation, *, wait: bool) -> Outcome:
        """Store each; with `wait`, until what was approved is merged. Without any, show what waits."""
        every = await services.consolidations.pairs(found.id)
        rejected = [_named(every, text, option="--reject") for text in self._reject]
        approved = [_named(every, text, option="--approve") for text in self._approve]
        if {pair.id for pair in rejected} & {pair.id for pair in approved}:
            raise InvalidInput("names a pair that is to be approved too", field="--reject")
        if self._all:
            spoken_of = {pair.id for pair in (*rejected, *approved)}
            approved += [pair for pair in every if pair.state is PairState.PENDING and pair.id not in spoken_of]
        if not approved and not rejected:
            return await outcome(services, found, states=(PairState.PENDING,))
        decided = [await self._decide(services, found, pair, approve=False) for pair in rejected]
        decided += [await self._decide(services, found, pair, approve=True) for pair in approved]
        now = await services.consolidations.consolidation(found.user_id, found.id)
        if approved and wait:
            now = await settled(services, now)
            decided = [await services.dreamer.pair(now, pair.id) for pair in decided]
        return await with_evidence(services, Outcome(consolidation=now, pairs=decided))

    async def _decide(self, services: Services, found: Consolidation, pair: Pair, *, approve: bool) -> Pair:
        keep = self._keep if approve else ""
        return await services.dreamer.decide(
            found.user_id, found.id, pair.id, approve=approve, keep=keep, actor=self._actor
        )


def _since(text: str) -> datetime:
    """A time without a zone is one of the machine's."""
    given = parse_time(text, option="--since")
    try:
        return given if given.tzinfo else given.astimezone()
    except (OverflowError, ValueError) as error:
        raise InvalidInput("lies outside the calendar", field="--since") from error


async def _found(services: Services, user: str, text: str) -> Consolidation:
    return await services.consolidations.consolidation(user, id_of(text, argument="ID"))


def _named(pairs: Sequence[Pair], text: str, *, option: str) -> Pair:
    """The one pair whose id starts so."""
    found = [pair for pair in pairs if text and str(pair.id).startswith(text.lower())]
    if len(found) != 1:
        several = "the start of several pairs' ids: give more of it" if found else "no pair of this consolidation"
        raise InvalidInput(f"is {several}", field=option)
    return found[0]
