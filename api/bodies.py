"""Bodies of requests as JSON that has one meaning."""

import json
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute

REPEATED = "a name stands twice in one object"
NOT_A_NUMBER = "NaN and Infinity are no JSON"


class StrictRequest(Request):
    """A request whose JSON names nothing twice: which of two values was meant, no one can tell (RFC 8259, 4)."""

    async def json(self) -> Any:
        """The body. Raises json.JSONDecodeError; its message quotes nothing of the body."""
        return json.loads(await self.body(), object_pairs_hook=_object, parse_constant=_refuse_constant)


class StrictRoute(APIRoute):
    """The route class of routers that take a body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's own handler, over a strict request."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(StrictRequest(request.scope, request.receive))

        return handle


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise json.JSONDecodeError(REPEATED, "", 0)
    return found


def _refuse_constant(_name: str) -> NoReturn:
    raise json.JSONDecodeError(NOT_A_NUMBER, "", 0)
