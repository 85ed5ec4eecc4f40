"""The local embedder: unit vectors, the same whatever the batch, from files that are the pinned ones."""

from pathlib import Path

import numpy as np
import pytest

from domain.errors import ConfigurationError
from infra.models import minilm
from infra.models.minilm import MiniLM

TEXTS = (
    "Priya ran along the canal",
    "a",
    "",
    "   ",
    "the lighthouse keeper counts the gulls every morning before the ferry arrives " * 40,
    "김하나는 서울에 산다",
    "شركة نور",
    "🌱🌱🌱",
    "lone \ud800 surrogate",
    "nul \x00 and control \x07",
)


async def test_vectors_are_of_unit_length_and_of_the_stated_dimension() -> None:
    embedder = MiniLM()
    vectors = await embedder.embed(TEXTS)
    assert [len(vector) for vector in vectors] == [embedder.dimension] * len(TEXTS)
    assert np.allclose(np.linalg.norm(np.array(vectors), axis=1), 1.0, atol=1e-5)


async def test_a_vector_does_not_depend_on_its_batch() -> None:
    embedder = MiniLM()
    together = await embedder.embed(TEXTS)
    reversed_order = await embedder.embed(TEXTS[::-1])
    alone = [(await embedder.embed([text]))[0] for text in TEXTS]
    assert together == alone
    assert together == reversed_order[::-1]


async def test_no_text_gives_no_vector() -> None:
    assert await MiniLM().embed([]) == []


async def test_like_meanings_are_nearer_than_unlike_ones() -> None:
    run, jog, tax = np.array(await MiniLM().embed(["she went running", "she was jogging", "the tax office wrote"]))
    assert run @ jog > 0.6 > run @ tax


def test_a_file_with_another_hash_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="not the pinned file"):
        minilm._pinned(*minilm.TOKENIZER_FILE, sha256="0" * 64)


def test_a_missing_package_is_named() -> None:
    with pytest.raises(ConfigurationError, match="no-such-package-here"):
        minilm._pinned("no-such-package-here", "x", sha256="0" * 64)


def test_the_pinned_files_are_found_without_importing_their_packages() -> None:
    path = minilm._pinned(*minilm.MODEL_FILE, sha256=minilm.MODEL_SHA256)
    assert path.name == "model.onnx"
    assert isinstance(path, Path)
