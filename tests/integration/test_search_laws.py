"""Laws of bounded reads on the real stores: caps, citations and order hold for any data (invariants 1, 3 and 8)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import count
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.acceptor import Acceptor
from api.app import create_app
from api.dreamer import Dreamer
from api.search import Retriever
from api.services import Services
from domain.memory import Frame, MemoryKind, Record, Status
from domain.retrieval.entry import K_A, MAX_EXACT
from domain.retrieval.fusion import Quota
from domain.retrieval.query import SearchResult
from domain.retrieval.scoring import K_F
from infra.run.bootstrap import input_limits
from infra.settings import Settings
from infra.stores.consolidations import PostgresConsolidations
from infra.stores.database import Database
from infra.stores.graph import AgeGraph
from infra.stores.jobs import PostgresJobs
from infra.stores.model_calls import PostgresModelCalls
from infra.stores.records import PostgresRecords
from infra.stores.vault import PostgresVault
from tests.fakes.schedules import MemorySchedules
from tests.fakes.services import InstantWorker
from tests.unit.retrieval.build import AS_OF, PEOPLE, day
from tests.unit.retrieval.world import Said, World

THINGS = ("canal", "tea", "ring", "harbour", "bicycle")
VERBS = {"run": "ran to", "buy": "bought", "give": "gave", "like": "likes"}
QUESTIONS = (
    "Where did {person} run?",
    "How many times did {person} buy {thing}?",
    "What has {person} bought?",
    "What do {person} and {other} both like?",
    "Who gave {person} the {thing}?",
    "When did {person} run to the {thing}?",
)

HUB = 300
"""Facts of a person of many: more than the relation lane may look at."""


@st.composite
def sayings(draw: st.DrawFn) -> Said:
    """One thing a person did with a thing, perhaps dated, planned, or a lasting fact."""
    person, thing = draw(st.sampled_from(PEOPLE)), draw(st.sampled_from(THINGS))
    verb = draw(st.sampled_from(sorted(VERBS)))
    dated = draw(st.booleans())
    return Said(
        f"{person} {VERBS[verb]} the {thing}.",
        verb,
        (("agent", person), ("object", thing)),
        kind=draw(st.sampled_from([MemoryKind.EPISODIC, MemoryKind.SEMANTIC])),
        day=draw(st.integers(0, 20)),
        event_time=day(2024, 5, draw(st.integers(1, 3))) if dated else None,
        status=draw(st.sampled_from([Status.DONE, Status.PLANNED])),
    )


@st.composite
def questions(draw: st.DrawFn) -> str:
    """A question of any operator about the people and things of `sayings`."""
    person, other = draw(st.permutations(PEOPLE))[:2]
    return draw(st.sampled_from(QUESTIONS)).format(person=person, other=other, thing=draw(st.sampled_from(THINGS)))


class WatchedGraph(AgeGraph):
    """The graph, and how much it handed out."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.most_adjacent = 0
        self.most_named = 0

    async def adjacent_frames(
        self, user_id: str, anchor_ids: Sequence[UUID], *, predicates: Sequence[str], cap: int
    ) -> tuple[Frame, ...]:
        """Frames of named anchors, counted."""
        found = await super().adjacent_frames(user_id, anchor_ids, predicates=predicates, cap=cap)
        self.most_adjacent = max(self.most_adjacent, len(found))
        self.most_named = max(self.most_named, len(anchor_ids))
        return found


