"""Generic JSONL of messages."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone

import pytest

from domain.errors import InvalidInput
from infra.run.formats.draft import Format
from tests.unit.formats.reads import parse


def lines(*rows: Mapping[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_message_keeps_every_field() -> None:
    row = {
        "id": "m1",
        "session_id": "s",
        "speaker": "Ana",
        "sent_at": "2025-03-08T10:05:00+01:00",
        "text": "Hi",
        "captions": ["a cat"],
    }
    parsed = parse(lines(row))
    assert parsed.format is Format.MESSAGES
    (session,) = parsed.sessions
    (entry,) = session.entries
    assert session.id == "s"
    assert (entry.id, entry.speaker, entry.text, entry.captions, entry.where) == (
        "m1",
        "Ana",
        "Hi",
        ("a cat",),
        "line 1",
    )
    assert entry.sent_at == datetime(2025, 3, 8, 9, 5, tzinfo=UTC)


@pytest.mark.parametrize("text", ["text", "content"])
@pytest.mark.parametrize("speaker", ["speaker", "role"])
@pytest.mark.parametrize("when", ["sent_at", "timestamp", "created_at"])
def test_the_names_other_programs_use(text: str, speaker: str, when: str) -> None:
    (session,) = parse(lines({text: "Hi", speaker: "Ana", when: "2025-03-08"})).sessions
    (entry,) = session.entries
    assert (entry.text, entry.speaker, entry.sent_at) == ("Hi", "Ana", datetime(2025, 3, 8))  # noqa: DTZ001 - naive is meant


def test_mixed_sessions_are_taken_apart_in_order_of_appearance() -> None:
    rows = [{"text": f"t{i}", "session_id": name} for i, name in enumerate("abab")]
    sessions = parse(lines(*rows, {"text": "loose"}), "week.jsonl").sessions
    assert [(s.id, [e.text for e in s.entries]) for s in sessions] == [
        ("a", ["t0", "t2"]),
        ("b", ["t1", "t3"]),
        ("week", ["loose"]),
    ]


@pytest.mark.parametrize("zone", [-11, -3, 0, 5.5, 14])
def test_five_time_zones_give_one_moment(zone: float) -> None:
    at = datetime(2025, 3, 8, 12, tzinfo=UTC)
    local = at.astimezone(timezone(timedelta(hours=zone)))
    (session,) = parse(lines({"text": "Hi", "sent_at": local.isoformat()})).sessions
    assert session.entries[0].sent_at == at


@pytest.mark.parametrize(
    "value",
    [1741435200, 1741435200.0, 1741435200000, "1741435200", "Sat, 08 Mar 2025 12:00:00 +0000", " 2025-03-08T12:00Z "],
)
def test_epoch_seconds_millis_and_mail_dates(value: object) -> None:
    (session,) = parse(lines({"text": "Hi", "sent_at": value})).sessions
    assert session.entries[0].sent_at == datetime(2025, 3, 8, 12, tzinfo=UTC)


def test_a_naive_time_stays_naive_for_the_zone_of_the_input() -> None:
    (session,) = parse(lines({"text": "Hi", "sent_at": "2025-03-08T12:00:00"})).sessions
    at = session.entries[0].sent_at
    assert at is not None
    assert at.tzinfo is None


def test_no_time_and_no_id_are_left_open() -> None:
    (session,) = parse(lines({"text": "Hi"})).sessions
    assert (session.entries[0].sent_at, session.entries[0].id, session.entries[0].speaker) == (None, "", "user")


def test_numbers_serve_as_ids_and_one_caption_as_a_list() -> None:
    (session,) = parse(lines({"text": "Hi", "id": 7, "session": 3, "caption": "a cat"})).sessions
    assert (session.id, session.entries[0].id, session.entries[0].captions) == ("3", "7", ("a cat",))


def test_bom_crlf_and_blank_lines_change_nothing() -> None:
    rows = [{"text": "one"}, {"text": "two"}]
    content = b"\xef\xbb\xbf" + lines(*rows).replace("\n", "\r\n\r\n").encode()
    (session,) = parse(content).sessions
    assert [entry.text for entry in session.entries] == ["one", "two"]
    assert [entry.where for entry in session.entries] == ["line 1", "line 3"]


def test_unicode_line_separators_do_not_cut_a_line() -> None:
    content = json.dumps({"text": "a\u2028b\u0085c"}, ensure_ascii=False)
    (session,) = parse(content).sessions
    assert session.entries[0].text == "a\u2028b\u0085c"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"text": "a"}\n{"speaker": "Ana"}\n', "talk.jsonl, line 2: text: Field required"),
        ('{"text": "a"}\n{"text": \n', "talk.jsonl, line 2: not JSON"),
        ('{"text": "a"}\n["b"]\n', "talk.jsonl, line 2: a list, not an object"),
        ('{"text": "a"}\nnull\n', "talk.jsonl, line 2: null, not an object"),
        ('{"text": 1.5, "captions": [{}]}\n', "talk.jsonl, line 1: captions.0"),
        ('{"text": "a", "sent_at": "soon"}\n', "talk.jsonl, line 1: sent_at: Value error, not a time such as"),
        ('{"text": "a", "sent_at": true}\n', "talk.jsonl, line 1: sent_at"),
        ('{"text": "a", "sent_at": 1e400}\n', "talk.jsonl, line 1: sent_at"),
        ('{"text": "a"}\n' + "[" * 100_000 + "\n", "talk.jsonl, line 2: "),
        ('{"text": "a"}\n{"text": ' + "1" * 5_000 + "}\n", "talk.jsonl, line 2: "),
    ],
)
def test_a_bad_line_is_named_with_what_was_expected(content: str, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(content)
    assert caught.value.message.startswith(says)
    assert "expected a message such as" in caught.value.message


def test_an_error_never_quotes_the_content() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse('{"text": ["canary-5521"], "sent_at": "canary-5521"}\n')
    assert "canary" not in caught.value.message
