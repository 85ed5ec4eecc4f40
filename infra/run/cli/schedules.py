"""`reverie schedule`: rounds of AutoDream that come back by themselves."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from domain.dream.rounds import Mode
from domain.dream.schedules import (
    DEFAULT_CATCH_UP_SECONDS,
    DEFAULT_RUN_SECONDS,
    DEFAULT_TIMEOUT_SECONDS,
    NewSchedule,
    Schedule,
    checked_schedule,
)
from domain.errors import InvalidInput, NotFound, RequestConflict
from domain.intake import USER_ID
from infra.run.cli.consolidating import done, in_words_of
from infra.run.cli.durations import seconds_of, shown
from infra.run.cli.output import edge, emit, out, say
from infra.run.cli.schedule_tables import details, listing
from infra.run.formats.inputs import DEFAULT_USER

PAGE = 50

Name = Annotated[str, typer.Argument(help="What the schedule is called.")]
User = Annotated[str, typer.Option(help="Whose memory.")]
AllUsers = Annotated[bool, typer.Option("--all-users", help="One over every user with news, instead of --user.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_OPTIONS = {
    "name": "NAME",
    "user_id": "--user",
    "cron": "--cron",
    "every_seconds": "--every",
    "timezone": "--timezone",
    "timeout_seconds": "--timeout",
    "run_timeout_seconds": "--run-timeout",
    "catch_up_seconds": "--catch-up",
}
"""Where a field's value comes from."""

app = typer.Typer(
    no_args_is_help=True,
    help="Run AutoDream again and again: make schedules, look after them, end them.",
    epilog="Example: reverie schedule create nightly --cron '0 3 * * *' --timezone Europe/Lisbon --all-users",
)


class NoSchedule(NotFound):
    """There is none of this name."""

    advice = "`reverie schedule list` shows a user's schedules, with --all-users those over all users"


class OtherSchedule(RequestConflict):
    """The name is taken."""

    advice = "`reverie schedule show` shows it; end it with `reverie schedule delete`, or choose another name"


@app.command(epilog="Example: reverie schedule create often --every 6h --user ana --intermediate --review")
def create(
    name: Name,
    cron: Annotated[
        str, typer.Option(help="When: five fields such as '0 3 * * *' (both days must fit), or @daily.")
    ] = "",
    every: Annotated[str, typer.Option(help="Or how often: 30m, 6h, 1d.")] = "",
    user: User = DEFAULT_USER,
    all_users: AllUsers = False,
    timezone: Annotated[str, typer.Option(help="IANA zone of --cron.")] = "UTC",
    final: Annotated[
        bool,
        typer.Option(
            "--final/--intermediate", help="Whether it takes anchors that no round has taken too, with a repair round."
        ),
    ] = True,
    review: Annotated[bool, typer.Option("--review", help="Hold each merge for a person.")] = False,
    timeout: Annotated[str, typer.Option(help="Longest time of one round.")] = shown(DEFAULT_TIMEOUT_SECONDS),
    run_timeout: Annotated[str, typer.Option(help="Longest time of a run, over all users.")] = shown(
        DEFAULT_RUN_SECONDS
    ),
    catch_up: Annotated[str, typer.Option(help="Make up for missed runs no older than this.")] = shown(
        DEFAULT_CATCH_UP_SECONDS
    ),
    as_json: AsJson = False,
) -> None:
    """Make a schedule; the same again changes nothing."""
    with _edge(as_json=as_json):
        new = NewSchedule(
            name=name,
            user_id=_owner(user, all_users),
            cron=cron,
            every_seconds=seconds_of(every, option="--every") if every else 0,
            timezone=timezone,
            mode=Mode.FINAL if final else Mode.INTERMEDIATE,
            review=review,
            timeout_seconds=seconds_of(timeout, option="--timeout"),
            run_timeout_seconds=seconds_of(run_timeout, option="--run-timeout"),
            catch_up_seconds=seconds_of(catch_up, option="--catch-up"),
        )
        asked = checked_schedule(new)
        _print(done(lambda services: services.schedules.create(asked)), as_json=as_json)


