"""What an ingest came to: one model for the printed summary and for --json."""

from uuid import UUID

from pydantic import Field
from rich.table import Table
from rich.text import Text

from api.services import Services
from domain.graph import GraphCounts
from domain.jobs import Job, JobState
from domain.memory import Frozen
from infra.run.cli.batches import BatchRounds, batch_rounds
from infra.run.cli.output import out, plain
from infra.run.cli.sending import Delivery


class JobLine(Frozen):
    """A job in brief."""

    id: UUID
    user_id: str
    session_id: str
    state: JobState
    new: bool
    turns: int
    """Turns offered with it."""


class FailedStep(Frozen):
    """A step that gave up: a job's, or the indexing of some of its records."""

    job_id: UUID
    step: str
    reason: str
    records: int = 0
    """Records that wait for a retry of their indexing; 0 when the job itself failed."""


class Summary(Frozen):
    """Counts of one run. `records` and `model_calls` are those of all its jobs, new or not."""

    turns_offered: int
    turns_new: int
    turns_already_stored: int
    records: dict[str, int] = Field(default_factory=dict)
    indexed: int
    model_calls: int
    graph: dict[str, GraphCounts] = Field(default_factory=dict)
    """Size of the graph by user, after the run."""
    dream: dict[str, BatchRounds] = Field(default_factory=dict)
    """Rounds of AutoDream by user, where they were asked for."""
    failed_steps: tuple[FailedStep, ...]
    sanitized_inputs: int
    """Inputs in which characters that can't be stored were replaced."""
    skipped: dict[str, int] = Field(default_factory=dict)
    """Entries of the files that are no memory, by reason."""
    seconds: float
    turns_per_second: float
    finished: bool
    """False where the run did not wait for its jobs."""
    jobs: tuple[JobLine, ...]


async def summarize(services: Services, delivery: Delivery, *, skipped: dict[str, int]) -> Summary:
    """Read the graph's size and put the counts together."""
    jobs = tuple(delivery.jobs.values())
    users = sorted({job.user_id for job in jobs})
    seconds = delivery.seconds
    return Summary(
        turns_offered=delivery.accepted_turns,
        turns_new=delivery.new_turns,
        turns_already_stored=delivery.accepted_turns - delivery.new_turns,
        records=_added(jobs),
        indexed=sum(job.indexed for job in jobs),
        model_calls=sum(job.model_calls for job in jobs),
        graph={user: await services.graph.counts(user) for user in users} if not delivery.open else {},
        dream={user: await batch_rounds(services, user, batch) for user, batch in delivery.batches.items()},
        failed_steps=tuple(step for job in jobs for step in _failed(job)),
        sanitized_inputs=sum(job.sanitized for job in jobs),
        skipped=skipped,
        seconds=round(seconds, 2),
        turns_per_second=round(delivery.new_turns / seconds, 2) if seconds else 0.0,
        finished=not delivery.open,
        jobs=tuple(_line(job, delivery) for job in jobs),
    )


def print_summary(summary: Summary) -> None:
    """The same for a person."""
    out.print(headline(summary), markup=False)
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in _rows(summary):
        table.add_row(name, Text(plain(value)))
    out.print(table)
    for step in summary.failed_steps:
        what = f"{step.records} records not indexed" if step.records else f"failed in {step.step}: {step.reason}"
        out.print(f"job {step.job_id}: {what}; reverie jobs retry {step.job_id}", markup=False, soft_wrap=True)


def headline(summary: Summary) -> str:
    """Whether anything was written, first of all."""
    if not summary.turns_new:
        return f"{summary.turns_already_stored} turns already stored, nothing written"
    old = f", {summary.turns_already_stored} already stored" if summary.turns_already_stored else ""
    verb = "stored" if summary.finished else "accepted"
    return f"{summary.turns_new} turns {verb}{old}"


def _rows(summary: Summary) -> list[tuple[str, str]]:
    records = ", ".join(f"{count} {kind}" for kind, count in sorted(summary.records.items()) if count)
    rows = [("records", f"{sum(summary.records.values())}" + (f" ({records})" if records else ""))]
    for user, counts in summary.graph.items():
        rows.append(
            (f"graph of {plain(user)}", f"{counts.anchors} anchors, {counts.frames} frames, {counts.arms} arms")
        )
    for user, dream in summary.dream.items():
        rows.append((f"AutoDream of {plain(user)}", _dream_text(dream)))
    rows += [
        ("failed steps", str(len(summary.failed_steps))),
        ("model calls", str(summary.model_calls)),
        ("time", f"{summary.seconds:.1f} s, {summary.turns_per_second:.1f} turns/s"),
    ]
    if summary.skipped:
        rows.append(("left aside", ", ".join(f"{count} {reason}" for reason, count in summary.skipped.items())))
    if summary.sanitized_inputs:
        rows.append(("sanitized", f"{summary.sanitized_inputs} inputs held characters that can't be stored"))
    return [*rows, ("jobs", " ".join(str(job.id) for job in summary.jobs))]


def _dream_text(dream: BatchRounds) -> str:
    text = f"rounds {dream.rounds}, merges {dream.merges}"
    if dream.final is None:
        return f"{text}; the final round follows the last job"
    return f"{text}; final round {dream.final.id}: {dream.final.state.value}"


def _added(jobs: tuple[Job, ...]) -> dict[str, int]:
    kinds = sorted({kind for job in jobs for kind in job.records})
    return {kind: sum(job.records.get(kind, 0) for job in jobs) for kind in kinds}


def _failed(job: Job) -> list[FailedStep]:
    steps = []
    if job.state in (JobState.FAILED, JobState.CANCELLED):
        steps.append(FailedStep(job_id=job.id, step=job.step or "job", reason=job.reason or job.state))
    if job.index_failed:
        steps.append(FailedStep(job_id=job.id, step="index", reason="index_failed", records=job.index_failed))
    return steps


def _line(job: Job, delivery: Delivery) -> JobLine:
    return JobLine(
        id=job.id,
        user_id=job.user_id,
        session_id=job.session_id,
        state=job.state,
        new=job.id in delivery.created,
        turns=delivery.turns[job.id],
    )
