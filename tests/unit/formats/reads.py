"""Reading bytes as a file of a given name."""

from io import BytesIO

from infra.run.formats.draft import Format, Parsed
from infra.run.formats.reading import read


def parse(content: str | bytes, name: str = "talk.jsonl", form: Format | None = None, *, limit: int = 1_000) -> Parsed:
    """What `reverie ingest` would parse."""
    raw = content.encode() if isinstance(content, str) else content
    return read(BytesIO(raw), name, form, max_characters=limit)
