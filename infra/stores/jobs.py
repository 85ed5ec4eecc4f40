"""Inputs, jobs and chunks in Postgres."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from domain.errors import NotFound, RequestConflict
from domain.jobs import TERMINAL, Acceptance, Job, JobState, job_id
from domain.memory import Chunk, MemoryKind, Message, NewInput, TimeSource
from domain.messages import JobRef, QueueHead
from infra.stores.database import Connection, Database

LOCK_USER = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))"
"""Inputs of one user are accepted one at a time; the seed keeps this lock apart from the graph's."""

SELECT_JOB = """
SELECT j.id, j.user_id, j.request_id, j.sequence, j.state, j.session_id, j.form, j.messages, j.chunks, j.step, j.reason,
       j.attempt, j.sanitized, j.accepted_at, j.finished_at,
       (SELECT count(*) FROM chunks c WHERE c.job_id = j.id AND c.committed) AS chunks_done,
       (SELECT count(*) FROM model_calls m WHERE m.job_id = j.id) AS model_calls,
       r.records, r.indexed, r.index_failed
FROM jobs j
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_object_agg(k.kind, k.written), '{}') AS records,
           coalesce(sum(k.indexed), 0)::int AS indexed,
           coalesce(sum(k.failed), 0)::int AS index_failed
    FROM (
        SELECT kind, count(*) AS written,
               count(*) FILTER (WHERE index_status = 'indexed') AS indexed,
               count(*) FILTER (WHERE index_status = 'failed') AS failed
        FROM records WHERE input_id = j.id GROUP BY kind
    ) k
) r
"""
JOB_BY_ID = SELECT_JOB + "WHERE j.id = %s"
JOB_OF_USER = SELECT_JOB + "WHERE j.id = %s AND j.user_id = %s"
JOBS_PAGE = (
    SELECT_JOB
    + """
WHERE j.user_id = %(user)s AND (%(before)s::bigint IS NULL OR j.sequence < %(before)s)
ORDER BY j.sequence DESC LIMIT %(limit)s
"""
)
OPEN_JOBS = (
    SELECT_JOB
    + """
WHERE j.state IN ('accepted', 'running', 'extracted') AND j.waiting_since < %s ORDER BY j.waiting_since, j.id LIMIT %s
"""
)

FIND_REQUEST = "SELECT id, body_hash FROM jobs WHERE user_id = %s AND request_id = %s"

KNOWN_MESSAGES = """
SELECT m.message_id AS id, m.speaker, m.text, m.sent_at, m.captions, j.time_source
FROM messages m JOIN jobs j ON j.id = m.job_id
WHERE m.user_id = %s AND m.session_id = %s AND m.message_id = ANY(%s)
"""

INSERT_JOB = """
INSERT INTO jobs (id, user_id, request_id, body_hash, sequence, state, session_id, form, title, timezone, time_source,
                  sanitized, messages, chunks, step, reason, attempt, accepted_at, waiting_since)
SELECT %(id)s, %(user_id)s, %(request_id)s, %(body_hash)s, coalesce(max(sequence), 0) + 1, 'accepted', %(session_id)s,
       %(form)s, %(title)s, %(timezone)s, %(time_source)s, %(sanitized)s, %(messages)s, 0, '', '', 1, %(now)s,
       %(now)s
FROM jobs WHERE user_id = %(user_id)s
"""

COPY_MESSAGES = """
COPY messages (job_id, ordinal, user_id, session_id, message_id, speaker, text, sent_at, captions) FROM STDIN
"""

MESSAGES_OF_JOB = """
SELECT message_id AS id, speaker, text, sent_at, captions FROM messages WHERE job_id = %s ORDER BY ordinal
"""

INPUT_OF_JOB = """
SELECT user_id, request_id, session_id, form, title, timezone, time_source, sanitized FROM jobs WHERE id = %s
"""

PREVIOUS_MESSAGE = """
SELECT m.message_id AS id, m.speaker, m.text, m.sent_at, m.captions
FROM jobs j
JOIN jobs p ON p.user_id = j.user_id AND p.session_id = j.session_id AND p.sequence < j.sequence AND p.messages > 0
JOIN messages m ON m.job_id = p.id
WHERE j.id = %s ORDER BY p.sequence DESC, m.ordinal DESC LIMIT 1
"""

INSERT_CHUNK = """
INSERT INTO chunks (id, job_id, user_id, ordinal, content, committed, failed_step, failed_reason)
VALUES (%s, %s, %s, %s, %s, false, '', '') ON CONFLICT DO NOTHING
"""

CHUNKS_SAVED = """
UPDATE jobs SET chunks = (SELECT count(*) FROM chunks WHERE job_id = %(job)s),
                state = CASE state WHEN 'accepted' THEN 'running' ELSE state END
WHERE id = %(job)s
"""

