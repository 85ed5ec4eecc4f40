"""The rules model over one turn."""

import asyncio
from collections.abc import Callable

import pytest

from tests.unit.rules.samples import Understood, chunk, turn, understood

Understand = Callable[..., Understood]


@pytest.fixture
def understand() -> Understand:
    """What the model makes of one turn: `understand(text, at=..., speaker=...)`."""

    def run(
        text: str, *, at: str = "2023-05-25", timezone: str = "UTC", speakers: tuple[str, ...] = (), **fields: object
    ) -> Understood:
        said = turn(text, at=at, **fields)  # type: ignore[arg-type]
        return asyncio.run(understood(chunk(said, timezone=timezone, speakers=speakers)))

    return run
