"""The order of a consolidation's steps and what becomes of failures, with scripted activities on a real server."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID

import pytest
from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkflowRunner
from temporalio.workflow import NondeterminismError

from domain.dream.rounds import Consolidation, ConsolidationState, Mode
from domain.errors import Unavailable
from domain.messages import (
    BatchRequest,
    BatchStep,
    ConsolidationRef,
    DreamOutcome,
    DreamRequest,
    IndexRequest,
    JobRef,
    PairDecision,
    QueueHead,
    ReviewRequest,
    Tally,
    UserQueueRequest,
)
from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from infra.run.worker import WORKFLOWS, runner
from tests.contract.consolidating import new_round
from tests.contract.samples import NOW
from tests.workflow.scripted import Scripted
from tests.workflow.scripted_dream import ScriptedDream
from workflows import start
from workflows.batch import BatchWorkflow
from workflows.dream import DreamWorkflow
from workflows.index import IndexWorkflow
from workflows.policies import (
    DATABASE_QUEUE,
    GRAPH_QUEUE,
    MODEL_QUEUE,
    PAIRS_A_STEP,
    STEPS_AT_A_TIME,
    WORKFLOW_QUEUE,
    queue,
)
from workflows.review import ReviewWorkflow
from workflows.user_queue import UserQueueWorkflow

_numbers = itertools.count(1)

MAIN = ["take_frontier main", "form_pairs main", "merge_pairs main"]
REPAIR = ["take_frontier repair", "form_pairs repair", "merge_pairs repair"]


def ref(number: int = 1, **values: object) -> ConsolidationRef:
    """A consolidation of the tests' user."""
    return ConsolidationRef.model_validate({"user_id": "u", "consolidation_id": UUID(int=number), **values})


@pytest.fixture
async def client(temporal_server: EmbeddedTemporal) -> Client:
    return await Client.connect(temporal_server.address, namespace=NAMESPACE, data_converter=pydantic_data_converter)


@asynccontextmanager
async def working(
    client: Client, dream: ScriptedDream, steps: Scripted | None = None, workflow_runner: WorkflowRunner | None = None
) -> AsyncIterator[str]:
    """Workers over scripted steps; gives their prefix. With nothing cached every task replays the history."""
    prefix = f"dream-{os.getpid()}-{next(_numbers)}"
    activities = [*dream.steps(), *(steps or Scripted()).steps()]
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(
            Worker(
                client,
                task_queue=queue(prefix, WORKFLOW_QUEUE),
                workflows=WORKFLOWS,
                workflow_runner=workflow_runner or runner(),
                max_cached_workflows=0,
                workflow_failure_exception_types=[NondeterminismError],
            )
        )
        for name in (DATABASE_QUEUE, MODEL_QUEUE, GRAPH_QUEUE):
            await stack.enter_async_context(Worker(client, task_queue=queue(prefix, name), activities=activities))
        yield prefix


async def dreamt(client: Client, dream: ScriptedDream, consolidation: ConsolidationRef) -> DreamOutcome:
    async with working(client, dream) as prefix:
        return await client.execute_workflow(
            DreamWorkflow.run,
            DreamRequest(consolidation=consolidation, prefix=prefix),
            id=f"{prefix}/d",
            task_queue=queue(prefix, WORKFLOW_QUEUE),
        )


async def test_an_intermediate_round_has_one_stage(client: Client) -> None:
    dream = ScriptedDream(merged=2)
    outcome = await dreamt(client, dream, ref())
    assert dream.ran == ["begin", "index_names", *MAIN]
    assert [end.tally for end in dream.ends] == [Tally(frontier=3, cached=1, unreached=2, merged=2)]
    assert outcome == DreamOutcome(state=ConsolidationState.COMPLETED, merged=2)


@pytest.mark.parametrize("merged", [0, 1])
async def test_a_final_round_that_merged_has_one_repair_round(merged: int, client: Client) -> None:
    dream = ScriptedDream(merged=merged)
    await dreamt(client, dream, ref(mode=Mode.FINAL))
    assert dream.ran == ["begin", "index_names", *MAIN, *(REPAIR if merged else [])]
    (end,) = dream.ends
    assert (end.tally.frontier, end.tally.merged) == (3 + 3 * merged, merged)


async def test_every_pair_is_verified_once_a_few_at_a_time(client: Client) -> None:
    dream = ScriptedDream(pairs=80)
    await dreamt(client, dream, ref())
    assert sorted(dream.asked) == sorted(dream.pairs)
    assert dream.ran.count("verify") == 80 / PAIRS_A_STEP
    assert 1 < dream.most_at_once <= STEPS_AT_A_TIME


