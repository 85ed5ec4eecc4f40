"""Model calls with memory: each answer is stored once and reused, so a retried step never forks a record."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from hashlib import sha256
from typing import TypeVar
from uuid import UUID

from domain.errors import ModelError
from domain.graph import Vector
from domain.memory import Frozen
from domain.messages import JobRef
from domain.model_calls import Purpose, Reply, Usage
from domain.ports import Embedder, ModelCallStore

Q = TypeVar("Q", bound=Frozen)
A = TypeVar("A", bound=Frozen)
Clock = Callable[[], datetime]


def call_key(purpose: Purpose, subject: UUID, detail: str = "") -> str:
    """Identity of a call: its purpose and what it is about (chunk or record, and kind), whatever the model of the
    day."""
    return sha256(f"{purpose}\n{subject}\n{detail}".encode()).hexdigest()


class RecordedCalls:
    """Asks a model at most once per key, and leaves one audit row a call, failed ones included."""

    def __init__(self, calls: ModelCallStore, embedder: Embedder, clock: Clock) -> None:
        self._calls = calls
        self._embedder = embedder
        self._clock = clock

    async def ask(
        self,
        method: Callable[[Q], Awaitable[Reply[A]]],
        request: Q,
        answer_type: type[A],
        *,
        job: JobRef,
        purpose: Purpose,
        subject: UUID,
        detail: str = "",
        model: str,
    ) -> A:
        """The recorded answer if there is one, else the model's, recorded before it is used. Raises ModelError."""
        key = call_key(purpose, subject, detail)
        if (known := await self._calls.answer(key)) is not None:
            return answer_type.model_validate_json(known)
        try:
            reply = await method(request)
        except ModelError as error:
            usage = Usage(model=model, attempts=error.attempts)
            await self._record(key, job, purpose, usage, outcome=error.type)
            raise
        stored = await self._record(key, job, purpose, reply.usage, outcome="ok", answer=reply.answer.model_dump_json())
        return answer_type.model_validate_json(stored) if stored else reply.answer

    async def recorded(self, purpose: Purpose, subject: UUID, detail: str, answer_type: type[A]) -> A | None:
        """The answer of an earlier call, or None."""
        known = await self._calls.answer(call_key(purpose, subject, detail))
        return None if known is None else answer_type.model_validate_json(known)

    async def embed(self, texts: list[str], *, job: JobRef, subject: UUID, detail: str) -> list[Vector]:
        """Vectors of texts, with one audit row a batch. Raises ModelError."""
        if not texts:
            return []
        started = self._clock()
        key = call_key(Purpose.EMBED, subject, detail)
        try:
            vectors = await self._embedder.embed(texts)
        except ModelError as error:
            usage = Usage(model=self._embedder.name, attempts=error.attempts)
            await self._record(key, job, Purpose.EMBED, usage, outcome=error.type)
            raise
        latency = int((self._clock() - started).total_seconds() * 1000)
        await self._record(key, job, Purpose.EMBED, Usage(model=self._embedder.name, latency_ms=latency), outcome="ok")
        return vectors

    async def _record(
        self, key: str, job: JobRef, purpose: Purpose, usage: Usage, *, outcome: str, answer: str | None = None
    ) -> str | None:
        return await self._calls.record(
            key,
            user_id=job.user_id,
            job_id=job.job_id,
            purpose=purpose,
            usage=usage,
            outcome=outcome,
            answer=answer,
            now=self._clock(),
        )
