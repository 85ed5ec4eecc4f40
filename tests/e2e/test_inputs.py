"""Odd inputs, each decided: refused with a typed error before any model call, or stored whole."""

from datetime import UTC, date, datetime, timedelta

import pytest

from api.services import Services
from domain.errors import InvalidInput
from domain.intake import InputIn, MessageIn
from domain.jobs import Job
from domain.memory import InputForm, MemoryKind, Record
from tests.e2e.deployment import Deployment, finished, rules

USER = "odd"
SENT = datetime(2023, 5, 24, 10, tzinfo=UTC)
RECORD_CALLS = 5
"""Most calls a record causes: extract, repair, canonicalize, and the embeddings of two of its steps."""
CHUNK_CALLS = 8
"""Most calls a chunk causes: route, six writers, and the embeddings of its records."""


def _input(*texts: str, request: str = "r", **rest: object) -> InputIn:
    messages = tuple(
        MessageIn(id=f"{request}:{place}", speaker="Ada", text=text, sent_at=SENT) for place, text in enumerate(texts)
    )
    return InputIn.model_validate({"user_id": USER, "request_id": request, "messages": messages, **rest})


async def _stored(services: Services, given: InputIn) -> tuple[Job, tuple[Record, ...]]:
    job = await finished(services, USER, (await services.acceptor.accept(given)).job.id)
    assert (job.state, job.index_failed) == ("completed", 0)
    return job, tuple(r for r in await services.records.page(USER, limit=1000) if r.input_id == job.id)


@pytest.mark.parametrize(
    "given",
    [
        InputIn(user_id=USER, request_id="r", messages=()),
        _input(""),
        _input("  \n\t "),
        _input("fine", "   "),
        _input("fine", timezone="Mars/Olympus"),
        InputIn(user_id="no spaces", request_id="r", messages=_input("fine").messages),
        InputIn(user_id=USER, request_id="nul\0", messages=_input("fine").messages),
        InputIn(
            user_id=USER,
            request_id="r",
            messages=(MessageIn(text="fine", sent_at=datetime.now(UTC) + timedelta(days=3)),),
        ),
        InputIn(user_id=USER, request_id="r", messages=(MessageIn(id="a", text="x"), MessageIn(id="a", text="y"))),
        _input("x" * 1_000_001),
    ],
    ids=["none", "empty", "blank", "one blank", "zone", "user", "nul id", "future", "duplicate ids", "too long"],
)
async def test_refused_before_anything_is_stored(given: InputIn, deployment: Deployment) -> None:
    async with deployment.services() as services:
        with pytest.raises(InvalidInput):
            await services.acceptor.accept(given)
        assert await services.jobs.jobs(USER) == ()


async def test_texts_no_parser_knows_are_kept_whole(deployment: Deployment) -> None:
    """Right to left, CJK, emoji, code, links: one full record a turn, no frame, and the reason beside it."""
    texts = (
        "انتقلت لينا إلى أوسلو الأسبوع الماضي مع أخيها",
        "莉娜上周和她的弟弟一起搬到了奥斯陆,他们租了一套公寓。",
        "🌱🌱🎉",
        "def total(xs):\n    return sum(x.price for x in xs if x.count > 3)",
        "Лена на прошлой неделе переехала в Осло вместе с братом.",
    )
    async with deployment.services() as services, deployment.worker(services, rules()):
        _, records = await _stored(services, _input(*texts))
        assert (await services.graph.counts(USER)).frames == 0
    kept = " ".join(record.text for record in records)
    assert all(text in kept for text in texts)
    assert all(record.degraded for record in records)


async def test_characters_postgres_refuses_are_replaced_and_said(deployment: Deployment) -> None:
    good = [f"Ada bought {number} apples in Braga yesterday." for number in range(2, 11)]
    async with deployment.services() as services, deployment.worker(services, rules()):
        job, _ = await _stored(services, _input("Ada sold a\0b to Tom.", "half \ud83d a face", *good))
        messages = await services.jobs.messages(job.id)
    assert job.sanitized
    assert len(messages) == 11
    assert messages[0].text == "Ada sold ab to Tom."
    assert "\ufffd" in messages[1].text


async def test_two_hundred_kilobytes_are_cut_and_the_calls_bounded(deployment: Deployment) -> None:
    sentence = "Tomas planted {} apple trees behind the old mill in Barcelos in 2021" + ", between the wall" * 20 + ". "
    text = "".join(sentence.format(number) for number in range(500))
    assert len(text) > 200_000
    given = _input(text, form=InputForm.DOCUMENT, title="Orchard")
    async with deployment.services() as services, deployment.worker(services, rules()):
        job = await finished(services, USER, (await services.acceptor.accept(given)).job.id, patience=500)
        records = sum(job.records.values())
        resources = await services.records.page(USER, kinds=(MemoryKind.RESOURCE,), limit=1000)
    assert (job.state, job.chunks_done, job.index_failed) == ("completed", job.chunks, 0)
    assert job.chunks >= 200_000 // 4_500
    assert job.model_calls <= CHUNK_CALLS * job.chunks + RECORD_CALLS * records
    assert sum(len(record.text) for record in resources) >= len(text) - job.chunks


ZONES = {
    "UTC": "2026-03-01T10:00:00+00:00",
    "Asia/Kolkata": "2026-03-01T04:30:00+00:00",
    "America/New_York": "2026-03-01T15:00:00+00:00",
    "Pacific/Auckland": "2026-02-28T21:00:00+00:00",
    "America/St_Johns": "2026-03-01T13:30:00+00:00",
}


@pytest.mark.parametrize("zone", ZONES)
async def test_naive_times_are_the_users(zone: str, deployment: Deployment) -> None:
    naive = datetime.fromisoformat("2026-03-01T10:00:00")
    given = InputIn(user_id=USER, request_id="z", timezone=zone, messages=(MessageIn(text="hi", sent_at=naive),))
    async with deployment.services() as services:
        job = (await services.acceptor.accept(given)).job
        message = (await services.jobs.messages(job.id))[0]
    assert message.sent_at == datetime.fromisoformat(ZONES[zone])


async def test_last_week_is_the_week_before_the_message(deployment: Deployment) -> None:
    async with deployment.services() as services, deployment.worker(services, rules()):
        _, records = await _stored(services, _input("I went to Lyon last week."))
    spans = [record.event_time for record in records if record.event_time]
    assert [(span.start, span.end) for span in spans] == [(date(2023, 5, 15), date(2023, 5, 21))]


async def test_nothing_worth_keeping_is_said_so(deployment: Deployment) -> None:
    async with deployment.services() as services, deployment.worker(services, rules()):
        job, records = await _stored(services, _input("ok", "thanks!"))
    assert (job.reason, records) == ("no_facts", ())
