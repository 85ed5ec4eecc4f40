"""The stack restarts what dies, refuses a second owner, and leaves nothing behind, however its supervisor ends."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

import psutil
import psycopg
import pytest
from pydantic import SecretStr

from domain.errors import ConfigurationError, Unavailable
from infra.run.embedded.service import ServicePart, answers_http, environment
from infra.run.embedded.state import STATE_FILE, DirectoryHeld, read_state
from infra.run.embedded.supervisor import LONGEST_PAUSE_SECONDS, STEADY_SECONDS, Watched, embedded_stack
from infra.run.embedded.temporal import EmbeddedTemporal
from infra.settings import Settings
from tests.integration.test_embedded_postgres import listening

UP = (sys.executable, "-c", "from infra.run.cli.main import main; main()", "up", "--no-services")
PATIENCE_SECONDS = 60.0


@pytest.fixture
def settings(data_dir: Path) -> Settings:
    return Settings(data_dir=data_dir)


@pytest.mark.parametrize("name", ["postgres", "temporal"])
def test_a_killed_part_is_started_again_at_the_same_address(settings: Settings, name: str) -> None:
    lines: Queue[str] = Queue()
    with embedded_stack(settings, say=lines.put, services=False) as (stack, state):
        stack.parts[name].kill()
        _read_until(lines, f"{name} died")
        _read_until(lines, f"{name} runs again")
        assert stack.parts[name].is_running()
        with psycopg.connect(state.database_url.get_secret_value()) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        assert read_state(settings.data_dir) == state
    assert not any(part.is_running() for part in stack.parts.values())
    assert read_state(settings.data_dir) is None


def test_worker_and_api_come_up_and_a_killed_api_answers_again(
    data_dir: Path, database_url: str, temporal_server: EmbeddedTemporal
) -> None:
    settings = Settings(
        data_dir=data_dir,
        database_url=database_url,
        temporal_address=temporal_server.address,
        task_queue_prefix=f"supervised-{data_dir.name}",
        api_port=0,
    )
    lines: Queue[str] = Queue()
    with embedded_stack(settings, say=lines.put) as (stack, state):
        assert set(stack.parts) == {"worker", "api"}
        assert answers_http(f"{state.api_url}/healthz")
        stack.parts["api"].kill()
        assert not answers_http(f"{state.api_url}/healthz")
        _read_until(lines, "api runs again")
        assert answers_http(f"{state.api_url}/healthz")
        assert listening(stack.parts["api"].pid) == {"127.0.0.1"}


def test_a_taken_api_port_is_refused_before_anything_answers_for_us(
    data_dir: Path, database_url: str, temporal_server: EmbeddedTemporal
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        settings = Settings(
            data_dir=data_dir, database_url=database_url, temporal_address=temporal_server.address, api_port=port
        )
        with (
            pytest.raises(ConfigurationError, match=f"port {port} is taken: set REVERIE_API_PORT"),
            embedded_stack(settings, say=print),
        ):
            pytest.fail("the port has an owner")


def test_a_second_owner_is_told_who_holds_the_directory(settings: Settings) -> None:
    with _up(settings.data_dir) as running:
        addresses = _wait_until_ready(running)
        with (
            pytest.raises(DirectoryHeld, match=f"held by process {running.pid} since") as refusal,
            embedded_stack(settings, say=print, services=False),
        ):
            pytest.fail("the directory has an owner")
        assert addresses["Temporal UI"] in refusal.value.message
        second = subprocess.run(UP, env=_environment(settings.data_dir), capture_output=True, text=True, check=False)
        assert second.returncode == 1
        assert f"held by process {running.pid}" in second.stderr
        assert read_state(settings.data_dir) is not None


def test_ctrl_c_stops_everything(data_dir: Path) -> None:
    with _up(data_dir) as running:
        _wait_until_ready(running)
        servers = _children(running)
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE_SECONDS) == 0
        assert not any(server.is_running() for server in servers)
        assert not (data_dir / STATE_FILE).exists()


def test_the_parts_of_a_killed_supervisor_end_and_the_next_one_starts(settings: Settings) -> None:
    with _up(settings.data_dir) as running:
        _wait_until_ready(running)
        servers = _children(running)
        assert {"postgres", "temporal"} <= {server.name() for server in servers}
        running.kill()
        running.wait()
        _, alive = psutil.wait_procs(servers, timeout=PATIENCE_SECONDS)
        assert alive == []
    with embedded_stack(settings, say=print, services=False) as (_, state):
        assert state.pid == os.getpid()


def test_existing_servers_are_used_in_place_of_embedded_ones(
    data_dir: Path, database_url: str, temporal_server: EmbeddedTemporal
) -> None:
    settings = Settings(data_dir=data_dir, database_url=database_url, temporal_address=temporal_server.address)
    with embedded_stack(settings, say=print, services=False) as (stack, state):
        assert stack.parts == {}
        assert state.database_url.get_secret_value() == database_url
        assert (state.temporal_address, state.ui_url) == (temporal_server.address, None)


def test_an_existing_database_out_of_reach_is_named_without_its_password(data_dir: Path) -> None:
    settings = Settings(data_dir=data_dir, database_url="postgresql://me:heron-4471@127.0.0.1:1/mine")
    with (
        pytest.raises(ConfigurationError, match=r"127\.0\.0\.1:1/mine") as failure,
        embedded_stack(settings, say=print, services=False),
    ):
        pytest.fail("there is no such server")
    assert "heron-4471" not in failure.value.message


def test_a_service_that_ends_at_once_says_so_with_its_log(settings: Settings) -> None:
    part = ServicePart("probe", "infra.run.no_such_module", settings=settings, probe=lambda _: False)
    with pytest.raises(Unavailable, match=r"(?s)the probe ended with code 1.*No module named"):
        part.start()
    assert not part.is_running()


def test_the_pause_before_a_restart_grows_is_bounded_and_starts_over() -> None:
    watched = Watched("part", EmbeddedTemporal(Path("/nonexistent")))
    watched.started(0.0)
    pauses = [watched.died(float(second)) for second in range(12)]
    assert pauses[:4] == [0.5, 1.0, 2.0, 4.0]
    assert pauses[-1] == LONGEST_PAUSE_SECONDS
    assert not watched.is_due(11.0)
    assert watched.is_due(11.0 + LONGEST_PAUSE_SECONDS)
    watched.started(100.0)
    assert watched.died(101.0) == LONGEST_PAUSE_SECONDS
    watched.started(200.0)
    assert watched.died(200.0 + STEADY_SECONDS + 1) == 0.5


def test_a_child_is_given_exactly_the_settings(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where they differ from what the environment says."""
    monkeypatch.setenv("REVERIE_CHAT_MODEL", "other")
    monkeypatch.setenv("REVERIE_DATABASE_URL", "postgresql://elsewhere/db")
    given = Settings(data_dir=data_dir, database_url=None, chat_model="mine", model_api_key=SecretStr("heron-4471"))
    told = environment(given)
    assert "REVERIE_DATABASE_URL" not in told
    monkeypatch.setattr(os, "environ", told)
    assert Settings() == given


def _environment(data_dir: Path) -> dict[str, str]:
    return {**os.environ, "REVERIE_DATA_DIR": str(data_dir), "PYTHONUNBUFFERED": "1"}


@contextmanager
def _up(data_dir: Path) -> Iterator[subprocess.Popen[str]]:
    """`reverie up --no-services` in a process of its own, ended with the block."""
    with subprocess.Popen(UP, env=_environment(data_dir), stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def _wait_until_ready(process: subprocess.Popen[str]) -> dict[str, str]:
    """The addresses it prints, by name."""
    assert process.stdout is not None
    addresses: dict[str, str] = {}
    for line in process.stdout:
        if line.startswith("ready"):
            return addresses
        name, _, place = line.strip().rpartition(" ")
        addresses[name.strip()] = place
    pytest.fail(f"ended with code {process.wait()} before it was ready")


def _children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def _read_until(lines: "Queue[str]", start: str) -> None:
    while not lines.get(timeout=PATIENCE_SECONDS).startswith(start):
        pass
