"""Who is meant: first and second person to names, third person only where one candidate stands (platform, 4)."""

from dataclasses import dataclass, field

from nicknames import NickNamer
from spacy.tokens import Token

from infra.models.rules.lexicon import words

FIRST = frozenset({"i", "me", "my", "mine", "myself"})
SECOND = frozenset({"you", "your", "yours", "yourself", "u", "ya"})
GROUP = frozenset({"we", "us", "our", "ours", "ourselves", "'s"})
THIRD = frozenset({"he", "him", "his", "himself", "she", "her", "hers", "herself"})
PLURAL = frozenset({"they", "them", "their", "theirs", "themselves"})
_FEMALE = frozenset({"she", "her", "hers", "herself"})
_FEMALE_KIN = frozenset(
    {
        "mom",
        "mum",
        "mother",
        "daughter",
        "sister",
        "wife",
        "girlfriend",
        "grandma",
        "grandmother",
        "granny",
        "nana",
        "aunt",
        "niece",
        "woman",
        "girl",
        "lady",
        "granddaughter",
        "bride",
    }
)
_MALE_KIN = frozenset(
    {
        "dad",
        "father",
        "son",
        "brother",
        "husband",
        "boyfriend",
        "grandpa",
        "grandfather",
        "uncle",
        "nephew",
        "man",
        "boy",
        "guy",
        "grandson",
        "groom",
    }
)
_NICKNAMES = NickNamer()


@dataclass(frozen=True)
class Person:
    """Someone mentioned in a turn; `plural` for a group."""

    name: str
    female: bool | None = None
    plural: bool = False


@dataclass(frozen=True)
class Relation:
    """`name` is the `kind` ("brother") of `owner`."""

    name: str
    kind: str
    owner: str


@dataclass
class Cast:
    """The speaker, who is spoken to, and the persons mentioned so far in the turn."""

    speaker: str
    speakers: tuple[str, ...] = ()
    mentioned: list[Person] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    """Relations that the sentence at hand stated in passing; whoever makes its frames takes them."""
    group: str = ""
    """With whom the speaker's last "we" was, if the turn said it."""

    @property
    def addressee(self) -> str:
        """The one other speaker, or "" if there is none or more than one."""
        others = [name for name in self.speakers if name and name != self.speaker]
        return others[0] if len(others) == 1 else ""

    def mention(self, person: Person) -> None:
        """Note a person, the latest last, each once."""
        self.mentioned = [other for other in self.mentioned if other.name != person.name] + [person]

    def name_of(self, token: Token) -> str:
        """Whom a pronoun stands for, or "" where it isn't certain."""
        word = token.lower_.replace("’", "'")
        if word in FIRST:
            return self.speaker
        if word in SECOND:
            return "" if is_generic_you(token) else self.addressee
        if word in THIRD:
            return self._only([p for p in self.mentioned if not p.plural and p.female in {None, word in _FEMALE}])
        if word in PLURAL:
            return self._only([p for p in self.mentioned if p.plural])
        return ""

    def _only(self, candidates: list[Person]) -> str:
        return candidates[0].name if len(candidates) == 1 else ""

    def speaker_called(self, name: str) -> str:
        """The one other speaker whom a vocative names, in full or by a short form; "" if none or several."""
        wanted = name.casefold()
        others = [other for other in self.speakers if other and other != self.speaker]
        hits = [other for other in others if is_short_form(wanted, other.casefold())]
        return hits[0] if len(hits) == 1 else ""


def is_short_form(short: str, full: str) -> bool:
    """Whether `short` can be a way to call `full` (both casefolded): equal, its beginning, or a listed nickname."""
    first = full.split(" ")[0] if full else ""
    if short in {full, first}:
        return True
    if len(short) >= 3 and first.startswith(short.rstrip("yl")) and len(short.rstrip("yl")) >= 2:
        return True
    return short in _NICKNAMES.nicknames_of(first)


def is_generic_you(token: Token) -> bool:
    """ "you know", "thank you", "you guys", "you both": nobody in particular, or no one person."""
    following = token.nbor(1).lower_ if token.i + 1 < len(token.doc) else ""
    before = token.nbor(-1).lower_ if token.i > 0 else ""
    return following in {"know", "guys", "both", "all", "two", "see"} or before in {"thank", "see"}


def gender(word: str) -> bool | None:
    """True for a word of a woman, False for one of a man, None if it doesn't tell."""
    lowered = word.lower()
    if lowered in _FEMALE_KIN:
        return True
    return False if lowered in _MALE_KIN else None


def is_plural_kin(token: Token) -> bool:
    """A noun for several people: "kids", "friends", "family"."""
    return (token.tag_ in {"NNS", "NNPS"} or token.lower_ in {"family", "fam", "team", "crew"}) and (
        token.lower_ in words("kin") or token.lower_ in words("person")
    )
