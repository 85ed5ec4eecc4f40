"""The graph as it is: anchors and frames."""

from fastapi import APIRouter

from api import examples
from api.documentation import MANY, ONE, example
from api.parameters import After, AfterFrame, AnchorId, FrameId, Limit, ServicesDep, UserId
from api.views import AnchorDetail, AnchorPage, AnchorView, FrameView
from domain.errors import NotFound

router = APIRouter(prefix="/v1", tags=["graph"])

DEGREE_CEILING = 100_000
"""Degrees are counted up to here."""


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


@router.get("/frames/{frame_id}", summary="Read a frame", responses=ONE | example(200, examples.FRAME, "The frame."))
async def frame(services: ServicesDep, frame_id: FrameId, user_id: UserId) -> FrameView:
    """A frame (a predicate over two or more anchors) with the records it cites."""
    return FrameView.of(await services.graph.frame(user_id, frame_id))
