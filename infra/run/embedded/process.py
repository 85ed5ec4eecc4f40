"""One server process of the embedded stack: started, watched, stopped, and never left behind.

A child runs in a session of its own, so that Ctrl-C in the terminal reaches the supervisor alone, which then stops the
parts in order. Beside each child runs a guard, a shell of about 1 MB that waits on a pipe held by us: if we die in any
way (SIGKILL too) the pipe closes and the guard ends the child. `prctl(PR_SET_PDEATHSIG)` isn't used for it because it
fires when the *thread* that started the child ends, and because macOS has none. A pid file finds what outlived even
the guard.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

LOG_LIMIT_BYTES = 20_000_000
"""A log larger than this at start is set aside as `<name>.log.old`; one generation is kept."""

_GUARD = """
read -r _ && exit 0
kill -s "$2" "$1"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do kill -0 "-$1" || exit 0; sleep 1; done
kill -s KILL "-$1"
"""


class Account(NamedTuple):
    """An OS user a child runs as in place of our own."""

    name: str
    uid: int
    gid: int


class ChildProcess:
    """A named child with a log file and a pid file; can be spawned again after it ended.

    stop_signal asks for an orderly end, grace is the seconds it is given before SIGKILL.
    """

    def __init__(
        self,
        name: str,
        *,
        data_dir: Path,
        stop_signal: signal.Signals = signal.SIGTERM,
        grace: float = 30.0,
        account: Account | None = None,
    ) -> None:
        self.name = name
        self.log_file = data_dir / "log" / f"{name}.log"
        self._pid_file = data_dir / "run" / f"{name}.pid"
        self._stop_signal = stop_signal
        self._grace = grace
        self._account = account
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    @property
    def exit_code(self) -> int | None:
        """Exit code of the last run, negative for a signal; None while it runs or before it ran."""
        return None if self._process is None else self._process.poll()

    def is_running(self) -> bool:
        return self.pid is not None

    def spawn(self, arguments: Sequence[str], *, environment: Mapping[str, str] | None = None) -> None:
        """Start the program; anything a former owner of the pid file left running is ended first."""
        if self.is_running():
            return
        self._discard()
        self.end_orphan()
        self._make_room()
        account = self._account
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                list(arguments),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=None if environment is None else dict(environment),
                cwd="/",
                start_new_session=True,
                umask=0o077,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=() if account else None,
            )
        self._guard = _start_guard(self._process.pid, self._stop_signal)
        _write_pid(self._pid_file, self._process.pid)

    def stop(self) -> None:
        """End it in order; SIGKILL to its whole group after the grace. Returns when it is gone."""
        process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(self._stop_signal)
            try:
                process.wait(self._grace)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._discard()
        self._pid_file.unlink(missing_ok=True)

    def kill(self) -> None:
        """SIGKILL the process itself, as a crash would; its own children are left to notice."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._discard()

    def end_orphan(self) -> None:
        """End the process named by a stale pid file, if it is still that process."""
        orphan = _read_pid(self._pid_file)
        if orphan is None:
            return
        orphan.send_signal(self._stop_signal)
        try:
            orphan.wait(self._grace)
        except psutil.TimeoutExpired:
            orphan.kill()
            orphan.wait()
        self._pid_file.unlink(missing_ok=True)

    def log_tail(self, lines: int = 8) -> str:
        """The last lines logged since the last spawn, for an error message about a failed start."""
        if not self.log_file.exists():
            return ""
        with self.log_file.open("rb") as log:
            log.seek(max(self._log_start, self.log_file.stat().st_size - 16_384))
            return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])

    def _make_room(self) -> None:
        for directory in (self.log_file.parent, self._pid_file.parent):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.log_file.exists() and self.log_file.stat().st_size > LOG_LIMIT_BYTES:
            self.log_file.replace(self.log_file.with_suffix(".log.old"))
        self.log_file.touch(mode=0o600)
        self._log_start = self.log_file.stat().st_size

    def _discard(self) -> None:
        """Dismiss the guard of a child that has ended."""
        guard, self._guard = self._guard, None
        if guard is None or guard.stdin is None:
            return
        with contextlib.suppress(BrokenPipeError):  # the guard itself was killed: there is nothing to dismiss
            guard.stdin.write(b"ended\n")
        guard.stdin.close()
        guard.wait()


def _start_guard(pid: int, stop_signal: signal.Signals) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["/bin/sh", "-c", _GUARD, "reverie-guard", str(pid), stop_signal.name.removeprefix("SIG")],
        stdin=subprocess.PIPE,
        bufsize=0,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )


def _write_pid(path: Path, pid: int) -> None:
    try:
        created = psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        return  # it ended at once; the caller sees the exit code
    write_atomically(path, json.dumps({"pid": pid, "created": created}))


def _read_pid(path: Path) -> psutil.Process | None:
    """The live process of a pid file; a reused pid shows by its creation time."""
    try:
        entry = json.loads(path.read_text())
        process = psutil.Process(int(entry["pid"]))
        return process if abs(process.create_time() - float(entry["created"])) < 1.0 else None
    except (FileNotFoundError, ValueError, KeyError, psutil.NoSuchProcess):
        return None


def write_atomically(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Replace a file in one step, so that a reader never sees half of it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


def port_is_free(port: int) -> bool:
    """Whether nothing listens on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A loopback port that is free now; another program may still take it before we do."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RememberedPort:
    """A port that stays the same over restarts, so that addresses stay valid; kept in `run/<name>.port`."""

    def __init__(self, name: str, *, data_dir: Path, wanted: int | None) -> None:
        self._file = data_dir / "run" / f"{name}.port"
        self._wanted = wanted
        self._current: int | None = wanted

    def get(self) -> int:
        """The port asked for, or that of the last run while free, or a new one."""
        if self._current is None:
            last = self._read()
            self._current = last if last is not None and port_is_free(last) else free_port()
            write_atomically(self._file, str(self._current))
        return self._current

    def give_up(self) -> bool:
        """Forget a port somebody else took; False when it was asked for by number and so is not ours to change."""
        if self._wanted is not None:
            return False
        self._current = None
        self._file.unlink(missing_ok=True)
        return True

    def _read(self) -> int | None:
        try:
            return int(self._file.read_text())
        except (FileNotFoundError, ValueError):
            return None
