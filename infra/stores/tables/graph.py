"""What stands beside the graph: names, mentions, citations, vectors, and the log of its merges."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Column,
    Index,
    Text,
    Uuid,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from infra.stores.tables.columns import (
    Table,
    key_column,
    long_column,
    moment_column,
    real_column,
    reference_column,
    text_column,
    vector_column,
)

NAME_INDEX_PREFIX = "anchor_near_"
"""Of the indexes on `anchor_vectors` that users with very many anchors have of their own; no migration makes them."""


class AnchorAliases(Table, table=True):
    """Which anchor owns a key, as its own or as an alias: the look-up of names."""

    __tablename__ = "anchor_aliases"
    __table_args__ = (Index("anchor_aliases_anchor", "user_id", "anchor_id"),)
    user_id: str = text_column(primary_key=True)
    key: str = text_column(primary_key=True)
    anchor_id: UUID = Field(sa_column=Column(Uuid, nullable=False))
    name: str = text_column()


class AnchorRecords(Table, table=True):
    """The records that mention an anchor (I_E, I_S of Eq. 4), a row each: one more costs a hub no more than others."""

    __tablename__ = "anchor_records"
    __table_args__ = (Index("anchor_records_record", "user_id", "record_id"),)
    user_id: str = text_column(primary_key=True)
    anchor_id: UUID = key_column()
    record_id: UUID = key_column()
    kind: str = text_column()


class AnchorVectors(Table, table=True):
    """Embeddings of anchors' names."""

    __tablename__ = "anchor_vectors"
    user_id: str = text_column(primary_key=True)
    anchor_id: UUID = key_column()
    model: str = text_column()
    vector: Any = vector_column()


class FrameVectors(Table, table=True):
    """Embeddings of rendered frames."""

    __tablename__ = "frame_vectors"
    user_id: str = text_column(primary_key=True)
    frame_id: str = text_column(primary_key=True)
    model: str = text_column()
    vector: Any = vector_column()


class FrameCitations(Table, table=True):
    """Records to the frames that cite them: the reverse of the frame's `record_ids`, from a row to its facts."""

    __tablename__ = "frame_citations"
    user_id: str = text_column(primary_key=True)
    record_id: UUID = key_column()
    frame_id: str = text_column(primary_key=True)


class Merges(Table, table=True):
    """The merge log: each merge with the absorbed anchor as it was."""

    __tablename__ = "merges"
    __table_args__ = (
        Index("merges_consolidation", "consolidation_id", "id"),
        Index("merges_representative", "user_id", "representative"),
        Index("merges_absorbed", "user_id", "absorbed"),
    )
    id: UUID = key_column()
    user_id: str = text_column()
    sequence: int = long_column(identity=True)
    consolidation_id: UUID = reference_column("consolidations.id")
    absorbed: UUID = reference_column()
    absorbed_name: str = text_column()
    representative: UUID = reference_column()
    representative_name: str = text_column()
    type: str = text_column()
    graph_id: str = text_column()
    properties: str = text_column()
    model: str = text_column()
    vector: Any = vector_column()
    names_added: list[str] = Field(sa_column=Column(ARRAY(Text), nullable=False))
    score_before: float = real_column()
    evidence_position: int = long_column()
    state: str = text_column()
    merged_at: datetime = moment_column()
    undone_by: UUID | None = reference_column(nullable=True)


class MergeArms(Table, table=True):
    """The arms that a merge moved; a collided one was dropped, for the representative had the role already."""

    __tablename__ = "merge_arms"
    merge_id: UUID = key_column("merges.id")
    frame_id: str = text_column(primary_key=True)
    role: str = text_column(primary_key=True)
    arm_id: str = text_column()
    frame_graph_id: str = text_column()
    properties: str = text_column()
    collided: bool


class MergeRecords(Table, table=True):
    """The mentions that a merge moved; a collided one was dropped, for the record mentions the representative too."""

    __tablename__ = "merge_records"
    merge_id: UUID = key_column("merges.id")
    record_id: UUID = key_column()
    kind: str = text_column()
    collided: bool


class MergeAliases(Table, table=True):
    """The keys that a merge moved."""

    __tablename__ = "merge_aliases"
    merge_id: UUID = key_column("merges.id")
    key: str = text_column(primary_key=True)
