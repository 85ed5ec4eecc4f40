"""Shared Hypothesis strategies: names, texts, frames and inputs as they come in the wild."""

from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st

from domain.intake import InputIn, MessageIn
from domain.memory import (
    Arm,
    Entity,
    Extraction,
    FrameDraft,
    Granularity,
    InputForm,
    Literal,
    MemoryKind,
    Message,
    NewInput,
    Record,
    Source,
    Status,
    TimeSpan,
    Turn,
)

settings.register_profile("no_deadline", deadline=None)  # a loaded machine is no failure
settings.load_profile("no_deadline")

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)

any_text = st.text(max_size=60)
"""Any characters, without lone surrogates."""

wild_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
"""Any characters at all: surrogates, controls, unassigned."""

scripts = st.sampled_from(
    (
        "Mobile App", "Berlin office", "10 Gallons", "20 Gallons", "X-100", "X-1000", "KX210", "Python 3.11", "김하나",
        "김 하나", "Ольга Петрова", "Ωmega", "شركة نور", "हिन्दी पुस्तक", "東京タワー", "AI研究会", "12号3楼", "🌱",
        "Team 🐻", "Łucjan Żółwik", "C++", "the The", "3½ cups", "€200", "٣٠ جالون", "Straße", "İstanbul", "ﬁre ﬂy",
        "café", "cafe\u0301", "a", "!!!",
    )
)  # fmt: skip
_WORDS = (
    "apple box battery canal desk engine glass house island kettle lamp meeting north orange piano river station tank"
)
words = st.sampled_from(_WORDS.split(" "))
plain_names = st.lists(words, min_size=1, max_size=4).map(" ".join)
names = st.one_of(scripts, plain_names, any_text)

ids = st.uuids().map(lambda found: UUID(str(found)))
days = st.dates(min_value=date(1990, 1, 1), max_value=date(2060, 12, 31))
statuses = st.sampled_from(tuple(Status))
predicates = st.sampled_from(("run", "visit", "own", "works_at", "like"))
roles = st.sampled_from(("agent", "object", "place", "companion", "theme"))


@st.composite
def time_spans(draw: st.DrawFn) -> TimeSpan:
    """A day, or some days."""
    start = draw(days)
    length = draw(st.integers(0, 40))
    granularity = Granularity.RANGE if length else Granularity.DAY
    return TimeSpan(start=start, end=start + timedelta(days=length), granularity=granularity)


literals = st.builds(
    Literal,
    name=st.sampled_from(("distance", "price", "count")),
    value=st.integers(0, 999).map(str),
    unit=st.sampled_from(("", "km", "EUR")),
)


@st.composite
def extractions(draw: st.DrawFn, *, max_entities: int = 20, max_frames: int = 4) -> Extraction:
    """Entities, and frames over them; some arms name no listed entity."""
    entities = draw(st.lists(st.builds(Entity, name=names), max_size=max_entities))
    pool = st.one_of(names, st.sampled_from([entity.name for entity in entities])) if entities else names
    frames = draw(
        st.lists(
            st.builds(
                FrameDraft,
                predicate=predicates,
                arms=st.lists(st.builds(Arm, role=roles, name=pool), max_size=5).map(tuple),
                literals=st.lists(literals, max_size=3).map(tuple),
                event_time=st.none() | time_spans(),
                status=statuses,
                negated=st.booleans(),
            ),
            max_size=max_frames,
        )
    )
    return Extraction(entities=tuple(entities), frames=tuple(frames))


def a_record(
    *, kind: MemoryKind = MemoryKind.EPISODIC, text: str = "", number: int = 1, sources: tuple[Source, ...] = ()
) -> Record:
    """A record of user `u1`; `number` makes its id."""
    return Record(
        id=UUID(int=number),
        user_id="u1",
        kind=kind,
        title="",
        text=text,
        mention_time=NOW,
        input_id=UUID(int=1000),
        chunk_id=UUID(int=1001),
        session_id="s1",
        ordinal=0,
        sources=sources,
    )


def a_turn(text: str, *, name: str = "t1", captions: tuple[str, ...] = ()) -> Turn:
    """A turn of Priya's."""
    return Turn(id=name, speaker="Priya", text=text, captions=captions, at=NOW)


prose = st.lists(
    st.one_of(
        st.sampled_from(("Did 5 km. ", "Why? ", "そうです。", "नमस्ते। ", "\n\n", "word ", "mot ", "…", " ", "👩‍💻")),
        any_text,
    ),
    max_size=60,
).map("".join)


@st.composite
def new_inputs(draw: st.DrawFn) -> NewInput:
    """A valid stored input of one to eight messages."""
    texts = draw(st.lists(prose, min_size=1, max_size=8))
    return NewInput(
        user_id="u1",
        request_id="r1",
        session_id="s1",
        form=draw(st.sampled_from(tuple(InputForm))),
        messages=tuple(
            Message(
                id=f"m{index}",
                speaker=draw(st.sampled_from(("Priya", "Omar", ""))),
                text=text,
                sent_at=NOW,
                captions=draw(st.lists(any_text, max_size=2).map(tuple)),
            )
            for index, text in enumerate(texts)
        ),
    )


raw_messages = st.builds(
    MessageIn,
    id=st.none() | wild_text,
    speaker=st.one_of(st.just("Priya"), wild_text),
    text=wild_text,
    sent_at=st.none() | st.datetimes(timezones=st.none() | st.just(UTC)),
    captions=st.lists(wild_text, max_size=2).map(tuple),
)
raw_inputs = st.builds(
    InputIn,
    user_id=st.one_of(st.just("u1"), wild_text),
    request_id=st.one_of(st.just("r1"), wild_text),
    session_id=st.none() | wild_text,
    timezone=st.none() | st.sampled_from(("Asia/Kolkata", "Mars/Olympus", "", "../etc/passwd", "America")) | wild_text,
    form=st.sampled_from(tuple(InputForm)),
    title=wild_text,
    messages=st.lists(raw_messages, max_size=4).map(tuple),
)
