"""A round that is killed, hung, cancelled, or runs beside writes: same end state, nothing lost, nothing asked twice."""

import asyncio
import random
from collections.abc import Callable
from uuid import UUID

import psycopg
import pytest

from api.services import Services
from domain.dream.rounds import Consolidation, ConsolidationState, Mode, Receipt
from domain.jobs import JobState
from tests.e2e.conversation import USER as TALKER
from tests.e2e.conversation import sessions
from tests.e2e.deployment import Deployment, finished, state_of
from tests.e2e.dream_world import ALIKE, APART, USER, Verdicts, ask, consolidated, flat, ids, owners, seed, until

NAMES = [*flat(ALIKE), *flat(APART)]
LONGEST_ROUND_SECONDS = 3.0
"""Upper end of the instants: about how long a clean round takes, so that every step is hit."""

SAME_CALLS = "SELECT attempts, outcome FROM model_calls WHERE purpose = 'same'"

_clean: list[tuple[tuple[str, str], Receipt]] = []


@pytest.fixture
async def clean_round(deploy: Callable[[], Deployment]) -> tuple[tuple[str, str], Receipt]:
    """Checksums and receipt of a round that nobody disturbs; made once."""
    if not _clean:
        deployment = deploy()
        async with deployment.services() as services:
            await seed(services, NAMES)
            async with deployment.worker(services):
                done = await consolidated(services)
            _clean.append((await state_of(services), done.receipt))
    return _clean[0]


@pytest.mark.parametrize("seed_number", range(10))
async def test_a_worker_killed_at_a_random_instant_of_a_round(
    seed_number: int, deployment: Deployment, clean_round: tuple[tuple[str, str], Receipt]
) -> None:
    state, receipt = clean_round
    instant = random.Random(seed_number).uniform(0.0, LONGEST_ROUND_SECONDS)
    async with deployment.services() as services:
        await seed(services, NAMES)
        deployment.start_worker()
        asked = await ask(services)
        await asyncio.sleep(instant)
        deployment.kill_workers()
        deployment.start_worker()
        done = await until(services, asked)
        assert done.state is ConsolidationState.COMPLETED
        assert await state_of(services) == state
        told = {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}
        assert done.receipt.model_copy(update=told) == receipt.model_copy(update=told)
    assert set(rows(deployment, SAME_CALLS)) == {(1, "ok")}, "a pair was asked again though its answer was recorded"


def rows(deployment: Deployment, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(deployment.database_url) as connection:
        return connection.execute(statement).fetchall()


async def held(services: Services, model: Verdicts, request: str = "round", **values: object) -> Consolidation:
    """A round in the middle of its verification, held there."""
    model.gate.clear()
    asked = await ask(services, request, **values)
    await asyncio.wait_for(model.first.wait(), timeout=60)
    return await until(services, asked, ConsolidationState.RUNNING)


async def extracted(services: Services, job_id: UUID) -> None:
    """Returns once an input of the talker is committed and waits for the graph."""
    for _ in range(600):
        if (await services.jobs.job(TALKER, job_id)).state is JobState.EXTRACTED:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the input's evidence is not committed")


async def test_writes_during_a_round_commit_at_once_and_survive(deployment: Deployment) -> None:
    """Case 7: evidence commits never wait for a round; the graph's turn comes after it."""
    async with deployment.services() as services:
        await seed(services, NAMES, user=TALKER)
        model = Verdicts()
        async with deployment.worker(services, model):
            asked = await held(services, model, user_id=TALKER)
            accepted = [(await services.acceptor.accept(one)).job for one in sessions()]
            for job in accepted:
                await extracted(services, job.id)
            written = await services.records.page(TALKER, limit=200)
            assert len(written) > len(NAMES)
            model.gate.set()
            done = await until(services, asked)
            ends = [await finished(services, TALKER, job.id) for job in accepted]
        assert [(job.state, job.index_failed) for job in ends] == [("completed", 0)] * len(ends)
        assert done.receipt.evidence_before == done.receipt.evidence_after
        assert done.finished_at is not None
        assert all(job.finished_at is not None and job.finished_at > done.finished_at for job in ends)
        found = await owners(services, flat(ALIKE), user=TALKER)
        assert len(ids(found)) == len(ALIKE)
        kept = {record.id for record in await services.records.page(TALKER, limit=200)}
        assert kept == {record.id for record in written}


async def test_two_rounds_at_once_are_one_after_the_other(deployment: Deployment) -> None:
    async with deployment.services() as services:
        await seed(services, NAMES)
        model = Verdicts()
        async with deployment.worker(services, model):
            first = await held(services, model, "first")
            second = await ask(services, "second")
            await asyncio.sleep(1)
            waiting = await services.consolidations.consolidation(USER, second.id)
            assert waiting.state is ConsolidationState.ACCEPTED
            model.gate.set()
            one, other = await until(services, first), await until(services, second)
        assert one.finished_at is not None
        assert other.started_at is not None
        assert one.finished_at <= other.started_at
        assert (one.receipt.merged, other.receipt.merged) == (len(ALIKE), 0)


async def test_a_hung_round_has_failed_and_the_next_one_runs(deployment: Deployment) -> None:
    async with deployment.services() as services:
        await seed(services, NAMES)
        before = await state_of(services)
        model = Verdicts()
        async with deployment.worker(services, model):
            hung = await until(services, await held(services, model, "hung", timeout_seconds=2))
            assert (hung.state, hung.reason) == (ConsolidationState.FAILED, "timed_out")
            assert await state_of(services) == before
            model.gate.set()
            done = await consolidated(services, "next")
        assert (done.state, done.receipt.merged) == (ConsolidationState.COMPLETED, len(ALIKE))


async def test_a_cancelled_round_changes_nothing_and_the_next_one_runs(deployment: Deployment) -> None:
    async with deployment.services() as services:
        await seed(services, NAMES)
        before = await state_of(services)
        model = Verdicts()
        async with deployment.worker(services, model):
            running = await held(services, model, "first")
            waiting = await ask(services, "second", mode=Mode.INTERMEDIATE)
            assert (await services.dreamer.cancel(USER, waiting.id)).state is ConsolidationState.CANCELLED
            await services.dreamer.cancel(USER, running.id)
            ended = await until(services, running)
            assert (ended.state, ended.receipt.merged) == (ConsolidationState.CANCELLED, 0)
            assert await state_of(services) == before
            model.gate.set()
            done = await consolidated(services, "third")
        assert done.receipt.merged == len(ALIKE)


async def test_a_round_asked_for_while_no_worker_runs_is_run_later(deployment: Deployment) -> None:
    async with deployment.services() as services:
        await seed(services, NAMES)
        asked = await ask(services)
        async with deployment.worker(services):
            done = await until(services, asked)
        assert (done.state, done.receipt.merged) == (ConsolidationState.COMPLETED, len(ALIKE))
