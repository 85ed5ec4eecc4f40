"""Which servers a command talks to: those the settings name, else the running stack of the data directory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import ValidationError

from api.services import Services
from domain.errors import ConfigurationError, Unavailable
from infra.run.bootstrap import connect
from infra.run.embedded.namespace import existing_temporal
from infra.run.embedded.state import read_state
from infra.settings import Settings


class NoStack(Unavailable):
    """Neither the settings nor the data directory say where the servers are."""

    type = "no_stack"
    advice = (
        "start it with `reverie up` (in another terminal), or set REVERIE_DATABASE_URL and REVERIE_TEMPORAL_ADDRESS"
    )


def read_settings() -> Settings:
    """The settings of the environment. ConfigurationError names the variables that can't be read, not their values."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = f"REVERIE_{'_'.join(str(part) for part in first['loc']).upper()}"
        raise ConfigurationError(f"{name}: {first['msg']}") from error


def located(settings: Settings) -> Settings:
    """The settings with both addresses filled in. Raises NoStack where one is known from nowhere."""
    temporal = existing_temporal(settings)
    if settings.database_url is not None and temporal is not None:
        return settings
    state = read_state(settings.data_dir)
    if state is None:
        raise NoStack(f"no stack is running in {settings.data_dir}")
    return settings.model_copy(
        update={
            "database_url": settings.database_url or state.database_url.get_secret_value(),
            "temporal_address": temporal or state.temporal_address,
            "temporal_namespace": settings.temporal_namespace if temporal else state.namespace,
        }
    )


@asynccontextmanager
async def connected(settings: Settings | None = None) -> AsyncIterator[Services]:
    """Services over the servers in place, without starting or migrating anything."""
    async with connect(located(settings or read_settings())) as services:
        yield services
