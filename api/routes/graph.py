"""The graph as it is: anchors and frames; and what a person changes of it by hand."""

from typing import Annotated

from fastapi import APIRouter, Body, Response

from api import consolidation_examples, examples
from api.bodies import StrictRoute
from api.consolidation_views import MergeIn, MergePage, RequestedView, SplitIn
from api.documentation import BODY, MANY, ONE, errors, example
from api.parameters import After, AfterFrame, AnchorId, FrameId, Limit, ServicesDep, UserId
from api.routes.answers import IdempotencyKey, ask, asked_for, request_id
from api.views import AnchorDetail, AnchorPage, AnchorView, FrameView
from api.waiting import Wait
from domain.dream.rounds import Mode, NewConsolidation
from domain.errors import NotFound

router = APIRouter(prefix="/v1", tags=["graph"], route_class=StrictRoute)

DEGREE_CEILING = 100_000
"""Degrees are counted up to here."""

_MERGE = {"one": {"value": consolidation_examples.MERGE_IN}}
_SPLIT = {"one": {"value": consolidation_examples.SPLIT_IN}}


@router.get("/anchors", summary="List anchors", responses=MANY | example(200, examples.ANCHORS, "A page of anchors."))
async def anchors(services: ServicesDep, user_id: UserId, after: After = None, limit: Limit = 50) -> AnchorPage:
    """The user's anchors (people, places, things and ideas that memories speak of) in the order of their ids."""
    found = await services.graph.anchor_page(user_id, after=after, limit=limit)
    return AnchorPage(
        items=tuple(AnchorView.of(anchor) for anchor in found), next=found[-1].id if len(found) == limit else None
    )


@router.get(
    "/anchors/{anchor_id}",
    summary="Read an anchor",
    responses=ONE | example(200, examples.ANCHOR, "The anchor with a page of its frames."),
)
async def anchor(
    services: ServicesDep, anchor_id: AnchorId, user_id: UserId, after: AfterFrame = None, limit: Limit = 50
) -> AnchorDetail:
    """An anchor with its aliases, its degree and a page of the frames it takes part in, in the order of their ids."""
    found = await services.graph.anchors(user_id, [anchor_id])
    if not found:
        raise NotFound(f"no anchor {anchor_id}")
    degrees = await services.graph.degrees(user_id, [anchor_id], ceiling=DEGREE_CEILING)
    frames = await services.graph.frames_page(user_id, anchor_id, after=after, limit=limit)
    return AnchorDetail(
        anchor=AnchorView.of(found[0]),
        degree=degrees.get(anchor_id, 0),
        frames=tuple(FrameView.of(frame) for frame in frames),
        next=frames[-1].id if len(frames) == limit else None,
    )


@router.get(
    "/anchors/{anchor_id}/merges",
    summary="List the merges of an anchor",
    responses=ONE | example(200, consolidation_examples.MERGES, "A page of the merge log."),
)
async def merges(
    services: ServicesDep, anchor_id: AnchorId, user_id: UserId, after: After = None, limit: Limit = 50
) -> MergePage:
    """The merges into an anchor, and those that took it into another: an anchor that is gone is found, too."""
    found = await services.graph.merges(user_id, anchor=anchor_id, after=after, limit=limit)
    if not found and after is None and not await services.graph.anchors(user_id, [anchor_id]):
        raise NotFound(f"no anchor {anchor_id}")
    return MergePage.of(found, limit)


@router.post(
    "/anchors/{anchor_id}/merge",
    status_code=202,
    summary="Merge an anchor into another",
    responses=ONE
    | BODY
    | errors(409)
    | asked_for(consolidation_examples.MERGE, consolidation_examples.ended(consolidation_examples.MERGE)),
)
async def merge(
    services: ServicesDep,
    response: Response,
    anchor_id: AnchorId,
    user_id: UserId,
    body: Annotated[MergeIn, Body(openapi_examples=_MERGE)],
    idempotency_key: IdempotencyKey = None,
    wait: Wait = 0,
) -> RequestedView:
    """Ask that another anchor's names, records and frames go to this one: a consolidation of its own, which takes its
    turn after the user's inputs so far and can be undone."""
    new = NewConsolidation(
        user_id=user_id,
        request_id=request_id(idempotency_key),
        mode=Mode.MERGE,
        target=anchor_id,
        absorbed=body.absorbed,
        force=body.force,
        actor=body.actor,
    )
    return await ask(services, response, new, wait=wait)


@router.post(
    "/anchors/{anchor_id}/split",
    status_code=202,
    summary="Split a name off an anchor",
    responses=ONE
    | BODY
    | errors(409)
    | asked_for(consolidation_examples.SPLIT, consolidation_examples.ended(consolidation_examples.SPLIT)),
)
async def split(
    services: ServicesDep,
    response: Response,
    anchor_id: AnchorId,
    user_id: UserId,
    body: Annotated[SplitIn, Body(openapi_examples=_SPLIT)],
    idempotency_key: IdempotencyKey = None,
    wait: Wait = 0,
) -> RequestedView:
    """Ask that a name leaves an anchor: a merge that brought it is undone, any other name gets an anchor of its own
    with the records that speak of it alone."""
    new = NewConsolidation(
        user_id=user_id,
        request_id=request_id(idempotency_key),
        mode=Mode.SPLIT,
        target=anchor_id,
        name=body.name,
        actor=body.actor,
    )
    return await ask(services, response, new, wait=wait)


@router.get("/frames/{frame_id}", summary="Read a frame", responses=ONE | example(200, examples.FRAME, "The frame."))
async def frame(services: ServicesDep, frame_id: FrameId, user_id: UserId) -> FrameView:
    """A frame (a predicate over two or more anchors) with the records it cites."""
    return FrameView.of(await services.graph.frame(user_id, frame_id))
