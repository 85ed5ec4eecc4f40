"""The activities by name and message, without their implementation: the only file of this package that workflows
import."""

from abc import ABC, abstractmethod

from temporalio import activity

from domain.messages import (
    ChunkTask,
    JobFailure,
    JobOutcome,
    JobRef,
    Prepared,
    QueueHead,
    Routed,
    StepCount,
    StepFailure,
    WriteTask,
)


class WriteSteps(ABC):
    """From a stored input to committed records (Algorithm 1, lines 2-3)."""

    @abstractmethod
    @activity.defn
    async def prepare(self, task: JobRef) -> Prepared:
        """Cut the input into chunks."""

    @abstractmethod
    @activity.defn
    async def route(self, task: ChunkTask) -> Routed:
        """Choose the kinds a chunk goes to."""

    @abstractmethod
    @activity.defn
    async def write(self, task: WriteTask) -> StepCount:
        """Have one writer draft its records; the answer is recorded."""

    @abstractmethod
    @activity.defn
    async def commit(self, task: ChunkTask) -> StepCount:
        """Commit the drafted records of all kinds with their embeddings."""


class GraphSteps(ABC):
    """From committed records to the graph (Algorithm 1, lines 5-10)."""

    @abstractmethod
    @activity.defn
    async def extract(self, task: ChunkTask) -> StepCount:
        """Extract entities and frames of each record of a chunk."""

    @abstractmethod
    @activity.defn
    async def repair(self, task: ChunkTask) -> StepCount:
        """Audit each extraction and ask once for what is missing."""

    @abstractmethod
    @activity.defn
    async def canonicalize(self, task: ChunkTask) -> StepCount:
        """Decide which entities are anchors that exist."""

    @abstractmethod
    @activity.defn
    async def upsert(self, task: ChunkTask) -> StepCount:
        """Admit the anchors and write anchors and frames."""


class JobSteps(ABC):
    """Bookkeeping of jobs and of the per-user queue."""

    @abstractmethod
    @activity.defn
    async def enqueue(self, task: JobRef) -> None:
        """Mark a job ready for the graph and wake its user's queue."""

    @abstractmethod
    @activity.defn
    async def queue_head(self, user_id: str) -> QueueHead:
        """The earliest unfinished input of a user."""

    @abstractmethod
    @activity.defn
    async def check_ingest(self, task: JobRef) -> None:
        """Look after a head of the queue that does not get ready: start its workflow if it never ran, fail the job if
        it ended."""

    @abstractmethod
    @activity.defn
    async def fail_chunk(self, failure: StepFailure) -> None:
        """Note a chunk that could not be written."""

    @abstractmethod
    @activity.defn
    async def fail_index(self, failure: StepFailure) -> None:
        """Mark the records of a chunk that a graph step gave up on."""

    @abstractmethod
    @activity.defn
    async def fail_job(self, failure: JobFailure) -> None:
        """End a job as failed or cancelled and wake its user's queue."""

    @abstractmethod
    @activity.defn
    async def finish(self, task: JobRef) -> JobOutcome:
        """End a job from what was done."""