CHUNK_OF_JOB = "SELECT content FROM chunks WHERE job_id = %s AND ordinal = %s"
SAVE_KINDS = "UPDATE chunks SET kinds = %s WHERE id = %s"
KINDS_OF_CHUNK = "SELECT kinds FROM chunks WHERE id = %s"
MARK_COMMITTED = "UPDATE chunks SET committed = true, failed_step = '', failed_reason = '' WHERE id = %s"
FAIL_CHUNK = """
UPDATE chunks SET failed_step = %s, failed_reason = %s WHERE job_id = %s AND ordinal = %s AND NOT committed
"""

SET_STATE = """
UPDATE jobs SET state = %(state)s, step = %(step)s, reason = %(reason)s, finished_at = %(finished)s
WHERE id = %(job)s AND state <> ALL(%(terminal)s)
"""

FIRST_UNWRITTEN = """
SELECT failed_step, failed_reason FROM chunks
WHERE job_id = %s AND NOT committed ORDER BY failed_step = '', ordinal LIMIT 1
"""

REOPEN_JOB = """
UPDATE jobs SET state = 'accepted', step = '', reason = '', finished_at = NULL, attempt = attempt + 1,
                waiting_since = %s
WHERE id = %s AND state = ANY(%s) RETURNING id
"""
CLEAR_CHUNKS = "UPDATE chunks SET failed_step = '', failed_reason = '' WHERE job_id = %s AND failed_step <> ''"
RETRY_RECORDS = """
UPDATE records SET index_status = 'pending', index_step = '', index_reason = ''
WHERE input_id = %s AND index_status = 'failed'
"""

QUEUE_HEAD = """
SELECT id, request_id, attempt, state, chunks FROM jobs
WHERE user_id = %s AND state IN ('accepted', 'running', 'extracted') ORDER BY sequence LIMIT 1
"""

_TERMINAL = [str(state) for state in TERMINAL]


