"""Jobs: the life of one accepted input, as its owner sees it."""

from collections.abc import Iterable
from enum import StrEnum
from uuid import NAMESPACE_URL, UUID, uuid5

from pydantic import AwareDatetime, Field

from domain.memory import Frozen, InputForm

NAMESPACE = uuid5(NAMESPACE_URL, "reverie:memory")
"""Root of every deterministic id of the evidence plane."""


class JobState(StrEnum):
    """`accepted` -> `running` -> `extracted` -> `completed`; `failed` and `cancelled` end it and may be retried."""

    ACCEPTED = "accepted"
    """Stored; no workflow has touched it yet."""
    RUNNING = "running"
    EXTRACTED = "extracted"
    """Evidence is committed, drafts are ready, it waits for its turn at the graph."""
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


TERMINAL = (JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED)


class Job(Frozen):
    """One accepted input. Its id is the input's id."""

    id: UUID
    user_id: str
    request_id: str
    sequence: int
    """Arrival order among the inputs of the user, from 1."""
    state: JobState
    session_id: str
    form: InputForm
    messages: int
    chunks: int = 0
    chunks_done: int = 0
    """Chunks whose records are committed."""
    records: dict[str, int] = Field(default_factory=dict)
    """Records written, by kind."""
    indexed: int = 0
    index_failed: int = 0
    model_calls: int = 0
    """Answers asked of the model for this input."""
    reason: str = ""
    """With `completed` and no record: why (`no_facts`). With `failed`: the error's type."""
    step: str = ""
    """With `failed`: the step that gave up."""
    attempt: int = 1
    """1, and one more for every retry asked for."""
    batch_id: UUID | None = None
    """The batch it is fed with."""
    sanitized: bool = False
    """True if characters that can't be stored were replaced in the input."""
    accepted_at: AwareDatetime
    finished_at: AwareDatetime | None = None

    @property
    def terminal(self) -> bool:
        """True once nothing will change without a retry."""
        return self.state in TERMINAL


class Acceptance(Frozen):
    """The answer to a new input: its job, and whether it is new or was accepted before under the same request id."""

    job: Job
    created: bool


class Batch(Frozen):
    """Inputs fed to the memory a window at a time, with rounds of AutoDream between their chunks."""

    id: UUID
    user_id: str
    jobs: int = 0
    started: int = 0
    """Jobs that are no longer only accepted."""
    ended: int = 0
    chunks: int = 0
    """Chunks that are in the graph."""


def batch_id(user_id: str, request_ids: Iterable[str]) -> UUID:
    """The id of a batch: the same for the same inputs, so that a repeated command is one batch."""
    return uuid5(NAMESPACE, "\n".join(("batch", user_id, *request_ids)))


def job_id(user_id: str, request_id: str) -> UUID:
    """The id of a user's request: the same on every attempt, so that a repeated request is one job."""
    return uuid5(NAMESPACE, f"job\n{user_id}\n{request_id}")


def chunk_id(job: UUID, ordinal: int) -> UUID:
    """The id of a chunk: stable, because cutting is deterministic."""
    return uuid5(NAMESPACE, f"chunk\n{job}\n{ordinal}")


def record_id(chunk: UUID, kind: str, ordinal: int) -> UUID:
    """The id of a record: uuid5 of input, kind and ordinal (design 3, Commit), so that a retry can't write twice."""
    return uuid5(NAMESPACE, f"record\n{chunk}\n{kind}\n{ordinal}")


def anchor_id(user_id: str, key: str) -> UUID:
    """The id of an anchor: the user's and its key at creation."""
    return uuid5(NAMESPACE, f"anchor\n{user_id}\n{key}")
