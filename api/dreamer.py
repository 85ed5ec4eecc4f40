"""The one way in for a consolidation: check, store durably, wake the user's queue."""

import logging
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from activities.consolidating import let_go
from domain.dream.applying import alias_of
from domain.dream.asking import check_actor, checked
from domain.dream.rounds import (
    Consolidation,
    ConsolidationState,
    Mode,
    NewConsolidation,
    Pair,
    Receipt,
    Requested,
    consolidation_id,
)
from domain.errors import InvalidInput, MergeConflict, NotFound, Unavailable
from domain.messages import PairDecision
from domain.ports import ConsolidationStore, GraphStore, WorkflowStarter

logger = logging.getLogger(__name__)


class Dreamer:
    """What was asked for is stored before the answer is given; a queue that can't be woken now is woken later."""

    def __init__(
        self,
        consolidations: ConsolidationStore,
        graph: GraphStore,
        starter: WorkflowStarter,
        *,
        clock: Callable[[], datetime],
    ) -> None:
        self._consolidations = consolidations
        self._graph = graph
        self._starter = starter
        self._clock = clock

    async def request(self, new: NewConsolidation) -> Requested:
        """Raises before anything is stored InvalidInput, NotFound for what it names, and MergeConflict for a name that
        can't leave its anchor; RequestConflict. A request that was stored before is not checked again, for what it
        names may have gone by it."""
        now = self._clock()
        asked = checked(new, now=now)
        if not await self._stored(asked):
            await self._check_named(asked)
        requested = await self._consolidations.request(asked, now=now)
        if not requested.consolidation.ended:
            await self._wake(new.user_id)
        return requested

    async def _stored(self, asked: NewConsolidation) -> bool:
        try:
            await self._consolidations.consolidation(asked.user_id, consolidation_id(asked.user_id, asked.request_id))
        except NotFound:
            return False
        return True

    async def _check_named(self, asked: NewConsolidation) -> None:
        named = [each for each in (asked.target, asked.absorbed) if each is not None]
        if asked.mode is Mode.UNDO:
            await self._consolidations.consolidation(asked.user_id, named[0])
        elif named:
            anchors = {anchor.id: anchor for anchor in await self._graph.anchors(asked.user_id, named)}
            for each in named:
                if each not in anchors:
                    raise NotFound(f"no anchor {each}")
            if asked.mode is Mode.SPLIT:
                alias_of(anchors[named[0]], asked.name)

    async def cancel(self, user_id: str, consolidation_id: UUID) -> Consolidation:
        """Stop a consolidation; what it has merged stays, and can be undone. One that ended is left as it is."""
        found = await self._consolidations.consolidation(user_id, consolidation_id)
        if not found.ended and not await self._starter.cancel_consolidation(found):
            # it waits for its turn or for a person: no workflow could end it
            ended = await self._consolidations.end(
                found.id, ConsolidationState.CANCELLED, receipt=Receipt(), now=self._clock(), reason="cancelled"
            )
            await let_go(ended, self._consolidations, self._graph)
        return await self._consolidations.consolidation(user_id, consolidation_id)

    async def decide(
        self, user_id: str, consolidation_id: UUID, pair_id: UUID, *, approve: bool, keep: str = "", actor: str = ""
    ) -> Pair:
        """Approve or reject a merge under review; `keep` names the one of the two whose name stays.

        Raises NotFound, InvalidInput if `keep` is neither name, MergeConflict if the pair does not wait for this.
        """
        check_actor(actor)
        found = await self._consolidations.consolidation(user_id, consolidation_id)
        if found.ended:
            raise MergeConflict(f"consolidation {consolidation_id} has ended: {found.state}")
        pair = await self.pair(found, pair_id)
        decision = PairDecision(
            user_id=user_id,
            consolidation_id=found.id,
            pair_id=pair.id,
            approve=approve,
            canonical=_kept(pair, keep) if keep else None,
            actor=actor,
        )
        await self._starter.decide(found, decision)
        return await self.pair(found, pair_id)

    async def pair(self, consolidation: Consolidation, pair_id: UUID) -> Pair:
        """Raises NotFound."""
        for pair in await self._consolidations.pairs(consolidation.id):
            if pair.id == pair_id:
                return pair
        raise NotFound(f"consolidation {consolidation.id} has no pair {pair_id}")

    async def _wake(self, user_id: str) -> None:
        try:
            await self._starter.wake_queue(user_id)
        except Unavailable as error:
            logger.warning("a consolidation is stored and will be run later: %s", error.message)


def _kept(pair: Pair, name: str) -> UUID:
    for end in (pair.a, pair.b):
        if end.name == name:
            return end.anchor_id
    raise InvalidInput("must be one of the pair's two names", field="keep")
