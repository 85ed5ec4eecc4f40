"""Consolidations, their receipts and their pairs as a person reads them."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from rich.table import Table
from rich.text import Text

from api.consolidation_views import canonical_name
from domain.dream.rounds import ROUNDS, Consolidation, ConsolidationState, Mode, Pair, Receipt
from domain.errors import MergeConflict, NotFound
from domain.memory import Record
from infra.run.cli.consolidating import Outcome
from infra.run.cli.output import FAILED, emit, out, plain, say

SHOWN_CHARACTERS = 120
"""Of a record's text beside a pair; the JSON has its id."""
PAIR_CHARACTERS = 8
"""Of a pair's id in a table: as many as tell it from the others of its consolidation, as a rule."""

_STYLES = {
    ConsolidationState.COMPLETED: "green",
    ConsolidationState.REVIEW: "yellow",
    ConsolidationState.FAILED: "bold red",
    ConsolidationState.CANCELLED: "yellow",
}

_NEXT = {
    "timed_out": "run it again with a longer --timeout; pairs without a verdict come back",
    MergeConflict.type: "`reverie anchors show` and `reverie dream list` show what is in the way",
    NotFound.type: "`reverie anchors list` and `reverie dream list` show what is there",
    "cancelled": "what it merged stays; `reverie dream undo` takes it back",
}
"""What to do next, by the reason of a failure."""
_NEXT_OF_OTHERS = "`reverie doctor` says what does not answer; run it again: pairs without a verdict come back"


def report(outcome: Outcome, *, as_json: bool) -> int:
    """Print it, and if it failed why; the exit code of a command that waited for it."""
    print_outcome(outcome, as_json=as_json)
    return FAILED if say_failure(outcome.consolidation) else 0


def print_outcome(outcome: Outcome, *, as_json: bool) -> None:
    """With its receipt and the pairs that were asked for."""
    consolidation = outcome.consolidation
    if as_json:
        emit(_document(outcome))
    else:
        out.print(headline(consolidation), markup=False, soft_wrap=True)
        out.print(receipt_table(consolidation))
        if outcome.pairs:
            out.print(pair_table(outcome.pairs, outcome.records))


def say_failure(consolidation: Consolidation) -> bool:
    """Whether it failed or was cancelled; if so, where, why and what to do next is said."""
    if consolidation.state not in (ConsolidationState.FAILED, ConsolidationState.CANCELLED):
        return False
    say(f"error: {failure_text(consolidation)}\n       {_NEXT.get(consolidation.reason, _NEXT_OF_OTHERS)}")
    return True


def _document(outcome: Outcome) -> Mapping[str, object]:
    document: dict[str, object] = {"consolidation": outcome.consolidation.model_dump(mode="json")}
    if outcome.created is not None:
        document["created"] = outcome.created
    if outcome.pairs is not None:
        document["pairs"] = [pair.model_dump(mode="json") for pair in outcome.pairs]
    return document


def failure_text(consolidation: Consolidation) -> str:
    """Step and reason."""
    if consolidation.state is ConsolidationState.CANCELLED:
        return f"consolidation {consolidation.id} was cancelled"
    detail = f" ({plain(consolidation.detail)})" if consolidation.detail else ""
    step = consolidation.step or "its turn"
    return f"consolidation {consolidation.id} failed in {step}: {consolidation.reason}{detail}"


def headline(consolidation: Consolidation) -> str:
    """What it came to, in one line."""
    address = f"{consolidation.id} --user {consolidation.user_id}"
    match consolidation.state:
        case ConsolidationState.ACCEPTED | ConsolidationState.RUNNING:
            return f"{consolidation.state.value}; it goes on: reverie dream show {address}"
        case ConsolidationState.REVIEW:
            return f"{consolidation.receipt.pending} merges wait for a decision: reverie dream review {address}"
        case ConsolidationState.COMPLETED:
            return _completed(consolidation)
    return f"{consolidation.mode.value} {consolidation.state.value}"


def _completed(consolidation: Consolidation) -> str:
    receipt = consolidation.receipt
    if consolidation.dry_run:
        return f"{receipt.proposed} merges proposed, nothing changed"
    if consolidation.mode in ROUNDS:
        return f"{receipt.merged} merged, {receipt.verified} pairs verified"
    if consolidation.mode is Mode.MERGE:
        return "merged"
    kept = f"; {receipt.kept} mentions stay where they are" if receipt.kept else ""
    return ("split off" if consolidation.mode is Mode.SPLIT else f"{receipt.undone} merges undone") + kept


