"""The recorded model and the evaluation's arguments, over a recording of the project's own."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from uuid import uuid5

import pytest

from domain.errors import InvalidInput, ModelOutputInvalid
from domain.jobs import NAMESPACE
from domain.memory import AnchorType, Chunk, InputForm, MemoryKind, Status, Turn
from domain.model_calls import ExtractRequest, RouteRequest, WriteRequest
from domain.records import records_of
from tests.evals import __main__ as command
from tests.evals.recorded import RecordedAnswers

ORCHARD = {
    "conversation_id": "conv-1",
    "session": 2,
    "kind": "episodic",
    "title": "Ana planted pears",
    "text": "Ana planted two pear trees.",
    "event_time": {"start": "2024-03-02", "end": "2024-03-02", "granularity": "day"},
    "status": "done",
    "sources": ["D2:1"],
    "frames": [
        {
            "predicate": "plant",
            "arms": [
                {"role": "agent", "name": "Ana", "type": "person"},
                {"role": "object", "name": "pear trees", "type": "object"},
            ],
            "literals": {"count": "2"},
            "event_time": None,
            "status": "done",
        }
    ],
}


@pytest.fixture
def recorded(tmp_path: Path) -> RecordedAnswers:
    """A recording of one session with one record."""
    (tmp_path / "conv-1.jsonl").write_text(json.dumps(ORCHARD) + "\n", encoding="utf-8")
    return RecordedAnswers(tmp_path)


def chunk(session: str, ordinal: int = 0) -> Chunk:
    """The whole of a session, or its second half."""
    turn = Turn(id="D2:1", speaker="Ana", text="I planted two pear trees.", at=datetime(2024, 3, 2, tzinfo=UTC))
    return Chunk(
        id=uuid5(NAMESPACE, f"{session} {ordinal}"),
        input_id=uuid5(NAMESPACE, session),
        user_id="conv-1",
        session_id=session,
        ordinal=ordinal,
        form=InputForm.CONVERSATION,
        turns=(turn,),
    )


async def test_a_session_gives_what_was_recorded(recorded: RecordedAnswers) -> None:
    whole = chunk("conv-1/session-2")
    assert (await recorded.route(RouteRequest(chunk=whole))).answer.kinds == (MemoryKind.EPISODIC,)
    written = (await recorded.write(WriteRequest(kind=MemoryKind.EPISODIC, chunk=whole))).answer.records
    (record,) = records_of(whole, {MemoryKind.EPISODIC: written})
    assert record.title == "Ana planted pears"
    assert [source.turn_id for source in record.sources] == ["D2:1"]
    assert record.event_time is not None
    assert (record.event_time.start, record.status) == (date(2024, 3, 2), Status.DONE)
    extraction = (await recorded.extract(ExtractRequest(record=record, turns=whole.turns))).answer
    assert {entity.name: entity.type for entity in extraction.entities} == {
        "Ana": AnchorType.PERSON,
        "pear trees": AnchorType.OBJECT,
    }
    (frame,) = extraction.frames
    assert (frame.predicate, [literal.value for literal in frame.literals]) == ("plant", ["2"])


async def test_an_unknown_session_gives_nothing(recorded: RecordedAnswers) -> None:
    assert (await recorded.route(RouteRequest(chunk=chunk("conv-1/session-9")))).answer.kinds == ()


async def test_a_session_that_was_cut_is_refused(recorded: RecordedAnswers) -> None:
    with pytest.raises(ModelOutputInvalid, match="whole sessions"):
        await recorded.route(RouteRequest(chunk=chunk("conv-1/session-2", 1)))


def test_a_folder_without_a_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no recorded answers"):
        RecordedAnswers(tmp_path)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--config", "M2"), "no scorer at"),
        (("--scorer", __file__, "--recorded", "nowhere"), "no recorded answers"),
        (("--scorer", __file__, "--conversations", "conv-9"), "no conv-9 in"),
    ],
)
def test_what_is_missing_is_said_and_ends_with_2(
    more: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["evals", "locomo", "--data", str(tmp_path), *more])
    assert command.main() == 2
    assert message in capsys.readouterr().err
