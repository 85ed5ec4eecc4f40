"""Whatever process is killed, and whenever, the end state is that of a clean run (invariant 6)."""

import asyncio
import random

import pytest

from api.services import Services
from domain.jobs import job_id
from infra.run.embedded.postgres import EmbeddedPostgres
from infra.run.embedded.temporal import EmbeddedTemporal
from tests.e2e.conversation import USER, sessions
from tests.e2e.deployment import Deployment, finished, state_of

LONGEST_RUN_SECONDS = 8.0
"""Upper end of the instants: about how long a clean run takes from the first input on, so that every step is hit."""


async def _accept_all(services: Services) -> None:
    for session in sessions():
        await services.acceptor.accept(session)


async def _all_completed(services: Services) -> None:
    for session in sessions():
        acceptance = await services.acceptor.accept(session)
        job = await finished(services, USER, acceptance.job.id)
        assert (job.state, job.reason, job.index_failed) == ("completed", "", 0)


@pytest.mark.parametrize("seed", range(10))
async def test_a_worker_killed_at_a_random_instant(
    seed: int, deployment: Deployment, clean_state: tuple[str, str]
) -> None:
    instant = random.Random(seed).uniform(0.0, LONGEST_RUN_SECONDS)
    deployment.start_worker()
    async with deployment.services() as services:
        await _accept_all(services)
        await asyncio.sleep(instant)
        deployment.kill_workers()
        deployment.start_worker()
        await _all_completed(services)
        assert await state_of(services) == clean_state


@pytest.mark.parametrize("server", ["temporal_server", "postgres_server"])
async def test_a_server_killed_in_the_middle(
    server: str, running: Deployment, clean_state: tuple[str, str], request: pytest.FixtureRequest
) -> None:
    killed: EmbeddedTemporal | EmbeddedPostgres = request.getfixturevalue(server)
    async with running.services() as services:
        await _accept_all(services)
        await asyncio.sleep(0.7)
        await asyncio.to_thread(killed.kill)
        await asyncio.to_thread(killed.start)
        await _all_completed(services)
        assert await state_of(services) == clean_state


async def test_an_input_accepted_while_temporal_is_away_is_started_later(
    running: Deployment, temporal_server: EmbeddedTemporal, clean_state: tuple[str, str]
) -> None:
    async with running.services() as services:
        await asyncio.to_thread(temporal_server.kill)
        try:
            for session in sessions():
                acceptance = await services.acceptor.accept(session)
                assert acceptance.job.state == "accepted"
        finally:
            await asyncio.to_thread(temporal_server.start)
        for session in sessions():
            await finished(services, USER, job_id(USER, session.request_id))
        assert await state_of(services) == clean_state
