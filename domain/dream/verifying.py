"""What a verification shows the model, and what its answer makes of a pair (paper 2.5)."""

from collections.abc import Sequence
from uuid import UUID

from domain.dream.rounds import Pair, PairState
from domain.memory import Anchor
from domain.model_calls import AnchorView, SameAnswer, SameRequest, Verdict

EVIDENCE_CHARACTERS = 1_000
"""Of each record that a verification shows (ours)."""
ALIASES = 20
"""Of each anchor that a verification shows (ours)."""


def view_of(anchor: Anchor, texts: Sequence[str]) -> AnchorView:
    """What the model sees of an anchor."""
    evidence = tuple(text[:EVIDENCE_CHARACTERS] for text in texts)
    return AnchorView(name=anchor.name, aliases=anchor.aliases[:ALIASES], evidence=evidence)


def state_of(answer: SameAnswer) -> PairState:
    """What a verdict makes of a pair; only `different` is remembered (paper A.5)."""
    states = {
        Verdict.SAME: PairState.SAME,
        Verdict.DIFFERENT: PairState.REJECTED,
        Verdict.UNSURE: PairState.UNSURE,
    }
    return states[answer.verdict]


def canonical_end(pair: Pair, request: SameRequest, answer: SameAnswer) -> UUID | None:
    """The anchor whose name stays; None unless the verdict is `same`."""
    if answer.verdict is not Verdict.SAME:
        return None
    return pair.a.anchor_id if answer.canonical == request.a.name else pair.b.anchor_id
