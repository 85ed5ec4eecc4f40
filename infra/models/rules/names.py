"""Names of participants: noun phrases cleaned of determiners, possessors and empty words, with a type (design 3.1)."""

import re
from dataclasses import dataclass

from spacy.tokens import Token

from domain.memory import AnchorType
from infra.models.rules.lexicon import words
from infra.models.rules.parse import quoted
from infra.models.rules.people import (
    FIRST,
    GROUP,
    PLURAL,
    SECOND,
    THIRD,
    Cast,
    Person,
    Relation,
    gender,
    is_plural_kin,
)

_LEFT = frozenset(
    {"amod", "compound", "nummod", "nmod", "poss", "quantmod", "advmod", "punct", "case", "npadvmod", "acl", "appos"}
)
_PRONOUNS = FIRST | SECOND | GROUP | THIRD | PLURAL
_CONCEPT_ENDING = re.compile(r"(?:ness|ity|ment|tion|sion|ship|ance|ence|ism|dom|ing|logy|hood|care|ery|cy|phy)s?$")
_NUMBER = re.compile(r"^[\d.,:/%$€£]+(?:k|m|am|pm|st|nd|rd|th|s)?$", re.IGNORECASE)
_NER_TYPES = {
    "PERSON": AnchorType.PERSON,
    "ORG": AnchorType.ORGANIZATION,
    "NORP": AnchorType.CONCEPT,
    "GPE": AnchorType.LOCATION,
    "LOC": AnchorType.LOCATION,
    "FAC": AnchorType.LOCATION,
    "EVENT": AnchorType.EVENT,
    "WORK_OF_ART": AnchorType.CONTENT,
    "PRODUCT": AnchorType.OBJECT,
    "LAW": AnchorType.CONTENT,
    "LANGUAGE": AnchorType.CONCEPT,
}
_LEXICON_TYPES = (
    ("kin", AnchorType.PERSON),
    ("person", AnchorType.PERSON),
    ("event", AnchorType.EVENT),
    ("content", AnchorType.CONTENT),
    ("organization", AnchorType.ORGANIZATION),
    ("location", AnchorType.LOCATION),
    ("concept", AnchorType.CONCEPT),
)
_QUOTES = frozenset("\"“'‘")
_TITLES = "quoted titles"
"""Where a parse keeps its quoted titles once they were looked for."""
MAX_WORDS = 7


@dataclass(frozen=True)
class Named:
    """A participant: its name, type, whose it is, and how many."""

    name: str
    type: AnchorType
    possessor: str = ""
    count: str = ""
    token: Token | None = None


def named(token: Token, cast: Cast) -> Named | None:
    """The participant that a noun, pronoun or gerund stands for; None for empty words, times, amounts."""
    title = _title_around(token)
    if title:
        return Named(title, AnchorType.CONTENT, token=token)
    if token.lower_.replace("’", "'") in _PRONOUNS and token.pos_ in {"PRON", "DET", "PROPN", "NOUN", "X"}:
        name = cast.name_of(token)
        return Named(name, AnchorType.PERSON, token=token) if name else None
    if (
        token.tag_ == "VBG"
        and token.dep_ in {"pcomp", "csubj", "nsubj", "dobj", "pobj", "xcomp", "conj", "attr"}
        and token.pos_ == "VERB"
    ):
        return _gerund(token)
    inner = _partitive(token)
    if inner is not None:
        return named(inner, cast)
    if token.pos_ not in {"NOUN", "PROPN", "X"} and not is_name_like(token):
        return None
    if is_measure(token):
        return None
    if token.lower_ in words("empty nouns"):
        return None
    return _noun(token, cast)


def is_name_like(token: Token) -> bool:
    """A capital behind a preposition: a name that the tagger took for another word ("at Brightly")."""
    return token.is_title and token.i > 0 and token.nbor(-1).pos_ == "ADP" and token.pos_ in {"ADV", "ADJ"}


def _title_around(token: Token) -> str:
    """The quoted title that a token lies in, or ""."""
    kept = token.doc.user_data
    if _TITLES not in kept:
        text = token.doc.text
        kept[_TITLES] = () if _QUOTES.isdisjoint(text) else quoted(text)
    for start, end, title in kept[_TITLES]:
        if start <= token.idx < end and (title[:1].isupper() or title[:1].isdigit()):
            return str(title)
    return ""


