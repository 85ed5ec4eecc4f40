"""SQL over consolidations, their sources and pairs, the negative cache and receipts."""

LOCK_ORDER = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))"
"""The order of a user's inputs and consolidations is one: the seed is that of accepted inputs."""
LOCK_EVIDENCE = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 3))"
"""Digest and position are read between two commits of records: the seed is theirs."""

SELECT = """
SELECT id, user_id, request_id, sequence, mode, dry_run, review, chunk_ids, since, target, absorbed, name, force, actor,
       timeout_seconds, after_job, state, applying, step, reason, detail, receipt, accepted_at, started_at, finished_at
FROM consolidations
"""
OF_REQUEST = SELECT + "WHERE user_id = %s AND request_id = %s"
OF_USER = SELECT + "WHERE id = %s AND user_id = %s"
LOCKED = SELECT + "WHERE id = %s FOR UPDATE"
PAGE = (
    SELECT
    + """
WHERE user_id = %(user)s AND (%(before)s::bigint IS NULL OR sequence < %(before)s)
ORDER BY sequence DESC LIMIT %(limit)s
"""
)

INSERT = """
INSERT INTO consolidations (id, user_id, request_id, sequence, mode, dry_run, review, chunk_ids, since, target,
                            absorbed, name, force, actor, timeout_seconds, after_job, state, applying, step, reason,
                            detail, receipt, evidence_position, accepted_at)
SELECT %(id)s, %(user_id)s, %(request_id)s, coalesce(max(c.sequence), 0) + 1, %(mode)s, %(dry_run)s, %(review)s,
       %(chunk_ids)s, %(since)s, %(target)s, %(absorbed)s, %(name)s, %(force)s, %(actor)s, %(timeout_seconds)s,
       (SELECT coalesce(max(sequence), 0) FROM jobs WHERE user_id = %(user_id)s), 'accepted', false, '', '', '',
       %(receipt)s, 0, %(now)s
FROM consolidations c WHERE c.user_id = %(user_id)s
"""

WAITING_USERS = """
SELECT DISTINCT user_id FROM consolidations WHERE state IN ('accepted', 'running') AND accepted_at < %s
ORDER BY user_id LIMIT %s
"""

POSITION = "SELECT coalesce(max(position), 0) AS position FROM records WHERE user_id = %s"
DIGEST = """
SELECT coalesce(d.records, 0) - n.records AS records, coalesce(d.first, 0) # n.first AS first,
       coalesce(d.second, 0) # n.second AS second
FROM (
    SELECT count(*) AS records, coalesce(bit_xor(record_digest(r, 0)), 0) AS first,
           coalesce(bit_xor(record_digest(r, 1)), 0) AS second
    FROM records r WHERE r.user_id = %(user)s AND r.position > %(position)s
) n LEFT JOIN evidence_digests d ON d.user_id = %(user)s
"""
"""Of the records up to a position: those of all, less those of the news, which alone are read."""

BEGIN = "UPDATE consolidations SET state = 'running' WHERE id = %s"
BEGIN_FIRST = """
UPDATE consolidations SET state = 'running', started_at = %(now)s, evidence_position = %(position)s,
                          receipt = %(receipt)s
WHERE id = %(id)s
"""
EVIDENCE_POSITION = "SELECT evidence_position FROM consolidations WHERE id = %s"

SAVE_SOURCES = """
INSERT INTO dream_sources (consolidation_id, stage, anchor_id, waiting)
SELECT %s, %s, anchor_id, false FROM unnest(%s::uuid[]) anchor_id ON CONFLICT DO NOTHING
"""
SOURCES = "SELECT anchor_id FROM dream_sources WHERE consolidation_id = %s AND stage = %s ORDER BY anchor_id"
LET_WAIT = """
UPDATE dream_sources SET waiting = true WHERE consolidation_id = %s AND stage = %s AND anchor_id = ANY(%s)
"""
USED_SOURCES = """
SELECT s.anchor_id FROM dream_sources s WHERE s.consolidation_id = %(id)s
GROUP BY s.anchor_id HAVING NOT bool_or(s.waiting) AND NOT EXISTS (
    SELECT FROM dream_pairs p WHERE p.consolidation_id = %(id)s AND p.state = 'open'
      AND s.anchor_id IN (p.a_id, p.b_id)
)
ORDER BY s.anchor_id
"""

