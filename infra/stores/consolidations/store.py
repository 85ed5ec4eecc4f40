"""What was asked of AutoDream and what came of it: consolidations, pairs, the negative cache and receipts."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from domain.dream.rounds import (
    ENDED,
    Consolidation,
    ConsolidationState,
    NewConsolidation,
    Pair,
    PairEnd,
    PairState,
    Receipt,
    Requested,
    Stage,
    consolidation_id,
)
from domain.errors import NotFound, RequestConflict
from infra.stores.consolidations import statements
from infra.stores.database import Connection, Database, one

_TOLD = ("frontier", "cached", "merged", "undone", "kept")
"""What the caller knows; a second turn, after a review, adds nothing to it but merges."""
_COUNTED = ("verified", "rejected", "unsure", "guarded", "stale", "proposed", "pending")
"""Of the pairs by state."""


class PostgresConsolidations:
    """The ConsolidationStore port over Postgres. A consolidation that ended is moved by nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def request(self, new: NewConsolidation, *, now: datetime) -> Requested:
        """Store a request at the end of the user's order, or give the one that was made under its id before.

        Raises RequestConflict if that one asked for anything else.
        """
        async with self._database.transaction() as connection:
            await connection.execute(statements.LOCK_ORDER, (new.user_id,))
            found = await (await connection.execute(statements.OF_REQUEST, (new.user_id, new.request_id))).fetchone()
            if found is not None:
                consolidation = _consolidation(found)
                if _asked(consolidation) != new:
                    raise RequestConflict("the request id was used before for another consolidation")
                return Requested(consolidation=consolidation, created=False)
            identity = consolidation_id(new.user_id, new.request_id)
            values = {**new.model_dump(), "mode": str(new.mode), "chunk_ids": list(new.chunk_ids), "id": identity}
            await connection.execute(statements.INSERT, {**values, "receipt": _json(Receipt()), "now": now})
            row = await (await connection.execute(statements.OF_USER, (identity, new.user_id))).fetchone()
            return Requested(consolidation=_consolidation(one(row)), created=True)

    async def consolidation(self, user_id: str, consolidation_id: UUID) -> Consolidation:
        """Raises NotFound, also for another user's."""
        rows = await self._rows(statements.OF_USER, (consolidation_id, user_id))
        if not rows:
            raise NotFound(f"no consolidation {consolidation_id}")
        return _consolidation(rows[0])

    async def consolidations(
        self, user_id: str, *, before: int | None = None, limit: int = 50
    ) -> tuple[Consolidation, ...]:
        """Newest first; `before` is a sequence number (exclusive)."""
        rows = await self._rows(statements.PAGE, {"user": user_id, "before": before, "limit": limit})
        return tuple(map(_consolidation, rows))

    async def waiting_users(self, *, before: datetime, limit: int = 1000) -> tuple[str, ...]:
        """Users with consolidations that were accepted before a time and have not had their turn."""
        return tuple(row["user_id"] for row in await self._rows(statements.WAITING_USERS, (before, limit)))

    async def begin(self, consolidation_id: UUID, *, now: datetime) -> Consolidation:
        """Make it `running`; the first time, note where the user's evidence ends and its digest."""
        async with self._database.transaction() as connection:
            found = await _locked(connection, consolidation_id)
            if found.state is ConsolidationState.ACCEPTED and found.started_at is not None:
                await connection.execute(statements.BEGIN, (consolidation_id,))
            elif found.state is ConsolidationState.ACCEPTED:
                await connection.execute(statements.LOCK_EVIDENCE, (found.user_id,))
                row = one(await (await connection.execute(statements.POSITION, (found.user_id,))).fetchone())
                position = row["position"]
                digest = await _digest(connection, found.user_id, position)
                receipt = found.receipt.model_copy(update={"evidence_before": digest})
                values = {"id": consolidation_id, "now": now, "position": position, "receipt": _json(receipt)}
                await connection.execute(statements.BEGIN_FIRST, values)
            return await _locked(connection, consolidation_id)

    async def save_sources(self, consolidation_id: UUID, stage: Stage, anchor_ids: Sequence[UUID]) -> None:
        """Add the anchors that a stage takes as sources."""
        await self._execute(statements.SAVE_SOURCES, (consolidation_id, str(stage), list(anchor_ids)))

    async def sources(self, consolidation_id: UUID, stage: Stage) -> tuple[UUID, ...]:
        """In id order."""
        return tuple(row["anchor_id"] for row in await self._rows(statements.SOURCES, (consolidation_id, str(stage))))

    async def save_pairs(
        self, consolidation_id: UUID, stage: Stage, pairs: Sequence[Pair], *, waiting: Sequence[UUID]
    ) -> None:
        """Keep pairs that are not there yet, and which sources have to wait for a later round."""
        rows = [{**_values(pair), "consolidation": consolidation_id} for pair in pairs]
        async with self._database.transaction() as connection:
            async with connection.cursor() as cursor:
                await cursor.executemany(statements.INSERT_PAIR, rows)
            await connection.execute(statements.LET_WAIT, (consolidation_id, str(stage), list(waiting)))

    async def pairs(
        self,
        consolidation_id: UUID,
        *,
        stage: Stage | None = None,
        states: Sequence[PairState] = (),
        after: UUID | None = None,
        limit: int | None = None,
    ) -> tuple[Pair, ...]:
        """In the order of their ids; all states if none is given."""
        values = {
            "id": consolidation_id,
            "stage": None if stage is None else str(stage),
            "states": [str(state) for state in states] or None,
            "after": after,
            "limit": limit,
        }
        return tuple(map(_pair, await self._rows(statements.PAIRS, values)))

    async def settle(self, pairs: Sequence[Pair]) -> None:
        """Store what has become of pairs; one that is merged stays merged."""
        async with self._database.transaction() as connection, connection.cursor() as cursor:
            await cursor.executemany(statements.SETTLE, [_values(pair) for pair in pairs])

    async def used_sources(self, consolidation_id: UUID) -> tuple[UUID, ...]:
        """Sources none of whose pairs has to wait for a later round."""
        return tuple(row["anchor_id"] for row in await self._rows(statements.USED_SOURCES, {"id": consolidation_id}))

    async def rejected(self, user_id: str, keys: Sequence[str]) -> frozenset[str]:
        """Those of the pair keys that the negative cache holds."""
        return frozenset(row["key"] for row in await self._rows(statements.REJECTED, (user_id, list(keys))))

    async def asked(self, user_id: str, keys: Sequence[str], *, without: UUID) -> frozenset[str]:
        """Those of the pair keys that have a verdict of another consolidation than one."""
        return frozenset(row["key"] for row in await self._rows(statements.ASKED, (list(keys), user_id, without)))

    async def held(self, user_id: str, keys: Sequence[str], *, without: UUID) -> frozenset[str]:
        """Those of the pair keys that wait for a person, or for their turn, in another consolidation than one."""
        return frozenset(row["key"] for row in await self._rows(statements.HELD, (list(keys), user_id, without)))

    async def reject(self, user_id: str, keys: Sequence[str], *, now: datetime) -> None:
        """Remember pairs as explicitly different."""
        await self._execute(statements.REJECT, (user_id, now, list(keys)))

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
        """End it, or send it to `review`, with its receipt; with approved pairs left it waits for another turn instead.

        Ended before: changes nothing.
        """
        async with self._database.transaction() as connection:
            found = await _locked(connection, consolidation_id)
            if found.ended:
                return found
            return await _end(
                connection, found, state, receipt, now, {"step": step, "reason": reason, "detail": detail}
            )

    async def decide(self, pair: Pair, *, now: datetime) -> bool:
        """Store what a person makes of a pending pair; False, and nothing changed, if it is not pending (any more).

        What is approved gets a turn at the graph, what is declined is remembered as rejected, and a review in which
        nothing waits is complete. One that has its turn is left to `end`, which finds what was decided meanwhile.
        """
        async with self._database.transaction() as connection:
            owner = await (await connection.execute(statements.OWNER, (pair.id,))).fetchone()
            if owner is None:
                return False
            found = await _locked(connection, owner["consolidation_id"])
            taken = not found.ended and (await connection.execute(statements.DECIDE, _values(pair))).rowcount
            if taken and pair.state is PairState.DECLINED:
                await connection.execute(statements.REJECT, (found.user_id, now, [pair.key]))
            if taken and found.state is ConsolidationState.REVIEW:
                await _end(connection, found, found.state, Receipt(), now, {"step": "", "reason": "", "detail": ""})
            return bool(taken)

    async def _execute(self, statement: str, arguments: Sequence[object]) -> None:
        async with self._database.transaction() as connection:
            await connection.execute(statement, arguments)

    async def _rows(self, statement: str, arguments: Sequence[object] | Mapping[str, object]) -> list[dict[str, Any]]:
        async with self._database.transaction() as connection:
            return await (await connection.execute(statement, arguments)).fetchall()


