"""Errors as HTTP answers: one shape for all, never an exception's text that was not written for the caller."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from api.bodies import NOT_A_NUMBER, REPEATED
from api.views import ErrorBody, ErrorView
from domain.errors import (
    ConsolidationEnded,
    InvalidInput,
    MergeConflict,
    ModelUnavailable,
    NotFound,
    RequestConflict,
    ReverieError,
    Unavailable,
)

MAX_PROBLEMS = 5
"""Invalid fields named in one answer."""

DEFAULT_RETRY_SECONDS = 1.0

_STATUS: tuple[tuple[type[ReverieError], int], ...] = (
    (InvalidInput, 422),
    (NotFound, 404),
    (RequestConflict, 409),
    (MergeConflict, 409),
    (ConsolidationEnded, 409),
    (Unavailable, 503),
    (ModelUnavailable, 503),
)

_HTTP: Mapping[int, tuple[str, str]] = {
    400: ("invalid_input", "the body can't be read"),
    404: ("not_found", "no such path"),
    405: ("method_not_allowed", "the path does not take this method"),
    413: ("too_large", "the body is larger than the limit"),
}

_SILENT = ("value_error", "assertion_error", "union_tag_invalid", "union_tag_not_found")
"""Validation errors whose message may repeat what was sent."""


def error_response(
    status: int, kind: str, message: str, *, retryable: bool, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """The one shape of an error."""
    view = ErrorView(error=ErrorBody(type=kind, message=message, retryable=retryable))
    return JSONResponse(view.model_dump(mode="json"), status_code=status, headers=dict(headers or {}))


def install(app: FastAPI) -> None:
    """Answer every foreseen error in the one shape; the edge answers the rest."""
    app.add_exception_handler(ReverieError, _reverie)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


async def _reverie(_request: Request, error: Exception) -> JSONResponse:
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    if status == 500 or not isinstance(error, ReverieError):
        return error_response(500, "internal", "internal error", retryable=False)
    headers = {}
    if status == 503:
        headers["Retry-After"] = str(math.ceil(error.retry_after or DEFAULT_RETRY_SECONDS))
    return error_response(status, error.type, error.message, retryable=error.retryable, headers=headers)


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    told = [problem(found) for found in problems[:MAX_PROBLEMS]]
    if len(problems) > MAX_PROBLEMS:
        told.append(f"and {len(problems) - MAX_PROBLEMS} more")
    return error_response(422, InvalidInput.type, "; ".join(told) or "invalid request", retryable=False)


async def _http(_request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    kind, message = _HTTP.get(status, ("invalid_input" if status < 500 else "internal", f"HTTP {status}"))
    headers = error.headers if isinstance(error, HTTPException) else None
    return error_response(status, kind, message, retryable=status == 503, headers=headers)


def problem(found: Mapping[str, Any]) -> str:
    """Where and what, without what was sent: `messages[3].text: Field required`."""
    kind = str(found.get("type", ""))
    place = list(found.get("loc", ()))
    if kind == "json_invalid":
        told = found.get("ctx", {}).get("error")
        return f"body: {told if told in (REPEATED, NOT_A_NUMBER) else 'not valid JSON'}"
    if kind == "extra_forbidden":
        return f"{path(place[:-1])}: unknown field"
    message = "is not valid" if kind in _SILENT else str(found.get("msg", "is not valid"))
    return f"{path(place)}: {message.split(', invalid')[0].split(', found')[0]}"


def path(place: Sequence[object]) -> str:
    """`("body", "messages", 3, "text")` as `messages[3].text`; what is no field of ours is left out."""
    written = ""
    for part in place[1:] if place and place[0] in ("body", "query", "path", "header") else place:
        written += f"[{part}]" if isinstance(part, int) else f".{part}" if written else str(part)
    return written or "body"
