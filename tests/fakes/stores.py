"""The evidence plane in memory: one store a port, over shared rows, as the tables are shared.

They pass the contract suite that Postgres passes (tests/contract).
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from uuid import UUID

from domain.dream.rounds import Consolidation, ConsolidationState, Pair, Stage
from domain.errors import NotFound, RequestConflict
from domain.graph import Vector
from domain.jobs import TERMINAL, Acceptance, Batch, Job, JobState, job_id
from domain.memory import Chunk, IndexStatus, MemoryKind, Message, NewInput, Record, TimeSource
from domain.messages import JobRef, QueueHead, ref_of
from domain.model_calls import Purpose, RecordView, Usage


@dataclass
class ChunkRow:
    """A chunk and how far it came."""

    chunk: Chunk
    kinds: tuple[MemoryKind, ...] | None = None
    committed: bool = False
    failure: tuple[str, str] = ("", "")


@dataclass
class CallRow:
    """An audited model call."""

    user_id: str
    job_id: UUID
    purpose: Purpose
    usage: Usage
    outcome: str
    answer: str | None


@dataclass
class Evidence:
    """The rows that the stores below share."""

    jobs: dict[UUID, Job] = field(default_factory=dict)
    hashes: dict[UUID, str] = field(default_factory=dict)
    inputs: dict[UUID, NewInput] = field(default_factory=dict)
    waiting_since: dict[UUID, datetime] = field(default_factory=dict)
    chunks: dict[UUID, ChunkRow] = field(default_factory=dict)
    records: dict[UUID, Record] = field(default_factory=dict)
    vectors: dict[UUID, Vector] = field(default_factory=dict)
    drafts: dict[tuple[UUID, str], str] = field(default_factory=dict)
    calls: dict[str, CallRow] = field(default_factory=dict)
    noted: dict[UUID, list[UUID]] = field(default_factory=dict)
    """Chunks in the graph, by batch."""
    consolidations: dict[UUID, Consolidation] = field(default_factory=dict)
    evidence_positions: dict[UUID, int] = field(default_factory=dict)
    """How many records the user had when a consolidation began."""
    sources: dict[tuple[UUID, Stage, UUID], bool] = field(default_factory=dict)
    """Sources by consolidation and stage: True for one that waits for a later round."""
    pairs: dict[UUID, tuple[UUID, Pair]] = field(default_factory=dict)
    """Pairs with their consolidations."""
    rejections: set[tuple[str, str]] = field(default_factory=set)
    merges: dict[UUID, UUID] = field(default_factory=dict)
    """Consolidations by merge."""

    def chunks_of(self, job: UUID) -> list[ChunkRow]:
        """In order."""
        return sorted((r for r in self.chunks.values() if r.chunk.input_id == job), key=lambda r: r.chunk.ordinal)

    def last_sequence(self, user_id: str) -> int:
        """Of the user's jobs; 0 without any."""
        return max((job.sequence for job in self.jobs.values() if job.user_id == user_id), default=0)

    def view(self, job: UUID) -> Job:
        """The job with its counts."""
        records = [record for record in self.records.values() if record.input_id == job]
        states = Counter(record.index_status for record in records)
        rows = self.chunks_of(job)
        return self.jobs[job].model_copy(
            update={
                "chunks": len(rows),
                "chunks_done": sum(row.committed for row in rows),
                "records": dict(Counter(str(record.kind) for record in records)),
                "indexed": states[IndexStatus.INDEXED],
                "index_failed": states[IndexStatus.FAILED],
                "model_calls": sum(call.job_id == job for call in self.calls.values()),
            }
        )


