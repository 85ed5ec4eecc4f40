"""What the routes of schedules take and give."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from api.views import User
from domain.dream.rounds import Mode
from domain.dream.schedules import (
    DEFAULT_CATCH_UP_SECONDS,
    DEFAULT_RUN_SECONDS,
    DEFAULT_TIMEOUT_SECONDS,
    MAX_CRON_CHARACTERS,
    MAX_INTERVAL_SECONDS,
    MIN_INTERVAL_SECONDS,
    NAME,
    NewSchedule,
    Schedule,
    ScheduleRun,
)
from domain.intake import USER_ID
from domain.memory import Frozen

ALL_USERS = "*"
"""Owner of the schedules over all users: no user is called that."""

Owner = Annotated[str, Field(pattern=rf"^(\*|{USER_ID.pattern})$")]
Name = Annotated[str, Field(pattern=f"^{NAME.pattern}$")]


def user_of(owner: str) -> str | None:
    """None stands for all users."""
    return None if owner == ALL_USERS else owner


class ScheduleIn(Frozen):
    """A recurring round: by `cron` or `every_seconds`, one of the two."""

    name: Name
    cron: Annotated[str, Field(max_length=MAX_CRON_CHARACTERS)] = ""
    """Minute, hour, day of the month, month, day of the week (where both days are given, both must fit); or @hourly,
    @daily, @weekly, @monthly."""
    every_seconds: int | None = Field(default=None, ge=MIN_INTERVAL_SECONDS, le=MAX_INTERVAL_SECONDS)
    timezone: str = "UTC"
    """IANA zone of `cron`."""
    mode: Literal["intermediate", "final"] = "final"
    review: bool = False
    """Hold each merge for a person."""
    timeout_seconds: int = DEFAULT_TIMEOUT_SECONDS
    """Longest time of one round."""
    run_timeout_seconds: int = DEFAULT_RUN_SECONDS
    """Longest time of one run, over all its users."""
    catch_up_seconds: int = DEFAULT_CATCH_UP_SECONDS
    """Runs that were missed are made up for if they are no older."""

    def schedule(self, owner: str) -> NewSchedule:
        """The same for its owner."""
        values = self.model_dump(exclude={"every_seconds"})
        return NewSchedule(**values, every_seconds=self.every_seconds or 0, user_id=user_of(owner))


class ScheduleView(Frozen):
    """A schedule and how its runs went."""

    name: str
    user_id: User | Literal["*"]
    cron: str
    every_seconds: int | None
    timezone: str
    mode: Mode
    review: bool
    timeout_seconds: int
    run_timeout_seconds: int
    catch_up_seconds: int
    paused: bool
    created_at: AwareDatetime
    next_at: tuple[AwareDatetime, ...]
    """The next runs; none if it never comes due."""
    recent: tuple[ScheduleRun, ...]
    """The last runs, newest last; the rounds of a run are requested as `schedule/<name>/<run_id>`."""
    running: int
    runs: int
    missed: int
    """Runs that were not made up for: too old when the workflow server came back."""
    skipped: int
    """Runs dropped because one waited already."""
    timed_out: int
    failed: int

    @classmethod
    def of(cls, schedule: Schedule) -> "ScheduleView":
        """As the API shows it."""
        values = schedule.model_dump(exclude={"user_id", "every_seconds"})
        return cls(**values, user_id=schedule.user_id or ALL_USERS, every_seconds=schedule.every_seconds or None)


class SchedulePage(Frozen):
    """Schedules by name; `next` is the `after` of the next page."""

    items: tuple[ScheduleView, ...]
    next: str | None
