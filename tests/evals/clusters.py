"""`python -m tests.evals clusters`: what AutoDream merges of a conversation, against clusters read by hand.

A pair of anchors is right if a cluster of its type holds both names. A pair labelled `unsure`, and any other, is wrong.
"""

import argparse
import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any
from uuid import UUID

from rich.table import Table

from domain.dream.rounds import Consolidation
from domain.errors import InvalidInput
from domain.graph import Merge
from domain.keys import anchor_key
from domain.memory import Anchor
from domain.model_calls import Reply, SameAnswer, SameRequest, Verdict
from infra.run.cli.output import emit, out
from tests.e2e.deployment import Deployment
from tests.evals.conversations import read_conversations
from tests.evals.dreaming import anchors_of, dream, merges_of
from tests.evals.recorded import USAGE, RecordedAnswers
from tests.evals.stack import ingest, servers, working

Name = tuple[str, str]
"""Key of a name, and its type."""
Couple = frozenset[Name]


class GoldAnswers(RecordedAnswers):
    """Recorded answers with the verdicts of the clusters: what candidates and guards alone leave of the recall."""

    def __init__(self, folder: Path, same: frozenset[Couple]) -> None:
        super().__init__(folder)
        self._same = same

    async def same(self, request: SameRequest) -> Reply[SameAnswer]:
        """`same` for names of one cluster, else unsure."""
        couple = frozenset({(anchor_key(end.name), request.type) for end in (request.a, request.b)})
        told = couple in self._same
        answer = (
            SameAnswer(verdict=Verdict.SAME, canonical=request.a.name) if told else SameAnswer(verdict=Verdict.UNSURE)
        )
        return Reply(answer=answer, usage=USAGE)


@dataclass(frozen=True)
class Clusters:
    """The labels."""

    same: frozenset[Couple]
    unsure: frozenset[Couple]


@dataclass(frozen=True)
class Found:
    """What the rounds made of the anchors."""

    before: Sequence[Anchor]
    after: Sequence[Anchor]
    rounds: Sequence[Consolidation]
    merged: frozenset[Couple]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--data", type=Path, required=True, help="folder with conv-*.jsonl")
    parser.add_argument("--recorded", type=Path, required=True, help="folder with recorded model answers")
    parser.add_argument("--clusters", type=Path, required=True, help="conv-*.clusters.json of one conversation")
    parser.add_argument("--verdicts", choices=["rules", "gold"], default="rules", help="who verifies the pairs")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; the exit code."""
    gold = read_clusters(arguments.clusters)
    conversation = arguments.clusters.name.split(".")[0]
    recorded = RecordedAnswers(arguments.recorded)
    model = GoldAnswers(arguments.recorded, gold.same) if arguments.verdicts == "gold" else recorded
    with servers(None) as deployment:
        found = asyncio.run(_measure(deployment, model, arguments.data, conversation))
    figures = report(found, gold)
    if arguments.json:
        emit({"conversation": conversation, "verdicts": arguments.verdicts, **figures})
    else:
        _show(figures)
    return 0


def read_clusters(path: Path) -> Clusters:
    """Raises InvalidInput if the file can't be read."""
    try:
        labels = json.loads(path.read_text(encoding="utf-8"))
        same = (couple for cluster in labels["same"] for couple in combinations(cluster, 2))
        return Clusters(same=_couples(same), unsure=_couples(labels["unsure"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"no clusters in {path}", field="--clusters") from error


async def _measure(deployment: Deployment, model: RecordedAnswers, data: Path, user_id: str) -> Found:
    async with working(deployment, model) as services:
        await ingest(services, read_conversations(data, (user_id,)))
        evidence = await services.records.checksum(user_id)
        before = await anchors_of(services, user_id)
        rounds = await dream(services, user_id)
        if await services.records.checksum(user_id) != evidence:
            raise AssertionError("the rounds changed the evidence plane")
        merges = await merges_of(services, user_id, rounds)
        after = await anchors_of(services, user_id)
    return Found(before=before, after=after, rounds=rounds, merged=_merged(before, merges))


def _merged(anchors: Iterable[Anchor], merges: Iterable[Merge]) -> frozenset[Couple]:
    """Pairs of the anchors before that ended as one."""
    into = {merge.absorbed: merge.representative for merge in merges}
    groups: dict[UUID, list[Anchor]] = {}
    for anchor in anchors:
        last = anchor.id
        while last in into:
            last = into[last]
        groups.setdefault(last, []).append(anchor)
    couples = (couple for group in groups.values() for couple in combinations(group, 2))
    return _couples([(a.name, a.type.value), (b.name, b.type.value)] for a, b in couples)


def _couples(pairs: Iterable[Iterable[Sequence[str]]]) -> frozenset[Couple]:
    """Pairs of names that have different keys: those of one key are one anchor anyway."""
    made = (frozenset((anchor_key(name), kind) for name, kind in pair) for pair in pairs)
    return frozenset(couple for couple in made if len(couple) > 1)


def report(found: Found, gold: Clusters) -> dict[str, Any]:
    """The figures; recall is over the gold pairs of anchors that there are."""
    there = {(anchor_key(anchor.name), anchor.type.value) for anchor in found.before}
    possible = {couple for couple in gold.same if couple <= there}
    right = found.merged & gold.same
    receipts = [one.receipt for one in found.rounds]
    return {
        "anchors": {"before": len(found.before), "after": len(found.after)},
        "rounds": len(receipts),
        "pairs": {
            name: sum(getattr(receipt, name) for receipt in receipts)
            for name in ("candidates", "verified", "merged", "rejected", "unsure", "guarded", "unreached")
        },
        "gold_pairs": len(possible),
        "merged_pairs": len(found.merged),
        "right": len(right),
        "wrong": sorted(_told(couple) for couple in found.merged - gold.same),
        "wrong_though_unsure": len(found.merged & gold.unsure),
        "precision": round(len(right) / len(found.merged), 3) if found.merged else None,
        "recall": round(len(right) / len(possible), 3) if possible else None,
        "merges": sorted(_told(couple) for couple in found.merged),
        "missed": sorted(_told(couple) for couple in possible - found.merged),
    }


def _told(couple: Couple) -> str:
    return " = ".join(name for name, _ in sorted(couple))


def _show(figures: dict[str, Any]) -> None:
    table = Table(show_header=False, box=None)
    for name, value in figures.items():
        shown = "\n".join(value) if isinstance(value, list) else str(value)
        table.add_row(name.replace("_", " "), shown)
    out.print(table)
