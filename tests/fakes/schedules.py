"""Schedules in memory: kept as asked for; runs are over as soon as they are triggered."""

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

from api.services import Services
from domain.dream.schedules import NewSchedule, Schedule, ScheduleRun, checked_schedule
from domain.errors import NotFound, RequestConflict
from domain.ports import Schedules
from infra.settings import Settings

NOW = datetime(2025, 7, 1, 12, tzinfo=UTC)
DAY_SECONDS = 24 * 3600


def with_schedules(schedules: Schedules, settings: Settings) -> Services:
    """Services of which only the schedules are there."""
    nothing: dict[str, Any] = {field.name: None for field in fields(Services)}
    return Services(**{**nothing, "schedules": schedules, "settings": settings})


class MemorySchedules:
    """Schedules without a server. Time stands still; a cron expression is taken to mean every day."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str | None, str], Schedule] = {}

    async def create(self, new: NewSchedule) -> Schedule:
        asked = checked_schedule(new)
        every = timedelta(seconds=asked.every_seconds or DAY_SECONDS)
        made = Schedule(**asked.model_dump(), created_at=NOW, next_at=(NOW + every, NOW + 2 * every))
        kept = self._kept.setdefault((asked.user_id, asked.name), made)
        if NewSchedule(**kept.model_dump(include=set(NewSchedule.model_fields))) != asked:
            raise RequestConflict(f"there is another schedule {asked.name}; delete it first")
        return kept

    async def schedules(self, user_id: str | None, *, after: str = "", limit: int = 50) -> tuple[Schedule, ...]:
        names = sorted(name for owner, name in self._kept if owner == user_id and name > after)
        return tuple(self._kept[user_id, name] for name in names[:limit])

    async def schedule(self, user_id: str | None, name: str) -> Schedule:
        if (user_id, name) not in self._kept:
            raise NotFound(f"no schedule {name}")
        return self._kept[user_id, name]

    async def pause(self, user_id: str | None, name: str, *, paused: bool) -> Schedule:
        return await self._set(user_id, name, paused=paused)

    async def trigger(self, user_id: str | None, name: str) -> Schedule:
        found = await self.schedule(user_id, name)
        run = ScheduleRun(scheduled_at=NOW, started_at=NOW, workflow_id=f"scheduled/{name}", run_id=f"run-{found.runs}")
        return await self._set(user_id, name, runs=found.runs + 1, recent=(*found.recent, run))

    async def delete(self, user_id: str | None, name: str) -> None:
        await self.schedule(user_id, name)
        del self._kept[user_id, name]

    async def _set(self, user_id: str | None, name: str, **values: object) -> Schedule:
        self._kept[user_id, name] = (await self.schedule(user_id, name)).model_copy(update=values)
        return self._kept[user_id, name]
