"""A deployment for one test: its own database and workflow prefix on the session's servers, and worker processes to
kill."""

import asyncio
import functools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from temporalio.client import Client

from api.services import Services
from domain.intake import InputIn, MessageIn
from domain.jobs import Job
from domain.ports import MemoryModel, WorkflowStarter
from infra.models.rules.model import RulesModel
from infra.run.bootstrap import connect
from infra.run.worker import workers
from infra.settings import Settings
from infra.temporal import connect as connect_temporal
from workflows.start import TemporalStarter

PATIENCE_SECONDS = 120.0
"""A job that takes longer hangs."""

READY = "worker ready"


@functools.cache
def rules() -> MemoryModel:
    """The rules model, loaded once a session."""
    return RulesModel()


@dataclass
class Deployment:
    """Everything a test needs to run Reverie for real and to break it."""

    database_url: str
    temporal_address: str
    namespace: str
    prefix: str
    data_dir: Path
    extra: dict[str, str] = field(default_factory=dict)
    """Further settings of the worker processes."""
    _processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        return Settings(
            database_url=self.database_url,
            temporal_address=self.temporal_address,
            temporal_namespace=self.namespace,
            task_queue_prefix=self.prefix,
            data_dir=self.data_dir,
        )

    def start_worker(self, *, wait: bool = True) -> subprocess.Popen[bytes]:
        """A real worker process."""
        log = self.log_file()
        with log.open("ab") as sink:
            process = subprocess.Popen(
                [sys.executable, "-m", "infra.run.worker"], env=self._environment(), stdout=sink, stderr=sink
            )
        self._processes.append(process)
        if wait:
            self._await_ready(process, log)
        return process

    def log_file(self) -> Path:
        """A new log file for the next process."""
        return self.data_dir / f"worker-{len(self._processes)}.log"

    def logs(self) -> str:
        """All that the workers logged."""
        return "".join(path.read_text(errors="replace") for path in sorted(self.data_dir.glob("*.log")))

    def kill_workers(self) -> None:
        """SIGKILL every worker process."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Stop in order."""
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(number)
        for process in self._processes:
            process.wait(timeout=30)

    @asynccontextmanager
    async def services(self) -> AsyncIterator[Services]:
        """The services in this process, without a worker."""
        async with connect(self.settings) as services:
            yield services

    @asynccontextmanager
    async def worker(self, services: Services, model: MemoryModel | None = None) -> AsyncIterator[None]:
        """A worker inside this process, with a model of the test's or the rules model."""
        client = await self.client()
        async with AsyncExitStack() as stack:
            for worker in workers(client, services, model or rules(), self.starter(client)):
                await stack.enter_async_context(worker)
            yield

    async def client(self) -> Client:
        return await connect_temporal(self.settings)

    def starter(self, client: Client) -> WorkflowStarter:
        return TemporalStarter(client, prefix=self.prefix)

    def _environment(self) -> dict[str, str]:
        settings = {
            "REVERIE_DATABASE_URL": self.database_url,
            "REVERIE_TEMPORAL_ADDRESS": self.temporal_address,
            "REVERIE_TEMPORAL_NAMESPACE": self.namespace,
            "REVERIE_TASK_QUEUE_PREFIX": self.prefix,
            "REVERIE_DATA_DIR": str(self.data_dir),
            "REVERIE_DATABASE_POOL_SIZE": "6",
        }
        return {**os.environ, **settings, **self.extra}

    def _await_ready(self, process: subprocess.Popen[bytes], log: Path) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while READY not in log.read_text(errors="replace"):
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the worker did not start:\n{log.read_text(errors='replace')[-4000:]}")
            time.sleep(0.05)


def new_deployment(database_url: str, address: str, namespace: str, *, prefix: str) -> Deployment:
    """A deployment with a data directory of its own."""
    data_dir = Path(tempfile.mkdtemp(prefix="reverie-deployment-"))
    return Deployment(
        database_url=database_url, temporal_address=address, namespace=namespace, prefix=prefix, data_dir=data_dir
    )


def talk(user_id: str, session: str, lines: Sequence[str], *, day: str) -> InputIn:
    """A session as input: `speaker: words` a line, a minute apart, from 10:00 UTC of a day."""
    start = datetime.fromisoformat(f"{day}T10:00:00").replace(tzinfo=UTC)
    messages = []
    for minute, line in enumerate(lines):
        speaker, _, words = line.partition(": ")
        messages.append(
            MessageIn(id=f"{session}:{minute}", speaker=speaker, text=words, sent_at=start.replace(minute=minute))
        )
    return InputIn(user_id=user_id, request_id=session, session_id=session, messages=tuple(messages))


async def finished(services: Services, user_id: str, job_id: UUID, *, patience: float = PATIENCE_SECONDS) -> Job:
    """The job once it ended; fails when it does not."""
    deadline = time.monotonic() + patience
    while True:
        job = await services.jobs.job(user_id, job_id)
        if job.terminal:
            return job
        assert time.monotonic() < deadline, f"job still {job.state} after {patience} s"
        await asyncio.sleep(0.1)


async def state_of(services: Services) -> tuple[str, str]:
    """Checksums of the evidence plane and of the graph."""
    return await services.records.checksum(), await services.graph.checksum()
