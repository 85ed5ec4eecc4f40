"""What the OpenAPI document says of each route beside its types: errors by status, and an example of the answer."""

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts

from api.views import ErrorBody, ErrorView
from domain.errors import InvalidInput, MergeConflict, NotFound, RequestConflict, ReverieError, StoreUnavailable

Answers = dict[int | str, dict[str, Any]]

_ERRORS: Mapping[int, tuple[str, ErrorBody]] = {
    400: (
        "The body can't be read as text.",
        ErrorBody(type=InvalidInput.type, message="the body can't be read", retryable=False),
    ),
    404: (
        "No such thing for this user, whether it is absent or another user's.",
        ErrorBody(type=NotFound.type, message="no such frame", retryable=False),
    ),
    409: (
        "The `Idempotency-Key` was used before with another body.",
        ErrorBody(type=RequestConflict.type, message="the request id was used with another body", retryable=False),
    ),
    413: (
        "The body is larger than the limit.",
        ErrorBody(type="too_large", message="the body is larger than the limit", retryable=False),
    ),
    422: (
        "A parameter or a field is not valid; the message says which, and nothing was done.",
        ErrorBody(type=InvalidInput.type, message="messages[0].text: Field required", retryable=False),
    ),
    500: (
        "A fault of the service; what it was is in its log.",
        ErrorBody(type=ReverieError.type, message="internal error", retryable=False),
    ),
    503: (
        "The database, the graph, the workflow server or the model can't be reached; `Retry-After` has seconds.",
        ErrorBody(type=StoreUnavailable.type, message="the database failed: OperationalError", retryable=True),
    ),
}


def errors(*statuses: int) -> Answers:
    """The errors a route may answer with, each with an example."""
    return {status: _error(*_ERRORS[status]) for status in statuses}


def _error(description: str, body: ErrorBody) -> dict[str, Any]:
    example = ErrorView(error=body).model_dump(mode="json")
    return {
        "model": ErrorView,
        "description": description,
        "content": {"application/json": {"examples": {body.type: {"value": example}}}},
    }


def example(status: int, value: Mapping[str, Any], description: str = "Done.") -> Answers:
    """An answer by example."""
    content = {"application/json": {"examples": {"one": {"value": dict(value)}}}}
    return {status: {"description": description, "content": content}}


class DocumentedApp(FastAPI):
    """An application whose examples of answers keep their nulls, which FastAPI takes out with those of the document."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        document = super().openapi()
        for context in iter_route_contexts(self.routes):
            route = context.original_route
            if not isinstance(route, APIRoute) or context.path not in document["paths"]:
                continue
            for method in route.methods or ():
                told = document["paths"][context.path][method.lower()]["responses"]
                for status, answer in route.responses.items():
                    told[str(status)].get("content", {}).update(_with_schema(told[str(status)], answer))
        return document


def _with_schema(told: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    return {kind: {**told["content"][kind], **shown} for kind, shown in answer.get("content", {}).items()}


ONE = errors(404, 422, 500, 503)
"""Errors of a route that names one thing."""

MANY = errors(422, 500, 503)
"""Errors of a route that lists things."""

BODY = errors(400, 413, 422, 500, 503)
"""Errors of a route that takes a body."""

MERGE_CONFLICT: Answers = {
    409: _error(
        "The pair does not wait for this decision, or its consolidation has ended.",
        ErrorBody(
            type=MergeConflict.type, message="the pair does not wait for this decision: it is merged", retryable=False
        ),
    )
}
"""Of a decision that comes too late."""
