"""Consolidations: rounds of AutoDream, their pairs and merges, and what a person decides and takes back."""

from typing import Annotated

from fastapi import APIRouter, Body, Query, Response

from api import consolidation_examples as examples
from api.bodies import StrictRoute
from api.consolidation_views import (
    ConsolidationIn,
    ConsolidationPage,
    ConsolidationView,
    DecisionIn,
    MergePage,
    PairPage,
    PairView,
    RequestedView,
    UndoIn,
)
from api.documentation import BODY, MANY, MERGE_CONFLICT, ONE, errors, example
from api.parameters import After, ConsolidationId, Limit, PairId, ServicesDep, UserId
from api.routes.answers import IdempotencyKey, ask, asked_for, request_id
from api.views import MAX_SEQUENCE
from api.waiting import Wait
from domain.dream.rounds import Mode, NewConsolidation, PairState

router = APIRouter(prefix="/v1/consolidations", tags=["consolidations"], route_class=StrictRoute)

_ROUNDS = {"final": {"value": examples.ROUND_IN}, "reviewed": {"value": examples.REVIEWED_IN}}
_DECISIONS = {"approve": {"value": examples.APPROVE_IN}, "reject": {"value": examples.REJECT_IN}}
_UNDO = {"one": {"value": examples.UNDO_IN}, "all": {"value": {"actor": "ana"}}}


@router.post(
    "",
    status_code=202,
    summary="Consolidate",
    responses=BODY | errors(409) | asked_for(examples.REQUESTED, examples.SETTLED),
)
async def start(
    services: ServicesDep,
    response: Response,
    body: Annotated[ConsolidationIn, Body(openapi_examples=_ROUNDS)],
    idempotency_key: IdempotencyKey = None,
    wait: Wait = 0,
) -> RequestedView:
    """Ask for a round of AutoDream, which takes its turn after the user's inputs so far: 202 with the consolidation, or
    200 once it has settled."""
    return await ask(services, response, body.new(request_id(idempotency_key)), wait=wait)


@router.get(
    "",
    summary="List consolidations",
    responses=MANY | example(200, examples.CONSOLIDATIONS, "A page of consolidations."),
)
async def page(
    services: ServicesDep,
    user_id: UserId,
    before: Annotated[int | None, Query(ge=1, le=MAX_SEQUENCE, description="`next` of the page before.")] = None,
    limit: Limit = 50,
) -> ConsolidationPage:
    """The user's consolidations, newest first: rounds, merges by hand, splits and undoings."""
    found = await services.consolidations.consolidations(user_id, before=before, limit=limit)
    return ConsolidationPage(
        items=tuple(map(ConsolidationView.of, found)), next=found[-1].sequence if len(found) == limit else None
    )


@router.get(
    "/{consolidation_id}",
    summary="Read a consolidation",
    responses=ONE | example(200, examples.CONSOLIDATION, "The consolidation with its receipt."),
)
async def one(services: ServicesDep, consolidation_id: ConsolidationId, user_id: UserId) -> ConsolidationView:
    """A consolidation's state, and its receipt: what it compared, merged and cost."""
    return ConsolidationView.of(await services.consolidations.consolidation(user_id, consolidation_id))


@router.get(
    "/{consolidation_id}/pairs",
    summary="List the pairs of a consolidation",
    responses=ONE | example(200, examples.PAIRS, "A page of pairs."),
)
async def pairs(
    services: ServicesDep,
    consolidation_id: ConsolidationId,
    user_id: UserId,
    state: Annotated[list[PairState], Query(default_factory=list, description="All states if left out.")],
    after: After = None,
    limit: Limit = 50,
) -> PairPage:
    """The pairs it compared: names, similarity, evidence, verdict and reason, what became of each, and who decided."""
    await services.consolidations.consolidation(user_id, consolidation_id)
    found = await services.consolidations.pairs(consolidation_id, states=state, after=after, limit=limit)
    return PairPage(items=tuple(map(PairView.of, found)), next=found[-1].id if len(found) == limit else None)


@router.get(
    "/{consolidation_id}/merges",
    summary="List the merges of a consolidation",
    responses=ONE | example(200, examples.MERGES, "A page of the merge log."),
)
async def merges(
    services: ServicesDep,
    consolidation_id: ConsolidationId,
    user_id: UserId,
    after: After = None,
    limit: Limit = 50,
) -> MergePage:
    """What it merged, and whether that was taken back since."""
    await services.consolidations.consolidation(user_id, consolidation_id)
    found = await services.graph.merges(user_id, consolidation=consolidation_id, after=after, limit=limit)
    return MergePage.of(found, limit)


@router.post(
    "/{consolidation_id}/cancel",
    summary="Cancel a consolidation",
    responses=ONE | example(200, examples.CANCELLED, "The consolidation; as it was if it had ended."),
)
async def cancel(services: ServicesDep, consolidation_id: ConsolidationId, user_id: UserId) -> ConsolidationView:
    """Stop a consolidation; what it has merged stays, and can be undone."""
    return ConsolidationView.of(await services.dreamer.cancel(user_id, consolidation_id))


@router.post(
    "/{consolidation_id}/undo",
    status_code=202,
    summary="Undo a consolidation",
    responses=ONE | BODY | errors(409) | asked_for(examples.UNDO, examples.ended(examples.UNDO)),
)
async def undo(
    services: ServicesDep,
    response: Response,
    consolidation_id: ConsolidationId,
    user_id: UserId,
    body: Annotated[UndoIn, Body(openapi_examples=_UNDO)],
    idempotency_key: IdempotencyKey = None,
    wait: Wait = 0,
) -> RequestedView:
    """Ask that its merges, or one of them, are taken back: a consolidation of its own. What was written since the merge
    stays with the anchor that it names now."""
    new = NewConsolidation(
        user_id=user_id,
        request_id=request_id(idempotency_key),
        mode=Mode.UNDO,
        target=consolidation_id,
        absorbed=body.absorbed,
        actor=body.actor,
    )
    return await ask(services, response, new, wait=wait)


@router.post(
    "/{consolidation_id}/pairs/{pair_id}",
    summary="Decide a merge under review",
    responses=ONE | BODY | MERGE_CONFLICT | example(200, examples.DECIDED, "The pair as decided."),
)
async def decide(
    services: ServicesDep,
    consolidation_id: ConsolidationId,
    pair_id: PairId,
    user_id: UserId,
    body: Annotated[DecisionIn, Body(openapi_examples=_DECISIONS)],
) -> PairView:
    """Approve or reject a merge that waits for a person. What is approved is merged at the user's next turn at the
    graph; what is rejected no later round asks again."""
    pair = await services.dreamer.decide(
        user_id, consolidation_id, pair_id, approve=body.approve, keep=body.keep or "", actor=body.actor
    )
    return PairView.of(pair)
