"""Same, different or unsure: nothing but "same" is told, and only on safe evidence."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from domain.memory import AnchorType, Entity, MemoryKind, Record
from domain.model_calls import Candidate, CanonicalizeRequest, EntityQuestion, Rename
from infra.models.rules.model import RulesModel


async def asked(
    name: str, *others: str, kind: AnchorType = AnchorType.OBJECT, text: str = "", aliases: tuple[str, ...] = ()
) -> tuple[Rename, ...]:
    """The renames of one entity among candidates of its own type."""
    record = Record(
        id=UUID(int=1),
        user_id="u",
        kind=MemoryKind.SEMANTIC,
        title="t",
        text=text or name,
        mention_time=datetime(2023, 5, 25, tzinfo=UTC),
        input_id=UUID(int=2),
        chunk_id=UUID(int=3),
        session_id="s",
        ordinal=0,
    )
    candidates = tuple(Candidate(name=other, type=kind.value, score=0.9) for other in others)
    question = EntityQuestion(entity=Entity(name=name, type=kind, aliases=aliases), candidates=candidates)
    return (await RulesModel().canonicalize(CanonicalizeRequest(record=record, questions=(question,)))).answer.renames


@pytest.mark.parametrize(
    ("name", "other", "kind"),
    [
        ("the Blue Room", "Blue Room", AnchorType.LOCATION),
        ("co-working space", "coworking space", AnchorType.LOCATION),
        ("Gate Seven", "Gate 7", AnchorType.LOCATION),
        ("Malmo", "Malmö", AnchorType.LOCATION),
        ("Łucjan Żółwik", "Lucjan Zolwik", AnchorType.PERSON),
        ("Brindle Ltd", "Brindle", AnchorType.ORGANIZATION),
        ("Lisbon ofice", "Lisbon office", AnchorType.LOCATION),
        ("Vermeer, Pieter", "Pieter Vermeer", AnchorType.PERSON),
        ("김 하나", "김하나", AnchorType.PERSON),
    ],
)
async def test_one_writing_of_a_name_is_the_same(name: str, other: str, kind: AnchorType) -> None:
    assert await asked(name, other, kind=kind) == (Rename(name=name, candidate=other),)


@pytest.mark.parametrize(
    ("name", "other", "kind"),
    [
        ("10 Gallons tank", "20 Gallons tank", AnchorType.OBJECT),
        ("X-100", "X-1000", AnchorType.OBJECT),
        ("KX210", "KX211", AnchorType.OTHER),
        ("2023 audit", "2024 audit", AnchorType.EVENT),
        ("Bay 14", "Bay 15", AnchorType.LOCATION),
        ("meeting in June", "meeting in July", AnchorType.EVENT),
        ("left shoe", "right shoe", AnchorType.OBJECT),
        ("Marta", "Maria", AnchorType.PERSON),
        ("Carol", "Caroline", AnchorType.PERSON),
        ("Max", "Maxine", AnchorType.PERSON),
        ("Kirkby", "Kirby", AnchorType.LOCATION),
        ("sourdough starter", "sourdough starters", AnchorType.OBJECT),
        ("coat", "boat", AnchorType.OBJECT),
        ("training", "trains", AnchorType.CONCEPT),
        ("Ben", "Ben \N{GUITAR}", AnchorType.PERSON),
    ],
)
async def test_what_may_differ_is_not_the_same(name: str, other: str, kind: AnchorType) -> None:
    assert await asked(name, other, kind=kind) == ()


async def test_a_stated_short_form_is_the_same() -> None:
    text = "Ana started cognitive behavioural therapy (CBT) in May."
    renamed = await asked("CBT", "cognitive behavioural therapy", kind=AnchorType.CONCEPT, text=text)
    assert renamed == (Rename(name="CBT", candidate="cognitive behavioural therapy"),)
    assert await asked("CBT", "cognitive behavioural therapy", kind=AnchorType.CONCEPT) == ()


async def test_an_alias_of_the_source_counts() -> None:
    renamed = await asked("Melanie", "Mel", kind=AnchorType.PERSON, aliases=("Mel",))
    assert renamed == (Rename(name="Melanie", candidate="Mel"),)


async def test_two_candidates_that_fit_are_none() -> None:
    assert await asked("the office", "Office", "OFFICE") == ()


async def test_definite_types_must_agree() -> None:
    candidates = (Candidate(name="Paris", type="person", score=0.99),)
    question = EntityQuestion(entity=Entity(name="PARIS", type=AnchorType.LOCATION), candidates=candidates)
    record = Record(
        id=UUID(int=1),
        user_id="u",
        kind=MemoryKind.SEMANTIC,
        title="t",
        text="t",
        mention_time=datetime(2023, 5, 25, tzinfo=UTC),
        input_id=UUID(int=2),
        chunk_id=UUID(int=3),
        session_id="s",
        ordinal=0,
    )
    answer = (await RulesModel().canonicalize(CanonicalizeRequest(record=record, questions=(question,)))).answer
    assert answer.renames == ()
