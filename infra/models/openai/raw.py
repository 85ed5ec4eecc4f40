"""The content of a chat completion, made fit for a JSON parser."""

import re

from domain.text import REPLACEMENT, storable

_ESCAPE = re.compile(
    r"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\."
)


def json_part(content: str) -> str:
    """The outermost JSON object of a content, without thoughts, fences or prose around it and without lone surrogates.

    Endpoints that ignore `response_format` wrap the object. A content without one is given back as it is, for the
    parser to refuse.
    """
    answer = content.rpartition("</think>")[2]
    start, end = answer.find("{"), answer.rfind("}")
    part = answer[start : end + 1] if 0 <= start < end else answer
    clean, _ = storable(_ESCAPE.sub(_mended, part))
    return clean


def _mended(match: re.Match[str]) -> str:
    return REPLACEMENT if match["lone"] else match[0]
