"""The worker process: `python -m infra.run.worker`. Any number may run; each takes steps from every queue."""

import asyncio
import logging
import signal
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.consolidating import Consolidating
from activities.indexing import Indexing
from activities.jobkeeping import JobKeeping
from activities.merging import Merging
from activities.recorded import RecordedCalls
from activities.rounds import Rounds
from activities.writing import Writing
from api.services import Services
from domain.errors import ReverieError
from domain.jobs import JobState
from domain.ports import ConsolidationStore, JobStore, MemoryModel, WorkflowStarter
from infra.run.bootstrap import connect
from infra.run.models import make_model
from infra.settings import Settings
from infra.telemetry import configure_logging
from infra.temporal import connect as connect_temporal
from workflows.batch import BatchWorkflow
from workflows.dream import DreamWorkflow
from workflows.index import IndexWorkflow
from workflows.ingest import IngestWorkflow
from workflows.policies import DATABASE_QUEUE, GRAPH_QUEUE, MODEL_QUEUE, WORKFLOW_QUEUE, queue
from workflows.review import ReviewWorkflow
from workflows.scheduled import ScheduledWorkflow
from workflows.start import TemporalStarter
from workflows.user_queue import UserQueueWorkflow

WORKFLOWS = (
    IngestWorkflow, IndexWorkflow, UserQueueWorkflow, DreamWorkflow, ReviewWorkflow, BatchWorkflow, ScheduledWorkflow,
)  # fmt: skip
PASSED_THROUGH = ("domain", "activities", "workflows", "pydantic", "pydantic_core", "annotated_types")
"""Modules that workflows share with the process: loaded once, so that files changed under a running worker change
nothing."""

SWEEP_SECONDS = 5.0
SWEEP_AGE = timedelta(seconds=10)
"""A job this old whose workflow was never started, or whose queue sleeps, is looked after."""

GRACE = timedelta(seconds=10)
DATABASE_STEPS = 8
GRAPH_STEPS = 4
"""Users whose graph one process changes at a time."""

logger = logging.getLogger(__name__)


def runner() -> SandboxedWorkflowRunner:
    """The sandbox workflows run in."""
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))


def workers(client: Client, services: Services, model: MemoryModel, starter: WorkflowStarter) -> Sequence[Worker]:
    """The workers of a process: workflow code, and the steps by what they use: database, model, graph."""
    settings = services.settings
    calls = RecordedCalls(services.calls, services.embedder, _now)
    writing = Writing(
        services.jobs,
        services.records,
        model,
        calls,
        chunk_characters=settings.chunk_characters,
        chunk_turns=settings.chunk_turns,
    )
    indexing = Indexing(services.jobs, services.records, services.graph, model, calls)
    keeping = JobKeeping(services.jobs, services.records, starter, _now)
    rounds = Rounds(services.consolidations, services.records, services.graph, model, calls, _now)
    merging = Merging(services.consolidations, services.records, services.graph, calls, _now)
    consolidating = Consolidating(services.consolidations, services.jobs, services.graph, starter, _now)
    on_database = [
        writing.prepare, writing.commit, keeping.enqueue, keeping.queue_head, keeping.check_ingest,
        keeping.fail_chunk, keeping.fail_index, keeping.fail_job, keeping.finish, rounds.begin, consolidating.end,
        consolidating.decide, consolidating.plan_round, consolidating.advance, consolidating.finish_batch,
        consolidating.frontier_users, consolidating.request_round, consolidating.look_at_round,
    ]  # fmt: skip
    asking = [writing.route, writing.write, indexing.extract, indexing.repair, rounds.verify]
    on_graph = [
        indexing.canonicalize, indexing.upsert, rounds.index_names, rounds.take_frontier, rounds.form_pairs,
        merging.merge_pairs, merging.merge_approved, merging.by_hand,
    ]  # fmt: skip
    prefix = settings.task_queue_prefix
    return (
        Worker(
            client, task_queue=queue(prefix, WORKFLOW_QUEUE), workflows=WORKFLOWS, workflow_runner=runner(),
            graceful_shutdown_timeout=GRACE,
        ),
        _steps(client, queue(prefix, DATABASE_QUEUE), on_database, DATABASE_STEPS),
        _steps(client, queue(prefix, MODEL_QUEUE), asking, settings.model_concurrency, settings.model_calls_per_second),
        _steps(client, queue(prefix, GRAPH_QUEUE), on_graph, GRAPH_STEPS),
    )  # fmt: skip


def _steps(
    client: Client, task_queue: str, activities: Sequence[Any], at_a_time: int, per_second: float | None = None
) -> Worker:
    return Worker(
        client,
        task_queue=task_queue,
        activities=activities,
        max_concurrent_activities=at_a_time,
        max_task_queue_activities_per_second=per_second,
        graceful_shutdown_timeout=GRACE,
    )


def _now() -> datetime:
    return datetime.now(UTC)


async def sweep(jobs: JobStore, consolidations: ConsolidationStore, starter: WorkflowStarter) -> None:
    """Start what was accepted while Temporal could not be reached, and wake the queues of users with open work."""
    before = _now() - SWEEP_AGE
    stale = await jobs.open_jobs(before=before)
    waiting = [job for job in stale if job.state is JobState.ACCEPTED]
    for job in waiting:
        if job.batch_id is None:
            await starter.start_ingest(job)
    for user_id, batch_id in sorted({(job.user_id, job.batch_id) for job in waiting if job.batch_id is not None}):
        await starter.start_batch(user_id, batch_id)
    users = {job.user_id for job in stale} | set(await consolidations.waiting_users(before=before))
    for user_id in sorted(users):
        await starter.wake_queue(user_id)


async def _sweeping(jobs: JobStore, consolidations: ConsolidationStore, starter: WorkflowStarter) -> None:
    while True:
        try:
            await sweep(jobs, consolidations, starter)
        except ReverieError as error:
            logger.warning("sweep put off: %s", error.message)
        await asyncio.sleep(SWEEP_SECONDS)


async def serve(settings: Settings, stop: asyncio.Event) -> None:
    """Work until told to stop, then let running steps end."""
    client = await connect_temporal(settings)
    starter = TemporalStarter(client, prefix=settings.task_queue_prefix)
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(connect(settings, client=client, migrate=True))
        model = make_model(settings)
        for worker in workers(client, services, model, starter):
            await stack.enter_async_context(worker)
        sweeping = asyncio.create_task(_sweeping(services.jobs, services.consolidations, starter))
        stack.callback(sweeping.cancel)
        logger.info("worker ready, model %s", model.name)
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({stopping, sweeping}, return_when=asyncio.FIRST_COMPLETED)
        if sweeping.done():  # only a bug ends it: better a worker that restarts than one that sweeps no more
            sweeping.result()


async def _main() -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await serve(Settings(), stop)


if __name__ == "__main__":
    configure_logging()
    asyncio.run(_main())
