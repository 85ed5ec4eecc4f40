"""From a parsed file to inputs: ids that depend on content alone, sizes within the limits, every message checked."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from hashlib import blake2b

from domain.errors import InvalidInput
from domain.intake import MAX_TITLE_CHARACTERS, InputIn, Limits, MessageIn, build_input
from domain.memory import Frozen, InputForm
from domain.redaction import without_secrets
from infra.run.formats.draft import Entry, Parsed, Session
from infra.run.formats.source import reject

DEFAULT_USER = "default"

ID_BYTES = 12
"""Length of derived ids: 96 bits, so that a clash within a user's messages is out of the question."""

_FIELD = re.compile(r"messages\[(?P<index>\d+)\]\.?")


class Placement(Frozen):
    """What the caller says about a file's inputs."""

    user_id: str = ""
    """Empty: the user the format names, else DEFAULT_USER."""
    timezone: str | None = None
    """Zone of naive times and of relative dates; None: the server's default."""
    at: datetime | None = None
    """Time of entries that carry none; None: the time of ingestion."""


def inputs_of(
    parsed: Parsed, name: str, placement: Placement, *, limits: Limits, zone: str, now: datetime
) -> tuple[InputIn, ...]:
    """The inputs of a file, in its order, each checked whole: InvalidInput names the place of the first fault.

    Nothing is sent here, so a bad last line means that nothing of the file is stored. `zone` is the default time zone.
    """
    offered: list[InputIn] = []
    for session in parsed.sessions:
        for part in _parts(session, limits):
            value = _input(session, part, parsed, placement)
            _check(value, part, name, limits=limits, zone=zone, now=now)
            offered.append(value)
    if not offered:
        reject(name, "", "no message in the whole file: there is nothing to ingest")
    return tuple(offered)


def _parts(session: Session, limits: Limits) -> Iterator[tuple[Entry, ...]]:
    """A session in runs of at most `max_input_messages` entries; of a document every entry is an input of its own."""
    size = 1 if session.form is InputForm.DOCUMENT else limits.max_input_messages
    entries = _identified(session)
    for start in range(0, len(entries), size):
        yield entries[start : start + size]


def _identified(session: Session) -> tuple[Entry, ...]:
    """Every entry with an id: the file's, or one made of its content and of how often that occurred before.

    Positions are not used: a line put into the middle of a file must not give its successor's id to another text.
    """
    seen: Counter[str] = Counter()
    entries: list[Entry] = []
    for entry in session.entries:
        key = entry.id or digest(entry.model_dump(mode="json", exclude={"where", "id"}))
        if not entry.id:
            seen[key] += 1
            key = key if seen[key] == 1 else f"{key}-{seen[key]}"
        entries.append(entry.model_copy(update={"id": key}))
    return tuple(entries)


def _input(session: Session, part: Sequence[Entry], parsed: Parsed, placement: Placement) -> InputIn:
    messages = tuple(
        MessageIn(
            id=entry.id,
            speaker=entry.speaker,
            text=entry.text,
            sent_at=entry.sent_at or placement.at,
            captions=entry.captions,
        )
        for entry in part
    )
    content = [message.model_dump(mode="json") for message in messages]
    key = [parsed.format, session.id, session.title, placement.timezone, content]
    return InputIn(
        user_id=placement.user_id or session.user_id or DEFAULT_USER,
        request_id=f"{parsed.format}-{digest(key)}",
        session_id=session.id,
        form=session.form,
        title=session.title[:MAX_TITLE_CHARACTERS],
        timezone=placement.timezone,
        messages=messages,
    )


def digest(value: object) -> str:
    """A stable digest of a JSON value, secrets left out; lone surrogates pass as escapes."""
    text = json.dumps(without_secrets(value), ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode("ascii"), digest_size=ID_BYTES).hexdigest()


def _check(value: InputIn, part: Sequence[Entry], name: str, *, limits: Limits, zone: str, now: datetime) -> None:
    """Validate an input as the server will, and say where in the file the fault lies."""
    try:
        build_input(value, limits=limits, default_timezone=zone, now=now)
    except InvalidInput as error:
        found = _FIELD.match(error.field)
        where = part[int(found["index"])].where if found else ""
        reason = error.message.removeprefix(found.group()) if found else error.message
        raise InvalidInput(f"{name}, {where}: {reason}" if where else f"{name}: {reason}") from error
