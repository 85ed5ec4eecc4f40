"""Texts to unit vectors over the embeddings endpoint."""

import math

import pytest

from domain.errors import (
    EmbeddingMismatch,
    ModelError,
    ModelOutputInvalid,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
)
from infra.models.openai.embedder import MAX_BATCH
from tests.fakes.chat_server import ChatRequest, Scripted, chat, embeddings, failing, hanging, rate_limited
from tests.integration.openai.conftest import Connect


def numbered(request: ChatRequest) -> Scripted:
    """A vector for each text that points where the number in the text says."""
    return embeddings([[float(text), 1.0, 0.0] for text in request.body["input"]])


async def test_vectors_come_in_order_and_of_unit_length(connect: Connect) -> None:
    given = connect([embeddings([[3.0, 4.0, 0.0], [0.0, 0.0, 2.0]])])
    assert await given.embedder.embed(["one", "two"]) == [[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]
    (request,) = given.server.requests
    assert request.path == "/v1/embeddings"
    assert request.body == {"model": "embed-1", "input": ["one", "two"], "encoding_format": "float"}
    assert (given.embedder.name, given.embedder.dimension) == ("embed-1", 3)


async def test_many_texts_go_in_batches(connect: Connect) -> None:
    given = connect(numbered)
    vectors = await given.embedder.embed([str(number) for number in range(2 * MAX_BATCH + 1)])
    assert [len(request.body["input"]) for request in given.server.requests] == [MAX_BATCH, MAX_BATCH, 1]
    assert [round(vector[0] / vector[1]) for vector in vectors] == list(range(2 * MAX_BATCH + 1))
    assert all(math.isclose(math.hypot(*vector), 1.0) for vector in vectors)


async def test_every_batch_has_its_own_retries(connect: Connect) -> None:
    def every_other(request: ChatRequest) -> Scripted:
        return failing(500) if len(given.server.requests) % 3 else numbered(request)

    given = connect(every_other)
    assert len(await given.embedder.embed(["1"] * (3 * MAX_BATCH))) == 3 * MAX_BATCH
    assert len(given.server.requests) == 9


async def test_nothing_gives_nothing(connect: Connect) -> None:
    given = connect([])
    assert await given.embedder.embed([]) == []
    assert given.server.requests == ()


async def test_texts_an_endpoint_refuses_are_replaced(connect: Connect) -> None:
    given = connect([embeddings([[1.0, 0.0, 0.0]] * 3)])
    await given.embedder.embed(["", "a\x00b", "a\ud800b"])
    assert given.server.requests[0].body["input"] == [" ", "ab", "a\ufffdb"]


@pytest.mark.parametrize(
    ("model", "dimension", "sent"),
    [("text-embedding-3-small", 1536, None), ("text-embedding-3-small", 2, 2), ("other", 2, None)],
)
async def test_dimensions_is_sent_only_where_a_model_must_shorten(
    connect: Connect, model: str, dimension: int, sent: int | None
) -> None:
    given = connect([embeddings([[1.0] * dimension])], embedding_model=model, dimension=dimension)
    await given.embedder.embed(["x"])
    assert given.server.requests[0].body.get("dimensions") == sent


async def test_another_length_names_both(connect: Connect) -> None:
    given = connect([embeddings([[1.0] * 5])])
    with pytest.raises(EmbeddingMismatch, match=r"embed-1 .* length 5, .* 3"):
        await given.embedder.embed(["x"])


@pytest.mark.parametrize(
    ("always", "error", "requests"),
    [
        (failing(500), ModelUnavailable, 3),
        (rate_limited("2"), ModelRateLimited, 3),
        (rate_limited("200"), ModelRateLimited, 1),
        (failing(401), ModelRefused, 1),
        (failing(400), ModelRefused, 1),
        (hanging(), ModelUnavailable, 3),
        (embeddings([[1.0, 0.0, 0.0]]), ModelOutputInvalid, 1),
        (embeddings([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), ModelOutputInvalid, 1),
        (embeddings([[math.nan, 0.0, 0.0], [1.0, 0.0, 0.0]]), ModelOutputInvalid, 1),
        (Scripted(body=b'{"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1}]}'), ModelOutputInvalid, 1),
        (Scripted(body=b'{"data": null}'), ModelOutputInvalid, 1),
        (chat({}), ModelOutputInvalid, 1),
        (Scripted(body=b"{}"), ModelOutputInvalid, 1),
        (Scripted(body=b"hello", headers={"Content-Type": "text/plain"}), ModelOutputInvalid, 1),
    ],
)
async def test_failures(connect: Connect, always: Scripted, error: type[ModelError], requests: int) -> None:
    given = connect(lambda _: always, timeout=0.3)
    with pytest.raises(ModelError) as caught:
        await given.embedder.embed(["one", "two"])
    assert type(caught.value) is error
    assert caught.value.attempts == len(given.server.requests) == requests
