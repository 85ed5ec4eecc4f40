"""Every way an endpoint fails: which error comes of it, after how many requests and which waits."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from domain.errors import ModelError, ModelOutputInvalid, ModelRateLimited, ModelRefused, ModelUnavailable
from domain.memory import MemoryKind
from infra.models.openai.endpoint import MAX_REASKS, MAX_REQUESTS_PER_CALL, MAX_RETRIES
from infra.models.openai.failures import MAX_RETRY_AFTER, seconds_to_wait
from tests.fakes.chat_server import (
    ChatRequest,
    Scripted,
    ScriptedChatServer,
    chat,
    chat_text,
    failing,
    hanging,
    rate_limited,
)
from tests.integration.openai.conftest import Connect
from tests.integration.openai.samples import ROUTE

GOOD = chat({"kinds": ["episodic"]})
BROKEN = chat({"kinds": "episodic"})
CUT = chat_text('{"kinds": ["epis')
GARBLED = Scripted(body=b'{"choices": [')
PAGE = Scripted(body=b"<html>welcome</html>", headers={"Content-Type": "text/html"})


@pytest.mark.parametrize(
    ("script", "requests"),
    [
        ([failing(500), GOOD], 2),
        ([failing(503), failing(502), GOOD], 3),
        ([failing(408), failing(409), GOOD], 3),
        ([rate_limited(), GOOD], 2),
        ([GARBLED, GOOD], 2),
        ([BROKEN, GOOD], 2),
        ([CUT, GOOD], 2),
        ([chat_text(""), chat_text(None), GOOD], 3),
        ([failing(500), BROKEN, failing(500), CUT, GOOD], 5),
    ],
)
async def test_a_passing_failure_is_got_over(connect: Connect, script: Sequence[Scripted], requests: int) -> None:
    given = connect(script)
    reply = await given.model.route(ROUTE)
    assert reply.answer.kinds == (MemoryKind.EPISODIC,)
    assert reply.usage.attempts == len(given.server.requests) == requests <= MAX_REQUESTS_PER_CALL


@pytest.mark.parametrize(
    ("always", "error", "requests"),
    [
        (failing(500), ModelUnavailable, 1 + MAX_RETRIES),
        (rate_limited("1"), ModelRateLimited, 1 + MAX_RETRIES),
        (GARBLED, ModelUnavailable, 1 + MAX_RETRIES),
        (rate_limited("21"), ModelRateLimited, 1),
        (failing(503, retry_after="3600"), ModelUnavailable, 1),
        (BROKEN, ModelOutputInvalid, 1 + MAX_REASKS),
        (CUT, ModelOutputInvalid, 1 + MAX_REASKS),
        (chat_text("I would rather not."), ModelOutputInvalid, 1 + MAX_REASKS),
        (chat_text('{"kinds": ["epis', finish="length"), ModelOutputInvalid, 1),
        (chat_text("", finish="content_filter"), ModelOutputInvalid, 1),
        (chat_text(None, refusal="no"), ModelOutputInvalid, 1),
        (PAGE, ModelOutputInvalid, 1),
        (Scripted(body=b"{}"), ModelOutputInvalid, 1),
        (Scripted(body=b'{"choices": []}'), ModelOutputInvalid, 1),
        (Scripted(body=b'{"choices": [{"index": 0}]}'), ModelOutputInvalid, 1),
        (Scripted(body=b"[1]"), ModelOutputInvalid, 1),
        (failing(401), ModelRefused, 1),
        (failing(403), ModelRefused, 1),
        (failing(404), ModelRefused, 1),
        (failing(413), ModelRefused, 1),
        (failing(400), ModelRefused, 2),
        (failing(422), ModelRefused, 2),
    ],
)
async def test_a_lasting_failure_ends_as_its_error(
    connect: Connect, always: Scripted, error: type[ModelError], requests: int
) -> None:
    given = connect(lambda _: always)
    with pytest.raises(ModelError) as caught:
        await given.model.route(ROUTE)
    assert type(caught.value) is error
    assert caught.value.attempts == len(given.server.requests) == requests <= MAX_REQUESTS_PER_CALL
    assert len(given.waits) <= MAX_RETRIES


@pytest.mark.parametrize("last", [failing(500), BROKEN, CUT, rate_limited("2"), failing(400), GARBLED])
async def test_retries_and_re_asks_draw_on_one_budget(connect: Connect, last: Scripted) -> None:
    """However failures and invalid answers follow each other, one call stays within the bound."""

    def alternating(request: ChatRequest) -> Scripted:
        return (failing(500), BROKEN, failing(503), BROKEN, last)[min(len(given.server.requests) - 1, 4)]

    given = connect(alternating)
    with pytest.raises(ModelError) as caught:
        await given.model.route(ROUTE)
    assert caught.value.attempts == len(given.server.requests) <= MAX_REQUESTS_PER_CALL


async def test_a_call_that_tries_everything_stays_within_the_bound(connect: Connect) -> None:
    """Format refused, then failures and invalid answers in turn: five requests, not more."""
    script = [failing(400), failing(500), BROKEN, BROKEN, BROKEN, BROKEN, BROKEN]
    given = connect(script)
    with pytest.raises(ModelOutputInvalid) as caught:
        await given.model.route(ROUTE)
    assert caught.value.attempts == len(given.server.requests) == MAX_REQUESTS_PER_CALL


async def test_a_short_retry_after_is_waited_out(connect: Connect) -> None:
    given = connect([rate_limited("3"), rate_limited("20"), GOOD])
    await given.model.route(ROUTE)
    assert given.waits == [3.0, 20.0]


async def test_a_long_retry_after_is_left_to_the_workflow(connect: Connect) -> None:
    given = connect([rate_limited("90"), GOOD])
    with pytest.raises(ModelRateLimited) as caught:
        await given.model.route(ROUTE)
    assert (caught.value.retry_after, caught.value.retryable, given.waits) == (90.0, True, [])


async def test_without_retry_after_the_waits_are_short_and_jittered(connect: Connect) -> None:
    given = connect(lambda _: failing(500))
    with pytest.raises(ModelUnavailable) as caught:
        await given.model.route(ROUTE)
    assert caught.value.retry_after is None
    assert len(given.waits) == MAX_RETRIES
    assert all(0 <= wait <= 8 for wait in given.waits)


async def test_silence_is_a_timeout_three_times(connect: Connect) -> None:
    given = connect(lambda _: hanging(), timeout=0.1)
    with pytest.raises(ModelUnavailable, match="in time") as caught:
        await given.model.route(ROUTE)
    assert caught.value.attempts == len(given.server.requests) == 1 + MAX_RETRIES


async def test_a_timeout_is_got_over(connect: Connect) -> None:
    given = connect([hanging(), GOOD], timeout=0.5)
    assert (await given.model.route(ROUTE)).usage.attempts == 2


async def test_a_refused_connection(connect: Connect) -> None:
    given = connect([])
    given.server.close()
    with pytest.raises(ModelUnavailable, match="reached") as caught:
        await given.model.route(ROUTE)
    assert caught.value.attempts == 1 + MAX_RETRIES


async def test_tokens_of_invalid_answers_count(connect: Connect) -> None:
    given = connect([failing(500), BROKEN, GOOD])
    usage = (await given.model.route(ROUTE)).usage
    assert (usage.tokens_in, usage.tokens_out, usage.attempts) == (22, 14, 3)


async def test_a_re_ask_tells_the_model_what_was_wrong(connect: Connect) -> None:
    given = connect([BROKEN, GOOD])
    await given.model.route(ROUTE)
    again = given.server.requests[1].body["messages"]
    assert again[2] == {"role": "assistant", "content": json.dumps({"kinds": "episodic"})}
    assert "should be a valid" in again[3]["content"]


def schemaless(request: ChatRequest) -> Scripted:
    """An endpoint that does not know `response_format`."""
    return failing(400, "response_format is unavailable") if "response_format" in request.body else GOOD


async def test_an_endpoint_without_response_format_gets_the_schema_in_the_prompt(connect: Connect) -> None:
    given = connect(schemaless)
    first, second = await given.model.route(ROUTE), await given.model.route(ROUTE)
    assert (first.usage.attempts, second.usage.attempts) == (2, 1)
    assert first.answer.kinds == second.answer.kinds == (MemoryKind.EPISODIC,)
    assert '"kinds"' in given.server.requests[2].system


async def test_a_refusal_after_the_form_is_known_costs_one_request(connect: Connect) -> None:
    given = connect([GOOD, failing(400), failing(400)])
    await given.model.route(ROUTE)
    with pytest.raises(ModelRefused) as caught:
        await given.model.route(ROUTE)
    assert caught.value.attempts == 1


async def test_requests_under_way_are_limited(connect: Connect) -> None:
    given = connect(lambda _: GOOD)
    for _ in range(4):
        await given.limit.acquire()
    call = asyncio.create_task(given.model.route(ROUTE))
    for _ in range(20):
        await asyncio.sleep(0)
    assert given.server.requests == ()
    given.limit.release()
    assert (await call).usage.attempts == 1


async def test_a_cancelled_call_gives_its_place_back(connect: Connect) -> None:
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()

    def silent(_: ChatRequest) -> Scripted:
        loop.call_soon_threadsafe(arrived.set)
        return hanging()

    given = connect(silent)
    call = asyncio.create_task(given.model.route(ROUTE))
    await arrived.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    for _ in range(4):
        await asyncio.wait_for(given.limit.acquire(), timeout=5)


async def test_a_script_that_ran_out_says_so() -> None:
    with ScriptedChatServer([]) as server:
        assert server.answer(ChatRequest("/v1/chat/completions", {}, {})) == failing(599)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("1e9", MAX_RETRY_AFTER),
        ("Mon, 08 May 2023 12:00:30 GMT", 30.0),
        ("Mon, 08 May 2023 11:00:00 GMT", 0.0),
        ("Mon, 08 May 2023 12:00:30 -0000", 30.0),
    ],
)
def test_retry_after_is_a_number_or_a_date(header: str | None, seconds: float | None) -> None:
    assert seconds_to_wait(header, now=datetime(2023, 5, 8, 12, tzinfo=UTC)) == seconds
