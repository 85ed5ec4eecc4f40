"""A turn as it was said: its sentences with their times, clauses and standing, and which of them are worth keeping."""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from spacy.tokens import Token

from domain.memory import Status
from infra.models.rules.clauses import clauses
from infra.models.rules.lexicon import words
from infra.models.rules.parse import Sentence, gate, sentences
from infra.models.rules.status import COMMITTED, Clause
from infra.models.rules.times import Found, find

_WORD = re.compile(r"[\w’'%+-]+")
_VAULT = re.compile(r"\[vault:[^\]]*\]")
_POINTING = frozenset({"it", "this", "that", "they", "these", "those", "there", "everyone", "everything", "which"})


@dataclass(frozen=True)
class Said:
    """One sentence of a turn, understood as far as rules go."""

    sentence: Sentence
    text: str
    """As it stands in the turn."""
    times: tuple[Found, ...]
    """Positions are those in `text`."""
    clauses: tuple[Clause, ...]
    question: bool
    talk: bool
    """A greeting, thanks, an acknowledgement: nothing to remember."""

    def time_of(self, token: Token) -> Found | None:
        """The time a verb (or the noun of a fragment) happens at, if the sentence says so."""
        return _time_of(_attached(self.sentence, self.times), token)

    def time_of_clause(self, clause: Clause) -> Found | None:
        """The time of a clause: its verb's, or that of a verb folded into it."""
        times = (self.time_of(verb) for verb in (clause.verb, *reversed(clause.matrix)))
        return next((found for found in times if found is not None), None)

    @property
    def keep(self) -> bool:
        """Whether the sentence says something."""
        return not self.question and not self.talk

    @property
    def main(self) -> Clause | None:
        """The clause that the sentence is about: the first that isn't subordinate."""
        first = [clause for clause in self.clauses if clause.verb.dep_ in {"ROOT", "conj", "xcomp", "pcomp", "ccomp"}]
        return next(iter(first or self.clauses), None)

    @property
    def event(self) -> Clause | None:
        """The clause that makes the sentence an event: something dynamic happened, is planned or was called off."""
        for clause in self.clauses:
            if clause.verb.dep_ in {"relcl", "acl", "advcl", "ccomp"} and self.time_of_clause(clause) is None:
                continue
            if _is_event(clause, self.time_of_clause(clause)):
                return clause
        return None

    @property
    def dated(self) -> bool:
        """A fragment with a date ahead or behind: "Dentist on Monday week"."""
        return not self.clauses and any(found.direction and not found.since for found in self.times)

    @property
    def eventful(self) -> bool:
        """Whether the sentence tells of something that happened, is planned or was called off."""
        return self.event is not None or self.dated

    @property
    def pointing(self) -> bool:
        """The sentence leans on the one before: its subject is "it", "that" or the like."""
        main = self.main
        subject = main.subject if main is not None else None
        return subject is not None and subject.lower_ in _POINTING


def _is_event(clause: Clause, time: Found | None) -> bool:
    if clause.status is Status.HYPOTHETICAL:
        return False
    if clause.status in {Status.PLANNED, Status.CANCELLED}:
        return True
    dated = time is not None and not time.since
    dynamic = clause.verb.lemma_ not in words("stative")
    return clause.status is Status.DONE and (dynamic or dated) and not (clause.negated and not dated)


@lru_cache(maxsize=256)
def said(text: str, at: datetime) -> tuple[Said, ...]:
    """The sentences of a turn; `at` is its local time. A text that the gate refuses has none."""
    if gate(text):
        return ()
    return tuple(_said(sentence, text[sentence.start : sentence.end], at) for sentence in sentences(text))


def _said(sentence: Sentence, text: str, at: datetime) -> Said:
    found = find(text, at, future=_looks_ahead(sentence))
    times = tuple(time for time in found if _still_holds(sentence, time))
    attached = _attached(sentence, times)

    def direction(verb: Token) -> int:
        found = _time_of(attached, verb)
        return found.direction if found is not None else 0

    question = is_question(text)
    return Said(sentence, text, times, tuple(clauses(sentence, direction)), question, not question and is_talk(text))


def _looks_ahead(sentence: Sentence) -> bool | None:
    """True for a future or present-progressive sentence, False for one in the past tense, None otherwise."""
    tags = {token.tag_ for token in sentence.tokens if token.pos_ in {"VERB", "AUX"}}
    lowered = {token.lower_ for token in sentence.tokens}
    if lowered & ({"will", "'ll", "gonna", "gon", "going", "plan", "planning", "upcoming"} | COMMITTED):
        return True
    if tags & {"VBD", "VBN"}:
        return False
    return True if "VBG" in tags or not tags else None


def _attached(sentence: Sentence, times: tuple[Found, ...]) -> dict[int, Found]:
    """Times by the position of the verb (or root noun) they hang on; the first of several wins."""
    attached: dict[int, Found] = {}
    for found in times:
        inside = [
            token for token in sentence.tokens if found.start <= sentence.place(token) - sentence.start < found.end
        ]
        if inside:
            attached.setdefault(_carrier(inside[0], {token.i for token in inside}).i, found)
    return attached


def _still_holds(sentence: Sentence, time: Found) -> bool:
    """ "For three years" says when something began only under a perfect: "I've been vegetarian for three years"."""
    if not time.since:
        return True
    carriers = [sentence.doc[index] for index in _attached(sentence, (time,))]
    auxiliaries = {child.lower_ for token in carriers for child in token.children if child.dep_ == "aux"}
    starts = {token.lower_ for token in sentence.tokens if sentence.place(token) - sentence.start == time.start}
    return "since" in starts or bool(auxiliaries & {"have", "has", "'ve", "’ve", "'s", "’s", "had"})


def _carrier(token: Token, inside: set[int]) -> Token:
    current = token
    while current.head.i != current.i and (current.i in inside or current.pos_ not in {"VERB", "AUX"}):
        current = current.head
    return current


def _time_of(attached: dict[int, Found], token: Token) -> Found | None:
    current = token
    for _ in range(5):
        if current.i in attached:
            return attached[current.i]
        if (
            current.dep_ == "conj"
            or current.dep_ in {"xcomp", "pcomp"}
            or (current.dep_ == "advcl" and current.head.lower_ in {"gon", "going"})
            or current.dep_ == "prep"
        ):
            current = current.head
        else:
            return None
    return None


def is_question(text: str) -> bool:
    """A bare question; a statement with a tag ("…, right?") is none."""
    stripped = text.rstrip(" )\"'😊🙂")
    if not stripped.endswith("?"):
        return False
    return re.search(r",\s*(?:right|huh|you know|isn't it|don't you think|eh)\?$", stripped, re.IGNORECASE) is None


def is_talk(text: str) -> bool:
    """Greetings, thanks and acknowledgements: no word but those of small talk and one name."""
    if _VAULT.search(text):
        return False
    found = _WORD.findall(text)
    rest = [word for word in found if word.lower().replace("’", "'") not in words("talk") and not word[0].isupper()]
    named = [word for word in found if word[0].isupper() and word.lower() not in words("talk")]
    if any(char.isdigit() for char in text) or '"' in text:
        return False
    return (not rest and len(named) <= 1 and bool(set(map(str.lower, found)) & words("talk"))) or not found
