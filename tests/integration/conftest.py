"""The HTTP API over the stores in memory."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from api.acceptor import Acceptor
from api.app import create_app
from api.dreamer import Dreamer
from api.search import Retriever
from api.services import Services
from domain.dream.rounds import (
    Consolidation,
    ConsolidationState,
    Mode,
    NewConsolidation,
    Pair,
    PairEnd,
    PairState,
    Receipt,
    Stage,
    merge_id,
    pair_id,
)
from domain.errors import MergeConflict
from domain.graph import Joined
from domain.intake import Limits
from domain.jobs import Job, JobState
from domain.memory import AnchorType, Record
from domain.messages import PairDecision
from domain.model_calls import Verdict
from infra.settings import Settings
from tests.fakes.consolidations import MemoryConsolidations
from tests.fakes.graph import MemoryGraph
from tests.fakes.schedules import MemorySchedules
from tests.fakes.stores import Evidence, MemoryJobs, MemoryModelCalls, MemoryRecords
from tests.fakes.vault import MemoryVault
from tests.unit.retrieval.world import Said, World

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)

CANARY = "zebrafishcanary"


class Starter:
    """Notes what is started and woken; a cancelled job ends at once, and a decision is stored."""

    def __init__(self, jobs: MemoryJobs, consolidations: MemoryConsolidations) -> None:
        self.jobs = jobs
        self.consolidations = consolidations
        self.started: list[UUID] = []
        self.closed: set[UUID] = set()
        self.woken: list[str] = []

    async def start_ingest(self, job: Job) -> None:
        self.started.append(job.id)

    async def ingest_open(self, job: Job) -> bool | None:
        return job.id in self.started and job.id not in self.closed

    async def cancel_ingest(self, job: Job) -> None:
        assert job.id not in self.closed
        await self.jobs.set_state(job.id, JobState.CANCELLED, now=NOW)

    async def wake_queue(self, user_id: str) -> None:
        self.woken.append(user_id)

    async def cancel_consolidation(self, consolidation: Consolidation) -> bool:
        return False

    async def start_review(self, consolidation: Consolidation) -> None:
        raise AssertionError("the workflow of a round starts its review")

    async def decide(self, consolidation: Consolidation, decision: PairDecision) -> None:
        pairs = {pair.id: pair for pair in await self.consolidations.pairs(consolidation.id)}
        pair = pairs[decision.pair_id]
        if pair.state is not PairState.PENDING:
            raise MergeConflict(f"the pair does not wait for this decision: it is {pair.state}")
        state = PairState.APPROVED if decision.approve else PairState.DECLINED
        decided = {"state": state, "canonical": decision.canonical or pair.canonical, "decided_by": decision.actor}
        await self.consolidations.settle([pair.model_copy(update=decided)])

    async def start_batch(self, user_id: str, batch_id: UUID) -> None:
        raise AssertionError("no route feeds a batch")


@dataclass
class Server:
    """An application with its stores within reach."""

    app: FastAPI
    client: httpx.AsyncClient
    world: World
    graph: MemoryGraph
    starter: Starter
    services: Services
    user_records: dict[str, tuple[Record, ...]] = field(default_factory=dict)

    async def get(self, path: str, **params: object) -> httpx.Response:
        """GET as Ana unless said."""
        given: dict[str, Any] = {"user_id": "ana", **params}
        return await self.client.get(path, params=given)

    async def post(
        self, path: str, body: dict[str, Any], *, key: str | None = None, **params: object
    ) -> httpx.Response:
        """POST as Ana unless said."""
        headers = {} if key is None else {"Idempotency-Key": key}
        given: dict[str, Any] = {"user_id": "ana", **params}
        return await self.client.post(path, json=body, headers=headers, params=given)

    async def add(self, body: dict[str, Any], *, key: str | None = None, wait: float = 0) -> httpx.Response:
        """POST /v1/memories."""
        headers = {} if key is None else {"Idempotency-Key": key}
        return await self.client.post("/v1/memories", json=body, headers=headers, params={"wait": wait})


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """An application over empty stores in memory."""
    evidence = Evidence()
    graph = MemoryGraph(evidence)
    jobs, records, consolidations = MemoryJobs(evidence), MemoryRecords(evidence), MemoryConsolidations(evidence)
    world, starter = World(jobs, records, graph), Starter(jobs, consolidations)
    vault = MemoryVault({}, bytes(32))
    services = Services(
        jobs=jobs,
        records=records,
        graph=graph,
        calls=MemoryModelCalls(evidence),
        vault=vault,
        embedder=world.embedder,
        retriever=Retriever(graph, records, world.embedder),
        acceptor=Acceptor(
            jobs,
            vault,
            starter,
            limits=Limits(max_message_characters=1000, max_input_messages=5),
            default_timezone="UTC",
            clock=lambda: NOW,
        ),
        consolidations=consolidations,
        dreamer=Dreamer(consolidations, graph, starter, clock=lambda: NOW),
        schedules=MemorySchedules(),
        settings=Settings(),
    )
    app = create_app(services, max_body_bytes=20_000)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://memory") as client:
        yield Server(app, client, world, graph, starter, services)


async def told(server: Server) -> None:
    """Ana's runs, and the same of Bob with a canary in every text and name."""
    arms = (("agent", "Ana"), ("location", "canal"))
    said = [Said("Ana ran along the canal.", "run", arms), Said("Ana swam in the canal.", "swim", arms, day=1)]
    server.user_records["ana"] = await server.world.tell("ana", "s1", said)
    secret = (("agent", "Ana"), ("location", "canal"), ("object", CANARY))
    other = (("agent", "Ana"), ("object", f"{CANARY} two"))
    server.user_records["bob"] = await server.world.tell(
        "bob",
        f"s-{CANARY}",
        [
            Said(f"Ana ran along the canal with a {CANARY}.", "run", secret),
            Said(f"Ana saw {CANARY} two.", "see", other, day=1),
        ],
    )


async def dreamed(server: Server, user_id: str, one: str, other: str) -> tuple[Consolidation, Pair]:
    """A round of a user that waits for a person, with one pair of two anchors by name, and a merge of the two in its
    log."""
    anchors = {anchor.name: anchor for anchor in await server.graph.anchor_page(user_id, limit=50)}
    store = server.services.consolidations
    new = NewConsolidation(user_id=user_id, request_id="round", mode=Mode.FINAL, review=True, actor=one)
    identity = (await store.request(new, now=NOW)).consolidation.id
    await store.begin(identity, now=NOW)
    records = server.user_records[user_id]
    a, b = (PairEnd(anchor_id=anchors[n].id, name=n, record_ids=(records[0].id,)) for n in (one, other))
    pair = Pair(
        id=pair_id(identity, Stage.MAIN, "key"),
        key="key",
        type=AnchorType.OTHER,
        a=a,
        b=b,
        similarity=0.9,
        state=PairState.PENDING,
        verdict=Verdict.SAME,
        canonical=a.anchor_id,
        reason=f"{other} is {one}",
        decided_by="rules",
    )
    await store.save_pairs(identity, Stage.MAIN, [pair], waiting=())
    join = Joined(id=merge_id(identity, b.anchor_id), absorbed=b.anchor_id, representative=a.anchor_id)
    await server.graph.merge(user_id, [join], consolidation=identity, now=NOW)
    return await store.end(identity, ConsolidationState.REVIEW, receipt=Receipt(), now=NOW), pair


def error_of(response: httpx.Response) -> dict[str, Any]:
    """The error of an answer, which has the one shape."""
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"type", "message", "retryable"}
    error: dict[str, Any] = body["error"]
    return error
