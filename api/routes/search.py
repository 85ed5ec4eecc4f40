"""Search: facts with the rows that justify them."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Body

from api import examples
from api.bodies import StrictRoute
from api.documentation import BODY, example
from api.parameters import ServicesDep
from api.views import SearchIn, SearchView
from domain.retrieval.query import SearchQuery

router = APIRouter(prefix="/v1/search", tags=["search"], route_class=StrictRoute)

_EXAMPLES = {"single": {"value": examples.SEARCH_IN}, "explained": {"value": examples.COUNT_IN}}


@router.post("", summary="Search", responses=BODY | example(200, examples.SEARCH, "Facts and rows."))
async def search(services: ServicesDep, body: Annotated[SearchIn, Body(openapi_examples=_EXAMPLES)]) -> SearchView:
    """Answer a question with bounded evidence. The same question over the same data at the same `as_of` gives the same
    answer."""
    query = SearchQuery(
        user_id=body.user_id,
        query=body.query,
        kinds=tuple(dict.fromkeys(body.kinds)),
        as_of=body.as_of or datetime.now(UTC),
        timezone=body.timezone,
        filters=body.filters,
        quota=body.quota,
        limit_per_kind=body.limit_per_kind,
        explain=body.explain,
    )
    return SearchView.of(await services.retriever.search(query))
