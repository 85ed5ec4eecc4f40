"""How an ingest is shown while it runs: a bar on a terminal, else a line every few seconds."""

import time
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from infra.run.cli.output import err, say
from infra.run.cli.sending import Delivery

REDRAW_SECONDS = 0.2
"""Between two redraws of the bar."""

LINE_SECONDS = 5.0
"""Between two lines of progress where stderr is not a terminal."""


class Bar:
    """Turns done of all, turns a second, the time that remains, and the jobs that have ended."""

    def __init__(self, total: int) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("ingesting"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("turns  {task.fields[rate]}  {task.fields[jobs]}"),
            TimeRemainingColumn(),
            console=err,
            transient=True,
        )
        self._task = self._progress.add_task("ingest", total=total, rate="", jobs="")
        self._last = 0.0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def update(self, delivery: Delivery) -> None:
        """Redraw, unless that was a moment ago."""
        now = time.monotonic()
        if now - self._last < REDRAW_SECONDS:
            return
        self._last = now
        self._progress.update(
            self._task, completed=delivery.done_turns, rate=f"{rate(delivery):.1f}/s", jobs=jobs_text(delivery)
        )


class Lines:
    """The same in words, seldom."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def update(self, delivery: Delivery) -> None:
        """Print a line if the last one is some seconds old."""
        now = time.monotonic()
        if now - self._last < LINE_SECONDS:
            return
        self._last = now
        say(
            f"{delivery.done_turns}/{delivery.offered_turns} turns, {rate(delivery):.1f} turns/s, {jobs_text(delivery)}"
        )


def progress(total: int) -> Bar | Lines:
    """What suits stderr."""
    return Bar(total) if err.is_terminal else Lines()


def rate(delivery: Delivery) -> float:
    """Turns done a second, without those that were there before."""
    old = sum(turns for job, turns in delivery.turns.items() if job not in delivery.created)
    return max(delivery.done_turns - old, 0) / max(delivery.seconds, 1e-9)


def jobs_text(delivery: Delivery) -> str:
    """Jobs ended of all."""
    return f"{len(delivery.jobs) - len(delivery.open)}/{delivery.offered_inputs} jobs"
