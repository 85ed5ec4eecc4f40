"""A model that fails, at each step in turn: nothing is lost, nothing is asked twice, and a retry finishes the job."""

import pytest

from api.services import Services
from domain.errors import ModelOutputInvalid, ModelUnavailable
from domain.jobs import Job
from domain.memory import IndexStatus, MemoryKind
from domain.model_calls import Purpose
from tests.e2e.conversation import SESSIONS, USER, sessions
from tests.e2e.deployment import Deployment, finished, rules, state_of
from tests.e2e.faulty import FaultyModel

FOR_EVER = 10_000
STEPS = (Purpose.ROUTE, Purpose.WRITE, Purpose.EXTRACT, Purpose.REPAIR, Purpose.CANONICALIZE)
IN_WRITING = (Purpose.ROUTE, Purpose.WRITE)


def _fault(purpose: Purpose, times: int, error: type[ModelUnavailable | ModelOutputInvalid]) -> FaultyModel:
    return FaultyModel(rules(), purpose=purpose, times=times, error=lambda: error("scripted"))


async def _run_all(services: Services) -> list[Job]:
    accepted = [await services.acceptor.accept(session) for session in sessions()]
    return [await finished(services, USER, acceptance.job.id) for acceptance in accepted]


@pytest.mark.parametrize("purpose", STEPS)
async def test_a_step_that_fails_for_a_while_leaves_no_trace(
    purpose: Purpose, deployment: Deployment, clean_state: tuple[str, str]
) -> None:
    async with deployment.services() as services:
        fault = _fault(purpose, 2, ModelUnavailable)
        async with deployment.worker(services, fault):
            jobs = await _run_all(services)
        assert [(job.state, job.index_failed) for job in jobs] == [("completed", 0)] * len(SESSIONS)
        assert fault.failed == 2
        assert await state_of(services) == clean_state


@pytest.mark.parametrize("purpose", STEPS)
async def test_a_step_that_fails_for_good_keeps_the_input_and_a_retry_finishes_it(
    purpose: Purpose, deployment: Deployment, clean_state: tuple[str, str]
) -> None:
    async with deployment.services() as services:
        fault = _fault(purpose, FOR_EVER, ModelOutputInvalid)
        async with deployment.worker(services, fault):
            for job in await _run_all(services):
                await _shows_the_failure(services, job, purpose)
        answered = dict(fault.answered)
        fault.left = 0
        async with deployment.worker(services, fault):
            retried = [await services.acceptor.retry(USER, session_job.id) for session_job in await _jobs(services)]
            jobs = [await finished(services, USER, job.id) for job in retried]
        assert [(job.state, job.index_failed) for job in jobs] == [("completed", 0)] * len(SESSIONS)
        before = {step: count for step, count in answered.items() if step in _earlier(purpose)}
        assert {step: fault.answered[step] for step in before} == before, "an answered call was asked again"
        assert await state_of(services) == clean_state


async def _shows_the_failure(services: Services, job: Job, purpose: Purpose) -> None:
    assert len(await services.jobs.messages(job.id)) == job.messages > 0
    if purpose in IN_WRITING:
        assert (job.state, job.step, job.reason) == ("failed", purpose, "model_output_invalid")
        return
    assert job.state == "completed"
    records = await services.records.page(USER, kinds=(MemoryKind.EPISODIC, MemoryKind.SEMANTIC), limit=500)
    failed = [record for record in records if record.index_status is IndexStatus.FAILED and record.input_id == job.id]
    assert len(failed) == job.index_failed
    assert {(record.index_step, record.index_reason) for record in failed} <= {(purpose, "model_output_invalid")}


async def _jobs(services: Services) -> list[Job]:
    return sorted(await services.jobs.jobs(USER), key=lambda job: job.sequence)


def _earlier(purpose: Purpose) -> tuple[Purpose, ...]:
    return STEPS[: STEPS.index(purpose)]
