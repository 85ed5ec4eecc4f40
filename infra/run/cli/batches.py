"""The rounds of AutoDream that go along with an ingest."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from api.services import Services
from domain.dream.candidates import BATCH_CHUNKS
from domain.dream.rounds import Consolidation, consolidation_id, final_request, round_request
from domain.errors import NotFound
from domain.memory import Frozen
from infra.run.cli import consolidating


class BatchRounds(Frozen):
    """What AutoDream did along with the inputs of one user."""

    batch_id: UUID
    rounds: int
    """With the final one."""
    merges: int
    final: Consolidation | None
    """None while it has not been asked for."""


async def final_round(services: Services, user_id: str, batch: UUID) -> Consolidation:
    """The round after the last chunk, once it has settled; it is asked for when every job of the batch has ended."""
    with consolidating.telling() as tell:
        while (found := await _final(services, user_id, batch)) is None:
            tell("waiting for the final round")
            await asyncio.sleep(consolidating.POLL_SECONDS)
    return await consolidating.settled(services, found)


async def batch_rounds(services: Services, user_id: str, batch: UUID) -> BatchRounds:
    """As they are now."""
    chunks = (await services.jobs.batch(user_id, batch)).chunks
    numbers = range(BATCH_CHUNKS, chunks + 1, BATCH_CHUNKS)
    between = [await _found(services, user_id, round_request(batch, number)) for number in numbers]
    final = await _final(services, user_id, batch)
    rounds = _there([*between, final])
    return BatchRounds(
        batch_id=batch, rounds=len(rounds), merges=sum(each.receipt.merged for each in rounds), final=final
    )


async def _final(services: Services, user_id: str, batch: UUID) -> Consolidation | None:
    jobs = (await services.jobs.batch(user_id, batch)).jobs
    return await _found(services, user_id, final_request(batch, jobs))


async def _found(services: Services, user_id: str, request: str) -> Consolidation | None:
    try:
        return await services.consolidations.consolidation(user_id, consolidation_id(user_id, request))
    except NotFound:
        return None


def _there(rounds: Sequence[Consolidation | None]) -> list[Consolidation]:
    return [each for each in rounds if each is not None]
