"""The graph's part of one input: canonicalize and upsert each chunk, in order (Algorithm 1, lines 6-10).

Run by the user's queue, one at a time, so that inputs reach the graph in arrival order.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from temporalio import workflow
from temporalio.workflow import ActivityConfig

with workflow.unsafe.imports_passed_through():
    from activities.signatures import ConsolidationSteps, GraphSteps, JobSteps
    from domain.errors import GraphUnavailable, StoreUnavailable
    from domain.messages import ChunkTask, IndexRequest, JobOutcome, StepCount, StepFailure
    from workflows.policies import CHUNKS_A_RUN, Policies
    from workflows.steps import attempt, stage
    from workflows.turns import take_turn


Step = Callable[[Any, ChunkTask], Awaitable[StepCount]]

BROKEN = (GraphUnavailable.type, StoreUnavailable.type)
"""Reasons that hold for every chunk alike: the rest is given up at once instead of waiting through its retries."""


@workflow.defn
class IndexWorkflow:
    """A chunk that can't be indexed leaves its records marked and does not keep the next one waiting."""

    @workflow.init
    def __init__(self, request: IndexRequest) -> None:
        self._options = Policies(request.prefix)
        self._broken = ""

    @workflow.run
    async def run(self, request: IndexRequest) -> JobOutcome:
        """Ends the job; its outcome counts what is in the graph and what is not."""
        if request.next_chunk == 0:
            stage("indexing")
        until = min(request.next_chunk + CHUNKS_A_RUN, request.chunks)
        for ordinal in range(request.next_chunk, until):
            task = ChunkTask(job=request.job, ordinal=ordinal)
            await self._chunk(task)
            if request.batch_id is not None:
                await self._round_due(task, request.prefix)
        if until < request.chunks:
            workflow.continue_as_new(request.model_copy(update={"next_chunk": until}))
        outcome = await workflow.execute_activity_method(JobSteps.finish, request.job, **self._options.bookkeeping)
        stage(outcome.state)
        return outcome

    async def _chunk(self, task: ChunkTask) -> None:
        await self._step(GraphSteps.canonicalize, task, self._options.graph)
        await self._step(GraphSteps.upsert, task, self._options.graph)

    async def _round_due(self, task: ChunkTask, prefix: str) -> None:
        """AutoDream after every fifth chunk of a batch (paper A.5)."""
        ref = await workflow.execute_activity_method(ConsolidationSteps.plan_round, task, **self._options.bookkeeping)
        if ref is not None:
            await take_turn(ref, prefix)

    async def _step(self, step: Step, task: ChunkTask, options: ActivityConfig) -> None:
        note, noting = JobSteps.fail_index, self._options.bookkeeping
        if self._broken:
            failure = StepFailure(chunk=task, step=step.__name__, reason=self._broken)
            await workflow.execute_activity_method(note, failure, **noting)
            return
        result = await attempt(step, task, options, chunk=task, note=note, noting=noting)
        if isinstance(result, StepFailure) and result.reason in BROKEN:
            self._broken = result.reason
