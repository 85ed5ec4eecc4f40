"""What a parser makes of a file: sessions of entries that still know the line they came from."""

from datetime import datetime
from enum import StrEnum

from domain.memory import Frozen, InputForm


class Format(StrEnum):
    """The file formats `reverie ingest` reads."""

    MESSAGES = "messages"
    """One JSON object a line, each a message."""
    LOCOMO = "locomo"
    """One JSON object a line: conversation, session, turn and qa lines."""
    CHAT = "chat"
    """A JSON document of role/content messages, or of conversations of them."""
    TEXT = "text"
    MARKDOWN = "markdown"


class Entry(Frozen):
    """One message of a file."""

    where: str
    """Place in the file for error messages: `line 12`, or `conversation 2, message 5` of a chat export."""
    speaker: str = ""
    text: str
    sent_at: datetime | None = None
    """Naive means local time in the zone of the input; None means that the file gives none."""
    id: str = ""
    """Empty means that the file gives none."""
    captions: tuple[str, ...] = ()


class Session(Frozen):
    """The entries of one session or document, in order."""

    id: str
    entries: tuple[Entry, ...]
    form: InputForm = InputForm.CONVERSATION
    title: str = ""
    user_id: str = ""
    """The user the format itself names (a LoCoMo conversation), or empty."""


class Parsed(Frozen):
    """Everything in one file. `skipped` counts entries that are no memory (a system prompt, a tool call), by reason."""

    format: Format
    sessions: tuple[Session, ...]
    skipped: tuple[tuple[str, int], ...] = ()
