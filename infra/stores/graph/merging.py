"""Merging anchors in place and taking it back (paper 2.5, Lossless structural merge; design 3.4).

Each change is one transaction under the user's lock, and only while the consolidation that makes it is running.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from pgvector import Vector as Embedding

from domain.dream.rounds import ConsolidationState
from domain.errors import ConsolidationEnded, MergeConflict, NotFound
from domain.graph import AnchorWrite, Joined, Merge, MergeState, Unmerged
from domain.keys import anchor_key
from infra.stores.database import Connection, one
from infra.stores.graph import merge_statements, statements
from infra.stores.graph.properties import Properties, agtype, agtypes, anchor_properties
from infra.stores.graph.session import GraphSession


@dataclass
class _Stored:
    """An anchor's vertex as read; `text` are the properties as they stand there."""

    graph_id: str
    text: str
    properties: Properties = field(init=False)

    def __post_init__(self) -> None:
        self.properties = json.loads(self.text)


class Merging(GraphSession):
    """The methods of the GraphStore port that change which anchor is which, and the log of it."""

    @asynccontextmanager
    async def _step_of(self, user_id: str, consolidation: UUID) -> AsyncIterator[Connection]:
        """A transaction under the user's lock. Raises ConsolidationEnded."""
        async with self._transaction() as connection:
            await connection.execute(statements.LOCK_USER, (user_id,))
            row = await (await connection.execute(merge_statements.RUNNING, (consolidation, user_id))).fetchone()
            if row is None or row["state"] != ConsolidationState.RUNNING:
                raise ConsolidationEnded(f"consolidation {consolidation} is not running")
            yield connection

    async def merge(
        self, user_id: str, joins: Sequence[Joined], *, consolidation: UUID, now: datetime
    ) -> tuple[Merge, ...]:
        """Merge anchors in the order given, in one transaction, with what undoing needs in the log.

        A join that is in the log, or one of whose anchors is gone, is left out. Returns the entries of these joins.
        """
        ids = [join.id for join in joins]
        async with self._step_of(user_id, consolidation) as connection:
            logged = await (await connection.execute(merge_statements.LOGGED, (ids,))).fetchall()
            done = {row["id"] for row in logged}
            for join in joins:
                if join.id not in done and join.absorbed != join.representative:
                    await _merge(connection, user_id, join, {"consolidation": consolidation, "now": now})
            return await _entries(connection, user_id, ids)

    async def unmerge(
        self,
        user_id: str,
        merge: UUID,
        *,
        consolidation: UUID,
        now: datetime,  # noqa: ARG002 - the port's; this log notes by whom, not when
    ) -> Unmerged:
        """Give the absorbed anchor back all it had; what was written since stays with the representative.

        Raises NotFound; MergeConflict while a later merge of the representative stands in the way, or if another
        consolidation took it back, or the graph was lost since; ConsolidationEnded.
        """
        async with self._step_of(user_id, consolidation) as connection:
            entries = await _entries(connection, user_id, [merge])
            if not entries:
                raise NotFound(f"no merge {merge}")
            (entry,) = entries
            if (entry.state, entry.undone_by) != (MergeState.UNDONE, consolidation):
                await _unmerge(connection, user_id, entry, consolidation)
            (entry,) = await _entries(connection, user_id, [merge])
            values = {"user": user_id, "merge": merge, "representative_id": entry.representative}
            row = await (await connection.execute(merge_statements.KEPT, values)).fetchone()
            return Unmerged(merge=entry, kept=one(row)["kept"])

    async def detach(
        self,
        user_id: str,
        anchor: UUID,
        *,
        write: AnchorWrite,
        record_ids: Sequence[UUID],
        consolidation: UUID,
        now: datetime,  # noqa: ARG002 - the port's; nothing here bears a time
    ) -> None:
        """Make an anchor of an alias, with these of the records and the arms of the frames that cite only such.

        Changes nothing if the alias is not `anchor`'s (any more), or the new anchor exists. Raises MergeConflict for
        the anchor's own name; ConsolidationEnded.
        """
        async with self._step_of(user_id, consolidation) as connection:
            owners = await (await connection.execute(statements.OWNERS, (user_id, [write.key]))).fetchall()
            found = await _stored(connection, user_id, [anchor, write.id])
            if [row["anchor_id"] for row in owners] == [anchor] and anchor in found and write.id not in found:
                await _detach(connection, user_id, found[anchor], write, record_ids)

    async def merges(
        self,
        user_id: str,
        *,
        consolidation: UUID | None = None,
        anchor: UUID | None = None,
        after: UUID | None = None,
        limit: int = 50,
    ) -> tuple[Merge, ...]:
        """The merge log, in the order of ids: of a consolidation, or of the merges into or of an anchor, or of both."""
        statement = {
            (False, False): merge_statements.MERGES,
            (True, False): merge_statements.MERGES_OF_CONSOLIDATION,
            (False, True): merge_statements.MERGES_OF_ANCHOR,
            (True, True): merge_statements.MERGES_OF_BOTH,
        }[consolidation is not None, anchor is not None]
        values = {"user": user_id, "consolidation": consolidation, "anchor": anchor, "after": after, "limit": limit}
        return tuple(map(Merge.model_validate, await self._rows(statement, values)))