async def _locked(connection: Connection, identity: UUID) -> Consolidation:
    row = await (await connection.execute(statements.LOCKED, (identity,))).fetchone()
    if row is None:
        raise NotFound(f"no consolidation {identity}")
    return _consolidation(row)


async def _end(
    connection: Connection,
    found: Consolidation,
    state: ConsolidationState,
    receipt: Receipt,
    now: datetime,
    told: Mapping[str, str],
) -> Consolidation:
    """End it, or let it wait: for a person while pairs are pending, for another turn while some are approved."""
    counts = one(await (await connection.execute(statements.COUNT_PAIRS, {"id": found.id})).fetchone())
    failing = state in (ConsolidationState.FAILED, ConsolidationState.CANCELLED)
    applying = bool(counts["approved"]) and not failing
    if applying:
        state = ConsolidationState.ACCEPTED
    elif state is ConsolidationState.REVIEW and not counts["pending"]:
        state = ConsolidationState.COMPLETED
    values = {
        **told,
        "id": found.id,
        "state": str(state),
        "applying": applying,
        "receipt": _json(await _receipt(connection, found, receipt, counts, now)),
        "finished": now if state in ENDED else None,
    }
    await connection.execute(statements.END, values)
    return await _locked(connection, found.id)


async def _digest(connection: Connection, user_id: str, position: int) -> str:
    row = one(await (await connection.execute(statements.DIGEST, {"user": user_id, "position": position})).fetchone())
    halves = (row[name] & (2**64 - 1) for name in ("first", "second"))
    return f"{row['records']}:" + "".join(f"{half:016x}" for half in halves)


