"""The ModelCallStore port."""

import asyncio

from domain.jobs import job_id
from domain.model_calls import Purpose, Usage
from tests.contract.conftest import Stores
from tests.contract.samples import NOW, new_input


async def note(stores: Stores, key: str, *, answer: str | None, outcome: str = "ok") -> str | None:
    return await stores.calls.record(
        key,
        user_id="ona",
        job_id=job_id("ona", "r1"),
        purpose=Purpose.WRITE,
        usage=Usage(model="m", attempts=2),
        outcome=outcome,
        answer=answer,
        now=NOW,
    )


async def test_the_first_answer_stays(stores: Stores) -> None:
    assert await stores.calls.answer("k") is None
    assert await note(stores, "k", answer='{"n": 1}') == '{"n": 1}'
    assert await note(stores, "k", answer='{"n": 2}') == '{"n": 1}'
    assert await note(stores, "k", answer=None, outcome="model_error") == '{"n": 1}'
    assert await stores.calls.answer("k") == '{"n": 1}'
    assert await stores.calls.answer("other") is None


async def test_a_failure_leaves_room_for_an_answer(stores: Stores) -> None:
    await stores.jobs.accept(new_input("r1"), body_hash="h", now=NOW)
    assert await note(stores, "k", answer=None, outcome="model_unavailable") is None
    assert await stores.calls.answer("k") is None
    failed = await stores.records.checksum()
    assert await note(stores, "k", answer="{}") == "{}"
    assert await stores.records.checksum() != failed


async def test_a_failure_before_the_answer_is_no_part_of_the_checksum(stores: Stores) -> None:
    await note(stores, "k", answer="{}")
    clean = await stores.records.checksum()
    await note(stores, "k", answer=None, outcome="model_error")
    assert await stores.records.checksum() == clean


async def test_concurrent_calls_agree_on_one_answer(stores: Stores) -> None:
    given = await asyncio.gather(*(note(stores, "k", answer=f'{{"n": {n}}}') for n in range(10)))
    assert len(set(given)) == 1
    assert await stores.calls.answer("k") == given[0]
