"""Search: latency and CPU on AGE's label tables and on plain tables, through one retriever, each question on both.

Linux only: CPU of the database is that of its backends in /proc.
"""

import asyncio
import itertools
import json
import math
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import fmean, quantiles

import psycopg
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from api.search import Retriever
from domain.graph import Vector
from domain.ports import GraphStore
from domain.retrieval.query import SearchQuery
from infra.run.embedded.postgres import EmbeddedPostgres, ensure_database, with_database
from infra.stores.database import Database
from infra.stores.graph import AgeGraph
from infra.stores.migrations.migrate import upgrade
from infra.stores.records import PostgresRecords
from tests.bench.search_data import (
    ADJECTIVES,
    CONSTANT,
    CONSTANT_FRAMES,
    DIMENSION,
    HUB,
    HUB_FRAMES,
    NOUNS,
    PERSONS,
    STATEMENTS,
    USERS,
    build,
)
from tests.bench.search_relational import RelationalGraph

FRAMES = (10_000, 100_000, 1_000_000)
QUESTIONS = 48
"""Asked of each kind of user on each graph."""
WARM_UP = 6

BULK = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "8GB",
    "autovacuum": "off",
}
"""For a quick load; what is read stays as the service has it."""

AGE, PLAIN = "AGE", "plain"

TEMPLATES = (
    "What did {one} buy near the {thing}?",
    "When did {one} visit the {thing}?",
    "How many times did {one} play the {thing}?",
    "Which books has {one} read?",
    "What do {one} and {other} both like?",
    "Where is the {thing}?",
)


@dataclass(frozen=True)
class Measured:
    """Of one kind of user at one scale on one graph; milliseconds a search."""

    frames: int
    user: str
    graph: str
    p50: float
    p95: float
    python_cpu: float
    server_cpu: float

    @property
    def python_share(self) -> float:
        """Of all CPU of a search, 0 to 1."""
        return self.python_cpu / (self.python_cpu + self.server_cpu)


