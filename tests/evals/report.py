"""Figures of an evaluation: the scorer's all-gold hit and recall, rows and ids a question, and where gold was lost."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.table import Table

from domain.memory import Record
from tests.evals.asking import Answered
from tests.evals.baselines import Ranking
from tests.evals.conversations import CATEGORIES
from tests.evals.misses import Miss, by_stage

Run = dict[str, Ranking]
"""Rows by question id."""

WHOLE = 100_000
"""More rows than any answer has: a run is scored whole."""


@dataclass(frozen=True)
class Measured:
    """Everything an evaluation found."""

    runs: Mapping[str, Run]
    answered: Sequence[Answered]
    misses: Sequence[Miss]
    records: Mapping[str, Sequence[Record]]


def distinct(rows: Ranking) -> set[str]:
    """The turns that rows cite."""
    return {turn for row in rows for turn in row}


def write_run(path: Path, run: Run) -> None:
    """A run in the scorer's format, one line a question."""
    lines = [json.dumps({"question_id": key, "rows": rows}) for key, rows in sorted(run.items())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def report(measured: Measured, conversations: Sequence[Any], scorer: ModuleType) -> dict[str, Any]:
    """All figures, in percent where not said otherwise. `conversations` are the scorer's."""
    asked = {one.user_id for one in measured.answered}
    chosen = [one for one in conversations if one["id"] in asked]
    return {
        "conversations": sorted(asked),
        "records": {user: len(found) for user, found in measured.records.items()},
        "systems": {name: _figures(run, chosen, scorer) for name, run in measured.runs.items()},
        "operators": _operators(measured, chosen, scorer),
        "lost": {
            stage.value: {"turns": turns, "questions": questions}
            for stage, (turns, questions) in by_stage(measured.misses).items()
        },
    }


def _figures(run: Run, conversations: Sequence[Any], scorer: ModuleType) -> dict[str, Any]:
    scored = list(scorer.per_question(conversations, run, WHOLE).values())
    hits = {name: [one[2] for one in scored if one[0] == number] for number, name in CATEGORIES.items()}
    by_conversation = {key: [one[2] for one in scored if one[1] == key] for key in sorted({one[1] for one in scored})}
    return {
        "questions": len(scored),
        "rows": round(fmean(len(rows) for rows in run.values()), 2),
        "ids": round(fmean(one[4] for one in scored), 2),
        "all_hit": _percent([one[2] for one in scored]),
        "recall": _percent([one[3] for one in scored]),
        "by_category": {name: _percent(values) for name, values in hits.items() if values},
        "by_conversation": {name: _percent(values) for name, values in by_conversation.items()},
    }


def _operators(measured: Measured, conversations: Sequence[Any], scorer: ModuleType) -> dict[str, Any]:
    """Questions and all-gold hit of the retriever by the plan's operator."""
    scored = scorer.per_question(conversations, measured.runs["M1"], WHOLE)
    found: dict[str, list[float]] = {}
    for one in measured.answered:
        if one.question.id in scored:
            found.setdefault(one.result.plan.operator.value, []).append(scored[one.question.id][2])
    return {name: {"questions": len(hits), "all_hit": _percent(hits)} for name, hits in sorted(found.items())}


def _percent(values: Sequence[float]) -> float:
    return round(100 * fmean(values), 1)


def show(figures: Mapping[str, Any], console: Console) -> None:
    """The figures as tables."""
    counts = ", ".join(f"{name} ({count} records)" for name, count in figures["records"].items())
    table = Table(title=f"All gold turns found, % of questions: {counts}")
    for column in ("", "rows", "ids", "all", *CATEGORIES.values(), "recall", *figures["conversations"]):
        table.add_column(column, justify="right" if column else "left")
    for name, one in figures["systems"].items():
        categories = (f"{one['by_category'].get(category, 0):.1f}" for category in CATEGORIES.values())
        parts = (f"{one['by_conversation'].get(key, 0):.1f}" for key in figures["conversations"])
        head = (f"{one['rows']:.1f}", f"{one['ids']:.1f}", f"{one['all_hit']:.1f}")
        table.add_row(name, *head, *categories, f"{one['recall']:.1f}", *parts)
    console.print(table)
    operators = (f"{name} {one['questions']} ({one['all_hit']:.1f} %)" for name, one in figures["operators"].items())
    console.print("M1 by operator: " + ", ".join(operators))
    lost = (f"{name} {one['turns']} in {one['questions']}" for name, one in figures["lost"].items())
    console.print("Gold turns lost by M1, in questions: " + ", ".join(lost))


def show_misses(found: Sequence[Miss], console: Console) -> None:
    """Every lost gold turn with its stage."""
    table = Table(title="Gold turns that no row cites")
    for column in ("question", "category", "operator", "turn", "lost at"):
        table.add_column(column)
    for miss in found:
        table.add_row(miss.question_id, miss.category, miss.operator, miss.turn, miss.stage.value)
    console.print(table)
