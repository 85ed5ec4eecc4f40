"""An answer in words: facts first, each with the numbers of the rows it cites, then the rows."""

from collections.abc import Iterator, Mapping
from uuid import UUID

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from domain.memory import Frame, Literal, Status, TimeSpan
from domain.retrieval.plan import Order, Plan
from domain.retrieval.query import Explanation, Fact, Row, SearchResult
from infra.run.cli.output import plain

CUT_SHOWN = 8
"""Rows without room that are named, by the start of their ids; the JSON names more."""


def result_view(result: SearchResult) -> RenderableType:
    """The whole answer."""
    numbers = {row.record_id: number for number, row in enumerate(result.rows, start=1)}
    parts: list[RenderableType] = []
    if result.degraded:
        parts.append(Text(f"degraded: the graph could not be read ({result.reason}); rows by direct search", "yellow"))
    if result.facts:
        parts += [Text("Facts", "bold"), _facts_view(result.facts, numbers)]
    if result.rows:
        parts += [Text("Rows", "bold"), _rows_view(result.rows)]
    if not result.facts and not result.rows:
        parts.append(Text("nothing found"))
    if result.truncated:
        parts.append(Text("the budget cut evidence of this count or list", "yellow"))
    if result.explanation is not None:
        parts += [Text("Why", "bold"), _explanation_view(result, result.explanation)]
    return Group(*parts)


def fact_text(fact: Fact | Frame) -> str:
    """`predicate(role: name, …; literal: value unit)` with time and status."""
    arms = ", ".join(f"{arm.role}: {arm.name}" for arm in fact.arms)
    values = ", ".join(_literal(literal) for literal in fact.literals)
    said = f"{'not ' if fact.negated else ''}{fact.modality + ' ' if fact.modality else ''}{fact.predicate}"
    when = f"  {span_text(fact.event_time)}" if fact.event_time else ""
    status = f"  [{fact.status.value}]" if fact.status is not Status.STATE else ""
    return plain(f"{said}({arms}{'; ' + values if values else ''}){when}{status}")


def span_text(span: TimeSpan) -> str:
    """One day, a day with its time, or first and last day."""
    if span.start == span.end:
        return span.start.isoformat() + (f" {span.clock}" if span.clock else "")
    return f"{span.start.isoformat()} to {span.end.isoformat()}"


def _literal(literal: Literal) -> str:
    return f"{literal.name}: {literal.value}{' ' + literal.unit if literal.unit else ''}"


def _facts_view(facts: tuple[Fact, ...], numbers: Mapping[UUID, int]) -> Table:
    table = _grid()
    for fact in facts:
        cited = sorted(numbers[record] for record in fact.record_ids if record in numbers)
        others = sum(record not in numbers for record in fact.record_ids)
        marks = "".join(f"[{number}]" for number in cited) + (f" +{others}" if others else "")
        table.add_row(Text("•"), Text(f"{fact_text(fact)}  {marks}"))
    return table


def _rows_view(rows: tuple[Row, ...]) -> Table:
    table = _grid()
    for number, row in enumerate(rows, start=1):
        when = span_text(row.event_time) if row.event_time else row.mention_time.date().isoformat()
        sources = ", ".join(source.turn_id for source in row.sources)
        origin = f"{row.kind.value}, {when}, {row.status.value}, {row.session_id}" + (f": {sources}" if sources else "")
        table.add_row(Text(f"[{number}]"), Text.assemble(plain(row.text), ("\n" + plain(origin), "dim")))
    return table


def _explanation_view(result: SearchResult, explanation: Explanation) -> Table:
    """Plan, anchors and facts with their terms, both lanes, what each budget cut, and why each row is there."""
    table = _grid()
    for label, text in (
        *_plan_lines(result.plan),
        *_anchor_and_fact_lines(explanation),
        *_lane_lines(result, explanation),
        *_cut_lines(explanation),
    ):
        table.add_row(label, Text(plain(text)))
    for number, row in enumerate(result.rows, start=1):
        table.add_row(f"row {number}", Text(f"{row.score:.3f}  {', '.join(row.why)}"))
    return table


def _plan_lines(plan: Plan) -> Iterator[tuple[str, str]]:
    yield "plan", f"{plan.operator.value}: {plan.budget.base} base rows, {plan.budget.cited} cited rows"
    for family in plan.families:
        yield "relation", f"{family.name}: {', '.join(family.surfaces)}"
    if not plan.families:
        yield "relation", "none, so the relation lane stays closed"
    yield "constraints", ", ".join(plan.constraints) or "none"
    yield "answer", ", ".join(plan.answer_types) or "any type"
    yield "words", ", ".join(plan.words) or "none"
    for time in plan.times:
        yield "time", f"{time.relation.value} {time.start} to {time.end}"
    if plan.order is not Order.NONE:
        yield "order", plan.order.value
    for direction in plan.directions:
        yield "direction", f"{direction.name} on the {direction.side.value} side"


def _anchor_and_fact_lines(explanation: Explanation) -> Iterator[tuple[str, str]]:
    for anchor in explanation.anchors:
        named = ", named" if anchor.exact else ""
        yield "anchor", f"{anchor.name} ({anchor.type.value}{named}) {anchor.score:.3f}  {_terms(anchor.terms)}"
    for fact in explanation.facts:
        yield "fact", f"{fact.frame_id[:12]}  {_terms(fact.terms)}"


def _lane_lines(result: SearchResult, explanation: Explanation) -> Iterator[tuple[str, str]]:
    numbers = {row.record_id: f"[{number}]" for number, row in enumerate(result.rows, start=1)}
    for name, rows in (("base lane", explanation.base_lane), ("relation lane", explanation.relation_lane)):
        shown = sorted((numbers[record] for record in rows if record in numbers), key=lambda mark: int(mark[1:-1]))
        yield name, f"{len(rows)} rows entered, answered: {' '.join(shown) or 'none'}"
    yield "read", f"{explanation.frames_read} frames read, {explanation.frames_scored} scored"


def _cut_lines(explanation: Explanation) -> Iterator[tuple[str, str]]:
    yield "anchors cut", str(explanation.anchors_cut)
    yield "facts cut", f"{explanation.facts_cut} of the asked relation"
    first = " ".join(str(record)[:8] for record in explanation.cut[:CUT_SHOWN])
    rest = " …" if explanation.rows_cut > CUT_SHOWN else ""
    yield "rows cut", f"{explanation.rows_cut} by the budget" + (f": {first}{rest}" if first else "")
    yield "collapsed", f"{len(explanation.collapsed)} paraphrases"


def _terms(terms: Mapping[str, float]) -> str:
    return " ".join(f"{name} {value:+.2f}" for name, value in terms.items() if value)


def _grid() -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    return table
