"""The base of the tables, and the columns they are made of."""

from typing import Any, ClassVar

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Integer,
    MetaData,
    Text,
    Uuid,
)
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION, JSONB
from sqlmodel import Field, SQLModel


class Table(SQLModel):
    """Base of the tables."""

    metadata: ClassVar[MetaData] = MetaData()


def text_column(**options: Any) -> Any:
    return Field(sa_column=Column(Text, nullable=False, **options))


def key_column(*references: str) -> Any:
    return Field(sa_column=Column(Uuid, *map(ForeignKey, references), primary_key=True))


def moment_column(*, nullable: bool = False) -> Any:
    return Field(sa_column=Column(DateTime(timezone=True), nullable=nullable))


def number_column() -> Any:
    return Field(sa_column=Column(Integer, nullable=False))


def reference_column(*references: str, nullable: bool = False) -> Any:
    return Field(sa_column=Column(Uuid, *map(ForeignKey, references), nullable=nullable))


def ids_column() -> Any:
    return Field(sa_column=Column(ARRAY(Uuid), nullable=False))


def long_column(*, identity: bool = False) -> Any:
    return Field(sa_column=Column(BigInteger, *([Identity(always=True)] if identity else []), nullable=False))


def real_column() -> Any:
    return Field(sa_column=Column(DOUBLE_PRECISION, nullable=False))


def json_column() -> Any:
    return Field(sa_column=Column(JSONB, nullable=False))


def vector_column() -> Any:
    """Of the embedder's dimension, which `meta` holds; unit length. Kept in the row (migration 0001): always read."""
    return Field(sa_column=Column(VECTOR(), nullable=False))
