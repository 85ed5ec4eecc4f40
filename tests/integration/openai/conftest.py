"""A model and an embedder connected to a scripted server; waits are recorded, not waited out."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from infra.models.openai.embedder import OpenAIEmbedder
from infra.models.openai.endpoint import Endpoint
from infra.models.openai.model import OpenAIModel
from tests.fakes.chat_server import Script, ScriptedChatServer

KEY = "sk-canary-key-7719"


@dataclass(frozen=True)
class Connected:
    """Both adapters over one endpoint, with what happened."""

    server: ScriptedChatServer
    model: OpenAIModel
    embedder: OpenAIEmbedder
    waits: list[float]
    limit: asyncio.Semaphore


Connect = Callable[..., Connected]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """`connect(script, timeout=..., embedding_model=..., dimension=...)`; closed at the end of the test."""
    async with AsyncExitStack() as stack:

        def connected(
            script: Script, *, timeout: float = 10.0, embedding_model: str = "embed-1", dimension: int = 3
        ) -> Connected:
            server = stack.enter_context(ScriptedChatServer(script))
            waits: list[float] = []

            async def sleep(seconds: float) -> None:
                waits.append(seconds)

            limit = asyncio.Semaphore(4)
            endpoint = Endpoint(server.url, api_key=SecretStr(KEY), timeout_seconds=timeout, limit=limit, sleep=sleep)
            stack.push_async_callback(endpoint.close)
            embedder = OpenAIEmbedder(endpoint, model=embedding_model, dimension=dimension)
            return Connected(server, OpenAIModel(endpoint, model="chat-1"), embedder, waits, limit)

        yield connected
