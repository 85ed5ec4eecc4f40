"""The order of the steps and what becomes of their failures, with scripted activities on a real server."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.exceptions import ApplicationError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkflowRunner
from temporalio.workflow import NondeterminismError

from domain.jobs import Job, JobState
from domain.memory import InputForm, MemoryKind
from domain.messages import IndexRequest, IngestRequest, JobOutcome, JobRef, QueueHead, UserQueueRequest
from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from infra.run.worker import WORKFLOWS, runner
from tests.workflow.scripted import Scripted
from workflows import user_queue
from workflows.index import IndexWorkflow
from workflows.ingest import IngestWorkflow
from workflows.policies import CHUNKS_A_RUN, DATABASE_QUEUE, GRAPH_QUEUE, MODEL_QUEUE, WORKFLOW_QUEUE, queue
from workflows.start import TemporalStarter
from workflows.user_queue import UserQueueWorkflow

_numbers = itertools.count(1)


def _job(number: int = 1) -> JobRef:
    return JobRef(user_id="u", job_id=UUID(int=number), request_id=f"r{number}")


@pytest.fixture
async def client(temporal_server: EmbeddedTemporal) -> Client:
    return await Client.connect(temporal_server.address, namespace=NAMESPACE, data_converter=pydantic_data_converter)


@asynccontextmanager
async def _working(
    client: Client, steps: Scripted, *, cached: int = 0, workflow_runner: WorkflowRunner | None = None
) -> AsyncIterator[str]:
    """Workers over scripted steps; gives their prefix. With nothing cached every task replays the history."""
    prefix = f"wf-{os.getpid()}-{next(_numbers)}"
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(
            Worker(
                client,
                task_queue=queue(prefix, WORKFLOW_QUEUE),
                workflows=WORKFLOWS,
                workflow_runner=workflow_runner or runner(),
                max_cached_workflows=cached,
                workflow_failure_exception_types=[NondeterminismError],
            )
        )
        for name in (DATABASE_QUEUE, MODEL_QUEUE, GRAPH_QUEUE):
            worker = Worker(client, task_queue=queue(prefix, name), activities=steps.steps())
            await stack.enter_async_context(worker)
        yield prefix


async def _ingest(client: Client, steps: Scripted, *, cached: int = 0) -> JobOutcome:
    async with _working(client, steps, cached=cached) as prefix:
        return await client.execute_workflow(
            IngestWorkflow.run,
            IngestRequest(job=_job(), prefix=prefix),
            id=f"{prefix}/i",
            task_queue=queue(prefix, WORKFLOW_QUEUE),
        )


async def _index(client: Client, steps: Scripted, chunks: int) -> JobOutcome:
    async with _working(client, steps) as prefix:
        return await client.execute_workflow(
            IndexWorkflow.run,
            IndexRequest(job=_job(), prefix=prefix, chunks=chunks),
            id=f"{prefix}/x",
            task_queue=queue(prefix, WORKFLOW_QUEUE),
        )


async def test_the_vault_writes_first_and_commit_comes_before_extraction(client: Client) -> None:
    steps = Scripted(kinds=(MemoryKind.EPISODIC, MemoryKind.SEMANTIC, MemoryKind.VAULT))
    await _ingest(client, steps)
    assert steps.ran == [
        *("prepare -1", "route 0", "write vault 0", "write episodic 0", "write semantic 0"),
        *("commit 0", "extract 0", "repair 0", "enqueue -1"),
    ]


@pytest.mark.parametrize("step", ["route", "write episodic", "commit"])
async def test_a_chunk_that_is_not_written_is_noted_and_the_others_go_on(step: str, client: Client) -> None:
    steps = Scripted(chunks=3, failing={(step, 1): "model_output_invalid"})
    outcome = await _ingest(client, steps)
    assert outcome.state == "extracted"
    (failure,) = steps.chunk_failures
    assert (failure.chunk.ordinal, failure.step, failure.reason) == (1, step.split()[0], "model_output_invalid")
    assert {"commit 0", "commit 2", "extract 0", "extract 2", "enqueue -1"} <= set(steps.ran)
    assert "extract 1" not in steps.ran


async def test_extraction_is_fail_soft(client: Client) -> None:
    steps = Scripted(failing={("extract", 0): "model_refused"})
    await _ingest(client, steps)
    assert [(one.step, one.reason) for one in steps.index_failures] == [("extract", "model_refused")]
    assert steps.chunk_failures == []
    assert steps.ran[-1] == "enqueue -1"


async def test_a_job_that_can_not_start_ends_as_failed(client: Client) -> None:
    steps = Scripted(failing={("prepare", -1): "invalid_input"})
    with pytest.raises(WorkflowFailureError) as caught:
        await _ingest(client, steps)
    assert isinstance(caught.value.cause, ApplicationError)
    assert caught.value.cause.type == "invalid_input"
    assert [(one.reason, one.cancelled) for one in steps.job_failures] == [("invalid_input", False)]


async def test_a_long_input_continues_as_new(client: Client) -> None:
    chunks = CHUNKS_A_RUN + 3
    steps = Scripted(chunks=chunks, kinds=())
    await _ingest(client, steps, cached=10)
    assert steps.ran.count("prepare -1") == 1
    assert sorted(one for one in steps.ran if one.startswith("commit")) == sorted(f"commit {n}" for n in range(chunks))


async def test_chunks_reach_the_graph_in_order(client: Client) -> None:
    steps = Scripted()
    await _index(client, steps, 3)
    assert steps.ran == [f"{step} {n}" for n in range(3) for step in ("canonicalize", "upsert")] + ["finish -1"]


async def test_a_broken_graph_is_tried_once_an_input(client: Client) -> None:
    steps = Scripted(failing={("canonicalize", 0): "graph_unavailable"})
    await _index(client, steps, 3)
    assert steps.ran == ["canonicalize 0", "finish -1"]
    assert {(one.chunk.ordinal, one.reason) for one in steps.index_failures} == {
        (chunk, "graph_unavailable") for chunk in range(3)
    }


async def test_a_chunk_that_can_not_be_canonicalized_does_not_hold_up_the_next(client: Client) -> None:
    steps = Scripted(failing={("canonicalize", 0): "model_refused"})
    await _index(client, steps, 2)
    assert steps.ran == ["canonicalize 0", "upsert 0", "canonicalize 1", "upsert 1", "finish -1"]
    assert [(one.chunk.ordinal, one.step) for one in steps.index_failures] == [(0, "canonicalize")]


async def test_the_queue_runs_ready_inputs_one_after_another(client: Client) -> None:
    heads = [QueueHead(job=_job(n), ready=True, chunks=1) for n in (1, 2, 3)]
    steps = Scripted(heads=heads, failing={("finish", -1): "internal"})
    async with _working(client, steps) as prefix:
        handle = await client.start_workflow(
            UserQueueWorkflow.run,
            UserQueueRequest(user_id="u", prefix=prefix),
            id=f"{prefix}/q",
            task_queue=queue(prefix, WORKFLOW_QUEUE),
        )
        await asyncio.wait_for(steps.all_failed(len(heads)), timeout=60)
        await handle.terminate()
    assert [one.job.request_id for one in steps.job_failures] == ["r1", "r2", "r3"]
    assert {one.reason for one in steps.job_failures} == {"index_ended"}


async def test_wake_ups_do_not_put_off_the_look_at_the_heads_workflow(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep wakes the queue of an old job more often than the queue looks after its head."""
    monkeypatch.setattr(user_queue, "QUEUE_CHECK", timedelta(seconds=1))  # not seen by a sandbox
    steps = Scripted(heads=[QueueHead(job=_job(), ready=False)] * 1000)
    async with _working(client, steps, cached=10, workflow_runner=UnsandboxedWorkflowRunner()) as prefix:
        handle = await client.start_workflow(
            UserQueueWorkflow.run,
            UserQueueRequest(user_id="u", prefix=prefix),
            id=f"{prefix}/q",
            task_queue=queue(prefix, WORKFLOW_QUEUE),
        )
        for _ in range(100):
            await handle.signal(UserQueueWorkflow.wake)
            await asyncio.sleep(0.1)
            if "check_ingest -1" in steps.ran:
                break
        await handle.terminate("the end of the test")
    assert "check_ingest -1" in steps.ran


def test_two_jobs_never_share_a_workflow(client: Client) -> None:
    """The second attempt of one request is not the first of another that ends in its number."""
    starter = TemporalStarter(client, prefix="p")
    first = Job(
        id=UUID(int=1), user_id="u", request_id="r/2", sequence=1, state=JobState.ACCEPTED, session_id="s",
        form=InputForm.CONVERSATION, messages=1, accepted_at=datetime(2024, 6, 1, tzinfo=UTC),
    )  # fmt: skip
    second = first.model_copy(update={"request_id": "r", "attempt": 2})
    assert starter.ingest_id(first) != starter.ingest_id(second)
