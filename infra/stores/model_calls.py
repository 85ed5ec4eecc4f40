"""The audit of model calls, and their answers, in Postgres."""

from datetime import datetime
from uuid import UUID

from domain.model_calls import Purpose, Usage
from infra.stores.database import Database, one

ANSWER = "SELECT answer FROM model_calls WHERE key = %s"

RECORD_CALL = """
INSERT INTO model_calls AS c (
    key, user_id, job_id, purpose, model, prompt_id, prompt_hash, tokens_in, tokens_out, latency_ms, attempts, outcome,
    answer, first_at, last_at
) VALUES (
    %(key)s, %(user_id)s, %(job_id)s, %(purpose)s, %(model)s, %(prompt_id)s, %(prompt_hash)s, %(tokens_in)s,
    %(tokens_out)s, %(latency_ms)s, %(attempts)s, %(outcome)s, %(answer)s, %(now)s, %(now)s
) ON CONFLICT (key) DO UPDATE SET
    tokens_in = c.tokens_in + excluded.tokens_in,
    tokens_out = c.tokens_out + excluded.tokens_out,
    latency_ms = c.latency_ms + excluded.latency_ms,
    attempts = c.attempts + excluded.attempts,
    model = CASE WHEN c.outcome = 'ok' THEN c.model ELSE excluded.model END,
    prompt_id = CASE WHEN c.outcome = 'ok' THEN c.prompt_id ELSE excluded.prompt_id END,
    prompt_hash = CASE WHEN c.outcome = 'ok' THEN c.prompt_hash ELSE excluded.prompt_hash END,
    outcome = CASE WHEN c.outcome = 'ok' THEN c.outcome ELSE excluded.outcome END,
    answer = coalesce(c.answer, excluded.answer),
    last_at = excluded.last_at
RETURNING answer
"""


class PostgresModelCalls:
    """The ModelCallStore port over Postgres: one row a key.

    Costs of repeated calls add up; outcome, model, prompt and answer are those of the first success, or else of the
    last failure.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def answer(self, key: str) -> str | None:
        """The recorded answer (JSON) of a call that succeeded."""
        async with self._database.transaction() as connection:
            row = await (await connection.execute(ANSWER, (key,))).fetchone()
        return row["answer"] if row else None

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
        """Add or update the audit row of a call; returns the answer now stored, which may be an earlier call's."""
        values = {"key": key, "user_id": user_id, "job_id": job_id, "purpose": str(purpose), **usage.model_dump()}
        async with self._database.transaction() as connection:
            cursor = await connection.execute(RECORD_CALL, {**values, "outcome": outcome, "answer": answer, "now": now})
            stored: str | None = one(await cursor.fetchone())["answer"]
            return stored
