"""From committed records to the graph (Algorithm 1, lines 5-10), fail-soft a record at a time.

Each step keeps its result as a draft beside the record, so the next step, or the same one tried again, starts from
there.
A record whose answer stays invalid is given up alone; what may pass with time is raised, and the step is tried again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from temporalio import activity

from activities.failures import typed
from activities.recorded import RecordedCalls
from activities.registry import Registry
from activities.signatures import GraphSteps
from activities.vectors import Vectors
from domain.audit import missing_items, united
from domain.dream.guards import without_participants
from domain.errors import ModelOutputInvalid
from domain.graph_plan import keys_to_resolve, plan_write, renamed, with_vectors
from domain.identity import accepted
from domain.memory import Chunk, Extraction, IndexStatus, Record
from domain.messages import ChunkTask, JobRef, StepCount
from domain.model_calls import CanonicalizeAnswer, CanonicalizeRequest, ExtractRequest, Purpose, RepairRequest
from domain.ports import GraphStore, JobStore, MemoryModel, RecordStore
from domain.records import cited_turns

RECORDS_AT_A_TIME = 4
"""Records of a chunk that are extracted side by side; their answers do not depend on each other."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What a step works on: the chunk's pending records, in order, that the step before got through."""

    job: JobRef
    chunk: Chunk
    records: Sequence[Record]
    given: Mapping[UUID, Extraction]
    """By record: the draft of the step before; empty for the first step."""
    made: Mapping[UUID, Extraction]
    """By record: the draft of this step, where an earlier attempt left one."""


