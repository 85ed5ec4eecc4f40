"""AutoDream: what a round over a frontier of 50 anchors costs a user with 1,000 anchors and one with 100,000.

Real servers and the rules model; the name index of the large user is built before, and its time told.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import psycopg
from rich.console import Console
from rich.table import Table

from api.services import Services
from domain.dream.rounds import Mode, NewConsolidation
from infra.run.embedded.postgres import EmbeddedPostgres, ensure_database, with_database
from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from infra.stores.database import SESSION_OPTIONS
from infra.stores.migrations.migrate import upgrade
from tests.e2e.deployment import Deployment, new_deployment
from tests.evals.dreaming import settled

SIZES = {"small": 1_000, "large": 100_000}
FRONTIER = 50
ROUNDS = 3
"""Each over a frontier of its own."""
STATISTICS_SECONDS = 11.0
"""An idle backend tells what it has read after ten seconds."""

BUILD = (
    """
    CREATE FUNCTION word(n bigint) RETURNS text IMMUTABLE LANGUAGE sql
    RETURN translate(to_hex((n * 2654435761) % 4294967296), '0123456789', 'ghijklmnop')
    """,
    """
    INSERT INTO jobs (id, user_id, request_id, body_hash, sequence, state, session_id, form, title, timezone,
                      time_source, sanitized, messages, chunks, step, reason, attempt, accepted_at, waiting_since)
    VALUES (md5(%(user)s::text)::uuid, %(user)s, 'r', '', 1, 'completed', 's', 'conversation', '', 'UTC',
            'given', false, 0, 1, '', '', 1, now(), now())
    """,
    """
    INSERT INTO chunks (id, job_id, user_id, ordinal, content, committed, failed_step, failed_reason)
    VALUES (md5(%(user)s::text)::uuid, md5(%(user)s::text)::uuid, %(user)s, 0, '{}', true, '', '')
    """,
    """
    INSERT INTO records (id, user_id, kind, title, text, mention_time, status, input_id, chunk_id, session_id, ordinal,
                         sources, attributes, degraded, version, index_status, index_step, index_reason)
    SELECT md5(%(user)s::text || n)::uuid, %(user)s, 'semantic', '', 'The ' || word(n / 2) || ' yard is by the river.',
           now(), 'state', md5(%(user)s::text)::uuid, md5(%(user)s::text)::uuid, 's', n, '[]', '{}', '', 1,
           'indexed', '', ''
    FROM generate_series(0, %(anchors)s::int - 1) n
    """,
    """
    CREATE TEMPORARY TABLE made AS
    SELECT n, md5('anchor' || %(user)s::text || n)::uuid AS id,
           word(n / 2) || CASE WHEN n %% 2 = 0 THEN ' yard' ELSE ' trading yard' END AS name
    FROM generate_series(0, %(anchors)s::int - 1) n
    """,
    """
    INSERT INTO memory."Anchor" (properties)
    SELECT jsonb_build_object('user_id', %(user)s::text, 'key', name, 'anchor_id', id, 'name', name,
                              'type', 'organization', 'aliases', '[]'::jsonb,
                              'mentions', 1, 'score', 1.0)::text::agtype FROM made
    """,
    "INSERT INTO anchor_aliases (user_id, key, anchor_id, name) SELECT %(user)s::text, name, id, name FROM made",
    """
    INSERT INTO anchor_records (user_id, anchor_id, record_id, kind)
    SELECT %(user)s::text, id, md5(%(user)s::text || n)::uuid, 'semantic' FROM made
    """,
    """
    INSERT INTO anchor_vectors (user_id, anchor_id, model, vector)
    SELECT %(user)s::text, m.id, '', l2_normalize((
        SELECT array_agg(hashint8extended((m.n / 2) * 1000 + d, 9) / 9e18
                         + m.n %% 2 * hashint8extended(m.n * 1000 + d, 8) / 3e19)
        FROM generate_series(1, 384) d
    )::vector) FROM made m
    """,
    "DROP TABLE made",
    "DROP FUNCTION word",
    "VACUUM ANALYZE",
)
"""Pairs of alike names: the vector of the second is the first's and a little more, a cosine of about 0.95."""

PUT_ON_FRONTIER = """
INSERT INTO dream_frontier (user_id, anchor_id)
SELECT %(user)s::text, md5('anchor' || %(user)s::text || 2 * n)::uuid
FROM generate_series(%(first)s::int, %(first)s + %(count)s - 1) n
"""
ROWS_READ = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_user_tables"


