"""What the openai client raises, told as errors of the domain.

The errors made here have no cause: the client's own carry the response body in their text and the request, with
prompt and key, as attributes, and a cause would travel into logs and workflow histories (invariant 7). Status and
type say enough.
"""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import openai

from domain.errors import ModelError, ModelRateLimited, ModelRefused, ModelUnavailable

MAX_RETRY_AFTER = 86_400.0
"""Seconds; a longer Retry-After is taken as one day."""

_PASSING_STATUS = frozenset({408, 409, 425})
"""Client-error statuses that speak of the moment, not of the request."""


def failure_of(error: Exception, *, attempts: int, now: datetime) -> ModelError:
    """The domain's error for one failed request. `attempts` counts the requests of the whole call so far."""
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, attempts=attempts, now=now)
    if isinstance(error, openai.APITimeoutError):
        return ModelUnavailable("the model endpoint did not answer in time", attempts=attempts)
    if isinstance(error, openai.APIConnectionError):
        return ModelUnavailable("the model endpoint can't be reached", attempts=attempts)
    return ModelUnavailable(f"the model endpoint's answer can't be read ({type(error).__name__})", attempts=attempts)


def _of_status(error: openai.APIStatusError, *, attempts: int, now: datetime) -> ModelError:
    status = error.status_code
    wait = seconds_to_wait(error.response.headers.get("retry-after"), now=now)
    if status == 429:
        return ModelRateLimited("the model endpoint limits the rate (429)", attempts=attempts, retry_after=wait)
    if status >= 500 or status in _PASSING_STATUS:
        return ModelUnavailable(f"the model endpoint failed ({status})", attempts=attempts, retry_after=wait)
    return ModelRefused(
        f"the model endpoint rejects the request ({status}): check its address, key and model name", attempts=attempts
    )


def seconds_to_wait(header: str | None, *, now: datetime) -> float | None:
    """Retry-After in seconds from `now`, from 0 to MAX_RETRY_AFTER; None if absent or neither a number nor a date
    (RFC 9110, 10.2.3).
    """
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        seconds = _seconds_until(header, now)
    return min(max(seconds, 0.0), MAX_RETRY_AFTER) if math.isfinite(seconds) else None


def _seconds_until(date: str, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - now).total_seconds()
