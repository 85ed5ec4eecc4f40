"""Consolidations: what was asked for, sources and pairs, the negative cache, the frontier."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Column,
    Index,
    Text,
    text,
)
from sqlmodel import Field

from infra.stores.tables.columns import (
    Table,
    ids_column,
    json_column,
    key_column,
    long_column,
    moment_column,
    number_column,
    real_column,
    reference_column,
    text_column,
)


class Consolidations(Table, table=True):
    """One row a request to AutoDream; `evidence_position` is the last record's when it began."""

    __tablename__ = "consolidations"
    __table_args__ = (
        Index("consolidations_request", "user_id", "request_id", unique=True),
        Index("consolidations_sequence", "user_id", "sequence", unique=True),
        Index("consolidations_open", "user_id", "sequence", postgresql_where=text("state IN ('accepted', 'running')")),
    )
    id: UUID = key_column()
    user_id: str = text_column()
    request_id: str = text_column()
    sequence: int = number_column()
    mode: str = text_column()
    dry_run: bool
    review: bool
    chunk_ids: list[UUID] = ids_column()
    since: datetime | None = moment_column(nullable=True)
    target: UUID | None = reference_column(nullable=True)
    absorbed: UUID | None = reference_column(nullable=True)
    name: str = text_column()
    force: bool
    actor: str = text_column()
    timeout_seconds: int = number_column()
    after_job: int = number_column()
    state: str = text_column()
    applying: bool
    step: str = text_column()
    reason: str = text_column()
    detail: str = text_column()
    receipt: dict[str, Any] = json_column()
    evidence_position: int = long_column()
    accepted_at: datetime = moment_column()
    started_at: datetime | None = moment_column(nullable=True)
    finished_at: datetime | None = moment_column(nullable=True)


class DreamSources(Table, table=True):
    """The anchors that a stage takes as sources; `waiting` ones have a pair that a later round must form again."""

    __tablename__ = "dream_sources"
    consolidation_id: UUID = key_column("consolidations.id")
    stage: str = text_column(primary_key=True)
    anchor_id: UUID = key_column()
    waiting: bool


class DreamPairs(Table, table=True):
    """The pairs of a consolidation, with the records their verification reads and what became of them."""

    __tablename__ = "dream_pairs"
    __table_args__ = (Index("dream_pairs_page", "consolidation_id", "id"), Index("dream_pairs_key", "key"))
    id: UUID = key_column()
    consolidation_id: UUID = reference_column("consolidations.id")
    stage: str = text_column()
    key: str = text_column()
    type: str = text_column()
    a_id: UUID = reference_column()
    a_name: str = text_column()
    a_records: list[UUID] = ids_column()
    b_id: UUID = reference_column()
    b_name: str = text_column()
    b_records: list[UUID] = ids_column()
    similarity: float = real_column()
    state: str = text_column()
    verdict: str | None = Field(sa_column=Column(Text, nullable=True))
    canonical: UUID | None = reference_column(nullable=True)
    reason: str = text_column()
    decided_by: str = text_column()


class DreamRejections(Table, table=True):
    """The negative cache: pairs told to be different."""

    __tablename__ = "dream_rejections"
    user_id: str = text_column(primary_key=True)
    key: str = text_column(primary_key=True)
    rejected_at: datetime = moment_column()


class DreamFrontier(Table, table=True):
    """Anchors with semantic records that no round has taken as a source since; `position` is the order of waiting."""

    __tablename__ = "dream_frontier"
    __table_args__ = (Index("dream_frontier_order", "user_id", "position"),)
    user_id: str = text_column(primary_key=True)
    anchor_id: UUID = key_column()
    position: int = long_column(identity=True)
