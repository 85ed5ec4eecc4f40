"""The embedder over an OpenAI-compatible embeddings endpoint."""

import math
from collections.abc import Sequence

import openai
from openai.types import CreateEmbeddingResponse

from domain.errors import EmbeddingMismatch, ModelOutputInvalid
from domain.graph import Vector
from domain.text import storable
from infra.models.openai.endpoint import Endpoint, Spending

MAX_BATCH = 128
"""Texts in one request; every endpoint known takes as many."""

_NATIVE = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}
"""Models that give shorter vectors if asked by `dimensions`, and the length they give unasked. To others it is never
sent.
"""


class OpenAIEmbedder:
    """Embedder over any endpoint that speaks `/embeddings`. Vectors are brought to unit length."""

    def __init__(self, endpoint: Endpoint, *, model: str, dimension: int) -> None:
        self._endpoint = endpoint
        self._model = model
        self._dimension = dimension
        shortened = _NATIVE.get(model, dimension) != dimension
        self._dimensions: int | openai.Omit = dimension if shortened else openai.omit

    @property
    def name(self) -> str:
        """Name of the embedding model."""
        return self._model

    @property
    def dimension(self) -> int:
        """Length of every vector, from the settings; an answer of another length is refused."""
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One unit vector a text, in order. Raises ModelError, and EmbeddingMismatch if their length is another.
        Retries are per batch.
        """
        vectors: list[Vector] = []
        for start in range(0, len(texts), MAX_BATCH):
            vectors += await self._batch(texts[start : start + MAX_BATCH])
        return vectors

    async def _batch(self, texts: Sequence[str]) -> list[Vector]:
        spending = Spending()
        # Endpoints refuse an empty text; a space stands for it.
        sent = [storable(text)[0] or " " for text in texts]
        response = await self._endpoint.send(
            lambda: self._endpoint.client.embeddings.create(
                model=self._model, input=sent, dimensions=self._dimensions, encoding_format="float"
            ),
            spending,
        )
        return [self._unit(vector, spending) for vector in _in_order(response, len(sent), spending)]

    def _unit(self, vector: Sequence[float], spending: Spending) -> Vector:
        if len(vector) != self._dimension:
            raise EmbeddingMismatch(
                f"the embedding model {self._model} gives vectors of length {len(vector)}, "
                f"the setting embedding_dimension says {self._dimension}"
            )
        norm = math.hypot(*vector)
        if not math.isfinite(norm) or norm == 0.0:
            raise ModelOutputInvalid("the endpoint gave a vector without direction", attempts=spending.requests)
        return [value / norm for value in vector]


def _in_order(response: object, count: int, spending: Spending) -> list[list[float]]:
    """The vectors by their index. Raises ModelOutputInvalid unless there is one for each text."""
    data = response.data if isinstance(response, CreateEmbeddingResponse) else None
    by_index = {item.index: item.embedding for item in data or () if _is_vector(item.embedding)}
    if sorted(by_index) != list(range(count)):
        raise ModelOutputInvalid("the endpoint's answer has not one vector for each text", attempts=spending.requests)
    return [by_index[index] for index in range(count)]


def _is_vector(value: object) -> bool:
    """The client builds its answers without checking them."""
    return isinstance(value, list) and all(isinstance(number, int | float) for number in value)
