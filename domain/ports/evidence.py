"""The evidence plane: inputs and jobs, records, the vault."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from domain.graph import (
    Vector,
)
from domain.jobs import Acceptance, Batch, Job, JobState
from domain.memory import Chunk, IndexStatus, MemoryKind, Message, NewInput, Record
from domain.messages import QueueHead
from domain.model_calls import (
    RecordView,
)


class JobStore(Protocol):
    """Inputs, jobs and chunks. All methods raise StoreUnavailable when the database can't be reached."""

    async def accept(self, new: NewInput, *, body_hash: str, now: datetime, batch_id: UUID | None = None) -> Acceptance:
        """Store an input with its job in one transaction, in the user's arrival order.

        The same request id with the same hash gives the job that exists; with another hash raises RequestConflict. Of
        the messages, those whose id the user's session holds already (from another input) are not stored again.
        """

    async def job(self, user_id: str, job_id: UUID) -> Job:
        """Raises NotFound, also for another user's job."""

    async def jobs(self, user_id: str, *, before: int | None = None, limit: int = 50) -> tuple[Job, ...]:
        """Newest first; `before` is a sequence number (exclusive)."""

    async def messages(self, job_id: UUID) -> tuple[Message, ...]: ...

    async def input(self, job_id: UUID) -> NewInput:
        """The stored input with the messages that are its own."""

    async def previous_message(self, job_id: UUID) -> Message | None:
        """The last message of the same session that arrived before this input."""

    async def save_chunks(self, job_id: UUID, chunks: Sequence[Chunk]) -> None:
        """Idempotent: chunks that exist are left as they are. Sets the job's number of chunks and state `running`."""

    async def chunk(self, job_id: UUID, ordinal: int) -> Chunk: ...

    async def save_kinds(self, chunk_id: UUID, kinds: Sequence[MemoryKind]) -> None: ...

    async def kinds(self, chunk_id: UUID) -> tuple[MemoryKind, ...] | None:
        """The kinds the chunk was routed to; None before routing."""

    async def mark_committed(self, chunk_id: UUID) -> None: ...

    async def fail_chunk(self, job_id: UUID, ordinal: int, *, step: str, reason: str) -> None:
        """Note that a chunk could not be written; the job will end as failed."""

    async def set_state(self, job_id: UUID, state: JobState, *, now: datetime, step: str = "", reason: str = "") -> Job:
        """Move a job. A terminal state sets finished_at; other moves clear it."""

    async def finish(self, job_id: UUID, *, now: datetime) -> Job:
        """End a job from what its chunks and records show: `failed` if a chunk was not written, else `completed`."""

    async def reopen(self, job_id: UUID, *, now: datetime) -> Job:
        """Make a terminal job `accepted` again, one attempt later: chunk errors cleared, failed records pending."""

    async def queue_head(self, user_id: str) -> QueueHead:
        """The user's earliest job that is not terminal; ready once `extracted`."""

    async def open_jobs(self, *, before: datetime, limit: int = 1000) -> tuple[Job, ...]:
        """Jobs of all users that are not terminal and were accepted (or reopened) before a time, oldest first."""

    async def batch(self, user_id: str, batch_id: UUID) -> Batch:
        """How far a batch is; one without an input is empty."""

    async def next_jobs(self, batch_id: UUID, *, window: int) -> tuple[Job, ...]:
        """The inputs of a batch to start now, in order, so that at most `window` of it are under way."""

    async def note_chunk(self, batch_id: UUID, chunk_id: UUID) -> int:
        """Number a chunk of a batch that is in the graph, from 1; numbered before: the same number."""

    async def noted_chunks(self, batch_id: UUID, *, after: int, up_to: int) -> tuple[UUID, ...]:
        """The chunks with numbers in `(after, up_to]`, in order."""


class RecordStore(Protocol):
    """The records of the evidence plane with their vectors, and the drafts on the way to the graph."""

    async def commit(self, records: Sequence[Record], vectors: Sequence[Vector]) -> int:
        """Insert records that are not there yet, all in one transaction; returns how many were new."""

    async def record(self, user_id: str, record_id: UUID) -> Record:
        """Raises NotFound, also for another user's record."""

    async def records(self, user_id: str, record_ids: Sequence[UUID]) -> tuple[Record, ...]:
        """Those of the ids that exist and are the user's, in the order asked."""

    async def of_chunk(self, chunk_id: UUID) -> tuple[Record, ...]:
        """By kind and ordinal."""

    async def page(
        self, user_id: str, *, kinds: Sequence[MemoryKind] = (), after: UUID | None = None, limit: int = 50
    ) -> tuple[Record, ...]:
        """In a stable order that later writes do not shift."""

    async def semantic_of(self, user_id: str, chunk_ids: Sequence[UUID], *, limit: int) -> tuple[UUID, ...]:
        """The user's semantic records of chunks, in the order of writing."""

    async def semantic_since(self, user_id: str, since: datetime, *, limit: int) -> tuple[UUID, ...]:
        """The user's semantic records of inputs accepted from a time on, in the order of writing."""

    async def view(self, user_id: str, kind: MemoryKind, *, limit: int) -> tuple[RecordView, ...]:
        """The newest current records of a kind."""

    async def set_index(
        self, record_ids: Sequence[UUID], status: IndexStatus, *, step: str = "", reason: str = ""
    ) -> None: ...

    async def save_draft(self, record_id: UUID, step: str, draft: str) -> None:
        """Keep a step's result (JSON) for a record; the first one saved stays."""

    async def drafts(self, record_ids: Sequence[UUID], step: str) -> Mapping[UUID, str]:
        """The saved results of a step, by record; records without one are left out."""

    async def same_chunk(self, user_id: str, record_ids: Sequence[UUID], *, limit: int) -> tuple[UUID, ...]:
        """Records of the same chunks (paper A.3: recomputed from provenance)."""

    async def temporal_neighbours(self, user_id: str, record_ids: Sequence[UUID], *, limit: int) -> tuple[UUID, ...]:
        """Records of the same session just before and after."""

    async def surroundings(self, user_id: str, record_ids: Sequence[UUID], *, characters: int) -> Mapping[UUID, str]:
        """For each record the messages it cites, each with the one before and after it in its input: speakers, words
        and captions, at most `characters` of each text, a long cited text from where the record's source starts."""

    async def similarities(self, user_id: str, record_ids: Sequence[UUID], vector: Vector) -> Mapping[UUID, float]:
        """Cosine of each record with a vector."""

    async def search_direct(
        self, user_id: str, *, vector: Vector, words: Sequence[str], kinds: Sequence[MemoryKind], limit: int
    ) -> tuple[UUID, ...]:
        """Vector and full-text search over the user's rows, best first: the way out when the graph can't be read."""

    async def checksum(self, user_id: str | None = None) -> str:
        """Digest of every record, its vector, and of chunks, messages and jobs; times of processing left out."""


class VaultStore(Protocol):
    """Sensitive verbatim values, sealed with AES-256-GCM under a key per user."""

    async def seal(
        self, user_id: str, *, secret: str, caption: str, job_id: UUID, message_id: str, now: datetime
    ) -> UUID:
        """Store a value; the same value of the same user and message gives the same entry."""

    async def open(self, user_id: str, entry_id: UUID, *, accessor: str, now: datetime) -> str:
        """The value, with a row in the access audit. Raises NotFound."""
