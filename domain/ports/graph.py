"""The provenance hypergraph."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

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
from domain.memory import Anchor, Frame, MemoryKind


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

    async def rejoin_frontier(self, user_id: str, anchor_ids: Sequence[UUID]) -> None:
        """Let the anchors that exist wait for a round again, behind all others."""

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
