"""No key, prompt, output or response body in what is raised or logged (invariant 7)."""

import logging
import traceback
from collections.abc import Awaitable, Callable, Iterator

import pytest
from temporalio.api.failure.v1 import Failure
from temporalio.converter import DefaultFailureConverter, DefaultPayloadConverter

from domain.errors import ReverieError
from domain.memory import MemoryKind
from tests.fakes.chat_server import Scripted, chat, chat_text, embeddings, failing, hanging, rate_limited
from tests.integration.openai.conftest import KEY, Connect, Connected
from tests.integration.openai.samples import CHUNK, write

TEXT = "canary-of-the-text-3141"
OUTPUT = "canary-of-the-output-2718"
BODY = f"Incorrect key {KEY}; canary-of-the-body-1618"
CANARIES = (KEY, TEXT, OUTPUT, "canary-of-the-body-1618", "long-term memory", "You write the")

FAILURES = [
    failing(400, BODY),
    failing(401, BODY),
    failing(404, BODY),
    rate_limited("60"),
    failing(429, BODY),
    failing(500, BODY),
    Scripted(status=500, body=BODY.encode(), headers={"Content-Type": "text/plain"}),
    chat({"records": [{"title": OUTPUT}]}),
    chat_text('{"records": [{"text": "' + OUTPUT),
    chat_text('{"records": [{"text": "' + OUTPUT, finish="length"),
    chat_text(OUTPUT, finish="content_filter"),
    chat_text(None, refusal=OUTPUT),
    Scripted(body=f'{{"choices": "{OUTPUT}'.encode()),
    Scripted(body=OUTPUT.encode(), headers={"Content-Type": "text/plain"}),
    hanging(),
]


@pytest.fixture(autouse=True)
def _everything_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.DEBUG):
        for name in ("openai", "openai._base_client", "instructor", "instructor.v2.retry", "httpx2", "httpcore2"):
            caplog.set_level(logging.DEBUG, logger=name)
        yield


def shown(error: BaseException) -> str:
    """All that a log or a workflow history would show of an error."""
    failure = Failure()
    DefaultFailureConverter().to_failure(error, DefaultPayloadConverter(), failure)
    return "\n".join([str(error), repr(error), *traceback.format_exception(error), str(failure)])


async def writes(given: Connected) -> object:
    """A write whose chunk and view hold a canary."""
    turn = CHUNK.turns[0].model_copy(update={"text": TEXT})
    chunk = CHUNK.model_copy(update={"turns": (turn,)})
    return await given.model.write(write(MemoryKind.EPISODIC).model_copy(update={"chunk": chunk}))


async def embeds(given: Connected) -> object:
    """An embedding of a canary."""
    return await given.embedder.embed([TEXT])


@pytest.mark.parametrize("ask", [writes, embeds])
@pytest.mark.parametrize("always", FAILURES)
async def test_failures_show_nothing(
    connect: Connect,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    always: Scripted,
    ask: Callable[[Connected], Awaitable[object]],
) -> None:
    given = connect(lambda _: always, timeout=0.1)
    with pytest.raises(ReverieError) as caught:
        await ask(given)
    printed = "".join(capfd.readouterr())
    seen = shown(caught.value) + caplog.text + printed
    assert not [canary for canary in CANARIES if canary in seen]
    assert caught.value.__cause__ is None
    assert isinstance(caught.value.__context__, ReverieError | None)


async def test_success_logs_nothing_either(
    connect: Connect, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    given = connect([chat({"records": "x"}), chat({"records": [{"text": OUTPUT}]}), embeddings([[1.0, 0.0, 0.0]])])
    await writes(given)
    await embeds(given)
    seen = caplog.text + "".join(capfd.readouterr())
    assert not [canary for canary in CANARIES if canary in seen]
