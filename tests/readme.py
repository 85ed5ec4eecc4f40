"""The settings table of the README, from the settings themselves: `python -m tests.readme` writes it anew."""

from pathlib import Path

from pydantic_core import PydanticUndefined

from infra.settings import Settings

README = Path(__file__).parent.parent / "README.md"
START, END = "<!-- settings -->\n", "<!-- /settings -->\n"


def settings_table() -> str:
    """One row a setting, in the order of the class."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "" if field.default in (None, PydanticUndefined) or name.endswith("_key") else f"`{field.default}`"
        rows.append(f"| `REVERIE_{name.upper()}` | {default} | {field.description} |")
    return "\n".join(rows) + "\n"


def with_table(text: str) -> str:
    """The README with the table between its marks."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{settings_table()}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
