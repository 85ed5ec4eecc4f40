"""The identity guard by example: scenario S2, cases 11 and 12, and every kind of difference the design names."""

import pytest

from domain.identity import accepted, veto
from domain.memory import Entity
from domain.model_calls import Candidate, CanonicalizeAnswer, CanonicalizeRequest, EntityQuestion, Rename
from tests.strategies import a_record

FORBIDDEN = [
    ("40 °C wash", "40 °F wash"),
    ("200 yen pouch", "200 won pouch"),
    ("dos maletas", "tres maletas"),
    ("zwei Kisten", "drei Kisten"),
    ("三箱苹果", "五箱苹果"),
    ("Model S", "Model X"),
    ("older sister", "younger sister"),
    ("debit account", "credit account"),
    ("day ward", "night ward"),
    ("cancelled concert", "concert"),
    ("10 Gallons", "20 Gallons"),
    ("20 gallon tank", "twenty-nine-gallon aquarium"),
    ("Terminal 1", "Terminal 2"),
    ("X-100", "X-1000"),
    ("KX210", "KX211"),
    ("Bay 14", "Bay 15"),
    ("2023 audit", "2024 audit"),
    ("change 260", "change 480"),
    ("planned reranker", "reranker on by default"),
    ("Windows 11", "Windows"),
    ("Apartment 3B", "Apartment 3D"),
    ("Form 1099-DIV", "Form 1099-INT"),
    ("F-1 visa", "F-2 visa"),
    ("F-16", "A-16"),
    ("World War II", "World War I"),
    ("Rocky III", "Rocky IV"),
    ("Rocky III", "Rocky 4"),
    ("second MRI scan", "first MRI scan"),
    ("book four", "third novel"),
    ("30 mile route", "thirty-kilometre loop"),
    ("1 GB drive", "1 TB drive"),
    ("500-euro voucher", "$500 gift card"),
    ("200 CHF deposit", "200 CZK deposit"),
    ("March invoice", "invoice for May"),
    ("Friday standup notes", "Monday standup notes"),
    ("bulletin de juillet", "bulletin de juin"),
    ("Friday notes", "notes"),
    ("left knee", "right knee"),
    ("north gate", "south gate"),
    ("inbound flight", "outbound flight"),
    ("return flight", "outbound flight"),
    ("old router", "new router"),
    ("الباب الخلفي", "الباب الأمامي"),
    ("左膝", "右膝"),
    ("三号楼", "四号楼"),
    ("٣ rooms", "4 rooms"),
    ("kitchen renovation", "kitchen renovation plan"),
    ("four-day week", "four-day week proposal"),
    ("finished marathon", "cancelled marathon"),
    ("ex-wife", "wife"),
    ("Vitamin B", "Vitamin C"),
    ("Team 🐻", "Team 🦊"),
    ("Python 3.9", "Python 3.11"),
    ("orders API v1", "orders API v2"),
    ("two hundred and five guests", "two hundred guests"),
    ("Robert Sallow Jr.", "Robert Sallow Sr."),
]
ALLOWED = [
    ("tres maletas", "3 maletas"),
    ("Otto", "Otto Keller"),
    ("Keller", "Otto Keller"),
    ("Sal's", "Sal's Pizzeria"),
    ("40 °C wash", "40 celsius wash"),
    ("the game we won", "our game that we won"),
    ("20 Gallons", "twenty-gallon"),
    ("20 gallon tank", "twenty-gallon aquarium"),
    ("Studio Nine", "Studio 9"),
    ("3rd floor", "third floor"),
    ("third-floor kitchen", "kitchen on floor 3"),
    ("X-100", "X 100"),
    ("X-100 pump", "X100"),
    ("Rocky III", "Rocky 3"),
    ("orders API v2", "orders API 2"),
    ("1,000 pieces", "thousand-piece puzzle"),
    ("205 guests", "two hundred and five guests"),
    ("30 second plank", "plank of 30 seconds"),
    ("３号楼", "三号楼"),
    ("€500 voucher", "500-euro voucher"),
    ("16GB drive", "16 GB drive"),
    ("July invoice", "invoice of juillet"),
    ("Den Haag", "The Hague"),
    ("May Chen", "Ms. Chen"),
    ("Moscow", "Москва"),
    ("pension plan", "workplace pension plan"),
    ("laptop", "old laptop"),
    ("Jean Luc Mabille", "Jean-Luc Mabille"),
    ("J. R. Oduya", "Jeremiah Rotimi Oduya"),
    ("Mobile App", "Mobile Apps"),
]


@pytest.mark.parametrize(("one", "other"), FORBIDDEN)
def test_forbidden(one: str, other: str) -> None:
    reason = veto(one, other)
    assert reason
    assert reason == veto(other, one)


@pytest.mark.parametrize(("one", "other"), ALLOWED)
def test_not_forbidden(one: str, other: str) -> None:
    assert veto(one, other) is None
    assert veto(other, one) is None


def question(name: str, *candidates: str) -> EntityQuestion:
    """An entity with the anchors offered for it."""
    return EntityQuestion(
        entity=Entity(name=name),
        candidates=tuple(Candidate(name=each, type="object", score=0.9) for each in candidates),
    )


def test_only_offered_and_unforbidden_renames_count() -> None:
    request = CanonicalizeRequest(
        record=a_record(),
        questions=(
            question("twenty-gallon", "20 Gallons", "10 Gallons"),
            question("X-1000", "X-100"),
            question("Bex", "Rebecca"),
        ),
    )
    answer = CanonicalizeAnswer(
        renames=(
            Rename(name="twenty-gallon", candidate="10 Gallons"),
            Rename(name="twenty-gallon", candidate="20 Gallons"),
            Rename(name="twenty-gallon", candidate="20 Gallons"),
            Rename(name="X-1000", candidate="X-100"),
            Rename(name="Bex", candidate="20 Gallons"),
            Rename(name="nobody", candidate="Rebecca"),
        )
    )
    assert accepted(answer, request) == (Rename(name="twenty-gallon", candidate="20 Gallons"),)
