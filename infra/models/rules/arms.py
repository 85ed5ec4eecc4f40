"""Roles: which words of a clause take part in it, and as what (design 3.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

from spacy.tokens import Token

from infra.models.rules.lexicon import words
from infra.models.rules.names import conjuncts, is_measure, is_name_like
from infra.models.rules.status import Clause

_PREPOSITION_ROLES = {
    "in": "location",
    "at": "location",
    "on": "location",
    "near": "location",
    "inside": "location",
    "outside": "location",
    "along": "location",
    "around": "location",
    "across": "location",
    "through": "path",
    "over": "location",
    "under": "location",
    "by": "means",
    "with": "companion",
    "without": "lacking",
    "for": "purpose",
    "to": "destination",
    "into": "destination",
    "onto": "destination",
    "towards": "destination",
    "toward": "destination",
    "from": "source",
    "about": "topic",
    "of": "topic",
    "as": "capacity",
    "like": "comparison",
    "during": "occasion",
    "after": "occasion",
    "before": "occasion",
    "against": "opponent",
    "since": "occasion",
    "between": "object",
    "among": "companion",
    "beside": "location",
    "behind": "location",
    "via": "means",
    "off": "source",
    "out": "source",
    "because": "reason",
    "despite": "reason",
    "than": "comparison",
    "past": "path",
}
_TOPIC_VERBS = frozenset(
    {
        "think",
        "talk",
        "speak",
        "learn",
        "focus",
        "work",
        "write",
        "dream",
        "reflect",
        "depend",
        "rely",
        "discuss",
        "interested",
        "believe",
        "participate",
        "involve",
        "keen",
        "base",
        "spend",
        "specialize",
        "research",
    }
)
_RECIPIENT_VERBS = frozenset(
    {
        "talk",
        "speak",
        "say",
        "give",
        "show",
        "send",
        "explain",
        "write",
        "introduce",
        "recommend",
        "listen",
        "apologize",
        "teach",
        "lend",
        "tell",
        "donate",
        "offer",
        "belong",
        "relate",
        "matter",
        "mean",
    }
)


@dataclass(frozen=True)
class Role:
    """A word of the clause with its role; `adjective` if it names a quality."""

    name: str
    token: Token
    adjective: bool = False


def subject_role(clause: Clause) -> str:
    """Agent; experiencer of a verb of mind; object of a passive; subject of "is"."""
    if clause.subject is not None and clause.subject.dep_ == "nsubjpass":
        return "object"
    lemma = clause.verb.lemma_
    if lemma in words("psych"):
        return "experiencer"
    if lemma in words("linking") and lemma != "get":
        return "experiencer" if lemma == "feel" else "subject"
    return "agent"


def complements(clause: Clause) -> Iterator[Role]:
    """Objects, recipients, qualities and prepositional participants of a clause and of the verbs folded into it."""
    folded = {verb.i for verb in (clause.verb, *clause.matrix)}
    for verb in (clause.verb, *reversed(clause.matrix)):
        for child in verb.children:
            yield from (role for role in _complement(child, verb) if role.token.i not in folded)


def _complement(child: Token, verb: Token) -> Iterator[Role]:
    if child.dep_ in {"dobj", "oprd"} and child.pos_ != "ADJ":
        yield Role("object", child)
        yield from (role for each in conjuncts(child) for role in _inside(each))
    elif child.dep_ == "dative" and child.pos_ != "ADP":
        yield Role("recipient", child)
    elif child.dep_ == "attr":
        yield Role("attribute", child)
        yield from _inside(child)
    elif child.dep_ in {"acomp", "oprd"} or (child.dep_ == "ccomp" and child.pos_ == "ADJ"):
        yield from _quality(child)
    elif child.dep_ in {"prep", "agent", "dative"} or (child.dep_ == "advmod" and child.pos_ == "ADP"):
        yield from _prepositional(child, verb.lemma_)
    elif child.dep_ == "prt":
        yield from (
            role for inner in child.children if inner.dep_ == "prep" for role in _prepositional(inner, verb.lemma_)
        )
    elif child.dep_ == "xcomp" and child.tag_ == "VBN":
        yield Role("attribute", child, adjective=True)


def _quality(adjective: Token) -> Iterator[Role]:
    dependents = [child for child in adjective.children if child.dep_ == "prep" and not _is_time(child)]
    for each in [
        adjective,
        *(other for other in adjective.conjuncts if other.i > adjective.i and other.pos_ == "ADJ"),
    ]:
        if (
            each.lower_ not in words("empty modifiers")
            and each.lower_ not in words("empty nouns")
            and each.pos_ in {"ADJ", "VERB", "NOUN"}
            and not dependents
        ):
            yield Role("attribute", each, adjective=True)
    for child in dependents:
        yield from _prepositional(child, adjective.lower_)


def is_particle(child: Token) -> bool:
    """A word that makes one verb with its verb: "set up", "look forward", "pull out of"."""
    if child.dep_ == "prt" or child.lower_ == "forward":
        return True
    return (
        child.dep_ == "prep"
        and child.lower_ in {"out", "off"}
        and any(inner.dep_ == "prep" for inner in child.children)
    )


def _is_time(preposition: Token) -> bool:
    inner = [child for child in preposition.children if child.dep_ == "pobj"]
    return bool(inner) and all(is_measure(child) for child in inner)


def _prepositional(preposition: Token, governor: str) -> Iterator[Role]:
    word = preposition.lower_
    role = "agent" if preposition.dep_ == "agent" else _PREPOSITION_ROLES.get(word, word if word.isalpha() else "topic")
    if (
        word in {"on", "in", "at", "of", "about", "to"}
        and governor in _TOPIC_VERBS
        and not (word == "to" or word == "at")
    ):
        role = "topic"
    elif word == "to" and governor in _RECIPIENT_VERBS:
        role = "recipient"
    elif word == "for" and governor in {"thankful", "grateful", "thank", "sorry", "excited", "happy"}:
        role = "reason"
    for child in preposition.children:
        if child.dep_ in {"pobj", "pcomp"}:
            yield Role(role, child)
            yield from _inside(child)
        elif child.dep_ == "prep":
            yield from _prepositional(child, governor)
    following = preposition.nbor(1) if preposition.i + 1 < len(preposition.doc) else None
    if (
        following is not None
        and is_name_like(following)
        and not any(child.dep_ == "pobj" for child in preposition.children)
    ):
        yield Role(role, following)


def _inside(noun: Token) -> Iterator[Role]:
    """Participants that hang on a noun: a book about X by Y, a trip to Z with W."""
    for child in noun.children:
        if child.dep_ != "prep" or (child.lower_ == "of" and child.i == noun.i + 1):
            continue
        role = {
            "by": "author",
            "in": "location",
            "at": "location",
            "on": "topic",
            "about": "topic",
            "with": "companion",
            "for": "purpose",
            "to": "destination",
            "from": "source",
            "like": "example",
        }.get(child.lower_)
        if role is None:
            continue
        for inner in child.children:
            if inner.dep_ == "pobj":
                yield Role(role, inner)
                yield from _inside(inner)
