"""Answers that a caller waits for, within bounds."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from fastapi import Query

MAX_WAIT = 60
"""Longest a request waits, in seconds."""

POLL_SECONDS = 0.25

T = TypeVar("T")

Wait = Annotated[float, Query(ge=0, le=MAX_WAIT, description="Seconds to wait for the end.")]


async def waited_for(seen: T, look: Callable[[], Awaitable[T]], *, until: Callable[[T], bool], seconds: float) -> T:
    """What `look` shows once `until` holds of it, or as it is after so many seconds; `seen` is what it is now."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not until(seen) and loop.time() < deadline:
        await asyncio.sleep(min(POLL_SECONDS, max(deadline - loop.time(), 0)))
        seen = await look()
    return seen
