"""Secrets found by rule, so that they reach the vault before any writer sees the text (design 3, Vault first).

High precision on prose: a rule fires on a known token shape, a checksum, or a value that its sentence calls a secret.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from domain.memory import Frozen
from domain.text import words

PLACEHOLDER = "[vault:{caption}]"
"""What stands in the text in place of a secret."""
_PLACEHOLDERS = re.compile(r"\[vault:[^\]\n]*\]")
MIN_REPEATED = 6
"""A shorter value (a PIN) that occurs again without its label is left: it may be any number."""


class Secret(Frozen):
    """A secret in a text: character positions, end exclusive, and what it is. Never the value."""

    start: int
    end: int
    caption: str


class _Rule(NamedTuple):
    """A pattern whose group `value` is the secret, unless `check` denies it."""

    caption: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] = lambda _: True


_BE = r"(?:\s*[:=]\s*|\s+(?:is|was|are|ist|lautet|es|est|è|to|в)(?:\s+now)?\s*:?\s+|\s*(?:是|は|:|:)\s*)"
_ABOUT = r"(?:\s+(?:for|to|of|on|at)\s+(?:[\w'’.-]+\s+){0,4}?[\w'’.-]+)?"
_MARK = r"[\"'`*]{0,2}"
_QUOTED = r"[\"'“‘`](?P<value>[^\"'”’`\n]{3,80})[\"'”’`]"
_KEYWORD = (
    r"(?:pass\s?word|passcode|pass\s?phrase|passwd|pwd|wi-?fi\s+(?:key|code)|network\s+key|contraseña|mot\s+de\s+passe|"
    r"passwort|kennwort|senha|wachtwoord|пароль|密码|密碼|パスワード|비밀번호)"
)
_API_KEY = (
    r"(?:api[ _-]?key|api[ _-]?token|secret[ _-]?key|secret[ _-]?access[ _-]?key|access[ _-]?(?:key|token)|"
    r"auth[ _-]?token|client[ _-]?secret|private[ _-]?token)"
)
_CODE_LOCK = r"(?:door|gate|alarm|lock\s?box|safe|entry|keypad|building|garage|locker|access)\s+(?:code|combination)"
_ONE_TIME = (
    r"(?:one[- ]time\s+(?:pass)?(?:code|password|pin)|otp|2fa\s+code|(?:verification|security|login|confirmation|"
    r"auth(?:entication)?)\s+code)"
)

_NOT_SECRET = frozenset(
    words(
        """
    a an the this that these those it its my your our his her their not no never always still very too so really
    quite also just now then here there where when what which who why how in on at by for from of with within
    without under over about somewhere nowhere everywhere only all any some none same wrong right weak strong
    long short easy hard simple safe secure insecure incorrect correct invalid valid missing unknown different
    secret private public written stored saved kept known given sent set reset due old new good bad better worse
    fine okay ok yes maybe probably required optional case sensitive something someone anything nothing one two
    three empty blank broken stolen hidden forgotten being been going getting like needed ready back gone open
    lost up down out off etc
    """
    )
)
_PROSE_ENDING = re.compile(r"(?i)(?:ed|ing|able|ible|ful|ous|ive|al|ant|ent|ly|ic)$")


def find_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets of a text in order, without overlap. A found value is found again wherever it stands in the text."""
    found = sorted(_by_rule(text), key=lambda secret: (secret.start, -secret.end))
    again = (
        Secret(start=at, end=at + len(value), caption=caption)
        for value, caption in {text[secret.start : secret.end]: secret.caption for secret in found}.items()
        if len(value) >= MIN_REPEATED
        for at in occurrences(text, value)
    )
    return tuple(_apart(sorted((*found, *again), key=lambda secret: (secret.start, -secret.end))))


def redact(text: str, secrets: Sequence[Secret]) -> str:
    """The text with `[vault:<caption>]` in place of each secret; `secrets` as `find_secrets` gives them."""
    parts, at = [], 0
    for secret in secrets:
        parts += [text[at : secret.start], PLACEHOLDER.format(caption=secret.caption)]
        at = secret.end
    return "".join((*parts, text[at:]))


def occurrences(text: str, value: str) -> Iterator[int]:
    """Where a value stands in a text by itself, not as a part of a longer word."""
    for match in re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", text):
        yield match.start()


def _by_rule(text: str) -> Iterator[Secret]:
    # A placeholder is masked by full stops of its length: no rule reads across them.
    text = _PLACEHOLDERS.sub(lambda match: "." * len(match[0]), text)
    for rule in _RULES:
        for match in rule.pattern.finditer(text):
            value = match["value"]
            if value.strip(".") and rule.check(value):
                start, end = match.span("value")
                yield Secret(start=start, end=end, caption=rule.caption)
    yield from _ibans(text)


def _apart(secrets: Iterable[Secret]) -> Iterator[Secret]:
    """Of overlapping secrets one, from the first start to the last end."""
    current: Secret | None = None
    for secret in secrets:
        if current is not None and secret.start < current.end:
            current = current.model_copy(update={"end": max(current.end, secret.end)})
            continue
        if current is not None:
            yield current
        current = secret
    if current is not None:
        yield current


