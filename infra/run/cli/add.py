"""`reverie add`: one message into the memory."""

import asyncio
import sys
from typing import Annotated
from uuid import uuid4

import typer

from api.services import Services
from domain.errors import InvalidInput
from domain.intake import InputIn, MessageIn
from domain.jobs import Acceptance, Job, JobState, chunk_id
from domain.memory import Record
from infra.run.cli.ingest import parse_time
from infra.run.cli.output import FAILED, INTERRUPTED, edge, emit, out, plain, say
from infra.run.cli.progress import progress
from infra.run.cli.sending import Delivery, deliver, new_delivery
from infra.run.cli.stack import connected
from infra.run.formats.inputs import DEFAULT_USER, digest
from infra.run.formats.messages import DEFAULT_SPEAKER

DEFAULT_SESSION = "cli"


def add(
    text: Annotated[str, typer.Argument(help="The message; - reads it from stdin.")],
    user: Annotated[str, typer.Option(help="Whose memory it becomes.")] = DEFAULT_USER,
    session: Annotated[str, typer.Option(help="Session the message belongs to.")] = DEFAULT_SESSION,
    speaker: Annotated[str, typer.Option(help="Who says it.")] = DEFAULT_SPEAKER,
    at: Annotated[str, typer.Option(help="When it was said (ISO 8601); default: now.")] = "",
    timezone: Annotated[str, typer.Option(help="IANA zone of --at and of words like yesterday.")] = "",
    key: Annotated[str, typer.Option("--id", help="Idempotency key: the same key and message are stored once.")] = "",
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the job has ended.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the job and its records as JSON.")] = False,
) -> None:
    """Store a message and print what was made of it."""
    with edge(as_json=as_json):
        said = _stdin() if text == "-" else text
        if not said.strip():
            raise InvalidInput("the message is empty: give a text, or - and the text on stdin", field="TEXT")
        request = key or _request_id(user, session, speaker, at, timezone, said)
        value = InputIn(
            user_id=user,
            request_id=request,
            session_id=session,
            timezone=timezone or None,
            messages=(MessageIn(id=request, speaker=speaker, text=said, sent_at=parse_time(at) if at else None),),
        )
        acceptance, records = _run(value, wait=wait)
        _print(acceptance, records, as_json=as_json)
        if acceptance.job.state in (JobState.FAILED, JobState.CANCELLED):
            raise typer.Exit(FAILED)


def _stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"stdin is not UTF-8 at byte {error.start}", field="TEXT") from error


def _request_id(*parts: str) -> str:
    """With the time it was said the message is one and the same on every run; without, every run says it anew."""
    *_, at, _, _ = parts
    return f"add-{digest(parts) if at else uuid4().hex}"


def _run(value: InputIn, *, wait: bool) -> tuple[Acceptance, tuple[Record, ...]]:
    delivery = new_delivery((value,))
    try:
        return asyncio.run(_add(value, delivery, wait=wait))
    except KeyboardInterrupt:
        say(f"stopped waiting; what was accepted goes on: `reverie jobs --user {value.user_id}`")
        raise typer.Exit(INTERRUPTED) from None


async def _add(value: InputIn, delivery: Delivery, *, wait: bool) -> tuple[Acceptance, tuple[Record, ...]]:
    async with connected() as services:
        with progress(1) as watcher:
            await deliver(services, (value,), watcher=watcher, wait=wait, delivery=delivery)
        (job,) = delivery.jobs.values()
        records = await records_of(services, job) if wait else ()
        return Acceptance(job=job, created=job.id in delivery.created), records


async def records_of(services: Services, job: Job) -> tuple[Record, ...]:
    """The records of a job, chunk by chunk."""
    found: list[Record] = []
    for ordinal in range(job.chunks):
        found.extend(await services.records.of_chunk(chunk_id(job.id, ordinal)))
    return tuple(found)


def _print(acceptance: Acceptance, records: tuple[Record, ...], *, as_json: bool) -> None:
    job = acceptance.job
    if as_json:
        emit(
            {
                "job": job.model_dump(mode="json"),
                "created": acceptance.created,
                "records": [record.model_dump(mode="json") for record in records],
            }
        )
        return
    out.print(_headline(acceptance, len(records)), markup=False, soft_wrap=True)
    for number, record in enumerate(records, start=1):
        out.print(f"{number:>3}. [{record.kind.value}] {plain(record.text)}", markup=False, soft_wrap=True)
    out.print(f"job {job.id}: {job.state.value}", markup=False, soft_wrap=True)


def _headline(acceptance: Acceptance, records: int) -> str:
    job = acceptance.job
    if not acceptance.created:
        return "already stored under this id, nothing written"
    if job.state is JobState.COMPLETED:
        return f"stored; {records} records" + (f" ({job.reason})" if job.reason else "")
    if job.terminal:
        return f"the message is kept, but its job {job.state.value} in {job.step or 'the job'}: {job.reason}"
    return "accepted; the job goes on"