class Indexing(GraphSteps):
    """The graph steps over the ports."""

    def __init__(
        self, jobs: JobStore, records: RecordStore, graph: GraphStore, model: MemoryModel, calls: RecordedCalls
    ) -> None:
        self._jobs = jobs
        self._records = records
        self._graph = graph
        self._model = model
        self._calls = calls

    @activity.defn
    @typed
    async def extract(self, task: ChunkTask) -> StepCount:
        batch = await self._batch(task, "extract")
        return await self._each(batch, "extract", self._extract, at_a_time=RECORDS_AT_A_TIME)

    @activity.defn
    @typed
    async def repair(self, task: ChunkTask) -> StepCount:
        batch = await self._batch(task, "repair", after="extract")
        return await self._each(batch, "repair", self._repair, at_a_time=RECORDS_AT_A_TIME)

    @activity.defn
    @typed
    async def canonicalize(self, task: ChunkTask) -> StepCount:
        batch = await self._batch(task, "canonicalize", after="repair")
        registry = Registry(self._graph, self._calls, batch.job)
        await registry.load(batch.chunk, list(batch.given.values()))
        return await self._each(batch, "canonicalize", partial(self._canonicalize, registry))

    @activity.defn
    @typed
    async def upsert(self, task: ChunkTask) -> StepCount:
        batch = await self._batch(task, "upsert", after="canonicalize")
        vectors = Vectors(self._calls, batch.job)
        await self._embed_ahead(batch, vectors)
        return await self._each(batch, "upsert", partial(self._upsert, vectors))

    async def _batch(self, task: ChunkTask, step: str, *, after: str = "") -> Batch:
        chunk = await self._jobs.chunk(task.job.job_id, task.ordinal)
        pending = [r for r in await self._records.of_chunk(chunk.id) if r.index_status is IndexStatus.PENDING]
        given = await self._drafts(pending, after) if after else {}
        ready = [record for record in pending if not after or record.id in given]
        return Batch(job=task.job, chunk=chunk, records=ready, given=given, made=await self._drafts(ready, step))

    async def _each(
        self, batch: Batch, step: str, work: Callable[[Batch, Record], Awaitable[None]], *, at_a_time: int = 1
    ) -> StepCount:
        """Give every record its turn; what may pass with time is raised only then."""
        places = asyncio.Semaphore(at_a_time)

        async def one(record: Record) -> bool:
            async with places:
                return await self._succeeds(work(batch, record), record, step)

        ends = await asyncio.gather(*(one(record) for record in batch.records), return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException):
                raise end
        done = sum(end is True for end in ends)
        return StepCount(done=done, failed=len(ends) - done)

    async def _succeeds(self, work: Awaitable[None], record: Record, step: str) -> bool:
        try:
            await work
        except ModelOutputInvalid as error:
            await self._records.set_index([record.id], IndexStatus.FAILED, step=step, reason=error.type)
            return False
        return True

    async def _extract(self, batch: Batch, record: Record) -> None:
        if record.id in batch.made:
            return
        request = ExtractRequest(
            record=record,
            turns=cited_turns(record, batch.chunk),
            timezone=batch.chunk.timezone,
            speakers=batch.chunk.speakers,
        )
        extraction = await self._calls.ask(
            self._model.extract,
            request,
            Extraction,
            job=batch.job,
            purpose=Purpose.EXTRACT,
            subject=record.id,
            model=self._model.name,
        )
        await self._save(record, "extract", extraction)

    async def _repair(self, batch: Batch, record: Record) -> None:
        if record.id in batch.made:
            return
        extraction = batch.given[record.id]
        turns = cited_turns(record, batch.chunk)
        missing = missing_items(record, turns, extraction)
        if missing:
            request = RepairRequest(
                record=record,
                turns=turns,
                extraction=extraction,
                missing=missing,
                timezone=batch.chunk.timezone,
                speakers=batch.chunk.speakers,
            )
            added = await self._calls.ask(
                self._model.repair,
                request,
                Extraction,
                job=batch.job,
                purpose=Purpose.REPAIR,
                subject=record.id,
                model=self._model.name,
            )
            extraction = united(extraction, added)
        await self._save(record, "repair", extraction)

    async def _canonicalize(self, registry: Registry, batch: Batch, record: Record) -> None:
        made = batch.made.get(record.id)
        if made is None:
            made = await self._renamed(registry, batch, record)
            await self._save(record, "canonicalize", made)
        registry.learn(made)

    async def _renamed(self, registry: Registry, batch: Batch, record: Record) -> Extraction:
        extraction = batch.given[record.id]
        questions = registry.questions(record.user_id, extraction)
        if not questions:
            return extraction
        request = CanonicalizeRequest(record=record, questions=questions)
        answer = await self._calls.ask(
            self._model.canonicalize,
            request,
            CanonicalizeAnswer,
            job=batch.job,
            purpose=Purpose.CANONICALIZE,
            subject=record.id,
            model=self._model.name,
        )
        return renamed(extraction, without_participants(accepted(answer, request), request, extraction))

    async def _embed_ahead(self, batch: Batch, vectors: Vectors) -> None:
        """Embed in one go what the records will most likely need; a name that one of them settles for the next comes
        later."""
        keys = sorted({key for extraction in batch.given.values() for key in keys_to_resolve(extraction)})
        resolved = await self._graph.resolve(batch.job.user_id, keys)
        planned = [plan_write(record, batch.given[record.id], resolved) for record in batch.records]
        texts = [text for plan in planned for text in (*plan.anchor_names, *plan.frame_texts)]
        await vectors.of(texts, subject=batch.chunk.id)

    async def _upsert(self, vectors: Vectors, batch: Batch, record: Record) -> None:
        extraction = batch.given[record.id]
        resolved = await self._graph.resolve(record.user_id, keys_to_resolve(extraction))
        planned = plan_write(record, extraction, resolved)
        names = await vectors.of(planned.anchor_names, subject=record.id)
        frames = await vectors.of(planned.frame_texts, subject=record.id)
        await self._graph.upsert(with_vectors(planned, names, frames))
        await self._records.set_index([record.id], IndexStatus.INDEXED)

    async def _drafts(self, records: Sequence[Record], step: str) -> dict[UUID, Extraction]:
        drafts = await self._records.drafts([record.id for record in records], step)
        return {record_id: Extraction.model_validate_json(draft) for record_id, draft in drafts.items()}

    async def _save(self, record: Record, step: str, extraction: Extraction) -> None:
        await self._records.save_draft(record.id, step, extraction.model_dump_json())


async def unfinished(records: RecordStore, chunk: Chunk, step: str) -> Sequence[UUID]:
    """The pending records of a chunk that a step did not get through."""
    pending = [r.id for r in await records.of_chunk(chunk.id) if r.index_status is IndexStatus.PENDING]
    through = {} if step == "upsert" else await records.drafts(pending, step)
    return [record_id for record_id in pending if record_id not in through]