class MemoryJobs:
    """JobStore."""

    def __init__(self, evidence: Evidence) -> None:
        self._rows = evidence

    async def accept(self, new: NewInput, *, body_hash: str, now: datetime, batch_id: UUID | None = None) -> Acceptance:
        identity = job_id(new.user_id, new.request_id)
        if identity in self._rows.jobs:
            if self._rows.hashes[identity] != body_hash:
                raise RequestConflict("the request id was used before for a different input")
            return Acceptance(job=self._rows.view(identity), created=False)
        fresh = self._fresh(new)
        self._rows.jobs[identity] = Job(
            id=identity,
            sequence=1 + self._rows.last_sequence(new.user_id),
            state=JobState.ACCEPTED,
            messages=len(fresh),
            batch_id=batch_id,
            accepted_at=now,
            **new.model_dump(include={"user_id", "request_id", "session_id", "form", "sanitized"}),
        )
        self._rows.hashes[identity] = body_hash
        self._rows.inputs[identity] = new.model_copy(update={"messages": tuple(fresh)})
        self._rows.waiting_since[identity] = now
        return Acceptance(job=self._rows.view(identity), created=True)

    def _of_user(self, user_id: str) -> list[Job]:
        return [job for job in self._rows.jobs.values() if job.user_id == user_id]

    def _fresh(self, new: NewInput) -> list[Message]:
        known = {
            message.id: (message, stored.time_source)
            for stored in self._rows.inputs.values()
            if (stored.user_id, stored.session_id) == (new.user_id, new.session_id)
            for message in stored.messages
        }
        fresh: list[Message] = []
        for message in new.messages:
            if message.id not in known:
                known[message.id] = (message, new.time_source)
                fresh.append(message)
                continue
            stored, source = known[message.id]
            timed = {source, new.time_source} == {TimeSource.GIVEN}
            if (stored if timed else stored.model_copy(update={"sent_at": message.sent_at})) != message:
                raise RequestConflict("the session holds another message with this id")
        return fresh

    async def job(self, user_id: str, job_id: UUID) -> Job:
        if job_id not in self._rows.jobs or self._rows.jobs[job_id].user_id != user_id:
            raise NotFound(f"no job {job_id}")
        return self._rows.view(job_id)

    async def jobs(self, user_id: str, *, before: int | None = None, limit: int = 50) -> tuple[Job, ...]:
        found = [job for job in self._of_user(user_id) if before is None or job.sequence < before]
        found.sort(key=lambda job: -job.sequence)
        return tuple(self._rows.view(job.id) for job in found[:limit])

    async def open_jobs(self, *, before: datetime, limit: int = 1000) -> tuple[Job, ...]:
        since = self._rows.waiting_since
        found = [job for job in self._rows.jobs.values() if not job.terminal and since[job.id] < before]
        found.sort(key=lambda job: (since[job.id], job.id))
        return tuple(self._rows.view(job.id) for job in found[:limit])

    async def messages(self, job_id: UUID) -> tuple[Message, ...]:
        return self._rows.inputs[job_id].messages if job_id in self._rows.inputs else ()

    async def input(self, job_id: UUID) -> NewInput:
        if job_id not in self._rows.inputs:
            raise NotFound(f"no job {job_id}")
        return self._rows.inputs[job_id]

    async def previous_message(self, job_id: UUID) -> Message | None:
        job = self._rows.jobs[job_id]
        earlier = [
            other
            for other in self._of_user(job.user_id)
            if other.session_id == job.session_id and other.sequence < job.sequence and other.messages
        ]
        last = max(earlier, key=lambda other: other.sequence, default=None)
        return self._rows.inputs[last.id].messages[-1] if last else None

    async def save_chunks(self, job_id: UUID, chunks: Sequence[Chunk]) -> None:
        for chunk in chunks:
            self._rows.chunks.setdefault(chunk.id, ChunkRow(chunk))
        if self._rows.jobs[job_id].state is JobState.ACCEPTED:
            self._update(job_id, state=JobState.RUNNING)

    def _update(self, job: UUID, **values: object) -> None:
        self._rows.jobs[job] = self._rows.jobs[job].model_copy(update=values)

    async def chunk(self, job_id: UUID, ordinal: int) -> Chunk:
        for row in self._rows.chunks_of(job_id):
            if row.chunk.ordinal == ordinal:
                return row.chunk
        raise NotFound(f"job {job_id} has no chunk {ordinal}")

    async def save_kinds(self, chunk_id: UUID, kinds: Sequence[MemoryKind]) -> None:
        self._rows.chunks[chunk_id].kinds = tuple(kinds)

    async def kinds(self, chunk_id: UUID) -> tuple[MemoryKind, ...] | None:
        row = self._rows.chunks.get(chunk_id)
        return row.kinds if row else None

    async def mark_committed(self, chunk_id: UUID) -> None:
        row = self._rows.chunks[chunk_id]
        row.committed, row.failure = True, ("", "")

    async def fail_chunk(self, job_id: UUID, ordinal: int, *, step: str, reason: str) -> None:
        for row in self._rows.chunks_of(job_id):
            if row.chunk.ordinal == ordinal and not row.committed:
                row.failure = (step, reason)

    async def set_state(self, job_id: UUID, state: JobState, *, now: datetime, step: str = "", reason: str = "") -> Job:
        if job_id not in self._rows.jobs:
            raise NotFound(f"no job {job_id}")
        if not self._rows.jobs[job_id].terminal:
            finished = now if state in TERMINAL else None
            self._update(job_id, state=state, step=step, reason=reason, finished_at=finished)
        return self._rows.view(job_id)

    async def finish(self, job_id: UUID, *, now: datetime) -> Job:
        unwritten = [row for row in self._rows.chunks_of(job_id) if not row.committed]
        if unwritten:
            first = min(unwritten, key=lambda row: (row.failure[0] == "", row.chunk.ordinal))
            step, reason = (first.failure[0] or "write"), (first.failure[1] or "not_written")
            return await self.set_state(job_id, JobState.FAILED, now=now, step=step, reason=reason)
        job = self._rows.view(job_id)
        reason = "" if job.records else "no_facts" if job.messages else "already_stored"
        return await self.set_state(job_id, JobState.COMPLETED, now=now, reason=reason)

    async def reopen(self, job_id: UUID, *, now: datetime) -> Job:
        if job_id not in self._rows.jobs:
            raise NotFound(f"no job {job_id}")
        job = self._rows.jobs[job_id]
        if job.terminal:
            cleared = {"state": JobState.ACCEPTED, "step": "", "reason": "", "finished_at": None}
            self._update(job_id, **cleared, attempt=job.attempt + 1)
            self._rows.waiting_since[job_id] = now
            for row in self._rows.chunks_of(job_id):
                row.failure = ("", "")
            self._retry_records(job_id)
        return self._rows.view(job_id)

    def _retry_records(self, job: UUID) -> None:
        for record in list(self._rows.records.values()):
            if record.input_id == job and record.index_status is IndexStatus.FAILED:
                cleared = {"index_status": IndexStatus.PENDING, "index_step": "", "index_reason": ""}
                self._rows.records[record.id] = record.model_copy(update=cleared)

    async def queue_head(self, user_id: str) -> QueueHead:
        open_jobs = sorted((job.sequence, job.id) for job in self._of_user(user_id) if not job.terminal)
        turns = [
            (each.sequence, each.id)
            for each in self._rows.consolidations.values()
            if each.user_id == user_id
            and each.state in (ConsolidationState.ACCEPTED, ConsolidationState.RUNNING)
            and (not open_jobs or each.after_job < open_jobs[0][0])
        ]
        if turns:
            return QueueHead(consolidation=ref_of(self._rows.consolidations[min(turns)[1]]))
        if not open_jobs:
            return QueueHead()
        head = self._rows.view(open_jobs[0][1])
        ref = JobRef(user_id=user_id, job_id=head.id, request_id=head.request_id, attempt=head.attempt)
        ready = head.state is JobState.EXTRACTED
        return QueueHead(job=ref, ready=ready, chunks=head.chunks, batch_id=head.batch_id)

    def _of_batch(self, batch_id: UUID) -> list[Job]:
        own = (job for job in self._rows.jobs.values() if job.batch_id == batch_id)
        return sorted(own, key=lambda job: job.sequence)

    async def batch(self, user_id: str, batch_id: UUID) -> Batch:
        own = [job for job in self._of_batch(batch_id) if job.user_id == user_id]
        return Batch(
            id=batch_id,
            user_id=user_id,
            jobs=len(own),
            started=sum(job.state is not JobState.ACCEPTED for job in own),
            ended=sum(job.terminal for job in own),
            chunks=len(self._rows.noted.get(batch_id, ())) if own else 0,
        )

    async def next_jobs(self, batch_id: UUID, *, window: int) -> tuple[Job, ...]:
        own = self._of_batch(batch_id)
        accepted = [job for job in own if job.state is JobState.ACCEPTED]
        under_way = sum(not job.terminal for job in own) - len(accepted)
        return tuple(self._rows.view(job.id) for job in accepted[: max(window - under_way, 0)])

    async def note_chunk(self, batch_id: UUID, chunk_id: UUID) -> int:
        noted = self._rows.noted.setdefault(batch_id, [])
        if chunk_id not in noted:
            noted.append(chunk_id)
        return noted.index(chunk_id) + 1

    async def noted_chunks(self, batch_id: UUID, *, after: int, up_to: int) -> tuple[UUID, ...]:
        return tuple(self._rows.noted.get(batch_id, ())[max(after, 0) : max(up_to, 0)])


