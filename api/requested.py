"""Asking for a consolidation, for the routes and commands that do."""

from collections.abc import Sequence
from uuid import UUID

from api.services import Services
from domain.dream.rounds import Consolidation, ConsolidationState, Mode, NewConsolidation, Requested, consolidation_id
from domain.errors import NotFound


async def request(services: Services, new: NewConsolidation) -> Requested:
    """Store it and wake the user's queue. The anchors that a merge or a split names are the user's: raises NotFound
    before anything is stored. A request that was stored before is not checked again, for its merge may be done.

    Raises what `Dreamer.request` does, too.
    """
    if new.mode in (Mode.MERGE, Mode.SPLIT) and not await _stored(services, new):
        await _check_anchors(services, new.user_id, [each for each in (new.target, new.absorbed) if each is not None])
    return await services.dreamer.request(new)


def settled(consolidation: Consolidation) -> bool:
    """True once nothing happens without a person: it has ended, or merges wait for a decision."""
    return consolidation.ended or consolidation.state is ConsolidationState.REVIEW


async def _stored(services: Services, new: NewConsolidation) -> bool:
    try:
        await services.consolidations.consolidation(new.user_id, consolidation_id(new.user_id, new.request_id))
    except NotFound:
        return False
    return True


async def _check_anchors(services: Services, user_id: str, named: Sequence[UUID]) -> None:
    found = {anchor.id for anchor in await services.graph.anchors(user_id, named)}
    for anchor in named:
        if anchor not in found:
            raise NotFound(f"no anchor {anchor}")
