"""What schedules promise, over those in memory and over a real Temporal without workers."""

import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from domain.dream.rounds import Mode
from domain.dream.schedules import NewSchedule, Schedule
from domain.errors import InvalidInput, NotFound, RequestConflict
from domain.ports import Schedules
from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from tests.fakes.schedules import MemorySchedules
from tests.patience import eventually
from workflows.schedules import TemporalSchedules

_numbers = itertools.count(1)

NIGHTLY = NewSchedule(name="nightly", user_id="ana", cron="0 3 * * *", timezone="Europe/Lisbon")


@pytest.fixture(params=["memory", "temporal"])
def address(request: pytest.FixtureRequest) -> str | None:
    """Of the server, if any; it is started here, outside the event loop."""
    if request.param == "memory":
        return None
    server: EmbeddedTemporal = request.getfixturevalue("temporal_server")
    return server.address


@pytest.fixture
async def schedules(address: str | None) -> AsyncIterator[Schedules]:
    if address is None:
        yield MemorySchedules()
        return
    client = await Client.connect(address, namespace=NAMESPACE, data_converter=pydantic_data_converter)
    prefix = f"schedules-{os.getpid()}-{next(_numbers)}"
    yield TemporalSchedules(client, prefix=prefix)
    async for listed in await client.list_schedules():
        if listed.id.startswith(f"{prefix}/"):
            await client.get_schedule_handle(listed.id).delete()


def asked(schedule: Schedule) -> NewSchedule:
    """Without its record."""
    return NewSchedule(**schedule.model_dump(include=set(NewSchedule.model_fields)))


async def names(schedules: Schedules, user_id: str | None, expected: list[str]) -> None:
    """The schedules of a user are these in the end, in this order."""

    async def listed() -> list[str]:
        return [schedule.name for schedule in await schedules.schedules(user_id)]

    await eventually(listed, lambda found: found == expected)


@pytest.mark.parametrize(
    "new",
    [
        NIGHTLY,
        NewSchedule(name="all", cron="@daily"),
        NewSchedule(
            name="a.B_c-9", user_id="ana+b@x.org", every_seconds=3600, mode=Mode.INTERMEDIATE, review=True,
            timeout_seconds=60, run_timeout_seconds=120, catch_up_seconds=30,
        ),
    ],
)  # fmt: skip
async def test_a_schedule_is_kept_as_it_was_asked_for(new: NewSchedule, schedules: Schedules) -> None:
    made = await schedules.create(new)
    assert asked(made) == new
    assert (made.paused, made.running, made.runs, made.missed, made.skipped, made.timed_out, made.failed) == (
        *(False, 0, 0, 0, 0, 0, 0),
    )
    assert made.next_at == tuple(sorted(made.next_at)) != ()
    assert await schedules.schedule(new.user_id, new.name) == made
    await names(schedules, new.user_id, [new.name])


async def test_the_same_again_is_the_same_and_another_conflicts(schedules: Schedules) -> None:
    first = await schedules.create(NIGHTLY)
    await schedules.pause("ana", "nightly", paused=True)
    again = await schedules.create(NIGHTLY)
    assert (again.created_at, again.paused) == (first.created_at, True)
    with pytest.raises(RequestConflict):
        await schedules.create(NIGHTLY.model_copy(update={"cron": "0 4 * * *"}))
    assert (await schedules.schedule("ana", "nightly")).cron == NIGHTLY.cron


@pytest.mark.parametrize(
    ("change", "field"),
    [({"name": "a/b"}, "name"), ({"cron": "soon"}, "cron"), ({"timezone": "Mars/Olympus"}, "timezone")],
)
async def test_what_is_not_valid_is_refused(change: dict[str, str], field: str, schedules: Schedules) -> None:
    with pytest.raises(InvalidInput) as caught:
        await schedules.create(NIGHTLY.model_copy(update=change))
    assert caught.value.field == field


ACTS: dict[str, Callable[[Schedules, str | None], Awaitable[object]]] = {
    "show": lambda schedules, user_id: schedules.schedule(user_id, "nightly"),
    "pause": lambda schedules, user_id: schedules.pause(user_id, "nightly", paused=True),
    "resume": lambda schedules, user_id: schedules.pause(user_id, "nightly", paused=False),
    "trigger": lambda schedules, user_id: schedules.trigger(user_id, "nightly"),
    "delete": lambda schedules, user_id: schedules.delete(user_id, "nightly"),
}


@pytest.mark.parametrize("act", ACTS)
async def test_a_users_schedule_is_no_ones_elses(act: str, schedules: Schedules) -> None:
    made = await schedules.create(NIGHTLY)
    for other in ("bob", "an", None):
        with pytest.raises(NotFound):
            await ACTS[act](schedules, other)
    await names(schedules, "ana", ["nightly"])
    assert await schedules.schedules("bob") == await schedules.schedules(None) == ()
    assert await schedules.schedule("ana", "nightly") == made


async def test_users_may_give_the_same_name(schedules: Schedules) -> None:
    for user_id in ("ana", "bob", None):
        await schedules.create(NIGHTLY.model_copy(update={"user_id": user_id}))
    await schedules.delete("bob", "nightly")
    await names(schedules, "bob", [])
    for user_id in ("ana", None):
        assert (await schedules.schedule(user_id, "nightly")).user_id == user_id
        await names(schedules, user_id, ["nightly"])


async def test_pages_are_by_name(schedules: Schedules) -> None:
    for name in ("c", "a", "d", "b"):
        await schedules.create(NIGHTLY.model_copy(update={"name": name}))
    await names(schedules, "ana", ["a", "b", "c", "d"])
    assert [one.name for one in await schedules.schedules("ana", limit=2)] == ["a", "b"]
    assert [one.name for one in await schedules.schedules("ana", after="b", limit=2)] == ["c", "d"]
    assert await schedules.schedules("ana", after="d") == ()


async def test_a_schedule_rests_and_goes_on(schedules: Schedules) -> None:
    await schedules.create(NIGHTLY)
    for paused in (True, True, False, False):
        assert (await schedules.pause("ana", "nightly", paused=paused)).paused is paused
        assert (await schedules.schedule("ana", "nightly")).paused is paused


@pytest.mark.parametrize("paused", [False, True])
async def test_a_triggered_run_is_noted(paused: bool, schedules: Schedules) -> None:
    """Also of one that rests."""
    await schedules.create(NIGHTLY)
    await schedules.pause("ana", "nightly", paused=paused)
    await schedules.trigger("ana", "nightly")
    found = await eventually(lambda: schedules.schedule("ana", "nightly"), lambda found: found.runs == 1)
    (run,) = found.recent
    assert run.workflow_id
    assert run.run_id
    assert run.scheduled_at <= run.started_at


async def test_a_deleted_schedule_is_gone_and_its_name_free(schedules: Schedules) -> None:
    await schedules.create(NIGHTLY)
    await schedules.delete("ana", "nightly")
    for act in ACTS.values():
        with pytest.raises(NotFound):
            await act(schedules, "ana")
    await names(schedules, "ana", [])
    other = NIGHTLY.model_copy(update={"cron": "0 4 * * *"})
    assert asked(await schedules.create(other)) == other
