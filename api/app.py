"""The HTTP application: routes, errors and limits around the services."""

from importlib.metadata import version

from fastapi import FastAPI

from api import failures
from api.documentation import DocumentedApp
from api.edge import Edge
from api.routes import consolidations, graph, health, jobs, memories, schedules, search
from api.services import Services

MAX_BODY_BYTES = 32 * 1024 * 1024
"""Largest request body."""


def create_app(services: Services, *, max_body_bytes: int = MAX_BODY_BYTES) -> FastAPI:
    """The application over services that are connected already. It answers no other origin: there is no CORS."""
    app = DocumentedApp(
        title="Reverie",
        summary="Durable, evidence-backed long-term memory.",
        version=version("reverie"),
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
    )
    app.state.services = services
    failures.install(app)
    for routes in (memories, jobs, search, graph, consolidations, schedules, health):
        app.include_router(routes.router)
    app.add_middleware(Edge, max_body_bytes=max_body_bytes)
    return app
