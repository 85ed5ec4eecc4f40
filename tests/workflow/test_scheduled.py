"""A run of a schedule over scripted rounds on a real server: whom it asks for a round, how many at a time, and how it
counts."""

import asyncio
import itertools
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker
from temporalio.workflow import NondeterminismError

from domain.dream.rounds import Mode
from domain.messages import ScheduledOutcome, ScheduledRequest, ScheduledRound
from infra.run.embedded import temporal
from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from infra.run.worker import runner
from tests.workflow.scripted_rounds import ScriptedRounds
from workflows.policies import DATABASE_QUEUE, ROUNDS_AT_A_TIME, USERS_A_PAGE, WORKFLOW_QUEUE, queue
from workflows.scheduled import ScheduledWorkflow

_numbers = itertools.count(1)

SHORT_HISTORY = "limit.historyCount.suggestContinueAsNew"
"""The server's own word for how many events are enough for one run of a workflow."""


async def connected(address: str) -> Client:
    return await Client.connect(address, namespace=NAMESPACE, data_converter=pydantic_data_converter)


@pytest.fixture
async def client(temporal_server: EmbeddedTemporal) -> Client:
    return await connected(temporal_server.address)


@asynccontextmanager
async def working(client: Client, rounds: ScriptedRounds, *, cached: int = 0, prefix: str = "") -> AsyncIterator[str]:
    """Workers over scripted rounds; gives their prefix. With nothing cached every task replays the history."""
    prefix = prefix or f"scheduled-{os.getpid()}-{next(_numbers)}"
    async with (
        Worker(
            client,
            task_queue=queue(prefix, WORKFLOW_QUEUE),
            workflows=[ScheduledWorkflow],
            workflow_runner=runner(),
            max_cached_workflows=cached,
            workflow_failure_exception_types=[NondeterminismError],
        ),
        Worker(client, task_queue=queue(prefix, DATABASE_QUEUE), activities=rounds.steps()),
    ):
        yield prefix


async def started(client: Client, prefix: str, **values: object) -> WorkflowHandle[ScheduledWorkflow, ScheduledOutcome]:
    request = ScheduledRequest.model_validate({"prefix": prefix, "schedule": "nightly", **values})
    return await client.start_workflow(
        ScheduledWorkflow.run, request, id=f"{prefix}/s", task_queue=queue(prefix, WORKFLOW_QUEUE)
    )


async def test_one_user_has_one_round_as_the_schedule_says(client: Client) -> None:
    rounds = ScriptedRounds(["ana", "bob"], looks=2)
    async with working(client, rounds) as prefix:
        handle = await started(client, prefix, user_id="bob", mode=Mode.INTERMEDIATE, review=True, timeout_seconds=7)
        assert await handle.result() == ScheduledOutcome(rounds=1, merged=1)
    assert rounds.asked == [
        ScheduledRound(
            user_id="bob",
            schedule="nightly",
            run=str(handle.first_execution_run_id),
            mode=Mode.INTERMEDIATE,
            review=True,
            timeout_seconds=7,
        )
    ]
    assert rounds.pages == []


async def test_no_user_has_news(client: Client) -> None:
    rounds = ScriptedRounds([])
    async with working(client, rounds) as prefix:
        assert await (await started(client, prefix)).result() == ScheduledOutcome()
    assert len(rounds.pages) == 1


async def test_every_user_of_every_page_is_asked_once_a_few_at_a_time(client: Client) -> None:
    """Over continue-as-new all belong to one run, so a round that is asked for again is the same request."""
    users = [f"u{number:03}" for number in range(USERS_A_PAGE + 3)]
    rounds = ScriptedRounds(users, failing=users[-2:], refusing=users[:1])
    async with working(client, rounds, cached=10) as prefix:
        handle = await started(client, prefix)
        assert await handle.result() == ScheduledOutcome(rounds=len(users), failed=3, merged=len(users) - 3)
    assert Counter(one.user_id for one in rounds.asked) == Counter(users)
    assert {one.run for one in rounds.asked} == {handle.first_execution_run_id}
    assert [page.after for page in rounds.pages] == ["", users[USERS_A_PAGE - 1]]
    assert 1 < rounds.most_open <= ROUNDS_AT_A_TIME


async def test_a_full_page_may_be_the_last(client: Client) -> None:
    rounds = ScriptedRounds([f"u{number:03}" for number in range(USERS_A_PAGE)])
    async with working(client, rounds, cached=10) as prefix:
        outcome = await (await started(client, prefix)).result()
    assert (outcome.rounds, len(rounds.pages)) == (USERS_A_PAGE, 2)


async def test_a_round_that_hangs_does_not_hold_up_the_others(client: Client) -> None:
    users = [f"u{number}" for number in range(2 * ROUNDS_AT_A_TIME)]
    rounds = ScriptedRounds(users)
    rounds.hung = {users[0]}
    async with working(client, rounds) as prefix:
        handle = await started(client, prefix)
        await asyncio.wait_for(rounds.asked_for(len(users)), timeout=60)
        rounds.hung = set()
        assert (await handle.result()).rounds == len(users)


async def test_long_rounds_are_carried_over_a_full_history(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    """Each is asked for again in the next run, as the same request, and counted once."""
    monkeypatch.setattr(temporal, "_DYNAMIC_CONFIG", (*temporal._DYNAMIC_CONFIG, f"{SHORT_HISTORY}=40"))
    server = EmbeddedTemporal(data_dir)
    client = await connected(await asyncio.to_thread(server.start))
    users = [f"u{number}" for number in range(ROUNDS_AT_A_TIME + 3)]
    rounds = ScriptedRounds(users, looks=4, failing=users[:1])
    try:
        async with working(client, rounds) as prefix:
            handle = await started(client, prefix)
            outcome = await handle.result()
    finally:
        await asyncio.to_thread(server.stop)
    assert outcome == ScheduledOutcome(rounds=len(users), failed=1, merged=len(users) - 1)
    assert len(rounds.asked) > len(set(rounds.asked)) == len(rounds.looked) == len(users)
    assert set(rounds.looked.values()) == {4}
