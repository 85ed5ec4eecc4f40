"""Routing: which kinds of memory a chunk updates (paper A.1)."""

from domain.memory import Chunk, InputForm, MemoryKind
from infra.models.rules.parse import gate, parse_ahead
from infra.models.rules.records import groups, local
from infra.models.rules.said import said


def route(chunk: Chunk) -> tuple[MemoryKind, ...]:
    """Kinds in the order of MemoryKind; none for bare questions, greetings and acknowledgements."""
    parse_ahead(turn.text for turn in chunk.turns)
    kinds: set[MemoryKind] = set()
    for turn in chunk.turns:
        if turn.text.strip() and gate(turn.text):
            kinds.add(MemoryKind.SEMANTIC)
        kinds |= {group.kind for group in groups(said(turn.text, local(turn.at, chunk.timezone)))}
        if turn.captions:
            kinds.add(MemoryKind.SEMANTIC)
        if "[vault:" in turn.text:
            kinds.add(MemoryKind.VAULT)
    if chunk.form is InputForm.DOCUMENT and any(turn.text.strip() for turn in chunk.turns):
        kinds.add(MemoryKind.RESOURCE)
    return tuple(kind for kind in MemoryKind if kind in kinds)
