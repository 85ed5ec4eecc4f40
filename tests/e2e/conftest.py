"""A deployment a test, and the state that a clean run of the common conversation ends in."""

import itertools
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from tests.e2e.conversation import SESSIONS, USER, sessions
from tests.e2e.deployment import Deployment, finished, new_deployment, state_of

_numbers = itertools.count(1)

Deploy = Callable[[], Deployment]


@pytest.fixture
def deploy(make_database: Callable[[], str], temporal_server: EmbeddedTemporal) -> Iterator[Deploy]:
    """Makes deployments, each with a database of its own; ends what the test left running."""
    made: list[Deployment] = []

    def make() -> Deployment:
        prefix = f"test-{os.getpid()}-{next(_numbers)}"
        made.append(new_deployment(make_database(), temporal_server.address, NAMESPACE, prefix=prefix))
        return made[-1]

    yield make
    for deployment in made:
        deployment.kill_workers()
        shutil.rmtree(deployment.data_dir)


@pytest.fixture
def deployment(deploy: Deploy) -> Deployment:
    """One deployment."""
    return deploy()


@pytest.fixture
async def running(deployment: Deployment) -> AsyncIterator[Deployment]:
    """A deployment with a worker process."""
    deployment.start_worker()
    yield deployment
    deployment.stop()


_clean: list[tuple[str, str]] = []


@pytest.fixture
async def clean_state(deploy: Deploy) -> tuple[str, str]:
    """Checksums after the common conversation went through without any fault; made once."""
    if not _clean:
        deployment = deploy()
        deployment.start_worker()
        async with deployment.services() as services:
            accepted = [await services.acceptor.accept(session) for session in sessions()]
            assert len(accepted) == len(SESSIONS)
            for acceptance in accepted:
                job = await finished(services, USER, acceptance.job.id)
                assert (job.state, job.index_failed) == ("completed", 0)
            _clean.append(await state_of(services))
        deployment.stop()
    return _clean[0]
