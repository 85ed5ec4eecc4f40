"""Schedules: rounds of AutoDream that come back by themselves."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Response

from api import schedule_examples as examples
from api.bodies import StrictRoute
from api.documentation import BODY, MANY, ONE, Answers, errors, example
from api.parameters import Limit, ServicesDep
from api.schedule_views import Name, Owner, ScheduleIn, SchedulePage, ScheduleView, user_of

router = APIRouter(prefix="/v1/schedules", tags=["schedules"], route_class=StrictRoute)

OwnerId = Annotated[
    Owner,
    Query(
        alias="user_id",
        description="Whose schedule, or `*` for one over all users with news.",
        openapi_examples={"one": {"value": "ana"}, "all": {"value": "*"}},
    ),
]
ScheduleName = Annotated[Name, Path(description="The schedule's name.")]
AfterName = Annotated[Name | None, Query(description="`next` of the page before.")]

_EXAMPLES = {"cron": {"value": examples.BY_CRON}, "interval": {"value": examples.BY_INTERVAL}}
_CONFLICT: Answers = {
    409: {**errors(409)[409], **example(409, examples.CONFLICT, "Another schedule has this name.")[409]}
}


@router.post(
    "",
    status_code=201,
    summary="Make a schedule",
    responses=BODY | _CONFLICT | example(201, examples.SCHEDULE, "The schedule; the one there is if it is the same."),
)
async def create(
    services: ServicesDep, user_id: OwnerId, body: Annotated[ScheduleIn, Body(openapi_examples=_EXAMPLES)]
) -> ScheduleView:
    """Have rounds of AutoDream run by a cron expression or an interval; the same again changes nothing."""
    return ScheduleView.of(await services.schedules.create(body.schedule(user_id)))


@router.get("", summary="List schedules", responses=MANY | example(200, examples.SCHEDULES, "A page of schedules."))
async def page(services: ServicesDep, user_id: OwnerId, after: AfterName = None, limit: Limit = 50) -> SchedulePage:
    """The user's schedules, or those over all users, by name. One made or deleted a moment ago may be listed late."""
    found = await services.schedules.schedules(user_of(user_id), after=after or "", limit=limit)
    return SchedulePage(
        items=tuple(ScheduleView.of(schedule) for schedule in found),
        next=found[-1].name if len(found) == limit else None,
    )


@router.get(
    "/{schedule_name}", summary="Read a schedule", responses=ONE | example(200, examples.TRIGGERED, "The schedule.")
)
async def one(services: ServicesDep, schedule_name: ScheduleName, user_id: OwnerId) -> ScheduleView:
    """A schedule, its next and its last runs, and how many were missed, dropped, timed out or failed."""
    return ScheduleView.of(await services.schedules.schedule(user_of(user_id), schedule_name))


@router.post(
    "/{schedule_name}/pause",
    summary="Pause a schedule",
    responses=ONE | example(200, examples.PAUSED, "The schedule, which rests."),
)
async def pause(services: ServicesDep, schedule_name: ScheduleName, user_id: OwnerId) -> ScheduleView:
    """Let a schedule rest; a run that is under way goes on."""
    return ScheduleView.of(await services.schedules.pause(user_of(user_id), schedule_name, paused=True))


@router.post(
    "/{schedule_name}/resume",
    summary="Resume a schedule",
    responses=ONE | example(200, examples.SCHEDULE, "The schedule, which goes on."),
)
async def resume(services: ServicesDep, schedule_name: ScheduleName, user_id: OwnerId) -> ScheduleView:
    """Let a schedule that rests go on."""
    return ScheduleView.of(await services.schedules.pause(user_of(user_id), schedule_name, paused=False))


@router.post(
    "/{schedule_name}/trigger",
    summary="Run a schedule now",
    responses=ONE | example(200, examples.TRIGGERED, "The schedule."),
)
async def trigger(services: ServicesDep, schedule_name: ScheduleName, user_id: OwnerId) -> ScheduleView:
    """Run it now, also while it rests; after the run that is under way, and not at all if one waits already."""
    return ScheduleView.of(await services.schedules.trigger(user_of(user_id), schedule_name))


@router.delete("/{schedule_name}", status_code=204, summary="Delete a schedule", responses=ONE, response_class=Response)
async def delete(services: ServicesDep, schedule_name: ScheduleName, user_id: OwnerId) -> None:
    """End a schedule; a run that is under way goes on, and the rounds it asked for stay."""
    await services.schedules.delete(user_of(user_id), schedule_name)
