"""Ports: what the domain's steps need of the world. Each has one real adapter (two for the model) and one fake in
tests."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from domain.dream.rounds import (
    Consolidation,
    ConsolidationState,
    NewConsolidation,
    Pair,
    PairState,
    Receipt,
    Requested,
    Stage,
)
from domain.dream.schedules import NewSchedule, Schedule
from domain.graph import (
    AnchorHit,
    AnchorWrite,
    GraphCounts,
    GraphWrite,
    GraphWritten,
    Joined,
    Merge,
    Neighbourhood,
    Unmerged,
    Vector,
)
from domain.jobs import Acceptance, Batch, Job, JobState
from domain.memory import Anchor, Chunk, Extraction, Frame, IndexStatus, MemoryKind, Message, NewInput, Record
from domain.messages import PairDecision, QueueHead
from domain.model_calls import (
    CanonicalizeAnswer,
    CanonicalizeRequest,
    ExtractRequest,
    Purpose,
    RecordView,
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


class VaultStore(Protocol):
    """Sensitive verbatim values, sealed with AES-256-GCM under a key per user."""

    async def seal(
        self, user_id: str, *, secret: str, caption: str, job_id: UUID, message_id: str, now: datetime
    ) -> UUID:
        """Store a value; the same value of the same user and message gives the same entry."""

    async def open(self, user_id: str, entry_id: UUID, *, accessor: str, now: datetime) -> str:
        """The value, with a row in the access audit. Raises NotFound."""


class GraphStore(Protocol):
    """The provenance hypergraph. Reads and writes raise GraphUnavailable when the graph is broken, StoreUnavailable
    otherwise."""

    async def resolve(self, user_id: str, keys: Sequence[str]) -> Mapping[str, Anchor]:
        """Anchors that own a key, as their own or as an alias, by the key asked; without their record ids."""

    async def nearest(
        self, user_id: str, vectors: Sequence[Vector], *, limit: int, floor: float
    ) -> list[tuple[AnchorHit, ...]]:
        """For each vector the user's anchors with cosine of at least `floor`, best first, ties by id."""

    async def upsert(self, write: GraphWrite) -> GraphWritten:
        """Apply a record's graph change in one transaction under the user's lock; applying it again changes nothing."""

    async def anchors(self, user_id: str, anchor_ids: Sequence[UUID]) -> tuple[Anchor, ...]: ...

    async def nearest_records(
        self,
        user_id: str,
        anchor_ids: Sequence[UUID],
        vector: Vector,
        *,
        kinds: Sequence[MemoryKind],
        per_anchor: int,
        ranked: int,
        without: Sequence[UUID] = (),
    ) -> Mapping[UUID, Mapping[UUID, float]]:
        """For each anchor its records of the kinds with their cosines, best first, ties by id, at most `per_anchor`,
        none of `without`; an anchor that has none is left out. Ranked where the vectors lie: a hub costs the caller no
        more than any other anchor. Of an anchor with more than `ranked` rows the first so many by id are ranked: ids
        are hashes, so these are as good as drawn by lot."""

    async def anchor_page(self, user_id: str, *, after: UUID | None = None, limit: int = 50) -> tuple[Anchor, ...]: ...

    async def frame(self, user_id: str, frame_id: str) -> Frame:
        """Raises NotFound."""

    async def frames_of_records(self, user_id: str, record_ids: Sequence[UUID], *, limit: int) -> tuple[Frame, ...]: ...

    async def incident_frames(self, user_id: str, anchor_ids: Sequence[UUID], *, per_anchor: int) -> tuple[Frame, ...]:
        """At most `per_anchor` frames of each anchor, in frame-id order."""

    async def frames_page(
        self, user_id: str, anchor_id: UUID, *, after: str | None = None, limit: int = 50
    ) -> tuple[Frame, ...]:
        """An anchor's frames in id order, from just after an id. None for an anchor that is absent or not the
        user's."""

    async def adjacent_frames(
        self, user_id: str, anchor_ids: Sequence[UUID], *, predicates: Sequence[str], cap: int
    ) -> tuple[Frame, ...]:
        """Frames of the anchors, filtered by predicate inside the database before the cap, in frame-id order; no
        predicate means all."""

    async def degrees(self, user_id: str, anchor_ids: Sequence[UUID], *, ceiling: int) -> Mapping[UUID, int]:
        """How many arms end at each anchor, counted up to a ceiling."""

    async def frame_similarities(
        self, user_id: str, frame_ids: Sequence[str], vector: Vector
    ) -> Mapping[str, float]: ...

    async def counts(self, user_id: str) -> GraphCounts: ...

    async def checksum(self, user_id: str | None = None) -> str:
        """Digest of anchors, aliases, frames, arms, citations and vectors by their own ids, not by the database's."""

    async def mentioned(self, user_id: str, record_ids: Sequence[UUID], *, limit: int) -> tuple[UUID, ...]:
        """The anchors that any of the records mentions, by id."""

    async def frontier(self, user_id: str, *, limit: int) -> tuple[UUID, ...]:
        """Anchors with semantic news (a record written since a round last took them), longest waiting first."""

    async def leave_frontier(self, user_id: str, anchor_ids: Sequence[UUID]) -> None:
        """Note that a round has taken these anchors."""

    async def users_with_frontier(self, *, after: str = "", limit: int) -> tuple[str, ...]:
        """Users with anchors on the frontier, in the order of their ids, from just after one."""

    async def index_names(self, user_id: str) -> bool:
        """Give a user with very many anchors a name index of their own, so that `neighbourhoods` costs no more than for
        others; False if there is one, or no need for one. May take minutes."""

    async def neighbourhoods(
        self, user_id: str, anchor_ids: Sequence[UUID], *, limit: int, floor: float
    ) -> tuple[Neighbourhood, ...]:
        """For each anchor that exists the `limit` nearest entries of the name index, the anchor itself among them, of
        which those stay that the Neighbourhood describes; in the order asked."""

    async def rows_of_pairs(
        self, user_id: str, pairs: Sequence[tuple[UUID, UUID]], *, limit: int
    ) -> tuple[tuple[tuple[UUID, ...], tuple[UUID, ...]], ...]:
        """For each pair the records to read of either anchor, at most `limit` each: first those that mention both, then
        semantic ones, ties by id. Of a hub only the first few hundred rows by id are considered."""

    async def shared_frames(
        self, user_id: str, pairs: Sequence[tuple[UUID, UUID]], *, limit: int
    ) -> tuple[tuple[tuple[UUID, ...], ...], ...]:
        """For each pair the frames in which both take part, at most `limit` in frame-id order: the records each
        cites."""

    async def merge(
        self, user_id: str, joins: Sequence[Joined], *, consolidation: UUID, now: datetime
    ) -> tuple[Merge, ...]:
        """Merge anchors in one transaction under the user's lock, in the order given, with what undoing needs in the
        log (paper 2.5). A join whose id is in the log is left out, so applying the same again changes nothing; so is
        one of whose anchors one is gone. Raises ConsolidationEnded if the consolidation is no longer running."""

    async def unmerge(self, user_id: str, merge: UUID, *, consolidation: UUID, now: datetime) -> Unmerged:
        """Take a merge back in one transaction: the absorbed anchor gets back all it had; what was written since stays.
        Taken back before: changes nothing. Raises NotFound; MergeConflict, naming it, while a later merge of the
        representative stands in the way; ConsolidationEnded as above."""

    async def detach(
        self,
        user_id: str,
        anchor: UUID,
        *,
        write: AnchorWrite,
        record_ids: Sequence[UUID],
        consolidation: UUID,
        now: datetime,
    ) -> None:
        """Make an anchor of an alias: it takes the key from `anchor`, and of the records those given with the arms of
        the frames that cite only such. Applied before: changes nothing."""

    async def merges(
        self,
        user_id: str,
        *,
        consolidation: UUID | None = None,
        anchor: UUID | None = None,
        after: UUID | None = None,
        limit: int = 50,
    ) -> tuple[Merge, ...]:
        """The merge log, in the order of ids: of a consolidation, or of the merges into or of an anchor."""


