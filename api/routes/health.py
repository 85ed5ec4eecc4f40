"""Is the process alive, and can it serve?"""

from collections.abc import Awaitable

from fastapi import APIRouter, Response

from api import examples
from api.documentation import errors, example
from api.parameters import ServicesDep
from api.views import HealthView, ReadyView
from domain.errors import Unavailable

router = APIRouter(tags=["health"])

PROBE = "readyz"
"""A user that has no data: the stores are asked about it."""


@router.get("/healthz", summary="Is it alive?", responses=errors(500) | example(200, examples.HEALTHY, "It is."))
async def healthz() -> HealthView:
    """The process answers."""
    return HealthView(status="ok")


@router.get(
    "/readyz",
    summary="Is it ready?",
    responses={
        **errors(500),
        **example(200, examples.READY, "It is."),
        503: {"model": ReadyView, **example(503, examples.NOT_READY, "The evidence plane can't be read.")[503]},
    },
)
async def readyz(services: ServicesDep, response: Response) -> ReadyView:
    """Whether the evidence plane can be read. The graph's state is told too; without it the service still serves."""
    parts = {
        "evidence": await _state(services.records.page(PROBE, limit=1)),
        "graph": await _state(services.graph.counts(PROBE)),
    }
    ready = parts["evidence"] == "ok"
    if not ready:
        response.status_code = 503
    return ReadyView(ready=ready, parts=parts)


async def _state(read: Awaitable[object]) -> str:
    try:
        await read
    except Unavailable as error:
        return error.type
    return "ok"
