"""The activities by name and message, without their implementation: the only file of this package that workflows
import."""

from abc import ABC, abstractmethod

from temporalio import activity

from domain.messages import (
    BatchRequest,
    BatchStep,
    ChunkTask,
    ConsolidationRef,
    DreamEnd,
    DreamOutcome,
    Formed,
    JobFailure,
    JobOutcome,
    JobRef,
    PairDecision,
    PairsTask,
    Prepared,
    QueueHead,
    Routed,
    ScheduledRound,
    StageTask,
    StepCount,
    StepFailure,
    Tally,
    UserPage,
    Users,
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


class RoundSteps(ABC):
    """A round of AutoDream up to its verdicts (Algorithm 1, Dream)."""

    @abstractmethod
    @activity.defn
    async def begin(self, task: ConsolidationRef) -> None:
        """Note that the consolidation has its turn, and what the evidence is like."""

    @abstractmethod
    @activity.defn
    async def index_names(self, task: ConsolidationRef) -> None:
        """Give a user with very many anchors a name index; takes minutes the first time, nothing after."""

    @abstractmethod
    @activity.defn
    async def take_frontier(self, task: StageTask) -> StepCount:
        """Fix the anchors that the stage takes as sources."""

    @abstractmethod
    @activity.defn
    async def form_pairs(self, task: StageTask) -> Formed:
        """Form the stage's candidate pairs and choose those within the cap."""

    @abstractmethod
    @activity.defn
    async def verify(self, task: PairsTask) -> StepCount:
        """Ask the model about a few pairs, one call each; each answer is recorded."""


class MergeSteps(ABC):
    """From verdicts to the graph, and back."""

    @abstractmethod
    @activity.defn
    async def merge_pairs(self, task: StageTask) -> StepCount:
        """Merge what a stage found to be the same, or propose it, or hold it for a person; counts the consolidation's
        merges so far."""

    @abstractmethod
    @activity.defn
    async def merge_approved(self, task: ConsolidationRef) -> StepCount:
        """Merge what a person has approved; counts the consolidation's merges so far."""

    @abstractmethod
    @activity.defn
    async def by_hand(self, task: ConsolidationRef) -> Tally:
        """Merge, split or take back what a person named."""


class ConsolidationSteps(ABC):
    """Bookkeeping of consolidations, reviews, batches and schedules."""

    @abstractmethod
    @activity.defn
    async def end(self, end: DreamEnd) -> DreamOutcome:
        """End a consolidation, or send it to review, and write its receipt."""

    @abstractmethod
    @activity.defn
    async def decide(self, decision: PairDecision) -> DreamOutcome:
        """Store a person's decision and have what is approved merged."""

    @abstractmethod
    @activity.defn
    async def plan_round(self, task: ChunkTask) -> ConsolidationRef | None:
        """Number a chunk of a batch; with every fifth, the round that is due."""

    @abstractmethod
    @activity.defn
    async def advance(self, task: BatchRequest) -> BatchStep:
        """Start the next inputs of a batch, as far as its window allows."""

    @abstractmethod
    @activity.defn
    async def finish_batch(self, task: BatchRequest) -> None:
        """Ask for the final round of a batch."""

    @abstractmethod
    @activity.defn
    async def frontier_users(self, task: UserPage) -> Users:
        """A page of the users with news for AutoDream."""

    @abstractmethod
    @activity.defn
    async def request_round(self, task: ScheduledRound) -> ConsolidationRef:
        """Ask for the round of a schedule; asked for before, the same."""

    @abstractmethod
    @activity.defn
    async def look_at_round(self, task: ConsolidationRef) -> DreamOutcome:
        """How far a consolidation is."""
