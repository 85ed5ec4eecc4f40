"""LoCoMo lines."""

import json
from collections.abc import Mapping
from datetime import datetime

import pytest

from domain.errors import InvalidInput
from infra.run.formats.draft import Format
from tests.unit.formats.reads import parse

HEAD: Mapping[str, object] = {
    "type": "conversation",
    "conversation_id": "conv-1",
    "speaker_a": "Ana",
    "speaker_b": "Bo",
}


def session(number: int, at: str = "2023-05-08T13:56") -> dict[str, object]:
    return {"type": "session", "conversation_id": "conv-1", "session": number, "date_iso": at}


def turn(number: int, ordinal: int, **more: object) -> dict[str, object]:
    row = {
        "type": "turn",
        "conversation_id": "conv-1",
        "session": number,
        "dia_id": f"D{number}:{ordinal}",
        "speaker": "Ana",
    }
    return {**row, "text": f"turn {ordinal}", **more}


def lines(*rows: Mapping[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_one_session_an_entry_list_with_local_times_in_order() -> None:
    rows = [
        HEAD,
        session(1),
        turn(1, 1),
        turn(1, 2, blip_caption="a red skiff"),
        session(2),
        turn(2, 1),
        {"type": "qa"},
    ]
    parsed = parse(lines(*rows))
    assert parsed.format is Format.LOCOMO
    first, second = parsed.sessions
    assert (first.user_id, first.id, second.id) == ("conv-1", "conv-1/session-1", "conv-1/session-2")
    assert [entry.id for entry in first.entries] == ["D1:1", "D1:2"]
    assert [entry.sent_at for entry in first.entries] == [
        datetime(2023, 5, 8, 13, 56, 0),  # noqa: DTZ001 - local time is meant
        datetime(2023, 5, 8, 13, 56, 1),  # noqa: DTZ001 - local time is meant
    ]
    assert [entry.captions for entry in first.entries] == [(), ("a red skiff",)]


def test_a_session_without_turns_makes_nothing() -> None:
    assert [s.id for s in parse(lines(HEAD, session(1), session(2), turn(2, 1))).sessions] == ["conv-1/session-2"]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ((HEAD, turn(1, 1)), "line 2: a turn of session 1 before the line of that session"),
        ((HEAD, session(1), session(1)), "line 3: session 1 of conv-1 is there twice"),
        ((HEAD, session(1, "8 May")), "line 2: date_iso"),
        ((HEAD, {**session(1), "date_iso": None}), "line 2: date_iso"),
        ((HEAD, session(1), {**turn(1, 1), "text": None}), "line 3: text"),
        ((HEAD, session(1), {**turn(1, 1), "dia_id": None}), "line 3: dia_id"),
        ((HEAD, {"type": "note"}), "line 2: no known type of line"),
        ((HEAD, {"text": "a plain message"}), "line 2: no known type of line"),
    ],
)
def test_a_bad_line_is_named(rows: tuple[Mapping[str, object], ...], says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(lines(*rows))
    assert caught.value.message.startswith(f"talk.jsonl, {says}")
