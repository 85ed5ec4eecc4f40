"""Vectors of the texts of one chunk, each embedded once."""

from collections.abc import Sequence
from uuid import UUID

from activities.recorded import RecordedCalls
from domain.graph import Vector
from domain.messages import JobRef


class Vectors:
    """What a chunk's upsert embeds: names and frames that come up again and again."""

    def __init__(self, calls: RecordedCalls, job: JobRef) -> None:
        self._calls = calls
        self._job = job
        self._known: dict[str, Vector] = {}

    async def of(self, texts: Sequence[str], *, subject: UUID) -> list[Vector]:
        """One vector a text, in order; the new ones are asked for in one call about `subject`. Raises ModelError."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        vectors = await self._calls.embed(new, job=self._job, subject=subject, detail="upsert")
        self._known.update(zip(new, vectors, strict=True))
        return [self._known[text] for text in texts]
