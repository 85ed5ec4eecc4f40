"""AutoDream's steps over stores in memory, with names whose vectors the test chooses."""

import math
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from temporalio.testing import ActivityEnvironment

from activities.consolidating import Consolidating
from activities.merging import Merging
from activities.recorded import RecordedCalls
from activities.rounds import Rounds
from domain.dream.rounds import Consolidation, Mode, NewConsolidation, Stage
from domain.graph import AnchorWrite, GraphWrite, Vector
from domain.jobs import anchor_id
from domain.keys import anchor_key
from domain.memory import AnchorType, MemoryKind
from domain.messages import ConsolidationRef, DreamEnd, Formed, PairsTask, StageTask, Tally, ref_of
from domain.model_calls import Reply, SameAnswer, SameRequest, Usage, Verdict
from domain.ports import ConsolidationStore, GraphStore, MemoryModel
from tests.contract.samples import unit
from tests.fakes.consolidations import MemoryConsolidations
from tests.fakes.graph import MemoryGraph
from tests.fakes.model import FakeModel
from tests.fakes.services import InstantWorker
from tests.fakes.stores import Evidence, MemoryJobs, MemoryModelCalls, MemoryRecords

USER = "u"
NOW = datetime(2025, 5, 1, tzinfo=UTC)
R = TypeVar("R")


LETTERS = "abcdefghijklmnopqrstuvwxyz"


def name(number: int) -> str:
    """Words without a number in them, no two alike in key."""
    first, rest = number % 26, number // 26
    return f"{LETTERS[first]}{LETTERS[rest % 26]}{LETTERS[rest // 26]}qx stone"


class Answers(FakeModel):
    """Says the same of every pair; counts by pair."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__()
        self.verdict = verdict
        self.pairs: list[frozenset[str]] = []

    async def same(self, request: SameRequest) -> Reply[SameAnswer]:
        self.pairs.append(frozenset({request.a.name, request.b.name}))
        return Reply(answer=SameAnswer(verdict=self.verdict, canonical=request.a.name), usage=Usage(model="answers"))


class World:
    """One user's memory and the steps over it."""

    def __init__(
        self,
        model: MemoryModel | None = None,
        *,
        consolidations: ConsolidationStore | None = None,
        graph: GraphStore | None = None,
    ) -> None:
        evidence = Evidence()
        self.consolidations = consolidations or MemoryConsolidations(evidence)
        self.graph = graph or MemoryGraph(evidence)
        self.model = model or FakeModel()
        self.asked = MemoryModelCalls(evidence)
        records, jobs = MemoryRecords(evidence), MemoryJobs(evidence)
        calls = RecordedCalls(self.asked, _NoEmbedder(), lambda: NOW)
        starter = InstantWorker(jobs, records, self.consolidations)
        self.rounds = Rounds(self.consolidations, records, self.graph, self.model, calls, lambda: NOW)
        self.merging = Merging(self.consolidations, records, self.graph, calls, lambda: NOW)
        self.keeping = Consolidating(self.consolidations, jobs, self.graph, starter, lambda: NOW)

    async def know(self, name: str, vector: Vector, *, number: int, kind: MemoryKind = MemoryKind.SEMANTIC) -> UUID:
        """An anchor that one record mentions."""
        anchor = AnchorWrite(
            id=anchor_id(USER, anchor_key(name)), name=name, key=anchor_key(name), type=AnchorType.OBJECT, vector=vector
        )
        write = GraphWrite(
            user_id=USER, record_id=UUID(int=number), kind=kind, mention_time=NOW, anchors=(anchor,), frames=()
        )
        await self.graph.upsert(write)
        return anchor.id

    async def ask(self, request: str, **values: object) -> ConsolidationRef:
        """A consolidation that has its turn; a final round unless told otherwise."""
        new = {"user_id": USER, "request_id": request, "mode": Mode.FINAL, **values}
        asked = await self.consolidations.request(NewConsolidation.model_validate(new), now=NOW)
        ref = ref_of(asked.consolidation)
        await run(self.rounds.begin, ref)
        return ref

    async def stage(self, ref: ConsolidationRef, stage: Stage = Stage.MAIN) -> tuple[Formed, Tally]:
        """A stage as the workflow runs it."""
        task = StageTask(consolidation=ref, stage=stage)
        taken = await run(self.rounds.take_frontier, task)
        formed = await run(self.rounds.form_pairs, task)
        await run(self.rounds.verify, PairsTask(consolidation=ref, pairs=formed.pairs))
        merged = await run(self.merging.merge_pairs, task)
        return formed, Tally(frontier=taken.done, cached=formed.cached, unreached=formed.unreached, merged=merged.done)

    async def end(self, ref: ConsolidationRef, tally: Tally) -> Consolidation:
        """The end of a consolidation."""
        await run(self.keeping.end, DreamEnd(consolidation=ref, tally=tally))
        return await self.consolidations.consolidation(USER, ref.consolidation_id)


async def couples(world: World, count: int) -> None:
    """Pairs of near names, each pair far from all others."""
    for number in range(count):
        one, other = f"{number}", f"{number} again"
        await world.know(name(2 * number), _near(one, other, share=0.0), number=2 * number + 1)
        await world.know(name(2 * number + 1), _near(one, other, share=0.3), number=2 * number + 2)


def _near(one: str, other: str, *, share: float) -> Vector:
    """The vector of a text with a share of another's."""
    mixed = [a + share * b for a, b in zip(unit(one), unit(other), strict=True)]
    length = math.hypot(*mixed)
    return [value / length for value in mixed]


class _NoEmbedder:
    """Nothing is embedded by these steps."""

    name = "none"
    dimension = 2

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        raise AssertionError("a round embeds nothing")


async def run(step: Callable[[Any], Awaitable[R]], task: object) -> R:
    """A step as a worker runs it."""
    return await ActivityEnvironment().run(step, task)


def turned(degrees: float) -> Vector:
    """A unit vector in the plane."""
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]
