"""The Temporal namespace as Reverie needs it: it exists, keeps histories for 90 days, and knows our search attributes.

The same for the embedded server (whose command line sets these only when the namespace is created) and for an existing
one.
"""

import asyncio
import time
from datetime import timedelta

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    RegisterNamespaceRequest,
    UpdateNamespaceRequest,
)
from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.service import RPCError, RPCStatusCode

from domain.errors import Unavailable
from infra.settings import Settings
from infra.temporal import SEARCH_ATTRIBUTES

RETENTION = timedelta(days=90)
"""How long finished histories stay readable (platform section 3)."""

SETTLE_SECONDS = 60.0
_PAUSE_SECONDS = 0.2


def existing_temporal(settings: Settings) -> str | None:
    """Address of the server to use in place of an embedded one, from our settings or Temporal's own (TEMPORAL_*)."""
    return settings.temporal_address or ClientConfig.load_client_connect_config().get("target_host")


async def prepare_namespace(client: Client) -> None:
    """Create what is missing of `client.namespace`; does nothing when all is there. Unavailable if it doesn't take
    effect.
    """
    deadline = time.monotonic() + SETTLE_SECONDS
    await _ensure_namespace(client, deadline)
    await _ensure_retention(client)
    await _ensure_search_attributes(client, deadline)


async def retention(client: Client) -> timedelta | None:
    """The namespace's retention; None when there is no such namespace."""
    try:
        answer = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=client.namespace))
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return None
        raise
    return answer.config.workflow_execution_retention_ttl.ToTimedelta()


async def missing_search_attributes(client: Client) -> tuple[str, ...]:
    """Ours that the namespace doesn't know yet."""
    answer = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return tuple(name for name in SEARCH_ATTRIBUTES if name not in answer.custom_attributes)


async def _ensure_namespace(client: Client, deadline: float) -> None:
    """Registering takes a moment to reach every part of the server: wait until it can be described."""
    if await retention(client) is None:
        try:
            await client.workflow_service.register_namespace(
                RegisterNamespaceRequest(
                    namespace=client.namespace, workflow_execution_retention_period=_duration(RETENTION)
                )
            )
        except RPCError as error:
            if error.status != RPCStatusCode.ALREADY_EXISTS:
                raise
    while await retention(client) is None:
        await _pause(deadline, f"namespace {client.namespace}")


async def _ensure_retention(client: Client) -> None:
    """Raise a shorter retention to ours; a longer one is the operator's choice."""
    current = await retention(client)
    if current is not None and current < RETENTION:
        await client.workflow_service.update_namespace(
            UpdateNamespaceRequest(
                namespace=client.namespace,
                config=NamespaceConfig(workflow_execution_retention_ttl=_duration(RETENTION)),
            )
        )


async def _ensure_search_attributes(client: Client, deadline: float) -> None:
    """Add them, and wait until the server lists them: a start that names an unknown attribute is refused."""
    missing = await _settled(client, deadline)
    if missing:
        keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=dict.fromkeys(missing, keyword))
        )
    while await missing_search_attributes(client):
        await _pause(deadline, "the search attributes")


async def _settled(client: Client, deadline: float) -> tuple[str, ...]:
    """The missing attributes, once the server's caches know a namespace that was just made."""
    while True:
        try:
            return await missing_search_attributes(client)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            await _pause(deadline, f"namespace {client.namespace}")


async def _pause(deadline: float, what: str) -> None:
    if time.monotonic() > deadline:
        raise Unavailable(f"Temporal accepted {what} but does not show it after {SETTLE_SECONDS:.0f} s")
    await asyncio.sleep(_PAUSE_SECONDS)


def _duration(delta: timedelta) -> Duration:
    message = Duration()
    message.FromTimedelta(delta)
    return message
