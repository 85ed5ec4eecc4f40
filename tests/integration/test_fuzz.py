"""The running API against requests made from its own OpenAPI document: no 500, and every answer as documented."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy, one_of
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.app import create_app
from api.services import Services
from infra.run.bootstrap import connect
from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from infra.settings import Settings
from tests.unit.retrieval.world import Said, World

EXAMPLES = 50
"""Requests an operation."""

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]

USER = "ana"


class Served:
    """The application on a port, its loop in a thread of its own, over real stores with a few memories in them."""

    def __init__(self, configuration: Settings) -> None:
        self._settings = configuration
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._up = threading.Event()
        self._server: uvicorn.Server | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    @contextmanager
    def running(self) -> Iterator[str]:
        """Its address, for as long as it serves."""
        self._thread.start()
        try:
            assert self._up.wait(timeout=60)
            yield self.url
        finally:
            if self._server is not None:
                self._server.should_exit = True
            self._thread.join(timeout=60)

    async def _serve(self) -> None:
        async with connect(self._settings, migrate=True) as services:
            await _told(services)
            self._server = uvicorn.Server(uvicorn.Config(create_app(services), log_level="warning"))
            self._up.set()
            await self._server.serve(sockets=[self._listener])


async def _told(services: Services) -> None:
    arms = (("agent", "Ana"), ("location", "canal"))
    world = World(services.jobs, services.records, services.graph, services.embedder)
    await world.tell(USER, "s1", [Said("Ana ran along the canal.", "run", arms)])


@pytest.fixture
def api_url(database_url: str, temporal_server: EmbeddedTemporal, data_dir: Any) -> Iterator[str]:
    """The API over the session's real servers."""
    configuration = Settings(
        data_dir=data_dir,
        database_url=database_url,
        temporal_address=temporal_server.address,
        temporal_namespace=NAMESPACE,
        task_queue_prefix="fuzz",
    )
    with Served(configuration).running() as url:
        yield url


@pytest.mark.filterwarnings("ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning")
def test_no_request_of_the_document_breaks_the_api(api_url: str) -> None:
    """The warning is of the strategies, which see that the server's connection pool, in its thread, draws lots."""
    schema = schemathesis.openapi.from_url(f"{api_url}/openapi.json")
    found = list(schema.get_all_operations())
    operations = [result.ok() for result in found if isinstance(result, Ok)]
    assert len(operations) == len(found)
    assert {operation.label for operation in operations} >= {"POST /v1/search", "POST /v1/memories", "GET /v1/anchors"}
    for operation in operations:
        _fuzz(operation)


def _valid_and_not(operation: APIOperation[Any, Any, Any, Any]) -> SearchStrategy[Case[Any]]:
    """Requests that keep to the document, and requests that break it."""
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    return one_of(*(operation.as_strategy(generation_mode=mode) for mode in modes))


def _fuzz(operation: APIOperation[Any, Any, Any, Any]) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=_valid_and_not(operation))
    def asked(case: Case[Any]) -> None:
        if "wait" in (case.query or {}):
            case.query["wait"] = 0
        case.call_and_validate(checks=CHECKS)

    asked()
