"""The reads behind a search: anchor entry, the two lanes, and direct search without the graph (design 4.1-4.3)."""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

from domain.graph import Vector
from domain.memory import Anchor, AnchorType, Frame, MemoryKind, Record
from domain.ports import GraphStore, RecordStore
from domain.retrieval import lanes
from domain.retrieval.entered import (
    Doors,
    Entered,
    Pool,
    anchor_candidates,
    best_of_rows,
    considered,
    fact_context,
    lane_frames,
    note,
    shortlisted,
    texts_of_rows,
    ways_in,
    without_room,
)
from domain.retrieval.entry import HUB_CEILING, K_A, exact_anchors, exact_names, keep
from domain.retrieval.plan import Budgets, Plan, plan
from domain.retrieval.query import SearchQuery
from domain.retrieval.scoring import K_F, rank, score_fact

DIRECT_POOL = 4
"""Direct search ranks this many times the budget, so that filters and paraphrases leave enough."""


class Direct:
    """Vector and full-text search over the user's rows: for kinds outside the graph, and when it can't be read."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records

    async def enter(self, query: SearchQuery, vector: Vector, planned: Plan, kinds: Sequence[MemoryKind]) -> Entered:
        """Rows of the kinds within DIRECT_POOL times the budget."""
        limit = DIRECT_POOL * planned.budget.rows
        ids = await self._records.search_direct(
            query.user_id, vector=vector, words=planned.words, kinds=kinds, limit=limit
        )
        found, cosines, around = await asyncio.gather(
            self._records.records(query.user_id, ids),
            self._records.similarities(query.user_id, ids, vector),
            self._records.surroundings(query.user_id, ids, characters=lanes.AROUND_CHARACTERS),
        )
        seen = tuple(record for record in found if query.sees(record))
        return Entered(
            plan=planned,
            records=seen,
            cosines=dict(cosines),
            around={record.id: around.get(record.id, "") for record in seen},
            why={record.id: ("direct",) for record in seen},
        )


class GraphLanes:
    """Anchor entry and both lanes. Every read is bounded by a constant of domain.retrieval."""

    def __init__(
        self,
        graph: GraphStore,
        records: RecordStore,
        *,
        budgets: Budgets | None,
        families: Mapping[str, tuple[str, ...]] | None,
    ) -> None:
        self._graph = graph
        self._records = records
        self._budgets = budgets
        self._families = families

    async def enter(self, query: SearchQuery, vector: Vector) -> Entered:
        """Raises GraphUnavailable when the graph can't be read."""
        doors = await self._doors(query, vector)
        pool = await self._base_lane(query, vector, doors)
        return await self._relation_lane(query, vector, doors, pool)

    # ------------------------------------------------------------------------------------------ anchor entry

    async def _doors(self, query: SearchQuery, vector: Vector) -> Doors:
        names = exact_names(query.query)
        resolved, (hits,) = await asyncio.gather(
            self._graph.resolve(query.user_id, tuple(names)),
            self._graph.nearest(query.user_id, [vector], limit=K_A, floor=-1.0),
        )
        exact = exact_anchors(names, resolved)
        planned = self._plan(query, exact)
        related, degrees = await self._seeds(query, tuple(exact), planned)
        candidates = anchor_candidates(hits, [anchor for anchor, _ in exact.values()], degrees=degrees, related=related)
        kept = keep(candidates, query.query, relation=planned.relation)
        return Doors(
            plan=planned,
            anchors=kept,
            anchors_cut=len(candidates) - len(kept),
            exact={anchor.id: anchor.type for anchor, _ in exact.values()},
            runs={run: anchor.id for anchor, run in exact.values()},
            related=related,
        )

    def _plan(self, query: SearchQuery, exact: Mapping[UUID, tuple[Anchor, str]]) -> Plan:
        people = [run for anchor, run in exact.values() if anchor.type is AnchorType.PERSON]
        return plan(
            query.query,
            as_of=query.as_of,
            timezone=query.timezone,
            people=people,
            budgets=self._budgets,
            families=self._families,
        )

    async def _seeds(
        self, query: SearchQuery, exact: Sequence[UUID], planned: Plan
    ) -> tuple[tuple[Frame, ...], Mapping[UUID, int]]:
        """Frames of the asked relation at the exactly named anchors, and these anchors' degrees."""
        if not exact:
            return (), {}
        degrees = await self._graph.degrees(query.user_id, exact, ceiling=HUB_CEILING)
        if not planned.relation:
            return (), degrees
        related = await self._graph.adjacent_frames(query.user_id, exact, predicates=planned.predicates, cap=K_F)
        return tuple(frame for frame in related if frame.kind in query.kinds), degrees

    # --------------------------------------------------------------------------------------------- base lane

    async def _base_lane(self, query: SearchQuery, vector: Vector, doors: Doors) -> Pool:
        kept = tuple(anchor.anchor_id for anchor in doors.anchors)
        own, incident = await asyncio.gather(
            self._nearest(query, vector, kept, per_anchor=lanes.ROWS_PER_ANCHOR, ranked=lanes.ROWS_RANKED),
            self._graph.incident_frames(query.user_id, kept, per_anchor=lanes.FRAMES_PER_ANCHOR),
        )
        incident = tuple(frame for frame in incident if frame.kind in query.kinds)
        frames = lanes.united((*doors.related, *incident))
        cosines = lanes.joined(own.values())
        cited = {record for frame in frames for record in frame.record_ids} - cosines.keys()
        frame_cosines, cosines_of_cited = await asyncio.gather(
            self._graph.frame_similarities(query.user_id, [frame.id for frame in frames], vector),
            self._records.similarities(query.user_id, sorted(cited), vector),
        )
        cosines.update(cosines_of_cited)
        why = ways_in(own.values(), incident, cosines)
        beside = lanes.co_participants(incident, frozenset(kept), frame_cosines)
        near = await self._nearest(
            query,
            vector,
            beside,
            per_anchor=lanes.CO_PARTICIPANT_ROWS,
            ranked=lanes.CO_PARTICIPANT_ROWS_RANKED,
            without=tuple(why),
        )
        others = lanes.joined(near.values())
        cosines.update(others)
        note(why, lanes.nearest(others, cosines, limit=lanes.CO_PARTICIPANT_ROWS), "co_participant")
        support = await self._support(query, lanes.nearest(why, cosines, limit=lanes.SEEDS))
        cosines.update(await self._records.similarities(query.user_id, support, vector))
        note(why, support, "support")
        return Pool(frames=frames, incident=incident, frame_cosines=dict(frame_cosines), cosines=cosines, why=why)

    async def _nearest(
        self,
        query: SearchQuery,
        vector: Vector,
        anchors: Sequence[UUID],
        *,
        per_anchor: int,
        ranked: int,
        without: Sequence[UUID] = (),
    ) -> Mapping[UUID, Mapping[UUID, float]]:
        """Rows of each anchor in vector order, ranked inside the database (design 4.2)."""
        return await self._graph.nearest_records(
            query.user_id,
            anchors,
            vector,
            kinds=query.kinds,
            per_anchor=per_anchor,
            ranked=ranked,
            without=without,
        )

    async def _support(self, query: SearchQuery, seeds: Sequence[UUID]) -> tuple[UUID, ...]:
        """Same-chunk rows near the best rows, and their neighbours in time, from provenance."""
        chunk, neighbours = await asyncio.gather(
            self._records.same_chunk(query.user_id, seeds, limit=lanes.SUPPORT_ROWS),
            self._records.temporal_neighbours(query.user_id, seeds, limit=lanes.SUPPORT_ROWS),
        )
        records = await self._records.records(query.user_id, (*seeds, *chunk))
        known = frozenset(seeds)
        near = lanes.near_in_chunk(records, [record for record in records if record.id in known])
        return tuple(dict.fromkeys((*(record.id for record in near), *neighbours)))

    # ----------------------------------------------------------------------------------------- relation lane

    async def _closer(
        self, query: SearchQuery, vector: Vector, doors: Doors, pool: Pool, seen: Mapping[UUID, Record]
    ) -> Pool:
        """The pool with the frames of the most promising rows and the messages around them (platform.md 5: a vector a
        frame, finer units)."""
        rows = shortlisted(pool, seen, doors.plan.words)
        frames, around = await asyncio.gather(
            self._graph.frames_of_records(query.user_id, rows, limit=lanes.FRAMES_OF_ROWS),
            self._records.surroundings(query.user_id, rows, characters=lanes.AROUND_CHARACTERS),
        )
        fresh = [frame for frame in frames if frame.id not in pool.frame_cosines and frame.kind in query.kinds]
        cosines = await self._graph.frame_similarities(query.user_id, [frame.id for frame in fresh], vector)
        return pool.model_copy(
            update={
                "frames": (*pool.frames, *fresh),
                "frame_cosines": {**pool.frame_cosines, **cosines},
                "around": {row: around.get(row, "") for row in rows},
            }
        )

    async def _relation_lane(self, query: SearchQuery, vector: Vector, doors: Doors, pool: Pool) -> Entered:
        candidates = lane_frames(doors, pool)
        cited = {
            frame.id: lanes.nearest(frame.record_ids, pool.cosines, limit=lanes.CITATIONS_PER_FACT)
            for frame in candidates
        }
        ids = tuple(dict.fromkeys((*pool.why, *(record for rows in cited.values() for record in rows))))
        found = await self._records.records(query.user_id, ids)
        seen = {record.id: record for record in found if query.sees(record)}
        pool = await self._closer(query, vector, doors, pool, seen)
        context = fact_context(doors, pool, candidates, seen, query)
        scores = {frame.id: score_fact(frame, doors.plan, context) for frame in pool.frames}
        ranked = rank([f for f in candidates if any(r in seen for r in f.record_ids)], scores, doors.plan, context)
        citing = considered(ranked, doors, quota=query.quota)
        facts = lanes.facts_of(citing, scores, seen, limit=doors.plan.budget.cited)
        lane_rows = frozenset(record for frame in citing for record in cited[frame.id] if record in seen)
        entering = {record: ways for record, ways in pool.why.items() if record in seen}
        note(entering, sorted(lane_rows), "fact")
        best_cosines, best_scores = best_of_rows(pool, scores)
        return Entered(
            plan=doors.plan,
            records=tuple(seen[record] for record in sorted(entering)),
            cosines=pool.cosines,
            frame_cosines=best_cosines,
            fact_scores=best_scores,
            frame_texts=texts_of_rows(pool.frames),
            around=pool.around,
            cited=lane_rows,
            why=entering,
            facts=facts,
            facts_cut=without_room(ranked, facts, scores),
            anchors=doors.anchors,
            anchors_cut=doors.anchors_cut,
            fact_terms=scores,
            frames_read=len(pool.frames),
        )
