"""Which existing anchors an extracted entity might be (paper A.2, registry-guided canonicalization)."""

from activities.recorded import RecordedCalls
from domain.graph import AnchorHit, Vector
from domain.jobs import anchor_id
from domain.keys import anchor_key
from domain.memory import Entity, Extraction, Record
from domain.messages import JobRef
from domain.model_calls import Candidate, EntityQuestion
from domain.ports import GraphStore

CANDIDATES = 4
"""Neighbours retrieved for an entity (paper A.2)."""
SIMILARITY_FLOOR = 0.72
"""Least cosine of a candidate (paper A.2)."""


class Registry:
    """The user's anchors, and the names that earlier records of the chunk are about to add to them."""

    def __init__(self, graph: GraphStore, calls: RecordedCalls, job: JobRef) -> None:
        self._graph = graph
        self._calls = calls
        self._job = job
        self._fresh: dict[str, tuple[Entity, Vector]] = {}

    async def questions(self, record: Record, extraction: Extraction) -> tuple[EntityQuestion, ...]:
        """Entities whose key is new to the user, with up to CANDIDATES near names each; entities without any are left
        out."""
        unknown = await self._unknown(record, extraction)
        vectors = await self._calls.embed(
            [entity.name for entity in unknown], job=self._job, subject=record.id, detail="canonicalize"
        )
        stored = await self._graph.nearest(record.user_id, vectors, limit=CANDIDATES, floor=SIMILARITY_FLOOR)
        questions = []
        for entity, vector, hits in zip(unknown, vectors, stored, strict=True):
            candidates = self._candidates(record.user_id, vector, hits)
            if candidates:
                questions.append(EntityQuestion(entity=entity, candidates=candidates))
        return tuple(questions)

    async def learn(self, record: Record, extraction: Extraction) -> None:
        """Remember the names of a record of this chunk, which its upsert has yet to store."""
        unknown = await self._unknown(record, extraction)
        vectors = await self._calls.embed(
            [entity.name for entity in unknown], job=self._job, subject=record.id, detail="learn"
        )
        for entity, vector in zip(unknown, vectors, strict=True):
            self._fresh[anchor_key(entity.name)] = (entity, vector)

    async def _unknown(self, record: Record, extraction: Extraction) -> tuple[Entity, ...]:
        by_key = {anchor_key(entity.name): entity for entity in reversed(extraction.entities)}
        known = await self._graph.resolve(record.user_id, sorted(by_key))
        return tuple(entity for key, entity in sorted(by_key.items()) if key not in known and key not in self._fresh)

    def _candidates(self, user_id: str, vector: Vector, stored: tuple[AnchorHit, ...]) -> tuple[Candidate, ...]:
        fresh = (
            AnchorHit(
                anchor_id=anchor_id(user_id, key),
                name=entity.name,
                type=entity.type,
                aliases=entity.aliases,
                score=_cosine(vector, known),
            )
            for key, (entity, known) in self._fresh.items()
        )
        hits = [*stored, *(hit for hit in fresh if hit.score >= SIMILARITY_FLOOR)]
        best = sorted(hits, key=lambda hit: (-hit.score, hit.anchor_id))[:CANDIDATES]
        return tuple(Candidate(name=hit.name, type=hit.type, aliases=hit.aliases, score=hit.score) for hit in best)


def _cosine(a: Vector, b: Vector) -> float:
    """Of unit vectors."""
    return sum(x * y for x, y in zip(a, b, strict=True))
