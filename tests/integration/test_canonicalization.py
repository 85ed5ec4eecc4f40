"""The canonicalize step over stores in memory: what the model may rename, and what the record's own frames forbid."""

from datetime import UTC, datetime

import pytest
from temporalio.testing import ActivityEnvironment

from activities.indexing import Indexing
from activities.recorded import RecordedCalls
from domain.memory import Arm, Entity, Extraction, FrameDraft, Record
from domain.messages import ChunkTask, JobRef
from domain.model_calls import CanonicalizeAnswer, CanonicalizeRequest, Rename, Reply, Usage
from tests.fakes.graph import MemoryGraph
from tests.fakes.model import FakeModel
from tests.fakes.stores import Evidence, MemoryJobs, MemoryModelCalls, MemoryRecords
from tests.unit.retrieval.world import Said, World

KNOWN, NEW = "Robert Bo", "Robert Bo Lind"


class Eager(FakeModel):
    """Takes the first candidate for every entity."""

    async def canonicalize(self, request: CanonicalizeRequest) -> Reply[CanonicalizeAnswer]:
        """Always the same."""
        renames = tuple(Rename(name=q.entity.name, candidate=q.candidates[0].name) for q in request.questions)
        return Reply(answer=CanonicalizeAnswer(renames=renames), usage=Usage(model=self.name))


@pytest.mark.parametrize(
    ("text", "partner", "name"),
    [
        (f"{NEW} lent {KNOWN} a tent.", KNOWN, NEW),
        (f"{NEW}, also known as {KNOWN}, lent {KNOWN} a tent.", KNOWN, KNOWN),
        (f"{NEW} lent Clara a tent.", "Clara", KNOWN),
    ],
)
async def test_participants_of_one_frame_are_not_renamed_into_each_other(text: str, partner: str, name: str) -> None:
    evidence = Evidence()
    world = World(MemoryJobs(evidence), MemoryRecords(evidence), MemoryGraph(evidence))
    await world.tell("ana", "s1", [Said(f"{KNOWN} met Dora.", "meet", (("agent", KNOWN), ("object", "Dora")))])
    (record,) = await world.tell("ana", "s2", [Said(text, day=1)])
    made = await _canonicalized(world, evidence, record, partner)
    assert made.entities[0].name == made.frames[0].arms[0].name == name


async def _canonicalized(world: World, evidence: Evidence, record: Record, partner: str) -> Extraction:
    frame = FrameDraft(predicate="lend", arms=(Arm(role="agent", name=NEW), Arm(role="recipient", name=partner)))
    extraction = Extraction(entities=(Entity(name=NEW), Entity(name=partner)), frames=(frame,))
    await world.records.save_draft(record.id, "repair", extraction.model_dump_json())
    calls = RecordedCalls(MemoryModelCalls(evidence), world.embedder, lambda: datetime(2024, 6, 1, tzinfo=UTC))
    steps = Indexing(world.jobs, world.records, world.graph, Eager(), calls)
    task = ChunkTask(job=JobRef(user_id="ana", job_id=record.input_id), ordinal=0)
    assert (await ActivityEnvironment().run(steps.canonicalize, task)).done == 1
    return Extraction.model_validate_json((await world.records.drafts([record.id], "canonicalize"))[record.id])