async def _entries(connection: Connection, user_id: str, ids: Sequence[UUID]) -> tuple[Merge, ...]:
    cursor = await connection.execute(merge_statements.ENTRIES, {"user": user_id, "ids": list(ids)})
    return tuple(map(Merge.model_validate, await cursor.fetchall()))


async def _stored(connection: Connection, user_id: str, ids: Sequence[UUID]) -> Mapping[UUID, _Stored]:
    values = {"owner": agtype(user_id), "ids": agtypes(ids)}
    rows = await (await connection.execute(statements.ANCHORS, values)).fetchall()
    found = [_Stored(row["id"], row["properties"]) for row in rows]
    return {UUID(each.properties["anchor_id"]): each for each in found}


async def _rewrite(connection: Connection, stored: _Stored, **changes: object) -> None:
    changed = [{"id": stored.graph_id, "properties": stored.properties | changes}]
    await connection.execute(statements.UPDATE_ANCHORS, (agtype(changed),))


async def _merge(connection: Connection, user_id: str, join: Joined, values: Mapping[str, object]) -> None:
    found = await _stored(connection, user_id, [join.absorbed, join.representative])
    if len(found) < 2:
        return
    absorbed, representative = found[join.absorbed], found[join.representative]
    old, kept = absorbed.properties, representative.properties
    added = [n for n in dict.fromkeys([old["name"], *old["aliases"]]) if n not in {kept["name"], *kept["aliases"]}]
    values = {
        **values, "user": user_id, "merge": join.id, "absorbed_id": join.absorbed, "absorbed": absorbed.graph_id,
        "absorbed_name": old["name"], "representative_id": join.representative, "type": old["type"],
        "representative": representative.graph_id, "representative_name": kept["name"], "properties": absorbed.text,
        "names_added": added, "score_before": kept["score"],
    }  # fmt: skip
    async with connection.pipeline():
        await connection.execute(merge_statements.LOG_MERGE, values)
        for statement in merge_statements.MOVE:
            await connection.execute(statement, values)
        await _rewrite(
            connection,
            representative,
            mentions=kept["mentions"] + old["mentions"],
            score=max(kept["score"], old["score"]),
            aliases=[*kept["aliases"], *added],
        )


