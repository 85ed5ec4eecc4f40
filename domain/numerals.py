"""Numbers, units, currencies and codes as they stand in a name (design 3.2: what must never be merged)."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from domain.keys import levelled
from domain.text import words
from domain.units import CURRENCIES, ORDINAL_SUFFIXES, UNITS

_SMALL = {
    word: value
    for value, word in enumerate(
        words(
            """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen
    """
        )
    )
}
_TENS = {word: 10 * (at + 2) for at, word in enumerate(words("twenty thirty forty fifty sixty seventy eighty ninety"))}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_ORDINALS = {
    word: value + 1
    for value, word in enumerate(
        words(
            """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
    """
        )
    )
} | {word[:-1] + "ieth": value for word, value in _TENS.items()}
_OTHERS = {"dozen": 12, "half": "1/2", "quarter": "1/4", "hundredth": 100}
_FOREIGN = {
    word: value
    for value, names in enumerate(
        (
            "deux zwei dois duas twee два две",
            "tres trois drei tre três drie три",
            "cuatro quatre vier quattro quatro четыре",
            "cinco cinq fünf cinque vijf пять",
            "seis sechs zes шесть",
            "siete sieben sette sete zeven семь",
            "ocho huit acht oito восемь",
            "nueve neun nove negen девять",
            "diez zehn dieci dez tien десять",
        ),
        start=2,
    )
    for word in names.split()
}
"""Two to ten in seven languages, but for words that mean something else as well or are names (`neuf`, `dos`,
`Otto`)."""
_NUMBER_WORDS = frozenset((*_SMALL, *_TENS, *_SCALES, *_ORDINALS))

_ROMAN_AFTER_WORD = re.compile(r"(?<=\w)\s+(X{0,3}(?:IX|IV|V?I{1,3}|V)|X{2,3}|X)(?![\w'’-])")
_ROMAN_CONTEXT = re.compile(
    r"(?i)\b(act|book|chapter|class|episode|grade|layer|level|part|phase|schedule|season|stage|tier|title|type|volume|vol|"
    r"war)\s+$"
)
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10}
_HAN_DIGITS = {**{digit: value for value, digit in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2, "兩": 2}
_HAN_NUMBER = re.compile(
    "(?:(?<=第)[零〇一二三四五六七八九十百两兩]+|[零〇一二三四五六七八九十百两兩]+"
    "(?=[号號楼樓层層階月日年室班组組课課章次期级級番丁箱个個只隻本张張瓶杯台辆輛岁歳斤盒包]))"
)
_TOKEN = re.compile(r"\d+(?:[.,:/\u2044-]\d+)*|[^\W\d_]+")
_DEGREE_SIGNS = ("°", "º")
_DEGREES = {"c": "celsius", "f": "fahrenheit", "k": "kelvin"}
_GLUE, _HYPHEN = "", "-"
_VERSION_PREFIXES = frozenset({"v", "ver", "version", "no", "nr", "n"})
_MAX_HYPHENATED_CODE = 4
"""Letters that a hyphen ties to a number as a code: `KX-210`, `1099-DIV`; longer ones are words (`20-gallon`)."""


class Numerals(NamedTuple):
    """What a name says in numbers; every field sorted, values as plain decimal text."""

    numbers: tuple[str, ...]
    codes: tuple[str, ...]
    """Numbers with the letters that belong to them: `x100`, `3b`, `1099div`."""
    units: tuple[str, ...]
    currencies: tuple[str, ...]


class _Word(NamedTuple):
    raw: str
    text: str
    gap: str
    """What stands between the word before and this one."""


def numerals(name: str) -> Numerals:
    """Read the numbers of a name: digits of any script, English number words and ordinals, Roman and Han numerals."""
    words = _words(name)
    numbers: list[str] = [*_roman(name), *_han(name)]
    codes: list[str] = []
    units: list[str] = []
    at = 0
    while at < len(words):
        value, end = _number_at(words, at)
        if value is None:
            at += 1
            continue
        numbers.append(value)
        codes += _code(words, at, end, value)
        units += _unit(words, end)
        at = end
    return Numerals(*(tuple(sorted(each)) for each in (numbers, codes, set(units), _currencies(name, words))))


def number_values(text: str) -> frozenset[str]:
    """The values of all numbers in a text, to ask whether another text covers them: `six` and `6` are one."""
    return frozenset(numerals(text).numbers)


def _words(name: str) -> list[_Word]:
    # Compatibility forms keep their case here: capitals tell a code from a word.
    raw = "".join(
        ch if (digit := unicodedata.decimal(ch, None)) is None else str(digit)
        for ch in unicodedata.normalize("NFKC", name)
    )
    words: list[_Word] = []
    end = 0
    for match in _TOKEN.finditer(raw):
        words.append(_Word(raw=match[0], text=match[0].casefold(), gap=raw[end : match.start()]))
        end = match.end()
    return words


def _number_at(words: Sequence[_Word], at: int) -> tuple[str | None, int]:
    word = words[at]
    if word.text[0].isdecimal():
        return _plain(word.text), at + 1
    if word.text == "second" and at and words[at - 1].text[0].isdecimal():
        return None, at + 1  # 30 second plank: a unit
    if word.text in _OTHERS:
        return str(_OTHERS[word.text]), at + 1
    if word.text not in _NUMBER_WORDS:
        return (str(_FOREIGN[word.text]) if word.text in _FOREIGN else None), at + 1
    return _spelled(words, at)


def _plain(text: str) -> str:
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", text):
        text = text.replace(",", "")
    return text.lstrip("0") or "0" if text.isdecimal() else text.replace("\u2044", "/")


def _spelled(words: Sequence[_Word], at: int) -> tuple[str, int]:
    """The value of a run of number words, and where it ends; an ordinal ends it."""
    total, current, last = 0, 0, 10**12
    start = at
    while at < len(words):
        word = words[at].text
        if (
            word == "and"
            and at > start
            and at + 1 < len(words)
            and words[at + 1].text in _SMALL | _TENS
            and last >= 100
        ):
            at += 1
            continue
        if word in _SCALES and at > start:
            scale = _SCALES[word]
            current = max(current, 1) * scale
            if scale >= 1_000:
                total, current = total + current, 0
            last = scale
        else:
            value = _SMALL.get(word, _TENS.get(word, _ORDINALS.get(word, _SCALES.get(word))))
            if value is None or (at > start and not _continues(last, value)):
                break
            current, last = current + value, value
        at += 1
        if word in _ORDINALS:
            break
    return str(total + current), at


def _continues(last: int, value: int) -> bool:
    """`twenty` goes on with `nine`, `hundred` with anything below it; `seven` `eight` are two numbers."""
    return (20 <= last < 100 and last % 10 == 0 and 0 < value < 10) or (last >= 100 and value < last)


def _code(words: Sequence[_Word], start: int, end: int, value: str) -> list[str]:
    """The letters before and after a number written in digits, if they belong to it."""
    if not words[start].text[0].isdecimal():
        return []
    before = words[start - 1] if start else None
    prefix = before.text if before and _is_prefix(before, words[start].gap) else ""
    after = words[end] if end < len(words) else None
    suffix = after.text if after and _is_suffix(after) else ""
    return [f"{prefix}{value}{suffix}"] if prefix or suffix else []


def _is_prefix(word: _Word, gap: str) -> bool:
    if word.text in _VERSION_PREFIXES or word.text in CURRENCIES or not word.raw.isascii():
        return False
    if gap == " ":
        return len(word.raw) == 1 and word.raw.isupper()
    return gap == _GLUE or (gap == _HYPHEN and len(word.raw) <= _MAX_HYPHENATED_CODE and word.raw.isupper())


def _is_suffix(word: _Word) -> bool:
    if word.text in UNITS or word.text in CURRENCIES or not word.raw.isascii():
        return False
    if word.gap == _GLUE:
        return word.text not in ORDINAL_SUFFIXES
    return word.gap == _HYPHEN and len(word.raw) <= _MAX_HYPHENATED_CODE and word.raw.isupper()


def _unit(words: Sequence[_Word], at: int) -> list[str]:
    if at >= len(words):
        return []
    if words[at].gap.strip() in _DEGREE_SIGNS and words[at].text in _DEGREES:
        return [_DEGREES[words[at].text]]
    if words[at].gap not in ("", " ", "-", "\u2011"):
        return []
    return [UNITS[words[at].text]] if words[at].text in UNITS else []


def _currencies(name: str, words: Sequence[_Word]) -> Iterable[str]:
    signs = {CURRENCIES.get(ch, ch) for ch in levelled(name) if unicodedata.category(ch) == "Sc"}
    codes = {CURRENCIES[word.text] for word in words if word.text in CURRENCIES}
    pairs = pairwise(words)
    won = {"krw" for amount, word in pairs if word.text == "won" and amount.text[0].isdecimal()}  # else of winning
    return signs | codes | won


def _roman(name: str) -> list[str]:
    values = []
    for match in _ROMAN_AFTER_WORD.finditer(unicodedata.normalize("NFKC", name)):
        if len(match[1]) > 1 or _ROMAN_CONTEXT.search(name[: match.start(1)]):
            digits = [_ROMAN_VALUES[letter] for letter in match[1]]
            pairs = zip(digits, [*digits[1:], 0], strict=True)
            values.append(str(sum(-digit if digit < after else digit for digit, after in pairs)))
    return values


def _han(name: str) -> list[str]:
    return [str(_han_value(match[0])) for match in _HAN_NUMBER.finditer(name)]


def _han_value(text: str) -> int:
    if "十" not in text and "百" not in text:
        return int("".join(str(_HAN_DIGITS[digit]) for digit in text))
    total, current = 0, 0
    for digit in text:
        scale = {"十": 10, "百": 100}.get(digit)
        if scale is None:
            current = _HAN_DIGITS[digit]
        else:
            total, current = total + max(current, 1) * scale, 0
    return total + current
