"""The HTTP application: routes, errors and limits around the services."""

from importlib.metadata import version

from fastapi import FastAPI

from api import failures
from api.edge import Edge
from api.routes import graph, health, jobs, memories, search
from api.services import Services
from api.views import ErrorView

MAX_BODY_BYTES = 32 * 1024 * 1024
"""Largest request body."""

_ERRORS = {status: {"model": ErrorView} for status in (400, 404, 405, 413, 422, 500, 503)}


def create_app(services: Services, *, max_body_bytes: int = MAX_BODY_BYTES) -> FastAPI:
    """The application over services that are connected already. It answers no other origin: there is no CORS."""
    app = FastAPI(
        title="Reverie",
        summary="Durable, evidence-backed long-term memory.",
        version=version("reverie"),
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        responses={status: dict(answer) for status, answer in _ERRORS.items()},
    )
    app.state.services = services
    failures.install(app)
    for routes in (memories, jobs, search, graph, health):
        app.include_router(routes.router)
    app.add_middleware(Edge, max_body_bytes=max_body_bytes)
    return app
