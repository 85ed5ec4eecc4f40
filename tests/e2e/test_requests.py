"""One request is one set of rows, however often and however brokenly it is sent (cases 4, 6)."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn

from api.app import create_app
from api.services import Services
from domain.errors import RequestConflict
from tests.e2e.conftest import Deploy
from tests.e2e.conversation import USER, sessions
from tests.e2e.deployment import Deployment, finished, state_of, talk

FIRST = sessions()[0]


async def test_two_identical_requests_at_once_and_one_later(running: Deployment, deploy: Deploy) -> None:
    async with running.services() as services:
        both = await asyncio.gather(services.acceptor.accept(FIRST), services.acceptor.accept(FIRST))
        again = await services.acceptor.accept(FIRST)
        assert {one.job.id for one in (*both, again)} == {both[0].job.id}
        assert sorted(one.created for one in both) == [False, True]
        await finished(services, USER, both[0].job.id)
        repeated = await state_of(services)
    assert repeated == await _once(deploy)


async def test_a_request_repeated_after_a_cut_socket(running: Deployment, deploy: Deploy) -> None:
    async with running.services() as services, _api(services) as port:
        body = FIRST.model_dump(mode="json", exclude={"request_id"})
        await asyncio.to_thread(_send_and_hang_up, port, body, FIRST.request_id)
        await asyncio.to_thread(_send_and_hang_up, port, body, FIRST.request_id)
        acceptance = await services.acceptor.accept(FIRST)
        await finished(services, USER, acceptance.job.id)
        assert len(await services.jobs.jobs(USER)) == 1
        assert await state_of(services) == await _once(deploy)


async def test_the_same_request_id_with_another_body_is_refused(running: Deployment) -> None:
    async with running.services() as services:
        await services.acceptor.accept(FIRST)
        other = FIRST.model_copy(update={"messages": sessions()[1].messages})
        with pytest.raises(RequestConflict):
            await services.acceptor.accept(other)


async def test_twenty_parallel_first_writes_of_one_user(running: Deployment) -> None:
    inputs = [
        talk(
            "many",
            f"n{number}",
            (f"Ana: I bought a red kayak from Marco in Faro for {number} euros.",),
            day="2025-04-01",
        )
        for number in range(20)
    ]
    async with running.services() as services:
        accepted = await asyncio.gather(*(services.acceptor.accept(one) for one in inputs))
        jobs = [await finished(services, "many", one.job.id) for one in accepted]
        anchors = await services.graph.anchor_page("many", limit=200)
    assert {(job.state, job.index_failed) for job in jobs} == {("completed", 0)}
    assert sorted(job.sequence for job in jobs) == list(range(1, 21))
    keys = [anchor.key for anchor in anchors]
    assert len(keys) == len(set(keys)) > 0


async def _once(deploy: Deploy) -> tuple[str, str]:
    deployment = deploy()
    deployment.start_worker()
    async with deployment.services() as services:
        await finished(services, USER, (await services.acceptor.accept(FIRST)).job.id)
        return await state_of(services)


@asynccontextmanager
async def _api(services: Services) -> AsyncIterator[int]:
    server = uvicorn.Server(uvicorn.Config(create_app(services), port=0, log_config=None))
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110  (the server offers no event to wait for)
        await asyncio.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await serving


def _send_and_hang_up(port: int, body: object, key: str) -> None:
    """Send a whole request and close the connection without reading the answer."""
    payload = json.dumps(body).encode()
    head = (
        f"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Idempotency-Key: {key}\r\nContent-Length: {len(payload)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(head.encode() + payload)
