"""Which existing anchors an extracted entity might be (paper A.2, registry-guided canonicalization)."""

from collections.abc import Sequence

from activities.recorded import RecordedCalls
from domain.graph import AnchorHit, Vector
from domain.jobs import anchor_id
from domain.keys import anchor_key
from domain.memory import Chunk, Entity, Extraction
from domain.messages import JobRef
from domain.model_calls import Candidate, EntityQuestion
from domain.ports import GraphStore

CANDIDATES = 4
"""Neighbours retrieved for an entity (paper A.2)."""
SIMILARITY_FLOOR = 0.72
"""Least cosine of a candidate (paper A.2)."""


class Registry:
    """The user's anchors, and the names that earlier records of the chunk are about to add to them.

    The user's graph does not change while a chunk is canonicalized (the user's queue sees to it), so it is read once.
    """

    def __init__(self, graph: GraphStore, calls: RecordedCalls, job: JobRef) -> None:
        self._graph = graph
        self._calls = calls
        self._job = job
        self._vectors: dict[str, Vector] = {}
        """By key: names that no anchor of the user owns."""
        self._stored: dict[str, tuple[AnchorHit, ...]] = {}
        self._fresh: dict[str, Entity] = {}

    async def load(self, chunk: Chunk, extractions: Sequence[Extraction]) -> None:
        """Read and embed what the questions about these extractions need."""
        by_key = {anchor_key(entity.name): entity.name for one in extractions for entity in one.entities}
        known = await self._graph.resolve(chunk.user_id, sorted(by_key))
        unknown = [key for key in sorted(by_key) if key not in known]
        vectors = await self._calls.embed(
            [by_key[key] for key in unknown], job=self._job, subject=chunk.id, detail="canonicalize"
        )
        near = await self._graph.nearest(chunk.user_id, vectors, limit=CANDIDATES, floor=SIMILARITY_FLOOR)
        self._vectors = dict(zip(unknown, vectors, strict=True))
        self._stored = dict(zip(unknown, near, strict=True))

    def questions(self, user_id: str, extraction: Extraction) -> tuple[EntityQuestion, ...]:
        """Entities whose key is new to the user, each with up to CANDIDATES near names; those without any are left
        out."""
        new = {anchor_key(entity.name): entity for entity in reversed(extraction.entities)}
        asked = [key for key in sorted(new) if key in self._vectors and key not in self._fresh]
        questions = (EntityQuestion(entity=new[key], candidates=self._candidates(user_id, key)) for key in asked)
        return tuple(question for question in questions if question.candidates)

    def learn(self, extraction: Extraction) -> None:
        """Remember the names of a record of this chunk, which its upsert has yet to store."""
        for entity in extraction.entities:
            key = anchor_key(entity.name)
            if key in self._vectors:
                self._fresh.setdefault(key, entity)

    def _candidates(self, user_id: str, key: str) -> tuple[Candidate, ...]:
        fresh = (self._hit(user_id, key, other) for other in self._fresh)
        hits = [*self._stored[key], *(hit for hit in fresh if hit.score >= SIMILARITY_FLOOR)]
        best = sorted(hits, key=lambda hit: (-hit.score, hit.anchor_id))[:CANDIDATES]
        return tuple(Candidate(name=hit.name, type=hit.type, aliases=hit.aliases, score=hit.score) for hit in best)

    def _hit(self, user_id: str, key: str, other: str) -> AnchorHit:
        entity = self._fresh[other]
        return AnchorHit(
            anchor_id=anchor_id(user_id, other),
            name=entity.name,
            type=entity.type,
            aliases=entity.aliases,
            score=_cosine(self._vectors[key], self._vectors[other]),
        )


def _cosine(a: Vector, b: Vector) -> float:
    """Of unit vectors; rounding can't take it out of [-1, 1]."""
    return max(-1.0, min(1.0, sum(x * y for x, y in zip(a, b, strict=True))))
