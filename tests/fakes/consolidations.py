"""ConsolidationStore in memory, over the rows of tests/fakes/stores.py."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from uuid import UUID

from domain.dream.rounds import (
    ENDED,
    Consolidation,
    ConsolidationState,
    NewConsolidation,
    Pair,
    PairState,
    Receipt,
    Requested,
    Stage,
    consolidation_id,
)
from domain.errors import NotFound, RequestConflict
from domain.model_calls import Purpose
from tests.fakes.stores import Evidence

WAITING = (ConsolidationState.ACCEPTED, ConsolidationState.RUNNING)
ON_ITS_WAY = {"index_status", "index_step", "index_reason"}
"""Fields of a record that are no evidence."""


class MemoryConsolidations:
    """ConsolidationStore."""

    def __init__(self, evidence: Evidence) -> None:
        self._rows = evidence

    async def request(self, new: NewConsolidation, *, now: datetime) -> Requested:
        identity = consolidation_id(new.user_id, new.request_id)
        found = self._rows.consolidations.get(identity)
        if found is not None:
            if any(getattr(found, name) != value for name, value in new):
                raise RequestConflict("the request id was used before for another consolidation")
            return Requested(consolidation=found, created=False)
        made = Consolidation(
            **new.model_dump(),
            id=identity,
            sequence=1 + max((each.sequence for each in self._of_user(new.user_id)), default=0),
            after_job=self._rows.last_sequence(new.user_id),
            state=ConsolidationState.ACCEPTED,
            accepted_at=now,
        )
        self._rows.consolidations[identity] = made
        return Requested(consolidation=made, created=True)

    def _of_user(self, user_id: str) -> list[Consolidation]:
        return [each for each in self._rows.consolidations.values() if each.user_id == user_id]

    def _found(self, identity: UUID) -> Consolidation:
        if identity not in self._rows.consolidations:
            raise NotFound(f"no consolidation {identity}")
        return self._rows.consolidations[identity]

    def _change(self, identity: UUID, **values: object) -> None:
        self._rows.consolidations[identity] = self._found(identity).model_copy(update=values)

    async def consolidation(self, user_id: str, consolidation_id: UUID) -> Consolidation:
        found = self._found(consolidation_id)
        if found.user_id != user_id:
            raise NotFound(f"no consolidation {consolidation_id}")
        return found

    async def consolidations(
        self, user_id: str, *, before: int | None = None, limit: int = 50
    ) -> tuple[Consolidation, ...]:
        found = [each for each in self._of_user(user_id) if before is None or each.sequence < before]
        return tuple(sorted(found, key=lambda each: -each.sequence)[:limit])

    async def waiting_users(self, *, before: datetime, limit: int = 1000) -> tuple[str, ...]:
        every = self._rows.consolidations.values()
        return tuple(sorted({c.user_id for c in every if c.state in WAITING and c.accepted_at < before})[:limit])

    async def begin(self, consolidation_id: UUID, *, now: datetime) -> Consolidation:
        found = self._found(consolidation_id)
        if found.state is ConsolidationState.ACCEPTED:
            self._change(consolidation_id, state=ConsolidationState.RUNNING)
            if found.started_at is None:
                own = sum(record.user_id == found.user_id for record in self._rows.records.values())
                self._rows.evidence_positions[consolidation_id] = own
                receipt = found.receipt.model_copy(update={"evidence_before": self._digest(found)})
                self._change(consolidation_id, started_at=now, receipt=receipt)
        return self._found(consolidation_id)

    def _digest(self, consolidation: Consolidation) -> str:
        """Of the records that were there when it began."""
        own = [record for record in self._rows.records.values() if record.user_id == consolidation.user_id]
        old = own[: self._rows.evidence_positions[consolidation.id]]
        text = "\n".join(sorted(record.model_dump_json(exclude=ON_ITS_WAY) for record in old))
        return f"{len(old)}:{sha256(text.encode()).hexdigest()[:32]}"

    async def save_sources(self, consolidation_id: UUID, stage: Stage, anchor_ids: Sequence[UUID]) -> None:
        for anchor in anchor_ids:
            self._rows.sources.setdefault((consolidation_id, stage, anchor), False)

    async def sources(self, consolidation_id: UUID, stage: Stage) -> tuple[UUID, ...]:
        return tuple(sorted(key[2] for key in self._rows.sources if key[:2] == (consolidation_id, stage)))

    async def save_pairs(
        self, consolidation_id: UUID, stage: Stage, pairs: Sequence[Pair], *, waiting: Sequence[UUID]
    ) -> None:
        for pair in pairs:
            self._rows.pairs.setdefault(pair.id, (consolidation_id, pair))
        for anchor in waiting:
            if (consolidation_id, stage, anchor) in self._rows.sources:
                self._rows.sources[consolidation_id, stage, anchor] = True

    async def pairs(
        self,
        consolidation_id: UUID,
        *,
        stage: Stage | None = None,
        states: Sequence[PairState] = (),
        after: UUID | None = None,
        limit: int | None = None,
    ) -> tuple[Pair, ...]:
        found = [
            pair
            for owner, pair in self._rows.pairs.values()
            if owner == consolidation_id
            and stage in (None, pair.stage)
            and (not states or pair.state in states)
            and (after is None or pair.id > after)
        ]
        return tuple(sorted(found, key=lambda pair: pair.id)[:limit])

    async def settle(self, pairs: Sequence[Pair]) -> None:
        for pair in pairs:
            if pair.id in self._rows.pairs and self._rows.pairs[pair.id][1].state is not PairState.MERGED:
                owner, stored = self._rows.pairs[pair.id]
                told = {name: getattr(pair, name) for name in ("state", "verdict", "canonical", "reason", "decided_by")}
                self._rows.pairs[pair.id] = (owner, stored.model_copy(update=told))

    async def used_sources(self, consolidation_id: UUID) -> tuple[UUID, ...]:
        own = [(key[2], waits) for key, waits in self._rows.sources.items() if key[0] == consolidation_id]
        waiting = {anchor for anchor, waits in own if waits}
        for pair in await self.pairs(consolidation_id, states=(PairState.OPEN,)):
            waiting |= {pair.a.anchor_id, pair.b.anchor_id}
        return tuple(sorted({anchor for anchor, _ in own} - waiting))

    async def rejected(self, user_id: str, keys: Sequence[str]) -> frozenset[str]:
        return frozenset(key for key in keys if (user_id, key) in self._rows.rejections)

    async def asked(self, user_id: str, keys: Sequence[str], *, without: UUID) -> frozenset[str]:
        answered = {
            pair.key
            for owner, pair in self._rows.pairs.values()
            if owner != without and pair.verdict is not None and self._found(owner).user_id == user_id
        }
        return frozenset(keys) & answered

    async def held(self, user_id: str, keys: Sequence[str], *, without: UUID) -> frozenset[str]:
        waiting = {
            pair.key
            for owner, pair in self._rows.pairs.values()
            if owner != without
            and pair.state in (PairState.PENDING, PairState.APPROVED)
            and self._found(owner).user_id == user_id
            and not self._found(owner).ended
        }
        return frozenset(keys) & waiting

    async def reject(self, user_id: str, keys: Sequence[str], *, now: datetime) -> None:
        self._rows.rejections |= {(user_id, key) for key in keys}

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
        found = self._found(consolidation_id)
        if found.ended:
            return found
        stopped = state in (ConsolidationState.FAILED, ConsolidationState.CANCELLED)
        left = await self.pairs(consolidation_id, states=(PairState.APPROVED,))
        if state is ConsolidationState.REVIEW and not await self.pairs(consolidation_id, states=(PairState.PENDING,)):
            state = ConsolidationState.COMPLETED
        self._change(
            consolidation_id,
            state=state,
            applying=False,
            step=step,
            reason=reason,
            detail=detail,
            receipt=await self._receipt(found, receipt, now),
            finished_at=now if state in ENDED else None,
        )
        if left and not stopped:
            last = self._rows.last_sequence(found.user_id)
            again = {"state": ConsolidationState.ACCEPTED, "applying": True, "finished_at": None, "after_job": last}
            self._change(consolidation_id, **again)
        return self._found(consolidation_id)

    async def _receipt(self, found: Consolidation, given: Receipt, now: datetime) -> Receipt:
        pairs = await self.pairs(found.id)
        states = Counter(pair.state for pair in pairs)
        calls = [c for c in self._rows.calls.values() if c.job_id == found.id and c.purpose is not Purpose.EMBED]
        before = found.receipt
        beyond = max(given.unreached, before.candidates - len(pairs))
        receipt = Receipt(
            **{n: max(getattr(given, n), getattr(before, n)) for n in ("frontier", "cached", "undone", "kept")},
            **{n: states[PairState(n)] for n in ("unsure", "guarded", "stale", "proposed")},
            merged=max(given.merged, before.merged, [*self._rows.merges.values()].count(found.id)),
            rejected=states[PairState.REJECTED] + states[PairState.DECLINED],
            pending=states[PairState.PENDING] + states[PairState.APPROVED],
            candidates=len(pairs) + beyond,
            unreached=beyond + states[PairState.OPEN],
            verified=sum(pair.verdict is not None for pair in pairs),
            model_calls=len(calls),
            tokens_in=sum(call.usage.tokens_in for call in calls),
            tokens_out=sum(call.usage.tokens_out for call in calls),
            evidence_before=before.evidence_before,
        )
        if found.started_at is None:
            return receipt
        seconds = before.seconds or round((now - found.started_at).total_seconds(), 3)
        return receipt.model_copy(update={"evidence_after": self._digest(found), "seconds": seconds})

    async def decide(self, pair: Pair, *, now: datetime) -> bool:
        owner, stored = self._rows.pairs.get(pair.id, (None, None))
        if owner is None or stored is None or stored.state is not PairState.PENDING or self._found(owner).ended:
            return False
        told = {name: getattr(pair, name) for name in ("state", "canonical", "decided_by")}
        self._rows.pairs[pair.id] = (owner, stored.model_copy(update=told))
        found = self._found(owner)
        if pair.state is PairState.DECLINED:
            await self.reject(found.user_id, [pair.key], now=now)
        if found.state is ConsolidationState.REVIEW:
            await self.end(owner, found.state, receipt=Receipt(), now=now)
        return True
