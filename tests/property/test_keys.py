"""Laws of kappa (design 3.1; paper A.2)."""

import json
import random
import subprocess
import sys

from hypothesis import example, given
from hypothesis import strategies as st

from domain.keys import FUNCTION_WORDS, anchor_key, content_tokens
from tests.strategies import names, plain_names, wild_text, words


@given(st.one_of(names, wild_text))
@example("ΐ")
@example("ſ ẞ ŉ ǰ")
@example("\u1fb7\u0345 ͅ")
@example("研究会 AI 東京 3")
def test_idempotent(name: str) -> None:
    key = anchor_key(name)
    assert anchor_key(key) == key


@given(st.one_of(names, wild_text))
def test_any_script_has_a_key_that_can_be_stored(name: str) -> None:
    key = anchor_key(name)
    key.encode("utf-8")
    assert key == " ".join(key.split())
    if any(character.isalnum() for character in name):
        assert key


@given(plain_names, st.sampled_from((str.upper, str.title, str.swapcase)))
def test_case_is_levelled(name: str, change: st.SearchStrategy[str]) -> None:
    assert anchor_key(change(name)) == anchor_key(name)  # type: ignore[operator]


@given(st.lists(words, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_order_is_levelled(tokens: list[str], shuffler: random.Random) -> None:
    shuffled = shuffler.sample(tokens, len(tokens))
    assert anchor_key(" ".join(shuffled)) == anchor_key(" ".join(tokens))


@given(words, st.sampled_from(sorted(FUNCTION_WORDS)))
def test_function_words_and_punctuation_are_levelled(word: str, dropped: str) -> None:
    assert anchor_key(f"“{dropped} {word}!”") == anchor_key(word)


@given(words)
def test_plural_is_levelled(word: str) -> None:
    plural = {"box": "boxes", "battery": "batteries", "glass": "glasses"}.get(word, f"{word}s")
    assert anchor_key(plural) == anchor_key(word)


@given(plain_names, st.integers(0, 10**9), st.integers(0, 10**9))
def test_numbers_are_kept(name: str, first: int, second: int) -> None:
    assert (anchor_key(f"{name} {first}") == anchor_key(f"{name} {second}")) == (first == second)


@given(plain_names, st.decimals(0, 99, places=1), st.decimals(0, 99, places=1))
def test_decimals_are_kept(name: str, first: object, second: object) -> None:
    assert (anchor_key(f"{name} {first}") == anchor_key(f"{name} {second}")) == (str(first) == str(second))


@given(plain_names, st.dates(), st.dates())
def test_dates_are_kept(name: str, first: object, second: object) -> None:
    assert (anchor_key(f"{name} {first}") == anchor_key(f"{name} {second}")) == (first == second)


@given(st.one_of(names, wild_text))
def test_content_tokens_never_raise_and_hold_no_gap(text: str) -> None:
    assert all(token and token == token.strip() for token in content_tokens(text))


def test_stable_across_processes() -> None:
    sample = ["Mobile Apps", "10 Gallons", "김 하나", "Ольга", "Ωmega", "🌱", "AI研究会", "the The", "İstanbul", "C++"]
    program = (
        "import json, sys; from domain.keys import anchor_key;"
        "print(json.dumps([anchor_key(name) for name in json.loads(sys.argv[1])]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, json.dumps(sample)],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert outputs == {json.dumps([anchor_key(name) for name in sample]) + "\n"}
