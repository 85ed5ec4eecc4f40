"""The one way in: what a caller may send, checked and made into a NewInput (design 3; cases 17, 19, 20)."""

import hashlib
import json
import re
import unicodedata
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pydantic import SecretStr

from domain.errors import InvalidInput
from domain.memory import Frozen, InputForm, Message, NewInput, TimeSource
from domain.redaction import MIN_REPEATED, Secret, find_secrets, occurrences, redact, without_secrets
from domain.text import storable

MAX_FUTURE = timedelta(hours=24)
"""How far ahead of the clock a message may be dated: clocks differ, and zones are mistaken for one another."""
MAX_ID_CHARACTERS = 128
MAX_TITLE_CHARACTERS = 1_000
MAX_SPEAKER_CHARACTERS = 200
MAX_CAPTIONS = 64
"""Images of one message."""
DEFAULT_SPEAKER = "user"

USER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:+-]{0,63}")
"""What a user is called."""
_REQUEST_ID = re.compile(r"[!-~]{1,128}")


class MessageIn(Frozen):
    """A message as sent. Without an id it gets one from its words and its place; a naive time is in the user's zone."""

    id: str | None = None
    speaker: str = DEFAULT_SPEAKER
    text: str
    sent_at: datetime | None = None
    captions: tuple[str, ...] = ()


class InputIn(Frozen):
    """An input as sent; `request_id` is the idempotency key, unique per user."""

    user_id: str
    request_id: str
    session_id: str | None = None
    timezone: str | None = None
    form: InputForm = InputForm.CONVERSATION
    title: str = ""
    messages: tuple[MessageIn, ...]


class Limits(Frozen):
    """Sizes from the settings."""

    max_message_characters: int
    max_input_messages: int


class FoundSecret(Frozen):
    """A secret taken out of an input, for the vault; `message_id` is empty for one in the title."""

    message_id: str
    caption: str
    value: SecretStr


class _Context(NamedTuple):
    """What the messages of one input share."""

    session_id: str
    request_id: str
    form: InputForm
    zone: tzinfo
    now: datetime
    limits: Limits


def build_input(raw: InputIn, *, limits: Limits, default_timezone: str, now: datetime) -> tuple[NewInput, str]:
    """The input to store, and the hash of what was sent: 64 hexadecimal digits over its canonical JSON.

    Raises InvalidInput, with the path of the field, and nothing else. Characters that can't be stored are taken out and
    noted in `sanitized`. Secrets are still in the text: see `sealed`.
    """
    _check_id(raw.user_id, "user_id", USER_ID)
    _check_id(raw.request_id, "request_id", _REQUEST_ID)
    if raw.session_id is not None:
        _check_text_id(raw.session_id, "session_id")
    if not raw.messages:
        raise InvalidInput("no messages", field="messages")
    if len(raw.messages) > limits.max_input_messages:
        raise InvalidInput(f"more than {limits.max_input_messages} messages", field="messages")
    timezone = default_timezone if raw.timezone is None else raw.timezone
    context = _Context(
        session_id=raw.session_id if raw.session_id is not None else f"request:{raw.request_id}",
        request_id=raw.request_id,
        form=raw.form,
        zone=zone_of(timezone),
        now=now,
        limits=limits,
    )
    messages, changed = _messages(raw.messages, context)
    title, title_changed = storable(raw.title)
    if len(title) > MAX_TITLE_CHARACTERS:
        raise InvalidInput(f"longer than {MAX_TITLE_CHARACTERS} characters", field="title")
    new = NewInput(
        user_id=raw.user_id,
        request_id=raw.request_id,
        session_id=context.session_id,
        form=raw.form,
        title=" ".join(title.split()),
        timezone=timezone,
        time_source=TimeSource.INGEST if any(each.sent_at is None for each in raw.messages) else TimeSource.GIVEN,
        sanitized=changed or title_changed,
        messages=messages,
    )
    return new, _body_hash(raw)


def sealed(new: NewInput) -> tuple[NewInput, tuple[FoundSecret, ...]]:
    """The input with `[vault:<caption>]` in place of every secret that a rule finds, and the secrets for the vault.

    A value found anywhere in the input is taken out everywhere in it. Each value is handed over once a message.
    """
    fields = [("", new.title)]
    fields += [(message.id, text) for message in new.messages for text in (message.text, *message.captions)]
    known: dict[str, str] = {}
    found: dict[tuple[str, str], FoundSecret] = {}
    for owner, text in fields:
        for secret in find_secrets(text):
            value = text[secret.start : secret.end]
            known.setdefault(value, secret.caption)
            found.setdefault(
                (owner, value), FoundSecret(message_id=owner, caption=secret.caption, value=SecretStr(value))
            )
    if not found:
        return new, ()
    clean = {text: _without(text, known) for _, text in fields}
    messages = tuple(
        message.model_copy(
            update={"text": clean[message.text], "captions": tuple(clean[caption] for caption in message.captions)}
        )
        for message in new.messages
    )
    return new.model_copy(update={"title": clean[new.title], "messages": messages}), tuple(found.values())