class ConsolidationStore(Protocol):
    """What was asked of AutoDream and what came of it; pairs, negative cache and receipts. All methods raise
    StoreUnavailable when the database can't be reached."""

    async def request(self, new: NewConsolidation, *, now: datetime) -> Requested:
        """Store a request at the end of the user's order. The same request id again gives the consolidation that
        exists; with anything else asked for raises RequestConflict."""

    async def consolidation(self, user_id: str, consolidation_id: UUID) -> Consolidation:
        """Raises NotFound, also for another user's."""

    async def consolidations(
        self, user_id: str, *, before: int | None = None, limit: int = 50
    ) -> tuple[Consolidation, ...]:
        """Newest first; `before` is a sequence number (exclusive)."""

    async def waiting_users(self, *, before: datetime, limit: int = 1000) -> tuple[str, ...]:
        """Users with consolidations that were accepted before a time and have not ended."""

    async def begin(self, consolidation_id: UUID, *, now: datetime) -> Consolidation:
        """Make it `running` and note the digest of the user's records; begun before: changes nothing."""

    async def save_sources(self, consolidation_id: UUID, stage: Stage, anchor_ids: Sequence[UUID]) -> None: ...

    async def sources(self, consolidation_id: UUID, stage: Stage) -> tuple[UUID, ...]:
        """In id order."""

    async def save_pairs(
        self, consolidation_id: UUID, stage: Stage, pairs: Sequence[Pair], *, waiting: Sequence[UUID]
    ) -> None:
        """Keep pairs that are not there yet, and which sources have to wait for a later round."""

    async def pairs(
        self,
        consolidation_id: UUID,
        *,
        stage: Stage | None = None,
        states: Sequence[PairState] = (),
        after: UUID | None = None,
        limit: int | None = None,
    ) -> tuple[Pair, ...]:
        """In the order of their ids, which is that of nothing; all states if none is given."""

    async def settle(self, pairs: Sequence[Pair]) -> None:
        """Store what has become of pairs: state, verdict, canonical, reason and who decided."""

    async def used_sources(self, consolidation_id: UUID) -> tuple[UUID, ...]:
        """Sources of its stages none of whose pairs has to wait for a later round."""

    async def rejected(self, user_id: str, keys: Sequence[str]) -> frozenset[str]:
        """Those of the pair keys that the negative cache holds."""

    async def asked(self, user_id: str, keys: Sequence[str], *, without: UUID) -> frozenset[str]:
        """Those of the pair keys that have a verdict of another consolidation than one."""

    async def reject(self, user_id: str, keys: Sequence[str], *, now: datetime) -> None:
        """Remember pairs as explicitly different."""

    async def end(
        self,
        consolidation_id: UUID,
        state: ConsolidationState,
        *,
        receipt: Receipt,
        now: datetime,
        step: str = "",
        reason: str = "",
        detail: str = "",
    ) -> Consolidation:
        """End it, or send it to `review`. What the store knows itself (pairs by state, model calls, time, evidence) it
        adds to the receipt. Ended before: changes nothing."""

    async def apply_review(self, consolidation_id: UUID, *, now: datetime) -> None:
        """Give a reviewed consolidation a new turn at the graph, for the merges that were approved."""


