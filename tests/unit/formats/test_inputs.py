"""From parsed files to inputs: identity, limits and the check of the whole file."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from importlib.resources import as_file, files

import pytest

from domain.errors import InvalidInput
from domain.intake import InputIn, Limits, build_input, sealed
from domain.memory import InputForm
from infra.run.demo.questions import TIMEZONE
from infra.run.formats.inputs import DEFAULT_USER, Placement, inputs_of
from infra.run.formats.reading import read_path
from tests.unit.formats.reads import parse

NOW = datetime(2025, 7, 1, 12, tzinfo=UTC)
LIMITS = Limits(max_message_characters=1_000, max_input_messages=3)


def inputs(content: str, name: str = "talk.jsonl", placement: Placement | None = None) -> tuple[InputIn, ...]:
    parsed = parse(content, name, limit=LIMITS.max_message_characters)
    return inputs_of(parsed, name, placement or Placement(), limits=LIMITS, zone="UTC", now=NOW)


def lines(*rows: Mapping[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_the_same_file_gives_the_same_inputs_at_any_time() -> None:
    content = lines({"text": "a"}, {"text": "b", "sent_at": "2025-03-08T10:00"})
    assert inputs(content) == inputs(content)


@pytest.mark.parametrize(
    "other",
    [
        Placement(timezone="Europe/Paris"),
        Placement(at=datetime(2025, 1, 1, tzinfo=UTC)),
    ],
)
def test_another_placement_is_another_request(other: Placement) -> None:
    content = lines({"text": "a"})
    assert inputs(content)[0].request_id != inputs(content, placement=other)[0].request_id


def test_another_text_speaker_time_session_or_caption_is_another_request() -> None:
    base: dict[str, object] = {
        "text": "a",
        "speaker": "Ana",
        "sent_at": "2025-03-08",
        "session_id": "s",
        "captions": ["c"],
    }
    changes: list[dict[str, object]] = [
        {"text": "b"},
        {"speaker": "Bo"},
        {"sent_at": "2025-03-09"},
        {"session_id": "t"},
        {"captions": ["d"]},
    ]
    requests = {inputs(lines({**base, **change}))[0].request_id for change in ({}, *changes)}
    assert len(requests) == 6


def test_a_message_without_an_id_keeps_its_own_when_another_is_put_before_it() -> None:
    rows = [{"text": text, "session_id": "s"} for text in ("one", "two", "one")]
    before = [message.id for message in inputs(lines(*rows))[0].messages]
    after = [
        message.id for value in inputs(lines({"text": "zero", "session_id": "s"}, *rows)) for message in value.messages
    ]
    assert len(set(before)) == 3
    assert after[1:] == before


def test_the_format_names_the_user_unless_the_caller_does() -> None:
    head = {"conversation_id": "conv-1", "session": 1}
    content = lines(
        {"type": "session", **head, "date_iso": "2023-05-08T13:56"},
        {"type": "turn", **head, "dia_id": "D1:1", "speaker": "Ana", "text": "Hi"},
    )
    assert inputs(content)[0].user_id == "conv-1"
    assert inputs(content, placement=Placement(user_id="ana"))[0].user_id == "ana"
    assert inputs(lines({"text": "a"}))[0].user_id == DEFAULT_USER


def test_a_long_session_is_cut_into_inputs_of_its_own() -> None:
    values = inputs(lines(*({"text": f"turn {number}"} for number in range(8))))
    assert [len(value.messages) for value in values] == [3, 3, 2]
    assert {value.session_id for value in values} == {"talk"}
    assert len({value.request_id for value in values}) == 3


def test_a_long_document_is_cut_into_inputs_of_its_own() -> None:
    values = inputs("\n\n".join(f"Paragraph {number}. " + "word " * 60 for number in range(9)), "long.md")
    assert len(values) > 1
    assert {value.form for value in values} == {InputForm.DOCUMENT}
    assert all(len(value.messages) == 1 and len(value.messages[0].text) <= 1_000 for value in values)


def test_a_naive_time_is_local_to_the_zone_of_the_placement() -> None:
    content = lines({"text": "a", "sent_at": "2025-03-08T12:00"})
    moments = set()
    for zone in ("America/Caracas", "UTC", "Europe/Paris", "Asia/Kolkata", "Pacific/Kiritimati"):
        (value,) = inputs(content, placement=Placement(timezone=zone))
        new, _ = build_input(value, limits=LIMITS, default_timezone="UTC", now=NOW)
        moments.add(new.messages[0].sent_at.astimezone(UTC))
    assert len(moments) == 5


def test_the_time_of_the_placement_is_for_entries_without_one() -> None:
    at = datetime(2025, 1, 1, tzinfo=UTC)
    (value,) = inputs(lines({"text": "a"}, {"text": "b", "sent_at": "2025-03-08"}), placement=Placement(at=at))
    assert value.messages[0].sent_at == at
    assert value.messages[1].sent_at != at


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"text": ""}, "line 3: text: no text"),
        ({"text": " \n"}, "line 3: text: no text"),
        ({"text": "a", "speaker": " "}, "line 3: speaker: no speaker"),
        ({"text": "a" * 1_001}, "line 3: text: longer than 1000 characters"),
        (
            {"text": "a", "sent_at": (NOW + timedelta(days=2)).isoformat()},
            "line 3: sent_at: more than 24 hours in the future",
        ),
        ({"text": "other", "id": "m1"}, "line 3: id: the same id as another message"),
        ({"text": "a", "id": "a\nb"}, "line 3: id: control characters"),
        ({"text": "a", "session_id": "x" * 200}, "session_id: must have 1 to 128 characters"),
    ],
)
def test_a_fault_anywhere_in_the_file_is_named_by_its_line(row: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        inputs(lines({"text": "fine", "id": "m1"}, {"text": "fine, too"}, row))
    assert says in caught.value.message
    assert caught.value.message.startswith("talk.jsonl")


@pytest.mark.parametrize("placement", [Placement(user_id="no spaces"), Placement(timezone="Mars/Olympus")])
def test_a_bad_user_or_zone_is_refused(placement: Placement) -> None:
    with pytest.raises(InvalidInput, match=r"user_id|timezone"):
        inputs(lines({"text": "a"}), placement=placement)


def test_a_file_of_which_nothing_is_left_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no message in the whole file"):
        inputs(json.dumps([{"role": "system", "content": "Be brief"}]), "export.json")


def test_what_can_not_be_stored_passes_the_check() -> None:
    (value,) = inputs('{"text": "a\\u0000b \\ud800 c"}\n')
    new, _ = build_input(value, limits=LIMITS, default_timezone="UTC", now=NOW)
    assert new.sanitized


def test_the_demo_conversation_is_what_it_promises() -> None:
    with as_file(files("infra.run.demo").joinpath("conversation.jsonl")) as path:
        parsed = read_path(path, max_characters=1_000_000)
    limits = Limits(max_message_characters=1_000, max_input_messages=100)
    values = inputs_of(parsed, "demo", Placement(timezone=TIMEZONE), limits=limits, zone="UTC", now=NOW)
    messages = [message for value in values for message in value.messages]
    texts = [message.text for message in messages]
    assert len(values) == 5
    assert len(messages) >= 40
    assert sum(bool(message.captions) for message in messages) >= 4
    assert sum("repaired the boathouse roof with Pip" in text for text in texts) == 2
    secrets = [
        secret
        for value in values
        for secret in sealed(build_input(value, limits=limits, default_timezone="UTC", now=NOW)[0])[1]
    ]
    assert len(secrets) == 1
