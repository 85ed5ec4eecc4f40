"""From committed records to the graph (Algorithm 1, lines 5-10), fail-soft a record at a time.

Each step keeps its result as a draft beside the record, so the next step, or the same one tried again, starts from
there.
A record whose answer stays invalid is given up alone; what may pass with time is raised, and the step is tried again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from temporalio import activity

from activities.failures import typed
from activities.recorded import RecordedCalls
from activities.registry import Registry
from activities.signatures import GraphSteps
from domain.audit import missing_items, united
from domain.errors import ModelOutputInvalid, NotFound
from domain.graph_plan import keys_to_resolve, plan_write, renamed, with_vectors
from domain.identity import accepted
from domain.memory import Chunk, Extraction, IndexStatus, Record
from domain.messages import ChunkTask, JobRef, StepCount
from domain.model_calls import CanonicalizeAnswer, CanonicalizeRequest, ExtractRequest, Purpose, RepairRequest
from domain.ports import GraphStore, JobStore, MemoryModel, RecordStore
from domain.records import cited_turns

RECORDS_AT_A_TIME = 4
"""Records of a chunk that are extracted side by side; their answers do not depend on each other."""

RecordStep = Callable[[JobRef, Chunk, Record], Awaitable[None]]


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
        return await self._each(task, "extract", self._extract, at_a_time=RECORDS_AT_A_TIME)

    @activity.defn
    @typed
    async def repair(self, task: ChunkTask) -> StepCount:
        return await self._each(task, "repair", self._repair, at_a_time=RECORDS_AT_A_TIME)

    @activity.defn
    @typed
    async def canonicalize(self, task: ChunkTask) -> StepCount:
        registry = Registry(self._graph, self._calls, task.job)
        return await self._each(task, "canonicalize", self._canonicalize(registry))

    @activity.defn
    @typed
    async def upsert(self, task: ChunkTask) -> StepCount:
        return await self._each(task, "upsert", self._upsert)

    async def _each(self, task: ChunkTask, step: str, work: RecordStep, *, at_a_time: int = 1) -> StepCount:
        """Work through the chunk's pending records; what may pass with time is raised once all had their turn."""
        chunk = await self._jobs.chunk(task.job.job_id, task.ordinal)
        pending = [r for r in await self._records.of_chunk(chunk.id) if r.index_status is IndexStatus.PENDING]
        places = asyncio.Semaphore(at_a_time)

        async def one(record: Record) -> bool:
            async with places:
                return await self._succeeds(work(task.job, chunk, record), record, step)

        ends = await asyncio.gather(*(one(record) for record in pending), return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException):
                raise end
        done = sum(end is True for end in ends)
        return StepCount(done=done, failed=len(pending) - done)

    async def _succeeds(self, work: Awaitable[None], record: Record, step: str) -> bool:
        try:
            await work
        except ModelOutputInvalid as error:
            await self._records.set_index([record.id], IndexStatus.FAILED, step=step, reason=error.type)
            return False
        return True

    async def _extract(self, job: JobRef, chunk: Chunk, record: Record) -> None:
        request = ExtractRequest(
            record=record,
            turns=cited_turns(record, chunk),
            timezone=chunk.timezone,
            speakers=chunk.speakers,
        )
        extraction = await self._calls.ask(
            self._model.extract,
            request,
            Extraction,
            job=job,
            purpose=Purpose.EXTRACT,
            subject=record.id,
            model=self._model.name,
        )
        await self._save(record, "extract", extraction)

    async def _repair(self, job: JobRef, chunk: Chunk, record: Record) -> None:
        extraction = await self._draft(record, "extract")
        turns = cited_turns(record, chunk)
        missing = missing_items(record, turns, extraction)
        if missing:
            request = RepairRequest(
                record=record,
                turns=turns,
                extraction=extraction,
                missing=missing,
                timezone=chunk.timezone,
                speakers=chunk.speakers,
            )
            added = await self._calls.ask(
                self._model.repair,
                request,
                Extraction,
                job=job,
                purpose=Purpose.REPAIR,
                subject=record.id,
                model=self._model.name,
            )
            extraction = united(extraction, added)
        await self._save(record, "repair", extraction)

    def _canonicalize(self, registry: Registry) -> RecordStep:
        async def work(job: JobRef, _chunk: Chunk, record: Record) -> None:
            if await self._records.draft(record.id, "canonicalize") is None:
                extraction = await self._draft(record, "repair")
                await self._save(record, "canonicalize", await self._renamed(registry, job, record, extraction))
            await registry.learn(record, await self._draft(record, "canonicalize"))

        return work

    async def _renamed(self, registry: Registry, job: JobRef, record: Record, extraction: Extraction) -> Extraction:
        questions = await registry.questions(record, extraction)
        if not questions:
            return extraction
        request = CanonicalizeRequest(record=record, questions=questions)
        answer = await self._calls.ask(
            self._model.canonicalize,
            request,
            CanonicalizeAnswer,
            job=job,
            purpose=Purpose.CANONICALIZE,
            subject=record.id,
            model=self._model.name,
        )
        return renamed(extraction, accepted(answer, request))

    async def _upsert(self, job: JobRef, _chunk: Chunk, record: Record) -> None:
        extraction = await self._draft(record, "canonicalize")
        resolved = await self._graph.resolve(record.user_id, keys_to_resolve(extraction))
        planned = plan_write(record, extraction, resolved)
        texts = [*planned.anchor_names, *planned.frame_texts]
        vectors = await self._calls.embed(texts, job=job, subject=record.id, detail="upsert")
        names = len(planned.anchor_names)
        await self._graph.upsert(with_vectors(planned, vectors[:names], vectors[names:]))
        await self._records.set_index([record.id], IndexStatus.INDEXED)

    async def _draft(self, record: Record, step: str) -> Extraction:
        draft = await self._records.draft(record.id, step)
        if draft is None:
            raise NotFound(f"record {record.id} has no {step} draft")
        return Extraction.model_validate_json(draft)

    async def _save(self, record: Record, step: str, extraction: Extraction) -> None:
        await self._records.save_draft(record.id, step, extraction.model_dump_json())


async def unfinished(records: RecordStore, chunk: Chunk, step: str) -> Sequence[Record]:
    """The pending records of a chunk that a step did not get through."""
    pending = [r for r in await records.of_chunk(chunk.id) if r.index_status is IndexStatus.PENDING]
    if step == "upsert":
        return pending
    return [record for record in pending if await records.draft(record.id, step) is None]
