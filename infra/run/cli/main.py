"""`reverie`: the command line."""

import os
import sys
from importlib.metadata import version as installed_version
from typing import Annotated

import typer

from infra.run.cli import anchors, dream, jobs, schedules
from infra.run.cli.add import add
from infra.run.cli.demo import demo
from infra.run.cli.doctor import doctor
from infra.run.cli.ingest import ingest
from infra.run.cli.output import FAILED, emit, out
from infra.run.cli.reembed import reembed
from infra.run.cli.search import search
from infra.run.cli.up import up
from infra.telemetry import quiet_libraries

app = typer.Typer(
    name="reverie",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Durable, evidence-backed long-term memory. Answers go to stdout, messages to stderr.",
    epilog="Exit codes: 0 done, 1 failed, 2 not valid.   Start with: reverie demo",
)

app.command(epilog="Example: reverie up")(up)
app.command(epilog="Example: reverie doctor --json")(doctor)
app.command(epilog='Example: reverie add "I moved to Lyon yesterday" --user ana --at 2025-03-08T10:00:00+01:00')(add)
app.command(epilog="Example: reverie ingest chat.jsonl notes.md --user ana --timezone Europe/Paris")(ingest)
app.command(epilog='Example: reverie search "Where does Ana live?" --user ana --explain')(search)
app.command(epilog="Example: reverie demo --keep")(demo)
app.command(epilog="Example: reverie reembed   (with `reverie up --no-services` in another terminal)")(reembed)
app.add_typer(jobs.app, name="jobs")
app.add_typer(dream.app, name="dream")
app.add_typer(anchors.app, name="anchors")
app.add_typer(schedules.app, name="schedule")


@app.command(epilog="Example: reverie version --json")
def version(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print the installed version."""
    number = installed_version("reverie")
    if as_json:
        emit({"version": number})
    else:
        out.print(f"reverie {number}", markup=False)


def main() -> None:
    """Entry point of the `reverie` script."""
    quiet_libraries()
    try:
        app()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        # A thread of Temporal's client can keep the interpreter from ending in good order, or abort it.
        os._exit(_flushed(end.code or 0))


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return code or FAILED
    return code
