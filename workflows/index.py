"""The graph's part of one input: canonicalize and upsert each chunk, in order (Algorithm 1, lines 6-10).

Run by the user's queue, one at a time, so that inputs reach the graph in arrival order.
"""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.signatures import GraphSteps, JobSteps
    from domain.messages import ChunkTask, IndexRequest, JobOutcome
    from workflows.policies import CHUNKS_A_RUN
    from workflows.steps import attempt, policies, stage


@workflow.defn
class IndexWorkflow:
    """A chunk that can't be indexed leaves its records marked and does not keep the next one waiting."""

    @workflow.run
    async def run(self, request: IndexRequest) -> JobOutcome:
        """Ends the job; its outcome counts what is in the graph and what is not."""
        options = policies()
        if request.next_chunk == 0:
            stage("indexing")
        until = min(request.next_chunk + CHUNKS_A_RUN, request.chunks)
        for ordinal in range(request.next_chunk, until):
            task = ChunkTask(job=request.job, ordinal=ordinal)
            await attempt(GraphSteps.canonicalize, task, options.model, chunk=task, note=JobSteps.fail_index)
            await attempt(GraphSteps.upsert, task, options.graph, chunk=task, note=JobSteps.fail_index)
        if until < request.chunks:
            workflow.continue_as_new(request.model_copy(update={"next_chunk": until}))
        outcome = await workflow.execute_activity_method(JobSteps.finish, request.job, **options.bookkeeping)
        stage(outcome.state)
        return outcome
