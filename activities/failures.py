"""The edge of every activity: a heartbeat while it works, and failures that say their type and nothing else.

The sole home of `non_retryable`. A Temporal failure is stored in clear for as long as the history lives, with its whole
chain of causes, so nothing but the type and the message of our own errors gets into it (invariant 7): the chain is
cut, and
an unforeseen exception is reported by its class alone and logged with its stack, without its text.
"""

import asyncio
import functools
import logging
import traceback
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from temporalio import activity
from temporalio.exceptions import ApplicationError

from domain.errors import GraphUnavailable, ReverieError

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")

BEAT_SECONDS = 2.0
"""Interval of heartbeats; a few fit into the policies' heartbeat timeout."""

GRAPH_ATTEMPTS = 3
"""Attempts on a broken graph: the evidence is safe and a retry of the job is cheap, so the user's queue does not wait
long."""

logger = logging.getLogger(__name__)


def typed(
    step: Callable[Concatenate[S, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Keep a step's heartbeat going and make it fail with a typed ApplicationError; cancellation passes."""

    @functools.wraps(step)
    async def wrapped(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            async with _beating():
                return await step(self, *args, **kwargs)
        except ReverieError as error:
            raise failure(error) from None
        except Exception as error:  # noqa: BLE001  (an activity's edge)
            frames = "".join(traceback.format_tb(error.__traceback__))
            logger.error("unforeseen %s in step %s\n%s", type(error).__name__, step.__name__, frames)
            raise ApplicationError(f"unforeseen {type(error).__name__}", type="internal") from None

    return cast(Callable[Concatenate[S, P], Coroutine[Any, Any, R]], wrapped)


@asynccontextmanager
async def _beating() -> AsyncIterator[None]:
    beat = asyncio.create_task(_beat())
    try:
        yield
    finally:
        beat.cancel()
        with suppress(asyncio.CancelledError):
            await beat


async def _beat() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(BEAT_SECONDS)


def failure(error: ReverieError) -> ApplicationError:
    """The Temporal failure of a domain error; a Retry-After becomes the delay of the next attempt."""
    delay = timedelta(seconds=error.retry_after) if error.retryable and error.retry_after else None
    spent = isinstance(error, GraphUnavailable) and activity.info().attempt >= GRAPH_ATTEMPTS
    return ApplicationError(
        error.message, type=error.type, non_retryable=spent or not error.retryable, next_retry_delay=delay
    )
