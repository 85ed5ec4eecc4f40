"""Relation families of an installation: what the file adds, and what is wrong with one that isn't right."""

from pathlib import Path

import pytest

from domain.errors import ConfigurationError
from domain.retrieval.lexicon import RELATIONS
from domain.retrieval.plan import plan
from infra.run.lexicon import relation_families
from tests.unit.retrieval.build import AS_OF


def test_without_a_file_there_are_none() -> None:
    assert relation_families(None) == {}


def test_a_new_family_changes_the_plan(tmp_path: Path) -> None:
    """The planner finds a verb's family by the file alone; a built-in family keeps its own forms."""
    path = tmp_path / "relations.toml"
    path.write_text('moor = ["moor", "berth"]\nmove = ["resettle"]\n', encoding="utf-8")
    families = relation_families(path)
    assert families["move"] == (*RELATIONS["move"], "resettle")
    asked = "Where did Ana berth the boat?"
    plain = plan(asked, as_of=AS_OF, timezone="UTC")
    extended = plan(asked, as_of=AS_OF, timezone="UTC", families=families)
    assert "moor" in {family.name for family in extended.families} - {family.name for family in plain.families}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("moor = [", "is not TOML"),
        ('moor = "berth"', "moor must be a list"),
        ('moor = ["two words"]', "moor.0 must be a list"),
        ("moor = [3]", "moor.0 must be a list"),
        ('"a b" = ["c"]', "must be a list"),
    ],
)
def test_a_wrong_file_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "relations.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="REVERIE_RELATION_LEXICON") as caught:
        relation_families(path)
    assert told in caught.value.message


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="can't be read"):
        relation_families(tmp_path / "none.toml")
