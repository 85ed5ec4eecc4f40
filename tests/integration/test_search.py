"""The read path over the stores in memory and over the real ones: bounds, provenance, isolation, the way out."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from api.search import Retriever
from domain.errors import GraphUnavailable, InvalidInput
from domain.memory import AnchorType, Granularity, MemoryKind, Status, TimeSpan
from domain.ports import GraphStore
from domain.retrieval.fusion import Quota
from domain.retrieval.plan import Budget, Budgets
from domain.retrieval.query import Filters, SearchQuery, SearchResult
from infra.stores.database import Database
from infra.stores.graph import AgeGraph
from infra.stores.jobs import PostgresJobs
from infra.stores.records import PostgresRecords
from tests.fakes.graph import MemoryGraph
from tests.fakes.stores import Evidence, MemoryJobs, MemoryRecords
from tests.unit.retrieval.build import AS_OF, day
from tests.unit.retrieval.world import START, Said, World

ANA = (("agent", "Ana"), ("location", "canal"))


@pytest.fixture(params=["memory", "postgres"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    """An empty world over either kind of store."""
    if request.param == "memory":
        evidence = Evidence()
        yield World(MemoryJobs(evidence), MemoryRecords(evidence), MemoryGraph(evidence))
        return
    database = await Database.open(request.getfixturevalue("database_url"), pool_size=4)
    yield World(PostgresJobs(database), PostgresRecords(database), AgeGraph(database))
    await database.close()


@dataclass
class Asking:
    """A retriever over a world."""

    world: World
    graph: GraphStore | None = None
    budgets: Budgets | None = None

    async def __call__(self, question: str, *, user: str = "ana", **fields: object) -> SearchResult:
        """The answer to a question at AS_OF."""
        query = SearchQuery.model_validate({"user_id": user, "query": question, "as_of": AS_OF, **fields})
        graph = self.graph or self.world.graph
        retriever = Retriever(graph, self.world.records, self.world.embedder, budgets=self.budgets)
        return await retriever.search(query)


async def told(world: World) -> None:
    """Two like-worded runs on two days, a planned one, a gift, a liking shared, and another user's canary."""
    await world.tell(
        "ana",
        "s1",
        [
            Said("Ana ran 5 km along the canal.", "run", ANA, event_time=day(2024, 5, 1)),
            Said("Ben gave Ana a silver ring.", "give", (("agent", "Ben"), ("recipient", "Ana"), ("object", "ring"))),
            Said("Ana likes tea.", "like", (("experiencer", "Ana"), ("object", "tea")), kind=MemoryKind.SEMANTIC),
        ],
    )
    await world.tell(
        "ana",
        "s2",
        [
            Said("Ana ran 5 km along the canal.", "run", ANA, day=7, event_time=day(2024, 5, 8)),
            Said(
                "Ana will run along the canal in July.",
                "run",
                ANA,
                day=7,
                event_time=day(2024, 7, 1),
                status=Status.PLANNED,
            ),
            Said(
                "Ben likes tea.", "like", (("experiencer", "Ben"), ("object", "tea")), kind=MemoryKind.SEMANTIC, day=7
            ),
            Said("The tide table of the harbour, page 3.", kind=MemoryKind.RESOURCE, day=7),
        ],
    )
    await world.tell("bob", "s1", [Said("Ana ran along the canal zebrafish.", "run", (*ANA, ("object", "zebrafish")))])


async def test_facts_come_with_the_rows_that_justify_them(world: World) -> None:
    """Invariant 1: every fact cites records that exist and are the user's."""
    await told(world)
    result = await Asking(world)("Who gave Ana the silver ring?")
    fact = result.facts[0]
    assert fact.predicate == "give"
    assert {(arm.role, arm.name) for arm in fact.arms} >= {("agent", "Ben"), ("recipient", "Ana")}
    cited = await world.records.records("ana", fact.record_ids)
    assert [record.text for record in cited] == ["Ben gave Ana a silver ring."]
    assert result.rows[0].record_id == fact.record_ids[0]
    assert [source.turn_id for source in result.rows[0].sources] == ["s1:1"]
    assert not result.degraded


async def test_a_count_finds_both_occurrences_and_ranks_the_plan_below(world: World) -> None:
    await told(world)
    result = await Asking(world)("How many times did Ana run along the canal?")
    runs = [fact for fact in result.facts if fact.predicate == "run"]
    assert [fact.status for fact in runs] == [Status.DONE, Status.DONE, Status.PLANNED]
    assert {row.event_time.start.day for row in result.rows if row.event_time and row.status is Status.DONE} == {1, 8}


async def test_as_of_hides_what_was_said_later(world: World) -> None:
    await told(world)
    result = await Asking(world)("How many times did Ana run along the canal?", as_of=START.replace(day=3))
    assert {row.session_id for row in result.rows} == {"s1"}
    assert len([fact for fact in result.facts if fact.predicate == "run"]) == 1


async def test_an_intersection_returns_both_sides(world: World) -> None:
    await told(world)
    result = await Asking(world)("What do Ana and Ben both like?")
    assert {"Ana likes tea.", "Ben likes tea."} <= {row.text for row in result.rows}
    assert {fact.arms[0].name for fact in result.facts[:2]} == {"Ana", "Ben"}


async def test_nothing_of_another_user_is_seen(world: World) -> None:
    await told(world)
    for question in ("Where did Ana run?", "Who saw the zebrafish?"):
        result = await Asking(world)(question)
        assert "zebrafish" not in result.model_dump_json(exclude={"plan"})
    stranger = await Asking(world)("Where did Ana run?", user="nobody", explain=True)
    assert (stranger.rows, stranger.facts, stranger.degraded) == ((), (), False)


