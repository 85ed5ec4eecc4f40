"""Names come up again and again: their vectors are kept in memory."""

from collections import OrderedDict
from collections.abc import Sequence

from domain.graph import Vector
from domain.ports import Embedder

KEPT = 20_000
"""Vectors kept: about 30 MB at 384 numbers each."""


class CachedEmbedder:
    """An Embedder that remembers the vectors last used; the same text gives the same vector."""

    def __init__(self, embedder: Embedder, *, kept: int = KEPT) -> None:
        self._embedder = embedder
        self._kept = kept
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The wrapped model's dimension."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text, in order; only texts not seen lately are asked of the model."""
        found = {text: self._vectors[text] for text in texts if text in self._vectors}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        found.update(zip(missing, await self._embedder.embed(missing), strict=True))
        for text in found:
            self._vectors[text] = found[text]
            self._vectors.move_to_end(text)
        while len(self._vectors) > self._kept:
            self._vectors.popitem(last=False)
        return [found[text] for text in texts]
