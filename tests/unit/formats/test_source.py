"""Bytes that are no text, and where they say so."""

import gzip

import pytest

from domain.errors import InvalidInput
from infra.run.formats.draft import Format
from tests.unit.formats.reads import parse


@pytest.mark.parametrize("content", [b"", b"\n\n  \r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf \n"])
@pytest.mark.parametrize("form", [None, *Format])
def test_an_empty_file_is_refused_whatever_its_format(content: bytes, form: Format | None) -> None:
    with pytest.raises(InvalidInput, match="file is empty"):
        parse(content, form=form)


@pytest.mark.parametrize(
    "content", [bytes(range(256)) * 8, gzip.compress(b"text" * 999, mtime=0), b"\x89PNG\r\n\x1a\n" + bytes(64)]
)
def test_a_binary_file_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"binary file|not UTF-8"):
        parse(content, "picture.png")


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_refused(codec: str) -> None:
    with pytest.raises(InvalidInput, match=r"UTF-16|binary"):
        parse("A short text.\n".encode(codec), "notes.txt")


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_not_utf_8_names_line_and_byte(bom: bytes) -> None:
    content = bom + "Grüße\n".encode() + b"caf\xe9\n"
    with pytest.raises(InvalidInput, match=rf"notes.txt, line 2: not UTF-8 at byte {content.index(0xE9)}"):
        parse(content, "notes.txt")


def test_a_stray_nul_is_no_binary_file() -> None:
    (session,) = parse("a long scanned line with one \0 in it\n", "scan.txt").sessions
    assert "\0" in session.entries[0].text
