"""`reverie jobs`: what was accepted, what became of it, and starting it again or stopping it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated
from uuid import UUID

import typer
from rich.table import Table
from rich.text import Text

from api.services import Services
from domain.errors import InvalidInput
from domain.jobs import Job, JobState
from infra.run.cli.output import edge, emit, out, plain, say
from infra.run.cli.stack import connected
from infra.run.formats.inputs import DEFAULT_USER

PAGE = 20

User = Annotated[str, typer.Option(help="Whose jobs.")]
Before = Annotated[int | None, typer.Option(help="Only jobs before this sequence number: the next page.")]
Limit = Annotated[int, typer.Option(min=1, max=500, help="Jobs a page.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JobId = Annotated[str, typer.Argument(help="The job's id.")]

app = typer.Typer(
    invoke_without_command=True,
    no_args_is_help=False,
    help="List jobs, show one, retry or cancel it.",
    epilog="Example: reverie jobs --user ana   ·   reverie jobs retry 6f1c… --user ana",
)


@app.callback()
def _default(
    context: typer.Context,
    user: User = DEFAULT_USER,
    before: Before = None,
    limit: Limit = PAGE,
    as_json: AsJson = False,
) -> None:
    """Without a subcommand the jobs are listed."""
    if context.invoked_subcommand is None:
        _list(user, before, limit=limit, as_json=as_json)


@app.command("list", epilog="Example: reverie jobs list --user ana --limit 50")
def list_jobs(user: User = DEFAULT_USER, before: Before = None, limit: Limit = PAGE, as_json: AsJson = False) -> None:
    """List a user's jobs, newest first."""
    _list(user, before, limit=limit, as_json=as_json)


@app.command(epilog="Example: reverie jobs show 6f1c… --user ana")
def show(job: JobId, user: User = DEFAULT_USER, as_json: AsJson = False) -> None:
    """Show one job in full."""
    _one(job, lambda services, found: services.jobs.job(user, found), as_json=as_json)


@app.command(epilog="Example: reverie jobs retry 6f1c… --user ana")
def retry(job: JobId, user: User = DEFAULT_USER, as_json: AsJson = False) -> None:
    """Run a job that ended again, from where it stopped; records whose indexing failed are indexed."""
    _one(job, lambda services, found: services.acceptor.retry(user, found), as_json=as_json)


@app.command(epilog="Example: reverie jobs cancel 6f1c… --user ana")
def cancel(job: JobId, user: User = DEFAULT_USER, as_json: AsJson = False) -> None:
    """Stop a job; what it has committed stays."""
    _one(job, lambda services, found: services.acceptor.cancel(user, found), as_json=as_json)


def _list(user: str, before: int | None, *, limit: int, as_json: bool) -> None:
    with edge(as_json=as_json):
        jobs = asyncio.run(_page(user, before, limit))
        following = jobs[-1].sequence if len(jobs) == limit and jobs[-1].sequence > 1 else None
        if as_json:
            emit({"jobs": [job.model_dump(mode="json") for job in jobs], "before": following})
            return
        if not jobs:
            say(f"no jobs of {user}" + (f" before {before}" if before else ""))
            return
        out.print(_table(jobs))
        if following:
            say(f"older ones: reverie jobs --user {user} --before {following}")


async def _page(user: str, before: int | None, limit: int) -> tuple[Job, ...]:
    async with connected() as services:
        return await services.jobs.jobs(user, before=before, limit=limit)


def _one(text: str, action: Callable[[Services, UUID], Awaitable[Job]], *, as_json: bool) -> None:
    with edge(as_json=as_json):
        job = asyncio.run(_act(_job_id(text), action))
        if as_json:
            emit(job.model_dump(mode="json"))
        else:
            _print_job(job)


async def _act(job: UUID, action: Callable[[Services, UUID], Awaitable[Job]]) -> Job:
    async with connected() as services:
        return await action(services, job)


def _job_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise InvalidInput(
            "is not a job id (32 hexadecimal digits, as `reverie jobs` prints it)", field="JOB"
        ) from error


def _table(jobs: tuple[Job, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("#", "Job", "State", "Session", "Turns", "Records", "Indexed", "Accepted", "Note"):
        table.add_column(name, no_wrap=name == "Job", overflow="fold")
    for job in jobs:
        table.add_row(
            str(job.sequence),
            str(job.id),
            state_text(job),
            Text(plain(job.session_id)),
            str(job.messages),
            str(sum(job.records.values())),
            str(job.indexed) + (f" ({job.index_failed} failed)" if job.index_failed else ""),
            f"{job.accepted_at:%Y-%m-%d %H:%M}",
            note(job),
        )
    return table


def state_text(job: Job) -> Text:
    """The state, coloured by how it ended; chunks done while it runs."""
    styles = {JobState.COMPLETED: "green", JobState.FAILED: "bold red", JobState.CANCELLED: "yellow"}
    running = f" {job.chunks_done}/{job.chunks}" if job.state is JobState.RUNNING and job.chunks else ""
    return Text(job.state.value + running, styles.get(job.state, ""))


def note(job: Job) -> str:
    """Why a job failed, or made nothing."""
    return f"{job.step}: {job.reason}" if job.step else job.reason


def _print_job(job: Job) -> None:
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in job.model_dump(mode="json").items():
        shown = ", ".join(f"{count} {kind}" for kind, count in value.items()) if isinstance(value, dict) else value
        table.add_row(name.replace("_", " "), Text(plain("" if shown is None else str(shown))))
    out.print(table)
