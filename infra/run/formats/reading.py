"""Reading a file: check that it is text, find its format, parse it."""

from io import BytesIO
from pathlib import Path, PurePath
from typing import BinaryIO

from domain.errors import InvalidInput
from domain.intake import MAX_ID_CHARACTERS
from infra.run.formats.chat import parse_chat
from infra.run.formats.detect import detect
from infra.run.formats.documents import parse_document
from infra.run.formats.draft import Format, Parsed
from infra.run.formats.locomo import parse_locomo
from infra.run.formats.messages import parse_messages
from infra.run.formats.source import HEAD_BYTES, check_text, lines_of


def read_path(path: Path, form: Format | None = None, *, max_characters: int) -> Parsed:
    """Parse a file on disk. Raises InvalidInput, also when it can't be opened."""
    try:
        with path.open("rb") as file:
            return read(file, path.name, form, max_characters=max_characters)
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror or type(error).__name__}") from error


def read(file: BinaryIO, name: str, form: Format | None = None, *, max_characters: int) -> Parsed:
    """Parse an open file; `form` overrides its content, `max_characters` bounds a document's entries."""
    head = file.read(HEAD_BYTES)
    if file.seekable():
        file.seek(0)
    else:
        file = BytesIO(head + file.read())
    check_text(head, name)
    lines, stem = lines_of(file, name), _session_name(name)
    match form or detect(head.decode("utf-8-sig", "ignore"), name):
        case Format.LOCOMO:
            return parse_locomo(lines, name)
        case Format.MESSAGES:
            return parse_messages(lines, name, stem=stem)
        case Format.CHAT:
            return parse_chat(lines, name, stem=stem)
        case document:
            return parse_document(lines, document, stem=stem, limit=max_characters)


def _session_name(name: str) -> str:
    """The session of entries that name none: the file's name, fit for an id."""
    stem = "".join(character for character in PurePath(name).stem if character.isprintable())
    return stem[:MAX_ID_CHARACTERS].strip() or "file"
