"""Relation families of an installation, from a TOML file: `employ = ["recruit", "take_on"]`, one line a family."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import RootModel, StringConstraints, ValidationError

from domain.errors import ConfigurationError
from domain.retrieval.lexicon import RELATIONS

SETTING = "REVERIE_RELATION_LEXICON"

Form = Annotated[str, StringConstraints(pattern=r"^[^\W\d_]+(_[^\W\d_]+)*$")]
"""A verb or noun as predicates are written: words joined by underscores."""


class _Families(RootModel[dict[Form, tuple[Form, ...]]]):
    """Surface forms by family."""


def relation_families(path: Path | None) -> Mapping[str, tuple[str, ...]]:
    """The file's families; one that is built in keeps its own forms too. Without a file none.

    Raises ConfigurationError naming the file, and the place or the family in it that is wrong.
    """
    if path is None:
        return {}
    try:
        found = _Families.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).root
    except OSError as error:
        raise ConfigurationError(f"{SETTING}: {path} can't be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{SETTING}: {path} is not TOML: {error}") from error
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise ConfigurationError(
            f"{SETTING}: {path}: {place} must be a list of words like move_to: letters joined by underscores"
        ) from error
    return {name: tuple(dict.fromkeys((*RELATIONS.get(name, ()), *forms))) for name, forms in found.items()}
