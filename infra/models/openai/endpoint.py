"""One OpenAI-compatible endpoint: the client, the limit on requests under way, and the retries of seconds inside one
call.

Layers that ask again, one a time scale: here the same request after a passing failure; in `model` a re-ask after an
invalid answer; outside, the workflow engine. The first two draw on one budget a call (`Spending`), so they never
multiply.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar

import openai
import tenacity
from pydantic import SecretStr

from domain.errors import ModelError, ModelUnavailable
from infra.models.openai.failures import failure_of

MAX_RETRIES = 2
"""Requests sent again after a passing failure, in one call: three tries at most."""

MAX_REASKS = 2
"""Requests sent again after an invalid answer, in one call."""

MAX_REQUESTS_PER_CALL = 1 + MAX_RETRIES + MAX_REASKS
"""Most HTTP requests one model call may send, whatever goes wrong."""

LONGEST_WAIT = 20.0
"""Seconds of Retry-After that are waited out here; a longer one is left to the workflow engine."""

_BACKOFF = tenacity.wait_random_exponential(multiplier=0.5, max=8)

_TALKATIVE = frozenset({"instructor", "openai", "httpx2", "httpcore2"})
"""Roots of the loggers through which prompts, outputs and addresses would pass."""

_OFF = logging.CRITICAL + 1

Sleep = Callable[[float], Awaitable[None]]
T = TypeVar("T")


class Spending:
    """What one call has sent and used so far."""

    def __init__(self) -> None:
        self.requests = 0
        self.retries = 0
        self.tokens_in = 0
        self.tokens_out = 0
        self.malformed = False
        """True if the last request failed as malformed (400, 422)."""

    def may_retry(self) -> bool:
        """True while a further request after a passing failure is allowed."""
        return self.retries < MAX_RETRIES and self.requests < MAX_REQUESTS_PER_CALL

    def retry(self) -> None:
        """Count a request that is about to be sent again."""
        self.retries += 1

    def add(self, usage: object) -> None:
        """Count the tokens of one answer, from the endpoint's `usage` object as far as it gives them."""
        self.tokens_in += _count(usage, "prompt_tokens")
        self.tokens_out += _count(usage, "completion_tokens")


def _count(usage: object, name: str) -> int:
    count = getattr(usage, name, None)
    return count if isinstance(count, int) else 0


class Endpoint:
    """Shared by the chat model and the embedder of one process."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: SecretStr,
        timeout_seconds: float,
        limit: asyncio.Semaphore,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """`limit` bounds the requests under way in this process; `sleep` waits between tries."""
        keep_text_out_of_logs()
        # Without a key the client would look for one in the environment; endpoints that need none ignore this.
        key = api_key.get_secret_value() or "none"
        self.client = openai.AsyncOpenAI(base_url=base_url, api_key=key, timeout=timeout_seconds, max_retries=0)
        self._limit = limit
        self._sleep = sleep

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def send(self, request: Callable[[], Awaitable[T]], spending: Spending) -> T:
        """Send a request, again after passing failures as far as `spending` allows. Raises ModelError without a
        cause.
        """

        async def attempt() -> T:
            return await self._once(request, spending)

        def wait(state: tenacity.RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = error.retry_after if isinstance(error, ModelError) else None
            return _BACKOFF(state) if asked is None else asked

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(_worth_a_wait),
            stop=lambda _: not spending.may_retry(),
            wait=wait,
            before_sleep=lambda _: spending.retry(),
            sleep=self._sleep,
            reraise=True,
        )
        return await retrying(attempt)

    async def _once(self, request: Callable[[], Awaitable[T]], spending: Spending) -> T:
        async with self._limit:
            spending.requests += 1
            try:
                return await request()
            except (openai.OpenAIError, ValueError) as error:  # ValueError: a 200 whose body is not JSON
                spending.malformed = isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError)
                failure = failure_of(error, attempts=spending.requests, now=datetime.now(UTC))
        # Outside the handler, so that the client's error is no context either.
        raise failure


def _worth_a_wait(error: BaseException) -> bool:
    return isinstance(error, ModelUnavailable) and (error.retry_after or 0.0) <= LONGEST_WAIT


def keep_text_out_of_logs() -> None:
    """Switch the libraries' loggers off (invariant 7): instructor logs invalid answers as errors, openai whole requests
    at debug, whatever level and handlers an operator gives the root logger.
    """
    for tree in _TALKATIVE:
        logging.getLogger(tree).setLevel(_OFF)  # also for its loggers to come
    for name in tuple(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _TALKATIVE:
            logging.getLogger(name).disabled = True