class WorkflowStarter(Protocol):
    """Starts and looks after workflows. Raises Unavailable when the workflow server can't be reached."""

    async def start_ingest(self, job: Job) -> None:
        """Start the ingest of a job; starting it again while it runs, or after it completed, does nothing."""

    async def ingest_open(self, job: Job) -> bool | None:
        """True while the job's ingest workflow runs, False once it closed, None if it was never started."""

    async def cancel_ingest(self, job: Job) -> None: ...

    async def wake_queue(self, user_id: str) -> None:
        """Tell the user's queue, starting it if need be, that there may be something to do."""

    async def cancel_consolidation(self, consolidation: Consolidation) -> bool:
        """Ask its workflow to end; False if none runs."""

    async def start_review(self, consolidation: Consolidation) -> None:
        """Start the workflow that waits for a person's decisions; it runs already: does nothing."""

    async def decide(self, consolidation: Consolidation, decision: PairDecision) -> None:
        """Hand a person's decision to the review's workflow, started again if it has closed; returns once it is
        stored. Raises what storing it raised."""

    async def start_batch(self, user_id: str, batch_id: UUID) -> None:
        """Start the workflow that feeds a batch's inputs to the memory; it runs already: does nothing."""


class Schedules(Protocol):
    """Recurring rounds of AutoDream. Raises Unavailable when the workflow server can't be reached."""

    async def create(self, new: NewSchedule) -> Schedule:
        """The same again gives the schedule that exists; another one under its name raises RequestConflict."""

    async def schedules(self, user_id: str | None, *, after: str = "", limit: int = 50) -> tuple[Schedule, ...]:
        """A user's schedules, or with None those for all users, by name."""

    async def schedule(self, user_id: str | None, name: str) -> Schedule:
        """Raises NotFound."""

    async def pause(self, user_id: str | None, name: str, *, paused: bool) -> Schedule:
        """Let it rest, or go on. Raises NotFound."""

    async def trigger(self, user_id: str | None, name: str) -> Schedule:
        """Run it now, after a run that is under way. Raises NotFound."""

    async def delete(self, user_id: str | None, name: str) -> None:
        """Raises NotFound."""
