"""Generic JSONL: one message a line, sessions possibly mixed."""

from collections.abc import Iterable

from pydantic import AliasChoices, Field, field_validator

from infra.run.formats.draft import Entry, Format, Parsed, Session
from infra.run.formats.rows import Row, checked
from infra.run.formats.source import Line, json_object
from infra.run.formats.times import Moment

EXPECTED = 'a message such as {"text": "…", "speaker": "…", "sent_at": "2025-03-08T10:05:00Z", "session_id": "…"}'

DEFAULT_SPEAKER = "user"
"""Who speaks where a line doesn't say."""


class MessageRow(Row):
    """A line, with the names other programs give the same fields."""

    text: str = Field(validation_alias=AliasChoices("text", "content"))
    speaker: str = Field(DEFAULT_SPEAKER, validation_alias=AliasChoices("speaker", "role"))
    sent_at: Moment | None = Field(None, validation_alias=AliasChoices("sent_at", "timestamp", "created_at"))
    id: str = Field("", validation_alias=AliasChoices("id", "message_id"))
    session_id: str = Field("", validation_alias=AliasChoices("session_id", "session"))
    captions: tuple[str, ...] = Field((), validation_alias=AliasChoices("captions", "caption", "blip_caption"))

    @field_validator("captions", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


def parse_messages(lines: Iterable[Line], name: str, *, stem: str) -> Parsed:
    """One session a session id, in order of first appearance; lines without one belong to a session named `stem`."""
    sessions: dict[str, list[Entry]] = {}
    for line in lines:
        if line.text.strip():
            value = json_object(line, name, expected=EXPECTED)
            row = checked(MessageRow, value, name, where=line.where, expected=EXPECTED)
            sessions.setdefault(row.session_id or stem, []).append(_entry(row, line.where))
    return Parsed(
        format=Format.MESSAGES,
        sessions=tuple(Session(id=key, entries=tuple(entries)) for key, entries in sessions.items()),
    )


def _entry(row: MessageRow, where: str) -> Entry:
    return Entry(where=where, speaker=row.speaker, text=row.text, sent_at=row.sent_at, id=row.id, captions=row.captions)
