"""A memory with anchors for AutoDream to look at, seeded past canonicalization, which would have met them first."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from api.services import Services
from domain.chunking import cut
from domain.dream.rounds import Consolidation, ConsolidationState, Mode, NewConsolidation
from domain.graph_plan import keys_to_resolve, plan_write, with_vectors
from domain.jobs import JobState
from domain.keys import anchor_key
from domain.memory import (
    Anchor,
    AnchorType,
    Arm,
    Chunk,
    Entity,
    Extraction,
    FrameDraft,
    IndexStatus,
    InputForm,
    MemoryKind,
    Message,
    NewInput,
    Record,
    RecordDraft,
    Source,
    TimeSource,
)
from domain.model_calls import Reply, SameAnswer, SameRequest, Usage, Verdict
from domain.records import records_of
from infra.models.rules.model import RulesModel
from tests.e2e.deployment import PATIENCE_SECONDS

USER = "dora"
NOW = datetime(2025, 4, 1, 9, tzinfo=UTC)

ALIKE = (
    ("Harbor Street Bakery", "Harbour Street Bakery"),
    ("Acme Incorporated", "Acme Inc"),
    ("aluminium ladder", "aluminum ladder"),
    ("Labor Museum", "Labour Museum"),
)
"""Names of one thing, which the rules model knows to be one."""
APART = (("Bay 14", "Bay 15"), ("2023 audit", "2024 audit"), ("Flight KX210", "Flight KX211"))
"""Names that no verdict may merge (case 11)."""

TYPES = {"aluminium ladder": AnchorType.OBJECT, "aluminum ladder": AnchorType.OBJECT}


async def seed(
    services: Services,
    names: Sequence[str],
    *,
    user: str = USER,
    request: str = "seed",
    partner: str = "Pia",
    kind: MemoryKind = MemoryKind.SEMANTIC,
) -> list[Record]:
    """One record a name: `<partner> knows <name>.`, committed, indexed, its job completed."""
    chunk = await _chunk(services, user, request, names, partner)
    drafts = tuple(
        RecordDraft(kind=kind, title=name, text=f"{partner} knows {name}.", sources=(Source(turn_id=f"{request}:{n}"),))
        for n, name in enumerate(names)
    )
    records = records_of(chunk, {kind: drafts})
    await services.records.commit(records, await services.embedder.embed([record.text for record in records]))
    await services.jobs.mark_committed(chunk.id)
    for record, name in zip(records, names, strict=True):
        await _index(services, record, name, partner)
    await services.records.set_index([record.id for record in records], IndexStatus.INDEXED)
    await services.jobs.finish(chunk.input_id, now=NOW)
    return list(records)


async def _chunk(services: Services, user: str, request: str, names: Sequence[str], partner: str) -> Chunk:
    messages = tuple(
        Message(id=f"{request}:{n}", speaker=partner, text=f"{partner} knows {name}.", sent_at=NOW)
        for n, name in enumerate(names)
    )
    new = NewInput(
        user_id=user, request_id=request, session_id=request, form=InputForm.CONVERSATION, title="", timezone="UTC",
        time_source=TimeSource.GIVEN, messages=messages,
    )  # fmt: skip
    job = (await services.jobs.accept(new, body_hash=request, now=NOW)).job
    (chunk,) = cut(job.id, new, characters=100_000, turns=1_000, previous=None)
    await services.jobs.save_chunks(job.id, [chunk])
    await services.jobs.set_state(job.id, JobState.EXTRACTED, now=NOW)
    return chunk


async def _index(services: Services, record: Record, name: str, partner: str) -> None:
    kind = TYPES.get(name, AnchorType.ORGANIZATION)
    extraction = Extraction(
        entities=(Entity(name=partner, type=AnchorType.PERSON), Entity(name=name, type=kind)),
        frames=(FrameDraft(predicate="know", arms=(Arm(role="agent", name=partner), Arm(role="object", name=name))),),
    )
    resolved = await services.graph.resolve(record.user_id, keys_to_resolve(extraction))
    planned = plan_write(record, extraction, resolved)
    vectors = await services.embedder.embed([*planned.anchor_names, *planned.frame_texts])
    cut_at = len(planned.anchor_names)
    await services.graph.upsert(with_vectors(planned, vectors[:cut_at], vectors[cut_at:]))


def flat(couples: Sequence[tuple[str, str]]) -> list[str]:
    """The names of couples."""
    return [name for couple in couples for name in couple]


async def ask(services: Services, request: str = "round", **values: object) -> Consolidation:
    """Ask for a consolidation; a final round of the user's unless told otherwise."""
    new = {"user_id": USER, "request_id": request, "mode": Mode.FINAL, "actor": "test", **values}
    return (await services.dreamer.request(NewConsolidation.model_validate(new))).consolidation


async def until(services: Services, asked: Consolidation, *states: ConsolidationState) -> Consolidation:
    """The consolidation once it is in one of the states (without any: has ended); fails when that takes too long."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = await services.consolidations.consolidation(asked.user_id, asked.id)
        if found.state in states or (found.ended and not states):
            return found
        assert not found.ended, f"it ended as {found.state}: {found.step} {found.reason}"
        assert time.monotonic() < deadline, f"still {found.state} after {PATIENCE_SECONDS} s"
        await asyncio.sleep(0.1)


async def consolidated(services: Services, request: str = "round", **values: object) -> Consolidation:
    """Ask for a consolidation and wait for its end."""
    return await until(services, await ask(services, request, **values))


async def owners(services: Services, names: Sequence[str], *, user: str = USER) -> Mapping[str, Anchor]:
    """The anchor that each name denotes."""
    found = await services.graph.resolve(user, [anchor_key(name) for name in names])
    return {name: found[anchor_key(name)] for name in names}


class Verdicts(RulesModel):
    """The rules model with verdicts of the test's, each given when `gate` is open; notes who was asked about."""

    def __init__(self, verdict: Callable[[str, str], SameAnswer] | None = None) -> None:
        self._verdict = verdict or (lambda a, _b: SameAnswer(verdict=Verdict.SAME, canonical=a))
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked: list[frozenset[str]] = []
        self.first = asyncio.Event()
        """Set once a verdict was asked for."""

    async def same(self, request: SameRequest) -> Reply[SameAnswer]:
        self.asked.append(frozenset({request.a.name, request.b.name}))
        self.first.set()
        await self.gate.wait()
        return Reply(answer=self._verdict(request.a.name, request.b.name), usage=Usage(model="verdicts"))


def ids(anchors: Mapping[str, Anchor]) -> set[UUID]:
    """The anchors, each once."""
    return {anchor.id for anchor in anchors.values()}
