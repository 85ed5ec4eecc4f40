"""Routing and writers: which turns give records of which kind, with which text and sources."""

import pytest

from domain.memory import InputForm, MemoryKind, Status
from domain.model_calls import RouteRequest, WriteRequest
from infra.models.rules.model import RulesModel
from tests.unit.rules.conftest import Understand
from tests.unit.rules.samples import chunk, turn, understood


@pytest.mark.parametrize(
    "text",
    ["Hey Mel! How are you?", "Thanks so much!", "Wow, that's great!", "What did you do then?", "Ok", "Haha", ""],
)
def test_talk_without_content_goes_nowhere(understand: Understand, text: str) -> None:
    assert understand(text, speaker="Ana", speakers=("Ana", "Mel")).kinds == ()


@pytest.mark.parametrize(
    ("text", "degraded"),
    [
        ("김하나는 서울에 산다", "language:ko"),
        ("Вчера мы ходили в большой театр", "language:ru"),
        ("Me gusta mucho vivir en Barcelona con mi familia y mis amigos", "language:es"),
        ("昨天我们去了博物馆", "language:zh"),
        ("def f(x):\n    return x[0] + {1: 2}[x]\nimport os", "code"),
        ("🌱🌱🎉", "emoji"),
        ("https://example.org/a?b=c", "no_words"),
        ("\x01\x02\x03", "no_words"),
        ("12345 678", "no_words"),
        ("a" * 100_000, "too_long"),
        ("x" * 500, "no_words"),
    ],
)
def test_what_cannot_be_read_is_kept_verbatim(understand: Understand, text: str, degraded: str) -> None:
    told = understand(text, speaker="Ana")
    (record,) = told.records
    assert (record.kind, record.degraded) == (MemoryKind.SEMANTIC, degraded)
    assert text in record.text
    assert told.frames == ()


@pytest.mark.parametrize(
    "text", ["Seattle is great, I love the fish market there!", "gonna crash lol", "I am at Zürich HB"]
)
def test_english_passes_the_gate(understand: Understand, text: str) -> None:
    assert all(record.degraded == "" for record in understand(text, speaker="Ana").records)


def test_no_sentence_is_stored_in_two_kinds(understand: Understand) -> None:
    told = understand("I love tea. Yesterday I bought a blue pot. Pots are cheap.", speaker="Ana")
    assert {record.kind for record in told.records} == {MemoryKind.EPISODIC, MemoryKind.SEMANTIC}
    spans = [(source.start, source.end) for record in told.records for source in record.sources]
    assert len(set(spans)) == len(spans)


def test_sources_are_places_in_the_message(understand: Understand) -> None:
    text = "The sun is out. I sold my bike to Tom."
    (record,) = [each for each in understand(text, speaker="Ana").records if each.kind is MemoryKind.EPISODIC]
    (source,) = record.sources
    assert text[source.start : source.end] == "I sold my bike to Tom."


async def test_a_later_part_of_a_long_message_counts_from_its_start() -> None:
    part = turn("I sold my bike to Tom.", at="2023-05-25", speaker="Ana").model_copy(update={"offset": 100})
    told = await understood(chunk(part))
    assert [(source.start, source.end) for source in told.records[0].sources] == [(100, 122)]
    assert told.frame("sell").status is Status.DONE


async def test_a_short_answer_keeps_its_question() -> None:
    asked = turn("What are their names?", at="2023-05-25", speaker="Ana", turn_id="q")
    answered = turn("Luna and Oliver!", at="2023-05-25", speaker="Mel", turn_id="a")
    told = await understood(chunk(asked, answered))
    (record,) = told.records
    assert record.text == "Ana asked: What are their names? Mel: Luna and Oliver!"
    assert [source.turn_id for source in record.sources] == ["q", "a"]
    assert {"Luna", "Oliver"} <= {arm.name for arm in told.frame("mention").arms}


async def test_small_talk_is_no_context() -> None:
    asked = turn("Hey! How are you?", at="2023-05-25", speaker="Ana", turn_id="q")
    answered = turn("I sold my bike to Tom.", at="2023-05-25", speaker="Mel", turn_id="a")
    (record,) = (await understood(chunk(asked, answered))).records
    assert [source.turn_id for source in record.sources] == ["a"]


async def test_the_turn_before_the_chunk_is_context_and_never_a_source() -> None:
    asked = turn("What are their names?", at="2023-05-25", speaker="Ana", turn_id="q")
    answered = turn("Luna and Oliver!", at="2023-05-25", speaker="Mel", turn_id="a")
    told = await understood(chunk(answered, previous=asked))
    assert "What are their names?" in told.records[0].text
    assert [source.turn_id for source in told.records[0].sources] == ["a"]


def test_two_events_that_stand_differently_are_two_records(understand: Understand) -> None:
    told = understand("My sister visits me tomorrow. I cancelled my trip to Rome.", speaker="Ana")
    assert [record.status for record in told.records] == [Status.PLANNED, Status.CANCELLED]


async def test_a_document_is_a_resource_and_its_facts_are_semantic() -> None:
    page = turn("The clinic opens at 8:30. Visitors need a badge from the front office.", at="2023-05-25", speaker="")
    document = chunk(page, form=InputForm.DOCUMENT, title="House rules")
    told = await understood(document)
    (resource,) = [record for record in told.records if record.kind is MemoryKind.RESOURCE]
    assert (resource.title, resource.text) == ("House rules", page.text)
    assert any(record.kind is MemoryKind.SEMANTIC for record in told.records)


async def test_records_are_of_the_asked_kind_and_cite_the_chunk() -> None:
    said = chunk(turn("Yesterday I met Tom. I like tea. [vault:pin] is my pin.", at="2023-05-25", speaker="Ana"))
    model = RulesModel()
    for kind in MemoryKind:
        for record in (await model.write(WriteRequest(kind=kind, chunk=said))).answer.records:
            assert record.kind is kind
            assert {source.turn_id for source in record.sources} == {"t1"}


async def test_usage_names_the_rules_and_costs_no_token() -> None:
    reply = await RulesModel().route(RouteRequest(chunk=chunk(turn("I like tea.", at="2023-05-25"))))
    usage = reply.usage
    assert (usage.model, usage.tokens_in, usage.tokens_out, usage.attempts) == ("rules-1", 0, 0, 1)
    assert len(usage.prompt_hash) == 64
