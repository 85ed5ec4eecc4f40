"""What text the evidence plane can hold, and whether there are words in it."""

import re

_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"
"""Stands in place of a lone surrogate, which UTF-8 cannot encode."""


def storable(text: str) -> tuple[str, bool]:
    """The text without C0 controls (tab and line ends stay) and lone surrogates, and whether that changed it.

    The result encodes to UTF-8 and Postgres takes it as `text`.
    """
    clean = _SURROGATE.sub(REPLACEMENT, _UNSTORABLE.sub("", text))
    return clean, clean != text


def has_words(text: str) -> bool:
    """Whether any character is a letter of any script."""
    return any(character.isalpha() for character in text)


def words(table: str) -> tuple[str, ...]:
    """The words of a table written as running text."""
    return tuple(table.split())