class PostgresJobs:
    """The JobStore port over Postgres.

    A terminal job is left only by `reopen`: a step that comes late, or is repeated, moves nothing then.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept(self, new: NewInput, *, body_hash: str, now: datetime) -> Acceptance:
        """Store an input with its job and return it, or the job that the request made before.

        A message that the session holds already is dropped if its content is the same (speaker, text, captions, and
        the time where both were given one); RequestConflict if it differs, or if the request id was used for another
        body.
        """
        async with self._database.transaction() as connection:
            await connection.execute(LOCK_USER, (new.user_id,))
            found = await connection.execute(FIND_REQUEST, (new.user_id, new.request_id))
            if (row := await found.fetchone()) is not None:
                if row["body_hash"] != body_hash:
                    raise RequestConflict("the request id was used before for a different input")
                return Acceptance(job=await _job(connection, row["id"]), created=False)
            job = await _insert(connection, new, body_hash=body_hash, now=now)
            return Acceptance(job=await _job(connection, job), created=True)

    async def job(self, user_id: str, job_id: UUID) -> Job:
        """Raises NotFound, also for another user's job."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(JOB_OF_USER, (job_id, user_id))
            row = await cursor.fetchone()
        if row is None:
            raise NotFound(f"no job {job_id}")
        return Job.model_validate(row)

    async def jobs(self, user_id: str, *, before: int | None = None, limit: int = 50) -> tuple[Job, ...]:
        """Newest first; `before` is a sequence number (exclusive)."""
        return await self._jobs(JOBS_PAGE, {"user": user_id, "before": before, "limit": limit})

    async def open_jobs(self, *, before: datetime, limit: int = 1000) -> tuple[Job, ...]:
        """Jobs of all users that are not terminal and arrived, or were reopened, before a time; oldest first."""
        return await self._jobs(OPEN_JOBS, (before, limit))

    async def _jobs(self, statement: str, arguments: Any) -> tuple[Job, ...]:
        async with self._database.transaction() as connection:
            cursor = await connection.execute(statement, arguments)
            return tuple(Job.model_validate(row) for row in await cursor.fetchall())

    async def messages(self, job_id: UUID) -> tuple[Message, ...]:
        """The input's own messages in the order handed in."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(MESSAGES_OF_JOB, (job_id,))
            return tuple(Message.model_validate(row) for row in await cursor.fetchall())

    async def input(self, job_id: UUID) -> NewInput:
        """The stored input with the messages that are its own. Raises NotFound."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(INPUT_OF_JOB, (job_id,))
            row = await cursor.fetchone()
        if row is None:
            raise NotFound(f"no job {job_id}")
        return NewInput(**row, messages=await self.messages(job_id))

    async def previous_message(self, job_id: UUID) -> Message | None:
        """The last message of the same session that arrived before this input."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(PREVIOUS_MESSAGE, (job_id,))
            row = await cursor.fetchone()
        return None if row is None else Message.model_validate(row)

    async def save_chunks(self, job_id: UUID, chunks: Sequence[Chunk]) -> None:
        """Insert the chunks that are not there, count them on the job, and start it if it was only accepted."""
        rows = [(c.id, c.input_id, c.user_id, c.ordinal, Jsonb(c.model_dump(mode="json"))) for c in chunks]
        async with self._database.transaction() as connection:
            async with connection.cursor() as cursor:
                await cursor.executemany(INSERT_CHUNK, rows)
            await connection.execute(CHUNKS_SAVED, {"job": job_id})

    async def chunk(self, job_id: UUID, ordinal: int) -> Chunk:
        """Raises NotFound."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(CHUNK_OF_JOB, (job_id, ordinal))
            row = await cursor.fetchone()
        if row is None:
            raise NotFound(f"job {job_id} has no chunk {ordinal}")
        return Chunk.model_validate(row["content"])

    async def save_kinds(self, chunk_id: UUID, kinds: Sequence[MemoryKind]) -> None:
        """Note the kinds that a chunk is routed to."""
        await self._execute(SAVE_KINDS, ([str(kind) for kind in kinds], chunk_id))

    async def kinds(self, chunk_id: UUID) -> tuple[MemoryKind, ...] | None:
        """The kinds the chunk was routed to; None before routing."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(KINDS_OF_CHUNK, (chunk_id,))
            row = await cursor.fetchone()
        if row is None or row["kinds"] is None:
            return None
        return tuple(MemoryKind(kind) for kind in row["kinds"])

    async def mark_committed(self, chunk_id: UUID) -> None:
        """Note that the chunk's records are committed; an earlier failure is forgotten."""
        await self._execute(MARK_COMMITTED, (chunk_id,))

    async def fail_chunk(self, job_id: UUID, ordinal: int, *, step: str, reason: str) -> None:
        """Note that a chunk could not be written; a committed chunk stays committed."""
        await self._execute(FAIL_CHUNK, (step, reason, job_id, ordinal))

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
            cursor = await connection.execute(FIRST_UNWRITTEN, (job_id,))
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
            cursor = await connection.execute(REOPEN_JOB, (now, job_id, _TERMINAL))
            if await cursor.fetchone() is not None:
                await connection.execute(CLEAR_CHUNKS, (job_id,))
                await connection.execute(RETRY_RECORDS, (job_id,))
            return await _job(connection, job_id)

    async def queue_head(self, user_id: str) -> QueueHead:
        """The user's earliest job that is not terminal; ready once `extracted`."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(QUEUE_HEAD, (user_id,))
            row = await cursor.fetchone()
        if row is None:
            return QueueHead()
        job = JobRef(user_id=user_id, job_id=row["id"], request_id=row["request_id"], attempt=row["attempt"])
        return QueueHead(job=job, ready=row["state"] == JobState.EXTRACTED, chunks=row["chunks"])


async def _job(connection: Connection, job: UUID) -> Job:
    cursor = await connection.execute(JOB_BY_ID, (job,))
    row = await cursor.fetchone()
    if row is None:
        raise NotFound(f"no job {job}")
    return Job.model_validate(row)


async def _insert(connection: Connection, new: NewInput, *, body_hash: str, now: datetime) -> UUID:
    fresh = await _fresh_messages(connection, new)
    job = job_id(new.user_id, new.request_id)
    values = new.model_dump(mode="json", exclude={"messages"})
    await connection.execute(
        INSERT_JOB, {**values, "id": job, "body_hash": body_hash, "messages": len(fresh), "now": now}
    )
    async with connection.cursor() as cursor, cursor.copy(COPY_MESSAGES) as copy:
        for ordinal, message in enumerate(fresh):
            captions = Jsonb(list(message.captions))
            head = (job, ordinal, new.user_id, new.session_id, message.id)
            await copy.write_row((*head, message.speaker, message.text, message.sent_at, captions))
    return job


async def _fresh_messages(connection: Connection, new: NewInput) -> list[Message]:
    """Messages that neither the session nor an earlier place of this input holds. RequestConflict if one differs."""
    ids = [message.id for message in new.messages]
    cursor = await connection.execute(KNOWN_MESSAGES, (new.user_id, new.session_id, ids))
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
    await connection.execute(SET_STATE, {**values, "terminal": _TERMINAL})


def _why_empty(job: Job) -> str:
    if job.records:
        return ""
    return "no_facts" if job.messages else "already_stored"
