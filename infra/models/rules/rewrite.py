"""Record text: first and second person become names, verbs agree, resolved dates follow their phrases (platform, 4)."""

import re

from spacy.tokens import Token

from infra.models.rules.moments import render
from infra.models.rules.parse import MASK
from infra.models.rules.people import Cast
from infra.models.rules.said import Said
from infra.models.rules.times import Found

_SUBJECT = frozenset({"i", "you", "u"})
_OWN = frozenset({"my", "mine", "your", "yours"})
_IRREGULAR = {
    "am": "is",
    "'m": "is",
    "’m": "is",
    "are": "is",
    "'re": "is",
    "’re": "is",
    "have": "has",
    "'ve": "has",
    "’ve": "has",
    "do": "does",
    "go": "goes",
    "were": "was",
    "m": "is",
}
_OPENING = re.compile(
    r"^(?:(?:hey|hi|hello|wow|whoa|woah|yeah|yep|yup|yes|oh|ah|aw|well|thanks(?: so much| a lot| a bunch)?|"
    r"thank you(?: so much)?|absolutely|totally|definitely|sure|haha|congrats|cool|awesome|great|nice|"
    r"by the way|plus|so|and|but|also|anyway)"
    r"(?:,?\s+[A-Z]\w+)?\s*[,!.:–-]+\s*)+",
    re.IGNORECASE,
)
_LINK = re.compile(r"^(?:So|And|But|Plus)\s+(?=[A-Z]|it\b|this\b|that\b|they\b|the\b|there\b)")


def rewrite(item: Said, cast: Cast) -> str:
    """The sentence in the third person, with the resolved dates in brackets."""
    tokens = item.sentence.tokens
    inserts = {found.end: found for found in item.times if found.relative}
    out: list[str] = []
    replaced: set[int] = set()
    for token in tokens:
        text = _placeholder(item, token) or _word(token, cast, replaced)
        if out and text and not out[-1].endswith((" ", "\n")) and _needs_gap(token, text):
            out.append(" ")
        dated = _date_after(item, token, inserts)
        out.append(f"{text[:-1]}{dated}." if dated and text.endswith(".") else text + dated)
        out.append(token.whitespace_ or (" " if token.is_space else ""))
    line = _without_opening(" ".join("".join(out).split()))
    return line[:1].upper() + line[1:]


def _without_opening(line: str) -> str:
    """The sentence without "Wow," or "Yeah, Mel!" in front of it."""
    rest = _LINK.sub("", _OPENING.sub("", line, count=1))
    return rest if len(rest.split()) > 2 else line


def _needs_gap(token: Token, text: str) -> bool:
    return text != token.text and token.text[:1] in "'’" and not text.startswith(("'", "’"))


def _date_after(item: Said, token: Token, inserts: dict[int, Found]) -> str:
    end = item.sentence.place(token) - item.sentence.start + len(token.text)
    found = inserts.pop(end, None) or (inserts.pop(end - 1, None) if token.text.endswith(".") else None)
    if found is None:
        return ""
    about = "since about " if found.since and not item.text[found.start :].lower().startswith("since") else ""
    return f" ({about}{render(found.span)})"


def _placeholder(item: Said, token: Token) -> str:
    """The vault placeholder that a word stands for in the parse, or ""."""
    if token.text != MASK:
        return ""
    rest = item.text[item.sentence.place(token) - item.sentence.start :]
    return rest[: rest.index("]") + 1] if rest.startswith("[vault:") and "]" in rest else ""


def _word(token: Token, cast: Cast, replaced: set[int]) -> str:
    word = token.lower_.replace("’", "'")
    if token.i > 0 and token.text[:1] in "'’" and token.i - 1 in replaced:
        return _contracted(token, word)
    if _joined_to_next(token):
        return token.text
    name = cast.name_of(token) if token.pos_ in {"PRON", "DET", "PROPN", "NOUN"} else ""
    if name and word in _OWN:
        return f"{name}'s"
    if name and word in {"myself", "yourself"}:
        return "themselves" if word == "myself" else token.text
    if name and word in {"he", "she", "they"} and token.dep_ in {"nsubj", "nsubjpass"} and _opens(token):
        return name
    if name and word in {"i", "me", "you", "u"}:
        if word in _SUBJECT and token.dep_ in {"nsubj", "nsubjpass"}:
            replaced.add(token.i)
        return name
    if word in {"'re", "'ve", "'ll"} and token.i > 0 and token.nbor(-1).lower_ == "we" and cast.speaker:
        return {"'re": "are", "'ve": "have", "'ll": "will"}[word]
    if word in {"we", "us"} and cast.speaker and token.pos_ == "PRON":
        return f"{cast.speaker} and {cast.group or 'others'}"
    if word == "our" and cast.speaker:
        return f"{cast.speaker}'s"
    return _agreeing(token, replaced)


def _opens(token: Token) -> bool:
    """The first word of its sentence."""
    return bool(token.is_sent_start)


def _joined_to_next(token: Token) -> bool:
    """The first part of a compound: "me-time"."""
    return not token.whitespace_ and token.i + 1 < len(token.doc) and token.nbor(1).text in {"-", "–"}


def _contracted(token: Token, word: str) -> str:
    """The full form of 'm, 're, 've, 'll, 'd and 's after a name."""
    if word == "'d":
        return "had" if token.head.tag_ in {"VBN", "VBD"} and token.head.lemma_ != "like" else "would"
    return {"'m": "is", "'re": "is", "'ve": "has", "'ll": "will"}.get(word, token.text)


def _agreeing(token: Token, replaced: set[int]) -> str:
    if token.pos_ not in {"VERB", "AUX"} or not _governed(token, replaced):
        return token.text
    word = token.lower_
    if word in _IRREGULAR and token.tag_ in {"VBP", "VBD"}:
        return _IRREGULAR[word]
    if token.tag_ != "VBP" or not token.is_alpha:
        return token.text
    return third_person(token.text)


def third_person(verb: str) -> str:
    """The -s form of a regular verb."""
    lowered = verb.lower()
    if lowered.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if lowered.endswith("y") and lowered[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def _governed(verb: Token, replaced: set[int]) -> bool:
    """Whether a verb's singular subject was replaced by a name; an auxiliary looks at its main verb."""
    current = verb.head if verb.dep_ in {"aux", "auxpass"} else verb
    for _ in range(4):
        subjects = [child for child in current.children if child.dep_ in {"nsubj", "nsubjpass"}]
        if subjects:
            own = subjects[0]
            return own.i in replaced and not any(child.dep_ == "conj" for child in own.children)
        if current.dep_ != "conj":
            return False
        if verb.dep_ in {"aux", "auxpass"} and verb.tag_ != "VBP":
            return False
        current = current.head
    return False
