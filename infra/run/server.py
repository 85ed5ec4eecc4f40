"""The API process: `python -m infra.run.server`."""

import asyncio

import uvicorn

from api.app import create_app
from infra.run.bootstrap import connect
from infra.settings import Settings
from infra.telemetry import configure_logging
from infra.temporal import connect as connect_temporal


async def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM."""
    client = await connect_temporal(settings)
    async with connect(settings, client=client, migrate=True) as services:
        config = uvicorn.Config(
            create_app(services), host=settings.api_host, port=settings.api_port, log_config=None, access_log=False
        )
        await uvicorn.Server(config).serve()


if __name__ == "__main__":
    configure_logging()
    asyncio.run(serve(Settings()))
