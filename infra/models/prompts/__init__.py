"""Prompts: one Markdown file each, with front matter `id` and `version`, identified by the hash of the whole file.

A file holds the system message, then a line `<!-- user -->`, then the user message. `[[name]]` stands for a value.
Values are put in by a single pass, so a placeholder inside memory text is never filled.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from domain.errors import ConfigurationError

_FILE = re.compile(r"---\n(?P<head>.*?)\n---\n(?P<system>.*?)\n<!-- user -->\n(?P<user>.*)", re.DOTALL)
_HEAD_LINE = re.compile(r"(?P<key>[a-z]+): (?P<value>\S+)")
_PLACEHOLDER = re.compile(r"\[\[(?P<name>[a-z_]+)\]\]")


@dataclass(frozen=True)
class Prompt:
    """A prompt as shipped. `hash` is the SHA-256 of `text`, the file's content, in hexadecimal."""

    id: str
    version: str
    hash: str
    text: str
    system: str
    user: str

    def messages(self, values: Mapping[str, str]) -> list[dict[str, str]]:
        """The chat messages with the placeholders filled from `values`; KeyError if one has no value."""
        return [
            {"role": "system", "content": _fill(self.system, values)},
            {"role": "user", "content": _fill(self.user, values)},
        ]


@cache
def prompt(name: str) -> Prompt:
    """The prompt in `name`.md. Raises ConfigurationError if the file is missing or not of the form above."""
    try:
        text = resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigurationError(f"there is no prompt {name}") from error
    return parsed(name, text)


def parsed(name: str, text: str) -> Prompt:
    """Read a prompt file's text. Raises ConfigurationError if its front matter names another id or no version."""
    parts = _FILE.fullmatch(text)
    head = dict(_HEAD_LINE.findall(parts["head"])) if parts else {}
    if parts is None or head.get("id") != name or not head.get("version"):
        raise ConfigurationError(f"the prompt {name} is not a prompt file: it needs id, version and a user part")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Prompt(name, head["version"], digest, text, system=parts["system"].strip(), user=parts["user"].strip())


def _fill(template: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values[match["name"]], template)
