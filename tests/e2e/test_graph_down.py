"""The graph is only an index: gone or locked, it costs no record, and a retry fills it (invariant 4, cases 5 and
41)."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from api.services import Services
from domain.jobs import Job
from domain.memory import GRAPH_KINDS, IndexStatus
from infra.stores.migrations.migrate import upgrade
from tests.e2e.conversation import USER, sessions
from tests.e2e.deployment import Deployment, finished, state_of


@contextmanager
def _locked(url: str) -> Iterator[None]:
    with psycopg.connect(url) as connection:
        connection.execute('LOCK TABLE memory."Anchor", memory."Frame", memory."ARM" IN ACCESS EXCLUSIVE MODE')
        yield


@contextmanager
def _dropped(url: str) -> Iterator[None]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT ag_catalog.drop_graph('memory', true)")
    yield
    upgrade(url)


@pytest.mark.parametrize("broken", [_locked, _dropped], ids=["locked", "dropped"])
async def test_records_stay_and_are_indexed_on_retry(
    broken: type, running: Deployment, clean_state: tuple[str, str]
) -> None:
    async with running.services() as services:
        with broken(running.database_url):
            jobs = await _run_all(services)
            assert [job.state for job in jobs] == ["completed"] * len(jobs)
            assert all(job.index_failed > 0 and job.indexed == 0 for job in jobs)
            await _all_records_wait(services)
        for job in jobs:
            await services.acceptor.retry(USER, job.id)
        done = [await finished(services, USER, job.id) for job in jobs]
        assert [job.index_failed for job in done] == [0] * len(jobs)
        assert await state_of(services) == clean_state


async def _run_all(services: Services) -> list[Job]:
    accepted = [await services.acceptor.accept(session) for session in sessions()]
    return list(await asyncio.gather(*(finished(services, USER, one.job.id) for one in accepted)))


async def _all_records_wait(services: Services) -> None:
    records = await services.records.page(USER, kinds=GRAPH_KINDS, limit=500)
    waiting = [record for record in records if record.index_status is IndexStatus.FAILED]
    assert len(waiting) > 10
    assert {record.index_reason for record in waiting} == {"graph_unavailable"}
