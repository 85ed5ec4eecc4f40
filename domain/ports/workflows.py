"""Starting workflows, and looking after them."""

from typing import Protocol
from uuid import UUID

from domain.dream.rounds import (
    Consolidation,
)
from domain.jobs import Job
from domain.messages import PairDecision


class WorkflowStarter(Protocol):
    """Starts and looks after workflows. Raises Unavailable when the workflow server can't be reached."""

    async def start_ingest(self, job: Job) -> None:
        """Start the ingest of a job; starting it again while it runs, or after it completed, does nothing."""

    async def ingest_open(self, job: Job) -> bool | None:
        """True while the job's ingest workflow runs, False once it closed, None if it was never started."""

    async def cancel_ingest(self, job: Job) -> None: ...

    async def wake_queue(self, user_id: str) -> None:
        """Tell the user's queue, starting it if need be, that there may be something to do."""

    async def cancel_consolidation(self, consolidation: Consolidation) -> bool:
        """Ask its workflow to end; False if none runs."""

    async def start_review(self, consolidation: Consolidation) -> None:
        """Start the workflow that waits for a person's decisions; it runs already: does nothing."""

    async def decide(self, consolidation: Consolidation, decision: PairDecision) -> None:
        """Hand a person's decision to the review's workflow, started again if it has closed; returns once it is
        stored. Raises what storing it raised."""

    async def start_batch(self, user_id: str, batch_id: UUID) -> None:
        """Start the workflow that feeds a batch's inputs to the memory; it runs already: does nothing."""
