"""Which pairs of anchors a round verifies (paper Eq. 13, A.5)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from uuid import UUID

from domain.dream.rounds import Mode, Pair, PairEnd, Stage, pair_id
from domain.graph import AnchorHit
from domain.identity import veto
from domain.memory import AnchorType, Frozen

SAFE_TYPES = frozenset(
    {AnchorType.PERSON, AnchorType.ORGANIZATION, AnchorType.LOCATION, AnchorType.OBJECT, AnchorType.CONCEPT}
)
"""T_safe: types whose identity lasts (paper Eq. 13)."""
NEIGHBOURS = 4
"""Nearest entries of the name index, the anchor itself among them (paper Eq. 13)."""
DREAM_SIMILARITY = 0.86
"""Least cosine of a candidate pair (paper Eq. 13)."""
INTERMEDIATE_PAIRS = 80
"""Unseen pairs an intermediate round verifies at most (paper A.5)."""
FINAL_PAIRS = 120
"""Unseen pairs the final round verifies at most (paper A.5)."""
REPAIR_PAIRS = 60
"""Pairs the repair round verifies at most (paper A.5)."""
EVIDENCE_ROWS = 3
"""Records of each anchor that a verification reads (ours)."""


class Source(Frozen):
    """An eligible anchor of the frontier with its nearest names."""

    anchor_id: UUID
    name: str
    type: AnchorType
    neighbours: tuple[AnchorHit, ...]


class Selection(Frozen):
    """The pairs of a round."""

    pairs: tuple[Pair, ...]
    """Within the cap, by key."""
    cached: int
    unreached: int
    """Pairs beyond the cap."""
    waiting: tuple[UUID, ...]
    """Anchors with a pair beyond the cap: sources again in a later round, unlike all others."""


def pair_cap(mode: Mode, stage: Stage) -> int:
    """How many pairs a round verifies at most."""
    if stage is Stage.REPAIR:
        return REPAIR_PAIRS
    return FINAL_PAIRS if mode is Mode.FINAL else INTERMEDIATE_PAIRS


def pair_key(a: str, b: str, kind: AnchorType) -> str:
    """H(sorted casefolded pair, type): the negative cache's key, whatever the order (paper A.5). 64 hexadecimal digits.

    Each part goes in with its length, so that no two pairs share one text.
    """
    first, second = sorted((a.casefold(), b.casefold()))
    parts = (first, second, kind.value)
    return sha256("".join(f"{len(part)}:{part}\n" for part in parts).encode("utf-8", "surrogatepass")).hexdigest()


def formed(sources: Iterable[Source], eligible: Collection[UUID]) -> dict[str, tuple[Source, AnchorHit]]:
    """Candidate pairs by key: same type, both ends eligible, similar enough, not the anchor itself (Eq. 13), and not
    forbidden by the guard, which no verdict could overrule."""
    found: dict[str, tuple[Source, AnchorHit]] = {}
    for source in sources:
        for hit in source.neighbours:
            if hit.anchor_id != source.anchor_id and hit.anchor_id in eligible and _comparable(source, hit):
                found.setdefault(pair_key(source.name, hit.name, source.type), (source, hit))
    return found


def select(
    pairs: Mapping[str, tuple[Source, AnchorHit]],
    *,
    consolidation: UUID,
    stage: Stage,
    rejected: Collection[str],
    cap: int,
    evidence: Mapping[UUID, Sequence[UUID]],
) -> Selection:
    """The unseen pairs, the most similar first, up to the cap; in the order of their keys.

    `rejected` is the negative cache; `evidence` holds the rows to show of each anchor.
    """
    unseen = {key: pair for key, pair in pairs.items() if key not in rejected}
    ranked = sorted(unseen, key=lambda key: (-unseen[key][1].score, key))
    chosen, beyond = sorted(ranked[:cap]), ranked[cap:]
    waiting = {anchor for key in beyond for anchor in (unseen[key][0].anchor_id, unseen[key][1].anchor_id)}
    return Selection(
        pairs=tuple(_pair(*unseen[key], key, consolidation, stage, evidence) for key in chosen),
        cached=len(pairs) - len(unseen),
        unreached=len(beyond),
        waiting=tuple(sorted(waiting)),
    )


def _comparable(source: Source, hit: AnchorHit) -> bool:
    alike = hit.type == source.type and source.type in SAFE_TYPES and hit.score >= DREAM_SIMILARITY
    return alike and veto(source.name, hit.name) is None


def _pair(
    source: Source, hit: AnchorHit, key: str, consolidation: UUID, stage: Stage, evidence: Mapping[UUID, Sequence[UUID]]
) -> Pair:
    ends = (
        PairEnd(anchor_id=anchor, name=name, record_ids=tuple(evidence.get(anchor, ()))[:EVIDENCE_ROWS])
        for anchor, name in sorted(((source.anchor_id, source.name), (hit.anchor_id, hit.name)))
    )
    a, b = ends
    return Pair(
        id=pair_id(consolidation, stage, key), key=key, stage=stage, type=source.type, a=a, b=b, similarity=hit.score
    )
