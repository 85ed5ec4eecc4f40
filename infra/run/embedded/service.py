"""The worker and the API as parts of the stack: Python modules run as children, ready when they answer."""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx

from domain.errors import Unavailable
from infra.run.embedded.process import ChildProcess

START_TIMEOUT_SECONDS = 120.0
READY_FILE_VARIABLE = "REVERIE_READY_FILE"
"""Environment variable with the path a child touches once it is at work."""


class ServicePart:
    """`python -m module`, told its settings by the environment.

    `probe` says whether a running child is ready; it is asked until it says so.
    """

    def __init__(
        self,
        name: str,
        module: str,
        *,
        data_dir: Path,
        environment: Mapping[str, str],
        probe: Callable[[], bool] | None = None,
    ) -> None:
        self.name = name
        self._module = module
        self._ready_file = data_dir / "run" / f"{name}.ready"
        self._environment = {**environment, READY_FILE_VARIABLE: str(self._ready_file)}
        self._probe = probe or self._ready_file.exists
        self._process = ChildProcess(name, data_dir=data_dir, stop_signal=signal.SIGTERM)

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
        self._ready_file.unlink(missing_ok=True)
        self._process.spawn([sys.executable, "-m", self._module], environment={**os.environ, **self._environment})
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while self._process.is_running() and time.monotonic() < deadline:
            if self._probe():
                return
            time.sleep(0.05)
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


def answers_http(url: str) -> bool:
    """Whether a GET is answered with success."""
    try:
        return httpx.get(url, timeout=5.0).is_success
    except httpx.TransportError:
        return False
