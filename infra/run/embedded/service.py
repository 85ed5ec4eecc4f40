"""The worker and the API as parts of the stack: Python modules run as children, ready when they answer."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from pydantic import SecretStr
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.service import RPCError

from domain.errors import Unavailable
from infra.run.embedded.process import ChildProcess
from infra.settings import Settings
from infra.temporal import connect

START_TIMEOUT_SECONDS = 120.0
_PROBE_SECONDS = 0.2


class ServicePart:
    """`python -m module`, told the settings by its environment.

    `probe` is given the child's process id and says whether it is ready; it is asked until it says so.
    """

    def __init__(
        self,
        name: str,
        module: str,
        *,
        settings: Settings,
        probe: Callable[[int], bool],
    ) -> None:
        self.name = name
        self._module = module
        self._settings = settings
        self._probe = probe
        self._process = ChildProcess(name, data_dir=settings.data_dir, stop_signal=signal.SIGTERM)

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        return self._process.pid

    @property
    def log_file(self) -> Path:
        return self._process.log_file

    def is_running(self) -> bool:
        return self._process.is_running()

    def start(self) -> None:
        """Start and wait until ready. Unavailable when it ends or stays silent; its log says why."""
        self._process.spawn([sys.executable, "-m", self._module], environment=environment(self._settings))
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while (pid := self._process.pid) is not None and time.monotonic() < deadline:
            if self._probe(pid):
                return
            time.sleep(_PROBE_SECONDS)
        code = self._process.exit_code
        self._process.stop()
        how = f"ended with code {code}" if code is not None else f"was not ready after {START_TIMEOUT_SECONDS:.0f} s"
        raise Unavailable(f"the {self.name} {how}; {self.log_file} ends: {self._process.log_tail()}")

    def stop(self) -> None:
        """Let work in hand finish, then stop."""
        self._process.stop()

    def kill(self) -> None:
        """SIGKILL, as a crash would."""
        self._process.kill()


def environment(settings: Settings) -> dict[str, str]:
    """Our environment with exactly these settings in it, secrets included, whatever it had before."""
    prefix = settings.model_config.get("env_prefix", "")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(prefix)}
    values = {name: getattr(settings, name) for name in type(settings).model_fields}
    return inherited | {
        f"{prefix}{name.upper()}": value.get_secret_value() if isinstance(value, SecretStr) else str(value)
        for name, value in values.items()
        if value is not None
    }


def answers_http(url: str) -> bool:
    """Whether a GET is answered with success."""
    try:
        return httpx.get(url, timeout=5.0).is_success
    except httpx.TransportError:
        return False


def polls(settings: Settings, task_queue: str, pid: int) -> bool:
    """Whether the process of that id takes tasks from a queue, as Temporal sees it. Not for a running event loop.

    A worker's identity begins with its process id, by the client's default.
    """
    try:
        identities = asyncio.run(_pollers(settings, task_queue))
    except (Unavailable, RPCError):
        return False
    return any(identity.startswith(f"{pid}@") for identity in identities)


async def _pollers(settings: Settings, task_queue: str) -> list[str]:
    client = await connect(settings)
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=task_queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    answer = await client.workflow_service.describe_task_queue(request)
    return [poller.identity for poller in answer.pollers]
