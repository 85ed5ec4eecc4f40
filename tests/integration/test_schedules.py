"""Schedules on a real Temporal with scripted rounds: runs that hang, that wait, that are dropped, and a server that
was away."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio.client import (
    Client,
    ScheduleIntervalSpec,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
    WorkflowExecutionStatus,
)

from domain.dream.schedules import MIN_CATCH_UP_SECONDS, NewSchedule, Schedule
from domain.errors import InvalidInput, Unavailable
from domain.messages import ScheduledOutcome
from infra.run.embedded import temporal
from infra.run.embedded.temporal import EmbeddedTemporal
from tests.patience import eventually
from tests.workflow.scripted_rounds import ScriptedRounds
from tests.workflow.test_scheduled import SHORT_HISTORY, connected, working
from workflows.policies import workflow_id
from workflows.schedules import TemporalSchedules

NIGHTLY = NewSchedule(name="nightly", user_id="ana", cron="0 3 * * *", timezone="Europe/Lisbon")


@pytest.fixture
async def client(temporal_server: EmbeddedTemporal) -> Client:
    return await connected(temporal_server.address)


@pytest.fixture
async def server(data_dir: Path) -> AsyncIterator[EmbeddedTemporal]:
    """A Temporal of the test's own, to kill."""
    server = EmbeddedTemporal(data_dir)
    await asyncio.to_thread(server.start)
    yield server
    await asyncio.to_thread(server.stop)


async def outcomes(client: Client, schedule: Schedule) -> list[ScheduledOutcome]:
    """Results of the runs."""
    handles = [
        client.get_workflow_handle(run.workflow_id, run_id=run.run_id, result_type=ScheduledOutcome)
        for run in schedule.recent
    ]
    return [await handle.result() for handle in handles]


@pytest.mark.parametrize("cron", ["99 * * * *", "0 3 * * NEVER", "0 3 32 * *", "*/0 * * * *"])
async def test_what_only_the_server_notices_is_refused_by_field(cron: str, client: Client) -> None:
    schedules = TemporalSchedules(client, prefix="refused")
    with pytest.raises(InvalidInput) as caught:
        await schedules.create(NIGHTLY.model_copy(update={"cron": cron}))
    assert (caught.value.field, cron in caught.value.message) == ("cron", False)


async def test_runs_are_due_in_the_schedules_zone(client: Client) -> None:
    schedules = TemporalSchedules(client, prefix="zones")
    made = await schedules.create(NIGHTLY.model_copy(update={"timezone": "Asia/Kolkata"}))
    assert {(time.hour, time.minute) for time in made.next_at} == {(21, 30)}
    await schedules.delete("ana", "nightly")


async def test_a_hung_run_is_timed_out_and_counted_and_the_next_one_runs(client: Client) -> None:
    """Of three runs at once the second waits, and the third is dropped and counted too."""
    rounds = ScriptedRounds(["ana"])
    rounds.hung = {"ana"}
    async with working(client, rounds) as prefix:
        schedules = TemporalSchedules(client, prefix=prefix)
        await schedules.create(NIGHTLY.model_copy(update={"run_timeout_seconds": 5}))
        await schedules.trigger("ana", "nightly")
        await asyncio.wait_for(rounds.asked_for(1), timeout=60)
        for _ in range(2):
            await schedules.trigger("ana", "nightly")
        waiting = await eventually(lambda: schedules.schedule("ana", "nightly"), lambda found: found.skipped == 1)
        assert (waiting.runs, waiting.running, waiting.timed_out) == (1, 1, 0)
        await asyncio.wait_for(rounds.asked_for(2), timeout=60)
        rounds.hung = set()
        found = await eventually(
            lambda: schedules.schedule("ana", "nightly"), lambda found: found.runs == 2 and not found.running
        )
        assert (found.timed_out, found.failed, found.skipped, found.missed) == (1, 0, 1, 0)
        hung, done = [client.get_workflow_handle(run.workflow_id, run_id=run.run_id) for run in found.recent]
        assert (await hung.describe()).status is WorkflowExecutionStatus.TIMED_OUT
        assert ScheduledOutcome.model_validate(await done.result()) == ScheduledOutcome(rounds=1, merged=1)
        assert [one.run for one in rounds.asked] == [run.run_id for run in found.recent]
        await schedules.delete("ana", "nightly")
        assert (await schedules.create(NIGHTLY)).timed_out == 0


