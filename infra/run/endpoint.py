"""The models behind an OpenAI-compatible endpoint. Imported only where one is configured: the client takes seconds."""

import asyncio

from domain.ports import Embedder, MemoryModel
from infra.models.openai.embedder import OpenAIEmbedder
from infra.models.openai.endpoint import Endpoint
from infra.models.openai.model import OpenAIModel
from infra.settings import Settings


def chat_model(settings: Settings, base_url: str) -> MemoryModel:
    """The endpoint's chat model."""
    return OpenAIModel(_endpoint(settings, base_url), model=settings.chat_model)


def embedding_model(settings: Settings, base_url: str, model: str) -> Embedder:
    """The endpoint's embedder."""
    return OpenAIEmbedder(_endpoint(settings, base_url), model=model, dimension=settings.embedding_dimension)


def _endpoint(settings: Settings, base_url: str) -> Endpoint:
    return Endpoint(
        base_url,
        api_key=settings.model_api_key,
        timeout_seconds=settings.model_timeout_seconds,
        limit=asyncio.Semaphore(settings.model_concurrency),
    )
