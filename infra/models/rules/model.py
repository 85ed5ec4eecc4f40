"""The offline model: rules over a small English parser, deterministic, no network (platform, section 4)."""

import asyncio
import hashlib
import time
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from domain.memory import Extraction, Frozen
from domain.model_calls import (
    CanonicalizeAnswer,
    CanonicalizeRequest,
    ExtractRequest,
    RepairRequest,
    Reply,
    RouteAnswer,
    RouteRequest,
    SameAnswer,
    SameRequest,
    Usage,
    WriteAnswer,
    WriteRequest,
)
from infra.models.rules import lexicon
from infra.models.rules.canonical import renames
from infra.models.rules.extract import extract
from infra.models.rules.records import write
from infra.models.rules.repair import repair
from infra.models.rules.router import route
from infra.models.rules.same import same

NAME = "rules-1"
RULES_ID = "rules/1"
"""Stands where a prompted model names its prompt; raised with every change of the rules' answers."""

A = TypeVar("A", bound=Frozen)


class RulesModel:
    """MemoryModel by rules. No method raises on any text; the work runs in a thread."""

    @property
    def name(self) -> str:
        """Model name for the audit rows."""
        return NAME

    async def route(self, request: RouteRequest) -> Reply[RouteAnswer]:
        """Which kinds a chunk updates."""
        return await _reply(lambda: RouteAnswer(kinds=route(request.chunk)))

    async def write(self, request: WriteRequest) -> Reply[WriteAnswer]:
        """Records of one kind; the view is not consulted, since records of rules only add."""
        return await _reply(lambda: WriteAnswer(records=write(request.kind, request.chunk)))

    async def extract(self, request: ExtractRequest) -> Reply[Extraction]:
        """Entities and frames of a record."""
        return await _reply(
            lambda: extract(request.record, request.turns, timezone=request.timezone, speakers=request.speakers)
        )

    async def repair(self, request: RepairRequest) -> Reply[Extraction]:
        """Frames for the source items that none covers yet."""
        return await _reply(lambda: repair(request))

    async def canonicalize(self, request: CanonicalizeRequest) -> Reply[CanonicalizeAnswer]:
        """Only the renames that are safe."""
        return await _reply(lambda: CanonicalizeAnswer(renames=renames(request)))

    async def same(self, request: SameRequest) -> Reply[SameAnswer]:
        """Whether two anchors are one beyond doubt."""
        return await _reply(lambda: same(request))


async def _reply(work: Callable[[], A]) -> Reply[A]:
    began = time.perf_counter()
    answer = await asyncio.to_thread(work)
    latency = int((time.perf_counter() - began) * 1000)
    return Reply(
        answer=answer, usage=Usage(model=NAME, prompt_id=RULES_ID, prompt_hash=rules_hash(), latency_ms=latency)
    )


@lru_cache(maxsize=1)
def rules_hash() -> str:
    """Digest of the rules' version and of their word lists."""
    return hashlib.sha256(f"{RULES_ID}\n{lexicon.text()}".encode()).hexdigest()
