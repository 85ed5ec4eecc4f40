"""From writers' drafts to records with identity (paper Eq. 2; design 3, Commit)."""

from collections.abc import Mapping

from domain.jobs import record_id
from domain.memory import GRAPH_KINDS, Chunk, IndexStatus, MemoryKind, Record, RecordDraft, Source, TimeSpan, Turn

VIEW_LIMIT = 20
"""Most current records of its kind that a writer sees (design 3: a bounded view)."""


def records_of(chunk: Chunk, drafts: Mapping[MemoryKind, tuple[RecordDraft, ...]]) -> tuple[Record, ...]:
    """The records of a chunk, in the order of MemoryKind; ids depend on chunk, kind and position alone."""
    return tuple(
        _record(chunk, draft, ordinal) for kind in MemoryKind for ordinal, draft in enumerate(drafts.get(kind, ()))
    )


def _record(chunk: Chunk, draft: RecordDraft, ordinal: int) -> Record:
    known = {turn.id for turn in chunk.turns}
    sources = tuple(source for source in draft.sources if source.turn_id in known)
    sources = sources or tuple(Source(turn_id=turn_id) for turn_id in dict.fromkeys(turn.id for turn in chunk.turns))
    cited = {source.turn_id for source in sources}
    indexable = draft.kind in GRAPH_KINDS and not draft.degraded
    return Record(
        id=record_id(chunk.id, draft.kind, ordinal),
        user_id=chunk.user_id,
        kind=draft.kind,
        title=draft.title,
        text=draft.text,
        event_time=draft.event_time,
        mention_time=max(turn.at for turn in chunk.turns if turn.id in cited),
        status=draft.status,
        input_id=chunk.input_id,
        chunk_id=chunk.id,
        session_id=chunk.session_id,
        ordinal=ordinal,
        sources=sources,
        attributes=draft.attributes,
        degraded=draft.degraded,
        index_status=IndexStatus.PENDING if indexable else IndexStatus.NOT_INDEXED,
    )


def cited_turns(record: Record, chunk: Chunk) -> tuple[Turn, ...]:
    """The turns of the chunk that a record was written from, in order."""
    cited = {source.turn_id for source in record.sources}
    return tuple(turn for turn in chunk.turns if turn.id in cited)


def embedding_text(record: Record) -> str:
    """What a record is embedded as: title, text and date (platform trial: title + text + date ranks best)."""
    when = _dates(record.event_time) if record.event_time else record.mention_time.date().isoformat()
    return f"{record.title}. {record.text} ({when})"


def _dates(span: TimeSpan) -> str:
    start, end = span.start.isoformat(), span.end.isoformat()
    return start if start == end else f"{start} to {end}"
