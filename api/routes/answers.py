"""The answer of every route that asks for a consolidation."""

from typing import Annotated
from uuid import uuid4

from fastapi import Header, Response

from api.consolidation_views import ConsolidationView, RequestedView
from api.documentation import Answers, example
from api.examples import Example
from api.services import Services
from api.waiting import waited_for
from domain.dream.rounds import NewConsolidation

IdempotencyKey = Annotated[str | None, Header(description="The same key again is the same request.")]


def request_id(key: str | None) -> str:
    """The key, or without one an id of its own for every request."""
    return key or str(uuid4())


async def ask(services: Services, response: Response, new: NewConsolidation, *, wait: float) -> RequestedView:
    """Store a request and wake the user's queue: 202 with the consolidation, or 200 once it has settled."""
    asked = await services.dreamer.request(new)
    found = await waited_for(
        asked.consolidation,
        lambda: services.consolidations.consolidation(new.user_id, asked.consolidation.id),
        until=lambda consolidation: consolidation.settled,
        seconds=wait,
    )
    view = ConsolidationView.of(found)
    response.headers["Location"] = view.status_url
    if found.settled:
        response.status_code = 200
    return RequestedView(consolidation=view, created=asked.created, status_url=view.status_url)


def asked_for(waiting: Example, ended: Example) -> Answers:
    """Both answers by example."""
    told = "Stored, and it has settled: it has ended, or merges wait for a person."
    return {
        **example(202, waiting, "Stored; its turn at the graph will come."),
        200: {"model": RequestedView, **example(200, ended, told)[200]},
    }
