"""The embedded Temporal goes on with running workflows after a kill, and its namespace is as the service needs it."""

import asyncio
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import psutil
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from infra.run.embedded.namespace import missing_search_attributes, prepare_namespace, retention
from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from tests.integration.test_embedded_postgres import listening


@workflow.defn
class Waiting:
    """Waits for a word and returns it."""

    def __init__(self) -> None:
        self._word = ""

    @workflow.run
    async def run(self) -> str:
        await workflow.wait_condition(lambda: bool(self._word))
        return self._word

    @workflow.signal
    def say(self, word: str) -> None:
        self._word = word


async def test_a_running_workflow_outlives_a_kill(data_dir: Path) -> None:
    server = EmbeddedTemporal(data_dir)
    address = await asyncio.to_thread(server.start)
    try:
        client = await Client.connect(address, namespace=NAMESPACE)
        started = await client.start_workflow(Waiting.run, id="outlives", task_queue="kill")
        server.kill()
        assert not server.is_running()
        assert await asyncio.to_thread(server.start) == address
        client = await Client.connect(address, namespace=NAMESPACE)
        handle = client.get_workflow_handle("outlives", run_id=started.first_execution_run_id, result_type=str)
        await handle.signal(Waiting.say, "still here")
        async with Worker(client, task_queue="kill", workflows=[Waiting], workflow_runner=UnsandboxedWorkflowRunner()):
            assert await handle.result() == "still here"
    finally:
        await asyncio.to_thread(server.stop)


def test_listens_on_loopback_alone(temporal_server: EmbeddedTemporal) -> None:
    assert listening(temporal_server.pid) == {"127.0.0.1"}


async def test_namespace_has_retention_and_search_attributes(temporal_client: Client) -> None:
    assert await retention(temporal_client) == timedelta(days=90)
    assert await missing_search_attributes(temporal_client) == ()


async def test_preparing_a_new_namespace_twice_is_the_same_as_once(temporal_server: EmbeddedTemporal) -> None:
    client = await Client.connect(temporal_server.address, namespace=f"fresh-{uuid4().hex[:8]}")
    assert await retention(client) is None
    for _ in range(2):
        await prepare_namespace(client)
        assert await retention(client) == timedelta(days=90)
        assert await missing_search_attributes(client) == ()


def test_no_process_is_left_after_stop(data_dir: Path) -> None:
    server = EmbeddedTemporal(data_dir)
    server.start()
    pid = server.pid
    assert pid is not None
    server.stop()
    assert not psutil.pid_exists(pid)
