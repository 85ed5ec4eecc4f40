"""The whole stack in one process tree: started in order, restarted part by part, stopped in reverse, nothing left
running.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from pydantic import SecretStr

from domain.errors import ConfigurationError, ReverieError
from infra.run.embedded.namespace import existing_temporal
from infra.run.embedded.postgres import EmbeddedPostgres
from infra.run.embedded.process import free_port, port_is_free
from infra.run.embedded.server_checks import require_database, require_temporal
from infra.run.embedded.service import ServicePart, answers_http, polls
from infra.run.embedded.state import StackState, held, write_state
from infra.run.embedded.temporal import EmbeddedTemporal
from infra.settings import Settings
from workflows.policies import WORKFLOW_QUEUE, queue

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
"""A part that dies again and again is restarted after 0.5, 1, 2 … 30 seconds, and never given up."""

STEADY_SECONDS = 60.0
"""A part that ran this long has recovered: its next pause is the first again."""

_WATCH_SECONDS = 0.2
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared with, not bound to

Say = Callable[[str], None]


class Part(Protocol):
    """What the supervisor needs of a part."""

    @property
    def pid(self) -> int | None: ...
    @property
    def log_file(self) -> Path: ...
    def is_running(self) -> bool: ...
    def start(self) -> object: ...
    def stop(self) -> None: ...
    def kill(self) -> None: ...


class Watched:
    """A part and its history of deaths: decides when it is due for the next start."""

    def __init__(self, name: str, part: Part) -> None:
        self.name = name
        self.part = part
        self._deaths = 0
        self._started = 0.0
        self._due: float | None = None

    def started(self, now: float) -> None:
        """It came up."""
        self._started, self._due = now, None

    def died(self, now: float) -> float:
        """It was found dead, or did not come up; returns the seconds until the next start."""
        self._deaths = 1 if self._due is None and now - self._started > STEADY_SECONDS else self._deaths + 1
        pause = float(min(FIRST_PAUSE_SECONDS * 2 ** min(self._deaths - 1, 10), LONGEST_PAUSE_SECONDS))
        self._due = now + pause
        return pause

    def is_waiting(self) -> bool:
        """Dead and already noticed."""
        return self._due is not None

    def is_due(self, now: float) -> bool:
        """Whether its pause is over."""
        return self._due is not None and now >= self._due


class Stack:
    """The parts under one data directory. The caller holds the directory's lock (`embedded_stack` does both)."""

    def __init__(self, settings: Settings, *, say: Say, services: bool = True) -> None:
        self._settings = settings
        self._data_dir = settings.data_dir.absolute()
        self._say = say
        self._services = services
        self._watched: list[Watched] = []
        self._stopping = threading.Event()
        self._watcher: threading.Thread | None = None

    @property
    def parts(self) -> Mapping[str, Part]:
        """The running parts by name: postgres and temporal where they are ours, worker and api."""
        return {watched.name: watched.part for watched in self._watched}

    def start(self) -> StackState:
        """Start all parts in order and wait for each. ConfigurationError or Unavailable says what failed, and why."""
        database_url = self._start_database()
        temporal_address, ui_url = self._start_temporal()
        api_url = self._start_services(database_url, temporal_address) if self._services else None
        state = StackState(
            database_url=SecretStr(database_url),
            temporal_address=temporal_address,
            namespace=self._settings.temporal_namespace,
            ui_url=ui_url,
            api_url=api_url,
            pid=os.getpid(),
            started_at=datetime.now(UTC),
        )
        write_state(self._data_dir, state)
        return state

    def watch(self) -> None:
        """From now on restart what dies, in a thread of its own, until `stop`."""
        self._watcher = threading.Thread(target=self._keep_alive, name="reverie-supervisor", daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        """Stop all parts, last started first."""
        self._stopping.set()
        if self._watcher is not None:
            self._watcher.join()
        for watched in reversed(self._watched):
            watched.part.stop()

    def _start_database(self) -> str:
        url = self._settings.database_url
        if url is None:
            server = EmbeddedPostgres(self._data_dir)
            self._start_part("postgres", server)
            url = server.url
        require_database(url)
        return url

    def _start_temporal(self) -> tuple[str, str | None]:
        """Address of the frontend and, where the server is ours, of its UI."""
        address = existing_temporal(self._settings)
        if address is not None:
            require_temporal(self._settings)
            return address, None
        server = EmbeddedTemporal(self._data_dir, namespace=self._settings.temporal_namespace)
        self._start_part("temporal", server)
        return server.address, server.ui_url

    def _start_services(self, database_url: str, temporal_address: str) -> str:
        """Worker, then API; returns the API's address. Both are told the servers' addresses."""
        host, port = self._settings.api_host, self._settings.api_port or free_port()
        if not port_is_free(port):
            raise ConfigurationError(f"port {port} is taken: set REVERIE_API_PORT to another (0 takes a free one)")
        settings = self._settings.model_copy(
            update={
                "data_dir": self._data_dir,
                "database_url": database_url,
                "temporal_address": temporal_address,
                "api_port": port,
            }
        )
        url = f"http://{'127.0.0.1' if host in _EVERYWHERE else host}:{port}"
        tasks = queue(settings.task_queue_prefix, WORKFLOW_QUEUE)
        probes: Mapping[str, tuple[str, Callable[[int], bool]]] = {
            "worker": ("infra.run.worker", lambda pid: polls(settings, tasks, pid)),
            "api": ("infra.run.server", lambda _: answers_http(f"{url}/healthz")),
        }
        for name, (module, probe) in probes.items():
            part = ServicePart(name, module, settings=settings, probe=probe)
            self._start_part(name, part)
        return url

    def _start_part(self, name: str, part: Part) -> None:
        watched = Watched(name, part)
        self._watched.append(watched)  # before it starts: a start that fails half way is stopped with the rest
        self._say(f"starting {name}")
        part.start()
        watched.started(time.monotonic())

    def _keep_alive(self) -> None:
        while not self._stopping.wait(_WATCH_SECONDS):
            for watched in self._watched:
                self._look_after(watched)

    def _look_after(self, watched: Watched) -> None:
        now = time.monotonic()
        if watched.is_due(now):
            self._restart(watched)
        elif not watched.is_waiting() and not watched.part.is_running():
            self._say(
                f"{watched.name} died; starting it again in {watched.died(now):g} s (log: {watched.part.log_file})"
            )

    def _restart(self, watched: Watched) -> None:
        try:
            watched.part.start()
        except ReverieError as error:
            pause = watched.died(time.monotonic())
            self._say(f"{watched.name} did not come up; next attempt in {pause:g} s: {error.message}")
            return
        watched.started(time.monotonic())
        self._say(f"{watched.name} runs again")


@contextmanager
def embedded_stack(settings: Settings, *, say: Say, services: bool = True) -> Iterator[tuple[Stack, StackState]]:
    """The running stack of a data directory, watched until the block ends; then nothing of it is left.

    Servers named by the settings are used in place of embedded ones. `services=False` leaves out worker and API. Raises
    DirectoryHeld when another process runs a stack there.
    """
    with held(settings.data_dir.absolute(), now=datetime.now(UTC)):
        stack = Stack(settings, say=say, services=services)
        try:
            state = stack.start()
            stack.watch()
            yield stack, state
        finally:
            stack.stop()
