"""The embedded Postgres: the wheel's own initdb and postgres, with our configuration, on loopback with a generated
password.
"""

import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from domain.errors import ConfigurationError, StoreUnavailable
from infra.run.embedded.account import can_enter, choose_account, reachable_programs
from infra.run.embedded.process import ChildProcess, RememberedPort, write_atomically

ROLE = "reverie"
DATABASE = "reverie"
START_TIMEOUT_SECONDS = 300.0
"""Recovery after a crash of a loaded database takes minutes on a slow disk; pg_ctl would give up after one."""

_CONFIGURATION: Mapping[str, str] = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "password_encryption": "scram-sha-256",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "2GB",
    "wal_compression": "on",
    "random_page_cost": "1.1",  # disks without seek time
    "jit": "off",  # compiling costs more than any statement of ours gains
    "session_preload_libraries": "age",
    "search_path": "public, ag_catalog",  # for ad-hoc sessions in a database whose own settings are gone, a copy say
    # Statements, their parameters and the DETAIL of an error hold memory text, so the log has none of them; the client
    # gets its errors all the same. LOG ranks above ERROR here: this keeps starts, stops, recovery, FATAL and PANIC.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_line_prefix": "%m [%p] ",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


class EmbeddedPostgres:
    """A Postgres of our own under `data_dir`, created at the first start.

    The caller holds the directory's lock: a server that a dead owner left running on it is ended at start. `settings`
    adds to or replaces server settings. As root the server runs as another user, who must be able to reach `data_dir`.
    """

    def __init__(self, data_dir: Path, *, port: int | None = None, settings: Mapping[str, str] | None = None) -> None:
        self._data_dir = data_dir.absolute()
        self._cluster = self._data_dir / "postgres"
        self._password_file = self._data_dir / "postgres.password"
        self._port = RememberedPort("postgres", data_dir=self._data_dir, wanted=port)
        self._settings = {**_CONFIGURATION, **(settings or {})}
        self._account = choose_account(self._cluster)
        # SIGINT is the fast shutdown: sessions are ended, a checkpoint is written.
        self._server = ChildProcess(
            "postgres", data_dir=self._data_dir, stop_signal=signal.SIGINT, grace=60.0, account=self._account
        )

    @property
    def url(self) -> str:
        """Address of the database with the generated password; a secret."""
        return self._address(DATABASE)

    @property
    def pid(self) -> int | None:
        """Process id of the postmaster while it runs."""
        return self._server.pid

    @property
    def log_file(self) -> Path:
        return self._server.log_file

    def is_running(self) -> bool:
        return self._server.is_running()

    def start(self) -> str:
        """Start (creating the cluster first if there is none), wait until it answers, ensure the database.

        Returns the URL. Does nothing but that when it is running. ConfigurationError where it can't run here,
        StoreUnavailable where it doesn't come up.
        """
        programs = reachable_programs(self._account)
        if not self.is_running():
            self._server.end_orphan()
            self._create_cluster(programs)
            self._launch(programs)
        ensure_database(self._address("postgres"), DATABASE)
        return self.url

    def stop(self) -> None:
        """End all sessions, write a checkpoint, stop."""
        self._server.stop()

    def kill(self) -> None:
        """SIGKILL the postmaster, as a crash would; the next start recovers."""
        self._server.kill()

    def _address(self, database: str) -> str:
        password = self._password_file.read_text()
        return f"postgresql://{ROLE}:{password}@127.0.0.1:{self._port.get()}/{database}"

    def _create_cluster(self, programs: Path) -> None:
        """initdb into a scratch directory, renamed when complete: a crash in the middle leaves nothing half made."""
        if self._cluster.exists():
            return
        self._data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._let_account_in()
        if not self._password_file.exists():
            write_atomically(self._password_file, secrets.token_urlsafe(24))
        scratch = self._cluster.with_name("postgres.new")
        shutil.rmtree(scratch, ignore_errors=True)
        self._run_initdb(programs, scratch)
        scratch.rename(self._cluster)

    def _let_account_in(self) -> None:
        """Another user may pass through our directory to reach its own; ancestors are not ours to change."""
        if self._account is None:
            return
        self._data_dir.chmod(self._data_dir.stat().st_mode & 0o777 | 0o011)
        if not can_enter(self._data_dir, self._account):
            raise ConfigurationError(
                f"Postgres runs as user {self._account.name}, who can't reach {self._data_dir}: "
                "set REVERIE_DATA_DIR to a directory all of whose parents it may enter, such as /var/lib/reverie"
            )

    def _run_initdb(self, programs: Path, cluster: Path) -> None:
        account = self._account
        cluster.mkdir(mode=0o700)
        password_copy = cluster.with_name("postgres.initial")
        write_atomically(password_copy, self._password_file.read_text())
        if account is not None:
            os.chown(cluster, account.uid, account.gid)
            os.chown(password_copy, account.uid, account.gid)
        arguments = [
            *(str(programs / "initdb"), "--pgdata", str(cluster), "--username", ROLE, "--pwfile", str(password_copy)),
            *("--auth=scram-sha-256", "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
            *("--locale=C", "--no-instructions"),
            *(("--no-sync",) if self._settings.get("fsync") == "off" else ()),
        ]
        done = subprocess.run(
            arguments,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=() if account else None,
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
        password_copy.unlink()
        if done.returncode != 0:
            raise ConfigurationError(f"initdb failed: {done.stderr.strip()[-600:]}")

    def _launch(self, programs: Path) -> None:
        """Spawn until it answers. A port somebody took in between is given up for another; after a crash the sessions
        of the dead server may hold its shared memory for a moment longer.
        """
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while True:
            self._server.spawn(self._command(programs))
            if self._answers(deadline):
                return
            tail = self._server.log_tail()
            self._server.stop()
            held = "pre-existing shared memory block" in tail
            moved = "could not bind" in tail and self._port.give_up()
            if not (held or moved) or time.monotonic() > deadline:
                raise StoreUnavailable(f"the embedded Postgres did not start; {self.log_file} ends: {tail}")
            time.sleep(0.2)

    def _command(self, programs: Path) -> list[str]:
        options = {**self._settings, "port": str(self._port.get())}
        pairs = (part for name, value in options.items() for part in ("-c", f"{name}={value}"))
        return [str(programs / "postgres"), "-D", str(self._cluster), *pairs]

    def _answers(self, deadline: float) -> bool:
        """Wait for the first answered connection; False when the server exits or the deadline passes."""
        pause = 0.05
        while self._server.is_running() and time.monotonic() < deadline:
            try:
                with psycopg.connect(self._address("postgres"), connect_timeout=5):
                    return True
            except psycopg.OperationalError:  # refused, or still recovering
                time.sleep(pause)
                pause = min(2 * pause, 0.5)
        return False


def ensure_database(maintenance_url: str, name: str) -> None:
    """Create a database if there is none of that name."""
    with psycopg.connect(maintenance_url, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone() is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def with_database(url: str, name: str) -> str:
    """The same server's address with another database."""
    return urlsplit(url)._replace(path=f"/{name}").geturl()


def without_password(url: str) -> str:
    """Host, port and database of a URL, for people to read."""
    parts = urlsplit(url)
    return f"{parts.hostname or 'localhost'}:{parts.port or 5432}{parts.path}"
