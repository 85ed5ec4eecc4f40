"""Laws of chunking (design 3)."""

from itertools import pairwise
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from domain.chunking import cut
from domain.memory import NewInput
from tests.strategies import new_inputs

JOB = UUID(int=7)


@given(new_inputs(), st.integers(20, 400), st.integers(1, 8))
def test_every_character_is_in_exactly_one_turn(new: NewInput, characters: int, turns: int) -> None:
    parts = [turn for chunk in cut(JOB, new, characters=characters, turns=turns, previous=None) for turn in chunk.turns]
    for message in new.messages:
        own = [part for part in parts if part.id == message.id]
        assert "".join(part.text for part in own) == message.text
        assert [part.offset for part in own] == [sum(len(p.text) for p in own[:at]) for at in range(len(own))]
        assert own[0].captions == message.captions
        assert not any(part.captions for part in own[1:])
    assert list(dict.fromkeys(part.id for part in parts)) == [message.id for message in new.messages]


@given(new_inputs(), st.integers(20, 400), st.integers(1, 8))
def test_chunks_are_bounded_numbered_and_linked(new: NewInput, characters: int, turns: int) -> None:
    before = new.messages[-1]
    chunks = cut(JOB, new, characters=characters, turns=turns, previous=before)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for chunk in chunks:
        assert 1 <= len(chunk.turns) <= turns
        assert sum(len(turn.text) for turn in chunk.turns) <= characters
    for earlier, later in pairwise(chunks):
        assert later.previous == earlier.turns[-1]
    assert chunks[0].previous is not None
    assert before.text.endswith(chunks[0].previous.text)


@given(new_inputs(), st.integers(20, 400), st.integers(1, 8))
def test_cutting_again_gives_the_same(new: NewInput, characters: int, turns: int) -> None:
    first = cut(JOB, new, characters=characters, turns=turns, previous=None)
    assert first == cut(JOB, new, characters=characters, turns=turns, previous=None)
