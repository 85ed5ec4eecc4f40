"""LoCoMo as JSONL: conversation, session and turn lines; qa lines are questions about it and are left aside."""

from collections.abc import Iterable
from datetime import timedelta

from pydantic import Field

from infra.run.formats.draft import Entry, Format, Parsed, Session
from infra.run.formats.rows import Row, checked
from infra.run.formats.source import Line, json_object, reject
from infra.run.formats.times import Moment

EXPECTED = 'a LoCoMo line with "type": "conversation", "session", "turn" or "qa"'

TURN_STEP = timedelta(seconds=1)
"""A session has one time; each turn is put this much after the one before, so that their order is kept."""


class SessionRow(Row):
    """When a session took place, in local time."""

    conversation_id: str
    session: str
    date_iso: Moment


class TurnRow(Row):
    """One turn; `dia_id` is unique in its conversation."""

    conversation_id: str
    session: str
    dia_id: str
    speaker: str
    text: str
    blip_caption: str | None = Field(None)


class _Reading:
    """Sessions seen so far, by conversation and number, with their turns."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.times: dict[tuple[str, str], SessionRow] = {}
        self.turns: dict[tuple[str, str], list[Entry]] = {}

    def add_session(self, value: object, where: str) -> None:
        row = checked(SessionRow, value, self.name, where=where, expected=EXPECTED)
        key = (row.conversation_id, row.session)
        if key in self.times:
            reject(self.name, where, f"session {row.session} of {row.conversation_id} is there twice")
        self.times[key] = row
        self.turns[key] = []

    def add_turn(self, value: object, where: str) -> None:
        row = checked(TurnRow, value, self.name, where=where, expected=EXPECTED)
        key = (row.conversation_id, row.session)
        if key not in self.times:
            reject(self.name, where, f"a turn of session {row.session} before the line of that session")
        turns = self.turns[key]
        turns.append(
            Entry(
                where=where,
                speaker=row.speaker,
                text=row.text,
                sent_at=self.times[key].date_iso + len(turns) * TURN_STEP,
                id=row.dia_id,
                captions=(row.blip_caption,) if row.blip_caption else (),
            )
        )

    def sessions(self) -> tuple[Session, ...]:
        return tuple(
            Session(
                id=f"{conversation}/session-{number}",
                user_id=conversation,
                title=f"{conversation}, session {number}",
                entries=tuple(entries),
            )
            for (conversation, number), entries in self.turns.items()
            if entries
        )


def parse_locomo(lines: Iterable[Line], name: str) -> Parsed:
    """One session an input; the conversation's id is the user unless the caller names another."""
    reading = _Reading(name)
    for line in lines:
        if not line.text.strip():
            continue
        value = json_object(line, name, expected=EXPECTED)
        match value.get("type"):
            case "session":
                reading.add_session(value, line.where)
            case "turn":
                reading.add_turn(value, line.where)
            case "conversation" | "qa":
                pass
            case _:
                reject(name, line.where, "no known type of line", EXPECTED)
    return Parsed(format=Format.LOCOMO, sessions=reading.sessions())
