"""From bytes to numbered lines of text: UTF-8 with or without a byte-order mark, any line ending; errors say where."""

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

from domain.errors import InvalidInput

HEAD_BYTES = 65_536
"""How much of a file the check for binary content and the detection of its format look at."""

MAX_CONTROL_SHARE = 0.1
"""A head with more control characters than this is no text; a stray NUL in scanned text stays far below."""

_TEXT_CONTROLS = frozenset(b"\t\n\r\f\x1b")
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Line:
    """A line without its ending; `number` counts from 1."""

    number: int
    text: str

    @property
    def where(self) -> str:
        """Its place, for error messages."""
        return f"line {self.number}"


def reject(name: str, where: str, problem: str, expected: str = "") -> NoReturn:
    """Raise InvalidInput that names the file and the place in it, what is wrong there and what was expected."""
    place = f"{name}, {where}" if where else name
    raise InvalidInput(f"{place}: {problem}" + (f"; expected {expected}" if expected else ""))


def check_text(head: bytes, name: str) -> None:
    """Refuse a head that is empty or is not text at all, before anything is decoded."""
    if head.startswith(_WIDE_MARKS):
        reject(name, "", "not UTF-8 (a UTF-16 byte-order mark at byte 0)", "a text file saved as UTF-8")
    controls = sum(byte < 0x20 and byte not in _TEXT_CONTROLS for byte in head)
    if controls > MAX_CONTROL_SHARE * len(head):
        reject(name, "", f"a binary file ({controls} control characters in the first {len(head)} bytes)", "a text file")
    if not head.removeprefix(codecs.BOM_UTF8).strip():
        reject(name, "", "the file is empty: there is nothing to ingest")


def lines_of(file: BinaryIO, name: str) -> Iterator[Line]:
    """The lines of a file, streaming. Raises InvalidInput with the offset of the first byte that is not UTF-8."""
    offset = 0
    for number, raw in enumerate(file, start=1):
        body = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError as error:
            at = offset + len(raw) - len(body) + error.start
            raise InvalidInput(f"{name}, line {number}: not UTF-8 at byte {at}; save the file as UTF-8") from error
        yield Line(number, text.rstrip("\r\n"))
        offset += len(raw)


def json_object(line: Line, name: str, *, expected: str) -> dict[str, object]:
    """The JSON object of a line."""
    value = json_value(line.text, name, where=line.where, expected=expected)
    if not isinstance(value, dict):
        reject(name, line.where, f"{json_type(value)}, not an object", expected)
    return value


def json_value(text: str, name: str, *, where: str, expected: str) -> object:
    """Any JSON value; what can't be read (also too deep, or a number of thousands of digits) is InvalidInput."""
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        place = where or f"line {error.lineno}"
        raise InvalidInput(
            f"{name}, {place}: not JSON ({error.msg}, column {error.colno}); expected {expected}"
        ) from error
    except (ValueError, RecursionError) as error:
        place = where or "line 1"
        raise InvalidInput(f"{name}, {place}: unreadable JSON ({type(error).__name__}); expected {expected}") from error
    return value


def json_type(value: object) -> str:
    """What a JSON value is called in an error message."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
