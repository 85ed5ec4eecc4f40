"""AutoDream: consolidations and their schedules."""

from collections.abc import Sequence
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

    async def held(self, user_id: str, keys: Sequence[str], *, without: UUID) -> frozenset[str]:
        """Those of the pair keys that wait for a person, or for their turn, in another consolidation than one."""

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
        """End it, or send it to `review`, where it stays while pairs are pending. What the store knows itself (pairs by
        state, model calls, time, evidence) it adds to the receipt. Ended before: changes nothing."""

    async def decide(self, pair: Pair, *, now: datetime) -> bool:
        """Store what a person makes of a pending pair; False, and nothing changed, if it is not pending (any more).
        What is approved gets a turn at the graph, what is declined is remembered as rejected, and a review in which
        nothing waits is complete."""


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
