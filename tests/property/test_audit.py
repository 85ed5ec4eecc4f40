"""Laws of audit and repair (paper A.2)."""

from hypothesis import given
from hypothesis import strategies as st

from domain.audit import MAX_REPAIR_ITEMS, missing_items, united
from domain.memory import Extraction, Source
from tests.strategies import a_record, a_turn, any_text, days, extractions, prose


@given(extractions(), extractions())
def test_repair_only_adds(primary: Extraction, added: Extraction) -> None:
    both = united(primary, added)
    assert both.entities[: len(primary.entities)] == primary.entities
    assert both.frames[: len(primary.frames)] == primary.frames
    assert set(map(repr, added.frames)) <= set(map(repr, both.frames))
    assert united(both, added) == both
    assert united(primary, Extraction()) == primary


@given(prose, st.lists(any_text, max_size=3), extractions(max_frames=3))
def test_items_are_few_and_on_one_line(text: str, captions: list[str], extraction: Extraction) -> None:
    record = a_record(text=text, sources=(Source(turn_id="t1"),))
    items = missing_items(record, (a_turn(text, captions=tuple(captions)),), extraction)
    assert len(items) <= MAX_REPAIR_ITEMS
    assert len(set(items)) == len(items)
    assert all(item == " ".join(item.split()) for item in items)


@given(st.lists(days, min_size=1, max_size=5), st.sampled_from(("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%Y", "%B %Y")))
def test_dates_alone_never_trigger(dates: list[object], form: str) -> None:
    text = "; ".join(f"We met on {day.strftime(form)}" for day in dates)  # type: ignore[attr-defined]
    assert missing_items(a_record(text=text), (), Extraction()) == ()


@given(st.lists(st.integers(2100, 99_999), min_size=1, max_size=30, unique=True))
def test_missing_numbers_are_listed_up_to_the_cap(numbers: list[int]) -> None:
    text = " ".join(f"{number} bricks." for number in numbers)
    assert len(missing_items(a_record(text=text), (), Extraction())) == min(len(numbers), MAX_REPAIR_ITEMS)
