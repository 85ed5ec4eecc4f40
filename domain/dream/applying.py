"""From verdicts to merges: which pairs may join, what a person's decision makes of one, and in which order to undo."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from uuid import UUID

from domain.dream.guards import frames_forbid, names_forbid
from domain.dream.merging import Forbidden, Group, SamePair
from domain.dream.rounds import Pair, merge_id
from domain.errors import MergeConflict
from domain.graph import Joined, Merge
from domain.keys import anchor_key
from domain.memory import Anchor

Couple = tuple[UUID, UUID]


def same_pair(pair: Pair, owners: Mapping[str, Anchor]) -> SamePair | None:
    """A pair told to be the same, for the algebra; None if an end is gone.

    `owners` are the anchors that own the keys of the ends' names: an end that was merged since has its representative.
    """
    a, b = (owners.get(anchor_key(end.name)) for end in (pair.a, pair.b))
    if a is None or b is None:
        return None
    canonical = b if pair.canonical == pair.b.anchor_id else a
    return SamePair(key=pair.key, a=a.id, b=b.id, canonical=canonical.id, similarity=pair.similarity)


def couples(pairs: Iterable[SamePair]) -> tuple[Couple, ...]:
    """Every two anchors that chains of pairs might bring together, in order: what the guard has to look at."""
    home: dict[UUID, frozenset[UUID]] = {}
    for pair in pairs:
        one, other = (home.get(end, frozenset({end})) for end in (pair.a, pair.b))
        home.update(dict.fromkeys(one | other, one | other))
    return tuple(sorted({couple for members in home.values() for couple in combinations(sorted(members), 2)}))


def guard(anchors: Mapping[UUID, Anchor], shared: Mapping[Couple, Sequence[Sequence[str]]]) -> Forbidden:
    """The one guard of merges: what the names and the common frames of two anchors forbid, whatever the verdict.

    `shared` holds for each couple, the smaller id first, the texts that each of their common frames cites.
    """

    def forbidden(a: UUID, b: UUID) -> str | None:
        one, other = (_names(anchors[end]) for end in (a, b))
        couple = (a, b) if a < b else (b, a)
        return names_forbid(one, other) or frames_forbid(one, other, shared.get(couple, ()))

    return forbidden


def joins(consolidation: UUID, groups: Iterable[Group]) -> tuple[Joined, ...]:
    """The merges that make the groups."""
    return tuple(
        Joined(id=merge_id(consolidation, absorbed), absorbed=absorbed, representative=group.representative)
        for group in groups
        for absorbed in group.absorbed
    )


def undo_order(merges: Iterable[Merge]) -> tuple[Merge, ...]:
    """Merges in an order in which each can be taken back: that of a representative before those into it."""
    absorbing = {merge.absorbed: merge for merge in merges}
    depths = {merge.id: _depth(merge, absorbing) for merge in absorbing.values()}
    return tuple(sorted(absorbing.values(), key=lambda merge: (depths[merge.id], merge.id)))


def alias_of(anchor: Anchor, name: str) -> str:
    """The key of a name that may leave its anchor. Raises MergeConflict for the anchor's own name or another's."""
    key = anchor_key(name)
    if key in {anchor.key, anchor_key(anchor.name)}:
        raise MergeConflict("an anchor keeps its own name: split off one of its aliases")
    if key not in map(anchor_key, anchor.aliases):
        raise MergeConflict("the anchor has no such alias")
    return key


def leaves_with(text: str, key: str, anchor: Anchor) -> bool:
    """Whether a record goes with a name that leaves: it uses that name and none of the others."""
    others = {anchor_key(other) for other in _names(anchor)} - {key}
    return _says(text, key) and not any(_says(text, other) for other in others)


def merge_forbidden(target: Anchor, absorbed: Anchor, shared: Sequence[Sequence[str]]) -> str | None:
    """Why a person may not merge two anchors without force."""
    if target.type is not absorbed.type:
        return "different types"
    couple = (min(target.id, absorbed.id), max(target.id, absorbed.id))
    return guard({target.id: target, absorbed.id: absorbed}, {couple: shared})(target.id, absorbed.id)


def _names(anchor: Anchor) -> tuple[str, ...]:
    return (anchor.name, *anchor.aliases)


def _says(text: str, key: str) -> bool:
    """Whether the words of a key stand in a text, in any order: keys are sorted."""
    return set(key.split()) <= set(anchor_key(text).split())


def _depth(merge: Merge, absorbing: Mapping[UUID, Merge]) -> int:
    depth, above = 0, absorbing.get(merge.representative)
    while above is not None:
        depth, above = depth + 1, absorbing.get(above.representative)
    return depth
