"""Inputs, jobs and chunks in Postgres."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from domain.errors import NotFound, RequestConflict
from domain.jobs import TERMINAL, Acceptance, Batch, Job, JobState, job_id
from domain.memory import Chunk, MemoryKind, Message, NewInput, TimeSource
from domain.messages import ConsolidationRef, JobRef, QueueHead
from infra.stores.database import Connection, Database, one
from infra.stores.jobs import statements

_TERMINAL = [str(state) for state in TERMINAL]


class PostgresJobs:
    """The JobStore port over Postgres.

    A terminal job is left only by `reopen`: a step that comes late, or is repeated, moves nothing then.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept(self, new: NewInput, *, body_hash: str, now: datetime, batch_id: UUID | None = None) -> Acceptance:
        """Store an input with its job and return it, or the job that the request made before.

        A message that the session holds already is dropped if its content is the same (speaker, text, captions, and
        the time where both were given one); RequestConflict if it differs, or if the request id was used for another
        body.
        """
        async with self._database.transaction() as connection:
            await connection.execute(statements.LOCK_USER, (new.user_id,))
            found = await connection.execute(statements.FIND_REQUEST, (new.user_id, new.request_id))
            if (row := await found.fetchone()) is not None:
                if row["body_hash"] != body_hash:
                    raise RequestConflict("the request id was used before for a different input")
                return Acceptance(job=await _job(connection, row["id"]), created=False)
            job = await _insert(connection, new, body_hash=body_hash, now=now, batch_id=batch_id)
            return Acceptance(job=await _job(connection, job), created=True)

    async def job(self, user_id: str, job_id: UUID) -> Job:
        """Raises NotFound, also for another user's job."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(statements.JOB_OF_USER, (job_id, user_id))
            row = await cursor.fetchone()
        if row is None:
            raise NotFound(f"no job {job_id}")
        return Job.model_validate(row)

    async def jobs(self, user_id: str, *, before: int | None = None, limit: int = 50) -> tuple[Job, ...]:
        """Newest first; `before` is a sequence number (exclusive)."""
        return await self._jobs(statements.JOBS_PAGE, {"user": user_id, "before": before, "limit": limit})

    async def open_jobs(self, *, before: datetime, limit: int = 1000) -> tuple[Job, ...]:
        """Jobs of all users that are not terminal and arrived, or were reopened, before a time; oldest first."""
        return await self._jobs(statements.OPEN_JOBS, (before, limit))

    async def _jobs(self, statement: str, arguments: Any) -> tuple[Job, ...]:
        async with self._database.transaction() as connection:
            cursor = await connection.execute(statement, arguments)
            return tuple(Job.model_validate(row) for row in await cursor.fetchall())

    async def messages(self, job_id: UUID) -> tuple[Message, ...]:
        """The input's own messages in the order handed in."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(statements.MESSAGES_OF_JOB, (job_id,))
            return tuple(Message.model_validate(row) for row in await cursor.fetchall())

    async def input(self, job_id: UUID) -> NewInput:
        """The stored input with the messages that are its own. Raises NotFound."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(statements.INPUT_OF_JOB, (job_id,))
            row = await cursor.fetchone()
        if row is None:
            raise NotFound(f"no job {job_id}")
        return NewInput(**row, messages=await self.messages(job_id))

    async def previous_message(self, job_id: UUID) -> Message | None:
        """The last message of the same session that arrived before this input."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(statements.PREVIOUS_MESSAGE, (job_id,))
            row = await cursor.fetchone()
        return None if row is None else Message.model_validate(row)

    async def save_chunks(self, job_id: UUID, chunks: Sequence[Chunk]) -> None:
        """Insert the chunks that are not there, count them on the job, and start it if it was only accepted."""
        rows = [(c.id, c.input_id, c.user_id, c.ordinal, Jsonb(c.model_dump(mode="json"))) for c in chunks]
        async with self._database.transaction() as connection:
            async with connection.cursor() as cursor:
                await cursor.executemany(statements.INSERT_CHUNK, rows)
            await connection.execute(statements.CHUNKS_SAVED, {"job": job_id})

    async def chunk(self, job_id: UUID, ordinal: int) -> Chunk:
        """Raises NotFound."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(statements.CHUNK_OF_JOB, (job_id, ordinal))
            row = await cursor.fetchone()
        if row is None:
            raise NotFound(f"job {job_id} has no chunk {ordinal}")
        return Chunk.model_validate(row["content"])

    async def save_kinds(self, chunk_id: UUID, kinds: Sequence[MemoryKind]) -> None:
        """Note the kinds that a chunk is routed to."""
        await self._execute(statements.SAVE_KINDS, ([str(kind) for kind in kinds], chunk_id))

    async def kinds(self, chunk_id: UUID) -> tuple[MemoryKind, ...] | None:
        """The kinds the chunk was routed to; None before routing."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(statements.KINDS_OF_CHUNK, (chunk_id,))
            row = await cursor.fetchone()
        if row is None or row["kinds"] is None:
            return None
        return tuple(MemoryKind(kind) for kind in row["kinds"])

    async def mark_committed(self, chunk_id: UUID) -> None:
        """Note that the chunk's records are committed; an earlier failure is forgotten."""
        await self._execute(statements.MARK_COMMITTED, (chunk_id,))

    async def fail_chunk(self, job_id: UUID, ordinal: int, *, step: str, reason: str) -> None:
        """Note that a chunk could not be written; a committed chunk stays committed."""
        await self._execute(statements.FAIL_CHUNK, (step, reason, job_id, ordinal))

    async def _execute(self, statement: str, arguments: Sequence[object]) -> None:
        async with self._database.transaction() as connection:
            await connection.execute(statement, arguments)

    async def set_state(self, job_id: UUID, state: JobState, *, now: datetime, step: str = "", reason: str = "") -> Job:
        """Move a job that is not terminal, and return it; a terminal one is returned as it is. Raises NotFound."""
        async with self._database.transaction() as connection:
            await _move(connection, job_id, state, now=now, step=step, reason=reason)
            return await _job(connection, job_id)

    async def finish(self, job_id: UUID, *, now: datetime) -> Job:
        """End a job from what it left: `failed` with the first chunk not written, else `completed`.

        Completed without a record says why: `already_stored` if no message was new, else `no_facts`.
        """
        async with self._database.transaction() as connection:
            cursor = await connection.execute(statements.FIRST_UNWRITTEN, (job_id,))
            unwritten = await cursor.fetchone()
            if unwritten is not None:
                step, reason = unwritten["failed_step"] or "write", unwritten["failed_reason"] or "not_written"
                await _move(connection, job_id, JobState.FAILED, now=now, step=step, reason=reason)
            else:
                job = await _job(connection, job_id)
                await _move(connection, job_id, JobState.COMPLETED, now=now, step="", reason=_why_empty(job))
            return await _job(connection, job_id)

    async def reopen(self, job_id: UUID, *, now: datetime) -> Job:
        """Make a terminal job `accepted` again, one attempt later; any other is returned as it is. Raises NotFound."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(statements.REOPEN_JOB, (now, job_id, _TERMINAL))
            if await cursor.fetchone() is not None:
                await connection.execute(statements.CLEAR_CHUNKS, (job_id,))
                await connection.execute(statements.RETRY_RECORDS, (job_id,))
            return await _job(connection, job_id)

    async def queue_head(self, user_id: str) -> QueueHead:
        """What has the next turn at the user's graph: the earliest input that is not terminal (ready once `extracted`),
        or a consolidation that was asked for before it."""
        async with self._database.transaction() as connection:
            job = await (await connection.execute(statements.QUEUE_HEAD, (user_id,))).fetchone()
            before = {"user": user_id, "sequence": job["sequence"] if job else None}
            dream = await (await connection.execute(statements.QUEUED_CONSOLIDATION, before)).fetchone()
        if dream is not None:
            return QueueHead(consolidation=ConsolidationRef(user_id=user_id, **dream))
        if job is None:
            return QueueHead()
        ref = JobRef(user_id=user_id, job_id=job["id"], request_id=job["request_id"], attempt=job["attempt"])
        ready = job["state"] == JobState.EXTRACTED
        return QueueHead(job=ref, ready=ready, chunks=job["chunks"], batch_id=job["batch_id"])

    async def batch(self, user_id: str, batch_id: UUID) -> Batch:
        """How far a batch is; one without an input is empty."""
        values = {"batch": batch_id, "user": user_id, "terminal": _TERMINAL}
        async with self._database.transaction() as connection:
            row = one(await (await connection.execute(statements.BATCH, values)).fetchone())
        return Batch(id=batch_id, user_id=user_id, **row)

    async def next_jobs(self, batch_id: UUID, *, window: int) -> tuple[Job, ...]:
        """The inputs of a batch to start now, in order, so that at most `window` of it are under way."""
        async with self._database.transaction() as connection:
            row = one(await (await connection.execute(statements.UNDER_WAY, (batch_id,))).fetchone())
        return await self._jobs(statements.NEXT_JOBS, (batch_id, max(window - row["jobs"], 0)))

    async def note_chunk(self, batch_id: UUID, chunk_id: UUID) -> int:
        """Number a chunk of a batch that is in the graph, from 1; numbered before: the same number."""
        values = {"batch": batch_id, "chunk": chunk_id}
        async with self._database.transaction() as connection:
            await connection.execute(statements.LOCK_BATCH, (str(batch_id),))
            await connection.execute(statements.NOTE_CHUNK, values)
            number: int = one(await (await connection.execute(statements.CHUNK_NUMBER, values)).fetchone())["ordinal"]
        return number

    async def noted_chunks(self, batch_id: UUID, *, after: int, up_to: int) -> tuple[UUID, ...]:
        """The chunks with numbers in `(after, up_to]`, in order."""
        async with self._database.transaction() as connection:
            rows = await (await connection.execute(statements.NOTED_CHUNKS, (batch_id, after, up_to))).fetchall()
        return tuple(row["chunk_id"] for row in rows)


async def _job(connection: Connection, job: UUID) -> Job:
    cursor = await connection.execute(statements.JOB_BY_ID, (job,))
    row = await cursor.fetchone()
    if row is None:
        raise NotFound(f"no job {job}")
    return Job.model_validate(row)


async def _insert(
    connection: Connection, new: NewInput, *, body_hash: str, now: datetime, batch_id: UUID | None
) -> UUID:
    fresh = await _fresh_messages(connection, new)
    job = job_id(new.user_id, new.request_id)
    values = new.model_dump(mode="json", exclude={"messages"})
    values |= {"id": job, "body_hash": body_hash, "messages": len(fresh), "now": now, "batch": batch_id}
    await connection.execute(statements.INSERT_JOB, values)
    async with connection.cursor() as cursor, cursor.copy(statements.COPY_MESSAGES) as copy:
        for ordinal, message in enumerate(fresh):
            captions = Jsonb(list(message.captions))
            head = (job, ordinal, new.user_id, new.session_id, message.id)
            await copy.write_row((*head, message.speaker, message.text, message.sent_at, captions))
    return job


async def _fresh_messages(connection: Connection, new: NewInput) -> list[Message]:
    """Messages that neither the session nor an earlier place of this input holds. RequestConflict if one differs."""
    ids = [message.id for message in new.messages]
    cursor = await connection.execute(statements.KNOWN_MESSAGES, (new.user_id, new.session_id, ids))
    given = new.time_source is TimeSource.GIVEN
    known = {row["id"]: (_message(row), row["time_source"] == TimeSource.GIVEN) for row in await cursor.fetchall()}
    fresh: list[Message] = []
    for place, message in enumerate(new.messages):
        if message.id not in known:
            fresh.append(message)
            known[message.id] = (message, given)
            continue
        stored, stored_given = known[message.id]
        if not _same(stored, message, timed=given and stored_given):
            raise RequestConflict(f"messages[{place}]: the session holds another message with this id")
    return fresh


def _message(row: Mapping[str, Any]) -> Message:
    return Message(**{name: row[name] for name in Message.model_fields})


def _same(stored: Message, sent: Message, *, timed: bool) -> bool:
    left, right = ((m.speaker, m.text, m.captions, m.sent_at if timed else None) for m in (stored, sent))
    return left == right


async def _move(connection: Connection, job: UUID, state: JobState, *, now: datetime, step: str, reason: str) -> None:
    finished = now if state in TERMINAL else None
    values = {"job": job, "state": str(state), "step": step, "reason": reason, "finished": finished}
    await connection.execute(statements.SET_STATE, {**values, "terminal": _TERMINAL})


def _why_empty(job: Job) -> str:
    if job.records:
        return ""
    return "no_facts" if job.messages else "already_stored"
