"""Memories: write one, list them, and trace one to its turns and its facts."""

from typing import Annotated

from fastapi import APIRouter, Body, Query, Response

from api import examples
from api.bodies import StrictRoute
from api.documentation import BODY, MANY, ONE, errors, example
from api.parameters import After, Limit, MemoryId, ServicesDep, UserId
from api.routes.answers import IdempotencyKey, request_id
from api.views import (
    AcceptedView,
    FactsView,
    FrameView,
    JobView,
    MemoryIn,
    MemoryPage,
    MemoryView,
    MessageView,
    SourcesView,
)
from api.waiting import Wait, waited_for
from domain.memory import MemoryKind

router = APIRouter(prefix="/v1/memories", tags=["memories"], route_class=StrictRoute)

MAX_FACTS = 200
"""Frames told of one record."""

_EXAMPLES = {"conversation": {"value": examples.MEMORY_IN}, "document": {"value": examples.DOCUMENT_IN}}


@router.post(
    "",
    status_code=202,
    summary="Write a memory",
    responses={
        **BODY,
        **errors(409),
        **example(202, examples.ACCEPTED, "Stored; its workflow is at work."),
        200: {"model": AcceptedView, **example(200, examples.ENDED, "Stored, and its job has ended.")[200]},
    },
)
async def add(
    services: ServicesDep,
    response: Response,
    body: Annotated[MemoryIn, Body(openapi_examples=_EXAMPLES)],
    idempotency_key: IdempotencyKey = None,
    wait: Wait = 0,
) -> AcceptedView:
    """Store an input and start its workflow: 202 with the job, or 200 once the job has ended."""
    accepted = await services.acceptor.accept(body.input(request_id(idempotency_key)))
    job = await waited_for(
        accepted.job,
        lambda: services.jobs.job(accepted.job.user_id, accepted.job.id),
        until=lambda job: job.terminal,
        seconds=wait,
    )
    view = JobView.of(job)
    response.headers["Location"] = view.status_url
    if job.terminal:
        response.status_code = 200
    return AcceptedView(job=view, created=accepted.created, status_url=view.status_url)


@router.get("", summary="List memories", responses=MANY | example(200, examples.MEMORIES, "A page of records."))
async def page(
    services: ServicesDep,
    user_id: UserId,
    kinds: Annotated[list[MemoryKind], Query(default_factory=list, description="All kinds if left out.")],
    after: After = None,
    limit: Limit = 50,
) -> MemoryPage:
    """The user's records in a stable order: later writes shift no page."""
    records = await services.records.page(user_id, kinds=kinds, after=after, limit=limit)
    return MemoryPage(
        items=tuple(MemoryView.of(record) for record in records),
        next=records[-1].id if len(records) == limit else None,
    )


@router.get("/{memory_id}", summary="Read a memory", responses=ONE | example(200, examples.MEMORY, "The record."))
async def one(services: ServicesDep, memory_id: MemoryId, user_id: UserId) -> MemoryView:
    """A record as it was written, with its times, its status and where it stands on its way into the graph."""
    return MemoryView.of(await services.records.record(user_id, memory_id))


@router.get(
    "/{memory_id}/sources",
    summary="Read the turns of a memory",
    responses=ONE | example(200, examples.SOURCES, "The turns."),
)
async def sources(services: ServicesDep, memory_id: MemoryId, user_id: UserId) -> SourcesView:
    """The turns a record was written from, as they were said."""
    record = await services.records.record(user_id, memory_id)
    cited = {source.turn_id for source in record.sources}
    messages = await services.jobs.messages(record.input_id)
    return SourcesView(
        record_id=record.id, items=tuple(MessageView.of(message) for message in messages if message.id in cited)
    )


@router.get(
    "/{memory_id}/facts",
    summary="Read the facts of a memory",
    responses=ONE | example(200, examples.FACTS, "The frames, in the order of their ids."),
)
async def facts(services: ServicesDep, memory_id: MemoryId, user_id: UserId) -> FactsView:
    """The graph's facts that cite a record."""
    record = await services.records.record(user_id, memory_id)
    frames = await services.graph.frames_of_records(user_id, [record.id], limit=MAX_FACTS)
    return FactsView(record_id=record.id, items=tuple(FrameView.of(frame) for frame in frames))
