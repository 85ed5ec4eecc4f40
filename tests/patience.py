"""Waiting for what comes about by itself."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

PATIENCE_SECONDS = 60.0
"""What takes longer does not come."""
POLL_SECONDS = 0.1

T = TypeVar("T")


async def eventually(look: Callable[[], Awaitable[T]], holds: Callable[[T], bool]) -> T:
    """What is seen once it is as it should be; fails when it does not become so."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds(seen := await look()):
        assert time.monotonic() < deadline, f"still {seen!r} after {PATIENCE_SECONDS} s"
        await asyncio.sleep(POLL_SECONDS)
    return seen