def _without(text: str, known: dict[str, str]) -> str:
    text = redact(text, find_secrets(text))
    for value in sorted(known, key=lambda value: (-len(value), value)):
        if len(value) >= MIN_REPEATED:
            places = tuple(
                Secret(start=at, end=at + len(value), caption=known[value]) for at in occurrences(text, value)
            )
            text = redact(text, places)
    return text


def _messages(sent: tuple[MessageIn, ...], context: _Context) -> tuple[tuple[Message, ...], bool]:
    messages: dict[str, Message] = {}
    changed = False
    for index, raw in enumerate(sent):
        field = f"messages[{index}]"
        message, cleaned = _message(raw, index, field=field, context=context)
        changed = changed or cleaned
        if messages.setdefault(message.id, message) != message:
            raise InvalidInput("the same id as another message with other content", field=f"{field}.id")
    return tuple(messages.values()), changed


def _message(raw: MessageIn, index: int, *, field: str, context: _Context) -> tuple[Message, bool]:
    if raw.id is not None:
        _check_text_id(raw.id, f"{field}.id")
    text, text_changed = storable(raw.text)
    speaker, speaker_changed = storable(raw.speaker)
    cleaned = [storable(caption) for caption in raw.captions]
    captions = tuple(caption for caption, _ in cleaned if not _blank(caption))
    _check_content(text, captions, field=field, limits=context.limits)
    speaker = _speaker(" ".join(speaker.split()), field=field, form=context.form)
    sent_at = _sent_at(raw.sent_at, field=f"{field}.sent_at", context=context)
    message = Message(
        id=raw.id if raw.id is not None else _message_id(raw, index, context),
        speaker=speaker,
        text=text,
        sent_at=sent_at,
        captions=captions,
    )
    return message, text_changed or speaker_changed or any(changed for _, changed in cleaned)


def _check_content(text: str, captions: tuple[str, ...], *, field: str, limits: Limits) -> None:
    if _blank(text) and not captions:
        raise InvalidInput("no text", field=f"{field}.text")
    if len(text) > limits.max_message_characters:
        raise InvalidInput(f"longer than {limits.max_message_characters} characters", field=f"{field}.text")
    if len(captions) > MAX_CAPTIONS:
        raise InvalidInput(f"more than {MAX_CAPTIONS} captions", field=f"{field}.captions")
    if sum(map(len, captions)) > limits.max_message_characters:
        raise InvalidInput(f"longer than {limits.max_message_characters} characters", field=f"{field}.captions")


def _speaker(speaker: str, *, field: str, form: InputForm) -> str:
    if form is InputForm.DOCUMENT and speaker in ("", DEFAULT_SPEAKER):
        return ""
    if _blank(speaker):
        raise InvalidInput("no speaker", field=f"{field}.speaker")
    if len(speaker) > MAX_SPEAKER_CHARACTERS:
        raise InvalidInput(f"longer than {MAX_SPEAKER_CHARACTERS} characters", field=f"{field}.speaker")
    return speaker


def _sent_at(sent_at: datetime | None, *, field: str, context: _Context) -> datetime:
    if sent_at is None:
        return context.now.astimezone(UTC)
    try:
        time = (sent_at if sent_at.utcoffset() is not None else sent_at.replace(tzinfo=context.zone)).astimezone(UTC)
    except (OverflowError, ValueError) as error:
        raise InvalidInput("out of the calendar's range", field=field) from error
    if time > context.now + MAX_FUTURE:
        raise InvalidInput("more than 24 hours in the future", field=field)
    return time


def _message_id(raw: MessageIn, index: int, context: _Context) -> str:
    """An id from words and place: a re-sent input has the same ids, the same words elsewhere are another message.

    Without a time, the request is part of it: the same words sent again in a later request are said again.
    """
    moment = f"request:{context.request_id}" if raw.sent_at is None else raw.sent_at.isoformat()
    parts = [context.session_id, str(index), raw.speaker, moment, raw.text, *raw.captions]
    return f"m{index}-{_hash(parts)[:24]}"


def _body_hash(raw: InputIn) -> str:
    return _hash(raw.model_dump(mode="python"))


def _hash(value: object) -> str:
    # ASCII JSON escapes lone surrogates, which no encoding of the text itself would take
    canonical = json.dumps(
        without_secrets(value), sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=_plain
    )
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _check_id(value: str, field: str, pattern: re.Pattern[str]) -> None:
    if not pattern.fullmatch(value):
        raise InvalidInput(f"must match {pattern.pattern}", field=field)


def _check_text_id(value: str, field: str) -> None:
    if not 1 <= len(value) <= MAX_ID_CHARACTERS:
        raise InvalidInput(f"must have 1 to {MAX_ID_CHARACTERS} characters", field=field)
    if value != value.strip() or any(unicodedata.category(ch) in ("Cc", "Cs", "Zl", "Zp") for ch in value):
        raise InvalidInput("control characters or white space at an end", field=field)


def zone_of(name: str) -> ZoneInfo:
    """The zone of an IANA name. Raises InvalidInput for the field `timezone`."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise InvalidInput("not an IANA time zone", field="timezone") from error


def _blank(text: str) -> bool:
    return all(unicodedata.category(ch)[0] in "ZC" for ch in text)
