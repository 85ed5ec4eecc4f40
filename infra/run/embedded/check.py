"""One finding about the installation."""

from pydantic import BaseModel, ConfigDict


class Check(BaseModel):
    """One line of `reverie doctor`. `fix` is empty when it is well."""

    model_config = ConfigDict(frozen=True)

    name: str
    ok: bool
    detail: str
    fix: str = ""
