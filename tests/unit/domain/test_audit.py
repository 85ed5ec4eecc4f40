"""The audit by example (paper A.2)."""

from datetime import date

import pytest

from domain.audit import missing_items
from domain.memory import Arm, Extraction, FrameDraft, Granularity, Literal, Source, TimeSpan
from tests.strategies import a_record, a_turn

DAY = TimeSpan(start=date(2024, 3, 4), end=date(2024, 3, 4), granularity=Granularity.DAY)
READ = FrameDraft(
    predicate="read",
    arms=(Arm(role="agent", name="Priya"), Arm(role="object", name="The Quiet Harbour")),
    literals=(Literal(name="pages", value="340"),),
    event_time=DAY,
)


@pytest.mark.parametrize(
    "quote", ['"Blue Lantern"', "“Blue Lantern”", "«Blue Lantern»", "'Blue Lantern'", "「Blue Lantern」"]
)
def test_a_quote_that_no_frame_covers_is_missing(quote: str) -> None:
    assert missing_items(a_record(text=f"Priya read {quote}."), (), Extraction(frames=(READ,))) == ("Blue Lantern",)


def test_covered_quotes_numbers_and_dates_are_not_missing() -> None:
    text = "Priya read 'The Quiet Harbour', 340 pages, on 2024-03-04. It's Omar's."
    assert missing_items(a_record(text=text), (), Extraction(frames=(READ,))) == ()


def test_number_words_and_digits_are_one() -> None:
    frame = READ.model_copy(update={"literals": (Literal(name="fish", value="6"),)})
    assert missing_items(a_record(text="Six neon tetras went in."), (), Extraction(frames=(frame,))) == ()
    assert missing_items(a_record(text="Six neon tetras went in."), (), Extraction(frames=(READ,))) == ("Six neon",)


def test_a_missing_date_rides_along() -> None:
    record = a_record(text="Met on 7 May 2023.")
    assert missing_items(record, (), Extraction()) == ()
    record = a_record(text="Met on 7 May 2023 for $420.")
    assert missing_items(record, (), Extraction()) == ("$420", "7 May 2023")


def test_captions_count_under_45_percent() -> None:
    record = a_record(text="Priya shared a photo.", sources=(Source(turn_id="t1"),))
    turns = (
        a_turn("look", captions=("a red canoe beside a wooden pier",)),
        a_turn("other", name="t2", captions=("a green bicycle",)),
    )
    assert missing_items(record, turns, Extraction(frames=(READ,))) == ("image: a red canoe beside a wooden pier",)
    canoe = READ.model_copy(
        update={"arms": (Arm(role="a", name="red canoe"), Arm(role="b", name="wooden pier")), "literals": ()}
    )
    assert missing_items(record, turns, Extraction(frames=(canoe,))) == ()


def test_the_cited_span_is_source_and_a_placeholder_is_not() -> None:
    turn = a_turn("Rent is 900 euros. The pool takes 77 litres.")
    record = a_record(text="Rent.", sources=(Source(turn_id="t1", start=0, end=18),))
    assert missing_items(record, (turn,), Extraction()) == ("900 euros",)
    assert missing_items(a_record(text="[vault:card number 42]"), (), Extraction()) == ()
