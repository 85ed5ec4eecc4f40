"""The model and the embedder, and the audit of their calls."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from domain.graph import (
    Vector,
)
from domain.memory import Extraction
from domain.model_calls import (
    CanonicalizeAnswer,
    CanonicalizeRequest,
    ExtractRequest,
    Purpose,
    RepairRequest,
    Reply,
    RouteAnswer,
    RouteRequest,
    SameAnswer,
    SameRequest,
    Usage,
    WriteAnswer,
    WriteRequest,
)


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def name(self) -> str:
        """Model name, stored with the vectors so that a change is noticed."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text, in order. An empty sequence gives an empty list. Raises ModelError."""


class MemoryModel(Protocol):
    """The calls marked * in Algorithm 1. Every method raises ModelError and nothing else."""

    @property
    def name(self) -> str:
        """Model name for the audit rows."""

    async def route(self, request: RouteRequest) -> Reply[RouteAnswer]: ...

    async def write(self, request: WriteRequest) -> Reply[WriteAnswer]: ...

    async def extract(self, request: ExtractRequest) -> Reply[Extraction]: ...

    async def repair(self, request: RepairRequest) -> Reply[Extraction]:
        """Only what is to be added; the caller unites it with the first extraction."""

    async def canonicalize(self, request: CanonicalizeRequest) -> Reply[CanonicalizeAnswer]: ...

    async def same(self, request: SameRequest) -> Reply[SameAnswer]:
        """Whether two anchors are one; unsure where the evidence does not settle it."""


class ModelCallStore(Protocol):
    """The audit of model calls, and the answers they gave, so that a retried step reuses them."""

    async def answer(self, key: str) -> str | None:
        """The recorded answer (JSON) of a call that succeeded."""

    async def record(
        self,
        key: str,
        *,
        user_id: str,
        job_id: UUID,
        purpose: Purpose,
        usage: Usage,
        outcome: str,
        answer: str | None,
        now: datetime,
    ) -> str | None:
        """Add or update the audit row of a call; attempts add up. A recorded answer stays: returns the one now
        stored."""
