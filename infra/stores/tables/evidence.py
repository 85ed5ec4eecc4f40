"""The evidence plane: inputs, chunks, records and what goes with them, the vault."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Column,
    Computed,
    Date,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSVECTOR
from sqlmodel import Field

from infra.stores.tables.columns import (
    Table,
    json_column,
    key_column,
    long_column,
    moment_column,
    number_column,
    reference_column,
    text_column,
    vector_column,
)

WORDS = "to_tsvector('simple', left(title || ' ' || text, 200000))"
"""What full text finds of a record. Cut, for a tsvector holds a megabyte at most."""


class Meta(Table, table=True):
    """Facts of the installation: the embedder's name and dimension."""

    __tablename__ = "meta"
    key: str = text_column(primary_key=True)
    value: str = text_column()


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
    id: UUID = key_column()
    user_id: str = text_column()
    request_id: str = text_column()
    body_hash: str = text_column()
    sequence: int = number_column()
    state: str = text_column()
    session_id: str = text_column()
    form: str = text_column()
    title: str = text_column()
    timezone: str = text_column()
    time_source: str = text_column()
    sanitized: bool
    messages: int = number_column()
    chunks: int = number_column()
    step: str = text_column()
    reason: str = text_column()
    attempt: int = number_column()
    accepted_at: datetime = moment_column()
    waiting_since: datetime = moment_column()
    finished_at: datetime | None = moment_column(nullable=True)
    batch_id: UUID | None = reference_column(nullable=True)


class Messages(Table, table=True):
    """Verbatim turns, secrets already out; `ordinal` is the position in the input."""

    __tablename__ = "messages"
    __table_args__ = (Index("messages_turn", "user_id", "session_id", "message_id", unique=True),)
    job_id: UUID = key_column("jobs.id")
    ordinal: int = Field(sa_column=Column(Integer, primary_key=True))
    user_id: str = text_column()
    session_id: str = text_column()
    message_id: str = text_column()
    speaker: str = text_column()
    text: str = text_column()
    sent_at: datetime = moment_column()
    captions: list[str] = json_column()


class Chunks(Table, table=True):
    """Chunks as cut (`content`: the domain's Chunk as JSON), the kinds they were routed to, and how far they came."""

    __tablename__ = "chunks"
    __table_args__ = (Index("chunks_position", "job_id", "ordinal", unique=True),)
    id: UUID = key_column()
    job_id: UUID = Field(sa_column=Column(Uuid, ForeignKey("jobs.id"), nullable=False))
    user_id: str = text_column()
    ordinal: int = number_column()
    content: dict[str, Any] = json_column()
    kinds: list[str] | None = Field(sa_column=Column(ARRAY(Text), nullable=True))
    committed: bool
    failed_step: str = text_column()
    failed_reason: str = text_column()


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
    id: UUID = key_column()
    position: int = Field(sa_column=Column(BigInteger, Identity(always=True), nullable=False))
    user_id: str = text_column()
    kind: str = text_column()
    title: str = text_column()
    text: str = text_column()
    event_start: date | None = Field(sa_column=Column(Date, nullable=True))
    event_end: date | None = Field(sa_column=Column(Date, nullable=True))
    event_granularity: str | None = Field(sa_column=Column(Text, nullable=True))
    event_clock: str | None = Field(sa_column=Column(Text, nullable=True))
    mention_time: datetime = moment_column()
    status: str = text_column()
    input_id: UUID = Field(sa_column=Column(Uuid, ForeignKey("jobs.id"), nullable=False))
    chunk_id: UUID = Field(sa_column=Column(Uuid, ForeignKey("chunks.id"), nullable=False))
    session_id: str = text_column()
    ordinal: int = number_column()
    sources: list[Any] = json_column()
    attributes: dict[str, str] = json_column()
    degraded: str = text_column()
    version: int = number_column()
    index_status: str = text_column()
    index_step: str = text_column()
    index_reason: str = text_column()
    words: Any = Field(sa_column=Column(TSVECTOR, Computed(WORDS, persisted=True)))


class RecordVectors(Table, table=True):
    """Embeddings of records."""

    __tablename__ = "record_vectors"
    user_id: str = text_column(primary_key=True)
    record_id: UUID = key_column("records.id")
    model: str = text_column()
    vector: Any = vector_column()


class Drafts(Table, table=True):
    """Results of a record's steps on the way to the graph, as JSON text."""

    __tablename__ = "drafts"
    record_id: UUID = key_column("records.id")
    step: str = text_column(primary_key=True)
    draft: str = text_column()


class ModelCalls(Table, table=True):
    """Audit of model calls, and the first answer each gave."""

    __tablename__ = "model_calls"
    __table_args__ = (Index("model_calls_job", "job_id"), Index("model_calls_user", "user_id"))
    key: str = text_column(primary_key=True)
    user_id: str = text_column()
    job_id: UUID = Field(sa_column=Column(Uuid, nullable=False))
    purpose: str = text_column()
    model: str = text_column()
    prompt_id: str = text_column()
    prompt_hash: str = text_column()
    tokens_in: int = number_column()
    tokens_out: int = number_column()
    latency_ms: int = number_column()
    attempts: int = number_column()
    outcome: str = text_column()
    answer: str | None = Field(sa_column=Column(Text, nullable=True))
    first_at: datetime = moment_column()
    last_at: datetime = moment_column()


class VaultKeys(Table, table=True):
    """A user's data key, wrapped by the master key."""

    __tablename__ = "vault_keys"
    user_id: str = text_column(primary_key=True)
    wrapped: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class VaultEntries(Table, table=True):
    """Sealed values: nonce and ciphertext under the user's key."""

    __tablename__ = "vault_entries"
    __table_args__ = (Index("vault_entries_user", "user_id"),)
    id: UUID = key_column()
    user_id: str = text_column()
    job_id: UUID = Field(sa_column=Column(Uuid, nullable=False))
    message_id: str = text_column()
    caption: str = text_column()
    sealed: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    created_at: datetime = moment_column()


class VaultAccesses(Table, table=True):
    """Who opened what, when."""

    __tablename__ = "vault_accesses"
    __table_args__ = (Index("vault_accesses_entry", "entry_id"),)
    id: int = Field(sa_column=Column(BigInteger, Identity(always=True), primary_key=True))
    entry_id: UUID = Field(sa_column=Column(Uuid, ForeignKey("vault_entries.id"), nullable=False))
    user_id: str = text_column()
    accessor: str = text_column()
    at: datetime = moment_column()


class BatchChunks(Table, table=True):
    """The chunks of a batch that are in the graph, numbered from 1."""

    __tablename__ = "batch_chunks"
    __table_args__ = (Index("batch_chunks_chunk", "batch_id", "chunk_id", unique=True),)
    batch_id: UUID = key_column()
    ordinal: int = Field(sa_column=Column(Integer, primary_key=True))
    chunk_id: UUID = reference_column()


class EvidenceDigests(Table, table=True):
    """How many records a user has, and a digest of them that triggers keep (migration 0003): XOR of two hashes each."""

    __tablename__ = "evidence_digests"
    user_id: str = text_column(primary_key=True)
    records: int = long_column()
    first: int = long_column()
    second: int = long_column()