@dataclass
class Real:
    """Real stores under one event loop, a fresh user for each example."""

    runner: asyncio.Runner
    database: Database
    graph: WatchedGraph
    users: Iterator[int] = field(default_factory=count)

    def run(self, work: Callable[["Real", str], Awaitable[None]]) -> None:
        """Do the work for a new user."""

        async def step() -> None:
            await work(self, f"user{next(self.users)}")

        self.runner.run(step())

    @property
    def app(self) -> FastAPI:
        """The API over them."""
        world, configuration = self.world, Settings()
        consolidations = PostgresConsolidations(self.database)
        worker = InstantWorker(world.jobs, world.records, consolidations)
        vault = PostgresVault(self.database, bytes(32))
        return create_app(
            Services(
                jobs=world.jobs,
                records=world.records,
                graph=self.graph,
                calls=PostgresModelCalls(self.database),
                vault=vault,
                embedder=world.embedder,
                retriever=Retriever(self.graph, world.records, world.embedder),
                acceptor=Acceptor(
                    world.jobs,
                    vault,
                    worker,
                    limits=input_limits(configuration),
                    default_timezone="UTC",
                    clock=lambda: AS_OF,
                ),
                consolidations=consolidations,
                dreamer=Dreamer(consolidations, self.graph, worker, clock=lambda: AS_OF),
                schedules=MemorySchedules(),
                settings=configuration,
            )
        )

    @property
    def world(self) -> World:
        """To write with."""
        return World(PostgresJobs(self.database), PostgresRecords(self.database), self.graph)

    async def ask(self, user: str, question: str, quota: Quota = Quota.SOFT) -> SearchResult:
        """The explained answer, over HTTP."""
        return SearchResult.model_validate_json(await self.body(user, question, quota))

    async def body(self, user: str, question: str, quota: Quota) -> bytes:
        """The bytes of the answer."""
        asked = {"user_id": user, "query": question, "as_of": AS_OF.isoformat(), "quota": quota, "explain": True}
        transport = httpx.ASGITransport(app=self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://memory") as client:
            response = await client.post("/v1/search", json=asked)
        assert response.status_code == 200, response.text
        return response.content


@pytest.fixture
def real(database_url: str) -> Iterator[Real]:
    """Stores of the test's own."""
    with asyncio.Runner() as runner:
        database = runner.run(Database.open(database_url, pool_size=4))
        yield Real(runner, database, WatchedGraph(database))
        runner.run(database.close())


LAWS = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def test_the_laws_hold_for_any_data(real: Real) -> None:
    @LAWS
    @given(
        st.lists(sayings(), min_size=1, max_size=24),
        st.lists(questions(), min_size=1, max_size=3),
        st.sampled_from(Quota),
    )
    def laws(said: list[Said], asked: list[str], quota: Quota) -> None:
        async def check(real: Real, user: str) -> None:
            await real.world.tell(user, "s", said)
            for question in asked:
                result = await real.ask(user, question, quota)
                await _check_laws(real, user, result, quota)
                assert await real.body(user, question, quota) == await real.body(user, question, quota)

        real.run(check)

    laws()


async def _check_laws(real: Real, user: str, result: SearchResult, quota: Quota) -> None:
    _check_caps(real, result)
    _check_order(result, quota)
    await _check_citations(real, user, result)
    await _check_collapse(real, user, result)


def _check_caps(real: Real, result: SearchResult) -> None:
    budget, told = result.plan.budget, result.explanation
    assert told is not None
    assert len(told.anchors) <= K_A
    assert len(result.rows) <= budget.base + budget.cited
    assert len(result.facts) <= budget.cited
    assert real.graph.most_adjacent <= K_F
    assert real.graph.most_named <= MAX_EXACT


def _check_order(result: SearchResult, quota: Quota) -> None:
    ids = [row.record_id for row in result.rows]
    assert len(set(ids)) == len(ids)
    if quota is Quota.STRICT:
        assert result.explanation is not None
        cited = [row in result.explanation.relation_lane for row in ids]
        assert cited == sorted(cited, reverse=True)


async def _check_citations(real: Real, user: str, result: SearchResult) -> None:
    """Every fact cites records, all of them exist and are the user's; another user gets none of them."""
    cited = sorted({record for fact in result.facts for record in fact.record_ids})
    assert all(fact.record_ids for fact in result.facts)
    assert [record.user_id for record in await real.world.records.records(user, cited)] == [user] * len(cited)
    assert await real.world.records.records("another", cited) == ()


async def _check_collapse(real: Real, user: str, result: SearchResult) -> None:
    """Rows that say the same on one date are one row, and each that was left out is of the date of one that was not."""
    told = result.explanation
    assert told is not None
    left_out = frozenset(told.collapsed)
    entered = await real.world.records.records(user, (*told.base_lane, *told.relation_lane))
    stayed = {_day(record) for record in entered if record.id not in left_out}
    assert {_day(record) for record in entered if record.id in left_out} <= stayed
    dated = [(row.text, row.event_time.start) for row in result.rows if row.event_time and _episodic(row.kind)]
    assert len(set(dated)) == len(dated)


def _day(record: Record) -> date:
    return record.event_time.start if record.event_time else record.mention_time.date()


def _episodic(kind: MemoryKind) -> bool:
    return kind is MemoryKind.EPISODIC


def test_a_row_is_collapsed_only_into_one_of_its_calendar_date(real: Real) -> None:
    async def check(real: Real, user: str) -> None:
        arms = (("agent", "Ana"), ("object", "canal"))
        said = [Said("Ana ran to the canal.", "run", arms, event_time=day(2024, 5, n)) for n in (1, 1, 2, 3)]
        await real.world.tell(user, "s", said)
        result = await real.ask(user, "How many times did Ana run to the canal?")
        assert sorted(row.event_time.start.day for row in result.rows if row.event_time) == [1, 2, 3]

    real.run(check)


def test_a_hub_of_many_facts_stays_within_the_caps(real: Real) -> None:
    async def check(real: Real, user: str) -> None:
        said = [Said(f"Ana bought item{n}.", "buy", (("agent", "Ana"), ("object", f"item{n}"))) for n in range(HUB)]
        await real.world.tell(user, "s", said)
        for quota in Quota:
            result = await real.ask(user, "How many items did Ana buy?", quota)
            await _check_laws(real, user, result, quota)
            assert result.truncated
        assert real.graph.most_adjacent == K_F

    real.run(check)
