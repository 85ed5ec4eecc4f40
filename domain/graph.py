"""What is written to and read from the hypergraph (paper Eq. 3-8; design 3.1, 3.3, 4)."""

from enum import StrEnum
from uuid import UUID

from pydantic import AwareDatetime

from domain.memory import Anchor, AnchorType, Frozen, Literal, MemoryKind, Status, TimeSpan

Vector = list[float]
"""An embedding of unit length; its length is the embedder's dimension."""


class NameKey(Frozen):
    """A name with its key kappa(name)."""

    name: str
    key: str


class AnchorWrite(Frozen):
    """An admitted anchor of one record. The store gives it to the anchor that owns `key` (its own or as an alias), or
    makes it."""

    id: UUID
    """Id to use if the anchor is new."""
    name: str
    key: str
    type: AnchorType
    aliases: tuple[NameKey, ...] = ()
    """Other names that denote it; an alias whose key another anchor owns already is left where it is."""
    vector: Vector
    """Embedding of `name`."""
    score: float = 1.0


class ArmWrite(Frozen):
    """An arm by the key of its anchor, which is among the anchors of the same write."""

    role: str
    key: str


class FrameWrite(Frozen):
    """A frame ready to be stored or, if it is there already, cited once more."""

    id: str
    """id_S or id_E (paper Eq. 6, 7)."""
    predicate: str
    arms: tuple[ArmWrite, ...]
    occurrence: str
    """chi(f) of an episodic frame (Eq. 8), empty for a semantic one."""
    literals: tuple[Literal, ...] = ()
    event_time: TimeSpan | None = None
    status: Status = Status.STATE
    negated: bool = False
    modality: str = ""
    confidence: float = 1.0
    vector: Vector
    """Embedding of the rendered frame."""


class GraphWrite(Frozen):
    """Everything one record adds to the graph, applied in one transaction."""

    user_id: str
    record_id: UUID
    kind: MemoryKind
    mention_time: AwareDatetime
    anchors: tuple[AnchorWrite, ...]
    frames: tuple[FrameWrite, ...]


MAX_KEY_BYTES = 1_000
"""Longest key, predicate or role, in UTF-8, that a graph store can index; what is longer is text, not a name."""


def indexable(write: GraphWrite) -> GraphWrite:
    """The write without anchors, aliases and frames whose key, predicate or role is longer than MAX_KEY_BYTES."""

    def short(text: str) -> bool:
        return len(text.encode()) <= MAX_KEY_BYTES

    anchors = tuple(
        anchor.model_copy(update={"aliases": tuple(alias for alias in anchor.aliases if short(alias.key))})
        for anchor in write.anchors
        if short(anchor.key)
    )
    frames = tuple(
        frame for frame in write.frames if short(frame.predicate) and all(short(arm.role) for arm in frame.arms)
    )
    return write.model_copy(update={"anchors": anchors, "frames": frames})


class GraphWritten(Frozen):
    """What a write changed; all zero when it was applied before."""

    anchors_created: int = 0
    frames_created: int = 0
    citations_added: int = 0


class AnchorHit(Frozen):
    """An anchor found by name vector; `score` is the cosine."""

    anchor_id: UUID
    name: str
    type: AnchorType
    aliases: tuple[str, ...] = ()
    score: float


class GraphCounts(Frozen):
    """Size of a user's graph."""

    anchors: int
    frames: int
    arms: int


class Neighbourhood(Frozen):
    """An anchor with the nearest entries of the name index (paper Eq. 13)."""

    anchor: Anchor
    """Without its record ids."""
    semantic: bool
    """Whether a semantic record mentions it."""
    nearest: tuple[AnchorHit, ...]
    """Of the nearest entries those that are similar enough and mentioned by a semantic record; never the anchor
    itself."""


class Joined(Frozen):
    """One merge to apply: what `absorbed` holds goes to `representative`."""

    id: UUID
    """`dream.rounds.merge_id`."""
    absorbed: UUID
    representative: UUID


class MergeState(StrEnum):
    """Of an entry of the merge log."""

    APPLIED = "applied"
    UNDONE = "undone"
    LOST = "lost"
    """The graph was lost since, and was made again from the evidence without it."""


class Merge(Frozen):
    """An entry of the merge log."""

    id: UUID
    consolidation_id: UUID
    absorbed: UUID
    absorbed_name: str
    representative: UUID
    representative_name: str
    type: AnchorType
    state: MergeState
    merged_at: AwareDatetime
    undone_by: UUID | None = None
    """The consolidation that took it back."""


class Unmerged(Frozen):
    """What taking a merge back left."""

    merge: Merge
    kept: int
    """Mentions of the representative written since the merge: they stay with it, whichever name they used."""
