"""Recurring rounds of AutoDream, as an operator asks for them and as they stand."""

import re

from pydantic import AwareDatetime

from domain.dream.asking import MAX_TIMEOUT_SECONDS, MIN_TIMEOUT_SECONDS
from domain.dream.rounds import ROUNDS, Mode
from domain.errors import InvalidInput
from domain.intake import USER_ID, zone_of
from domain.memory import Frozen

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""What a schedule is called; unique among those of a user, or among those for all users."""
MIN_INTERVAL_SECONDS, MAX_INTERVAL_SECONDS = 10, 366 * 24 * 3600
DEFAULT_TIMEOUT_SECONDS, DEFAULT_RUN_SECONDS, DEFAULT_CATCH_UP_SECONDS = 3600, 24 * 3600, 24 * 3600
MIN_CATCH_UP_SECONDS = 10
"""Temporal makes up for what is no older than this whatever it is told."""
MAX_CRON_CHARACTERS = 200
_CRON = re.compile(r"@(yearly|annually|monthly|weekly|daily|midnight|hourly)|[0-9A-Za-z*/,?-]+( +[0-9A-Za-z*/,?-]+){4}")
"""No seconds, no `@every` and no zone within the expression: at most one run a minute, in the zone that is shown."""


class NewSchedule(Frozen):
    """What is asked for; valid if it comes from `checked_schedule`."""

    name: str
    user_id: str | None = None
    """None: every user with a frontier."""
    cron: str = ""
    """Minute, hour, day of the month, month and day of the week, or @daily and the like; in `timezone`. This or
    `every_seconds`."""
    every_seconds: int = 0
    timezone: str = "UTC"
    mode: Mode = Mode.FINAL
    review: bool = False
    timeout_seconds: int = DEFAULT_TIMEOUT_SECONDS
    """Longest time of one round."""
    run_timeout_seconds: int = DEFAULT_RUN_SECONDS
    """Longest time of one run of the schedule, over all its users; then it is ended and counted, and the next one
    runs."""
    catch_up_seconds: int = DEFAULT_CATCH_UP_SECONDS
    """Runs missed while the workflow server was away are made up for if they are no older; one at most waits behind
    the one that runs."""


class ScheduleRun(Frozen):
    """A run of a schedule."""

    scheduled_at: AwareDatetime
    started_at: AwareDatetime
    workflow_id: str
    """Runs asked for within one second share it."""
    run_id: str
    """Its rounds are requested as `schedule/<name>/<run_id>`."""


class Schedule(NewSchedule):
    """A schedule with its record."""

    paused: bool = False
    created_at: AwareDatetime
    next_at: tuple[AwareDatetime, ...] = ()
    """The next runs, soonest first."""
    recent: tuple[ScheduleRun, ...] = ()
    """The last runs, newest last."""
    running: int = 0
    runs: int = 0
    """Started so far."""
    missed: int = 0
    """Not made up for: older than the catch-up time when the server came back."""
    skipped: int = 0
    """Dropped, for one was waiting behind the one that ran."""
    timed_out: int = 0
    """Ended for they took longer than `run_timeout_seconds`; as far as the server's retention reaches."""
    failed: int = 0
    """Runs that ended with an error, as far; a round that fails is in its run's result and its own receipt."""


def checked_schedule(new: NewSchedule) -> NewSchedule:
    """The schedule as it may be made. Raises InvalidInput naming the field."""
    if not NAME.fullmatch(new.name):
        raise InvalidInput("must be 1 to 64 letters, digits, dots, dashes and underscores", field="name")
    if new.user_id is not None and not USER_ID.fullmatch(new.user_id):
        raise InvalidInput("is not a user id", field="user_id")
    if bool(new.cron) == bool(new.every_seconds):
        raise InvalidInput("give a cron expression or an interval, one of the two", field="cron")
    if new.cron and (len(new.cron) > MAX_CRON_CHARACTERS or not _CRON.fullmatch(new.cron)):
        raise InvalidInput("must be five fields (0 3 * * *), or @hourly, @daily, @weekly, @monthly", field="cron")
    if new.every_seconds and not MIN_INTERVAL_SECONDS <= new.every_seconds <= MAX_INTERVAL_SECONDS:
        raise InvalidInput(f"must be {MIN_INTERVAL_SECONDS} seconds to a year", field="every_seconds")
    zone_of(new.timezone)
    if new.mode not in ROUNDS:
        raise InvalidInput("only rounds can be scheduled: intermediate or final", field="mode")
    _check_seconds(new.timeout_seconds, "timeout_seconds", MIN_TIMEOUT_SECONDS)
    _check_seconds(new.run_timeout_seconds, "run_timeout_seconds", MIN_TIMEOUT_SECONDS)
    _check_seconds(new.catch_up_seconds, "catch_up_seconds", MIN_CATCH_UP_SECONDS)
    return new


def _check_seconds(value: int, field: str, least: int) -> None:
    if not least <= value <= MAX_TIMEOUT_SECONDS:
        raise InvalidInput(f"must be {least} to {MAX_TIMEOUT_SECONDS} seconds", field=field)