def _partitive(token: Token) -> Token | None:
    if token.lower_ not in words("partitives"):
        return None
    for child in token.children:
        if child.dep_ == "prep" and child.lower_ == "of":
            return next((inner for inner in child.children if inner.dep_ == "pobj"), None)
    return None


def is_measure(token: Token) -> bool:
    """An amount, a time or a bare number: a literal, never an anchor (paper 2.3). "The twenty-gallon" is a thing."""
    if token.i > 1 and token.nbor(-1).text == "-" and token.nbor(-2).like_num and token.dep_ != "compound":
        return False
    if token.ent_type_ in {"DATE", "TIME", "MONEY", "PERCENT", "QUANTITY", "ORDINAL"} and token.pos_ != "PROPN":
        return not (token.ent_type_ == "DATE" and token.lower_ in words("event"))
    if token.lower_ in words("durations") or _NUMBER.match(token.text):
        return True
    if token.ent_type_ in {"DATE", "TIME"} and token.pos_ == "PROPN":
        return True
    return token.lower_ in words("units") and any(child.dep_ == "nummod" for child in token.children)


def _gerund(token: Token) -> Named | None:
    """An activity: "working in mental health", "painting landscapes"."""
    if token.lower_ in {"being", "having", "getting", "going", "making", "doing", "seeing", "thinking", "feeling"}:
        inner = [
            child for child in token.children if child.dep_ in {"dobj", "xcomp"} and child.pos_ in {"NOUN", "PROPN"}
        ]
        if not inner:
            return None
    kept = [token]
    for child in token.children:
        if child.i < token.i or child.lower_ in {"with", "by", "as", "after", "before", "during", "like", "since"}:
            continue
        if child.dep_ in {"prt", "dobj", "prep", "xcomp"} and child.pos_ in {"NOUN", "PROPN", "ADP", "VERB"}:
            kept += [inner for inner in child.subtree if inner.i < token.i + 6]
    text = _joined(sorted(set(kept), key=lambda item: item.i))
    return Named(text, AnchorType.CONCEPT, token=token) if text else None


def _noun(token: Token, cast: Cast) -> Named | None:
    if token.ent_type_ == "PERSON" and token.dep_ in {"npadvmod", "intj", "dep", "vocative"}:
        called = cast.speaker_called(token.text)
        if called:
            return Named(called, AnchorType.PERSON, token=token)
    kept, possessor, count = _modifiers(token, cast)
    kept.append(token)
    kept += _of_phrase(token)
    kept += [child for child in token.rights if child.dep_ == "nummod" and child.i == token.i + 1]
    following = token.nbor(1) if token.i + 1 < len(token.doc) else token
    if following.lower_ in {"half", "marathon"} and following.dep_ in {"advmod", "npadvmod"} and token.pos_ == "PROPN":
        kept.append(following)
    text = _joined(sorted(set(kept), key=lambda item: item.i))
    if not text or not any(char.isalpha() for char in text):
        return None
    kind = type_of(token)
    called = cast.speaker_called(text) if kind is AnchorType.PERSON or token.pos_ == "PROPN" else ""
    name = called or (cast.speaker if text == cast.speaker else text)
    proper = _proper(token)
    if proper and possessor:
        relation = Relation(proper, token.lemma_.lower(), possessor)
        cast.relations += [relation] if relation not in cast.relations else []
        cast.mention(Person(proper, gender(token.text)))
        return Named(proper, AnchorType.PERSON, token=token)
    if possessor and (token.lower_ in words("kin") or token.lower_ in words("relational")):
        name = f"{possessor}'s {name}"
    if kind is AnchorType.PERSON:
        cast.mention(Person(name, gender(token.text), is_plural_kin(token)))
    return Named(name, kind, possessor=possessor, count=count, token=token)


def _proper(token: Token) -> str:
    """The name given to a relative in passing: "my brother Tom"."""
    if token.lower_ not in words("kin") or token.tag_ == "NNS":
        return ""
    inner = next((child for child in token.children if child.dep_ == "appos" and child.pos_ == "PROPN"), None)
    return _joined([*(item for item in inner.lefts if item.dep_ == "compound"), inner]) if inner is not None else ""


