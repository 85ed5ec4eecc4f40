"""How often two names of one thing are merged, and two names of two things: labelled pairs with contexts.

Each pair is asked twice: as canonicalization asks (an extracted entity, an anchor offered for it) and as a Dream round
asks (two anchors of one type). `unsure` counts as not to merge. Two names of one key are one anchor before any model is
asked, so canonicalization never meets them: they are told apart, by label.
"""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from rich.table import Table

from domain.dream.guards import frames_forbid, judged, names_forbid, without_participants
from domain.errors import InvalidInput
from domain.identity import accepted
from domain.keys import anchor_key
from domain.memory import AnchorType, Arm, Entity, Extraction, FrameDraft, MemoryKind, Record
from domain.model_calls import (
    AnchorView,
    Candidate,
    CanonicalizeAnswer,
    CanonicalizeRequest,
    EntityQuestion,
    Rename,
    SameAnswer,
    SameRequest,
    Verdict,
)
from infra.models.rules.model import RulesModel
from infra.run.cli.output import emit, out

OWN_PAIRS = Path(__file__).parent / "data" / "pairs.jsonl"
"""The project's own pairs."""

RULE_KINDS = frozenset(
    {
        *("code", "currency", "date", "number", "opposite", "planned_done", "quantity", "unit", "version", "year"),
        *("model_form_code", "number_quantity", "terminal_room_floor", "month_day", "plan_vs_impl", "units"),
    }
)
"""Kinds that a deterministic rule can see: the guard alone keeps them apart, whatever a model says."""

NOWHERE = UUID(int=0)


class End(BaseModel):
    """A name with a text that mentions it."""

    model_config = ConfigDict(frozen=True)

    name: str
    context: str


class LabelledPair(BaseModel):
    """Two names of one type with a person's label; what else a line says is left aside."""

    model_config = ConfigDict(frozen=True)

    id: str
    type: AnchorType
    a: End
    b: End
    label: str
    """`same`, `different` or `unsure`."""
    kind: str
    same_frame: bool = False
    """The context states a fact in which both take part."""


@dataclass(frozen=True)
class Judge:
    """What stands for the model."""

    rename: Callable[[LabelledPair, CanonicalizeRequest], Awaitable[CanonicalizeAnswer]]
    verdict: Callable[[LabelledPair, SameRequest], Awaitable[SameAnswer]]