async def _receipt(
    connection: Connection, found: Consolidation, given: Receipt, counts: Mapping[str, int], now: datetime
) -> Receipt:
    """The caller's counts with those of the store."""
    told = {name: max(getattr(given, name), getattr(found.receipt, name)) for name in _TOLD}
    calls = one(await (await connection.execute(statements.COUNT_CALLS, (found.id,))).fetchone())
    beyond = max(given.unreached, found.receipt.candidates - counts["formed"])
    update: dict[str, Any] = {
        **told,
        **calls,
        **{name: counts[name] for name in _COUNTED},
        "merged": max(told["merged"], counts["merged"]),
        "candidates": counts["formed"] + beyond,
        "unreached": beyond + counts["open"],
        "evidence_before": found.receipt.evidence_before,
    }
    if found.started_at is not None:
        await connection.execute(statements.LOCK_EVIDENCE, (found.user_id,))
        row = one(await (await connection.execute(statements.EVIDENCE_POSITION, (found.id,))).fetchone())
        update["evidence_after"] = await _digest(connection, found.user_id, row["evidence_position"])
        update["seconds"] = found.receipt.seconds or round((now - found.started_at).total_seconds(), 3)
    return Receipt(**update)


def _asked(consolidation: Consolidation) -> NewConsolidation:
    return NewConsolidation(**consolidation.model_dump(include=set(NewConsolidation.model_fields)))


def _consolidation(row: Mapping[str, Any]) -> Consolidation:
    return Consolidation.model_validate({**row, "chunk_ids": tuple(row["chunk_ids"])})


def _json(receipt: Receipt) -> Jsonb:
    return Jsonb(receipt.model_dump(mode="json"))


def _values(pair: Pair) -> dict[str, Any]:
    values = pair.model_dump(mode="json", exclude={"a", "b", "id", "canonical"})
    for side, end in (("a", pair.a), ("b", pair.b)):
        values |= {f"{side}_id": end.anchor_id, f"{side}_name": end.name, f"{side}_records": list(end.record_ids)}
    return {**values, "id": pair.id, "canonical": pair.canonical}


def _pair(row: Mapping[str, Any]) -> Pair:
    a, b = (
        PairEnd(anchor_id=row[f"{side}_id"], name=row[f"{side}_name"], record_ids=tuple(row[f"{side}_records"]))
        for side in "ab"
    )
    own = {name: row[name] for name in Pair.model_fields if name not in ("a", "b")}
    return Pair(a=a, b=b, **own)
