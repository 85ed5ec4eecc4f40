"""Which pairs of anchors a round verifies (paper Eq. 13, A.5)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from uuid import UUID

from domain.dream.rounds import Mode, Pair, PairEnd, Stage, pair_id
from domain.graph import AnchorHit, Neighbourhood
from domain.identity import veto
from domain.memory import Anchor, AnchorType, Frozen

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
SOURCES = 2_000
"""Sources a stage takes at most (ours); the rest of a longer frontier waits for the next round."""
SHARED_FRAMES = 8
"""Frames of a pair that the guard on participants reads (ours)."""
BATCH_CHUNKS = 5
"""Chunks of a batch between two rounds (paper 2.5, A.5)."""


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


def formed(neighbourhoods: Iterable[Neighbourhood]) -> dict[str, tuple[Anchor, AnchorHit]]:
    """Candidate pairs by key: same safe type, both backed by semantic records, similar enough (Eq. 13), and not
    forbidden by the guard, which no verdict could overrule."""
    found: dict[str, tuple[Anchor, AnchorHit]] = {}
    for place in neighbourhoods:
        for hit in place.nearest if place.semantic else ():
            if hit.anchor_id != place.anchor.id and _comparable(place.anchor, hit):
                found.setdefault(pair_key(place.anchor.name, hit.name, hit.type), (place.anchor, hit))
    return found


def select(
    pairs: Mapping[str, tuple[Anchor, AnchorHit]],
    *,
    consolidation: UUID,
    stage: Stage,
    known: Collection[str],
    asked: Collection[str],
    cap: int,
) -> Selection:
    """The pairs that are not known, up to the cap, in the order of their keys: first those no round has asked about,
    the most similar first. So the same undecided pairs never keep others from their turn.

    `known` are the negative cache and what waits for a person elsewhere, `asked` are pairs with a verdict of an earlier
    round: beyond the cap they are as good as seen, and hold nothing back.
    """
    open_pairs = {key: pair for key, pair in pairs.items() if key not in known}
    ranked = sorted(open_pairs, key=lambda key: (key in asked, -open_pairs[key][1].score, key))
    chosen, beyond = sorted(ranked[:cap]), [key for key in ranked[cap:] if key not in asked]
    waiting = {end for key in beyond for end in (open_pairs[key][0].id, open_pairs[key][1].anchor_id)}
    return Selection(
        pairs=tuple(_pair(*open_pairs[key], key=key, consolidation=consolidation, stage=stage) for key in chosen),
        cached=len(pairs) - len(open_pairs),
        unreached=len(beyond),
        waiting=tuple(sorted(waiting)),
    )


def with_rows(pairs: Iterable[Pair], rows: Iterable[tuple[Sequence[UUID], Sequence[UUID]]]) -> tuple[Pair, ...]:
    """The pairs with the records to read of either end. Raises ValueError if their numbers differ."""
    return tuple(
        pair.model_copy(
            update={
                "a": pair.a.model_copy(update={"record_ids": tuple(of_a)[:EVIDENCE_ROWS]}),
                "b": pair.b.model_copy(update={"record_ids": tuple(of_b)[:EVIDENCE_ROWS]}),
            }
        )
        for pair, (of_a, of_b) in zip(pairs, rows, strict=True)
    )


def _comparable(anchor: Anchor, hit: AnchorHit) -> bool:
    alike = hit.type == anchor.type and anchor.type in SAFE_TYPES and hit.score >= DREAM_SIMILARITY
    return alike and veto(anchor.name, hit.name) is None


def _pair(anchor: Anchor, hit: AnchorHit, *, key: str, consolidation: UUID, stage: Stage) -> Pair:
    ends = sorted(((anchor.id, anchor.name), (hit.anchor_id, hit.name)))
    a, b = (PairEnd(anchor_id=end, name=name) for end, name in ends)
    identity = pair_id(consolidation, stage, key)
    return Pair(id=identity, key=key, stage=stage, type=anchor.type, a=a, b=b, similarity=hit.score)
