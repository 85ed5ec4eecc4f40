"""Parameters that routes share."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path, Query, Request

from api.services import Services
from api.views import MAX_LIMIT, User


def services_of(request: Request) -> Services:
    """The services the application was made with."""
    services = request.app.state.services
    if not isinstance(services, Services):
        raise TypeError("the application was not made by create_app")
    return services


ServicesDep = Annotated[Services, Depends(services_of)]

UserId = Annotated[User, Query(description="Whose memory.", openapi_examples={"one": {"value": "ana"}})]

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Items of the page.")]

After = Annotated[UUID | None, Query(description="`next` of the page before.")]

FRAME_ID = "^[0-9a-f]{64}$"

FrameId = Annotated[str, Path(pattern=FRAME_ID, description="Id of a frame.")]

AfterFrame = Annotated[str | None, Query(pattern=FRAME_ID, description="`next` of the page of frames before.")]

MemoryId = Annotated[UUID, Path(description="Id of a record.")]

AnchorId = Annotated[UUID, Path(description="Id of an anchor.")]

JobId = Annotated[UUID, Path(description="Id of a job.")]

ConsolidationId = Annotated[UUID, Path(description="Id of a consolidation.")]

PairId = Annotated[UUID, Path(description="Id of a pair.")]