@pytest.mark.parametrize(
    ("consolidation", "expected"),
    [
        (ref(applying=True), ["begin", "merge_approved"]),
        (ref(mode=Mode.MERGE), ["begin", "by_hand"]),
        (ref(mode=Mode.SPLIT), ["begin", "by_hand"]),
        (ref(mode=Mode.UNDO), ["begin", "by_hand"]),
    ],
)
async def test_what_is_no_round_takes_its_turn_too(
    consolidation: ConsolidationRef, expected: list[str], client: Client
) -> None:
    dream = ScriptedDream()
    await dreamt(client, dream, consolidation)
    assert dream.ran == expected


@pytest.mark.parametrize("step", ["begin", "take_frontier main", "form_pairs main", "verify", "merge_pairs main"])
async def test_a_step_that_fails_for_good_fails_the_consolidation(step: str, client: Client) -> None:
    dream = ScriptedDream(pairs=1, failing={step: "model_refused"})
    with pytest.raises(WorkflowFailureError) as caught:
        await dreamt(client, dream, ref())
    assert isinstance(caught.value.cause, ApplicationError)
    assert [(end.step, end.reason, end.cancelled) for end in dream.ends] == [(step.split()[0], "model_refused", False)]


@pytest.mark.parametrize("step", ["take_frontier main", "verify", "merge_pairs main"])
async def test_a_round_can_be_cancelled_in_the_middle(step: str, client: Client) -> None:
    dream = ScriptedDream(pairs=20, hanging=(step,))
    async with working(client, dream) as prefix:
        handle = await client.start_workflow(
            DreamWorkflow.run,
            DreamRequest(consolidation=ref(), prefix=prefix),
            id=f"{prefix}/d",
            task_queue=queue(prefix, WORKFLOW_QUEUE),
        )
        await dream.until(lambda: step in dream.ran)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError) as caught:
            await handle.result()
    assert isinstance(caught.value.cause, CancelledError)
    assert [(end.cancelled, end.reason) for end in dream.ends] == [(True, "cancelled")]


async def queued(client: Client, dream: ScriptedDream, steps: Scripted, ends: int) -> None:
    """Run the user's queue until so many consolidations were ended."""
    async with working(client, dream, steps) as prefix:
        handle = await client.start_workflow(
            UserQueueWorkflow.run,
            UserQueueRequest(user_id="u", prefix=prefix),
            id=f"{prefix}/q",
            task_queue=queue(prefix, WORKFLOW_QUEUE),
        )
        await dream.until(lambda: len(dream.ends) >= ends)
        await handle.terminate("the end of the test")


async def test_two_rounds_of_a_user_run_one_after_the_other(client: Client) -> None:
    dream = ScriptedDream()
    heads = [QueueHead(consolidation=ref(number)) for number in (1, 2)]
    await queued(client, dream, Scripted(heads=heads), ends=2)
    assert [end.consolidation.consolidation_id for end in dream.ends] == [UUID(int=1), UUID(int=2)]
    assert dream.ran == ["begin", "index_names", *MAIN] * 2


async def test_a_hung_round_is_ended_and_the_next_one_runs(client: Client) -> None:
    dream = ScriptedDream(hanging=("merge_pairs main",))
    heads = [QueueHead(consolidation=ref(1, timeout_seconds=2)), QueueHead(consolidation=ref(2, mode=Mode.UNDO))]
    await queued(client, dream, Scripted(heads=heads), ends=2)
    assert [(end.consolidation.consolidation_id.int, end.reason) for end in dream.ends] == [(1, "timed_out"), (2, "")]


async def test_a_failed_round_does_not_hold_up_the_queue(client: Client) -> None:
    dream = ScriptedDream(failing={"form_pairs main": "graph_unavailable"})
    heads = [QueueHead(consolidation=ref(1)), QueueHead(consolidation=ref(2, mode=Mode.UNDO))]
    await queued(client, dream, Scripted(heads=heads), ends=3)
    assert dream.ran[-1] == "by_hand"
    assert [end.reason for end in dream.ends] == ["graph_unavailable", "dream_ended", ""]


async def test_rounds_go_between_the_chunks_of_a_batch(client: Client) -> None:
    dream = ScriptedDream(plans={1: ref(7)})
    steps = Scripted()
    async with working(client, dream, steps) as prefix:
        await client.execute_workflow(
            IndexWorkflow.run,
            IndexRequest(
                job=JobRef(user_id="u", job_id=UUID(int=3), request_id="r"),
                prefix=prefix,
                chunks=3,
                batch_id=UUID(int=9),
            ),
            id=f"{prefix}/x",
            task_queue=queue(prefix, WORKFLOW_QUEUE),
        )
    assert steps.ran == [f"{step} {n}" for n in range(3) for step in ("canonicalize", "upsert")] + ["finish -1"]
    assert dream.ran == ["plan_round 0", "plan_round 1", "begin", "index_names", *MAIN, "plan_round 2"]


