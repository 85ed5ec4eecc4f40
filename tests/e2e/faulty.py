"""A model that fails on purpose, over a real one."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeVar

from domain.errors import ModelError
from domain.memory import Extraction, Frozen
from domain.model_calls import (
    CanonicalizeAnswer,
    CanonicalizeRequest,
    ExtractRequest,
    Purpose,
    RepairRequest,
    Reply,
    RouteAnswer,
    RouteRequest,
    SameAnswer,
    SameRequest,
    WriteAnswer,
    WriteRequest,
)
from domain.ports import MemoryModel

Q = TypeVar("Q", bound=Frozen)
A = TypeVar("A", bound=Frozen)


class FaultyModel:
    """Fails the first `times` calls of one purpose, then answers as the model under it; counts what it answered."""

    def __init__(self, model: MemoryModel, *, purpose: Purpose, times: int, error: Callable[[], ModelError]) -> None:
        self._model = model
        self._purpose = purpose
        self.left = times
        self._error = error
        self.answered: Counter[Purpose] = Counter()
        self.failed = 0

    @property
    def name(self) -> str:
        return self._model.name

    async def route(self, request: RouteRequest) -> Reply[RouteAnswer]:
        return await self._call(Purpose.ROUTE, self._model.route, request)

    async def write(self, request: WriteRequest) -> Reply[WriteAnswer]:
        return await self._call(Purpose.WRITE, self._model.write, request)

    async def extract(self, request: ExtractRequest) -> Reply[Extraction]:
        return await self._call(Purpose.EXTRACT, self._model.extract, request)

    async def repair(self, request: RepairRequest) -> Reply[Extraction]:
        return await self._call(Purpose.REPAIR, self._model.repair, request)

    async def canonicalize(self, request: CanonicalizeRequest) -> Reply[CanonicalizeAnswer]:
        return await self._call(Purpose.CANONICALIZE, self._model.canonicalize, request)

    async def same(self, request: SameRequest) -> Reply[SameAnswer]:
        return await self._call(Purpose.SAME, self._model.same, request)

    async def _call(self, purpose: Purpose, method: Callable[[Q], Awaitable[Reply[A]]], request: Q) -> Reply[A]:
        if purpose is self._purpose and self.left > 0:
            self.left -= 1
            self.failed += 1
            raise self._error()
        self.answered[purpose] += 1
        return await method(request)