@app.command("list", epilog="Example: reverie schedule list --all-users")
def list_schedules(
    user: User = DEFAULT_USER,
    all_users: AllUsers = False,
    after: Annotated[str, typer.Option(help="Only names after this one: the next page.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=500, help="Schedules a page.")] = PAGE,
    as_json: AsJson = False,
) -> None:
    """List a user's schedules, or those over all users, by name, with how their runs went."""
    with _edge(as_json=as_json):
        owner = _owner(user, all_users)
        found = done(lambda services: services.schedules.schedules(owner, after=after, limit=limit))
        following = found[-1].name if len(found) == limit else None
        if as_json:
            emit({"schedules": [schedule.model_dump(mode="json") for schedule in found], "after": following})
            return
        if not found:
            say(f"no schedules of {owner}" if owner else "no schedules over all users")
            return
        out.print(listing(found))
        if following:
            say(f"further ones: --after {following}")


@app.command(epilog="Example: reverie schedule show nightly --all-users")
def show(name: Name, user: User = DEFAULT_USER, all_users: AllUsers = False, as_json: AsJson = False) -> None:
    """Show a schedule in full: its next runs, its last runs, and what was missed, skipped, timed out or failed."""
    with _edge(as_json=as_json):
        owner = _owner(user, all_users)
        _print(done(lambda services: services.schedules.schedule(owner, name)), as_json=as_json)


@app.command(epilog="Example: reverie schedule pause nightly --user ana")
def pause(name: Name, user: User = DEFAULT_USER, all_users: AllUsers = False, as_json: AsJson = False) -> None:
    """Let a schedule rest; a run that is under way goes on."""
    with _edge(as_json=as_json):
        owner = _owner(user, all_users)
        _print(done(lambda services: services.schedules.pause(owner, name, paused=True)), as_json=as_json)


@app.command(epilog="Example: reverie schedule resume nightly --user ana")
def resume(name: Name, user: User = DEFAULT_USER, all_users: AllUsers = False, as_json: AsJson = False) -> None:
    """Let a schedule that rests go on."""
    with _edge(as_json=as_json):
        owner = _owner(user, all_users)
        _print(done(lambda services: services.schedules.pause(owner, name, paused=False)), as_json=as_json)


@app.command(epilog="Example: reverie schedule trigger nightly --all-users")
def trigger(name: Name, user: User = DEFAULT_USER, all_users: AllUsers = False, as_json: AsJson = False) -> None:
    """Run it now, also while it rests; after the run that is under way, and not at all if one waits already."""
    with _edge(as_json=as_json):
        owner = _owner(user, all_users)
        _print(done(lambda services: services.schedules.trigger(owner, name)), as_json=as_json)


@app.command(epilog="Example: reverie schedule delete nightly --user ana")
def delete(name: Name, user: User = DEFAULT_USER, all_users: AllUsers = False, as_json: AsJson = False) -> None:
    """End a schedule; a run that is under way goes on, and the rounds it asked for stay."""
    with _edge(as_json=as_json):
        owner = _owner(user, all_users)
        done(lambda services: services.schedules.delete(owner, name))
        if as_json:
            emit({"deleted": name})
        else:
            out.print(f"deleted {name}", markup=False)


def _owner(user: str, all_users: bool) -> str | None:
    if not all_users and not USER_ID.fullmatch(user):
        raise InvalidInput("is not a user id", field="user_id")
    return None if all_users else user


def _print(schedule: Schedule, *, as_json: bool) -> None:
    if as_json:
        emit(schedule.model_dump(mode="json"))
    else:
        out.print(details(schedule))


@contextmanager
def _edge(*, as_json: bool) -> Iterator[None]:
    """Errors in the command's own words."""
    with edge(as_json=as_json), in_words_of(_OPTIONS, NoSchedule):
        try:
            yield
        except RequestConflict as error:
            raise OtherSchedule(error.message) from error
