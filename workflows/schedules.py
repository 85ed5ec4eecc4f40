"""Recurring rounds as Temporal Schedules. Imported by no workflow."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from temporalio.client import (
    Client,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleDescription,
    ScheduleHandle,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleState,
)
from temporalio.client import Schedule as TemporalSchedule
from temporalio.service import RPCError, RPCStatusCode

from domain.dream.schedules import NewSchedule, Schedule, ScheduleRun, checked_schedule
from domain.errors import InvalidInput, NotFound, RequestConflict, Unavailable
from domain.messages import ScheduledRequest
from workflows.policies import WORKFLOW_QUEUE, fair, queue, workflow_id
from workflows.scheduled import ScheduledWorkflow
from workflows.steps import told_by

ASKED = "asked"
"""Memo field with the schedule as asked for: what Temporal's own form of it does not give back."""
ALL = "*"
"""Stands where a user id stands in the ids of schedules for all users: no user is called that."""
DESCRIBED_AT_A_TIME = 8


class TemporalSchedules:
    """Schedules over a Temporal client. They live in Temporal alone, and outlive it and the workers."""

    def __init__(self, client: Client, *, prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    async def create(self, new: NewSchedule) -> Schedule:
        """The same again gives the schedule that exists; another one under its name raises RequestConflict. Raises
        InvalidInput for a cron expression or a zone that Temporal does not take."""
        asked = checked_schedule(new)
        identity = self._id(asked.user_id, asked.name)
        memo = {ASKED: asked.model_dump(mode="json")}
        attributes = told_by("schedule", user_id=asked.user_id or ALL, request=asked.name)
        try:
            async with self._refusing(asked):
                await self._client.create_schedule(identity, self._made(asked), memo=memo, search_attributes=attributes)
        except ScheduleAlreadyRunningError:
            found = await self.schedule(asked.user_id, asked.name)
            if NewSchedule(**found.model_dump(include=set(NewSchedule.model_fields))) != asked:
                raise RequestConflict(f"there is another schedule {asked.name}; delete it first") from None
            return found
        return await self.schedule(asked.user_id, asked.name)

    def _made(self, asked: NewSchedule) -> TemporalSchedule:
        request = ScheduledRequest(
            prefix=self._prefix,
            schedule=asked.name,
            user_id=asked.user_id,
            mode=asked.mode,
            review=asked.review,
            timeout_seconds=asked.timeout_seconds,
        )
        every = [ScheduleIntervalSpec(every=timedelta(seconds=asked.every_seconds))] if asked.every_seconds else []
        return TemporalSchedule(
            action=ScheduleActionStartWorkflow(
                ScheduledWorkflow.run,
                request,
                id=workflow_id(self._prefix, "scheduled", asked.user_id or ALL, asked.name),
                task_queue=queue(self._prefix, WORKFLOW_QUEUE),
                execution_timeout=timedelta(seconds=asked.run_timeout_seconds),
                typed_search_attributes=told_by("scheduled", user_id=asked.user_id or ALL, request=asked.name),
                static_summary="Rounds of a schedule",
                priority=fair(asked.user_id or ALL),
            ),
            spec=ScheduleSpec(
                intervals=every,
                cron_expressions=[asked.cron] if asked.cron else [],
                time_zone_name=asked.timezone,
            ),
            policy=SchedulePolicy(
                overlap=ScheduleOverlapPolicy.BUFFER_ONE, catchup_window=timedelta(seconds=asked.catch_up_seconds)
            ),
            state=ScheduleState(),
        )

    async def schedule(self, user_id: str | None, name: str) -> Schedule:
        """Raises NotFound."""
        async with self._finding(name):
            return await self._schedule(await self._handle(user_id, name).describe())

    async def schedules(self, user_id: str | None, *, after: str = "", limit: int = 50) -> tuple[Schedule, ...]:
        """A user's schedules, or with None those for all users, by name. The server lists one that was made or
        deleted a moment ago with a delay; `schedule` has none."""
        start = self._id(user_id, "")
        query = f"ReverieKind = 'schedule' AND ReverieUser = '{user_id or ALL}'"
        async with self._finding(""):
            ids = [listed.id async for listed in await self._client.list_schedules(query)]
        names = (identity.removeprefix(start) for identity in ids if identity.startswith(start))
        wanted = sorted(name for name in names if name > after)[:limit]
        places = asyncio.Semaphore(DESCRIBED_AT_A_TIME)

        async def described(name: str) -> Schedule | None:
            async with places:
                try:
                    return await self.schedule(user_id, name)
                except NotFound:  # deleted meanwhile
                    return None

        found = await asyncio.gather(*map(described, wanted))
        return tuple(schedule for schedule in found if schedule is not None)

    async def pause(self, user_id: str | None, name: str, *, paused: bool) -> Schedule:
        """Let it rest, or go on. Raises NotFound."""
        handle = self._handle(user_id, name)
        async with self._finding(name):
            await (handle.pause() if paused else handle.unpause())
        return await self.schedule(user_id, name)

    async def trigger(self, user_id: str | None, name: str) -> Schedule:
        """Run it now, after a run that is under way. Raises NotFound."""
        async with self._finding(name):
            await self._handle(user_id, name).trigger(overlap=ScheduleOverlapPolicy.BUFFER_ONE)
        return await self.schedule(user_id, name)

    async def delete(self, user_id: str | None, name: str) -> None:
        """Raises NotFound."""
        async with self._finding(name):
            await self._handle(user_id, name).delete()

    async def _schedule(self, description: ScheduleDescription) -> Schedule:
        asked = NewSchedule.model_validate((await description.memo())[ASKED])
        info = description.info
        counts = await self._counts(description.id, info.created_at)
        return Schedule(
            **asked.model_dump(),
            paused=description.schedule.state.paused,
            created_at=info.created_at,
            next_at=tuple(info.next_action_times),
            recent=tuple(
                ScheduleRun(
                    scheduled_at=run.scheduled_at,
                    started_at=run.started_at,
                    workflow_id=run.action.workflow_id,
                    run_id=run.action.first_execution_run_id,
                )
                for run in info.recent_actions
                if isinstance(run.action, ScheduleActionExecutionStartWorkflow)
            ),
            running=len(info.running_actions),
            runs=info.num_actions,
            missed=info.num_actions_missed_catchup_window,
            skipped=info.num_actions_skipped_overlap,
            timed_out=counts.get("TimedOut", 0),
            failed=counts.get("Failed", 0),
        )

    async def _counts(self, identity: str, since: datetime) -> Mapping[str, int]:
        """Runs of this schedule, not of a deleted one of its name, by how they went wrong."""
        query = (
            f"TemporalScheduledById = '{identity}' AND StartTime >= '{since.isoformat()}' "
            "AND ExecutionStatus IN ('TimedOut', 'Failed') GROUP BY ExecutionStatus"
        )
        counted = await self._client.count_workflows(query)
        return {str(group.group_values[0]): group.count for group in counted.groups}

    def _handle(self, user_id: str | None, name: str) -> ScheduleHandle:
        return self._client.get_schedule_handle(self._id(user_id, name))

    def _id(self, user_id: str | None, name: str) -> str:
        return workflow_id(self._prefix, "schedule", user_id or ALL, name)

    @asynccontextmanager
    async def _finding(self, name: str) -> AsyncIterator[None]:
        try:
            yield
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                raise NotFound(f"no schedule {name}") from error
            raise Unavailable(f"the workflow server answered {error.status.name}") from error

    @asynccontextmanager
    async def _refusing(self, asked: NewSchedule) -> AsyncIterator[None]:
        try:
            yield
        except RPCError as error:
            if error.status is RPCStatusCode.INVALID_ARGUMENT:
                field = "cron" if asked.cron else "every_seconds"
                raise InvalidInput("the workflow server can not read this, or not its zone", field=field) from error
            raise Unavailable(f"the workflow server answered {error.status.name}") from error