def _said(message: Message, text: str) -> str:
    captions = [json.dumps(list(message.captions), ensure_ascii=False)] if message.captions else []
    return " ".join((message.speaker, text, *captions))


class MemoryRecords:
    """RecordStore."""

    def __init__(self, evidence: Evidence) -> None:
        self._rows = evidence

    async def commit(self, records: Sequence[Record], vectors: Sequence[Vector]) -> int:
        fresh = [
            (record, vector)
            for record, vector in zip(records, vectors, strict=True)
            if record.id not in self._rows.records
        ]
        if any(record.chunk_id not in self._rows.chunks for record, _ in fresh):
            raise LookupError("a record names a chunk that is not there")
        for record, vector in fresh:
            self._rows.records[record.id] = record
            self._rows.vectors[record.id] = vector
        return len(fresh)

    def _of_user(self, user_id: str) -> list[Record]:
        return [record for record in self._rows.records.values() if record.user_id == user_id]

    async def record(self, user_id: str, record_id: UUID) -> Record:
        found = await self.records(user_id, [record_id])
        if not found:
            raise NotFound(f"no record {record_id}")
        return found[0]

    async def records(self, user_id: str, record_ids: Sequence[UUID]) -> tuple[Record, ...]:
        own = {record.id: record for record in self._of_user(user_id)}
        return tuple(own[record_id] for record_id in record_ids if record_id in own)

    async def of_chunk(self, chunk_id: UUID) -> tuple[Record, ...]:
        found = [record for record in self._rows.records.values() if record.chunk_id == chunk_id]
        return tuple(sorted(found, key=lambda record: (record.kind, record.ordinal)))

    async def page(
        self, user_id: str, *, kinds: Sequence[MemoryKind] = (), after: UUID | None = None, limit: int = 50
    ) -> tuple[Record, ...]:
        own = self._of_user(user_id)
        start = next((place for place, record in enumerate(own, start=1) if record.id == after), 0)
        return tuple(record for record in own[start:] if not kinds or record.kind in kinds)[:limit]

    async def semantic_of(self, user_id: str, chunk_ids: Sequence[UUID], *, limit: int) -> tuple[UUID, ...]:
        own = [record for record in self._of_user(user_id) if record.kind is MemoryKind.SEMANTIC]
        return tuple(record.id for record in own if record.chunk_id in chunk_ids)[:limit]

    async def semantic_since(self, user_id: str, since: datetime, *, limit: int) -> tuple[UUID, ...]:
        own = [record for record in self._of_user(user_id) if record.kind is MemoryKind.SEMANTIC]
        return tuple(record.id for record in own if self._rows.jobs[record.input_id].accepted_at >= since)[:limit]

    async def view(self, user_id: str, kind: MemoryKind, *, limit: int) -> tuple[RecordView, ...]:
        own = [record for record in self._of_user(user_id) if record.kind is kind]
        own.sort(key=lambda record: (-record.mention_time.timestamp(), record.id))
        return tuple(RecordView(title=record.title, text=record.text) for record in own[:limit])

    async def set_index(
        self, record_ids: Sequence[UUID], status: IndexStatus, *, step: str = "", reason: str = ""
    ) -> None:
        for record_id in record_ids:
            update = {"index_status": status, "index_step": step, "index_reason": reason}
            self._rows.records[record_id] = self._rows.records[record_id].model_copy(update=update)

    async def save_draft(self, record_id: UUID, step: str, draft: str) -> None:
        self._rows.drafts.setdefault((record_id, step), draft)

    async def drafts(self, record_ids: Sequence[UUID], step: str) -> Mapping[UUID, str]:
        kept = ((record_id, self._rows.drafts.get((record_id, step))) for record_id in record_ids)
        return {record_id: draft for record_id, draft in kept if draft is not None}

    async def same_chunk(self, user_id: str, record_ids: Sequence[UUID], *, limit: int) -> tuple[UUID, ...]:
        chunks = {record.chunk_id for record in await self.records(user_id, record_ids)}
        beside = [r for r in self._of_user(user_id) if r.chunk_id in chunks and r.id not in record_ids]
        beside.sort(key=lambda record: (record.mention_time, record.chunk_id, record.kind, record.ordinal))
        return tuple(record.id for record in beside[:limit])

    async def temporal_neighbours(self, user_id: str, record_ids: Sequence[UUID], *, limit: int) -> tuple[UUID, ...]:
        found: set[tuple[datetime, UUID]] = set()
        for record in await self.records(user_id, record_ids):
            session = [other for other in self._of_user(user_id) if other.session_id == record.session_id]
            line = sorted((other.mention_time, other.id) for other in session)
            place = line.index((record.mention_time, record.id))
            found |= {*line[max(place - 1, 0) : place], *line[place + 1 : place + 2]}
        return tuple(identity for _, identity in sorted(found) if identity not in record_ids)[:limit]

    async def surroundings(self, user_id: str, record_ids: Sequence[UUID], *, characters: int) -> Mapping[UUID, str]:
        found: dict[UUID, str] = {}
        for record in await self.records(user_id, record_ids):
            starts = {source.turn_id: source.start or 0 for source in reversed(record.sources)}
            parts = []
            for stored in self._rows.inputs.values():
                if (stored.user_id, stored.session_id) != (user_id, record.session_id):
                    continue
                for place, message in enumerate(stored.messages):
                    if message.id in starts:
                        start = starts[message.id]
                        parts += [_said(each, each.text[-characters:]) for each in stored.messages[:place][-1:]]
                        parts.append(_said(message, message.text[start : start + characters]))
                        parts += [_said(each, each.text[:characters]) for each in stored.messages[place + 1 :][:1]]
            if parts:
                found[record.id] = " ".join(parts)
        return found

    async def similarities(self, user_id: str, record_ids: Sequence[UUID], vector: Vector) -> Mapping[UUID, float]:
        own = await self.records(user_id, record_ids)
        return {record.id: dot(self._rows.vectors[record.id], vector) for record in own}

    async def search_direct(
        self, user_id: str, *, vector: Vector, words: Sequence[str], kinds: Sequence[MemoryKind], limit: int
    ) -> tuple[UUID, ...]:
        own = [record for record in self._of_user(user_id) if not kinds or record.kind in kinds]
        asked = {word.casefold() for word in words}
        said = {record.id: len(asked & set(_words(record))) for record in own}
        near = sorted(own, key=lambda record: (-dot(self._rows.vectors[record.id], vector), record.id))[:limit]
        hits = sorted((record for record in own if said[record.id]), key=lambda r: (-said[r.id], r.id))[:limit]
        scores: Counter[UUID] = Counter()
        for ranking in (near, hits):
            for rank, record in enumerate(ranking, start=1):
                scores[record.id] += 1 / (60 + rank)  # type: ignore[assignment]
        return tuple(sorted(scores, key=lambda found: (-scores[found], found))[:limit])

    async def checksum(self, user_id: str | None = None) -> str:
        rows: list[object] = []
        for job in self._rows.jobs.values():
            mine = self._rows.view(job.id)
            unlike = {"sequence", "attempt", "accepted_at", "finished_at", "model_calls", "batch_id"}
            rows.append(
                (job.user_id, mine.model_dump_json(exclude=unlike), self._rows.inputs[job.id].model_dump_json())
            )
        rows += [(c.chunk.user_id, c.chunk.model_dump_json(), c.kinds, c.committed) for c in self._rows.chunks.values()]
        rows += [(r.user_id, r.model_dump_json(), self._rows.vectors[r.id]) for r in self._rows.records.values()]
        rows += [(self._rows.records[key[0]].user_id, key, draft) for key, draft in self._rows.drafts.items()]
        calls = self._rows.calls.items()
        rows += [(c.user_id, key, c.outcome, c.answer) for key, c in calls if c.job_id in self._rows.jobs]
        return digest(rows, user_id)


def _words(record: Record) -> list[str]:
    return f"{record.title} {record.text}".casefold().replace(".", " ").replace(",", " ").split()


def dot(one: Vector, other: Vector) -> float:
    """Cosine of unit vectors."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def digest(rows: Sequence[object], user_id: str | None) -> str:
    """Of rows that begin with their user, in an order of their own."""
    mine = [repr(row) for row in rows if user_id is None or (isinstance(row, tuple) and row[0] == user_id)]
    return sha256("\n".join(sorted(mine)).encode()).hexdigest()


class MemoryModelCalls:
    """ModelCallStore."""

    def __init__(self, evidence: Evidence) -> None:
        self._rows = evidence

    async def answer(self, key: str) -> str | None:
        return self._rows.calls[key].answer if key in self._rows.calls else None

    async def record(
        self,
        key: str,
        *,
        user_id: str,
        job_id: UUID,
        purpose: Purpose,
        usage: Usage,
        outcome: str,
        answer: str | None,
        now: datetime,
    ) -> str | None:
        row = self._rows.calls.setdefault(key, CallRow(user_id, job_id, purpose, usage, outcome, answer))
        if row.outcome != "ok":
            row.outcome, row.answer = outcome, answer
        return row.answer
