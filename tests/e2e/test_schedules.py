"""A schedule on real servers: its rounds are those of every user with news, and it outlives servers and workers."""

import asyncio

from api.services import Services
from domain.dream.rounds import Consolidation, ConsolidationState, Mode
from domain.dream.schedules import NewSchedule, Schedule
from infra.run.embedded.temporal import EmbeddedTemporal
from tests.e2e.conversation import USER as TALKER
from tests.e2e.conversation import sessions
from tests.e2e.deployment import Deployment, finished
from tests.e2e.dream_world import ALIKE, USER, flat, owners, seed
from tests.patience import eventually

NIGHTLY = NewSchedule(name="nightly", cron="0 3 * * *", timezone="Europe/Lisbon")


async def rounds_of(services: Services, user_id: str) -> tuple[Consolidation, ...]:
    """Consolidations of a user that the schedule asked for."""
    found = await services.consolidations.consolidations(user_id)
    return tuple(one for one in found if one.actor == "schedule/nightly")


async def ran(services: Services, runs: int) -> Schedule:
    """The schedule once so many runs are over."""
    return await eventually(
        lambda: services.schedules.schedule(None, "nightly"), lambda found: found.runs == runs and not found.running
    )


async def test_every_user_with_news_has_a_round_and_the_schedule_outlives_a_kill(
    deployment: Deployment, temporal_server: EmbeddedTemporal
) -> None:
    deployment.start_worker()
    async with deployment.services() as services:
        await seed(services, flat(ALIKE))
        for session in sessions()[:1]:
            accepted = await services.acceptor.accept(session)
            await finished(services, TALKER, accepted.job.id)
        await services.schedules.create(NIGHTLY)
        await services.schedules.trigger(None, "nightly")
        before = await ran(services, 1)
        for user_id in (USER, TALKER):
            (asked,) = await rounds_of(services, user_id)
            assert (asked.state, asked.mode) == (ConsolidationState.COMPLETED, Mode.FINAL)
            assert asked.request_id == f"schedule/nightly/{before.recent[0].run_id}"
        assert len({anchor.id for anchor in (await owners(services, flat(ALIKE))).values()}) == len(ALIKE)
    deployment.kill_workers()
    temporal_server.kill()
    await asyncio.to_thread(temporal_server.start)
    deployment.start_worker()
    async with deployment.services() as services:
        assert await services.schedules.schedule(None, "nightly") == before
        await seed(services, ["Acme Inc."], request="news")
        await services.schedules.trigger(None, "nightly")
        after = await ran(services, 2)
        assert (after.timed_out, after.failed, after.missed) == (0, 0, 0)
        assert len(await rounds_of(services, TALKER)) == 1, "a user without news has no round"
        first, second = sorted(await rounds_of(services, USER), key=lambda one: one.sequence)
        assert second.state is ConsolidationState.COMPLETED
        assert second.request_id == f"schedule/nightly/{after.recent[-1].run_id}" != first.request_id
        await services.schedules.delete(None, "nightly")
    deployment.stop()
