"""Requests and results of workflows and activities: ids and counts only (invariant 7). New fields get defaults."""

from uuid import UUID

from domain.memory import Frozen, MemoryKind


class JobRef(Frozen):
    """A job of a user."""

    user_id: str
    job_id: UUID
    request_id: str = ""
    attempt: int = 1
    """Which run of the job: what an earlier run has left to say no longer concerns it."""


class IngestRequest(Frozen):
    """Input of the ingest workflow. `next_chunk` carries the position over continue-as-new."""

    job: JobRef
    prefix: str
    """The deployment's, which names its queues and workflows."""
    next_chunk: int = 0
    chunks: int = 0


class Prepared(Frozen):
    """How many chunks the input was cut into."""

    chunks: int


class ChunkTask(Frozen):
    """One step over one chunk."""

    job: JobRef
    ordinal: int


class WriteTask(Frozen):
    """One writer's step over one chunk."""

    chunk: ChunkTask
    kind: MemoryKind


class Routed(Frozen):
    """The kinds a chunk goes to."""

    kinds: tuple[MemoryKind, ...]


class StepCount(Frozen):
    """How much a step did: records handled, and records it gave up on (with the reason kept in the evidence plane)."""

    done: int = 0
    failed: int = 0


class StepFailure(Frozen):
    """A step of a chunk whose retries are spent; `reason` is the error's type, never its text."""

    chunk: ChunkTask
    step: str
    reason: str


class JobFailure(Frozen):
    """A job that ends without completing."""

    job: JobRef
    step: str
    reason: str
    cancelled: bool = False


class JobOutcome(Frozen):
    """Result of the ingest and index workflows."""

    state: str
    records: int = 0
    indexed: int = 0
    index_failed: int = 0


class UserQueueRequest(Frozen):
    """Input of the per-user queue workflow."""

    user_id: str
    prefix: str


class QueueHead(Frozen):
    """The earliest input of a user that has not been through the graph; none if `job` is missing."""

    job: JobRef | None = None
    ready: bool = False
    """True once its drafts are extracted; until then later inputs wait for it."""
    chunks: int = 0


class IndexRequest(Frozen):
    """Input of the index workflow: canonicalize and upsert every chunk of a job, in order."""

    job: JobRef
    prefix: str
    chunks: int
    next_chunk: int = 0
