"""Examples of kappa from the paper, the design and reported faults (case 18)."""

import pytest

from domain.keys import anchor_key, content_tokens
from domain.plurals import singular


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mobile App", "Mobile Apps"),
        ("the Mobile App", "app, mobile"),
        ("김하나", "김 하나"),
        ("ＡＩ 研究会", "AI研究会"),
        ("Vermolenaar, Pieter", "Pieter Vermolenaar"),
        ("Café", "Cafe\u0301"),
        ("1,000 pieces", "1000 pieces"),
        ("٣ rooms", "3 rooms"),
        ("2024/05/03", "2024-05-03"),
        ("❤️", "❤"),
        ("Lego™", "lego"),
    ],
)
def test_one_key(one: str, other: str) -> None:
    assert anchor_key(one) == anchor_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10 Gallons", "20 Gallons"),
        ("Training", "Trains"),
        ("Terminal 1", "Terminal 2"),
        ("X-100", "X-1000"),
        ("KX210", "KX211"),
        ("Bay 14", "Bay 15"),
        ("2023 audit", "2024 audit"),
        ("Python 3.9", "Python 3.11"),
        ("Python 3.9", "Python 9.3"),
        ("2024-03-05", "2024-05-03"),
        ("12号3楼", "3号12楼"),
        ("C++", "C#"),
        ("$500", "€500"),
        ("Team 🐻", "Team 🦊"),
        ("Andrea", "Andreas"),
        ("Luca", "Lucas"),
        ("Sal", "Sal's"),
    ],
)
def test_two_keys(one: str, other: str) -> None:
    assert anchor_key(one) != anchor_key(other)


def test_every_script_has_its_own_key() -> None:
    names = ["김하나", "Ольга", "Ωmega", "شركة نور", "🌱", "🌲", "हिन्दी", "ไทย"]
    keys = [anchor_key(name) for name in names]
    assert all(keys)
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("name", "key"), [("The The", "the the"), ("!!!", "!!!"), ("A", "a"), ("\x00", ""), ("  ", "")]
)
def test_a_name_that_drops_altogether_keeps_itself(name: str, key: str) -> None:
    assert anchor_key(name) == key


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("batteries", "battery"),
        ("movies", "movie"),
        ("boxes", "box"),
        ("glasses", "glass"),
        ("buses", "bus"),
        ("potatoes", "potato"),
        ("shoes", "shoe"),
        ("headaches", "headache"),
        ("houses", "house"),
        ("knives", "knife"),
        ("shelves", "shelf"),
        ("gas", "gas"),
        ("news", "news"),
        ("tennis", "tennis"),
        ("paris", "paris"),
        ("texas", "texas"),
        ("series", "series"),
        ("james", "james"),
        ("glass", "glass"),
    ],
)
def test_singular(plural: str, one: str) -> None:
    assert singular(plural) == one
    assert singular(one) == one


def test_content_tokens_are_in_order_without_stop_words() -> None:
    assert content_tokens("What did Priya do along the canals?") == ("priya", "along", "canal")
    assert content_tokens("東京都庁") == ("東京", "京都", "都庁")
    assert content_tokens("the of it") == ()
