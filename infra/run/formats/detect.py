"""Which format a file has, by its content; the name decides only between plain text and Markdown."""

import json
from pathlib import PurePath

from infra.run.formats.documents import HEADING
from infra.run.formats.draft import Format

MARKDOWN_SUFFIXES = frozenset({".md", ".markdown", ".mdown"})

LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})

LOCOMO_TYPES = frozenset({"conversation", "session", "turn", "qa"})

JSON_SUFFIXES = frozenset({".json", *LINE_SUFFIXES})
"""A file named so is meant as JSON: a broken one is an error, not a text."""


def detect(head: str, name: str) -> Format:
    """The format of a file that starts with `head` (decoded, without byte-order mark; its last line may be cut off)."""
    suffix = PurePath(name).suffix.casefold()
    first = head.lstrip()
    if first[:1] in ("{", "["):
        found = _json_format(first, suffix)
        if found:
            return found
    if suffix in JSON_SUFFIXES:
        return Format.CHAT if suffix == ".json" else Format.MESSAGES
    if suffix in MARKDOWN_SUFFIXES or any(HEADING.fullmatch(line) for line in head.split("\n")[:20]):
        return Format.MARKDOWN
    return Format.TEXT


def _json_format(text: str, suffix: str) -> Format | None:
    """JSONL if the first line is an object by itself, else a JSON document; None if it is neither ("[sic] …")."""
    line = text.split("\n", 1)[0]
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        if suffix in LINE_SUFFIXES:
            return Format.MESSAGES
        rest = text[1:].lstrip()
        return Format.CHAT if rest[:1] in ('"', "{", "[", "}", "]") else None
    if not isinstance(value, dict):
        return Format.CHAT
    if value.get("type") in LOCOMO_TYPES and "conversation_id" in value:
        return Format.LOCOMO
    chat = any(key in value for key in ("messages", "chat_messages", "conversations", "mapping"))
    return Format.CHAT if chat else Format.MESSAGES
