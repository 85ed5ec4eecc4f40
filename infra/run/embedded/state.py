"""Who holds a data directory, and where its running stack is reached: what one process writes and every other reads."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import psutil
from filelock import FileLock, Timeout
from pydantic import AwareDatetime, BaseModel, ConfigDict, SecretStr, ValidationError, field_serializer

from domain.errors import ConfigurationError
from infra.run.embedded.process import write_atomically

STATE_FILE = "stack.json"
HOLDER_FILE = "holder.json"


class StackState(BaseModel):
    """Addresses of a running stack. `database_url` holds the password; the file is readable by its owner alone."""

    model_config = ConfigDict(frozen=True)

    database_url: SecretStr
    temporal_address: str
    namespace: str
    ui_url: str | None
    """None when the Temporal server is not ours."""
    api_url: str | None
    """None when the stack runs without the API."""
    pid: int
    """Process that supervises the stack."""
    started_at: AwareDatetime

    @field_serializer("database_url", when_used="json")
    def _plain(self, value: SecretStr) -> str:
        return value.get_secret_value()


class Holder(BaseModel):
    """The process that holds a data directory's lock."""

    model_config = ConfigDict(frozen=True)

    pid: int
    since: AwareDatetime


class DirectoryHeld(ConfigurationError):
    """Another process runs its stack in this data directory."""

    type = "directory_held"
    advice = "use that stack, or end it with Ctrl-C in its terminal; REVERIE_DATA_DIR names another directory"


@contextmanager
def held(data_dir: Path, *, now: datetime) -> Iterator[None]:
    """Hold the directory's lock. DirectoryHeld, naming who has it, when another process does; the lock ends with its
    process.
    """
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(data_dir / "lock", mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise DirectoryHeld(_describe_holder(data_dir)) from error
    try:
        write_atomically(data_dir / HOLDER_FILE, Holder(pid=os.getpid(), since=now).model_dump_json())
        (data_dir / STATE_FILE).unlink(missing_ok=True)
        yield
    finally:
        (data_dir / STATE_FILE).unlink(missing_ok=True)
        (data_dir / HOLDER_FILE).unlink(missing_ok=True)
        lock.release()


def write_state(data_dir: Path, state: StackState) -> None:
    """Publish the addresses of the stack that is ready."""
    write_atomically(data_dir / STATE_FILE, state.model_dump_json(indent=2))


def read_state(data_dir: Path) -> StackState | None:
    """The addresses of the stack running in a directory; None when none is ready there."""
    try:
        state = StackState.model_validate_json((data_dir / STATE_FILE).read_text())
    except (FileNotFoundError, ValidationError):
        return None
    return state if psutil.pid_exists(state.pid) else None


def _describe_holder(data_dir: Path) -> str:
    try:
        holder = Holder.model_validate_json((data_dir / HOLDER_FILE).read_text())
    except (FileNotFoundError, ValidationError):
        return f"another process holds {data_dir}"
    state = read_state(data_dir)
    text = f"{data_dir} is held by process {holder.pid} since {holder.since:%Y-%m-%d %H:%M:%S} UTC"
    if state is None:
        return f"{text}, which is still starting"
    places = {"API": state.api_url, "Temporal": state.temporal_address, "Temporal UI": state.ui_url}
    return f"{text}; " + ", ".join(f"{name} {place}" for name, place in places.items() if place)
