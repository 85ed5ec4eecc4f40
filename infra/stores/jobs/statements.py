"""SQL over inputs, jobs and chunks, the order of a user's queue, and batches."""

LOCK_USER = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))"
"""Inputs of one user are accepted one at a time; the seed keeps this lock apart from the graph's."""

SELECT_JOB = """
SELECT j.id, j.user_id, j.request_id, j.sequence, j.state, j.session_id, j.form, j.messages, j.chunks, j.step, j.reason,
       j.attempt, j.sanitized, j.accepted_at, j.finished_at, j.batch_id,
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
                  sanitized, messages, chunks, step, reason, attempt, accepted_at, waiting_since, batch_id)
SELECT %(id)s, %(user_id)s, %(request_id)s, %(body_hash)s, coalesce(max(sequence), 0) + 1, 'accepted', %(session_id)s,
       %(form)s, %(title)s, %(timezone)s, %(time_source)s, %(sanitized)s, %(messages)s, 0, '', '', 1, %(now)s,
       %(now)s, %(batch)s
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
SELECT id, request_id, attempt, state, chunks, sequence, batch_id FROM jobs
WHERE user_id = %s AND state IN ('accepted', 'running', 'extracted') ORDER BY sequence LIMIT 1
"""
QUEUED_CONSOLIDATION = """
SELECT id AS consolidation_id, mode, dry_run, review, applying, timeout_seconds FROM consolidations
WHERE user_id = %(user)s AND state IN ('accepted', 'running')
  AND (%(sequence)s::int IS NULL OR after_job < %(sequence)s)
ORDER BY sequence LIMIT 1
"""
"""A consolidation has its turn once the inputs before it are through, and before those that came later."""

BATCH = """
SELECT count(*)::int AS jobs, count(*) FILTER (WHERE state <> 'accepted')::int AS started,
       count(*) FILTER (WHERE state = ANY(%(terminal)s))::int AS ended,
       CASE WHEN count(*) > 0
           THEN (SELECT count(*)::int FROM batch_chunks WHERE batch_id = %(batch)s) ELSE 0 END AS chunks
FROM jobs WHERE batch_id = %(batch)s AND user_id = %(user)s
"""
NEXT_JOBS = SELECT_JOB + "WHERE j.batch_id = %s AND j.state = 'accepted' ORDER BY j.sequence LIMIT %s"
UNDER_WAY = "SELECT count(*) AS jobs FROM jobs WHERE batch_id = %s AND state IN ('running', 'extracted')"
LOCK_BATCH = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 4))"
NOTE_CHUNK = """
INSERT INTO batch_chunks (batch_id, ordinal, chunk_id)
SELECT %(batch)s, coalesce(max(ordinal), 0) + 1, %(chunk)s FROM batch_chunks WHERE batch_id = %(batch)s
ON CONFLICT DO NOTHING
"""
CHUNK_NUMBER = "SELECT ordinal FROM batch_chunks WHERE batch_id = %(batch)s AND chunk_id = %(chunk)s"
NOTED_CHUNKS = """
SELECT chunk_id FROM batch_chunks WHERE batch_id = %s AND ordinal > %s AND ordinal <= %s ORDER BY ordinal
"""
