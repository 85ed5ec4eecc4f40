"""Anchor entry: which anchors open the graph to a question (paper Eq. 10, A.3; design 4.1)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from domain.keys import anchor_key
from domain.memory import Anchor, AnchorType, Frozen
from domain.retrieval.words import NOT_CONTENT, stems, tokens, unique

K_A = 15
"""Anchors recalled by name vector, and anchors kept after scoring (paper 2.4)."""

MAX_EXACT = 16
"""Anchors added because the question names them exactly (paper A.3)."""

MAX_NAME_TOKENS = 6
"""Longest run of words looked up as a name (ours)."""

MAX_NAME_KEYS = 400
"""Most keys looked up for one question (ours): a long question is cut, its first words count."""

HUB_CEILING = 1_000
"""Degrees are counted up to here (ours): the penalty is logarithmic, counting all of a hub is not bounded."""


class AnchorWeights(Frozen):
    """Weights of s_A, as tried on recorded answers (platform.md 5). The cosine dominates, the rest breaks ties."""

    vector: float = 1.0
    """Cosine of question and name, the measure all others are set against."""
    exact: float = 0.3
    """A name the question holds is meant, even where its vector is far from that of the whole question."""
    lexical: float = 0.15
    """Part of the name stands in the question (`pottery` for `pottery class`)."""
    predicate: float = 0.05
    """It takes part in a frame of the asked relation."""
    specific: float = 0.02
    """Each further word of a name: longer names are rarer."""
    hub: float = 0.02
    """Per ln(1 + degree): what everything is connected to says little."""
    person_hub: float = 0.05
    """The same for persons no relation question names: speakers are in most frames."""


WEIGHTS = AnchorWeights()


class AnchorCandidate(Frozen):
    """An anchor that vector recall or an exact name brought in."""

    anchor_id: UUID
    name: str
    type: AnchorType
    aliases: tuple[str, ...] = ()
    cosine: float
    """Cosine of question and name, -1 to 1."""
    exact: bool = False
    degree: int = 0
    """Arms that end at it, up to HUB_CEILING; 0 where unknown (only exactly named anchors carry it, paper A.3)."""
    predicate: bool = False
    """True if a frame of the asked relation joins it; False where unknown."""


class ScoredAnchor(Frozen):
    """An anchor with the terms of s_A, weighted, and their sum."""

    anchor_id: UUID
    name: str
    type: AnchorType
    exact: bool
    score: float
    terms: dict[str, float]


def exact_names(question: str) -> dict[str, str]:
    """Keys kappa(name) of every run of words in the question that can be a name, with the run itself; longest first.

    Runs of stop words alone are left out.
    """
    words = tokens(question)
    found: dict[str, str] = {}
    for size in range(min(MAX_NAME_TOKENS, len(words)), 0, -1):
        for at in range(len(words) - size + 1):
            run = words[at : at + size]
            if any(word not in NOT_CONTENT for word in run):
                found.setdefault(anchor_key(" ".join(run)), " ".join(run))
    return dict(list(found.items())[:MAX_NAME_KEYS]) if len(found) > MAX_NAME_KEYS else found


def exact_anchors(names: Mapping[str, str], resolved: Mapping[str, Anchor]) -> dict[UUID, tuple[Anchor, str]]:
    """At most MAX_EXACT anchors by id, with the words that name each; longer names first, then as they stand.

    A name inside a longer one that was found (`York` in `New York`) is not looked up by itself.
    """
    chosen: dict[UUID, tuple[Anchor, str]] = {}
    taken: list[str] = []
    for key, run in names.items():
        anchor = resolved.get(key)
        if anchor is None or anchor.id in chosen or any(f" {run} " in f" {longer} " for longer in taken):
            continue
        chosen[anchor.id] = (anchor, run)
        taken.append(run)
        if len(chosen) == MAX_EXACT:
            break
    return chosen


def s_vec(candidate: AnchorCandidate) -> float:
    """Cosine of the question with the name."""
    return candidate.cosine


def s_exact(candidate: AnchorCandidate) -> float:
    """1 if the question holds the name or an alias."""
    return float(candidate.exact)


def s_lex(candidate: AnchorCandidate, question_stems: frozenset[str]) -> float:
    """Share of the name's words that stand in the question, the best of name and aliases."""
    return max((_share(stems(name), question_stems) for name in (candidate.name, *candidate.aliases)), default=0.0)


def s_pred(candidate: AnchorCandidate) -> float:
    """1 if an exactly named anchor takes part in the asked relation."""
    return float(candidate.exact and candidate.predicate)


def s_spec(candidate: AnchorCandidate, question_stems: frozenset[str]) -> float:
    """Words of the name beyond the first, as far as the question has them."""
    return float(max(len(frozenset(stems(candidate.name)) & question_stems) - 1, 0))


def s_hub(candidate: AnchorCandidate) -> float:
    """ln(1 + degree) of an exactly named anchor; 0 for others, whose degree is not known."""
    return math.log1p(min(candidate.degree, HUB_CEILING)) if candidate.exact else 0.0


def _share(words: Sequence[str], question_stems: frozenset[str]) -> float:
    return sum(word in question_stems for word in words) / len(words) if words else 0.0


def score_anchor(
    candidate: AnchorCandidate, question_stems: frozenset[str], *, relation: bool, weights: AnchorWeights = WEIGHTS
) -> ScoredAnchor:
    """s_A(a, q) (paper Eq. 10). `relation`: the plan has one; only then does naming a person lift its hub penalty."""
    unnamed_person = candidate.type is AnchorType.PERSON and not (relation and candidate.exact)
    terms = {
        "vec": weights.vector * s_vec(candidate),
        "exact": weights.exact * s_exact(candidate),
        "lex": weights.lexical * s_lex(candidate, question_stems),
        "pred": weights.predicate * s_pred(candidate),
        "spec": weights.specific * s_spec(candidate, question_stems),
        "hub": -(weights.person_hub if unnamed_person else weights.hub) * s_hub(candidate),
    }
    return ScoredAnchor(
        anchor_id=candidate.anchor_id,
        name=candidate.name,
        type=candidate.type,
        exact=candidate.exact,
        score=sum(terms.values()),
        terms=terms,
    )


def keep(
    candidates: Iterable[AnchorCandidate], question: str, *, relation: bool, weights: AnchorWeights = WEIGHTS
) -> tuple[ScoredAnchor, ...]:
    """The K_A best anchors, best first, ties by id."""
    question_stems = frozenset(unique(stems(question)))
    scored = (score_anchor(candidate, question_stems, relation=relation, weights=weights) for candidate in candidates)
    return tuple(sorted(scored, key=lambda anchor: (-anchor.score, anchor.anchor_id))[:K_A])
