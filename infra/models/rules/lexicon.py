"""The word lists of the rules model, read once from the package's data."""

from functools import lru_cache
from importlib import resources


@lru_cache(maxsize=1)
def _sections() -> dict[str, frozenset[str]]:
    words: dict[str, set[str]] = {}
    section = ""
    text = (resources.files(__package__) / "data" / "lexicon.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[] ").replace("_", " ")
            words[section] = set()
        elif not line.startswith("#"):
            words.setdefault(section, set()).update(word.replace("_", " ") for word in line.split())
    return {name: frozenset(values) for name, values in words.items()}


def words(section: str) -> frozenset[str]:
    """The words of a section of `data/lexicon.txt`, lower case."""
    return _sections()[section]


def text() -> str:
    """The whole data file: part of the rules' version hash."""
    return (resources.files(__package__) / "data" / "lexicon.txt").read_text(encoding="utf-8")
