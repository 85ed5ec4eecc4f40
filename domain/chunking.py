"""Cutting an input into chunks, the unit of routing, writing and of Dream's frontier (design 3)."""

import re
import unicodedata
from collections.abc import Iterator
from uuid import UUID

from domain.jobs import chunk_id
from domain.memory import Chunk, Message, NewInput, Turn

_PARAGRAPH = re.compile(r"\n\s*\n\s*")
_SENTENCE = re.compile(r"(?:[.!?…]+[\"'”’)\]]*\s+|[。！？｡]+[」』”’）]*\s*|[।॥؟۔።]+\s*|\n+)")
_SPACE = re.compile(r"\s+")
_BOUNDARIES = (_PARAGRAPH, _SENTENCE, _SPACE)
"""Where a long message may be cut, best first."""


def cut(job_id: UUID, new: NewInput, *, characters: int, turns: int, previous: Message | None) -> tuple[Chunk, ...]:
    """The chunks of an input, the same on every call.

    A chunk has at most `turns` turns and `characters` characters; captions count too, but are never cut. A longer
    message becomes several turns of its id. The texts of the turns, in order, are the texts of the messages, and each
    turn's `offset` is its place in its message. `previous` is the session's last message before this input;
    `Chunk.previous` is the turn just before the chunk.
    """
    parts = [turn for message in new.messages for turn in _turns(message, characters)]
    speakers = tuple(dict.fromkeys(message.speaker for message in new.messages if message.speaker))
    before = list(_turns(previous, characters))[-1] if previous is not None else None
    chunks = []
    for ordinal, group in enumerate(_groups(parts, characters, turns)):
        chunks.append(
            Chunk(
                id=chunk_id(job_id, ordinal),
                input_id=job_id,
                user_id=new.user_id,
                session_id=new.session_id,
                ordinal=ordinal,
                form=new.form,
                title=new.title,
                timezone=new.timezone,
                turns=group,
                previous=before,
                speakers=speakers,
            )
        )
        before = group[-1]
    return tuple(chunks)


def _groups(parts: list[Turn], characters: int, turns: int) -> Iterator[tuple[Turn, ...]]:
    group: list[Turn] = []
    size = 0
    for turn in parts:
        weight = len(turn.text) + sum(map(len, turn.captions))
        if group and (len(group) >= turns or size + weight > characters):
            yield tuple(group)
            group, size = [], 0
        group.append(turn)
        size += weight
    if group:
        yield tuple(group)


def _turns(message: Message, characters: int) -> Iterator[Turn]:
    start = 0
    while start < len(message.text) or start == 0:
        end = _end(message.text, start, characters)
        yield Turn(
            id=message.id,
            speaker=message.speaker,
            text=message.text[start:end],
            captions=message.captions if start == 0 else (),
            at=message.sent_at,
            offset=start,
        )
        if end >= len(message.text):
            return
        start = end


def _end(text: str, start: int, characters: int) -> int:
    """Where the part that starts at `start` ends: the last best boundary in the second half of what fits."""
    limit = start + characters
    if limit >= len(text):
        return len(text)
    for boundary in _BOUNDARIES:
        ends = [match.end() for match in boundary.finditer(text, start, limit)]
        if ends and ends[-1] > start + characters // 2:
            return ends[-1]
    return _between_letters(text, start, limit)


def _between_letters(text: str, start: int, limit: int) -> int:
    """The last place at or before `limit` that parts no letter from its marks; `limit` if there is none."""
    for at in range(limit, start, -1):
        if unicodedata.category(text[at])[0] != "M" and "\u200d" not in text[at - 1 : at + 1]:
            return at
    return limit
