"""Chat exports: JSON of role/content messages, alone, under `messages`, or as a list of conversations.

The two widespread exports are read as well: a `mapping` of nodes with `parent` links (the branch that ends in
`current_node` is the conversation), and `chat_messages` with `sender` and `text`.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from pydantic import AliasChoices, AliasPath, Field

from infra.run.formats.draft import Entry, Format, Parsed, Session
from infra.run.formats.rows import Row, checked
from infra.run.formats.source import Line, json_type, json_value, reject
from infra.run.formats.times import Moment

EXPECTED = 'a list of {"role": "user", "content": "…"}, {"messages": […]} or a list of such conversations'

TALK_ROLES = frozenset({"user", "assistant", "human", "model", "ai"})
"""Roles that take part in the talk where the export uses roles; any other speaker name is taken as it is."""

MACHINERY_ROLES = frozenset({"system", "developer", "tool", "function"})
"""Roles whose content is the program's, not the talk's; their messages are counted as skipped."""

MESSAGE_LISTS = ("messages", "chat_messages")

TURN_STEP = timedelta(seconds=1)
"""Messages without a time follow the conversation's own time in this step, so that their order is kept."""


class MessageRow(Row):
    """A message of any of the exports; an absent content is a message that only calls a tool."""

    role: str = Field("user", validation_alias=AliasChoices("role", "sender", AliasPath("author", "role"), "speaker"))
    content: object = Field(None, validation_alias=AliasChoices("content", "text"))
    sent_at: Moment | None = Field(
        None, validation_alias=AliasChoices("create_time", "created_at", "timestamp", "sent_at")
    )
    id: str = Field("", validation_alias=AliasChoices("id", "uuid"))


class ConversationRow(Row):
    """The head of a conversation."""

    id: str = Field("", validation_alias=AliasChoices("id", "conversation_id", "uuid"))
    title: str | None = Field(None, validation_alias=AliasChoices("title", "name"))
    create_time: Moment | None = Field(None, validation_alias=AliasChoices("create_time", "created_at"))
    current_node: str | None = None


def parse_chat(lines: Iterable[Line], name: str, *, stem: str) -> Parsed:
    """One session a conversation; the file is read whole, as JSON has no shorter unit."""
    value = json_value("\n".join(line.text for line in lines), name, where="", expected=EXPECTED)
    skipped: Counter[str] = Counter()
    sessions = tuple(
        _session(conversation, name, stem=stem, number=number, skipped=skipped)
        for number, conversation in enumerate(_conversations(value, name), start=1)
    )
    return Parsed(
        format=Format.CHAT,
        sessions=tuple(session for session in sessions if session.entries),
        skipped=tuple(sorted(skipped.items())),
    )


def _conversations(value: object, name: str) -> list[object]:
    if isinstance(value, dict) and isinstance(value.get("conversations"), list):
        return list(value["conversations"])
    if isinstance(value, dict):
        return [value]
    if not isinstance(value, list):
        reject(name, "", json_type(value), EXPECTED)
    return [{"messages": value}] if _are_messages(value) else value


def _are_messages(values: list[object]) -> bool:
    first = values[0] if values else None
    return isinstance(first, dict) and not any(key in first for key in (*MESSAGE_LISTS, "mapping"))


def _session(conversation: object, name: str, *, stem: str, number: int, skipped: Counter[str]) -> Session:
    where = f"conversation {number}"
    head = checked(ConversationRow, conversation, name, where=where, expected=EXPECTED)
    entries: list[Entry] = []
    for position, message in enumerate(_messages(conversation, head, name, where), start=1):
        place = f"{where}, message {position}"
        row = checked(MessageRow, message, name, where=place, expected=EXPECTED)
        text, captions = _content(row.content, name, place)
        reason = _skip_reason(row.role, text, captions)
        skipped.update([reason] if reason else [])
        if not reason:
            sent_at = row.sent_at or _step(head.create_time, len(entries))
            entries.append(
                Entry(where=place, speaker=row.role, text=text, sent_at=sent_at, id=row.id, captions=captions)
            )
    session_id = head.id or (stem if number == 1 else f"{stem}-{number}")
    return Session(id=session_id, title=head.title or "", entries=tuple(entries))


def _step(start: datetime | None, index: int) -> datetime | None:
    return start + index * TURN_STEP if start else None


def _skip_reason(role: str, text: str, captions: tuple[str, ...]) -> str:
    """Why a message is no part of the talk, or empty."""
    if role in MACHINERY_ROLES:
        return f"{role} messages"
    if role in TALK_ROLES and not text.strip() and not captions:
        return "messages without text"
    return ""


def _messages(conversation: object, head: ConversationRow, name: str, where: str) -> list[object]:
    assert isinstance(conversation, dict)  # noqa: S101 - ConversationRow was made of it
    for key in MESSAGE_LISTS:
        if isinstance(conversation.get(key), list):
            return list(conversation[key])
    mapping = conversation.get("mapping")
    if isinstance(mapping, dict):
        return _branch(mapping, head.current_node)
    return reject(name, where, "no list of messages", EXPECTED)


def _branch(mapping: dict[str, object], current: str | None) -> list[object]:
    """The messages from the root to the current node (the last one listed, where none is named)."""
    node_id = current if current in mapping else next(reversed(mapping), None)
    branch: list[object] = []
    seen: set[str] = set()
    while node_id in mapping and node_id not in seen:
        seen.add(node_id)
        node = mapping[node_id]
        if not isinstance(node, dict):
            break
        if node.get("message") is not None:
            branch.append(node["message"])
        parent = node.get("parent")
        node_id = parent if isinstance(parent, str) else None
    return branch[::-1]


def _content(content: object, name: str, where: str) -> tuple[str, tuple[str, ...]]:
    """Text and image captions of a content: a string, a list of parts, or an object with `parts`."""
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        content = content["parts"]
    if content is None:
        return "", ()
    if isinstance(content, str):
        return content, ()
    if not isinstance(content, list):
        reject(name, where, f"content is {json_type(content)}", "a string or a list of parts")
    texts = [text for part in content if (text := _part_text(part))]
    captions = tuple(caption for part in content if (caption := _part_caption(part)))
    return "\n".join(texts), captions


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, dict) else None
    return text if isinstance(text, str) else ""


def _part_caption(part: object) -> str:
    """What an image part says of its image; an image without words leaves the fact that there was one."""
    if not isinstance(part, dict) or "image" not in str(part.get("type") or part.get("content_type") or ""):
        return ""
    said = part.get("caption") or part.get("alt") or part.get("alt_text")
    return said if isinstance(said, str) and said.strip() else "an image"
