"""Times as files write them: ISO 8601, a date, seconds or milliseconds since 1970, or the date line of an e-mail."""

from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Annotated

from pydantic import BeforeValidator, TypeAdapter, ValidationError

EXPECTED_TIME = "a time such as 2025-03-08T10:05:00+01:00, 2025-03-08 or seconds since 1970"

_ISO_OR_EPOCH: TypeAdapter[datetime] = TypeAdapter(datetime)


def moment(value: object) -> datetime:
    """A time, naive if the value names no zone. Raises ValueError, also for a number that is no plausible time."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | datetime):
        raise ValueError(f"not {EXPECTED_TIME}")
    value = value.strip() if isinstance(value, str) else value
    try:
        return _ISO_OR_EPOCH.validate_python(value)
    except ValidationError:
        if not isinstance(value, str):
            raise ValueError(f"not {EXPECTED_TIME}") from None
    return _mail_date(value)


def _mail_date(value: str) -> datetime:
    try:
        return parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise ValueError(f"not {EXPECTED_TIME}") from error


Moment = Annotated[datetime, BeforeValidator(moment)]
"""A pydantic field that accepts every form above."""
