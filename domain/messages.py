"""Requests and results of workflows and activities: ids and counts only (invariant 7). New fields get defaults."""

from uuid import UUID

from domain.dream.rounds import ENDED, Consolidation, ConsolidationState, Mode, Stage
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


class ConsolidationRef(Frozen):
    """A consolidation of a user, and what its workflow has to do."""

    user_id: str
    consolidation_id: UUID
    mode: Mode = Mode.INTERMEDIATE
    dry_run: bool = False
    review: bool = False
    applying: bool = False
    """Only the merges that its review has approved."""
    timeout_seconds: int = 3600


def ref_of(consolidation: Consolidation) -> ConsolidationRef:
    """A consolidation as workflows name it."""
    return ConsolidationRef(
        consolidation_id=consolidation.id,
        **consolidation.model_dump(include={"user_id", "mode", "dry_run", "review", "applying", "timeout_seconds"}),
    )


class DreamRequest(Frozen):
    """Input of the workflow of a consolidation."""

    consolidation: ConsolidationRef
    prefix: str


class StageTask(Frozen):
    """One step over one stage of a round."""

    consolidation: ConsolidationRef
    stage: Stage


class Formed(Frozen):
    """The pairs of a stage; the counts go into the receipt."""

    pairs: tuple[UUID, ...] = ()
    cached: int = 0
    unreached: int = 0


class PairsTask(Frozen):
    """The verification of a few pairs of a stage."""

    consolidation: ConsolidationRef
    pairs: tuple[UUID, ...]


class Tally(Frozen):
    """What a round counts on its way; `+` adds."""

    frontier: int = 0
    cached: int = 0
    unreached: int = 0
    merged: int = 0
    """By hand; a round's merges are counted from its pairs."""
    undone: int = 0
    kept: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(**{name: getattr(self, name) + getattr(other, name) for name in Tally.model_fields})


class DreamEnd(Frozen):
    """How a consolidation ends; `step`, `reason` (the error's type) and `detail` (what it says) where it fails."""

    consolidation: ConsolidationRef
    tally: Tally = Tally()
    step: str = ""
    reason: str = ""
    detail: str = ""
    cancelled: bool = False


class DreamOutcome(Frozen):
    """How far a consolidation is; the result of its workflow."""

    state: ConsolidationState
    merged: int = 0
    pending: int = 0

    @property
    def settled(self) -> bool:
        """True once nothing more happens without a person."""
        return self.state in (*ENDED, ConsolidationState.REVIEW)


class PairDecision(Frozen):
    """A person's decision on a pair under review."""

    user_id: str
    consolidation_id: UUID
    pair_id: UUID
    approve: bool
    canonical: UUID | None = None
    """With approval: the end whose name stays, where it is not the one proposed."""
    actor: str = ""


class ReviewRequest(Frozen):
    """Input of the workflow that waits for a person's decisions."""

    consolidation: ConsolidationRef
    prefix: str
    wait_seconds: int = 7 * 24 * 3600
    """How long it waits; what is not decided then stays pending, and may be decided later."""


class BatchRequest(Frozen):
    """Input of the workflow that feeds a batch."""

    user_id: str
    batch_id: UUID
    prefix: str


class BatchStep(Frozen):
    """How far a batch is."""

    jobs: int = 0
    ended: int = 0


class UserPage(Frozen):
    """A page of users, from just after one."""

    after: str = ""
    limit: int = 100


class Users(Frozen):
    """A page of user ids."""

    user_ids: tuple[str, ...] = ()


class ScheduledRound(Frozen):
    """The round of one user that a run of a schedule asks for."""

    user_id: str
    schedule: str
    """The schedule's name."""
    run: str
    """Names the run of the schedule, so that asking again is the same request."""
    mode: Mode = Mode.FINAL
    review: bool = False
    timeout_seconds: int = 3600


class ScheduledRequest(Frozen):
    """Input of the workflow that a schedule starts. What follows `timeout_seconds` is carried over continue-as-new."""

    prefix: str
    schedule: str
    user_id: str | None = None
    """None: every user with a frontier."""
    mode: Mode = Mode.FINAL
    review: bool = False
    timeout_seconds: int = 3600
    after: str = ""
    left: tuple[str, ...] = ()
    """Users up to `after` whose rounds are not known to have ended."""
    run: str = ""
    outcome: "ScheduledOutcome | None" = None


class ScheduledOutcome(Frozen):
    """Result of a run of a schedule: rounds by how they ended."""

    rounds: int = 0
    failed: int = 0
    """Among them those that ran out of time."""
    merged: int = 0


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
    batch_id: UUID | None = None
    """The batch the input is fed with: rounds of AutoDream go between its chunks."""
    consolidation: ConsolidationRef | None = None
    """Instead of a job: the consolidation whose turn it is."""


class IndexRequest(Frozen):
    """Input of the index workflow: canonicalize and upsert every chunk of a job, in order."""

    job: JobRef
    prefix: str
    chunks: int
    next_chunk: int = 0
    batch_id: UUID | None = None
    """A round of AutoDream follows every five chunks of this batch."""
