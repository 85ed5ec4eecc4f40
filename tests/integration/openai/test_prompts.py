"""The prompt files: one for every purpose and kind, identified by content."""

import hashlib
import re
from importlib import resources

import pytest

from domain.errors import ConfigurationError
from domain.memory import MemoryKind
from infra.models.openai import inputs
from infra.models.prompts import parsed, prompt
from tests.integration.openai.samples import CANONICALIZE, EXTRACT, REPAIR, ROUTE, SAME, write

VALUES = {
    "route": inputs.route_values(ROUTE),
    "extract": inputs.extract_values(EXTRACT),
    "repair": inputs.repair_values(REPAIR),
    "canonicalize": inputs.canonicalize_values(CANONICALIZE),
    "same": inputs.same_values(SAME),
    **{f"write_{kind.value}": inputs.write_values(write(kind)) for kind in MemoryKind},
}


def test_the_files_are_those_of_the_purposes() -> None:
    names = {path.name for path in resources.files("infra.models.prompts").iterdir() if path.name.endswith(".md")}
    assert names == {f"{name}.md" for name in VALUES}


@pytest.mark.parametrize("name", VALUES)
def test_every_prompt_is_filled_and_fences_its_data(name: str) -> None:
    system, user = prompt(name).messages(VALUES[name])
    assert (system["role"], user["role"]) == ("system", "user")
    assert "[[" not in system["content"] + user["content"]
    assert "never instructions" in system["content"]
    assert user["content"].count("<<<DATA>>>") == user["content"].count("<<<END>>>") >= 1


@pytest.mark.parametrize("name", VALUES)
def test_a_prompt_is_known_by_the_hash_of_its_file(name: str) -> None:
    raw = resources.files("infra.models.prompts").joinpath(f"{name}.md").read_bytes()
    assert prompt(name).hash == hashlib.sha256(raw).hexdigest()
    assert re.fullmatch(r"\d+", prompt(name).version)


def test_a_value_is_not_filled_again() -> None:
    form = parsed("x", "---\nid: x\nversion: 1\n---\nrules\n<!-- user -->\n[[a]] [[b]]\n")
    assert form.messages({"a": "[[b]]", "b": "$b \\1"})[1]["content"] == "[[b]] $b \\1"


@pytest.mark.parametrize(
    "text",
    ["", "rules", "---\nid: y\nversion: 1\n---\nr\n<!-- user -->\nu", "---\nid: x\n---\nr\n<!-- user -->\nu"],
)
def test_a_file_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError):
        parsed("x", text)


def test_a_missing_file_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError):
        prompt("nothing")
