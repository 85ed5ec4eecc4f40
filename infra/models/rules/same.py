"""Are two anchors one? Same, different or unsure, by their names and what the evidence states of them (platform, 4)."""

from domain.identity import veto
from domain.keys import anchor_key
from domain.memory import AnchorType, Entity
from domain.model_calls import AnchorView, Candidate, EntityQuestion, SameAnswer, SameRequest, Verdict
from infra.models.rules.canonical import is_same

ONE_WRITING = "one name in two writings, or an alias that the evidence states"
ONE_NAME = "one name, which two things may have"
UNSETTLED = "nothing settles it"


def same(request: SameRequest) -> SameAnswer:
    """The verdict, the same whichever way round the two are. What the guard forbids is different; two bearers of one
    name are unsure, for the name is all that they are known to share."""
    forbidden = veto(request.a.name, request.b.name)
    if forbidden is not None:
        return SameAnswer(verdict=Verdict.DIFFERENT, reason=forbidden)
    if anchor_key(request.a.name) == anchor_key(request.b.name):
        return SameAnswer(verdict=Verdict.UNSURE, reason=ONE_NAME)
    if not _one(request):
        return SameAnswer(verdict=Verdict.UNSURE, reason=UNSETTLED)
    return SameAnswer(verdict=Verdict.SAME, canonical=_canonical(request.a, request.b), reason=ONE_WRITING)


def _one(request: SameRequest) -> bool:
    text = "\n".join((*request.a.evidence, *request.b.evidence))
    kind = AnchorType(request.type)
    return _denotes(request.a, request.b, kind, text) and _denotes(request.b, request.a, kind, text)


def _denotes(one: AnchorView, other: AnchorView, kind: AnchorType, text: str) -> bool:
    question = EntityQuestion(entity=Entity(name=one.name, type=kind, aliases=one.aliases), candidates=())
    candidate = Candidate(name=other.name, type=kind.value, aliases=other.aliases, score=1.0)
    return is_same(question, candidate, text)


def _canonical(a: AnchorView, b: AnchorView) -> str:
    """The fuller name; of two as full the first by its letters."""
    return min(a.name, b.name, key=lambda name: (-len(name), name))
