"""Which model a worker asks and which embedder everybody uses.

Each alternative takes seconds to import (spaCy, the openai client), and most processes need neither, so a module of a
model
is imported when it is chosen.
"""

from domain.ports import Embedder, MemoryModel
from infra.models.cached import CachedEmbedder
from infra.models.minilm import MiniLM
from infra.settings import Settings


def make_model(settings: Settings) -> MemoryModel:
    """The endpoint's chat model if an endpoint is configured, else the offline rules model."""
    if settings.model_base_url is None:
        from infra.models.rules.model import RulesModel  # noqa: PLC0415

        return RulesModel()
    from infra.run.endpoint import chat_model  # noqa: PLC0415

    return chat_model(settings, settings.model_base_url)


def make_embedder(settings: Settings) -> Embedder:
    """The endpoint's embedder if one is named, else local MiniLM; with a memory of the texts last seen."""
    if settings.model_base_url is None or settings.embedding_model is None:
        return CachedEmbedder(MiniLM())
    from infra.run.endpoint import embedding_model  # noqa: PLC0415

    return CachedEmbedder(embedding_model(settings, settings.model_base_url, settings.embedding_model))
