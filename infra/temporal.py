"""Connecting to Temporal, and what the namespace must offer."""

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.envconfig import ClientConfig

from domain.errors import Unavailable
from infra.settings import Settings

SEARCH_ATTRIBUTES = ("ReverieUser", "ReverieKind", "ReverieStage", "ReverieRequest")
"""Keyword search attributes that workflows carry."""


async def connect(settings: Settings) -> Client:
    """A client for the configured server; Temporal's own environment (TEMPORAL_*) fills what the settings leave out.

    Raises Unavailable naming the address when nothing answers there.
    """
    config = ClientConfig.load_client_connect_config()
    address = settings.temporal_address or config.get("target_host") or "127.0.0.1:7233"
    config["target_host"] = address
    config["namespace"] = settings.temporal_namespace
    try:
        return await Client.connect(**config, data_converter=pydantic_data_converter)
    except RuntimeError as error:
        raise Unavailable(f"no Temporal server answers at {address}") from error