def receipt_table(consolidation: Consolidation) -> Table:
    """What it did, zeros left out."""
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in _lines(consolidation):
        table.add_row(name, Text(plain(value)))
    return table


def _lines(consolidation: Consolidation) -> list[tuple[str, str]]:
    receipt = consolidation.receipt
    kind = consolidation.mode.value
    kind += ", dry run" if consolidation.dry_run else ", with review" if consolidation.review else ""
    lines = [("consolidation", str(consolidation.id)), ("mode", kind), ("state", consolidation.state.value)]
    if consolidation.actor:
        lines.append(("asked by", consolidation.actor))
    lines += [(name, text) for name, text in _counts(receipt) if text]
    if receipt.evidence_after:
        same = receipt.evidence_before == receipt.evidence_after
        records = receipt.evidence_after.partition(":")[0]
        lines.append(("evidence", f"{'unchanged' if same else 'CHANGED'}, {records} records"))
    return lines


def _counts(receipt: Receipt) -> list[tuple[str, str]]:
    names = ("verified", "merged", "rejected", "unsure", "guarded", "stale", "proposed", "pending", "undone", "kept")
    formed = f"{receipt.candidates} formed" if receipt.candidates else ""
    left = [f"{receipt.cached} known as different"] if receipt.cached else []
    left += [f"{receipt.unreached} left for a later round"] if receipt.unreached else []
    tokens = f" ({receipt.tokens_in} tokens in, {receipt.tokens_out} out)" if receipt.tokens_in else ""
    return [
        ("frontier", f"{receipt.frontier} anchors" if receipt.frontier else ""),
        ("pairs", ", ".join([formed, *left] if formed else left)),
        *((name, str(getattr(receipt, name) or "")) for name in names),
        ("model calls", f"{receipt.model_calls}{tokens}" if receipt.model_calls else ""),
        ("time", f"{receipt.seconds:.1f} s" if receipt.seconds else ""),
    ]


def listing(consolidations: Sequence[Consolidation]) -> Table:
    """One line a consolidation."""
    table = Table(box=None, pad_edge=False)
    table.add_column("Consolidation", no_wrap=True)
    for name in ("Mode", "State", "Pairs", "Merged", "Waiting", "Accepted", "By", "Note"):
        table.add_column(name, overflow="fold")
    for each in consolidations:
        receipt = each.receipt
        table.add_row(
            str(each.id),
            each.mode.value + (" (dry run)" if each.dry_run else ""),
            Text(each.state.value, _STYLES.get(each.state, "")),
            str(receipt.verified or ""),
            str(receipt.merged or ""),
            str(receipt.proposed + receipt.pending or ""),
            f"{each.accepted_at:%Y-%m-%d %H:%M}",
            Text(plain(each.actor)),
            f"{each.step}: {each.reason}" if each.step else each.reason,
        )
    return table


def pair_table(pairs: Sequence[Pair], records: Mapping[UUID, Record]) -> Table:
    """One line a pair: both names, what is told of them, and the evidence that was read."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 1, 0))
    table.add_column("Pair", no_wrap=True)
    for name in ("Names", "Type", "Sim.", "Verdict", "Reason and evidence"):
        table.add_column(name, overflow="fold")
    for pair in sorted(pairs, key=lambda pair: (-pair.similarity, pair.id)):
        table.add_row(
            str(pair.id)[:PAIR_CHARACTERS],
            Text(plain(f"{pair.a.name}\n{pair.b.name}")),
            pair.type.value,
            f"{pair.similarity:.2f}",
            Text(plain(_verdict(pair))),
            Text(plain("\n".join([*([pair.reason] if pair.reason else []), *_evidence(pair, records)]))),
        )
    return table


def _verdict(pair: Pair) -> str:
    kept = canonical_name(pair)
    told = pair.verdict.value if pair.verdict else "none yet"
    told += f" ({pair.state.value})" if pair.state.value != told else ""
    return told + (f"\nkeeps {kept}" if kept else "") + (f"\nby {pair.decided_by}" if pair.decided_by else "")


def _evidence(pair: Pair, records: Mapping[UUID, Record]) -> list[str]:
    cited = dict.fromkeys((*pair.a.record_ids, *pair.b.record_ids))
    return [f"· {_short(records[record].text)}" for record in cited if record in records]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"