async def test_the_same_question_has_the_same_answer_byte_for_byte(world: World) -> None:
    await told(world)
    asking = Asking(world)
    for question in ("How many times did Ana run?", "What do Ana and Ben both like?", "Who gave Ana the ring?"):
        first = await asking(question, explain=True)
        assert first.model_dump_json() == (await asking(question, explain=True)).model_dump_json()


async def test_only_a_graph_that_cannot_be_read_leads_to_direct_search(world: World) -> None:
    """Invariant 4: the answer says so, the budget holds, the rows are there."""
    await told(world)
    result = await Asking(world, graph=Broken())("How many times did Ana run along the canal?")
    assert (result.degraded, result.reason, result.facts) == (True, GraphUnavailable.type, ())
    assert "Ana ran 5 km along the canal." in {row.text for row in result.rows}
    assert all(row.why[0] == "direct" for row in result.rows)
    empty = await Asking(world)("How many times did Ana run?", user="nobody")
    assert not empty.degraded


@pytest.mark.parametrize("quota", list(Quota))
async def test_budgets_hold_for_a_hub(world: World, quota: Quota) -> None:
    """Sixty rows of one person: never more than B_B + B_R rows and B_R facts, no row twice, and the best row is in."""
    await world.tell(
        "ana",
        "s1",
        [
            Said(f"Ana bought item{n} at stall{n}.", "buy", (("agent", "Ana"), ("object", f"item{n}")))
            for n in range(60)
        ],
    )
    budgets = Budgets(single=Budget(base=2, cited=3), list_union=Budget(base=3, cited=3))
    result = await Asking(world, budgets=budgets)("Who bought item42?", quota=quota, explain=True)
    ids = [row.record_id for row in result.rows]
    assert len(set(ids)) == len(ids) <= 5
    assert len(result.facts) <= 3
    assert result.rows[0].text.startswith("Ana bought item42")
    listed = await Asking(world, budgets=budgets)("What items has Ana bought?", quota=quota)
    assert (len(listed.rows), listed.truncated) == (6, True)


async def test_kinds_outside_the_graph_are_found_when_asked_for(world: World) -> None:
    await told(world)
    asked = await Asking(world)("Where is the tide table?", kinds=[MemoryKind.RESOURCE])
    assert [row.kind for row in asked.rows] == [MemoryKind.RESOURCE]
    both = await Asking(world)("Where is the tide table?", kinds=[MemoryKind.RESOURCE, MemoryKind.EPISODIC])
    assert both.rows[0].kind is MemoryKind.RESOURCE
    unasked = await Asking(world)("Where is the tide table?")
    assert MemoryKind.RESOURCE not in {row.kind for row in unasked.rows}


async def test_filters_and_limits(world: World) -> None:
    await told(world)
    question = "How many times did Ana run along the canal?"
    asking = Asking(world)
    by_session = await asking(question, filters=Filters(session_ids=("s2",)))
    assert {row.session_id for row in by_session.rows} == {"s2"}
    done = await asking(question, filters=Filters(statuses=(Status.DONE,)))
    assert {row.status for row in done.rows} == {Status.DONE}
    early = await asking(question, filters=Filters(until=day(2024, 5, 2).end))
    assert {row.text for row in early.rows if "ran" in row.text} == {"Ana ran 5 km along the canal."}
    one = await asking(question, limit_per_kind=1)
    assert len(one.rows) <= 2


async def test_the_explanation_tells_anchors_lanes_and_terms(world: World) -> None:
    await told(world)
    result = await Asking(world)("Who gave Ana the silver ring?", explain=True)
    told_of = result.explanation
    assert told_of is not None
    assert {anchor.name for anchor in told_of.anchors} >= {"Ana", "ring"}
    assert any(anchor.exact and anchor.type is AnchorType.PERSON for anchor in told_of.anchors)
    assert all(fact.terms["rel"] >= 0 for fact in told_of.facts)
    assert told_of.rows_entered >= len(result.rows)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"query": " "}, "query"),
        ({"query": "a\x00b"}, "query"),
        ({"query": "\ud800"}, "query"),
        ({"query": "x" * 5000}, "query"),
        ({"user_id": ""}, "user_id"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
    ],
)
async def test_bad_questions_are_refused_before_any_read(fields: dict[str, str], field: str) -> None:
    evidence = Evidence()
    world = World(MemoryJobs(evidence), MemoryRecords(evidence), MemoryGraph(evidence))
    query = SearchQuery.model_validate({"user_id": "ana", "query": "Who?", "as_of": AS_OF, **fields})
    with pytest.raises(InvalidInput) as caught:
        await Retriever(world.graph, world.records, world.embedder).search(query)
    assert caught.value.field == field


async def test_paraphrases_of_one_day_are_one_row_and_of_two_days_two(world: World) -> None:
    span = TimeSpan(start=day(2024, 5, 2).start, end=day(2024, 5, 2).end, granularity=Granularity.DAY)
    await world.tell(
        "ana",
        "s1",
        [
            Said("Ana ran along the old canal.", "run", ANA, event_time=span),
            Said("Ana was running along the old canal.", "run", ANA, event_time=span),
            Said("Ana ran along the old canal.", "run", ANA, event_time=day(2024, 5, 3)),
        ],
    )
    result = await Asking(world)("Where did Ana run?", explain=True)
    assert sorted(row.event_time.start.day for row in result.rows if row.event_time) == [2, 3]


class Broken(MemoryGraph):
    """A graph that can't be read."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = True
