"""A memory model that answers from a recording: same input, same answer; it stands for a production model."""

import json
from pathlib import Path

from domain.errors import InvalidInput, ModelOutputInvalid
from domain.memory import (
    GRAPH_KINDS,
    Arm,
    Chunk,
    Entity,
    Extraction,
    FrameDraft,
    Frozen,
    Literal,
    MemoryKind,
    RecordDraft,
    Source,
    Status,
    TimeSpan,
)
from domain.model_calls import (
    CanonicalizeAnswer,
    CanonicalizeRequest,
    ExtractRequest,
    RepairRequest,
    Reply,
    RouteAnswer,
    RouteRequest,
    SameAnswer,
    SameRequest,
    Usage,
    WriteAnswer,
    WriteRequest,
)
from infra.models.rules.same import same

NAME = "recorded"
USAGE = Usage(model=NAME)

CHUNK_TURNS = 10_000
CHUNK_CHARACTERS = 10_000_000
"""The recording was made session by session: chunks must be whole sessions."""


class _Arm(Frozen):
    role: str
    name: str
    type: str


class _Frame(Frozen):
    predicate: str
    arms: tuple[_Arm, ...]
    literals: dict[str, str]
    event_time: TimeSpan | None
    status: Status


class _Line(Frozen):
    """A recorded record with its frames."""

    conversation_id: str
    session: int
    kind: MemoryKind
    title: str
    text: str
    event_time: TimeSpan | None
    status: Status
    sources: tuple[str, ...]
    frames: tuple[_Frame, ...]


class RecordedAnswers:
    """MemoryModel over `conv-*.jsonl` of a folder, one record a line, found by session, kind and place in the file.

    Raises InvalidInput if the folder holds no recording.
    """

    def __init__(self, folder: Path) -> None:
        paths = sorted(folder.glob("conv-*.jsonl"))
        if not paths:
            raise InvalidInput(f"no recorded answers (conv-*.jsonl) in {folder}", field="--recorded")
        self.conversations = frozenset(path.stem for path in paths)
        self._lines: dict[tuple[str, MemoryKind], list[_Line]] = {}
        for path in paths:
            for text in path.read_text(encoding="utf-8").splitlines():
                line = _Line.model_validate(json.loads(text))
                session = f"{line.conversation_id}/session-{line.session}"
                self._lines.setdefault((session, line.kind), []).append(line)

    @property
    def name(self) -> str:
        """Model name for the audit rows."""
        return NAME

    async def route(self, request: RouteRequest) -> Reply[RouteAnswer]:
        """The kinds the session has records of."""
        kinds = tuple(kind for kind in GRAPH_KINDS if self._of(request.chunk, kind))
        return Reply(answer=RouteAnswer(kinds=kinds), usage=USAGE)

    async def write(self, request: WriteRequest) -> Reply[WriteAnswer]:
        """The session's records of the kind, in the order of the recording."""
        drafts = tuple(map(_draft, self._of(request.chunk, request.kind)))
        return Reply(answer=WriteAnswer(records=drafts), usage=USAGE)

    async def extract(self, request: ExtractRequest) -> Reply[Extraction]:
        """The recorded frames, and every participant as an entity."""
        record = request.record
        lines = self._lines.get((record.session_id, record.kind), [])
        if record.ordinal >= len(lines) or lines[record.ordinal].title != record.title:
            raise ModelOutputInvalid(f"nothing is recorded for record {record.id}")
        return Reply(answer=_extraction(lines[record.ordinal]), usage=USAGE)

    async def repair(self, request: RepairRequest) -> Reply[Extraction]:
        """Nothing: the recording is complete."""
        return Reply(answer=Extraction(), usage=USAGE)

    async def canonicalize(self, request: CanonicalizeRequest) -> Reply[CanonicalizeAnswer]:
        """No rename: names of one key meet without being asked about."""
        return Reply(answer=CanonicalizeAnswer(), usage=USAGE)

    async def same(self, request: SameRequest) -> Reply[SameAnswer]:
        """By the rules: no verdict is recorded."""
        return Reply(answer=same(request), usage=USAGE)

    def _of(self, chunk: Chunk, kind: MemoryKind) -> list[_Line]:
        if chunk.ordinal:
            raise ModelOutputInvalid("the session was cut: recorded answers need whole sessions as chunks")
        return self._lines.get((chunk.session_id, kind), [])


def _draft(line: _Line) -> RecordDraft:
    return RecordDraft(
        kind=line.kind,
        title=line.title,
        text=line.text,
        event_time=line.event_time,
        status=line.status,
        sources=tuple(Source(turn_id=turn) for turn in line.sources),
    )


def _extraction(line: _Line) -> Extraction:
    entities: dict[str, Entity] = {}
    for frame in line.frames:
        for arm in frame.arms:
            entities.setdefault(arm.name, Entity.model_validate({"name": arm.name, "type": arm.type}))
    return Extraction(entities=tuple(entities.values()), frames=tuple(map(_frame, line.frames)))


def _frame(frame: _Frame) -> FrameDraft:
    return FrameDraft(
        predicate=frame.predicate,
        arms=tuple(Arm(role=arm.role, name=arm.name) for arm in frame.arms),
        literals=tuple(Literal(name=name, value=value) for name, value in frame.literals.items()),
        event_time=frame.event_time,
        status=frame.status,
    )