@dataclass(frozen=True)
class Measured:
    """Which of the pairs were merged, by id."""

    pairs: Sequence[LabelledPair]
    canonicalization: frozenset[str]
    dream: frozenset[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `python -m tests.evals same_entity`."""
    parser.add_argument("--data", type=Path, default=OWN_PAIRS, help="JSONL of pairs; default: the project's own")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print precision and recall for the rules model, one that always says same, and one that is always right."""
    pairs = read_pairs(arguments.data)
    figures = {name: report(asyncio.run(measure(pairs, judge))) for name, judge in JUDGES.items()}
    if arguments.json:
        emit({"pairs": len(pairs), "one_key": one_key(pairs), "models": figures})
    else:
        _print(pairs, figures)
    return 0


def one_key(pairs: Sequence[LabelledPair]) -> dict[str, list[str]]:
    """Ids of the pairs whose names have one key, by label."""
    found: dict[str, list[str]] = {verdict.value: [] for verdict in Verdict}
    for pair in pairs:
        if _one_key(pair):
            found[pair.label].append(pair.id)
    return found


def _one_key(pair: LabelledPair) -> bool:
    return anchor_key(pair.a.name) == anchor_key(pair.b.name)


def read_pairs(path: Path) -> tuple[LabelledPair, ...]:
    """The pairs of a file. Raises InvalidInput if it is absent or a line of it is no pair."""
    if not path.is_file():
        raise InvalidInput(f"there is no file {path}", field="--data")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return tuple(LabelledPair.model_validate_json(line) for line in lines if line.strip())
    except ValueError as error:
        raise InvalidInput(f"{path} is not a file of labelled pairs", field="--data") from error


async def measure(pairs: Sequence[LabelledPair], judge: Judge) -> Measured:
    """Ask about every pair in both ways."""
    renamed = [pair.id for pair in pairs if await _canonicalized(pair, judge)]
    merged = [pair.id for pair in pairs if await _dreamt(pair, judge)]
    return Measured(pairs, frozenset(renamed), frozenset(merged))


async def _canonicalized(pair: LabelledPair, judge: Judge) -> bool:
    """Names of one key never get as far as a question."""
    if _one_key(pair):
        return False
    question = EntityQuestion(
        entity=Entity(name=pair.a.name, type=pair.type),
        candidates=(Candidate(name=pair.b.name, type=pair.type.value, score=1.0),),
    )
    request = CanonicalizeRequest(record=_record(pair.a.context), questions=(question,))
    renames = accepted(await judge.rename(pair, request), request)
    return bool(without_participants(renames, request, _extraction(pair)))


def _extraction(pair: LabelledPair) -> Extraction:
    """What the context states of both."""
    if not pair.same_frame:
        return Extraction()
    arms = (Arm(role="agent", name=pair.a.name), Arm(role="object", name=pair.b.name))
    return Extraction(frames=(FrameDraft(predicate="state", arms=arms),))


async def _dreamt(pair: LabelledPair, judge: Judge) -> bool:
    request = SameRequest(type=pair.type.value, a=_view(pair.a), b=_view(pair.b))
    answer = judged(request, await judge.verdict(pair, request))
    names = ((pair.a.name,), (pair.b.name,))
    shared = [(pair.a.context,)] if pair.same_frame else []
    forbidden = names_forbid(*names) or frames_forbid(*names, shared)
    return answer.verdict is Verdict.SAME and forbidden is None


def _view(end: End) -> AnchorView:
    return AnchorView(name=end.name, evidence=(end.context,))


def _record(text: str) -> Record:
    return Record(
        id=NOWHERE,
        user_id="eval",
        kind=MemoryKind.SEMANTIC,
        title=text[:60],
        text=text,
        mention_time=datetime(2024, 1, 1, tzinfo=UTC),
        input_id=NOWHERE,
        chunk_id=NOWHERE,
        session_id="eval",
        ordinal=0,
    )


async def _by_rules(_pair: LabelledPair, request: CanonicalizeRequest) -> CanonicalizeAnswer:
    return (await RulesModel().canonicalize(request)).answer


async def _rules_verdict(_pair: LabelledPair, request: SameRequest) -> SameAnswer:
    return (await RulesModel().same(request)).answer


async def _always(_pair: LabelledPair, request: CanonicalizeRequest) -> CanonicalizeAnswer:
    (question,) = request.questions
    return CanonicalizeAnswer(renames=(Rename(name=question.entity.name, candidate=question.candidates[0].name),))


async def _always_same(_pair: LabelledPair, request: SameRequest) -> SameAnswer:
    return SameAnswer(verdict=Verdict.SAME, canonical=request.a.name)


async def _right(pair: LabelledPair, request: CanonicalizeRequest) -> CanonicalizeAnswer:
    return await _always(pair, request) if pair.label == Verdict.SAME else CanonicalizeAnswer()


async def _right_verdict(pair: LabelledPair, request: SameRequest) -> SameAnswer:
    return SameAnswer(verdict=Verdict(pair.label), canonical=request.a.name)


JUDGES = {
    "rules": Judge(_by_rules, _rules_verdict),
    "always": Judge(_always, _always_same),
    "perfect": Judge(_right, _right_verdict),
}
"""The default model; one that always says same, which shows what the guards keep apart; one that is always right, which
shows what the guards alone cost in recall."""


def report(measured: Measured) -> dict[str, Any]:
    """Precision and recall of both ways, wrong and missed pairs by id, and pairs merged of each kind."""
    return {
        "canonicalization": _figures(measured.pairs, measured.canonicalization),
        "dream": _figures(measured.pairs, measured.dream),
    }


def _figures(pairs: Sequence[LabelledPair], merged: frozenset[str]) -> dict[str, Any]:
    same = {pair.id for pair in pairs if pair.label == Verdict.SAME}
    by_kind: dict[str, list[int]] = {}
    for pair in pairs:
        counts = by_kind.setdefault(f"{pair.label}/{pair.kind}", [0, 0])
        counts[0] += pair.id in merged
        counts[1] += 1
    return {
        "merged": len(merged),
        "precision": round(len(merged & same) / len(merged), 4) if merged else None,
        "recall": round(len(merged & same) / len(same), 4) if same else None,
        "merge_error_rate": round(len(merged - same) / (len(pairs) - len(same)), 4) if len(pairs) > len(same) else None,
        "wrong": sorted(merged - same),
        "missed": sorted(same - merged),
        "kinds": dict(sorted(by_kind.items())),
    }


def _print(pairs: Sequence[LabelledPair], figures: dict[str, Any]) -> None:
    table = Table("Model", "Step", "Merged", "Precision", "Recall", "Merge errors", box=None, pad_edge=False)
    for model, steps in figures.items():
        for step, found in steps.items():
            numbers = (found["merged"], found["precision"], found["recall"], found["merge_error_rate"])
            table.add_row(model, step, *(json.dumps(number) for number in numbers))
    out.print(table)
    out.print(f"{len(pairs)} pairs; wrong by rules: {', '.join(figures['rules']['dream']['wrong']) or 'none'}")
    by_key = (f"{label} {', '.join(ids) or 'none'}" for label, ids in one_key(pairs).items())
    out.print(f"One anchor by their key, never asked about: {'; '.join(by_key)}")
