"""Words of a question or a row: tokens, stems, and what does not count as content."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from domain.keys import STOP_WORDS, content_tokens, is_cjk

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")

QUESTION_WORDS = frozenset((
    "who", "whom", "whose", "what", "which", "when", "where", "why", "how",
))  # fmt: skip

AUXILIARIES = frozenset((
    "do", "does", "did", "have", "has", "had", "is", "are", "was", "were", "be", "been", "being", "will", "would",
    "shall", "should", "can", "could", "may", "might", "must", "got",
))  # fmt: skip

_ASKING_WORDS = frozenset((
    "between", "among", "during", "another", "other", "others", "such", "both", "either", "neither", "down",
    "never", "yet", "again", "still", "any", "some", "ever", "out", "up", "many", "much", "long", "often", "times",
    "time", "kind", "kinds", "type", "types", "sort", "sorts", "name", "names", "likely", "probably", "list",
    "number", "else", "tell", "something", "anything", "someone", "anyone", "ago", "recently",
))  # fmt: skip
"""Words that shape a question and say nothing of what it is about."""

NOT_CONTENT = (STOP_WORDS | QUESTION_WORDS | AUXILIARIES | _ASKING_WORDS) - {"like"}
"""What does not count as content. `like` stays: it is a relation as often as a preposition."""

_IRREGULAR = {
    form: base
    for base, forms in {
        "be": "am is are was were been",
        "become": "became",
        "begin": "began begun",
        "break": "broke broken",
        "bring": "brought",
        "build": "built",
        "buy": "bought",
        "catch": "caught",
        "child": "children",
        "choose": "chose chosen",
        "come": "came",
        "do": "did done",
        "draw": "drew drawn",
        "drink": "drank drunk",
        "drive": "drove driven",
        "eat": "ate eaten",
        "fall": "fell fallen",
        "feed": "fed",
        "feel": "felt",
        "fight": "fought",
        "find": "found",
        "fly": "flew flown",
        "foot": "feet",
        "forget": "forgot forgotten",
        "get": "got gotten",
        "give": "gave given",
        "go": "went gone",
        "grow": "grew grown",
        "have": "has had",
        "hear": "heard",
        "hold": "held",
        "keep": "kept",
        "know": "knew known",
        "lead": "led",
        "leave": "left",
        "lend": "lent",
        "lose": "lost",
        "make": "made",
        "man": "men",
        "meet": "met",
        "pay": "paid",
        "person": "people",
        "ride": "rode ridden",
        "run": "ran",
        "say": "said",
        "see": "saw seen",
        "sell": "sold",
        "send": "sent",
        "sing": "sang sung",
        "sit": "sat",
        "sleep": "slept",
        "speak": "spoke spoken",
        "spend": "spent",
        "stand": "stood",
        "swim": "swam swum",
        "take": "took taken",
        "teach": "taught",
        "tell": "told",
        "think": "thought",
        "wear": "wore worn",
        "win": "won",
        "woman": "women",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}

_PARTICIPLES = frozenset((
    "given", "taken", "chosen", "written", "driven", "eaten", "drawn", "worn", "stolen", "broken", "forgotten",
    "ridden", "spoken", "seen", "known", "grown", "flown", "sold", "told", "sent", "lent", "taught", "bought",
    "brought", "built", "paid", "held", "led", "kept", "found", "caught", "left", "made", "met", "lost", "won",
))  # fmt: skip


def tokens(text: str) -> tuple[str, ...]:
    """Casefolded words and numbers in order, of any script (Han, Kana and Hangul as character pairs); 's is cut
    off, and `take_part_in` is three words."""
    if text.isascii():  # as it stands in normal form
        return tuple([_bare(word) if "'" in word else word for word in _WORD.findall(text.casefold())])
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    return tuple(part for word in _WORD.findall(folded) for part in _parts(word))


def _parts(word: str) -> tuple[str, ...]:
    if not word.isascii() and any(map(is_cjk, word)):
        return content_tokens(word)
    return (_bare(word),)


def _bare(word: str) -> str:
    return word.removesuffix("'s").replace("'", "")


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """One form for the inflections of an English word (`gave`, `gives`, `giving`); other scripts pass unchanged.

    Only meant for comparing stems with stems: the result need not be a word.
    """
    word = _IRREGULAR.get(word, word)
    if len(word) <= 3 or not word.isascii() or not word.isalpha():
        return word
    return _undouble(_cut(word))


def _cut(word: str) -> str:
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ing") and len(word) > 5:
        return word[:-3]
    if word.endswith("ed") and len(word) > 4:
        return word[:-2]
    if word.endswith(("ses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _undouble(word: str) -> str:
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    return word


def stems(text: str) -> tuple[str, ...]:
    """The stems of every token, in order."""
    return tuple(map(stem, tokens(text)))


def content(text: str) -> tuple[str, ...]:
    """Tokens that carry content: stop words, question words and words that only shape a question are out."""
    return unique(word for word in tokens(text) if word not in NOT_CONTENT)


def unique(words: Iterable[str]) -> tuple[str, ...]:
    """The words without repetition, in order of first appearance."""
    return tuple(dict.fromkeys(words))


def is_plural(word: str) -> bool:
    """True for an English plural noun by its form, or an irregular one."""
    if word in {"people", "children", "men", "women", "feet"}:
        return True
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))


def is_participle(word: str) -> bool:
    """True if a verb form can stand after `was` as a passive."""
    return word in _PARTICIPLES or word.endswith("ed")
