"""How a clause stands to the world: done, planned, hypothetical, cancelled or a state (design 3.3)."""

from dataclasses import dataclass

from spacy.tokens import Token

from domain.memory import Status
from infra.models.rules.lexicon import words

_IRREALIS = frozenset({"would", "could", "might", "may", "should", "'d", "ought", "can", "ca", "must"})
_FUTURE = frozenset({"will", "'ll", "wo", "shall", "’ll"})
COMMITTED = frozenset({"signed", "registered", "enrolled", "scheduled", "invited", "reserved", "entered", "booked"})
"""Past forms whose date, if ahead, is that of what was committed to ("signed up for the race on 5 October")."""
_GOING = frozenset({"going", "gon", "gonna"})


@dataclass(frozen=True)
class Clause:
    """A predicate of a sentence: its verb, the verbs folded into it (outermost first), and how it stands."""

    verb: Token
    matrix: tuple[Token, ...]
    subject: Token | None
    gap: Token | None
    """The noun a relative clause leaves out as its object."""
    status: Status
    negated: bool
    modality: str


def standing(verb: Token, matrix: tuple[Token, ...], *, direction: int) -> tuple[Status, bool, str]:
    """Status, negation and modality of a verb under its folded matrix verbs; `direction` is where its time looks."""
    chain = (*matrix, verb)
    head = chain[0]
    words_before = {child.lower_ for token in chain for child in token.children if child.dep_ in {"aux", "auxpass"}}
    negated = any(
        child.dep_ == "neg" or child.lower_ in {"never", "not", "n't"} for token in chain for child in token.children
    )
    negated = negated and not any(token.lemma_ == "wait" for token in matrix)
    modality = " ".join(_modality(token) for token in matrix) or next(iter(sorted(words_before & _IRREALIS)), "")
    return _status(verb, matrix, head, words_before, direction), negated, modality.strip()


def _modality(token: Token) -> str:
    adjective = next((child.lower_ for child in token.children if child.dep_ == "acomp"), "")
    if adjective:
        return adjective
    return "" if token.lower_ in _GOING or token.lemma_ in {"go", "be"} else token.lemma_.lower()


def _status(verb: Token, matrix: tuple[Token, ...], head: Token, auxiliaries: set[str], direction: int) -> Status:
    lemmas = {token.lemma_.lower() for token in matrix}
    particle = next(
        (child.lower_ for child in verb.children if child.dep_ in {"prt", "prep"} and child.lower_ in {"out", "off"}),
        "",
    )
    if verb.lemma_ in words("cancel") or f"{verb.lemma_} {particle}" in words("cancel"):
        return Status.CANCELLED
    if _conditional(head) or auxiliaries & _IRREALIS:
        return (
            Status.PLANNED
            if direction > 0 and not _conditional(head) and not auxiliaries & {"'d", "would"}
            else Status.HYPOTHETICAL
        )
    if any(token.lower_ in _GOING for token in matrix) or auxiliaries & _FUTURE or lemmas & words("plan"):
        return Status.PLANNED if not _second(verb) else Status.HYPOTHETICAL
    if lemmas & words("want"):
        return Status.PLANNED if direction > 0 else Status.DONE if direction < 0 else Status.HYPOTHETICAL
    if _hoped(head) or _modal_adjective(matrix):
        return Status.PLANNED if direction > 0 else Status.HYPOTHETICAL
    if (
        verb.tag_ == "VB"
        and not matrix
        and not auxiliaries
        and verb.dep_ in {"ROOT", "conj"}
        and not _has_subject(verb)
    ):
        return Status.HYPOTHETICAL
    if direction > 0 and not (verb.tag_ in {"VBD", "VBN"} and verb.lower_ in COMMITTED):
        return Status.PLANNED
    return _tense(verb, head, auxiliaries)


def _tense(verb: Token, head: Token, auxiliaries: set[str]) -> Status:
    if (head.tag_ == "VBD" and not auxiliaries & {"have", "has", "'ve", "’ve"}) or auxiliaries & {
        "did",
        "was",
        "were",
        "had",
    }:
        return Status.DONE
    if auxiliaries & {"have", "has", "'ve", "’ve"} and head.lower_ == "got":
        return Status.STATE
    if auxiliaries & {"have", "has", "'ve", "’ve"} and head.tag_ in {"VBN", "VBD"}:
        return Status.STATE if verb.lemma_ in words("stative") else Status.DONE
    if "'s" in auxiliaries and head.tag_ == "VBN":
        return Status.DONE
    if head.tag_ == "VBN" and not auxiliaries and head.dep_ in {"ROOT", "conj"}:
        return Status.DONE
    if head.dep_ in {"conj", "advcl", "acl"} and head.tag_ == "VBN":
        return Status.DONE
    return Status.STATE


def is_condition(verb: Token) -> bool:
    """The clause is itself an "if": it says nothing that holds."""
    return any(
        child.dep_ in {"mark", "advmod"} and child.lower_ in {"if", "unless", "whether"} for child in verb.children
    )


def _conditional(token: Token) -> bool:
    """The clause is an "if", or depends on one, or stands under one."""
    for item in (token, *token.ancestors):
        if is_condition(item) or any(is_condition(child) for child in item.children if child.dep_ == "advcl"):
            return True
        if item.dep_ == "ROOT":
            break
    return False


def _hoped(token: Token) -> bool:
    """The clause is what someone hopes, imagines or guesses."""
    return token.dep_ == "ccomp" and token.head.lemma_ in {
        "hope",
        "wish",
        "imagine",
        "bet",
        "guess",
        "doubt",
        "suppose",
    }


def _modal_adjective(matrix: tuple[Token, ...]) -> bool:
    """ "excited to start", "ready to go": not yet done."""
    ahead = {
        "excited",
        "ready",
        "eager",
        "keen",
        "determined",
        "willing",
        "thrilled",
        "curious",
        "afraid",
        "nervous",
        "likely",
        "supposed",
    }
    return any(child.dep_ == "acomp" and child.lower_ in ahead for token in matrix for child in token.children)


def _second(verb: Token) -> bool:
    return any(child.dep_ == "nsubj" and child.lower_ == "you" for child in verb.children)


def _has_subject(verb: Token) -> bool:
    return any(child.dep_ in {"nsubj", "nsubjpass", "expl", "csubj"} for child in (*verb.children, *verb.head.children))
