"""The evidence plane's tables and the graph's side tables: the schema of record that the migrations must arrive at.

The stores speak SQL of their own to these tables; nothing loads or saves through these classes. The graph's own label
tables belong to Apache AGE (schema `memory`) and stand in the migrations.
"""

from datetime import date, datetime
from typing import Any, ClassVar
from uuid import UUID

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import (
    BigInteger,
    Column,
    Computed,
    Date,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION, JSONB, TSVECTOR
from sqlmodel import Field, SQLModel


def _text(**options: Any) -> Any:
    return Field(sa_column=Column(Text, nullable=False, **options))


def _key(*references: str) -> Any:
    return Field(sa_column=Column(Uuid, *map(ForeignKey, references), primary_key=True))


def _moment(*, nullable: bool = False) -> Any:
    return Field(sa_column=Column(DateTime(timezone=True), nullable=nullable))


def _number() -> Any:
    return Field(sa_column=Column(Integer, nullable=False))


def _reference(*references: str, nullable: bool = False) -> Any:
    return Field(sa_column=Column(Uuid, *map(ForeignKey, references), nullable=nullable))


def _ids() -> Any:
    return Field(sa_column=Column(ARRAY(Uuid), nullable=False))


def _long(*, identity: bool = False) -> Any:
    return Field(sa_column=Column(BigInteger, *([Identity(always=True)] if identity else []), nullable=False))


def _real() -> Any:
    return Field(sa_column=Column(DOUBLE_PRECISION, nullable=False))


def _json() -> Any:
    return Field(sa_column=Column(JSONB, nullable=False))


def _vector() -> Any:
    """Of the embedder's dimension, which `meta` holds; unit length. Kept in the row (migration 0001): always read."""
    return Field(sa_column=Column(VECTOR(), nullable=False))


WORDS = "to_tsvector('simple', left(title || ' ' || text, 200000))"
"""What full text finds of a record. Cut, for a tsvector holds a megabyte at most."""

NAME_INDEX_PREFIX = "anchor_near_"
"""Of the indexes on `anchor_vectors` that users with very many anchors have of their own; no migration makes them."""


class Table(SQLModel):
    """Base of the tables."""

    metadata: ClassVar[MetaData] = MetaData()


class Meta(Table, table=True):
    """Facts of the installation: the embedder's name and dimension."""

    __tablename__ = "meta"
    key: str = _text(primary_key=True)
    value: str = _text()


class Jobs(Table, table=True):
    """One row an accepted input; its id is the input's and the job's."""

    __tablename__ = "jobs"
    __table_args__ = (
        Index("jobs_request", "user_id", "request_id", unique=True),
        Index("jobs_sequence", "user_id", "sequence", unique=True),
        Index(
            "jobs_open",
            "user_id",
            "sequence",
            postgresql_where=text("state IN ('accepted', 'running', 'extracted')"),
        ),
        Index("jobs_batch", "batch_id", "sequence", postgresql_where=text("batch_id IS NOT NULL")),
    )
    id: UUID = _key()
    user_id: str = _text()
    request_id: str = _text()
    body_hash: str = _text()
    sequence: int = _number()
    state: str = _text()
    session_id: str = _text()
    form: str = _text()
    title: str = _text()
    timezone: str = _text()
    time_source: str = _text()
    sanitized: bool
    messages: int = _number()
    chunks: int = _number()
    step: str = _text()
    reason: str = _text()
    attempt: int = _number()
    accepted_at: datetime = _moment()
    waiting_since: datetime = _moment()
    finished_at: datetime | None = _moment(nullable=True)
    batch_id: UUID | None = _reference(nullable=True)


class Messages(Table, table=True):
    """Verbatim turns, secrets already out; `ordinal` is the position in the input."""

    __tablename__ = "messages"
    __table_args__ = (Index("messages_turn", "user_id", "session_id", "message_id", unique=True),)
    job_id: UUID = _key("jobs.id")
    ordinal: int = Field(sa_column=Column(Integer, primary_key=True))
    user_id: str = _text()
    session_id: str = _text()
    message_id: str = _text()
    speaker: str = _text()
    text: str = _text()
    sent_at: datetime = _moment()
    captions: list[str] = _json()


class Chunks(Table, table=True):
    """Chunks as cut (`content`: the domain's Chunk as JSON), the kinds they were routed to, and how far they came."""

    __tablename__ = "chunks"
    __table_args__ = (Index("chunks_position", "job_id", "ordinal", unique=True),)
    id: UUID = _key()
    job_id: UUID = Field(sa_column=Column(Uuid, ForeignKey("jobs.id"), nullable=False))
    user_id: str = _text()
    ordinal: int = _number()
    content: dict[str, Any] = _json()
    kinds: list[str] | None = Field(sa_column=Column(ARRAY(Text), nullable=True))
    committed: bool
    failed_step: str = _text()
    failed_reason: str = _text()


class Records(Table, table=True):
    """Memories. `position` numbers them in the order of insertion, for pages; `words` is what full text searches."""

    __tablename__ = "records"
    __table_args__ = (
        Index("records_chunk", "chunk_id", "kind", "ordinal", unique=True),
        Index("records_input", "input_id"),
        Index("records_page", "user_id", "position"),
        Index("records_view", "user_id", "kind", "mention_time"),
        Index("records_session", "user_id", "session_id", "mention_time"),
        Index("records_words", "words", postgresql_using="gin"),
    )
    id: UUID = _key()
    position: int = Field(sa_column=Column(BigInteger, Identity(always=True), nullable=False))
    user_id: str = _text()
    kind: str = _text()
    title: str = _text()
    text: str = _text()
    event_start: date | None = Field(sa_column=Column(Date, nullable=True))
    event_end: date | None = Field(sa_column=Column(Date, nullable=True))
    event_granularity: str | None = Field(sa_column=Column(Text, nullable=True))
    event_clock: str | None = Field(sa_column=Column(Text, nullable=True))
    mention_time: datetime = _moment()
    status: str = _text()
    input_id: UUID = Field(sa_column=Column(Uuid, ForeignKey("jobs.id"), nullable=False))
    chunk_id: UUID = Field(sa_column=Column(Uuid, ForeignKey("chunks.id"), nullable=False))
    session_id: str = _text()
    ordinal: int = _number()
    sources: list[Any] = _json()
    attributes: dict[str, str] = _json()
    degraded: str = _text()
    version: int = _number()
    index_status: str = _text()
    index_step: str = _text()
    index_reason: str = _text()
    words: Any = Field(sa_column=Column(TSVECTOR, Computed(WORDS, persisted=True)))


class RecordVectors(Table, table=True):
    """Embeddings of records."""

    __tablename__ = "record_vectors"
    user_id: str = _text(primary_key=True)
    record_id: UUID = _key("records.id")
    model: str = _text()
    vector: Any = _vector()


class Drafts(Table, table=True):
    """Results of a record's steps on the way to the graph, as JSON text."""

    __tablename__ = "drafts"
    record_id: UUID = _key("records.id")
    step: str = _text(primary_key=True)
    draft: str = _text()


class ModelCalls(Table, table=True):
    """Audit of model calls, and the first answer each gave."""

    __tablename__ = "model_calls"
    __table_args__ = (Index("model_calls_job", "job_id"), Index("model_calls_user", "user_id"))
    key: str = _text(primary_key=True)
    user_id: str = _text()
    job_id: UUID = Field(sa_column=Column(Uuid, nullable=False))
    purpose: str = _text()
    model: str = _text()
    prompt_id: str = _text()
    prompt_hash: str = _text()
    tokens_in: int = _number()
    tokens_out: int = _number()
    latency_ms: int = _number()
    attempts: int = _number()
    outcome: str = _text()
    answer: str | None = Field(sa_column=Column(Text, nullable=True))
    first_at: datetime = _moment()
    last_at: datetime = _moment()


class VaultKeys(Table, table=True):
    """A user's data key, wrapped by the master key."""

    __tablename__ = "vault_keys"
    user_id: str = _text(primary_key=True)
    wrapped: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class VaultEntries(Table, table=True):
    """Sealed values: nonce and ciphertext under the user's key."""

    __tablename__ = "vault_entries"
    __table_args__ = (Index("vault_entries_user", "user_id"),)
    id: UUID = _key()
    user_id: str = _text()
    job_id: UUID = Field(sa_column=Column(Uuid, nullable=False))
    message_id: str = _text()
    caption: str = _text()
    sealed: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    created_at: datetime = _moment()


class VaultAccesses(Table, table=True):
    """Who opened what, when."""

    __tablename__ = "vault_accesses"
    __table_args__ = (Index("vault_accesses_entry", "entry_id"),)
    id: int = Field(sa_column=Column(BigInteger, Identity(always=True), primary_key=True))
    entry_id: UUID = Field(sa_column=Column(Uuid, ForeignKey("vault_entries.id"), nullable=False))
    user_id: str = _text()
    accessor: str = _text()
    at: datetime = _moment()


class AnchorAliases(Table, table=True):
    """Which anchor owns a key, as its own or as an alias: the look-up of names."""

    __tablename__ = "anchor_aliases"
    __table_args__ = (Index("anchor_aliases_anchor", "user_id", "anchor_id"),)
    user_id: str = _text(primary_key=True)
    key: str = _text(primary_key=True)
    anchor_id: UUID = Field(sa_column=Column(Uuid, nullable=False))
    name: str = _text()


class AnchorRecords(Table, table=True):
    """The records that mention an anchor (I_E, I_S of Eq. 4), a row each: one more costs a hub no more than others."""

    __tablename__ = "anchor_records"
    __table_args__ = (Index("anchor_records_record", "user_id", "record_id"),)
    user_id: str = _text(primary_key=True)
    anchor_id: UUID = _key()
    record_id: UUID = _key()
    kind: str = _text()


class AnchorVectors(Table, table=True):
    """Embeddings of anchors' names."""

    __tablename__ = "anchor_vectors"
    user_id: str = _text(primary_key=True)
    anchor_id: UUID = _key()
    model: str = _text()
    vector: Any = _vector()


class FrameVectors(Table, table=True):
    """Embeddings of rendered frames."""

    __tablename__ = "frame_vectors"
    user_id: str = _text(primary_key=True)
    frame_id: str = _text(primary_key=True)
    model: str = _text()
    vector: Any = _vector()


class FrameCitations(Table, table=True):
    """Records to the frames that cite them: the reverse of the frame's `record_ids`, from a row to its facts."""

    __tablename__ = "frame_citations"
    user_id: str = _text(primary_key=True)
    record_id: UUID = _key()
    frame_id: str = _text(primary_key=True)


class BatchChunks(Table, table=True):
    """The chunks of a batch that are in the graph, numbered from 1."""

    __tablename__ = "batch_chunks"
    __table_args__ = (Index("batch_chunks_chunk", "batch_id", "chunk_id", unique=True),)
    batch_id: UUID = _key()
    ordinal: int = Field(sa_column=Column(Integer, primary_key=True))
    chunk_id: UUID = _reference()


class Consolidations(Table, table=True):
    """One row a request to AutoDream; `evidence_position` is the last record's when it began."""

    __tablename__ = "consolidations"
    __table_args__ = (
        Index("consolidations_request", "user_id", "request_id", unique=True),
        Index("consolidations_sequence", "user_id", "sequence", unique=True),
        Index("consolidations_open", "user_id", "sequence", postgresql_where=text("state IN ('accepted', 'running')")),
    )
    id: UUID = _key()
    user_id: str = _text()
    request_id: str = _text()
    sequence: int = _number()
    mode: str = _text()
    dry_run: bool
    review: bool
    chunk_ids: list[UUID] = _ids()
    since: datetime | None = _moment(nullable=True)
    target: UUID | None = _reference(nullable=True)
    absorbed: UUID | None = _reference(nullable=True)
    name: str = _text()
    force: bool
    actor: str = _text()
    timeout_seconds: int = _number()
    after_job: int = _number()
    state: str = _text()
    applying: bool
    step: str = _text()
    reason: str = _text()
    detail: str = _text()
    receipt: dict[str, Any] = _json()
    evidence_position: int = _long()
    accepted_at: datetime = _moment()
    started_at: datetime | None = _moment(nullable=True)
    finished_at: datetime | None = _moment(nullable=True)


class DreamSources(Table, table=True):
    """The anchors that a stage takes as sources; `waiting` ones have a pair that a later round must form again."""

    __tablename__ = "dream_sources"
    consolidation_id: UUID = _key("consolidations.id")
    stage: str = _text(primary_key=True)
    anchor_id: UUID = _key()
    waiting: bool


class DreamPairs(Table, table=True):
    """The pairs of a consolidation, with the records their verification reads and what became of them."""

    __tablename__ = "dream_pairs"
    __table_args__ = (Index("dream_pairs_page", "consolidation_id", "id"), Index("dream_pairs_key", "key"))
    id: UUID = _key()
    consolidation_id: UUID = _reference("consolidations.id")
    stage: str = _text()
    key: str = _text()
    type: str = _text()
    a_id: UUID = _reference()
    a_name: str = _text()
    a_records: list[UUID] = _ids()
    b_id: UUID = _reference()
    b_name: str = _text()
    b_records: list[UUID] = _ids()
    similarity: float = _real()
    state: str = _text()
    verdict: str | None = Field(sa_column=Column(Text, nullable=True))
    canonical: UUID | None = _reference(nullable=True)
    reason: str = _text()
    decided_by: str = _text()


class DreamRejections(Table, table=True):
    """The negative cache: pairs told to be different."""

    __tablename__ = "dream_rejections"
    user_id: str = _text(primary_key=True)
    key: str = _text(primary_key=True)
    rejected_at: datetime = _moment()


class DreamFrontier(Table, table=True):
    """Anchors with semantic records that no round has taken as a source since; `position` is the order of waiting."""

    __tablename__ = "dream_frontier"
    __table_args__ = (Index("dream_frontier_order", "user_id", "position"),)
    user_id: str = _text(primary_key=True)
    anchor_id: UUID = _key()
    position: int = _long(identity=True)


class Merges(Table, table=True):
    """The merge log: each merge with the absorbed anchor as it was."""

    __tablename__ = "merges"
    __table_args__ = (
        Index("merges_consolidation", "consolidation_id", "id"),
        Index("merges_representative", "user_id", "representative"),
        Index("merges_absorbed", "user_id", "absorbed"),
    )
    id: UUID = _key()
    user_id: str = _text()
    sequence: int = _long(identity=True)
    consolidation_id: UUID = _reference("consolidations.id")
    absorbed: UUID = _reference()
    absorbed_name: str = _text()
    representative: UUID = _reference()
    representative_name: str = _text()
    type: str = _text()
    graph_id: str = _text()
    properties: str = _text()
    model: str = _text()
    vector: Any = _vector()
    names_added: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))
    score_before: float = _real()
    evidence_position: int = _long()
    state: str = _text()
    merged_at: datetime = _moment()
    undone_by: UUID | None = _reference(nullable=True)


class MergeArms(Table, table=True):
    """The arms that a merge moved; a collided one was dropped, for the representative had the role already."""

    __tablename__ = "merge_arms"
    merge_id: UUID = _key("merges.id")
    frame_id: str = _text(primary_key=True)
    role: str = _text(primary_key=True)
    arm_id: str = _text()
    frame_graph_id: str = _text()
    properties: str = _text()
    collided: bool


class MergeRecords(Table, table=True):
    """The mentions that a merge moved; a collided one was dropped, for the record mentions the representative too."""

    __tablename__ = "merge_records"
    merge_id: UUID = _key("merges.id")
    record_id: UUID = _key()
    kind: str = _text()
    collided: bool


class MergeAliases(Table, table=True):
    """The keys that a merge moved."""

    __tablename__ = "merge_aliases"
    merge_id: UUID = _key("merges.id")
    key: str = _text(primary_key=True)


class EvidenceDigests(Table, table=True):
    """How many records a user has, and a digest of them that triggers keep (migration 0003): XOR of two hashes each."""

    __tablename__ = "evidence_digests"
    user_id: str = _text(primary_key=True)
    records: int = _long()
    first: int = _long()
    second: int = _long()