@dataclass(frozen=True)
class Cost:
    """Of a round; the middle one of ROUNDS where a figure varies."""

    user: str
    anchors: int
    index_seconds: float
    candidates: int
    model_calls: int
    rows_read: int
    seconds: float


def run(console: Console, *, as_json: bool) -> None:
    """Build, measure, print."""
    with _servers() as deployment:
        _fill(deployment.database_url, console)
        costs = asyncio.run(_measure(deployment))
    if as_json:
        print(json.dumps([asdict(cost) for cost in costs]))
    else:
        _show(costs, console)


@contextmanager
def _servers() -> Iterator[Deployment]:
    with tempfile.TemporaryDirectory(prefix="reverie-bench-") as folder:
        Path(folder).chmod(0o755)
        postgres, temporal = EmbeddedPostgres(Path(folder)), EmbeddedTemporal(Path(folder))
        url, address = postgres.start(), temporal.start()
        ensure_database(url, "dream")
        target = with_database(url, "dream")
        upgrade(target)
        try:
            yield new_deployment(target, address, NAMESPACE, prefix="bench")
        finally:
            temporal.stop()
            postgres.stop()


def _fill(url: str, console: Console) -> None:
    with psycopg.connect(url, autocommit=True, options=SESSION_OPTIONS) as connection:
        for user, anchors in SIZES.items():
            with console.status(f"building {anchors:,} anchors"):
                for statement in BUILD:
                    values = {"user": user, "anchors": anchors}
                    connection.execute(statement, values if "%(" in statement else None)


async def _measure(deployment: Deployment) -> list[Cost]:
    costs = []
    async with deployment.services() as services, deployment.worker(services):
        with psycopg.connect(deployment.database_url, autocommit=True) as watcher:
            for user, anchors in SIZES.items():
                began = time.perf_counter()
                built = await services.graph.index_names(user)
                index_seconds = time.perf_counter() - began if built else 0.0
                await _round(services, watcher, user, ROUNDS)  # warms up
                rounds = [await _round(services, watcher, user, number) for number in range(ROUNDS)]
                middle = {name: median(one[name] for one in rounds) for name in rounds[0]}
                costs.append(
                    Cost(
                        user=user,
                        anchors=anchors,
                        index_seconds=round(index_seconds, 1),
                        candidates=int(middle["candidates"]),
                        model_calls=int(middle["model_calls"]),
                        rows_read=int(middle["rows_read"]),
                        seconds=round(middle["seconds"], 2),
                    )
                )
    return costs


async def _round(
    services: Services, watcher: psycopg.Connection[tuple[int]], user: str, number: int
) -> Mapping[str, float]:
    watcher.execute(PUT_ON_FRONTIER, {"user": user, "first": number * FRONTIER, "count": FRONTIER})
    before = await _rows_read(watcher)
    new = NewConsolidation(user_id=user, request_id=f"round-{number}", mode=Mode.FINAL)
    done = await settled(services, (await services.dreamer.request(new)).consolidation)
    receipt = done.receipt
    if receipt.frontier != FRONTIER:
        raise AssertionError(f"{receipt.frontier} anchors on the frontier")
    return {
        "candidates": receipt.candidates,
        "model_calls": receipt.model_calls,
        "rows_read": await _rows_read(watcher) - before,
        "seconds": receipt.seconds,
    }


async def _rows_read(watcher: psycopg.Connection[tuple[int]]) -> int:
    """Rows that statements have fetched from the tables so far, of this database."""
    await asyncio.sleep(STATISTICS_SECONDS)
    row = watcher.execute(ROWS_READ).fetchone()
    return row[0] if row else 0


def _show(costs: Sequence[Cost], console: Console) -> None:
    table = Table(title=f"A round over a frontier of {FRONTIER} anchors")
    for column in ("user's anchors", "name index built in s", "pairs", "model calls", "rows read", "s", "s, ratio"):
        table.add_column(column, justify="right")
    for cost in costs:
        table.add_row(
            f"{cost.anchors:,}", f"{cost.index_seconds:.1f}", str(cost.candidates), str(cost.model_calls),
            f"{cost.rows_read:,}", f"{cost.seconds:.2f}", f"{cost.seconds / costs[0].seconds:.2f}",
        )  # fmt: skip
    console.print(table)
