"""Requests to put to a model: one small conversation and what comes of it."""

from datetime import UTC, date, datetime
from uuid import UUID

from domain.memory import (
    AnchorType,
    Arm,
    Chunk,
    Entity,
    Extraction,
    FrameDraft,
    Granularity,
    InputForm,
    MemoryKind,
    Record,
    Source,
    TimeSpan,
    Turn,
)
from domain.model_calls import (
    AnchorView,
    Candidate,
    CanonicalizeRequest,
    EntityQuestion,
    ExtractRequest,
    RecordView,
    RepairRequest,
    RouteRequest,
    SameRequest,
    WriteRequest,
)

TURNS = (
    Turn(
        id="D1:1",
        speaker="Maya",
        text="Yesterday I bought two kayaks at Harbor Outfitters. The code is 4417.",
        at=datetime(2023, 5, 8, 12, 56, tzinfo=UTC),
        captions=("two red kayaks on a roof rack",),
    ),
    Turn(id="D1:2", speaker="Tom", text="Nice! Where will you go?", at=datetime(2023, 5, 8, 12, 57, tzinfo=UTC)),
    Turn(
        id="D1:3",
        speaker="Maya",
        text="We plan Lake Orta next month.",
        at=datetime(2023, 5, 8, 12, 58, tzinfo=UTC),
        offset=100,
    ),
)

CHUNK = Chunk(
    id=UUID(int=1),
    input_id=UUID(int=2),
    user_id="maya",
    session_id="one",
    ordinal=0,
    form=InputForm.CONVERSATION,
    timezone="Asia/Tokyo",
    turns=TURNS,
    previous=Turn(id="D0:9", speaker="Tom", text="How was it?", at=datetime(2023, 5, 8, 12, 55, tzinfo=UTC)),
    speakers=("Maya", "Tom"),
)

RECORD = Record(
    id=UUID(int=3),
    user_id="maya",
    kind=MemoryKind.EPISODIC,
    title="Maya bought two kayaks",
    text="Maya bought two kayaks at Harbor Outfitters yesterday (7 May 2023).",
    event_time=TimeSpan(start=date(2023, 5, 7), end=date(2023, 5, 7), granularity=Granularity.DAY),
    mention_time=TURNS[0].at,
    input_id=CHUNK.input_id,
    chunk_id=CHUNK.id,
    session_id="one",
    ordinal=0,
    sources=(Source(turn_id="D1:1"),),
)

EXTRACTION = Extraction(
    entities=(
        Entity(name="Maya", type=AnchorType.PERSON, aliases=("M. Okafor",)),
        Entity(name="Harbor Outfitters", type=AnchorType.ORGANIZATION),
    ),
    frames=(
        FrameDraft(
            predicate="buy_at",
            arms=(Arm(role="agent", name="Maya"), Arm(role="source", name="Harbor Outfitters")),
        ),
    ),
)

ROUTE = RouteRequest(chunk=CHUNK)
EXTRACT = ExtractRequest(record=RECORD, turns=TURNS[:1], timezone="Asia/Tokyo", speakers=("Maya", "Tom"))
REPAIR = RepairRequest(record=RECORD, turns=TURNS[:1], extraction=EXTRACTION, missing=("two", "red kayaks"))
CANONICALIZE = CanonicalizeRequest(
    record=RECORD,
    questions=(
        EntityQuestion(
            entity=Entity(name="Maya"),
            candidates=(Candidate(name="Maya Okafor", type="person", aliases=("May",), score=0.8),),
        ),
        EntityQuestion(
            entity=Entity(name="10 Gallons"),
            candidates=(Candidate(name="20 Gallons", type="object", score=0.9),),
        ),
        EntityQuestion(entity=Entity(name="Lake Orta"), candidates=()),
    ),
)

SAME = SameRequest(
    type="person",
    a=AnchorView(name="Maya", aliases=("May",), evidence=("Maya bought two red kayaks.",)),
    b=AnchorView(name="Maya Okafor", evidence=("Maya Okafor paddles on Lake Orta.",)),
)


def write(kind: MemoryKind) -> WriteRequest:
    """A write request of a kind, with one current record in view."""
    return WriteRequest(kind=kind, chunk=CHUNK, view=(RecordView(title="Maya's boat", text="Maya owns a canoe."),))
