"""An answer in words."""

from datetime import UTC, date, datetime
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from rich.console import Console

from domain.memory import FrameArm, Granularity, Literal, MemoryKind, Source, Status, TimeSpan
from domain.retrieval.plan import plan
from domain.retrieval.query import Explanation, Fact, Row, SearchResult
from infra.run.cli.rendering import fact_text, result_view, span_text

AT = datetime(2025, 6, 21, 9, 30, tzinfo=UTC)
DAY = TimeSpan(start=date(2025, 6, 14), end=date(2025, 6, 14), granularity=Granularity.DAY)
RECORDS = tuple(UUID(int=number) for number in range(3))


def fact(*records: UUID, status: Status = Status.DONE, negated: bool = False) -> Fact:
    return Fact(
        frame_ids=("f" * 64,),
        kind=MemoryKind.EPISODIC,
        predicate="win",
        arms=(
            FrameArm(role="agent", anchor_id=UUID(int=7), name="Tamsin"),
            FrameArm(role="theme", anchor_id=UUID(int=8), name="double sculls"),
        ),
        literals=(Literal(name="place", value="1"), Literal(name="distance", value="2", unit="km")),
        event_time=DAY,
        status=status,
        negated=negated,
        record_ids=records,
        score=1.0,
    )


def row(record: UUID, text: str = "Tamsin won the double sculls.") -> Row:
    return Row(
        record_id=record,
        kind=MemoryKind.EPISODIC,
        title="Race",
        text=text,
        mention_time=AT,
        status=Status.DONE,
        session_id="summer-1",
        sources=(Source(turn_id="summer-1:1"),),
        score=0.5,
        why=("frame", "cited"),
    )


def shown(**parts: Any) -> str:
    result = SearchResult(plan=plan("When did Tamsin win?", as_of=AT), **parts)
    console = Console(file=StringIO(), width=200, highlight=False)
    console.print(result_view(result))
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue()


def test_a_fact_names_predicate_arms_literals_time_and_status() -> None:
    said = "win(agent: Tamsin, theme: double sculls; place: 1, distance: 2 km)  2025-06-14  [done]"
    assert fact_text(fact(RECORDS[0])) == said
    assert fact_text(fact(RECORDS[0], status=Status.STATE, negated=True)).startswith("not win(")


def test_facts_cite_rows_by_number_and_count_those_not_shown() -> None:
    text = shown(facts=(fact(*RECORDS),), rows=(row(RECORDS[1]), row(RECORDS[0])))
    assert "[done]  [1][2] +1" in text
    assert "[1] Tamsin won the double sculls." in text
    assert "episodic, 2025-06-21, done, summer-1: summer-1:1" in text


def test_text_of_a_row_is_no_markup() -> None:
    text = shown(rows=(row(RECORDS[0], "[bold]loud[/bold] \x1b[31mred"),))
    assert "[bold]loud[/bold] \ufffd[31mred" in text


def test_nothing_degraded_and_truncated_are_said() -> None:
    assert "nothing found" in shown()
    assert "graph could not be read (graph_unavailable)" in shown(degraded=True, reason="graph_unavailable")
    assert "budget cut" in shown(truncated=True)


def test_explain_prints_plan_lanes_and_reasons() -> None:
    text = shown(
        rows=(row(RECORDS[0]),),
        explanation=Explanation(
            base_lane=RECORDS[:2], frames_read=3, anchors_cut=4, facts_cut=2, cut=(RECORDS[2],), rows_cut=61
        ),
    )
    for part in (
        "temporal: 6 base rows, 5 cited rows",
        "3 frames read",
        "frame, cited",
        "61 by the budget: 00000000",
        "2 rows entered, answered: [1]",
        "2 of the asked relation",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (DAY, "2025-06-14"),
        (DAY.model_copy(update={"granularity": Granularity.MINUTE, "clock": "07:15"}), "2025-06-14 07:15"),
        (DAY.model_copy(update={"end": date(2025, 6, 16)}), "2025-06-14 to 2025-06-16"),
    ],
)
def test_times(span: TimeSpan, text: str) -> None:
    assert span_text(span) == text
