"""The outermost layer of the HTTP API: a cap on bodies, and no exception text on the wire or in a log."""

import logging
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.failures import error_response

logger = logging.getLogger(__name__)


class Edge:
    """ASGI middleware. A body over `max_body_bytes` ends in 413, anything unforeseen in a 500 that names no cause.

    What went wrong is logged by the type of the exception alone: its text may hold memory text (invariant 7).
    """

    def __init__(self, app: ASGIApp, *, max_body_bytes: int) -> None:
        self._app = app
        self._limit = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything but HTTP requests through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, self._counted(scope, receive), watched)
        except Exception as error:  # noqa: BLE001 - the edge: nothing above could answer in our shape
            logger.error("request failed: %s", type(error).__name__)
            if not started:
                response = error_response(500, "internal", "internal error", retryable=False)
                await response(scope, receive, send)

    def _counted(self, scope: MutableMapping[str, Any], receive: Receive) -> Receive:
        declared = Headers(scope=scope).get("content-length", "")
        total = int(declared) if declared.isascii() and declared.isdigit() and len(declared) < 20 else 0
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            if total > self._limit:
                raise HTTPException(413)
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                raise HTTPException(413)
            return message

        return counted
