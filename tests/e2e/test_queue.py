"""Order and liveness of the per-user queue."""

from domain.errors import ModelUnavailable
from domain.model_calls import Purpose
from tests.e2e.conversation import USER, sessions
from tests.e2e.deployment import Deployment, finished, rules
from tests.e2e.faulty import FaultyModel


async def test_the_graph_follows_arrival_order_though_the_first_input_is_slow(
    deployment: Deployment, clean_state: tuple[str, str]
) -> None:
    """The first input's extraction is held up by failures; the later ones wait for it at the graph, not before."""
    async with deployment.services() as services:
        fault = FaultyModel(rules(), purpose=Purpose.ROUTE, times=3, error=lambda: ModelUnavailable("scripted"))
        first, *later = sessions()
        async with deployment.worker(services, fault):
            jobs = [await services.acceptor.accept(one) for one in (first, *later)]
            ends = [(await finished(services, USER, one.job.id)).finished_at for one in jobs]
        assert ends == sorted(ends, key=str)
        assert (await services.graph.checksum()) == clean_state[1]


async def test_a_terminated_ingest_does_not_block_the_queue(deployment: Deployment) -> None:
    async with deployment.services() as services:
        first, second, _ = sessions()
        stuck = await services.acceptor.accept(first)
        client = await deployment.client()
        handle = client.get_workflow_handle(f"{deployment.prefix}/ingest/{USER}/{first.request_id}")
        await handle.terminate("an operator's doing")
        async with deployment.worker(services):
            following = await services.acceptor.accept(second)
            assert (await finished(services, USER, following.job.id)).state == "completed"
        ended = await services.jobs.job(USER, stuck.job.id)
        assert (ended.state, ended.reason) == ("failed", "workflow_closed")
        async with deployment.worker(services):
            again = await services.acceptor.retry(USER, stuck.job.id)
            assert (await finished(services, USER, again.id)).state == "completed"


async def test_a_cancelled_job_ends_and_the_next_one_runs(deployment: Deployment) -> None:
    async with deployment.services() as services:
        fault = FaultyModel(rules(), purpose=Purpose.ROUTE, times=10_000, error=lambda: ModelUnavailable("scripted"))
        first, second, _ = sessions()
        async with deployment.worker(services, fault):
            stuck = await services.acceptor.accept(first)
            await services.acceptor.cancel(USER, stuck.job.id)
            ended = await finished(services, USER, stuck.job.id)
            assert (ended.state, ended.reason) == ("cancelled", "cancelled")
            fault.left = 0
            following = await services.acceptor.accept(second)
            assert (await finished(services, USER, following.job.id)).state == "completed"
