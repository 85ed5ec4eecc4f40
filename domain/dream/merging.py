"""The merge algebra: what pairs told to be the same make of the anchors (paper 2.5, Lossless structural merge).

Nothing here depends on the order in which pairs or anchors come: groups grow by a rule on the pairs themselves, and
what an anchor holds is united by union, sum and maximum.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from uuid import UUID

from domain.memory import Frozen


class SamePair(Frozen):
    """Two anchors told to be the same."""

    key: str
    """Of the pair: breaks ties between equally similar ones."""
    a: UUID
    b: UUID
    canonical: UUID
    """The one of the two whose name stays."""
    similarity: float


class Group(Frozen):
    """Anchors that become one."""

    representative: UUID
    absorbed: tuple[UUID, ...]
    """In id order."""


class Refusal(Frozen):
    """A pair that may not merge, though told to be the same."""

    key: str
    reason: str


class Grouping(Frozen):
    """What a set of pairs comes to."""

    groups: tuple[Group, ...]
    """By representative."""
    refused: tuple[Refusal, ...]
    """By key."""


class Holdings(Frozen):
    """What a merge unites of an anchor; its arms are rewired beside it."""

    episodic_ids: frozenset[UUID] = frozenset()
    semantic_ids: frozenset[UUID] = frozenset()
    aliases: frozenset[str] = frozenset()
    mentions: int = 0
    score: float = 0.0


Forbidden = Callable[[UUID, UUID], str | None]
"""Why two anchors may not be one, or None. Symmetric."""


def united(one: Holdings, other: Holdings) -> Holdings:
    """Union of the records and aliases, sum of the mentions, maximum of the scores. Commutative and associative."""
    return Holdings(
        episodic_ids=one.episodic_ids | other.episodic_ids,
        semantic_ids=one.semantic_ids | other.semantic_ids,
        aliases=one.aliases | other.aliases,
        mentions=one.mentions + other.mentions,
        score=max(one.score, other.score),
    )


def grouped(pairs: Iterable[SamePair], weights: Mapping[UUID, int], *, forbidden: Forbidden) -> Grouping:
    """Join the pairs into groups with one representative each.

    The most similar pairs join first. A pair whose joining would bring together two anchors that may not be one is
    refused, so a chain a ~ b ~ c never smuggles in a merge of a and c. `weights` (mentions) choose a representative
    where the verdicts do not.
    """
    ranked = sorted(pairs, key=lambda pair: (-pair.similarity, pair.key))
    groups: dict[UUID, frozenset[UUID]] = {}
    joined: list[SamePair] = []
    refused: list[Refusal] = []
    for pair in ranked:
        one, other = (groups.get(end, frozenset({end})) for end in (pair.a, pair.b))
        reason = None if one == other else _conflict(one, other, forbidden)
        if reason is not None:
            refused.append(Refusal(key=pair.key, reason=reason))
            continue
        joined.append(pair)
        groups.update(dict.fromkeys(one | other, one | other))
    made = [_group(members, joined, weights) for members in set(groups.values())]
    return Grouping(
        groups=tuple(sorted(made, key=lambda group: group.representative)),
        refused=tuple(sorted(refused, key=lambda refusal: refusal.key)),
    )


def _conflict(one: frozenset[UUID], other: frozenset[UUID], forbidden: Forbidden) -> str | None:
    reasons = (forbidden(a, b) for a in sorted(one) for b in sorted(other))
    return next((reason for reason in reasons if reason is not None), None)


def _group(members: frozenset[UUID], joined: Sequence[SamePair], weights: Mapping[UUID, int]) -> Group:
    """Chains resolve to the end that no verdict gives up; of several, or in a circle, to the one with most verdicts for
    it, then most mentions, then the first by id."""
    inside = [pair for pair in joined if pair.a in members]
    given_up = {pair.b if pair.canonical == pair.a else pair.a for pair in inside}
    chosen = [pair.canonical for pair in inside]
    representative = min(members, key=lambda end: (end in given_up, -chosen.count(end), -weights.get(end, 0), end))
    return Group(representative=representative, absorbed=tuple(sorted(members - {representative})))
