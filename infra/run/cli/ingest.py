"""`reverie ingest`: files into the memory, checked whole before anything is sent, resumable by running it again."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from domain.errors import InvalidInput
from domain.intake import InputIn
from infra.run.bootstrap import input_limits
from infra.run.cli.batches import final_round
from infra.run.cli.dream_tables import say_failure
from infra.run.cli.output import FAILED, INTERRUPTED, edge, emit, say
from infra.run.cli.progress import progress
from infra.run.cli.sending import Delivery, deliver, new_delivery
from infra.run.cli.stack import connected, located, read_settings
from infra.run.cli.summary import Summary, print_summary, summarize
from infra.run.formats.draft import Format
from infra.run.formats.inputs import Placement, inputs_of
from infra.run.formats.reading import read_path
from infra.run.formats.times import moment
from infra.settings import Settings

FormatName = Literal["auto", "messages", "locomo", "chat", "text", "markdown"]


def ingest(
    files: Annotated[list[Path], typer.Argument(help="Files to read: JSONL, LoCoMo, chat export, text or Markdown.")],
    user: Annotated[str, typer.Option(help="Whose memory it becomes; default: the one the format names.")] = "",
    form: Annotated[
        FormatName, typer.Option("--format", help="Format of the files, where it is not detected.")
    ] = "auto",
    timezone: Annotated[str, typer.Option(help="IANA zone of times without one and of words like yesterday.")] = "",
    at: Annotated[str, typer.Option(help="Time of entries that carry none (ISO 8601); default: now.")] = "",
    dream: Annotated[
        bool, typer.Option("--dream", help="Merge anchors that are one on the way: AutoDream every five chunks.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until every job has ended.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Store files; the same command again writes nothing that is there already."""
    with edge(as_json=as_json):
        settings = located(read_settings())
        placement = Placement(user_id=user, timezone=timezone or None, at=parse_time(at) if at else None)
        inputs, skipped = read_files(files, None if form == "auto" else Format(form), placement, settings=settings)
        summary = run_ingest(settings, inputs, skipped=skipped, wait=wait, dream=dream)
        if as_json:
            emit(summary.model_dump(mode="json"))
        else:
            print_summary(summary)
            say_what_next(summary)
        if dream:
            say_without_rounds(summary)
        failed = [final for rounds in summary.dream.values() if (final := rounds.final) and say_failure(final)]
        if failed or any(not step.records for step in summary.failed_steps):
            raise typer.Exit(FAILED)


def read_files(
    files: Sequence[Path], form: Format | None, placement: Placement, *, settings: Settings
) -> tuple[list[InputIn], dict[str, int]]:
    """The inputs of all files, each file checked to its end, and how many entries were left aside by reason."""
    limits = input_limits(settings)
    inputs: list[InputIn] = []
    skipped: Counter[str] = Counter()
    for path in files:
        parsed = read_path(path, form, max_characters=limits.max_message_characters)
        found = inputs_of(
            parsed, path.name, placement, limits=limits, zone=settings.default_timezone, now=datetime.now(UTC)
        )
        inputs.extend(found)
        skipped.update(dict(parsed.skipped))
        turns = sum(len(value.messages) for value in found)
        say(f"{path.name}: {parsed.format.value}, {turns} turns in {len(found)} inputs")
    return inputs, dict(skipped)


def run_ingest(
    settings: Settings, inputs: Sequence[InputIn], *, skipped: dict[str, int], wait: bool, dream: bool
) -> Summary:
    """Send the inputs; Ctrl-C ends only the waiting, and says what goes on."""
    delivery = new_delivery(inputs)
    try:
        return asyncio.run(_ingest(settings, inputs, delivery, skipped=skipped, wait=wait, dream=dream))
    except KeyboardInterrupt:
        say(interrupted(delivery))
        raise typer.Exit(INTERRUPTED) from None


async def _ingest(
    settings: Settings,
    inputs: Sequence[InputIn],
    delivery: Delivery,
    *,
    skipped: dict[str, int],
    wait: bool,
    dream: bool,
) -> Summary:
    async with connected(settings) as services:
        with progress(delivery.offered_turns) as watcher:
            await deliver(services, inputs, watcher=watcher, wait=wait, delivery=delivery, dream=dream)
        if wait:
            for user, batch in delivery.batches.items():
                await final_round(services, user, batch)
        return await summarize(services, delivery, skipped=skipped)


def interrupted(delivery: Delivery) -> str:
    """What Ctrl-C leaves behind."""
    accepted, offered = len(delivery.jobs), delivery.offered_inputs
    text = f"stopped waiting; {accepted} of {offered} inputs are stored and their jobs go on without this command"
    users = " ".join(
        f"`reverie jobs --user {user}`" for user in sorted({job.user_id for job in delivery.jobs.values()})
    )
    rest = "; run the same command again to send the rest" if accepted < offered else "; run it again to wait for them"
    return text + (f"; see them with {users}" if users else "") + rest


def say_without_rounds(summary: Summary) -> None:
    """Of the users all of whose inputs were there before, in no batch of this command."""
    for user in sorted({job.user_id for job in summary.jobs} - summary.dream.keys()):
        say(f"all inputs of {user} were stored before, so no round follows; start one: reverie dream run --user {user}")


def say_what_next(summary: Summary) -> None:
    """Where to look while the jobs of a `--no-wait` run go on."""
    if not summary.finished:
        for user in sorted({job.user_id for job in summary.jobs}):
            say(f"the jobs go on; see them with `reverie jobs --user {user}`")


def parse_time(text: str, *, option: str = "--at") -> datetime:
    """A time given as an option. Raises InvalidInput."""
    try:
        return moment(text)
    except ValueError as error:
        raise InvalidInput(str(error), field=option) from error
