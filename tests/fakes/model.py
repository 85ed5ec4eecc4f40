"""A memory model of a few lines that fails when told to."""

import re
from collections import Counter
from collections.abc import Iterable

from domain.errors import ModelError
from domain.memory import Arm, Entity, Extraction, FrameDraft, MemoryKind, Record, RecordDraft, Source, Turn
from domain.model_calls import (
    CanonicalizeAnswer,
    CanonicalizeRequest,
    ExtractRequest,
    Purpose,
    Rename,
    RepairRequest,
    Reply,
    RouteAnswer,
    RouteRequest,
    SameAnswer,
    SameRequest,
    Usage,
    Verdict,
    WriteAnswer,
    WriteRequest,
)

_NAME = re.compile(r"[A-Z][a-z]+")


class FakeModel:
    """MemoryModel for tests of what lies around a model; deterministic.

    Every turn with a letter is an episodic record that says who said what; a record's speaker mentions each other
    capitalised word in it. `errors` gives, by purpose, what the next calls raise before the purpose works.
    """

    def __init__(self, errors: dict[Purpose, Iterable[ModelError]] | None = None) -> None:
        self._errors = {purpose: list(given) for purpose, given in (errors or {}).items()}
        self.calls: Counter[Purpose] = Counter()

    @property
    def name(self) -> str:
        """Model name for the audit rows."""
        return "fake-1"

    async def route(self, request: RouteRequest) -> Reply[RouteAnswer]:
        """Episodic if anything is said."""
        usage = self._called(Purpose.ROUTE)
        said = any(_worded(turn) for turn in request.chunk.turns)
        return Reply(answer=RouteAnswer(kinds=(MemoryKind.EPISODIC,) if said else ()), usage=usage)

    async def write(self, request: WriteRequest) -> Reply[WriteAnswer]:
        """One record a turn, of the asked kind."""
        usage = self._called(Purpose.WRITE)
        records = tuple(_record(request.kind, turn) for turn in request.chunk.turns if _worded(turn))
        return Reply(answer=WriteAnswer(records=records), usage=usage)

    async def extract(self, request: ExtractRequest) -> Reply[Extraction]:
        """The first name mentions each other one."""
        usage = self._called(Purpose.EXTRACT)
        return Reply(answer=_extraction(request.record), usage=usage)

    async def repair(self, request: RepairRequest) -> Reply[Extraction]:
        """Nothing to add."""
        return Reply(answer=Extraction(), usage=self._called(Purpose.REPAIR))

    async def canonicalize(self, request: CanonicalizeRequest) -> Reply[CanonicalizeAnswer]:
        """The same only if the names are, without case."""
        usage = self._called(Purpose.CANONICALIZE)
        renames = tuple(
            Rename(name=question.entity.name, candidate=candidate.name)
            for question in request.questions
            for candidate in question.candidates[:1]
            if candidate.name.casefold() == question.entity.name.casefold()
        )
        return Reply(answer=CanonicalizeAnswer(renames=renames), usage=usage)

    async def same(self, request: SameRequest) -> Reply[SameAnswer]:
        """The same only if the names are, without case; else unsure."""
        usage = self._called(Purpose.SAME)
        if request.a.name.casefold() != request.b.name.casefold():
            return Reply(answer=SameAnswer(verdict=Verdict.UNSURE), usage=usage)
        return Reply(answer=SameAnswer(verdict=Verdict.SAME, canonical=request.a.name), usage=usage)

    def _called(self, purpose: Purpose) -> Usage:
        self.calls[purpose] += 1
        if self._errors.get(purpose):
            raise self._errors[purpose].pop(0)
        return Usage(model=self.name, prompt_id=f"fake-{purpose.value}")


def _worded(turn: Turn) -> bool:
    return any(character.isalpha() for character in turn.text)


def _record(kind: MemoryKind, turn: Turn) -> RecordDraft:
    text = f"{turn.speaker} said: {turn.text}" if turn.speaker else turn.text
    return RecordDraft(kind=kind, title=text[:60], text=text, sources=(Source(turn_id=turn.id),))


def _extraction(record: Record) -> Extraction:
    names = tuple(dict.fromkeys(_NAME.findall(record.text)))
    frames = tuple(
        FrameDraft(predicate="mention", arms=(Arm(role="agent", name=names[0]), Arm(role="topic", name=name)))
        for name in names[1:]
    )
    return Extraction(entities=tuple(Entity(name=name) for name in names), frames=frames)
