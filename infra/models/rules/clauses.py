"""Clauses of a sentence: which verbs make frames, which fold into another as its modality, and who does what."""

from collections.abc import Callable

from spacy.tokens import Token

from domain.memory import Status
from infra.models.rules.lexicon import words
from infra.models.rules.parse import Sentence
from infra.models.rules.status import Clause, standing

_HEADS = frozenset({"ROOT", "conj", "advcl", "relcl", "ccomp", "acl", "xcomp", "parataxis", "dep", "pcomp"})
_SUBJECTS = ("nsubj", "nsubjpass", "csubj")
_AIMS = frozenset({"goal", "aim", "dream", "wish", "hope", "ambition"})
_RELATIVE = frozenset({"who", "which", "that", "whom"})


def clauses(sentence: Sentence, direction: Callable[[Token], int]) -> list[Clause]:
    """Clauses in the order of their verbs; `direction` tells where the time of a verb looks."""
    return [_clause(token, direction) for token in sentence.tokens if _heads(token)]


def _heads(token: Token) -> bool:
    return token.dep_ in _HEADS and _is_verb(token) and not _folds(token) and not _is_activity(token)


def _is_verb(token: Token) -> bool:
    return token.pos_ in {"VERB", "AUX"} and token.tag_ != "MD" and token.dep_ not in {"aux", "auxpass"}


def _is_activity(token: Token) -> bool:
    """A gerund behind a noun or a "let": "the joy of sharing stories", "let me know"."""
    if token.dep_ == "pcomp":
        return token.head.head.pos_ not in {"VERB", "AUX", "ADJ"}
    return token.dep_ in {"ccomp", "xcomp"} and token.head.lemma_ == "let"


def _folds(token: Token) -> bool:
    """The verb is only the modality of a deeper one: "want to help", "thinking of going"."""
    return _folded(token) is not None


def _folded(token: Token) -> Token | None:
    for child in token.children:
        if (
            token.lemma_ == "go"
            and child.tag_ == "VBG"
            and child.pos_ == "VERB"
            and child.i in {token.i + 1, token.i + 2}
        ):
            return child
        if child.dep_ == "acomp" and child.pos_ == "ADJ":
            inner = next((item for item in child.children if item.dep_ == "xcomp" and item.tag_ == "VB"), None)
            if inner is not None and any(
                item.dep_ in {"nsubj", "nsubjpass"} and item.lower_ != "it" for item in token.children
            ):
                return inner
        if child.dep_ == "xcomp" and _is_verb(child) and not _own_object(token) and _may_fold(token):
            return child
        if (
            child.dep_ == "advcl"
            and token.lower_ in {"gon", "going"}
            and child.tag_ in {"VB", "VBG"}
            and child.i == token.i + 2
        ):
            return child
        if (
            child.dep_ == "prep"
            and child.lower_ in {"of", "about", "on", "to"}
            and token.lemma_ in {"think", "dream", "plan", "look"}
        ):
            inner = next((item for item in child.children if item.dep_ == "pcomp" and item.tag_ == "VBG"), None)
            if inner is not None:
                return inner
    return None


def _may_fold(token: Token) -> bool:
    return (
        token.lemma_.lower() in words("fold verbs")
        or token.lower_ in {"gon", "wan", "got", "have", "had"}
        or token.pos_ == "AUX"
    )


def _own_object(token: Token) -> bool:
    return any(child.dep_ == "dobj" for child in token.children)


def _matrix(token: Token) -> tuple[Token, ...]:
    chain: list[Token] = []
    current = _first_joined(token)
    while True:
        above = current.head.head if current.dep_ == "pcomp" or current.head.pos_ == "ADJ" else current.head
        if above.i == current.i or _folded(above) is None or current.i != getattr(_folded(above), "i", -1):
            return tuple(chain)
        chain.insert(0, above)
        current = above


def _first_joined(token: Token) -> Token:
    """The verb that a bare one is joined to: in "want to run and swim" both are wanted."""
    bare = token.dep_ == "conj" and token.tag_ in {"VB", "VBG"} and token.head.tag_ == token.tag_
    alone = not any(child.dep_ in {*_SUBJECTS, "aux"} for child in token.children)
    return _first_joined(token.head) if bare and alone else token


def _clause(token: Token, direction: Callable[[Token], int]) -> Clause:
    matrix = _matrix(token)
    subject, gap = _subject((*matrix, token)[0])
    own = next((child for child in token.children if child.dep_ in _SUBJECTS), None)
    ways = [way for verb in (token, *reversed(matrix)) if (way := direction(verb))]
    status, negated, modality = standing(token, matrix, direction=ways[0] if ways else 0)
    owner = _aiming(subject, matrix)
    if owner is not None and own is None:
        return Clause(token, matrix, owner, gap, Status.HYPOTHETICAL, negated, "want")
    return Clause(token, matrix, own or subject, gap, status, negated, modality)


def _aiming(subject: Token | None, matrix: tuple[Token, ...]) -> Token | None:
    """Whose aim it is: in "my goal is to give …" I want to give."""
    if subject is None or not matrix or matrix[0].lemma_ != "be" or subject.lemma_ not in _AIMS:
        return None
    return next((child for child in subject.children if child.dep_ == "poss"), None)


def _subject(verb: Token, depth: int = 0) -> tuple[Token | None, Token | None]:
    """The subject of a verb and, in a relative clause, the noun left out as its object."""
    own = next((child for child in verb.children if child.dep_ in _SUBJECTS), None)
    antecedent = verb.head if verb.dep_ == "relcl" else None
    if own is not None and own.lower_ in _RELATIVE and antecedent is not None:
        return antecedent, None
    if own is not None:
        return own, antecedent if antecedent is not None and not _own_object_noun(verb) else None
    if depth > 4:
        return None, None
    if verb.dep_ == "ROOT":
        return next((child for child in verb.lefts if child.dep_ == "npadvmod" and not child.ent_type_), None), None
    if verb.dep_ == "conj":
        return _subject(verb.head if verb.head.pos_ in {"VERB", "AUX"} else _governor(verb), depth + 1)
    if verb.dep_ == "acl" and verb.tag_ == "VB":
        return _subject(_governor(verb), depth + 1)[0], None if _own_object_noun(verb) else verb.head
    if verb.dep_ == "acl":
        return (verb.head, None) if verb.tag_ == "VBG" else (None, verb.head if verb.tag_ == "VBN" else None)
    if verb.dep_ == "xcomp":
        inner = next((child for child in verb.head.children if child.dep_ == "dobj"), None)
        return (inner, None) if inner is not None else _subject(verb.head, depth + 1)
    if verb.dep_ == "advcl" and not any(child.dep_ == "mark" and child.lower_ == "that" for child in verb.children):
        return _subject(verb.head, depth + 1)
    if verb.dep_ == "pcomp":
        return _subject(_governor(verb), depth + 1)
    if verb.dep_ == "relcl":
        return verb.head, None
    return None, None


def _own_object_noun(verb: Token) -> bool:
    return any(child.dep_ == "dobj" and child.lower_ not in _RELATIVE for child in verb.children)


def _governor(verb: Token) -> Token:
    current = verb.head
    while current.pos_ not in {"VERB", "AUX"} and current.head.i != current.i:
        current = current.head
    return current