class Seeded:
    """Embedder: for each text a random vector of its own, so that no model's time is measured."""

    name = "seeded"
    dimension = DIMENSION

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Unit vectors."""
        return [_vector(text) for text in texts]


def _vector(text: str) -> Vector:
    generator = random.Random(text)
    values = [generator.gauss(0, 1) for _ in range(DIMENSION)]
    length = math.hypot(*values)
    return [value / length for value in values]


def run(console: Console, frames: Sequence[int], *, as_json: bool) -> None:
    """Build each scale, measure, print."""
    with tempfile.TemporaryDirectory(prefix="reverie-bench-") as folder:
        Path(folder).chmod(0o755)
        server = EmbeddedPostgres(Path(folder), settings=BULK)
        url = server.start()
        try:
            measured = [row for scale in frames for row in _scale(url, scale, console)]
        finally:
            server.stop()
    if as_json:
        print(json.dumps([{**asdict(row), "python_share": row.python_share} for row in measured]))
    else:
        _show(measured, console)


def _scale(url: str, frames: int, console: Console) -> list[Measured]:
    """A database of its own, dropped afterwards."""
    name = f"frames_{frames}"
    ensure_database(url, name)
    target = with_database(url, name)
    upgrade(target)
    users = {
        f"one of {USERS:,}, {frames // USERS:,} frames": tuple(f"user{n}" for n in range(1, USERS, USERS // QUESTIONS)),
        f"of {CONSTANT_FRAMES:,} frames at any scale": CONSTANT,
        f"hub of {HUB_FRAMES:,} frames": (HUB,),
    }
    with Progress(console=console, transient=True) as progress:
        for _ in progress.track(
            build(target, frames), total=len(STATEMENTS), description=f"building {frames:,} frames"
        ):
            pass
        asking = progress.add_task(f"asking at {frames:,} frames", total=len(users) * (QUESTIONS + WARM_UP))
        measured = asyncio.run(_measure(target, frames, users, tick=partial(progress.advance, asking)))
    with psycopg.connect(url, autocommit=True) as administrator:
        administrator.execute(f"DROP DATABASE {name} WITH (FORCE)")
    return measured


@dataclass(frozen=True)
class Cost:
    """Of one search, in milliseconds."""

    wall: float
    python_cpu: float
    server_cpu: float


async def _measure(
    url: str, frames: int, users: Mapping[str, Sequence[str]], *, tick: Callable[[], None]
) -> list[Measured]:
    ours, plain = await Database.open(url, pool_size=4), await Database.open(url, pool_size=4)
    graphs: Mapping[str, GraphStore] = {AGE: AgeGraph(ours), PLAIN: RelationalGraph(plain)}
    evidence = {AGE: PostgresRecords(ours), PLAIN: PostgresRecords(plain)}
    retrievers = {name: Retriever(graph, evidence[name], Seeded()) for name, graph in graphs.items()}
    measured = []
    with psycopg.connect(url, autocommit=True) as watcher:
        for kind, names in users.items():
            costs: dict[str, list[Cost]] = {AGE: [], PLAIN: []}
            for number, query in enumerate(itertools.islice(_questions(names), QUESTIONS + WARM_UP)):
                turn = (AGE, PLAIN) if number % 2 else (PLAIN, AGE)
                answers = [await _asked(retrievers[name], query, watcher, costs[name]) for name in turn]
                if answers[0] != answers[1]:
                    raise AssertionError(f"the graphs disagree on: {query.query}")
                tick()
            measured += [_row(frames, kind, name, costs[name][WARM_UP:]) for name in (AGE, PLAIN)]
    await ours.close()
    await plain.close()
    return measured


def _questions(users: Sequence[str]) -> Iterator[SearchQuery]:
    """Endless; every question about a person names one of the three the data has most of."""
    for number in itertools.count():
        one, other = PERSONS[number % 3], PERSONS[(number + 1) % 3]
        thing = f"{ADJECTIVES[number * 7 % 12]} {NOUNS[0]}"
        yield SearchQuery(
            user_id=users[number % len(users)],
            query=TEMPLATES[number % len(TEMPLATES)].format(one=one, other=other, thing=thing),
            as_of=datetime(2035, 1, 1, tzinfo=UTC),
        )


async def _asked(
    retriever: Retriever, query: SearchQuery, watcher: psycopg.Connection[tuple[int]], costs: list[Cost]
) -> str:
    """The answer as JSON, its cost added to `costs`."""
    server, python, wall = _server_seconds(watcher), time.process_time(), time.perf_counter()
    result = await retriever.search(query)
    spent = time.perf_counter() - wall, time.process_time() - python
    costs.append(Cost(1000 * spent[0], 1000 * spent[1], 1000 * (_server_seconds(watcher) - server)))
    return result.model_dump_json()


def _server_seconds(watcher: psycopg.Connection[tuple[int]]) -> float:
    """CPU that the backends of this database, but the watcher's, have used."""
    backends = watcher.execute(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'reverie'"
    ).fetchall()
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for (pid,) in backends) / 1e9


def _row(frames: int, kind: str, graph: str, costs: Sequence[Cost]) -> Measured:
    walls = quantiles([cost.wall for cost in costs], n=20, method="inclusive")
    return Measured(
        frames=frames,
        user=kind,
        graph=graph,
        p50=walls[9],
        p95=walls[18],
        python_cpu=fmean(cost.python_cpu for cost in costs),
        server_cpu=fmean(cost.server_cpu for cost in costs),
    )


def _show(measured: Sequence[Measured], console: Console) -> None:
    table = Table(title="Search, ms; AGE's label tables and plain tables in turn, the embedding left out")
    for column in ("frames", "user", "p50", "plain", "p95", "plain", "server CPU", "plain", "p50 ratio", "CPU ratio"):
        table.add_column(column, justify="left" if column == "user" else "right")
    table.add_column("Python's share of CPU", justify="right")
    for ours, plain in zip(measured[::2], measured[1::2], strict=True):
        pairs = [(ours.p50, plain.p50), (ours.p95, plain.p95), (ours.server_cpu, plain.server_cpu)]
        figures = [f"{value:.1f}" for pair in pairs for value in pair]
        ratios = [f"{ours.p50 / plain.p50:.2f}", f"{ours.server_cpu / plain.server_cpu:.2f}"]
        table.add_row(f"{ours.frames:,}", ours.user, *figures, *ratios, f"{ours.python_share:.0%}")
    console.print(table)
    for kind in dict.fromkeys(row.user.split(",")[0] for row in measured):
        own = [row for row in measured if row.graph == AGE and row.user.startswith(kind)]
        console.print(f"growth of p50, {kind}: {own[-1].p50 / own[0].p50:.2f} from {own[0].frames:,} frames")
