"""The one way in by example (cases 16, 17, 19, 20; inputs the issue wants decided)."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from domain.errors import InvalidInput
from domain.intake import InputIn, Limits, MessageIn, build_input, sealed
from domain.memory import InputForm, NewInput, TimeSource

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
LIMITS = Limits(max_message_characters=300_000, max_input_messages=3)


def built(*messages: MessageIn, **fields: object) -> tuple[NewInput, str]:
    """Build an input of user u1."""
    raw = InputIn.model_validate({"user_id": "u1", "request_id": "r1", "messages": messages, **fields})
    return build_input(raw, limits=LIMITS, default_timezone="UTC", now=NOW)


def stored(*messages: MessageIn, **fields: object) -> NewInput:
    """The stored input alone."""
    return built(*messages, **fields)[0]


def say(text: str = "I like pears", **fields: object) -> MessageIn:
    """A message."""
    return MessageIn.model_validate({"text": text, **fields})


@pytest.mark.parametrize(
    ("messages", "fields", "field"),
    [
        ((), {}, "messages"),
        ((say(""),), {}, "messages[0].text"),
        ((say("ok"), say("  \n")), {}, "messages[1].text"),
        ((say("\x00\x01"),), {}, "messages[0].text"),
        ((say("\u200b\u2060"),), {}, "messages[0].text"),
        ((say("x" * 300_001),), {}, "messages[0].text"),
        ((say(), say(), say(), say()), {}, "messages"),
        ((say(id="a"), say("other", id="a")), {}, "messages[1].id"),
        ((say(id="a\x00"),), {}, "messages[0].id"),
        ((say(id=""),), {}, "messages[0].id"),
        ((say(speaker="  "),), {}, "messages[0].speaker"),
        ((say(sent_at=NOW + timedelta(hours=25)),), {}, "messages[0].sent_at"),
        ((say(sent_at="0001-01-01T00:00:00+14:00"),), {}, "messages[0].sent_at"),
        ((say(),), {"user_id": "-x"}, "user_id"),
        ((say(),), {"user_id": "a\x00"}, "user_id"),
        ((say(),), {"user_id": "u" * 65}, "user_id"),
        ((say(),), {"request_id": "a b"}, "request_id"),
        ((say(),), {"request_id": ""}, "request_id"),
        ((say(),), {"request_id": "r" * 129}, "request_id"),
        ((say(),), {"session_id": "s\x00"}, "session_id"),
        ((say(),), {"timezone": "Mars/Olympus"}, "timezone"),
        ((say(),), {"timezone": "../etc/passwd"}, "timezone"),
        ((say(),), {"timezone": "America"}, "timezone"),
        ((say(),), {"title": "t" * 1_001}, "title"),
    ],
)
def test_refused_with_the_field(messages: tuple[MessageIn, ...], fields: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        built(*messages, **fields)
    assert caught.value.field == field


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(ValidationError):
        MessageIn.model_validate({"text": "a", "sentAt": "2024-01-01"})


@pytest.mark.parametrize(
    ("sent_at", "timezone", "utc"),
    [
        ("2026-03-01T10:00:00", None, "2026-03-01T10:00:00+00:00"),
        ("2026-03-01T10:00:00", "Asia/Kolkata", "2026-03-01T04:30:00+00:00"),
        ("2026-03-01T10:00:00", "America/New_York", "2026-03-01T15:00:00+00:00"),
        ("2026-03-01T10:00:00", "Pacific/Kiritimati", "2026-02-28T20:00:00+00:00"),
        ("2026-03-01T10:00:00", "Europe/London", "2026-03-01T10:00:00+00:00"),
        ("2026-03-01T10:00:00", "Australia/Eucla", "2026-03-01T01:15:00+00:00"),
        ("2026-03-01T10:00:00Z", "Asia/Kolkata", "2026-03-01T10:00:00+00:00"),
        ("2026-03-01T10:00:00+05:30", "UTC", "2026-03-01T04:30:00+00:00"),
    ],
)
def test_times_are_stored_in_utc(sent_at: str, timezone: str | None, utc: str) -> None:
    new = stored(say(sent_at=sent_at), timezone=timezone)
    assert new.messages[0].sent_at.isoformat() == utc
    assert new.time_source is TimeSource.GIVEN


def test_a_missing_time_is_that_of_ingestion() -> None:
    new = stored(say())
    assert new.messages[0].sent_at == NOW
    assert new.time_source is TimeSource.INGEST
    assert stored(say(sent_at=NOW + timedelta(hours=23))).time_source is TimeSource.GIVEN


def test_characters_that_cannot_be_stored_go_and_leave_a_note() -> None:
    new = stored(say("a\x00b"), say("fine", captions=("x\ud800",)))
    assert [message.text for message in new.messages] == ["ab", "fine"]
    assert new.messages[1].captions == ("x\ufffd",)
    assert new.sanitized
    assert not stored(say("fine")).sanitized


@pytest.mark.parametrize("text", ["🌱", "def f(x):\n\treturn x", "שלום עולם", "你好", "x" * 200_000, "a\u202eb"])
def test_unusual_text_is_stored_as_it_is(text: str) -> None:
    new = stored(say(text))
    assert new.messages[0].text == text
    assert not new.sanitized


def test_ids_made_from_words_and_place() -> None:
    sent = [say("ok", sent_at="2026-01-01T10:00:00Z"), say("ok", sent_at="2026-01-01T10:00:00Z")]
    first = stored(*sent, session_id="s")
    again = stored(*sent, session_id="s", request_id="r2")
    ids = [message.id for message in first.messages]
    assert len(set(ids)) == 2
    assert ids == [message.id for message in again.messages]
    assert ids != [message.id for message in stored(*sent, session_id="s2").messages]
    untimed = [stored(say("ok"), session_id="s", request_id=request).messages[0].id for request in ("r1", "r1", "r2")]
    assert untimed[0] == untimed[1] != untimed[2]


def test_identical_duplicates_are_one() -> None:
    assert len(stored(say(id="a"), say(id="a"), say(id="b")).messages) == 2


def test_the_hash_is_of_what_was_sent() -> None:
    assert built(say("a"))[1] == built(say("a"))[1]
    others = [
        built(say("b"))[1],
        built(say("a"), title="t")[1],
        built(say("a\x00"))[1],
        built(say("a"), timezone="UTC")[1],
    ]
    assert len({built(say("a"))[1], *others}) == 5


def test_sessions_and_documents() -> None:
    assert stored(say()).session_id == stored(say()).session_id == "request:r1"
    assert stored(say("text"), form="document").messages[0].speaker == ""
    assert stored(say("", captions=("a cat", " "))).messages[0].captions == ("a cat",)
    assert stored(say(), form=InputForm.CONVERSATION).messages[0].speaker == "user"


def test_secrets_leave_every_text_and_are_handed_over() -> None:
    new = stored(
        say("my password is hunter2x9", id="a"),
        say("I said hunter2x9, and PIN 4471", id="b", captions=("note: hunter2x9",)),
        title="hunter2x9",
    )
    clean, secrets = sealed(new)
    assert "hunter2x9" not in clean.model_dump_json()
    assert "4471" not in clean.model_dump_json()
    assert clean.messages[0].text == "my password is [vault:password]"
    assert clean.messages[1].captions == ("note: [vault:password]",)
    found = [(each.message_id, each.caption, each.value.get_secret_value()) for each in secrets]
    assert found == [("a", "password", "hunter2x9"), ("b", "PIN", "4471")]
    assert "hunter2x9" not in repr(secrets)
    assert sealed(clean) == (clean, ())


def test_ids_and_hashes_do_not_depend_on_a_secret() -> None:
    """Whoever tries all PINs against a digest must not find the right one."""
    made = []
    for pin in ("4821", "4822"):
        raw = InputIn(user_id="ana", request_id="s1", messages=(MessageIn(text=f"my PIN is {pin}", sent_at=NOW),))
        new, body_hash = build_input(raw, limits=LIMITS, default_timezone="UTC", now=NOW)
        made.append((new.messages[0].id, body_hash))
    assert made[0] == made[1]