async def _unmerge(connection: Connection, user_id: str, entry: Merge, consolidation: UUID) -> None:
    values: dict[str, Any] = {
        "user": user_id, "merge": entry.id, "consolidation": consolidation, "absorbed_id": entry.absorbed,
        "representative_id": entry.representative,
    }  # fmt: skip
    representative = await _undoable(connection, entry, values)
    run = connection.execute
    logged = one(await (await run(merge_statements.LOGGED_ANCHOR, values)).fetchone())
    later = await (await run(merge_statements.LATER, values)).fetchall()
    lost = {row["name"] for row in await (await run(merge_statements.LOST_NAMES, values)).fetchall()}
    old, kept = json.loads(logged["properties"]), representative.properties
    restored = old | {"aliases": [name for name in old["aliases"] if name not in lost]}
    values |= {
        "absorbed": logged["graph_id"], "representative": representative.graph_id, "properties": agtype(restored),
        "later": [row["id"] for row in later],
    }  # fmt: skip
    score, before = _scores_without(logged["score_before"], old["score"], later, kept["score"])
    async with connection.pipeline():
        for statement in merge_statements.RETURN:
            await run(statement, values)
        await run(merge_statements.SET_SCORES_BEFORE, (values["later"], before))
        await _rewrite(
            connection,
            representative,
            mentions=max(kept["mentions"] - old["mentions"], 0),
            score=score,
            aliases=[name for name in kept["aliases"] if name not in logged["names_added"]],
        )


async def _undoable(connection: Connection, entry: Merge, values: Mapping[str, Any]) -> _Stored:
    """The representative. Raises MergeConflict if the merge can't be taken back."""
    if entry.state is not MergeState.APPLIED:
        by = f" by consolidation {entry.undone_by}" if entry.undone_by else ": the graph was made anew since"
        raise MergeConflict(f"merge {entry.id} is {entry.state}{by}")
    found = await _stored(connection, values["user"], [entry.absorbed, entry.representative])
    if entry.representative not in found:
        since = await (await connection.execute(merge_statements.ABSORBED_SINCE, values)).fetchone()
        raise MergeConflict(
            f"undo merge {since['id']} first: it absorbed {entry.representative}"
            if since
            else f"anchor {entry.representative}, which holds what merge {entry.id} moved, is gone"
        )
    if entry.absorbed in found:
        raise MergeConflict(f"anchor {entry.absorbed} of merge {entry.id} exists again")
    return found[entry.representative]


def _scores_without(
    before: float, absorbed: float, later: Sequence[Mapping[str, Any]], present: float
) -> tuple[float, list[float]]:
    """The representative's score, and what the later merges are to note as its score before them, as if a merge had
    not been. A score that a write has raised since stays."""
    was, now, noted = max(before, absorbed), before, []
    for merge in later:
        if merge["score_before"] != was:
            now = merge["score_before"]
        noted.append(now)
        was, now = max(merge["score_before"], merge["score"]), max(now, merge["score"])
    return (now if present == was else present), noted


async def _detach(
    connection: Connection, user_id: str, source: _Stored, write: AnchorWrite, record_ids: Sequence[UUID]
) -> None:
    run, kept = connection.execute, source.properties
    if kept["key"] == write.key:
        raise MergeConflict("an anchor keeps its own name")
    values = {
        "user": user_id, "owner": agtype(user_id), "anchor_id": UUID(kept["anchor_id"]), "anchor": source.graph_id,
        "new_id": write.id, "key": write.key, "records": list(record_ids),
    }  # fmt: skip
    moved = (await run(merge_statements.DETACH_RECORDS, values)).rowcount
    properties = anchor_properties(user_id, write) | {"mentions": moved}
    values["new"] = one(await (await run(statements.INSERT_ANCHORS, (agtype([properties]),))).fetchone())["id"]
    await run(merge_statements.DETACH_ARMS, values)
    await run(merge_statements.DETACH_KEY, values)
    await run(statements.INSERT_ANCHOR_VECTORS, (user_id, [write.id], [Embedding(write.vector)]))
    others = [name for name in kept["aliases"] if anchor_key(name) != write.key]
    await _rewrite(connection, source, aliases=others, mentions=kept["mentions"] - moved)
