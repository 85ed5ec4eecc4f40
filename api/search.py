"""The read path over the ports: plan, anchor entry, two lanes, scores, fusion (paper Algorithm 1, Read; design 4)."""

import logging
from collections.abc import Mapping
from uuid import UUID

from api.lanes import Direct, GraphLanes
from domain.errors import GraphUnavailable, InvalidInput
from domain.graph import Vector
from domain.memory import GRAPH_KINDS, MemoryKind, Record
from domain.ports import Embedder, GraphStore, RecordStore
from domain.retrieval.entered import Entered, row_features
from domain.retrieval.fusion import Candidate, Fused, fuse, row_words
from domain.retrieval.plan import Budgets, Operator, plan
from domain.retrieval.query import MAX_QUERY, Explanation, FactTerms, Row, SearchQuery, SearchResult
from domain.retrieval.rows import score_rows
from domain.retrieval.times import local_day
from domain.text import storable

logger = logging.getLogger(__name__)

CUT_SHOWN = 50
"""Rows without room that an explanation lists."""


class Retriever:
    """Bounded search. Every read of the graph goes through the same lanes; there is no other way in but `degraded`."""

    def __init__(
        self,
        graph: GraphStore,
        records: RecordStore,
        embedder: Embedder,
        *,
        budgets: Budgets | None = None,
        families: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        """`families` are added to the relation lexicon."""
        self._lanes = GraphLanes(graph, records, budgets=budgets, families=families)
        self._direct = Direct(records)
        self._embedder = embedder
        self._budgets = budgets
        self._families = families

    async def search(self, query: SearchQuery) -> SearchResult:
        """Facts and rows within the plan's budgets; the same question over the same data gives the same answer.

        Only GraphUnavailable leads to direct search, with `degraded`; an empty graph does not. Raises InvalidInput,
        StoreUnavailable, ModelError (the embedder's).
        """
        _check(query)
        (vector,) = await self._embedder.embed([query.query])
        entered = await self._enter(query, vector)
        return _answer(query, entered)

    async def _enter(self, query: SearchQuery, vector: Vector) -> Entered:
        """Candidates from the graph for the kinds it owns, and by direct search for the others."""
        indexed = tuple(kind for kind in query.kinds if kind in GRAPH_KINDS)
        others = tuple(kind for kind in query.kinds if kind not in GRAPH_KINDS)
        if not indexed:
            return await self._by_direct(query, vector, others)
        try:
            entered = await self._lanes.enter(query, vector)
        except GraphUnavailable as error:
            logger.warning("graph read failed, searching directly: %s", error.type)
            found = await self._by_direct(query, vector, query.kinds)
            return found.model_copy(update={"reason": error.type})
        if others:
            entered = entered.joined(await self._direct.enter(query, vector, entered.plan, others))
        return entered

    async def _by_direct(self, query: SearchQuery, vector: Vector, kinds: tuple[MemoryKind, ...]) -> Entered:
        planned = plan(
            query.query,
            as_of=query.as_of,
            timezone=query.timezone,
            budgets=self._budgets,
            families=self._families,
        )
        return await self._direct.enter(query, vector, planned, kinds)


def _check(query: SearchQuery) -> None:
    for field, text in (("query", query.query), ("user_id", query.user_id)):
        if not text.strip():
            raise InvalidInput("is empty", field=field)
        if storable(text)[1]:
            raise InvalidInput("contains NUL, another control character or a lone surrogate", field=field)
    if len(query.query) > MAX_QUERY:
        raise InvalidInput(f"is longer than {MAX_QUERY} characters", field="query")


def _answer(query: SearchQuery, entered: Entered) -> SearchResult:
    scores = score_rows([row_features(record, entered) for record in entered.records], entered.plan.words)
    by_id = {record.id: record for record in entered.records}
    fused = fuse(
        (_candidate(record, scores[record.id], entered, query) for record in entered.records),
        entered.plan.budget,
        quota=query.quota,
        limits=None if query.limit_per_kind is None else dict.fromkeys(query.kinds, query.limit_per_kind),
    )
    return SearchResult(
        facts=entered.facts,
        rows=tuple(
            _row(by_id[chosen.id], scores[chosen.id], (*entered.why.get(chosen.id, ()), chosen.lane.value))
            for chosen in fused.rows
        ),
        degraded=bool(entered.reason),
        reason=entered.reason,
        truncated=_truncated(entered, fused),
        plan=entered.plan,
        explanation=_explanation(entered, fused) if query.explain else None,
    )


def _candidate(record: Record, score: float, entered: Entered, query: SearchQuery) -> Candidate:
    day = record.event_time.start if record.event_time else local_day(record.mention_time, query.timezone)
    return Candidate(
        id=record.id,
        kind=record.kind,
        score=score,
        cited=record.id in entered.cited,
        words=row_words(record.text),
        day=day,
    )


def _truncated(entered: Entered, fused: Fused) -> bool:
    """A count or list may be incomplete: a row that a fact cites, or a fact of the asked relation, had no room."""
    wide = entered.plan.operator in (Operator.COUNT, Operator.LIST_UNION)
    return wide and (entered.facts_cut > 0 or any(row in entered.cited for row in fused.cut))


def _row(record: Record, score: float, why: tuple[str, ...]) -> Row:
    return Row(
        record_id=record.id,
        kind=record.kind,
        title=record.title,
        text=record.text,
        event_time=record.event_time,
        mention_time=record.mention_time,
        status=record.status,
        session_id=record.session_id,
        sources=record.sources,
        score=score,
        why=why,
    )


def _explanation(entered: Entered, fused: Fused) -> Explanation:
    returned = [fact.frame_ids[0] for fact in entered.facts]
    base: list[UUID] = [record.id for record in entered.records if record.id not in entered.cited]
    return Explanation(
        anchors=entered.anchors,
        anchors_cut=entered.anchors_cut,
        facts=tuple(FactTerms(frame_id=frame, terms=entered.fact_terms[frame].terms) for frame in returned),
        facts_cut=entered.facts_cut,
        base_lane=tuple(base),
        relation_lane=tuple(record.id for record in entered.records if record.id in entered.cited),
        frames_read=entered.frames_read,
        frames_scored=len(entered.fact_terms),
        rows_entered=len(entered.records),
        collapsed=fused.collapsed,
        cut=fused.cut[:CUT_SHOWN],
        rows_cut=len(fused.cut),
    )
