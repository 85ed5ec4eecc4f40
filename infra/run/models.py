"""The models a worker asks. Apart from the other services: they take seconds to import, and only a worker asks."""

import asyncio

from domain.ports import Embedder, MemoryModel
from infra.models.openai.embedder import OpenAIEmbedder
from infra.models.openai.endpoint import Endpoint
from infra.models.openai.model import OpenAIModel
from infra.models.rules.model import RulesModel
from infra.settings import Settings


def make_model(settings: Settings) -> MemoryModel:
    """The endpoint's chat model if an endpoint is configured, else the offline rules model."""
    if settings.model_base_url is None:
        return RulesModel()
    return OpenAIModel(_endpoint(settings, settings.model_base_url), model=settings.chat_model)


def endpoint_embedder(settings: Settings, base_url: str, model: str) -> Embedder:
    """The endpoint's embedder."""
    return OpenAIEmbedder(_endpoint(settings, base_url), model=model, dimension=settings.embedding_dimension)


def _endpoint(settings: Settings, base_url: str) -> Endpoint:
    return Endpoint(
        base_url,
        api_key=settings.model_api_key,
        timeout_seconds=settings.model_timeout_seconds,
        limit=asyncio.Semaphore(settings.model_concurrency),
    )
