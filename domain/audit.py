"""The deterministic audit of an extraction, and the union with its one repair (paper A.2; design 3.3)."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from domain.frames import render
from domain.keys import content_tokens
from domain.memory import Extraction, Record, Turn
from domain.numerals import number_values

MAX_REPAIR_ITEMS = 12
"""Missing items sent to one repair call at most (paper A.2)."""
VISUAL_COVERAGE = 0.45
"""Share of the visual content words that frames must cover (paper A.2)."""
MAX_ITEM_CHARACTERS = 200
"""Longer items are cut: a repair call is bounded."""

_QUOTES = re.compile(
    r"\"([^\"\n]{2,400})\"|“([^”\n]{2,400})”|«([^»\n]{2,400})»|「([^」\n]{1,400})」|『([^』\n]{1,400})』|"
    r"‘([^’\n]{2,400})’(?!\w)|(?<!\w)'([^'\n]{2,400})'(?!\w)"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"(?i)\b(?:\d{{4}}-\d{{2}}(?:-\d{{2}})?(?:T[\d:.+Z-]+)?|\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}"
    rf"|{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}})?|{_MONTH}\s+{_DAY}(?!\d)(?:,?\s+\d{{4}})?|{_MONTH},?\s+\d{{4}}"
    r"|(?:19|20)\d\d(?![\d.,:-]*\d)|\d{4}年(?:\d{1,2}月(?:\d{1,2}日)?)?|\d{1,2}月\d{1,2}日)"
)
_NUMBER = re.compile(
    r"(?i)[$€£¥₹]?\s?\d+(?:[.,:/]\d+)*\s?%?(?:[ -]?[^\W\d_]+)?|\b(?:two|three|four|five|six|seven|eight|nine|ten|"
    r"eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?|hundred|"
    r"thousand|million|dozen)\b(?:[ -][^\W\d_]+)?"
)
_PLACEHOLDER = re.compile(r"\[vault:[^\]]*\]")


class _Covered(NamedTuple):
    """What the rendered frames say: content words and number values."""

    words: frozenset[str]
    numbers: frozenset[str]


def missing_items(record: Record, turns: Sequence[Turn], extraction: Extraction) -> tuple[str, ...]:
    """What the source says and no frame covers: quotes, numbers, images, then dates; at most MAX_REPAIR_ITEMS.

    The source is the record's text with the spans of the turns it cites, and the captions of these turns. A missing
    date alone is no reason for a repair: a result of nothing but dates is empty instead. Vault placeholders are no part
    of the source.
    """
    covered = _covered(extraction)
    cited = _cited(record, turns)
    source = _PLACEHOLDER.sub(" ", "\n".join((record.title, record.text, *_spans(record, cited))))
    undated = _DATE.sub(" ", source)
    wanted = [*_missing_quotes(source, covered), *_missing_numbers(undated, covered), *_missing_images(cited, covered)]
    if not wanted:
        return ()
    items = dict.fromkeys(_item(text) for text in (*wanted, *_missing_dates(source, covered)))
    return tuple(items)[:MAX_REPAIR_ITEMS]


def united(primary: Extraction, added: Extraction) -> Extraction:
    """The first extraction with what a repair adds: nothing of it is removed or changed (paper A.2)."""
    return Extraction(
        entities=(*primary.entities, *(entity for entity in added.entities if entity not in primary.entities)),
        frames=(*primary.frames, *(frame for frame in added.frames if frame not in primary.frames)),
    )


def _covered(extraction: Extraction) -> _Covered:
    lines = [
        render(
            frame.predicate,
            ((arm.role, arm.name) for arm in frame.arms),
            frame.literals,
            event_time=frame.event_time,
            status=frame.status,
            negated=frame.negated,
        )
        for frame in extraction.frames
    ]
    text = "\n".join(lines)
    return _Covered(words=frozenset(content_tokens(text)), numbers=number_values(text))


def _cited(record: Record, turns: Sequence[Turn]) -> tuple[Turn, ...]:
    ids = {source.turn_id for source in record.sources}
    return tuple(turn for turn in turns if not ids or turn.id in ids)


def _spans(record: Record, turns: Sequence[Turn]) -> Iterator[str]:
    """The cited parts of turns; a citation without a span is of a whole turn, which holds other records' matter too."""
    for source in record.sources:
        if source.start is None or source.end is None:
            continue
        for turn in turns:
            if turn.id == source.turn_id:
                yield turn.text[max(source.start - turn.offset, 0) : max(source.end - turn.offset, 0)]


def _missing_quotes(source: str, covered: _Covered) -> Iterator[str]:
    for match in _QUOTES.finditer(source):
        quote = next(filter(None, match.groups()))
        words = content_tokens(quote)
        if words and not covered.words.issuperset(words):
            yield quote


def _missing_numbers(source: str, covered: _Covered) -> Iterator[str]:
    for match in _NUMBER.finditer(source):
        if not number_values(match[0]) <= covered.numbers:
            yield match[0]


def _missing_images(turns: Sequence[Turn], covered: _Covered) -> Iterator[str]:
    captions = tuple(_PLACEHOLDER.sub(" ", caption) for turn in turns for caption in turn.captions)
    words = frozenset(word for caption in captions for word in content_tokens(caption))
    if words and len(words & covered.words) < VISUAL_COVERAGE * len(words):
        for caption in captions:
            if not covered.words.issuperset(content_tokens(caption)):
                yield f"image: {caption}"


def _missing_dates(source: str, covered: _Covered) -> Iterator[str]:
    for match in _DATE.finditer(source):
        if not number_values(match[0]) <= covered.numbers:
            yield match[0]


def _item(text: str) -> str:
    return " ".join(text.split())[:MAX_ITEM_CHARACTERS]
