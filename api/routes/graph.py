"""The graph as it is: anchors and frames."""

from uuid import UUID

from fastapi import APIRouter

from api.parameters import After, FrameId, Limit, ServicesDep, UserId
from api.views import AnchorDetail, AnchorPage, AnchorView, FrameView
from domain.errors import NotFound

router = APIRouter(prefix="/v1", tags=["graph"])

FRAMES_SHOWN = 50
"""Frames told of one anchor."""

DEGREE_CEILING = 100_000
"""Degrees are counted up to here."""


@router.get("/anchors")
async def anchors(services: ServicesDep, user_id: UserId, after: After = None, limit: Limit = 50) -> AnchorPage:
    """The user's anchors in a stable order."""
    found = await services.graph.anchor_page(user_id, after=after, limit=limit)
    return AnchorPage(
        items=tuple(AnchorView.of(anchor) for anchor in found), next=found[-1].id if len(found) == limit else None
    )


@router.get("/anchors/{anchor_id}")
async def anchor(services: ServicesDep, anchor_id: UUID, user_id: UserId) -> AnchorDetail:
    """An anchor with its aliases, degree and first frames."""
    found = await services.graph.anchors(user_id, [anchor_id])
    if not found:
        raise NotFound(f"no anchor {anchor_id}")
    degrees = await services.graph.degrees(user_id, [anchor_id], ceiling=DEGREE_CEILING)
    frames = await services.graph.incident_frames(user_id, [anchor_id], per_anchor=FRAMES_SHOWN)
    return AnchorDetail(
        anchor=AnchorView.of(found[0]),
        degree=degrees.get(anchor_id, 0),
        frames=tuple(FrameView.of(frame) for frame in frames),
    )


@router.get("/frames/{frame_id}")
async def frame(services: ServicesDep, frame_id: FrameId, user_id: UserId) -> FrameView:
    """A frame with the records it cites."""
    return FrameView.of(await services.graph.frame(user_id, frame_id))