async def test_a_batch_asks_for_its_final_round_once_all_inputs_have_ended(client: Client) -> None:
    steps = [BatchStep(jobs=3, ended=0), BatchStep(jobs=3, ended=2), BatchStep(jobs=3, ended=3)]
    dream = ScriptedDream(batch=steps)
    async with working(client, dream) as prefix:
        done = await client.execute_workflow(
            BatchWorkflow.run,
            BatchRequest(user_id="u", batch_id=UUID(int=1), prefix=prefix),
            id=f"{prefix}/b",
            task_queue=queue(prefix, WORKFLOW_QUEUE),
        )
    assert done == BatchStep(jobs=3, ended=3)
    assert dream.ran == ["advance", "advance", "advance", "finish_batch"]


async def test_a_long_batch_goes_on_as_new_and_finishes_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after some thousands of looks, here after each."""
    monkeypatch.setattr(workflow.Info, "is_continue_as_new_suggested", lambda _info: True)  # not seen by a sandbox
    dream = ScriptedDream(batch=[BatchStep(jobs=3, ended=n) for n in range(4)])
    async with working(client, dream, workflow_runner=UnsandboxedWorkflowRunner()) as prefix:
        handle = await client.start_workflow(
            BatchWorkflow.run,
            BatchRequest(user_id="u", batch_id=UUID(int=1), prefix=prefix),
            id=f"{prefix}/b",
            task_queue=queue(prefix, WORKFLOW_QUEUE),
        )
        assert await handle.result() == BatchStep(jobs=3, ended=3)
        assert (await handle.describe()).run_id != handle.first_execution_run_id
    assert dream.ran == ["advance"] * 4 + ["finish_batch"]


def decision(number: int = 1) -> PairDecision:
    return PairDecision(user_id="u", consolidation_id=UUID(int=1), pair_id=UUID(int=number), approve=True, actor="ana")


async def test_a_review_takes_decisions_until_none_is_missing(client: Client) -> None:
    dream = ScriptedDream(pending=2)
    async with working(client, dream) as prefix:
        handle = await client.start_workflow(
            ReviewWorkflow.run,
            ReviewRequest(consolidation=ref(), prefix=prefix),
            id=f"{prefix}/r",
            task_queue=queue(prefix, WORKFLOW_QUEUE),
        )
        first = await handle.execute_update(ReviewWorkflow.decide, decision(1))
        assert (first.pending, (await handle.describe()).status) == (1, 1)
        assert (await handle.execute_update(ReviewWorkflow.decide, decision(2))).pending == 0
        await asyncio.wait_for(handle.result(), timeout=30)


async def test_a_review_that_nobody_answers_ends_and_decides_nothing(client: Client) -> None:
    dream = ScriptedDream(pending=1)
    async with working(client, dream) as prefix:
        await client.execute_workflow(
            ReviewWorkflow.run,
            ReviewRequest(consolidation=ref(), prefix=prefix, wait_seconds=1),
            id=f"{prefix}/r",
            task_queue=queue(prefix, WORKFLOW_QUEUE),
        )
    assert dream.ran == []


async def test_a_decision_that_no_worker_takes_is_not_waited_for(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    starter = start.TemporalStarter(client, prefix="no-worker")
    asked = new_round(review=True)
    review = Consolidation(
        **asked.model_dump(), id=UUID(int=1), sequence=1, after_job=0, state=ConsolidationState.REVIEW, accepted_at=NOW
    )
    monkeypatch.setattr(start, "DECISION_SECONDS", 1.0)
    with pytest.raises(Unavailable, match="no worker"):
        await starter.decide(review, decision())
    monkeypatch.setattr(start, "DECISION_SECONDS", 60.0)
    asking = asyncio.create_task(starter.decide(review, decision()))
    await asyncio.sleep(0.5)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_a_refused_decision_is_told_and_the_review_goes_on(client: Client) -> None:
    dream = ScriptedDream(pending=1, failing={"decide": "merge_conflict"})
    async with working(client, dream) as prefix:
        handle = await client.start_workflow(
            ReviewWorkflow.run,
            ReviewRequest(consolidation=ref(), prefix=prefix),
            id=f"{prefix}/r",
            task_queue=queue(prefix, WORKFLOW_QUEUE),
        )
        with pytest.raises(WorkflowUpdateFailedError) as caught:
            await handle.execute_update(ReviewWorkflow.decide, decision())
        assert isinstance(caught.value.cause, ApplicationError)
        assert caught.value.cause.type == "merge_conflict"
        assert (await handle.describe()).status == 1
        await handle.terminate("the end of the test")
