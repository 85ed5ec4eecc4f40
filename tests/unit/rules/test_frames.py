"""Frames: who does what to whom, how it stands to the world, and what must not be said."""

import pytest

from domain.memory import AnchorType, MemoryKind, Status
from tests.unit.rules.conftest import Understand
from tests.unit.rules.test_scenarios import arms


def test_first_and_second_person_are_names(understand: Understand) -> None:
    told = understand("I gave you my old guitar.", speaker="Ana", speakers=("Ana", "Ben"))
    (record,) = told.records
    assert record.text == "Ana gave Ben Ana's old guitar."
    assert arms(told.frame("give")) == {
        "agent": "Ana",
        "recipient": "Ben",
        "object": "old guitar",
        "possessor": "Ana",
    }


def test_you_is_nobody_among_three(understand: Understand) -> None:
    told = understand("I gave you my guitar.", speaker="Ana", speakers=("Ana", "Ben", "Cleo"))
    assert "recipient" not in arms(told.frame("give"))
    assert "you" in told.records[0].text


def test_she_is_left_open_between_two(understand: Understand) -> None:
    told = understand("Priya met Marta at the pool. She bought goggles.", speaker="Ana")
    assert not any("goggles" in arms(frame).values() and "agent" in arms(frame) for frame in told.frames)


def test_a_relative_named_in_passing_is_known_by_name(understand: Understand) -> None:
    told = understand("My brother Tom gave me his espresso machine. He moved to Berlin in 2019.", speaker="Ana")
    assert arms(told.frame("be_brother")) == {"subject": "Tom", "possessor": "Ana"}
    assert arms(told.frame("move")) == {"agent": "Tom", "destination": "Berlin"}
    assert arms(told.frame("give"))["agent"] == "Tom"


def test_joined_participants_have_an_arm_each(understand: Understand) -> None:
    told = understand("I visited Rome, Naples and Bari with Priya.", speaker="Ana")
    objects = {arm.name for arm in told.frame("visit").arms if arm.role == "object"}
    assert objects == {"Rome", "Naples", "Bari"}
    assert arms(told.frame("visit"))["companion"] == "Priya"


def test_a_folded_verb_keeps_its_modality(understand: Understand) -> None:
    told = understand("I want to learn the cello.", speaker="Ana")
    frame = told.frame("learn")
    assert (frame.modality, frame.status) == ("want", Status.HYPOTHETICAL)


def test_a_condition_is_no_fact(understand: Understand) -> None:
    told = understand("If I had money I would buy a boat.", speaker="Ana")
    assert [(frame.predicate, frame.status) for frame in told.frames] == [("buy", Status.HYPOTHETICAL)]
    assert told.records[0].status is Status.HYPOTHETICAL


def test_negation_is_kept(understand: Understand) -> None:
    told = understand("I never liked coffee.", speaker="Ana")
    assert told.frame("like").negated


def test_we_keeps_its_company(understand: Understand) -> None:
    told = understand("I took my kids to the lake yesterday. We caught two trout.", speaker="Ana")
    frame = told.frame("catch")
    assert {"Ana", "Ana's kids"} <= {arm.name for arm in frame.arms}
    assert ("count", "two", "trout") in {(each.name, each.value, each.unit) for each in frame.literals}


def test_a_general_remark_is_held_by_its_speaker(understand: Understand) -> None:
    (frame,) = understand("Pets bring joy.", speaker="Ana").frames
    assert arms(frame)["holder"] == "Ana"
    assert frame.confidence < 0.6


def test_a_quoted_title_is_content_whole(understand: Understand) -> None:
    told = understand('I loved reading "The Name of the Wind" by Patrick Rothfuss.', speaker="Ana")
    assert ("The Name of the Wind", AnchorType.CONTENT) in {(each.name, each.type) for each in told.entities}


def test_a_caption_is_a_record_and_a_frame_of_its_own(understand: Understand) -> None:
    caption = "a photo of two dogs on a beach with a red ball"
    told = understand("Look!", speaker="Ana", captions=(caption,))
    (record,) = told.records
    assert record.kind is MemoryKind.SEMANTIC
    assert caption in record.text
    frame = told.frame("share_photo")
    assert {arm.name for arm in frame.arms} == {"Ana", "dogs", "beach", "red ball"}
    assert ("count", "two", "dogs") in {(each.name, each.value, each.unit) for each in frame.literals}


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("I paid $45.50 for the tickets.", ("price", "45.50", "$")),
        ("The drive took 6 hours to Leeds, I was tired of the car.", ("duration", "6", "hours")),
        ("I bought 3 lamps in the shop.", ("count", "3", "lamps")),
        ("I ran 12 miles in the park.", ("measure", "12", "miles")),
    ],
)
def test_amounts_are_literals_and_no_anchors(understand: Understand, text: str, literal: tuple[str, str, str]) -> None:
    told = understand(text, speaker="Ana")
    assert literal in {(each.name, each.value, each.unit) for frame in told.frames for each in frame.literals}
    assert not any(char.isdigit() for name in told.names for char in name)


def test_a_vault_placeholder_is_no_participant(understand: Understand) -> None:
    told = understand("My door code is [vault:door code], I changed it yesterday.", speaker="Ana")
    assert MemoryKind.VAULT in told.kinds
    assert any("[vault:door code]" in record.text for record in told.records)
    assert not any("vault" in name or "secret" in name for name in told.names)


def test_every_arm_names_a_listed_entity(understand: Understand) -> None:
    told = understand(
        "I went to the Dune exhibition with my sister last Friday, it was about sand, spice and a desert planet.",
        speaker="Ana",
    )
    assert {arm.name for frame in told.frames for arm in frame.arms} <= told.names


def test_a_speaker_is_known_by_the_short_form_others_use(understand: Understand) -> None:
    told = understand("Thanks, Mel! I painted your fence yesterday.", speaker="Ana", speakers=("Ana", "Melanie"))
    assert {entity.name: entity.aliases for entity in told.entities}["Melanie"] == ("Mel",)


def test_an_aim_is_wanted_by_whose_it_is(understand: Understand) -> None:
    frame = understand("My goal is to open a bakery.", speaker="Ana").frame("open")
    assert arms(frame) == {"agent": "Ana", "object": "bakery"}
    assert (frame.status, frame.modality) == (Status.HYPOTHETICAL, "want")
