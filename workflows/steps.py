"""How a workflow runs a step: the step's failure becomes a note in the evidence plane, never the end of the
workflow."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception
from temporalio.workflow import ActivityConfig

from domain.messages import ChunkTask, JobRef, StepFailure
from workflows.policies import KIND, REQUEST, STAGE, USER

T = TypeVar("T")
R = TypeVar("R")


def attributes(job: JobRef, kind: str) -> TypedSearchAttributes:
    """What operators search the workflows of a job by."""
    return told_by(kind, user_id=job.user_id, request=job.request_id)


def told_by(kind: str, *, user_id: str | None = None, request: str = "") -> TypedSearchAttributes:
    """What operators search workflows by."""
    pairs = [SearchAttributePair(KIND, kind)]
    if user_id is not None:
        pairs.append(SearchAttributePair(USER, user_id))
    if request:
        pairs.append(SearchAttributePair(REQUEST, request))
    return TypedSearchAttributes(pairs)


def stage(name: str) -> None:
    """Show operators how far the workflow is."""
    workflow.upsert_search_attributes([STAGE.value_set(name)])


def reason_of(error: BaseException) -> str:
    """The type of what made a step fail, for its note."""
    cause = error.__cause__ if isinstance(error, ActivityError) else error
    if isinstance(cause, ApplicationError):
        return cause.type or "internal"
    return type(cause).__name__ if cause is not None else type(error).__name__


def detail_of(error: BaseException) -> str:
    """What our own error says, which holds no memory text (`activities.failures`)."""
    cause = error.__cause__ if isinstance(error, ActivityError) else error
    return cause.message if isinstance(cause, ApplicationError) else ""


def heed_cancellation() -> None:
    """Raise CancelledError if the workflow was cancelled: a step that ended well all the same swallows the request."""
    if workflow.cancellation_reason() is not None:
        raise asyncio.CancelledError


async def attempt(
    step: Callable[[Any, T], Awaitable[R]],
    task: T,
    options: ActivityConfig,
    *,
    chunk: ChunkTask,
    note: Callable[[Any, StepFailure], Awaitable[None]],
    noting: ActivityConfig,
) -> R | StepFailure:
    """Run a chunk's step; when its retries are spent, have `note` keep why and return that. Cancellation passes."""
    try:
        result = await workflow.execute_activity_method(step, task, **options)
        heed_cancellation()
        return result
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise
        failure = StepFailure(chunk=chunk, step=step.__name__, reason=reason_of(error))
    await workflow.execute_activity_method(note, failure, **noting)
    return failure
