"""AutoDream along the way of a batch: after every five chunks and after the last, whatever is killed meanwhile."""

import asyncio
import time
from uuid import UUID, uuid4

from api.services import Services
from domain.dream.candidates import BATCH_CHUNKS
from domain.dream.rounds import Consolidation, ConsolidationState, Mode, consolidation_id, final_request
from domain.errors import NotFound
from domain.jobs import Job, JobState
from tests.e2e.deployment import PATIENCE_SECONDS, Deployment, finished, talk
from tests.e2e.dream_world import until

USER = "bea"
INPUTS = 12
LINES = [f"Bea: I bought a {colour} lamp in Braga." for colour in ("red", "blue", "green", "amber", "ivory", "black")]


async def accepted(services: Services, batch: UUID) -> list[Job]:
    """One chunk an input."""
    inputs = [talk(USER, f"b{n}", [LINES[n % len(LINES)]], day=f"2025-06-{n + 1:02}") for n in range(INPUTS)]
    return [(await services.acceptor.accept(one, batch_id=batch)).job for one in inputs]


async def last_round(services: Services, batch: UUID) -> Consolidation:
    """The final round, once it is asked for and has ended."""
    identity = consolidation_id(USER, final_request(batch, INPUTS))
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            return await until(services, await services.consolidations.consolidation(USER, identity))
        except NotFound:
            await asyncio.sleep(0.2)
    raise AssertionError("no final round was asked for")


async def test_rounds_follow_every_five_chunks_and_the_last(deployment: Deployment) -> None:
    async with deployment.services() as services:
        batch = uuid4()
        jobs = await accepted(services, batch)
        await asyncio.sleep(0.5)
        assert {(await services.jobs.job(USER, job.id)).state for job in jobs} == {JobState.ACCEPTED}
        deployment.start_worker()
        await services.acceptor.start_batch(USER, batch)
        await finished(services, USER, jobs[2].id)
        deployment.kill_workers()
        deployment.start_worker()
        final = await last_round(services, batch)
        ends = [await finished(services, USER, job.id) for job in jobs]
        assert {job.state for job in ends} == {JobState.COMPLETED}
        asked = sorted(await services.consolidations.consolidations(USER), key=lambda one: one.sequence)
        assert [(one.mode, one.actor, one.state) for one in asked] == [
            (Mode.INTERMEDIATE, "ingest", ConsolidationState.COMPLETED),
            (Mode.INTERMEDIATE, "ingest", ConsolidationState.COMPLETED),
            (Mode.FINAL, "ingest", ConsolidationState.COMPLETED),
        ]
        chunks = [(await services.jobs.chunk(job.id, 0)).id for job in jobs]
        for number, one in enumerate(asked[:-1]):
            start = number * BATCH_CHUNKS
            assert set(one.chunk_ids) == set(chunks[start : start + BATCH_CHUNKS])
            assert one.finished_at is not None
            following = ends[start + BATCH_CHUNKS].finished_at
            assert following is not None
            assert one.finished_at < following, "the next chunk reached the graph before the round"
        assert final.started_at is not None
        assert all(job.finished_at is not None and job.finished_at < final.started_at for job in ends)
        assert all(one.receipt.evidence_before == one.receipt.evidence_after for one in asked)


async def test_a_batch_that_nobody_started_is_started_by_the_worker(deployment: Deployment) -> None:
    """The command died after its inputs were stored: the sweep finds them."""
    async with deployment.services() as services:
        batch = uuid4()
        jobs = await accepted(services, batch)
        deployment.start_worker()
        assert (await finished(services, USER, jobs[-1].id)).state is JobState.COMPLETED
        assert (await last_round(services, batch)).state is ConsolidationState.COMPLETED
