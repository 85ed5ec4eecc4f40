"""Rounds of AutoDream over an ingested conversation, through the user's queue like anybody's."""

import asyncio
import time
from collections.abc import Sequence

from api.services import Services
from domain.dream.rounds import Consolidation, ConsolidationState, Mode, NewConsolidation
from domain.errors import StoreUnavailable
from domain.graph import Merge, MergeState
from domain.memory import Anchor

PATIENCE_SECONDS = 600.0
POLL_SECONDS = 0.2
PAGE = 200
MOST_ROUNDS = 50


async def dream(services: Services, user_id: str) -> list[Consolidation]:
    """Final rounds until one has no news; each with its receipt."""
    rounds: list[Consolidation] = []
    while not rounds or (rounds[-1].receipt.frontier and len(rounds) < MOST_ROUNDS):
        new = NewConsolidation(user_id=user_id, request_id=f"round-{len(rounds)}", mode=Mode.FINAL, actor="eval")
        rounds.append(await settled(services, (await services.dreamer.request(new)).consolidation))
    return rounds


async def settled(services: Services, consolidation: Consolidation) -> Consolidation:
    """The consolidation once it has ended. Raises StoreUnavailable if it failed, or takes too long."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not consolidation.ended and time.monotonic() < deadline:
        await asyncio.sleep(POLL_SECONDS)
        consolidation = await services.consolidations.consolidation(consolidation.user_id, consolidation.id)
    if consolidation.state is not ConsolidationState.COMPLETED:
        raise StoreUnavailable(f"consolidation {consolidation.id} is {consolidation.state}: {consolidation.reason}")
    return consolidation


async def anchors_of(services: Services, user_id: str) -> list[Anchor]:
    """Every anchor of a user."""
    found: list[Anchor] = []
    while page := await services.graph.anchor_page(user_id, after=found[-1].id if found else None, limit=PAGE):
        found += page
    return found


async def merges_of(services: Services, user_id: str, rounds: Sequence[Consolidation]) -> list[Merge]:
    """The merges of rounds that stand."""
    found: list[Merge] = []
    for one in rounds:
        page = await services.graph.merges(user_id, consolidation=one.id, limit=PAGE)
        while page:
            found += page
            page = await services.graph.merges(user_id, consolidation=one.id, after=page[-1].id, limit=PAGE)
    return [merge for merge in found if merge.state is MergeState.APPLIED]