def _mixed(value: str) -> bool:
    """Digits among letters: no word of prose."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _looks_secret(value: str) -> bool:
    """A value that prose would not put after `password is`: not a common word, not an adjective or participle."""
    if _mixed(value) or any(not ch.isalnum() and ch not in "'’-" for ch in value):
        return True
    return value.isdigit() or (value.casefold() not in _NOT_SECRET and not _PROSE_ENDING.search(value))


def _luhn(value: str) -> bool:
    digits = [int(ch) for ch in value if ch.isdecimal()]
    doubled = (sum(divmod(2 * digit, 10)) if at % 2 else digit for at, digit in enumerate(reversed(digits)))
    return len(set(digits)) > 1 and sum(doubled) % 10 == 0


def _ibans(text: str) -> Iterator[Secret]:
    for match in _IBAN.finditer(text):
        end = match.end()
        while end - match.start() >= 15 and not _is_iban(text[match.start() : end]):
            end = max(text.rfind(" ", match.start(), end), match.start())
        if end - match.start() >= 15:
            yield Secret(start=match.start(), end=end, caption="IBAN")


def _is_iban(text: str) -> bool:
    compact = text.replace(" ", "")
    moved = compact[4:] + compact[:4]
    return 15 <= len(compact) <= 34 and int("".join(str(int(ch, 36)) for ch in moved)) % 97 == 1


_IBAN = re.compile(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")


def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


_RULES = (
    _Rule("private key", re.compile(
        r"(?P<value>-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"
        r"[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z))")),
    _Rule("API key", re.compile(
        r"(?<![\w-])(?P<value>sk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{16,}|[srp]k_(?:live|test)_[A-Za-z0-9]{10,}"
        r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16}"
        r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|AIza[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}"
        r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|ya29\.[A-Za-z0-9_-]{20,})(?![\w-])")),
    _Rule("bearer token", re.compile(
        r"(?<![\w-])(?P<value>eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,})")),
    _Rule("bearer token", _pattern(r"\bbearer\s+(?P<value>[a-z0-9._~+/-]{16,}=*)"), _mixed),
    _Rule("API key", _pattern(
        rf"(?:\b|_){_API_KEY}{_MARK}{_ABOUT}{_BE}[\"'`“]?(?P<value>[^\s\"'`”,;]{{8,400}}(?<![.!?]))"), _mixed),
    _Rule("password", _pattern(r"\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@]{1,100}:(?P<value>[^\s/@]{1,200})@")),
    _Rule("password", _pattern(rf"{_KEYWORD}{_MARK}{_ABOUT}{_BE}{_QUOTED}")),
    _Rule("password", _pattern(
        rf"{_KEYWORD}{_MARK}{_ABOUT}{_BE}(?P<value>[^\s\"'“‘`,;]{{4,80}}(?<![.!?。)]))"
        r"(?=[.!?,;。)]*(?:\s+(?:and|but|or|if|so|for|in|please|und|y|et)\b|\s*$|[.!?,;。)\n]|\s*\n))"), _looks_secret),
    _Rule("password", _pattern(rf"{_KEYWORD}{_MARK}{_ABOUT}{_BE}(?P<value>\S{{0,80}}\d\S{{0,80}}[^\s.,;!?)])"), _mixed),
    _Rule("password", _pattern(
        rf"pass\s?phrase{_ABOUT}{_BE}(?P<value>(?:[a-z]+[ -]){{3,11}}[a-z]+)(?=\s*(?:[.!?,;]|$))")),
    _Rule("one-time code", _pattern(
        rf"\b{_ONE_TIME}\b[^.\n\d]{{0,24}}?(?<![\d.])(?P<value>\d{{3}}[ -]?\d{{3}}|\d{{4,8}}"
        r"|(?=[a-z-]*\d)[a-z0-9]{3,5}-[a-z0-9]{3,5})\b")),
    _Rule("access code", _pattern(rf"\b{_CODE_LOCK}{_ABOUT}{_BE}(?P<value>[#*]?\d[\d #*-]{{1,12}}\d[#*]?)")),
    _Rule("PIN", re.compile(r"\bPIN\b(?i:" + _ABOUT + ")(?i:" + _BE + r"|\s+)(?P<value>\d{4,8})\b")),
    # six digits after `pin code` are an Indian postal code
    _Rule("PIN", _pattern(rf"\bpin\s+(?:code|number){_ABOUT}{_BE}(?P<value>\d{{4,5}})\b")),
    _Rule("PIN", _pattern(rf"\bpin{_ABOUT}{_BE}(?P<value>\d{{4,8}})\b")),
    _Rule("card number", re.compile(
        r"(?<![\d+.-])(?P<value>(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6\d{3}|35\d{2})(?:[ -]?\d{4}){3}(?:[ -]?\d{3})?"
        r"|3[47]\d{2}[ -]?\d{6}[ -]?\d{5}|3[068]\d{2}[ -]?\d{6}[ -]?\d{4})(?![\d-]|\.\d)"), _luhn),
    _Rule("card security code", _pattern(
        r"\b(?:cvv2?|cvc2?|card\s+security\s+code)\b[^.\n\d]{0,12}(?P<value>\d{3,4})\b")),
    _Rule("social security number", re.compile(
        r"(?<![\d-])(?P<value>(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4})(?![\d-])")),
    _Rule("social security number", _pattern(
        r"\b(?:ssn|social\s+security(?:\s+number)?)\b[^.\n\d]{0,12}(?P<value>\d{3}[ -]?\d{2}[ -]?\d{4})\b")),
    _Rule("passport number", _pattern(r"\bpassport\s+(?:number|no\.?|#)[^.\n\d]{0,6}?(?P<value>[a-z]{0,2}\d{6,9})\b")),
)  # fmt: skip


def without_secrets(value: object) -> object:
    """A JSON value with every secret in its texts replaced: what ids and digests are made of.

    A digest of a text with a short secret in it gives the secret away to whoever tries all of them.
    """
    if isinstance(value, str):
        return redact(value, find_secrets(value))
    if isinstance(value, Mapping):
        return {key: without_secrets(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(one) for one in value]
    return value
