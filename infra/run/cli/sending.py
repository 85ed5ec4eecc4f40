"""Handing inputs to the memory and waiting for their jobs: in order, with a bounded number in flight."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from api.services import Services
from domain.errors import RequestConflict
from domain.intake import InputIn
from domain.jobs import Acceptance, Job, batch_id

IN_FLIGHT = 64
"""Accepted inputs whose jobs have not ended, at most; the rest of a large file waits on this side. Those of a batch
wait on the other side, where only a window of them is under way."""

POLL_SECONDS = 0.5
"""How often the jobs in flight are looked at: one page of a user's jobs, whatever their number."""


@dataclass
class Delivery:
    """What has become of the inputs so far; jobs in the order of acceptance."""

    offered_inputs: int
    offered_turns: int
    started: float = field(default_factory=time.monotonic)
    jobs: dict[UUID, Job] = field(default_factory=dict)
    turns: dict[UUID, int] = field(default_factory=dict)
    """Turns offered by job."""
    created: set[UUID] = field(default_factory=set)
    """Jobs that this run made; the others were there before."""
    open: set[UUID] = field(default_factory=set)
    """Jobs that have not ended."""
    batches: dict[str, UUID] = field(default_factory=dict)
    """Batches of this run, by user, which AutoDream goes along with."""

    def put(self, job: Job) -> None:
        """Note a job's present state."""
        self.jobs[job.id] = job
        if job.terminal:
            self.open.discard(job.id)
        else:
            self.open.add(job.id)

    @property
    def accepted_turns(self) -> int:
        """Turns handed over, new or not."""
        return sum(self.turns.values())

    @property
    def new_turns(self) -> int:
        """Turns that this run stored: those of its own jobs, less the messages the session held already."""
        return sum(self.jobs[job].messages for job in self.created)

    @property
    def done_turns(self) -> int:
        """Turns done, for the bar: half done when their records are committed, wholly when their job has ended."""
        return sum(_done(job, self.turns[key]) for key, job in self.jobs.items())

    @property
    def seconds(self) -> float:
        """Since the first input was offered."""
        return time.monotonic() - self.started


class Watcher(Protocol):
    """Told of every change."""

    def update(self, delivery: Delivery) -> None: ...


async def deliver(
    services: Services,
    inputs: Sequence[InputIn],
    *,
    watcher: Watcher,
    wait: bool,
    delivery: Delivery | None = None,
    dream: bool = False,
) -> Delivery:
    """Accept the inputs in order; with `wait`, until every job has ended. An accepted input outlives this process.

    `delivery` is filled as the work goes on, so that a caller who is interrupted still knows what was accepted. With
    `dream` each user's inputs are a batch, started once all are accepted.
    """
    state = delivery or new_delivery(inputs)
    batches = batches_of(inputs) if dream else {}
    for value in inputs:
        while wait and not dream and len(state.open) >= IN_FLIGHT:
            await _poll(services, state, watcher)
        acceptance = await _accept(services, value, state, batch=batches.get(value.user_id))
        job = acceptance.job
        state.put(job)
        state.turns[job.id] = len(value.messages)
        if acceptance.created:
            state.created.add(job.id)
        watcher.update(state)
    await _start(services, state, batches)
    while wait and state.open:
        await _poll(services, state, watcher)
    return state


def batches_of(inputs: Sequence[InputIn]) -> dict[str, UUID]:
    """The batch of each user: the same for the same inputs in the same order."""
    users = dict.fromkeys(value.user_id for value in inputs)
    return {user: batch_id(user, [value.request_id for value in inputs if value.user_id == user]) for user in users}


async def _start(services: Services, state: Delivery, batches: Mapping[str, UUID]) -> None:
    """Start the batches that have an input: one whose inputs were all stored before in another way has none. Inputs
    that came with an earlier batch, which may never have been started, are fed with that."""
    state.batches = {user: batch for user, batch in batches.items() if (await services.jobs.batch(user, batch)).jobs}
    waiting = [state.jobs[key] for key in state.open if state.jobs[key].user_id in batches]
    earlier = {(job.user_id, job.batch_id) for job in waiting if job.batch_id is not None}
    for user, batch in sorted({*state.batches.items(), *earlier}):
        await services.acceptor.start_batch(user, batch)


async def _accept(services: Services, value: InputIn, state: Delivery, *, batch: UUID | None) -> Acceptance:
    try:
        return await services.acceptor.accept(value, batch_id=batch)
    except RequestConflict as error:
        before = f" ({len(state.jobs)} inputs before it are stored)" if state.jobs else ""
        raise RequestConflict(f"session {value.session_id}: {error.message}{before}") from error


def new_delivery(inputs: Sequence[InputIn]) -> Delivery:
    """Nothing accepted yet."""
    return Delivery(offered_inputs=len(inputs), offered_turns=sum(len(value.messages) for value in inputs))


async def _poll(services: Services, state: Delivery, watcher: Watcher) -> None:
    await asyncio.sleep(POLL_SECONDS)
    for user_id in sorted({state.jobs[key].user_id for key in state.open}):
        await _refresh(services, state, user_id)
    watcher.update(state)


async def _refresh(services: Services, state: Delivery, user_id: str) -> None:
    """Look at the first of one user's open jobs, a page of them whatever their number: jobs of a user end in order, as
    a rule, and the others are looked at when the first ones have ended."""
    first = min(job.sequence for key in state.open if (job := state.jobs[key]).user_id == user_id)
    for job in await services.jobs.jobs(user_id, before=first + IN_FLIGHT, limit=IN_FLIGHT):
        if job.id in state.open:
            state.put(job)


def _done(job: Job, turns: int) -> int:
    """Writing records and bringing them into the graph take about the same time."""
    if job.terminal:
        return turns
    return turns * job.chunks_done // (2 * job.chunks) if job.chunks else 0
