"""Services without servers, for the command line: real acceptor and dreamer, stores in memory, jobs and consolidations
that end as scripted."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

from api.acceptor import Acceptor
from api.dreamer import Dreamer
from api.search import Retriever
from api.services import Services
from domain.chunking import cut
from domain.dream.candidates import BATCH_CHUNKS
from domain.dream.rounds import (
    ROUNDS,
    Consolidation,
    ConsolidationState,
    Mode,
    NewConsolidation,
    Pair,
    PairState,
    Receipt,
    Stage,
    final_request,
    round_request,
)
from domain.errors import MergeConflict
from domain.jobs import Job, JobState
from domain.memory import IndexStatus, MemoryKind, RecordDraft, Source
from domain.messages import PairDecision
from domain.ports import ConsolidationStore, Embedder, JobStore, RecordStore
from domain.records import records_of
from domain.retrieval.plan import plan
from domain.retrieval.query import SearchQuery, SearchResult
from infra.run.bootstrap import input_limits
from infra.settings import Settings
from tests.fakes.consolidations import MemoryConsolidations
from tests.fakes.graph import MemoryGraph
from tests.fakes.schedules import MemorySchedules
from tests.fakes.stores import Evidence, MemoryJobs, MemoryModelCalls, MemoryRecords
from tests.fakes.vault import MemoryVault

NOW = datetime(2025, 7, 1, 12, tzinfo=UTC)

CHUNK_CHARACTERS, CHUNK_TURNS = 4_000, 8


BATCH_WINDOW = 4


class InstantWorker:
    """WorkflowStarter whose workflows are over at once: one episodic record a message, or a failure; of a round the
    pairs it is told to find, all of them the same."""

    def __init__(self, jobs: JobStore, records: RecordStore, consolidations: ConsolidationStore) -> None:
        self._jobs = jobs
        self._records = records
        self._consolidations = consolidations
        self.failing = False
        """A writer gives up on every chunk."""
        self.asleep = False
        """Nothing is worked on."""
        self.unindexed = 0
        """Records of a job that do not get into the graph."""
        self.pairs: Sequence[Pair] = ()
        """What the next round finds."""
        self.dream_failure: tuple[str, str, str] = ("", "", "")
        """Step, reason and detail with which every consolidation fails."""
        self.batches: list[UUID] = []
        """Started, in order."""

    async def start_ingest(self, job: Job) -> None:
        if self.asleep:
            return
        chunks = cut(
            job.id, await self._jobs.input(job.id), characters=CHUNK_CHARACTERS, turns=CHUNK_TURNS, previous=None
        )
        await self._jobs.save_chunks(job.id, chunks)
        written: list[UUID] = []
        for chunk in chunks:
            if self.failing:
                await self._jobs.fail_chunk(job.id, chunk.ordinal, step="write", reason="model_unavailable")
                continue
            drafts = tuple(
                RecordDraft(kind=MemoryKind.EPISODIC, title="", text=turn.text, sources=(Source(turn_id=turn.id),))
                for turn in chunk.turns
            )
            records = records_of(chunk, {MemoryKind.EPISODIC: drafts})
            await self._records.commit(records, [[1.0] for _ in records])
            await self._jobs.mark_committed(chunk.id)
            await self._between(job, chunk.id)
            written += [record.id for record in records]
        failed = written[: self.unindexed]
        await self._records.set_index(failed, IndexStatus.FAILED, step="upsert", reason="graph_unavailable")
        await self._records.set_index(written[self.unindexed :], IndexStatus.INDEXED)
        await self._jobs.finish(job.id, now=NOW)

    async def _between(self, job: Job, chunk: UUID) -> None:
        """The round after every five chunks of a batch."""
        if job.batch_id is None:
            return
        number = await self._jobs.note_chunk(job.batch_id, chunk)
        if number % BATCH_CHUNKS == 0:
            request = round_request(job.batch_id, number)
            asked = NewConsolidation(user_id=job.user_id, request_id=request, mode=Mode.INTERMEDIATE)
            await self._dream((await self._consolidations.request(asked, now=NOW)).consolidation)

    async def ingest_open(self, job: Job) -> bool | None:
        return None

    async def cancel_ingest(self, job: Job) -> None:
        await self._jobs.set_state(job.id, JobState.CANCELLED, now=NOW, reason="cancelled")

    async def wake_queue(self, user_id: str) -> None:
        if self.asleep:
            return
        for each in reversed(await self._consolidations.consolidations(user_id)):
            if each.state is ConsolidationState.ACCEPTED:
                await self._dream(each)

    async def _dream(self, each: Consolidation) -> None:
        await self._consolidations.begin(each.id, now=NOW)
        step, reason, detail = self.dream_failure
        if reason:
            await self._end(each, ConsolidationState.FAILED, step=step, reason=reason, detail=detail)
        elif each.mode in ROUNDS:
            await self._round(each)
        else:
            await self._end(each, ConsolidationState.COMPLETED)

    async def _round(self, each: Consolidation) -> None:
        becomes = PairState.PENDING if each.review else PairState.PROPOSED if each.dry_run else PairState.MERGED
        if not each.applying:
            found = [pair.model_copy(update={"state": becomes}) for pair in self.pairs]
            await self._consolidations.save_pairs(each.id, Stage.MAIN, found, waiting=())
        approved = await self._consolidations.pairs(each.id, states=(PairState.APPROVED,))
        await self._consolidations.settle([pair.model_copy(update={"state": PairState.MERGED}) for pair in approved])
        pending = await self._consolidations.pairs(each.id, states=(PairState.PENDING,))
        await self._end(each, ConsolidationState.REVIEW if pending else ConsolidationState.COMPLETED)

    async def _end(self, each: Consolidation, state: ConsolidationState, **failure: str) -> None:
        merged = await self._consolidations.pairs(each.id, states=(PairState.MERGED,))
        await self._consolidations.end(each.id, state, receipt=Receipt(merged=len(merged)), now=NOW, **failure)

    async def cancel_consolidation(self, consolidation: Consolidation) -> bool:
        return False

    async def start_review(self, consolidation: Consolidation) -> None:
        return None

    async def decide(self, consolidation: Consolidation, decision: PairDecision) -> None:
        (pair,) = [pair for pair in await self._consolidations.pairs(consolidation.id) if pair.id == decision.pair_id]
        if pair.state is not PairState.PENDING:
            raise MergeConflict(f"the pair does not wait for this decision: it is {pair.state}")
        decided = {
            "state": PairState.APPROVED if decision.approve else PairState.DECLINED,
            "canonical": decision.canonical or pair.canonical,
            "decided_by": decision.actor,
        }
        await self._consolidations.decide(pair.model_copy(update=decided), now=NOW)
        if decision.approve:
            await self.wake_queue(decision.user_id)

    async def start_batch(self, user_id: str, batch_id: UUID) -> None:
        self.batches.append(batch_id)
        if self.asleep:
            return
        while jobs := await self._jobs.next_jobs(batch_id, window=BATCH_WINDOW):
            for job in jobs:
                await self.start_ingest(job)
        batch = await self._jobs.batch(user_id, batch_id)
        asked = NewConsolidation(user_id=user_id, request_id=final_request(batch_id, batch.jobs), mode=Mode.FINAL)
        await self._consolidations.request(asked, now=NOW)
        await self.wake_queue(user_id)


class ScriptedRetriever:
    """Answers every question with the result given."""

    def __init__(self, result: SearchResult | None = None) -> None:
        self.result = result
        self.asked: list[SearchQuery] = []

    async def search(self, query: SearchQuery) -> SearchResult:
        self.asked.append(query)
        return self.result or SearchResult(plan=plan(query.query, as_of=query.as_of, timezone=query.timezone))


class FakeServices:
    """The parts, for a test to look at, and the services over them."""

    def __init__(self) -> None:
        self.evidence = Evidence()
        self.jobs = MemoryJobs(self.evidence)
        self.records = MemoryRecords(self.evidence)
        self.entries: dict[UUID, tuple[str, str, bytes]] = {}
        self.vault = MemoryVault(self.entries, b"key")
        self.consolidations = MemoryConsolidations(self.evidence)
        self.graph = MemoryGraph(self.evidence)
        self.worker = InstantWorker(self.jobs, self.records, self.consolidations)
        self.retriever = ScriptedRetriever()

    @asynccontextmanager
    async def connect(self, settings: Settings) -> AsyncIterator[Services]:
        """In place of the composition root."""
        yield Services(
            jobs=self.jobs,
            records=self.records,
            graph=self.graph,
            calls=MemoryModelCalls(self.evidence),
            vault=self.vault,
            embedder=cast(Embedder, None),  # only the retriever embeds
            retriever=cast(Retriever, self.retriever),
            acceptor=Acceptor(
                self.jobs,
                self.vault,
                self.worker,
                limits=input_limits(settings),
                default_timezone=settings.default_timezone,
                clock=lambda: NOW,
            ),
            consolidations=self.consolidations,
            dreamer=Dreamer(self.consolidations, self.graph, self.worker, clock=lambda: NOW),
            schedules=MemorySchedules(),
            settings=settings,
        )
