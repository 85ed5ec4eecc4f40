"""What the model is asked to answer with: one wire model an answer, as lax as can be turned into domain values
without guessing.

Names of kinds, types and statuses, dates and turn numbers are plain here; `answers` maps or drops them. Only a broken
structure is a schema violation that is worth a re-ask.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from domain.memory import MemoryKind


class Wire(BaseModel):
    """Unknown fields are ignored, numbers may stand for texts, and null means that the field is left out."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, dict) else data


class WireRoute(Wire):
    """The kinds a chunk updates, by name."""

    kinds: list[str]


class WireTime(Wire):
    """A time span; `start` and `end` are YYYY-MM-DD, `clock` is HH:MM."""

    start: str
    end: str = ""
    granularity: str = ""
    clock: str = ""


class WireRecord(Wire):
    """A record as a writer answers it; `turns` holds the numbers of the cited turns. Fields of subclasses become
    attributes.
    """

    title: str = ""
    text: str
    status: str = ""
    event_time: WireTime | None = None
    turns: list[int | str] = []


class CoreRecord(WireRecord):
    """A core fact and the block it belongs to."""

    label: str = ""


class EpisodicRecord(WireRecord):
    """An event."""

    actor: str = ""
    event_type: str = ""


class ProceduralRecord(WireRecord):
    """A procedure; `steps` in order."""

    when_to_use: str = ""
    steps: list[str] = []


class VaultRecord(WireRecord):
    """A secret: `text` is the value itself."""

    caption: str = ""


class CoreRecords(Wire):
    """Answer of the core writer."""

    records: list[CoreRecord]


class EpisodicRecords(Wire):
    """Answer of the episodic writer."""

    records: list[EpisodicRecord]


class PlainRecords(Wire):
    """Answer of the semantic and of the resource writer."""

    records: list[WireRecord]


class ProceduralRecords(Wire):
    """Answer of the procedural writer."""

    records: list[ProceduralRecord]


class VaultRecords(Wire):
    """Answer of the vault writer."""

    records: list[VaultRecord]


WireRecords = CoreRecords | EpisodicRecords | PlainRecords | ProceduralRecords | VaultRecords

RECORDS_OF: dict[MemoryKind, type[WireRecords]] = {
    MemoryKind.CORE: CoreRecords,
    MemoryKind.EPISODIC: EpisodicRecords,
    MemoryKind.SEMANTIC: PlainRecords,
    MemoryKind.PROCEDURAL: ProceduralRecords,
    MemoryKind.RESOURCE: PlainRecords,
    MemoryKind.VAULT: VaultRecords,
}
"""The wire model of each kind's writer."""


class WireEntity(Wire):
    """A participant."""

    name: str
    type: str = ""
    aliases: list[str] = []


class WireArm(Wire):
    """A role and the entity in it."""

    role: str = ""
    name: str


class WireLiteral(Wire):
    """A value on a frame."""

    name: str = ""
    value: str
    unit: str = ""


class WireFrame(Wire):
    """One assertion."""

    predicate: str
    arms: list[WireArm]
    literals: list[WireLiteral] = []
    event_time: WireTime | None = None
    status: str = ""
    negated: bool = False
    modality: str = ""


class WireExtraction(Wire):
    """Answer of the extractor and of the repair."""

    entities: list[WireEntity] = Field(default_factory=list)
    frames: list[WireFrame]


class WireDecision(Wire):
    """The candidate that an entity is the same as; left out or null if none."""

    entity: str
    same_as: str = ""


class WireDecisions(Wire):
    """Answer of the canonicalizer."""

    decisions: list[WireDecision]


class WireSame(Wire):
    """Answer of the verification of a pair."""

    verdict: str
    canonical: str = ""
    reason: str = ""
