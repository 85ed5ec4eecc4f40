"""`python -m tests.evals locomo`: evidence recall of the retriever on LoCoMo, beside M0 and the flat turn baseline."""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from rich.console import Console

from api.services import Services
from domain.memory import Record
from domain.retrieval.fusion import Quota
from infra.run.cli.output import emit, err, say
from tests.e2e.deployment import Deployment
from tests.evals.asking import Answered, ask_all
from tests.evals.baselines import Ranking, cited_turns, flat_records, flat_turns
from tests.evals.conversations import Conversation, load_scorer, read_conversations
from tests.evals.dreaming import dream
from tests.evals.misses import misses
from tests.evals.recorded import RecordedAnswers
from tests.evals.report import Measured, Run, distinct, report, show, show_misses, write_run
from tests.evals.stack import ingest, records_of, servers, working

WIDTH = 140
"""Columns of the printed tables."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--data", type=Path, required=True, help="folder with conv-*.jsonl")
    parser.add_argument("--recorded", type=Path, help="folder with recorded model answers; without it: the rules model")
    parser.add_argument(
        "--config", choices=["M0", "M1", "M2"], default="M1", help="flat, retriever, also after AutoDream"
    )
    parser.add_argument("--conversations", default="", help="ids, separated by commas; default: all there are")
    parser.add_argument("--fusion", choices=[quota.value for quota in Quota], default=Quota.SOFT.value)
    parser.add_argument("--scorer", type=Path, help="locomo_recall.py; default: ../../eval beside the data folder")
    parser.add_argument("--out", type=Path, help="write the run file here, in the scorer's format")
    parser.add_argument("--stack", type=Path, help="keep the servers' data in this folder, to ask again without ingest")
    parser.add_argument("--explain-misses", action="store_true", help="print the stage that lost each gold turn")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; the exit code."""
    scorer = load_scorer(arguments.scorer or arguments.data.parent.parent / "eval" / "locomo_recall.py")
    names = tuple(name for name in arguments.conversations.split(",") if name)
    model = None if arguments.recorded is None else RecordedAnswers(arguments.recorded)
    if model is not None:
        names = names or tuple(sorted(model.conversations))
    conversations = read_conversations(arguments.data, names)
    with servers(arguments.stack) as deployment:
        measured = asyncio.run(_measure(deployment, model, conversations, scorer, arguments))
    if arguments.out is not None:
        write_run(arguments.out, measured.runs[arguments.config])
    figures = report(measured, scorer.load(str(arguments.data)), scorer)
    if arguments.json:
        emit({"config": arguments.config, "fusion": arguments.fusion, **figures})
    else:
        show(figures, Console(width=WIDTH, highlight=False))
    if arguments.explain_misses:
        show_misses(measured.misses, err)
    return 0


async def _measure(
    deployment: Deployment,
    model: RecordedAnswers | None,
    conversations: Sequence[Conversation],
    scorer: ModuleType,
    arguments: argparse.Namespace,
) -> Measured:
    async with working(deployment, model) as services:
        await ingest(services, conversations)
        records = {one.id: await records_of(services, one.id) for one in conversations}
        answered = await ask_all(services, conversations, Quota(arguments.fusion))
        flat, turns = await _baselines(services, conversations, records, scorer, arguments.data)
        lost = await misses(answered, records, services.graph)
        runs = _runs(answered, flat, turns, records)
        if arguments.config == "M2":
            runs |= await _after_dream(services, conversations, Quota(arguments.fusion))
    return Measured(runs=runs, answered=answered, misses=lost, records=records)


async def _after_dream(services: Services, conversations: Sequence[Conversation], quota: Quota) -> dict[str, Run]:
    """The same questions once AutoDream has consolidated everything."""
    for one in conversations:
        rounds = await dream(services, one.id)
        say(f"{one.id}: {len(rounds)} rounds, {sum(each.receipt.merged for each in rounds)} merges")
    answered = await ask_all(services, conversations, quota)
    return {"M2": {one.question.id: one.rows for one in answered}}


async def _baselines(
    services: Services,
    conversations: Sequence[Conversation],
    records: Mapping[str, Sequence[Record]],
    scorer: ModuleType,
    data: Path,
) -> tuple[Run, Run]:
    """Rankings of records (M0) and of turns for every question."""
    turns = {one["id"]: one["turns"] for one in scorer.load(str(data))}
    flat: Run = {}
    flat_by_turn: Run = {}
    for one in conversations:
        flat |= await flat_records(one, records[one.id], services.embedder, scorer)
        flat_by_turn |= await flat_turns(one, turns[one.id], services.embedder, scorer)
    return flat, flat_by_turn


def _runs(
    answered: Sequence[Answered], flat: Run, turns: Run, records: Mapping[str, Sequence[Record]]
) -> dict[str, Run]:
    """The retriever, the references cut to its size question by question and at fixed sizes, and two upper bounds."""
    ours = {one.question.id: one.rows for one in answered}
    return {
        "M1": ours,
        "M0": {key: flat[key][: len(rows)] for key, rows in ours.items()},
        "M0 at 10": {key: rows[:10] for key, rows in flat.items()},
        "M0 at 20": {key: rows[:20] for key, rows in flat.items()},
        "turns, like ids": {key: turns[key][: len(distinct(rows))] for key, rows in ours.items()},
        "turns at 10": {key: rows[:10] for key, rows in turns.items()},
        "any row that entered": {one.question.id: _entered(one, records[one.user_id]) for one in answered},
        "any record": {one.question.id: [cited_turns(row) for row in records[one.user_id]] for one in answered},
    }


def _entered(one: Answered, records: Sequence[Record]) -> Ranking:
    entered = {*one.explanation.base_lane, *one.explanation.relation_lane}
    return [cited_turns(record) for record in records if record.id in entered]
