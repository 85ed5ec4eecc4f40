"""A batch of inputs, a window at a time, so that rounds of AutoDream go between their chunks (paper 2.5, A.5)."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.signatures import ConsolidationSteps
    from domain.messages import BatchRequest, BatchStep
    from workflows.policies import BATCH_POLL, Policies
    from workflows.steps import stage


@workflow.defn
class BatchWorkflow:
    """Holds no state: which inputs have ended stands in the evidence plane. The rounds between the chunks are the
    index workflows'; the final one is asked for here."""

    @workflow.init
    def __init__(self, request: BatchRequest) -> None:
        self._options = Policies(request.prefix)

    @workflow.run
    async def run(self, request: BatchRequest) -> BatchStep:
        """Returns once every input has ended and the final round is asked for."""
        while True:
            step = await workflow.execute_activity_method(
                ConsolidationSteps.advance, request, **self._options.bookkeeping
            )
            stage(f"{step.ended} of {step.jobs}")
            if step.ended == step.jobs:
                break
            await workflow.sleep(BATCH_POLL)
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(request)
        await workflow.execute_activity_method(ConsolidationSteps.finish_batch, request, **self._options.bookkeeping)
        return step
