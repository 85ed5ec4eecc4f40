"""What holds for any text: nothing raises, the same input gives the same answer in any process, no detail is lost."""

import asyncio
import os
import re
import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.audit import missing_items
from domain.memory import Extraction
from domain.model_calls import RepairRequest
from infra.models.rules.model import RulesModel
from tests.unit.rules.samples import Understood, chunk, record_of, turn, understood

ODD = st.text(
    alphabet=st.one_of(
        st.characters(max_codepoint=0x7F),
        st.sampled_from("אבגדابتثह漢字かな한글🌱🎉👩‍👩‍👧\u202e\u200d\ufeff\x00\x07\n\t\"'“”[](){}"),
        st.characters(),
    ),
    max_size=120,
)
WORDS = st.lists(
    st.sampled_from(
        [
            "I",
            "you",
            "we",
            "he",
            "gave",
            "took",
            "want",
            "to",
            "the",
            "a",
            "dog",
            "in",
            "Paris",
            "yesterday",
            "may",
            "May",
            "not",
            "if",
            "would",
            "Tom",
            "and",
            ",",
            ".",
            "!",
            "?",
            '"',
            "last",
            "3",
            "km",
            "$5",
            "seat",
            "14C",
            "[vault:x]",
            "going",
            "was",
            "is",
            "'s",
            "n't",
            "who",
            "that",
            "with",
            "Ana",
            "because",
            "07:15",
            "2023",
            "🌱",
            "café",
            "went",
            "swimming",
        ]
    ),
    max_size=25,
).map(" ".join)


def make(text: str) -> Understood:
    said = turn(text, at="2023-05-25", speaker="Ana", captions=(text[:40],) if text.strip() else ())
    return asyncio.run(understood(chunk(said, speakers=("Ana", "Ben"))))


@settings(max_examples=60, deadline=None)
@given(st.one_of(ODD, WORDS))
def test_no_text_raises_and_the_answer_is_the_same_twice(text: str) -> None:
    first = make(text)
    assert make(text) == first
    names = {entity.name for entity in first.entities}
    assert {arm.name for frame in first.frames for arm in frame.arms} <= names
    assert all(entity.name.strip() for entity in first.entities)


STORY = (
    "Yesterday my brother Tom and I drove 40 miles to the Dune exhibition in Leeds with our kids. "
    "We paid £12 each, and next month we're going camping. I've known Priya for 6 years."
)


def test_another_process_gives_the_same_answer() -> None:
    program = f"from tests.unit.rules.test_laws import make; print(repr(make({STORY!r})))"
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == repr(make(STORY))


def test_every_name_and_number_of_the_story_is_in_a_record() -> None:
    text = " ".join(record.text for record in make(STORY).records)
    for detail in re.findall(r"[A-Z][a-z]+|\d+", STORY):
        assert detail in text or detail in {"We", "I"}


async def test_repair_adds_what_the_audit_missed() -> None:
    said = turn('He asked for the "Blue Heron" and 14 copies.', at="2023-05-25", speaker="Ana")
    record = record_of((await understood(chunk(said))).records[0], chunk(said), 0)
    nothing = Extraction()
    missing = missing_items(record, (said,), nothing)
    assert "Blue Heron" in missing
    request = RepairRequest(record=record, turns=(said,), extraction=nothing, missing=missing, speakers=("Ana",))
    added = (await RulesModel().repair(request)).answer
    assert {"Ana", "Blue Heron"} <= {arm.name for frame in added.frames for arm in frame.arms}
    assert {arm.name for frame in added.frames for arm in frame.arms} <= {entity.name for entity in added.entities}
