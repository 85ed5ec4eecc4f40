"""Requests and answers of the model port: the calls marked * in Algorithm 1, each bounded by what the request
offers."""

from enum import StrEnum
from typing import Generic, TypeVar

from domain.memory import Chunk, Entity, Extraction, Frozen, MemoryKind, Record, RecordDraft, Turn


class Purpose(StrEnum):
    """What a model call is for; stored with its audit row."""

    ROUTE = "route"
    WRITE = "write"
    EXTRACT = "extract"
    REPAIR = "repair"
    CANONICALIZE = "canonicalize"
    SAME = "same"
    EMBED = "embed"


class RouteRequest(Frozen):
    """R_theta(x_t): which kinds does this chunk update? (paper A.1)"""

    chunk: Chunk


class RouteAnswer(Frozen):
    """Kinds in the order of MemoryKind, without repetition; may be empty."""

    kinds: tuple[MemoryKind, ...]


class RecordView(Frozen):
    """What a writer sees of a current record."""

    title: str
    text: str


class WriteRequest(Frozen):
    """W_k(x_t, P_u): the records of one kind that this chunk gives rise to (paper A.1)."""

    kind: MemoryKind
    chunk: Chunk
    view: tuple[RecordView, ...] = ()
    """A bounded selection of the user's current records of the kind."""


class WriteAnswer(Frozen):
    """Records of the asked kind, citing only turns of the chunk; may be empty."""

    records: tuple[RecordDraft, ...]


class ExtractRequest(Frozen):
    """Phi(m): entities and frames of one committed record (paper 2.3)."""

    record: Record
    turns: tuple[Turn, ...]
    """The turns the record cites, vault placeholders in place of secrets."""
    timezone: str = "UTC"
    speakers: tuple[str, ...] = ()


class RepairRequest(Frozen):
    """One bounded repair call: the source items no frame covers, at most MAX_REPAIR_ITEMS (paper A.2)."""

    record: Record
    turns: tuple[Turn, ...]
    extraction: Extraction
    missing: tuple[str, ...]
    timezone: str = "UTC"
    speakers: tuple[str, ...] = ()


class Candidate(Frozen):
    """An existing anchor offered as the same entity; `score` is the cosine of the names, -1 to 1."""

    name: str
    type: str
    aliases: tuple[str, ...] = ()
    score: float


class EntityQuestion(Frozen):
    """Is `entity` one of `candidates`?"""

    entity: Entity
    candidates: tuple[Candidate, ...]


class CanonicalizeRequest(Frozen):
    """One call a record decides for all its entities (paper A.2)."""

    record: Record
    questions: tuple[EntityQuestion, ...]


class Rename(Frozen):
    """`name` denotes the anchor called `candidate`."""

    name: str
    candidate: str


class CanonicalizeAnswer(Frozen):
    """Only the entities that are the same as a candidate; all others stay themselves."""

    renames: tuple[Rename, ...] = ()


class AnchorView(Frozen):
    """What a verification sees of an anchor."""

    name: str
    aliases: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    """Texts of a few records that mention it, vault placeholders in place of secrets."""


class SameRequest(Frozen):
    """Same(a, b): do two anchors of one type denote one thing? (paper 2.5, Algorithm 1, line 25)"""

    type: str
    a: AnchorView
    b: AnchorView


class Verdict(StrEnum):
    """Of a verification. Only `same` merges, only `different` is remembered; `unsure` does neither."""

    SAME = "same"
    DIFFERENT = "different"
    UNSURE = "unsure"


class SameAnswer(Frozen):
    """The verdict; with `same` one of the two names as the canonical one (paper 2.5)."""

    verdict: Verdict
    canonical: str = ""
    reason: str = ""
    """A short reason for the people who review it."""


class Usage(Frozen):
    """What one call cost, for its audit row. Holds no text."""

    model: str
    prompt_id: str = ""
    prompt_hash: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    latency_ms: int = 0
    attempts: int = 1


T = TypeVar("T", bound=Frozen, covariant=True)


class Reply(Frozen, Generic[T]):
    """An answer with its cost."""

    answer: T
    usage: Usage