def _modifiers(token: Token, cast: Cast) -> tuple[list[Token], str, str]:
    kept: list[Token] = []
    possessor, count = "", ""
    for child in token.lefts:
        if child.dep_ == "poss":
            if child.pos_ in {"PRON", "DET"}:
                possessor = cast.name_of(child) or possessor
            elif child.ent_type_ == "PERSON" or child.lower_ in words("kin"):
                owner = named(child, cast)
                possessor = owner.name if owner else possessor
            else:
                kept += list(child.subtree)
        elif child.dep_ == "nummod" and _is_count(child, token):
            count = child.text
        elif child.dep_ in _LEFT and child.dep_ not in {"punct", "acl", "appos", "advmod", "npadvmod"}:
            kept += [inner for inner in child.subtree if inner.dep_ != "det"]
    return kept, possessor, count


def _is_count(number: Token, noun: Token) -> bool:
    if noun.pos_ == "PROPN" or number.i > noun.i or re.fullmatch(r"(?:19|20)\d\d", number.text):
        return False
    between = [noun.doc[index].lower_ for index in range(number.i + 1, noun.i + 1)]
    return not any(word in words("units") for word in between)


def _of_phrase(token: Token) -> list[Token]:
    for child in token.rights:
        if child.dep_ == "prep" and child.lower_ == "of" and child.i == token.i + 1:
            inner = next((item for item in child.children if item.dep_ == "pobj"), None)
            if inner is None or inner.pos_ not in {"NOUN", "PROPN"} or is_measure(inner):
                return []
            left = [item for item in inner.lefts if item.dep_ in {"amod", "compound", "nmod", "nummod"}]
            return [child, inner, *left]
    return []


def _joined(tokens: list[Token]) -> str:
    kept = list(tokens)
    while kept and (kept[0].lower_ in words("empty modifiers") or not _wordlike(kept[0])):
        kept.pop(0)
    while kept and not _wordlike(kept[-1]):
        kept.pop()
    kept = kept[-MAX_WORDS:] if len(kept) > MAX_WORDS else kept
    kept = [item for item in kept if item.pos_ != "PRON" and (item.lower_ not in {"a", "an", "the"})]
    kept = [token for item in kept for token in _with_hyphen(item, kept)]
    text = "".join(
        item.text_with_ws if index + 1 == len(kept) or kept[index + 1].i == item.i + 1 else item.text + " "
        for index, item in enumerate(kept)
    )
    return re.sub(r"\s+", " ", text).strip(" '\"“”.,!?;:-–—()")


def _with_hyphen(token: Token, kept: list[Token]) -> list[Token]:
    """The token, and the hyphen behind it if the word goes on: "self-care"."""
    if token.whitespace_ or token.i + 2 >= len(token.doc) or token.nbor(1).text not in {"-", "–", "/", "'"}:
        return [token]
    goes_on = any(other.i == token.i + 2 for other in kept) and not token.nbor(1).whitespace_
    return [token, token.nbor(1)] if goes_on else [token]


def _wordlike(token: Token) -> bool:
    return any(char.isalnum() for char in token.text)


def type_of(token: Token) -> AnchorType:
    """Type from the word lists, then from named-entity recognition, then from the word's ending."""
    word, lemma = token.lower_, token.lemma_.lower()
    for section, kind in _LEXICON_TYPES:
        if token.pos_ != "PROPN" and (word in words(section) or lemma in words(section)):
            return kind
    if token.ent_type_ in _NER_TYPES:
        return _NER_TYPES[token.ent_type_]
    for section, kind in _LEXICON_TYPES:
        if word in words(section) or lemma in words(section):
            return kind
    if token.pos_ == "PROPN":
        return AnchorType.OTHER
    return AnchorType.CONCEPT if _CONCEPT_ENDING.search(word) else AnchorType.OBJECT


def conjuncts(token: Token) -> list[Token]:
    """The token and the nouns joined to it by "and" or commas."""
    return [
        token,
        *(other for other in token.conjuncts if other.i > token.i and other.pos_ in {"NOUN", "PROPN", "PRON", "VERB"}),
    ]
