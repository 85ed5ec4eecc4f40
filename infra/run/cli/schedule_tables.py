"""Schedules as tables; times are in the schedule's own zone."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from rich.table import Table
from rich.text import Text

from domain.dream.schedules import Schedule
from infra.run.cli.durations import shown

RUNS_SHOWN = 5
"""Next and last runs of one schedule."""


def listing(schedules: Sequence[Schedule]) -> Table:
    """One line a schedule."""
    table = Table(box=None, pad_edge=False)
    for name in ("Name", "When", "Next", "Last", "Runs", "Missed", "Skipped", "Timed out", "Failed", "State"):
        table.add_column(name, overflow="fold", justify="left")
    for schedule in schedules:
        table.add_row(
            schedule.name,
            Text(_when(schedule)),
            _next(schedule),
            _time(schedule, schedule.recent[-1].started_at) if schedule.recent else "",
            str(schedule.runs),
            *_troubles(schedule),
            _state(schedule),
        )
    return table


def details(schedule: Schedule) -> Table:
    """All of one schedule, a line a value."""
    table = Table(show_header=False, box=None, pad_edge=False)
    missed, skipped, timed_out, failed = _troubles(schedule)
    lines: dict[str, str | Text] = {
        "name": schedule.name,
        "user": schedule.user_id or "all users with news",
        "when": _when(schedule),
        "round": f"{schedule.mode.value}{', each merge held for a person' if schedule.review else ''}",
        "longest round": shown(schedule.timeout_seconds),
        "longest run": shown(schedule.run_timeout_seconds),
        "catch up": shown(schedule.catch_up_seconds),
        "state": _state(schedule),
        "created": _time(schedule, schedule.created_at),
        "next runs": "\n".join(_time(schedule, at) for at in schedule.next_at[:RUNS_SHOWN]) or _next(schedule),
        "last runs": _last(schedule),
        "runs": str(schedule.runs),
        "missed": missed,
        "skipped": skipped,
        "timed out": timed_out,
        "failed": failed,
    }
    for name, value in lines.items():
        table.add_row(name, value if isinstance(value, Text) else Text(value))
    return table


def _when(schedule: Schedule) -> str:
    if schedule.every_seconds:
        return f"every {shown(schedule.every_seconds)}"
    return f"{schedule.cron} {schedule.timezone}"


def _next(schedule: Schedule) -> str:
    return _time(schedule, schedule.next_at[0]) if schedule.next_at else "never"


def _last(schedule: Schedule) -> str:
    """With the id of each run, which its rounds' request ids hold."""
    runs = schedule.recent[-RUNS_SHOWN:]
    return "\n".join(f"{_time(schedule, run.started_at)}  {run.run_id}" for run in runs) or "none"


def _state(schedule: Schedule) -> Text:
    text = Text("paused" if schedule.paused else "active", "yellow" if schedule.paused else "")
    return text.append(f", {schedule.running} running") if schedule.running else text


def _troubles(schedule: Schedule) -> tuple[Text, Text, Text, Text]:
    """Missed, skipped, timed out, failed."""
    missed, skipped, timed_out, failed = (
        Text(str(count), "bold red" if count else "")
        for count in (schedule.missed, schedule.skipped, schedule.timed_out, schedule.failed)
    )
    return missed, skipped, timed_out, failed


def _time(schedule: Schedule, at: datetime) -> str:
    return f"{at.astimezone(ZoneInfo(schedule.timezone)):%Y-%m-%d %H:%M}"
