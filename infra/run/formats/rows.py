"""Checking a JSON object against the row a format expects, with an error that names file, line and field."""

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from infra.run.formats.source import reject


class Row(BaseModel):
    """Base of every expected row; fields that mean nothing to us are left aside. Numbers serve as ids."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


R = TypeVar("R", bound=Row)


def checked(row: type[R], value: object, name: str, *, where: str, expected: str) -> R:
    """The row, or InvalidInput that quotes the field's name and never its content (invariant 7)."""
    try:
        return row.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "row"
        reject(name, where, f"{field}: {first['msg']}", expected)