async def test_a_hung_run_is_timed_out_once_however_often_it_went_on_as_new(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    monkeypatch.setattr(temporal, "_DYNAMIC_CONFIG", (*temporal._DYNAMIC_CONFIG, f"{SHORT_HISTORY}=12"))
    server = EmbeddedTemporal(data_dir)
    client = await connected(await asyncio.to_thread(server.start))
    rounds = ScriptedRounds(["ana"])
    rounds.hung = {"ana"}
    try:
        async with working(client, rounds) as prefix:
            schedules = TemporalSchedules(client, prefix=prefix)
            await schedules.create(NIGHTLY.model_copy(update={"user_id": None, "run_timeout_seconds": 5}))
            await schedules.trigger(None, "nightly")
            found = await eventually(
                lambda: schedules.schedule(None, "nightly"), lambda found: found.runs == 1 and not found.running
            )
            assert (found.timed_out, found.failed) == (1, 0)
            assert len(rounds.asked) > len(set(rounds.asked)) == 1
    finally:
        await asyncio.to_thread(server.stop)


async def test_schedules_outlive_a_kill_of_the_server_and_of_the_workers(server: EmbeddedTemporal) -> None:
    rounds = ScriptedRounds(["ana", "bob"])
    everyone = NIGHTLY.model_copy(update={"user_id": None})
    client = await connected(server.address)
    async with working(client, rounds) as prefix:
        schedules = TemporalSchedules(client, prefix=prefix)
        await schedules.create(everyone)
        await schedules.create(NIGHTLY)
        await schedules.pause("ana", "nightly", paused=True)
        await schedules.trigger(None, "nightly")
        before = await eventually(
            lambda: schedules.schedule(None, "nightly"), lambda found: found.runs == 1 and not found.running
        )
    server.kill()
    with pytest.raises(Unavailable):
        await asyncio.wait_for(schedules.schedule(None, "nightly"), timeout=60)
    await asyncio.to_thread(server.start)
    client = await connected(server.address)
    schedules = TemporalSchedules(client, prefix=prefix)
    assert await schedules.schedule(None, "nightly") == before
    assert (await schedules.schedule("ana", "nightly")).paused
    async with working(client, rounds, prefix=prefix):
        await schedules.trigger(None, "nightly")
        after = await eventually(
            lambda: schedules.schedule(None, "nightly"), lambda found: found.runs == 2 and not found.running
        )
        assert await outcomes(client, after) == [ScheduledOutcome(rounds=2, merged=2)] * 2
    assert sorted(one.user_id for one in rounds.asked) == ["ana", "ana", "bob", "bob"]


async def test_runs_that_were_missed_too_long_ago_are_counted_and_the_others_made_up_for(
    server: EmbeddedTemporal,
) -> None:
    """An operator's `temporal schedule update` makes it run each second: shorter than Reverie takes."""
    client = await connected(server.address)
    rounds = ScriptedRounds(["ana"])
    async with working(client, rounds) as prefix:
        schedules = TemporalSchedules(client, prefix=prefix)
        asked = NIGHTLY.model_copy(update={"cron": "", "every_seconds": 3600, "catch_up_seconds": MIN_CATCH_UP_SECONDS})
        await schedules.create(asked)
        await client.get_schedule_handle(workflow_id(prefix, "schedule", "ana", "nightly")).update(_each_second)
        before = await eventually(lambda: schedules.schedule("ana", "nightly"), lambda found: found.runs > 0)
        assert before.missed == 0
    killed = datetime.now(UTC)
    server.kill()
    await asyncio.sleep(MIN_CATCH_UP_SECONDS + 3)
    await asyncio.to_thread(server.start)
    client = await connected(server.address)
    schedules = TemporalSchedules(client, prefix=prefix)
    async with working(client, rounds, prefix=prefix):
        found = await eventually(
            lambda: schedules.schedule("ana", "nightly"),
            lambda found: found.missed > 0 and found.runs > before.runs + 1,
        )
    assert found.skipped > 0
    assert found.recent[-1].started_at > killed


async def _each_second(found: ScheduleUpdateInput) -> ScheduleUpdate:
    schedule = found.description.schedule
    schedule.spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=1))])
    return ScheduleUpdate(schedule=schedule)
