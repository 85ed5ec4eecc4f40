"""`reverie demo`: the whole path on real servers, from a conversation that comes along to answers with evidence."""

import asyncio
import signal
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from domain.intake import InputIn
from domain.retrieval.query import SearchQuery, SearchResult
from infra.run.cli.ingest import read_files
from infra.run.cli.output import FAILED, INTERRUPTED, edge, emit, out, say
from infra.run.cli.progress import progress
from infra.run.cli.rendering import result_view
from infra.run.cli.sending import deliver, new_delivery
from infra.run.cli.stack import connected, located, read_settings
from infra.run.cli.summary import Summary, print_summary, summarize
from infra.run.demo.questions import AS_OF, QUESTIONS, TIMEZONE, USER
from infra.run.embedded.state import StackState
from infra.run.embedded.supervisor import embedded_stack
from infra.run.formats.draft import Format
from infra.run.formats.inputs import Placement
from infra.settings import Settings

CONVERSATION = "conversation.jsonl"

STEPS = 4


def demo(
    data_dir: Annotated[
        Path | None, typer.Option(help="Where the demo's servers live; default: demo in the data directory.")
    ] = None,
    keep: Annotated[bool, typer.Option(help="Leave the servers running until Ctrl-C.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print summary and answers as JSON.")] = False,
) -> None:
    """Start servers of its own, ingest a conversation of five sessions and answer three questions with evidence."""
    with edge(as_json=as_json):
        settings = demo_settings(read_settings(), data_dir)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # a demo that is told to end stops its servers, too
        try:
            answered = _on_own_servers(settings, keep=keep, as_json=as_json)
        except KeyboardInterrupt:
            say("stopped; the servers of the demo are down, what was ingested is kept")
            raise typer.Exit(INTERRUPTED) from None
        if not answered:
            say("error: a question was left without a fact or a row\n       `reverie doctor` checks everything")
            raise typer.Exit(FAILED)


def demo_settings(settings: Settings, data_dir: Path | None) -> Settings:
    """Servers of the demo's own, on free ports, so that a running stack is not disturbed."""
    place = (data_dir or settings.data_dir / "demo").absolute()
    return settings.model_copy(
        update={"data_dir": place, "database_url": None, "temporal_address": None, "api_port": 0}
    )


def demo_inputs(settings: Settings) -> list[InputIn]:
    """The conversation that comes with the package."""
    with as_file(files("infra.run.demo").joinpath(CONVERSATION)) as path:
        inputs, _ = read_files([path], Format.MESSAGES, Placement(user_id=USER, timezone=TIMEZONE), settings=settings)
    return inputs


def _on_own_servers(settings: Settings, *, keep: bool, as_json: bool) -> bool:
    """Run the steps; says whether every question has at least one fact and one row."""
    _step(1, f"starting Postgres, Temporal, a worker and the API in {settings.data_dir}")
    with embedded_stack(settings, say=say) as (_, state):
        inputs = demo_inputs(settings)
        _step(2, f"ingesting {sum(len(value.messages) for value in inputs)} turns in {len(inputs)} sessions")
        summary, results = asyncio.run(_ingest_and_ask(located(settings), inputs))
        if as_json:
            _emit(summary, results, state)
        else:
            _print(summary, results, state)
        if keep:
            _wait_for_ctrl_c()
        say("stopping the servers; `reverie demo --keep` leaves them up to look around")
    return all(result.facts and result.rows for result in results)


def _wait_for_ctrl_c() -> None:
    say("the servers stay up until Ctrl-C")
    with suppress(KeyboardInterrupt):
        signal.pause()


async def _ingest_and_ask(settings: Settings, inputs: Sequence[InputIn]) -> tuple[Summary, tuple[SearchResult, ...]]:
    async with connected(settings) as services:
        delivery = new_delivery(inputs)
        with progress(delivery.offered_turns) as watcher:
            await deliver(services, inputs, watcher=watcher, wait=True, delivery=delivery)
        summary = await summarize(services, delivery, skipped={})
        _step(3, f"asking {len(QUESTIONS)} questions")
        results = [await services.retriever.search(_query(question)) for question in QUESTIONS]
    return summary, tuple(results)


def _query(question: str) -> SearchQuery:
    return SearchQuery(user_id=USER, query=question, as_of=AS_OF, timezone=TIMEZONE)


def _print(summary: Summary, results: Sequence[SearchResult], state: StackState) -> None:
    print_summary(summary)
    for number, (question, result) in enumerate(zip(QUESTIONS, results, strict=True), start=1):
        out.print(f"\nQuestion {number}: {question}", style="bold", markup=False)
        out.print(result_view(result))
    out.print()
    _step(4, "what to look at")
    for job in summary.jobs:
        out.print(f"job {job.id}  {job.session_id}: {job.state.value}", markup=False, soft_wrap=True)
    for name, place in _places(state).items():
        out.print(f"{name}: {place}", markup=False, soft_wrap=True)


def _emit(summary: Summary, results: Sequence[SearchResult], state: StackState) -> None:
    answers = [
        {"question": question, "answer": result.model_dump(mode="json")}
        for question, result in zip(QUESTIONS, results, strict=True)
    ]
    emit({"summary": summary.model_dump(mode="json"), "answers": answers, "places": _places(state)})


def _places(state: StackState) -> dict[str, str]:
    """Where the running parts are reached."""
    places = {"Temporal UI": state.ui_url, "API": state.api_url}
    return {name: place for name, place in places.items() if place}


def _step(number: int, text: str) -> None:
    say(f"[{number}/{STEPS}] {text}")
