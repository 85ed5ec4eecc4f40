"""LoCoMo questions with their gold turns, and the public scorer, loaded from where it lies."""

import importlib.util
import json
from datetime import date, datetime, timedelta
from pathlib import Path
from types import ModuleType

from domain.errors import InvalidInput
from domain.memory import Frozen

ADVERSARIAL = 5
"""Category that is never asked: its questions have no answer in the conversation."""

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}


class Question(Frozen):
    """A question with the turns that answer it."""

    id: str
    text: str
    category: int
    gold: frozenset[str]
    """Turn ids."""


class Conversation(Frozen):
    """A LoCoMo conversation on disk; its id is the user it is ingested for."""

    id: str
    path: Path
    last_day: date
    questions: tuple[Question, ...]

    @property
    def asked_on(self) -> date:
        """Questions are asked the day after the last session."""
        return self.last_day + timedelta(days=1)


def read_conversations(folder: Path, names: tuple[str, ...]) -> tuple[Conversation, ...]:
    """The named conversations of a folder, all of them without names. Raises InvalidInput if one is missing."""
    found = {path.stem: path for path in sorted(folder.glob("conv-*.jsonl"))}
    missing = [name for name in names if name not in found]
    if missing or not found:
        raise InvalidInput(f"no {', '.join(missing) or 'conv-*.jsonl'} in {folder}", field="--data")
    return tuple(_read(found[name]) for name in names or tuple(found))


def _read(path: Path) -> Conversation:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    questions = tuple(
        Question(id=row["question_id"], text=row["question"], category=row["category"], gold=frozenset(row["evidence"]))
        for row in rows
        if row["type"] == "qa" and row["category"] != ADVERSARIAL
    )
    days = [datetime.fromisoformat(row["date_iso"]).date() for row in rows if row["type"] == "session"]
    return Conversation(id=path.stem, path=path, last_day=max(days), questions=questions)


def load_scorer(path: Path) -> ModuleType:
    """The scorer as a module. Raises InvalidInput if it is not there."""
    spec = importlib.util.spec_from_file_location("locomo_recall", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InvalidInput(f"no scorer at {path}", field="--scorer")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
