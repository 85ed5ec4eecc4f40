"""A round of AutoDream, and the pairs of anchors it compares (paper 2.5, A.5)."""

from enum import StrEnum
from uuid import UUID, uuid5

from domain.memory import AnchorType, Frozen


class Mode(StrEnum):
    """Which anchors a round takes as sources (paper A.5)."""

    INTERMEDIATE = "intermediate"
    """Those of the batch just written."""
    FINAL = "final"
    """Also those that no round has taken; with one repair round over what it merged."""


class Stage(StrEnum):
    """A final round has both; an intermediate one the first only."""

    MAIN = "main"
    REPAIR = "repair"


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


def pair_id(consolidation: UUID, stage: Stage, key: str) -> UUID:
    """The id of a pair within a consolidation."""
    return uuid5(consolidation, f"pair\n{stage}\n{key}")
