"""Consolidations in a state, pairs of them, and merges to make under them."""

from uuid import UUID, uuid5

from domain.dream.candidates import pair_key
from domain.dream.rounds import (
    Consolidation,
    ConsolidationState,
    Mode,
    NewConsolidation,
    Pair,
    PairEnd,
    PairState,
    Receipt,
    Stage,
    merge_id,
    pair_id,
)
from domain.graph import Joined
from domain.jobs import anchor_id
from domain.memory import AnchorType
from tests.contract.conftest import Stores
from tests.contract.samples import NOW, cited


def new_round(request: str = "c1", *, user: str = "ona", review: bool = False) -> NewConsolidation:
    return NewConsolidation(
        user_id=user, request_id=request, mode=Mode.INTERMEDIATE, review=review, actor="test", timeout_seconds=60
    )


async def requested(stores: Stores, request: str = "c1", *, user: str = "ona") -> Consolidation:
    return (await stores.consolidations.request(new_round(request, user=user), now=NOW)).consolidation


async def running(
    stores: Stores,
    request: str = "c1",
    *,
    user: str = "ona",
    state: ConsolidationState = ConsolidationState.RUNNING,
) -> UUID:
    """Store a consolidation that has begun, and end it if asked for; returns its id."""
    identity = (await requested(stores, request, user=user)).id
    await stores.consolidations.begin(identity, now=NOW)
    if state is not ConsolidationState.RUNNING:
        await stores.consolidations.end(identity, state, receipt=Receipt(), now=NOW)
    return identity


def two(
    consolidation: UUID,
    a: str,
    b: str,
    *,
    user: str = "ona",
    stage: Stage = Stage.MAIN,
    state: PairState = PairState.OPEN,
) -> Pair:
    """A pair of anchors by key."""
    key = pair_key(a, b, AnchorType.PERSON)
    ends = (PairEnd(anchor_id=anchor_id(user, name), name=name, record_ids=(cited(1), cited(2))) for name in (a, b))
    one, other = ends
    return Pair(
        id=pair_id(consolidation, stage, key), key=key, stage=stage, type=AnchorType.PERSON, a=one, b=other,
        similarity=0.75, state=state,
    )  # fmt: skip


def joined(consolidation: UUID, absorbed: str, representative: str, *, user: str = "ona", again: str = "") -> Joined:
    """A merge of two anchors by key; `again` tells it apart from one of the same consolidation before."""
    ends = {"absorbed": anchor_id(user, absorbed), "representative": anchor_id(user, representative)}
    identity = merge_id(consolidation, ends["absorbed"])
    return Joined(id=uuid5(identity, again) if again else identity, **ends)
