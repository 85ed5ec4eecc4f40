"""Today's workflows replay the histories of earlier ones (case 42). Histories are added, never made anew to go
green."""

import json
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from activities.signatures import JobSteps, WriteSteps
from domain.messages import IngestRequest, JobOutcome
from infra.run.worker import WORKFLOWS, runner
from workflows.policies import Policies

HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.json"))


def _history(path: Path) -> WorkflowHistory:
    kept = json.loads(path.read_text(encoding="utf-8"))
    return WorkflowHistory.from_json(kept["workflow_id"], kept["history"])


def test_every_workflow_has_a_history() -> None:
    kinds = {path.stem.split("-")[0] for path in HISTORIES}
    assert kinds == {"ingest", "index", "queue", "dream", "review", "batch", "scheduled"}


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
async def test_replays(path: Path) -> None:
    replayer = Replayer(
        workflows=WORKFLOWS,
        workflow_runner=runner(),
        data_converter=pydantic_data_converter,
        workflow_failure_exception_types=[NondeterminismError],
    )
    result = await replayer.replay_workflow(_history(path), raise_on_replay_failure=False)
    assert result.replay_failure is None


@workflow.defn(name="IngestWorkflow", sandboxed=False)
class Reordered:
    """The ingest with its steps swapped."""

    @workflow.run
    async def run(self, request: IngestRequest) -> JobOutcome:
        options = Policies("reverie")
        await workflow.execute_activity_method(JobSteps.enqueue, request.job, **options.bookkeeping)
        await workflow.execute_activity_method(WriteSteps.prepare, request.job, **options.database)
        return JobOutcome(state="extracted")


async def test_a_planted_reorder_is_noticed() -> None:
    path = next(path for path in HISTORIES if path.stem.startswith("ingest"))
    replayer = Replayer(workflows=[Reordered], data_converter=pydantic_data_converter)
    result = await replayer.replay_workflow(_history(path), raise_on_replay_failure=False)
    assert isinstance(result.replay_failure, NondeterminismError)
