"""Plain text and Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.memory import InputForm
from infra.run.formats.draft import Format
from tests.unit.formats.reads import parse


def test_a_text_is_one_document_kept_verbatim() -> None:
    parsed = parse("One line.\n\n\n  Another  line.\n", "notes.txt")
    assert parsed.format is Format.TEXT
    (session,) = parsed.sessions
    assert (session.id, session.title, session.form) == ("notes", "notes", InputForm.DOCUMENT)
    assert [entry.text for entry in session.entries] == ["One line.\n\n\n  Another  line.\n"]


def test_the_first_heading_is_the_title() -> None:
    (session,) = parse("intro\n\n## The boat ##\n\ntext\n\n# Later\n", "boat.md").sessions
    assert session.title == "The boat"


def test_crlf_becomes_a_plain_line_end() -> None:
    (session,) = parse("a\r\n\r\nb", "notes.txt").sessions
    assert session.entries[0].text == "a\n\nb\n"


def test_a_long_document_is_cut_between_paragraphs() -> None:
    paragraphs = [f"Paragraph {number}. " + "word " * 30 for number in range(20)]
    (session,) = parse("\n\n".join(paragraphs), "long.txt", limit=500).sessions
    assert len(session.entries) > 1
    assert all(len(entry.text) <= 500 and entry.text.startswith("Paragraph") for entry in session.entries)
    assert [entry.where for entry in session.entries][:2] == ["line 1", "line 7"]


def test_a_megabyte_without_a_line_end_is_cut_at_spaces() -> None:
    text = "word " * 300_000
    (session,) = parse(text, "wall.txt", limit=200_000).sessions
    assert all(len(entry.text) <= 200_000 for entry in session.entries)
    assert "".join(entry.text for entry in session.entries).rstrip("\n") == text
    assert all(entry.text.endswith((" ", "\n")) for entry in session.entries)


@given(st.text(alphabet="ab \n", min_size=1, max_size=200).filter(str.strip), st.integers(3, 40))
def test_cutting_loses_nothing_but_blank_ends(text: str, limit: int) -> None:
    """Law: the parts put together are the file's text, and no part is longer than the limit."""
    (session,) = parse(text, "any.txt", Format.TEXT, limit=limit).sessions
    joined = "".join(entry.text for entry in session.entries)
    assert joined.split() == text.split()
    assert all(len(entry.text) <= limit for entry in session.entries)


@pytest.mark.parametrize(
    ("content", "name", "form"),
    [
        ("plain words", "a.txt", Format.TEXT),
        ("plain words", "a.md", Format.MARKDOWN),
        ("# Title\n\ntext", "README", Format.MARKDOWN),
        ("[sic] he wrote", "a.txt", Format.TEXT),
        ("{unclear} he wrote", "a.txt", Format.TEXT),
        ('{"text": "a"}\n{"text": "b"}', "a.txt", Format.MESSAGES),
        ('{"type": "session", "conversation_id": "c", "session": 1, "date_iso": "2023-05-08"}', "x", Format.LOCOMO),
        ('{"type": "note", "text": "a"}', "x", Format.MESSAGES),
        ('[\n  {"role": "user", "content": "a"}\n]', "x", Format.CHAT),
        ('{\n  "messages": [{"role": "user", "content": "a"}]\n}', "x", Format.CHAT),
        ('{"text": "' + "long " * 50_000 + '"}', "x.jsonl", Format.MESSAGES),
    ],
)
def test_the_content_decides_the_format(content: str, name: str, form: Format) -> None:
    assert parse(content, name, limit=1_000_000).format is form
