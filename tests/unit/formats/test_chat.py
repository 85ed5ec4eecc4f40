"""Chat exports."""

import json
from datetime import UTC, datetime

import pytest

from domain.errors import InvalidInput
from infra.run.formats.draft import Format, Parsed
from tests.unit.formats.reads import parse

HELLO = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi, Ana"}]


def chat(value: object) -> Parsed:
    return parse(json.dumps(value, indent=1), "export.json")


@pytest.mark.parametrize(
    "value", [HELLO, {"messages": HELLO}, {"conversations": [{"messages": HELLO}]}, [{"messages": HELLO}]]
)
def test_every_nesting_gives_the_same_messages(value: object) -> None:
    parsed = chat(value)
    assert parsed.format is Format.CHAT
    (session,) = parsed.sessions
    assert session.id == "export"
    assert [(entry.speaker, entry.text) for entry in session.entries] == [("user", "Hello"), ("assistant", "Hi, Ana")]


def test_conversations_have_title_id_and_time() -> None:
    row = {"id": "c1", "title": "Trip", "create_time": 1741435200.5, "messages": HELLO}
    first, second = chat([row, {"messages": HELLO}]).sessions
    assert (first.id, first.title, second.id, second.title) == ("c1", "Trip", "export-2", "")
    assert [entry.sent_at for entry in first.entries] == [
        datetime(2025, 3, 8, 12, 0, 0, 500_000, tzinfo=UTC),
        datetime(2025, 3, 8, 12, 0, 1, 500_000, tzinfo=UTC),
    ]
    assert [entry.sent_at for entry in second.entries] == [None, None]


def test_parts_give_text_and_captions() -> None:
    parts = [
        {"type": "text", "text": "Look"},
        "at this",
        {"type": "image_url", "image_url": {"url": "data:"}, "alt": "a red skiff"},
        {"type": "image"},
    ]
    (session,) = chat([{"role": "user", "content": parts}]).sessions
    assert (session.entries[0].text, session.entries[0].captions) == ("Look\nat this", ("a red skiff", "an image"))


def test_what_is_no_talk_is_left_aside_and_counted() -> None:
    machinery = [{"role": "system", "content": "Be brief"}, {"role": "assistant", "content": None, "tool_calls": []}]
    parsed = chat([*machinery, *HELLO, {"role": "tool", "content": "42"}])
    assert len(parsed.sessions[0].entries) == 2
    assert dict(parsed.skipped) == {"system messages": 1, "messages without text": 1, "tool messages": 1}


def test_a_tree_of_nodes_gives_the_current_branch() -> None:
    def node(parent: str | None, role: str, text: str) -> dict[str, object]:
        content = {"content_type": "text", "parts": [text]}
        return {
            "parent": parent,
            "message": {"id": text, "author": {"role": role}, "content": content, "create_time": 1741435200},
        }

    mapping = {
        "root": {"parent": None, "message": None},
        "a": node("root", "user", "Hello"),
        "b1": node("a", "assistant", "dropped draft"),
        "b2": node("a", "assistant", "Hi"),
    }
    (session,) = chat([{"title": "t", "mapping": mapping, "current_node": "b2"}]).sessions
    assert [entry.text for entry in session.entries] == ["Hello", "Hi"]
    (latest,) = chat([{"mapping": mapping}]).sessions
    assert [entry.text for entry in latest.entries] == ["Hello", "Hi"]


def test_a_tree_that_bites_its_tail_ends() -> None:
    node = {"parent": "a", "message": {"author": {"role": "user"}, "content": "Hello"}}
    (session,) = chat([{"mapping": {"a": node}, "current_node": "a"}]).sessions
    assert len(session.entries) == 1


def test_sender_and_chat_messages() -> None:
    row = {
        "uuid": "c",
        "name": "Trip",
        "chat_messages": [{"sender": "human", "text": "Hello", "created_at": "2025-03-08T12:00:00Z"}],
    }
    (session,) = chat([row]).sessions
    assert (session.id, session.title, session.entries[0].speaker) == ("c", "Trip", "human")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"title": "t"}, "conversation 1: no list of messages"),
        ([{"messages": HELLO}, {"messages": 3}], "conversation 2: no list of messages"),
        ([{"messages": HELLO}, 3], "conversation 2: "),
        ([*HELLO, "x"], "conversation 1, message 3: "),
        ([*HELLO, {"role": "user", "content": 5}], "conversation 1, message 3: content is a number"),
        ([*HELLO, {"role": "user", "content": "a", "create_time": "soon"}], "conversation 1, message 3: create_time"),
    ],
)
def test_a_bad_message_is_named(value: object, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        chat(value)
    assert caught.value.message.startswith(f"export.json, {says}")


def test_broken_json_names_its_line() -> None:
    with pytest.raises(InvalidInput, match=r"export.json, line 3: not JSON"):
        parse('[\n{"role": "user",\n "content": }]', "export.json")
