"""A consolidation: what was asked for, the pairs it compared, and its receipt (paper 2.5, A.5)."""

from enum import StrEnum
from uuid import UUID, uuid5

from pydantic import AwareDatetime, Field

from domain.jobs import NAMESPACE
from domain.memory import AnchorType, Frozen
from domain.model_calls import Verdict


class Mode(StrEnum):
    """What a consolidation does. All change the user's graph, so all take their turn in the user's queue."""

    INTERMEDIATE = "intermediate"
    """A Dream round over a batch just written (paper A.5)."""
    FINAL = "final"
    """A Dream round that also takes anchors no round has taken, with one repair round (paper A.5)."""
    MERGE = "merge"
    """One merge by hand."""
    SPLIT = "split"
    """A name leaves its anchor, by hand."""
    UNDO = "undo"
    """Merges of an earlier consolidation taken back."""


ROUNDS = (Mode.INTERMEDIATE, Mode.FINAL)


class ConsolidationState(StrEnum):
    """`accepted` -> `running` -> `completed`; `review` while merges wait for a person; `failed`, `cancelled` end it."""

    ACCEPTED = "accepted"
    RUNNING = "running"
    REVIEW = "review"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = (ConsolidationState.COMPLETED, ConsolidationState.FAILED, ConsolidationState.CANCELLED)


class Stage(StrEnum):
    """The rounds of a consolidation: a final one has both, an intermediate one the first only."""

    MAIN = "main"
    REPAIR = "repair"


class PairState(StrEnum):
    """What has become of a pair."""

    OPEN = "open"
    """No verdict yet."""
    SAME = "same"
    """To be merged by the round's merge step."""
    MERGED = "merged"
    REJECTED = "rejected"
    """Explicitly different: no later round asks again."""
    UNSURE = "unsure"
    GUARDED = "guarded"
    """Told to be the same, refused by the deterministic guard."""
    STALE = "stale"
    """An end of it was gone when its turn came."""
    PROPOSED = "proposed"
    """What a dry run would merge."""
    PENDING = "pending"
    """Waits for a person."""
    APPROVED = "approved"
    """By a person; waits for its turn at the graph."""
    DECLINED = "declined"
    """By a person; remembered like a rejection."""


class PairEnd(Frozen):
    """One anchor of a pair, as it was when the pair was formed."""

    anchor_id: UUID
    name: str
    record_ids: tuple[UUID, ...] = ()
    """The evidence rows that the verification reads, at most EVIDENCE_ROWS."""


class Pair(Frozen):
    """Two anchors of one type compared in a consolidation."""

    id: UUID
    """`pair_id` of consolidation, stage and key."""
    key: str
    """`candidates.pair_key`: what the negative cache knows the pair by."""
    stage: Stage = Stage.MAIN
    type: AnchorType
    a: PairEnd
    b: PairEnd
    similarity: float
    """Cosine of the two names."""
    state: PairState = PairState.OPEN
    verdict: Verdict | None = None
    canonical: UUID | None = None
    """With `same`: the end whose name stays."""
    reason: str = ""
    """Of the model, of the guard, or of the person who decided."""
    decided_by: str = ""
    """Name of the model, or of the person."""


class Receipt(Frozen):
    """What a consolidation did. Counts of pairs are over all of its stages."""

    frontier: int = 0
    """Anchors taken as sources."""
    candidates: int = 0
    """Pairs formed, those left out."""
    cached: int = 0
    """Pairs left out because they were rejected before, or wait for a person in another round."""
    verified: int = 0
    merged: int = 0
    rejected: int = 0
    unsure: int = 0
    guarded: int = 0
    stale: int = 0
    proposed: int = 0
    pending: int = 0
    unreached: int = 0
    """Pairs beyond the cap, or without a valid answer: not recorded, so that a later round forms them again."""
    undone: int = 0
    kept: int = 0
    """With `undo` and `split`: mentions written since the merge, which stay with the anchor they name now."""
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    """From its turn at the graph to its end, or until merges wait for a person."""
    evidence_before: str = ""
    evidence_after: str = ""
    """Digests of the user's records at the start, and of the same records at the end (invariant 5)."""


class NewConsolidation(Frozen):
    """What is asked for; valid if it comes from `domain.dream.asking.checked`."""

    user_id: str
    request_id: str
    mode: Mode
    dry_run: bool = False
    """List what would be merged, and change nothing."""
    review: bool = False
    """Hold each merge for a person."""
    chunk_ids: tuple[UUID, ...] = ()
    """Frontier: the semantic records of these chunks. With neither these nor `since`: all news no round has used."""
    since: AwareDatetime | None = None
    """Frontier: the semantic records of inputs accepted from this time on."""
    target: UUID | None = None
    """With `undo`: the consolidation. With `merge`: the anchor that stays. With `split`: the one that has the name."""
    absorbed: UUID | None = None
    """With `merge`: the anchor that goes. With `undo`: only the merge that absorbed this one."""
    name: str = ""
    """With `split`: the name that leaves."""
    force: bool = False
    """With `merge`: though the guard forbids it."""
    actor: str = ""
    """Who asked, for the audit: a person's name, `schedule/<name>` or `ingest`."""
    timeout_seconds: int = 3600
    """Longest time from its turn to its end; then it has failed and the next one runs."""


class Consolidation(NewConsolidation):
    """A consolidation with its state."""

    id: UUID
    sequence: int
    """Order among the consolidations of the user, from 1."""
    after_job: int
    """It takes its turn after the user's inputs up to this sequence number."""
    state: ConsolidationState
    applying: bool = False
    """Its review has approved merges, which wait for their turn at the graph."""
    step: str = ""
    reason: str = ""
    """With `failed`: the step that gave up and the error's type."""
    detail: str = ""
    """With `failed`: what the error says; holds no memory text."""
    receipt: Receipt = Field(default_factory=Receipt)
    accepted_at: AwareDatetime
    started_at: AwareDatetime | None = None
    finished_at: AwareDatetime | None = None

    @property
    def ended(self) -> bool:
        """True once nothing will change any more, save by an undo."""
        return self.state in ENDED

    @property
    def settled(self) -> bool:
        """True once nothing happens without a person: it has ended, or merges wait for a decision."""
        return self.ended or self.state is ConsolidationState.REVIEW


class Requested(Frozen):
    """The answer to a request: its consolidation, and whether it is new or was asked for before under the same id."""

    consolidation: Consolidation
    created: bool


def consolidation_id(user_id: str, request_id: str) -> UUID:
    """The id of a user's request: the same on every attempt."""
    return uuid5(NAMESPACE, f"consolidation\n{user_id}\n{request_id}")


def round_request(batch: UUID, chunks: int) -> str:
    """The request id of the round that follows a batch's chunk of this number."""
    return f"batch/{batch}/{chunks}"


def final_request(batch: UUID, jobs: int) -> str:
    """The request id of a batch's final round; inputs that join it later get another one."""
    return f"batch/{batch}/final/{jobs}"


def pair_id(consolidation: UUID, stage: Stage, key: str) -> UUID:
    """The id of a pair within a consolidation."""
    return uuid5(consolidation, f"pair\n{stage}\n{key}")


def merge_id(consolidation: UUID, absorbed: UUID) -> UUID:
    """The id of a merge: an anchor is absorbed once in a consolidation."""
    return uuid5(consolidation, f"merge\n{absorbed}")
