"""From a stored input to committed records (Algorithm 1, lines 2-3)."""

from collections.abc import Sequence

from temporalio import activity

from activities.failures import typed
from activities.recorded import RecordedCalls
from activities.signatures import WriteSteps
from domain.chunking import cut
from domain.memory import Chunk, MemoryKind, Record, RecordDraft
from domain.messages import ChunkTask, JobRef, Prepared, Routed, StepCount, WriteTask
from domain.model_calls import Purpose, RouteAnswer, RouteRequest, WriteAnswer, WriteRequest
from domain.ports import JobStore, MemoryModel, RecordStore
from domain.records import VIEW_LIMIT, embedding_text, records_of


class Writing(WriteSteps):
    """The write steps over the ports."""

    def __init__(
        self,
        jobs: JobStore,
        records: RecordStore,
        model: MemoryModel,
        calls: RecordedCalls,
        *,
        chunk_characters: int,
        chunk_turns: int,
    ) -> None:
        self._jobs = jobs
        self._records = records
        self._model = model
        self._calls = calls
        self._characters = chunk_characters
        self._turns = chunk_turns

    @activity.defn
    @typed
    async def prepare(self, task: JobRef) -> Prepared:
        new = await self._jobs.input(task.job_id)
        previous = await self._jobs.previous_message(task.job_id)
        chunks = cut(task.job_id, new, characters=self._characters, turns=self._turns, previous=previous)
        await self._jobs.save_chunks(task.job_id, chunks)
        return Prepared(chunks=len(chunks))

    @activity.defn
    @typed
    async def route(self, task: ChunkTask) -> Routed:
        chunk = await self._jobs.chunk(task.job.job_id, task.ordinal)
        answer = await self._calls.ask(
            self._model.route,
            RouteRequest(chunk=chunk),
            RouteAnswer,
            job=task.job,
            purpose=Purpose.ROUTE,
            subject=chunk.id,
            model=self._model.name,
        )
        chosen = tuple(kind for kind in MemoryKind if kind in answer.kinds)
        await self._jobs.save_kinds(chunk.id, chosen)
        return Routed(kinds=chosen)

    @activity.defn
    @typed
    async def write(self, task: WriteTask) -> StepCount:
        chunk = await self._jobs.chunk(task.chunk.job.job_id, task.chunk.ordinal)
        view = await self._records.view(chunk.user_id, task.kind, limit=VIEW_LIMIT)
        answer = await self._calls.ask(
            self._model.write,
            WriteRequest(kind=task.kind, chunk=chunk, view=view),
            WriteAnswer,
            job=task.chunk.job,
            purpose=Purpose.WRITE,
            subject=chunk.id,
            detail=task.kind,
            model=self._model.name,
        )
        return StepCount(done=len(answer.records))

    @activity.defn
    @typed
    async def commit(self, task: ChunkTask) -> StepCount:
        chunk = await self._jobs.chunk(task.job.job_id, task.ordinal)
        records = records_of(chunk, await self._drafts(chunk))
        created = await self._commit(task.job, chunk, records)
        await self._jobs.mark_committed(chunk.id)
        return StepCount(done=created)

    async def _commit(self, job: JobRef, chunk: Chunk, records: Sequence[Record]) -> int:
        texts = [embedding_text(record) for record in records]
        vectors = await self._calls.embed(texts, job=job, subject=chunk.id, detail="commit")
        return await self._records.commit(records, vectors)

    async def _drafts(self, chunk: Chunk) -> dict[MemoryKind, tuple[RecordDraft, ...]]:
        drafts: dict[MemoryKind, tuple[RecordDraft, ...]] = {}
        for kind in await self._jobs.kinds(chunk.id) or ():
            answer = await self._calls.recorded(Purpose.WRITE, chunk.id, kind, WriteAnswer)
            if answer is not None:
                drafts[kind] = answer.records
        return drafts