INSERT_PAIR = """
INSERT INTO dream_pairs (id, consolidation_id, stage, key, type, a_id, a_name, a_records, b_id, b_name, b_records,
                         similarity, state, verdict, canonical, reason, decided_by)
VALUES (%(id)s, %(consolidation)s, %(stage)s, %(key)s, %(type)s, %(a_id)s, %(a_name)s, %(a_records)s, %(b_id)s,
        %(b_name)s, %(b_records)s, %(similarity)s, %(state)s, %(verdict)s, %(canonical)s, %(reason)s, %(decided_by)s)
ON CONFLICT DO NOTHING
"""
PAIRS = """
SELECT id, stage, key, type, a_id, a_name, a_records, b_id, b_name, b_records, similarity, state, verdict, canonical,
       reason, decided_by
FROM dream_pairs
WHERE consolidation_id = %(id)s AND (%(stage)s::text IS NULL OR stage = %(stage)s)
  AND (%(states)s::text[] IS NULL OR state = ANY(%(states)s)) AND (%(after)s::uuid IS NULL OR id > %(after)s)
ORDER BY id LIMIT %(limit)s
"""
SETTLE = """
UPDATE dream_pairs SET state = %(state)s, verdict = %(verdict)s, canonical = %(canonical)s, reason = %(reason)s,
                       decided_by = %(decided_by)s
WHERE id = %(id)s AND state <> 'merged'
"""

DECIDE = """
UPDATE dream_pairs SET state = %(state)s, canonical = %(canonical)s, decided_by = %(decided_by)s
WHERE id = %(id)s AND state = 'pending'
"""
OWNER = "SELECT consolidation_id FROM dream_pairs WHERE id = %s"

REJECTED = "SELECT key FROM dream_rejections WHERE user_id = %s AND key = ANY(%s)"
ASKED = """
SELECT DISTINCT p.key FROM dream_pairs p JOIN consolidations c ON c.id = p.consolidation_id
WHERE p.key = ANY(%s) AND p.verdict IS NOT NULL AND c.user_id = %s AND c.id <> %s
"""
HELD = """
SELECT DISTINCT p.key FROM dream_pairs p JOIN consolidations c ON c.id = p.consolidation_id
WHERE p.key = ANY(%s) AND p.state IN ('pending', 'approved') AND c.user_id = %s AND c.id <> %s
  AND c.state IN ('review', 'accepted', 'running')
"""
REJECT = """
INSERT INTO dream_rejections (user_id, key, rejected_at) SELECT %s, key, %s FROM unnest(%s::text[]) key
ON CONFLICT DO NOTHING
"""

COUNT_PAIRS = """
SELECT count(*) AS formed, count(verdict) AS verified,
       count(*) FILTER (WHERE state = 'open') AS open,
       count(*) FILTER (WHERE state IN ('rejected', 'declined')) AS rejected,
       count(*) FILTER (WHERE state = 'unsure') AS unsure, count(*) FILTER (WHERE state = 'guarded') AS guarded,
       count(*) FILTER (WHERE state = 'stale') AS stale, count(*) FILTER (WHERE state = 'proposed') AS proposed,
       count(*) FILTER (WHERE state IN ('pending', 'approved')) AS pending,
       count(*) FILTER (WHERE state = 'approved') AS approved,
       (SELECT count(*) FROM merges WHERE consolidation_id = %(id)s) AS merged
FROM dream_pairs WHERE consolidation_id = %(id)s
"""
"""Merges are counted from their log: also those of a consolidation that was stopped before it could tell."""
COUNT_CALLS = """
SELECT count(*) AS model_calls, coalesce(sum(tokens_in), 0)::bigint AS tokens_in,
       coalesce(sum(tokens_out), 0)::bigint AS tokens_out
FROM model_calls WHERE job_id = %s AND purpose <> 'embed'
"""
END = """
UPDATE consolidations SET state = %(state)s, applying = %(applying)s, step = %(step)s, reason = %(reason)s,
                          detail = %(detail)s, receipt = %(receipt)s, finished_at = %(finished)s,
                          after_job = CASE WHEN %(applying)s THEN
                              (SELECT coalesce(max(j.sequence), 0) FROM jobs j WHERE j.user_id = consolidations.user_id)
                              ELSE after_job END
WHERE id = %(id)s
"""
