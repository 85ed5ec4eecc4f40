"""Plain text and Markdown: one document, cut between paragraphs only where it is longer than one message may be."""

import re
from collections.abc import Iterable, Iterator

from domain.memory import InputForm
from infra.run.formats.draft import Entry, Format, Parsed, Session
from infra.run.formats.source import Line

HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<title>.+?)\s*#*\s*")
"""An ATX heading of Markdown."""


def parse_document(lines: Iterable[Line], form: Format, *, stem: str, limit: int) -> Parsed:
    """A document as entries of at most `limit` characters; its title is the first heading of Markdown, else `stem`."""
    entries: list[Entry] = []
    title = ""
    for first, text in _pieces(lines, limit):
        title = title or (_heading(text) if form is Format.MARKDOWN else "")
        entries.append(Entry(where=f"line {first}", text=text))
    session = Session(id=stem, entries=tuple(entries), form=InputForm.DOCUMENT, title=title or stem)
    return Parsed(format=form, sessions=(session,))


def _heading(text: str) -> str:
    found = (HEADING.fullmatch(line) for line in text.split("\n"))
    return next((match["title"] for match in found if match), "")


def _pieces(lines: Iterable[Line], limit: int) -> Iterator[tuple[int, str]]:
    """Paragraphs joined up to the limit, with the number of their first line."""
    start, size, held = 1, 0, list[str]()
    for number, paragraph in _paragraphs(lines, limit):
        if held and size + len(paragraph) > limit:
            yield start, "".join(held)
            start, size, held = number, 0, []
        held.append(paragraph)
        size += len(paragraph)
    if "".join(held).strip():
        yield start, "".join(held)


def _paragraphs(lines: Iterable[Line], limit: int) -> Iterator[tuple[int, str]]:
    """Runs of lines with the blank ones after them, verbatim; one that is too long is cut at lines, then at spaces."""
    start, held, blank = 1, "", False
    for line in lines:
        if (blank and line.text.strip()) or len(held) + len(line.text) + 1 > limit:
            yield from ((start, part) for part in _cut(held, limit))
            start, held = line.number, ""
        held += line.text + "\n"
        blank = not line.text.strip()
    yield from ((start, part) for part in _cut(held, limit))


def _cut(text: str, limit: int) -> Iterator[str]:
    """A text in parts of at most `limit` characters, each cut after a space where there is one."""
    while len(text) > limit:
        space = text.rfind(" ", 1, limit) + 1
        yield text[: space or limit]
        text = text[space or limit :]
    if text:
        yield text
