"""Laws of redaction (design 3, Vault first)."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from domain.redaction import find_secrets, redact
from tests.strategies import any_text, prose, wild_text

secret_values = st.one_of(
    st.from_regex(r"[a-z]{4,8}[0-9]{2,6}", fullmatch=True),
    st.from_regex(r"sk-[A-Za-z0-9]{20,30}", fullmatch=True),
    st.from_regex(r"ghp_[A-Za-z0-9]{36}", fullmatch=True),
    st.from_regex(r"AKIA[A-Z0-9]{16}", fullmatch=True),
    st.just("4111 1111 1111 1111"),
    st.just("DE89 3704 0044 0532 0130 00"),
    st.just("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK"),
)


@given(st.one_of(wild_text, prose))
def test_never_raises_and_is_in_order(text: str) -> None:
    secrets = find_secrets(text)
    assert all(secret.start < secret.end for secret in secrets)
    assert all(one.end <= other.start for one, other in pairwise(secrets))


@given(any_text, secret_values, any_text)
def test_no_secret_is_left_in_the_redacted_text(before: str, value: str, after: str) -> None:
    text = f"{before}\nMy password is {value}.\n{after}"
    clean = redact(text, find_secrets(text))
    assert f"password is {value}" not in clean
    assert "[vault:" in clean
    assert find_secrets(f"My password is {value}.") != ()


@given(prose, secret_values)
def test_redacting_twice_changes_nothing(text: str, value: str) -> None:
    once = redact(said := f"{text} the password is {value}", find_secrets(said))
    assert redact(once, find_secrets(once)) == once


@given(st.integers(0, 999_999), st.dates(), st.times())
def test_ordinary_numbers_are_no_secrets(number: int, day: object, time: object) -> None:
    text = f"Room {number} on {day} at {time}, flight TP{number}, ${number}, order {number}, +44 20 7946 {number:06}"
    assert find_secrets(text) == ()
