"""Chunking by example (design 3)."""

from datetime import UTC, datetime
from uuid import UUID

from domain.chunking import cut
from domain.jobs import chunk_id
from domain.memory import InputForm, Message, NewInput

JOB = UUID(int=7)
AT = datetime(2024, 5, 1, tzinfo=UTC)


def new_input(*texts: str, form: InputForm = InputForm.CONVERSATION, speakers: str = "AB") -> NewInput:
    """Messages by the speakers in turn."""
    messages = tuple(
        Message(id=f"m{at}", speaker=speakers[at % len(speakers)], text=text, sent_at=AT)
        for at, text in enumerate(texts)
    )
    return NewInput(user_id="u1", request_id="r", session_id="s", form=form, messages=messages)


def test_a_conversation_is_cut_between_turns() -> None:
    chunks = cut(JOB, new_input("one", "two", "three"), characters=100, turns=2, previous=None)
    assert [[turn.text for turn in chunk.turns] for chunk in chunks] == [["one", "two"], ["three"]]
    assert [chunk.id for chunk in chunks] == [chunk_id(JOB, 0), chunk_id(JOB, 1)]
    assert chunks[0].previous is None
    assert chunks[1].previous == chunks[0].turns[-1]
    assert chunks[1].speakers == ("A", "B")


def test_a_turn_that_does_not_fit_opens_a_chunk() -> None:
    chunks = cut(JOB, new_input("x" * 60, "y" * 60), characters=100, turns=8, previous=None)
    assert [len(chunk.turns) for chunk in chunks] == [1, 1]


def test_a_long_message_is_cut_between_sentences_of_any_script() -> None:
    for sentence in ("We went out today. ", "今日は外に出ました。", "आज हम बाहर गए। "):
        chunks = cut(JOB, new_input(sentence * 20), characters=70, turns=1, previous=None)
        parts = [turn for chunk in chunks for turn in chunk.turns]
        assert len(parts) > 1
        assert all(len(part.text) % len(sentence) == 0 for part in parts)
        assert {part.id for part in parts} == {"m0"}
        assert [part.offset for part in parts[:2]] == [0, len(parts[0].text)]


def test_spaces_then_anywhere_but_not_inside_a_letter() -> None:
    words = cut(JOB, new_input("word " * 40), characters=48, turns=1, previous=None)
    assert all(chunk.turns[0].text.endswith(" ") for chunk in words)
    hard = cut(JOB, new_input("e\u0301" * 60), characters=25, turns=1, previous=None)
    assert all(len(chunk.turns[0].text) == 24 for chunk in hard[:-1])


def test_a_document_is_cut_between_paragraphs_first() -> None:
    text = "First. Line of it.\n\nSecond. Line of it too.\n\nThird."
    chunks = cut(JOB, new_input(text, form=InputForm.DOCUMENT, speakers=" "), characters=45, turns=8, previous=None)
    assert chunks[0].turns[0].text.endswith("\n\n")


def test_the_previous_message_is_context_of_the_first_chunk() -> None:
    before = Message(id="old", speaker="A", text="Where to? " * 30, sent_at=AT)
    chunks = cut(JOB, new_input("Lyon."), characters=50, turns=8, previous=before)
    assert chunks[0].previous is not None
    assert chunks[0].previous.id == "old"
    assert len(chunks[0].previous.text) <= 50


def test_200_kilobytes() -> None:
    chunks = cut(JOB, new_input("A sentence of prose. " * 10_000), characters=4_000, turns=8, previous=None)
    assert 50 <= len(chunks) <= 60
