"""What a command prints: answers on stdout, progress and errors on stderr, and one shape for every error."""

import json
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn
from unicodedata import category

import typer
from rich.console import Console

from domain.errors import (
    ConfigurationError,
    GraphUnavailable,
    InvalidInput,
    MergeConflict,
    ModelError,
    NotFound,
    RequestConflict,
    ReverieError,
    StoreUnavailable,
    Unavailable,
)

FAILED = 1
INVALID = 2
INTERRUPTED = 130
"""The shell's convention for a command ended by Ctrl-C."""

PIPED_WIDTH = 120
"""Columns of what goes into a file or a pipe: a job's line is some hundred characters."""

out = Console(highlight=False, width=None if sys.stdout.isatty() else PIPED_WIDTH)
"""Answers. Only one of `out` and `emit` is used by a run of a command."""

err = Console(stderr=True, highlight=False)
"""Progress, messages and errors."""

_ADVICE: tuple[tuple[type[ReverieError], str], ...] = (
    (StoreUnavailable, "start the stack with `reverie up`; `reverie doctor` says what does not answer"),
    (GraphUnavailable, "records are kept; `reverie doctor` says what is wrong with the graph"),
    (ModelError, "`reverie doctor` checks the model endpoint (REVERIE_MODEL_BASE_URL, REVERIE_MODEL_API_KEY)"),
    (Unavailable, "start the stack with `reverie up`; `reverie doctor` says what does not answer"),
    (MergeConflict, "`reverie dream show ID --pairs` and `reverie anchors show ID` show how things stand"),
    (RequestConflict, "give what was changed an id of its own"),
    (NotFound, "`reverie jobs --user USER` lists the jobs of a user"),
    (ConfigurationError, "`reverie doctor` checks the installation"),
    (InvalidInput, "mend it and run the command again"),
)
"""What to do next, by the first type that fits; an error may bring its own in `advice`."""

_KEPT_CONTROLS = "\n\t"
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def plain(text: str) -> str:
    """Text that is safe on a terminal: control characters (escape sequences) and lone surrogates are replaced."""
    return "".join(_REPLACEMENT if category(c) in ("Cc", "Cs") and c not in _KEPT_CONTROLS else c for c in text)


def emit(value: object) -> None:
    """Print one JSON document on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def say(text: str) -> None:
    """Print a message on stderr, as it is."""
    err.print(plain(text), markup=False, soft_wrap=True)


@contextmanager
def edge(*, as_json: bool) -> Iterator[None]:
    """The outer edge of every command: each failure becomes one message and an exit code, never a traceback."""
    try:
        yield
    except typer.Exit:
        raise
    except KeyboardInterrupt:
        say("stopped")
        raise typer.Exit(INTERRUPTED) from None
    except ReverieError as error:
        _fail(error, as_json=as_json)
    except OSError as error:
        _fail_plainly(
            f"{error.strerror or type(error).__name__}: {error.filename or 'input or output'}", as_json=as_json
        )
    except Exception as error:  # noqa: BLE001 - the edge: whatever it is, its text may quote memory and stays unprinted
        _fail_plainly(f"unexpected {type(error).__name__} at {_place(error)}", as_json=as_json)


def advice(error: ReverieError) -> str:
    """What the caller can do about an error."""
    own = getattr(error, "advice", "")
    return own or next(
        (text for kind, text in _ADVICE if isinstance(error, kind)), "`reverie doctor` checks everything"
    )


def _fail(error: ReverieError, *, as_json: bool) -> NoReturn:
    code = INVALID if isinstance(error, InvalidInput | RequestConflict) else FAILED
    _print_error(error.type, error.message, advice(error), retryable=error.retryable, as_json=as_json)
    raise typer.Exit(code)


def _fail_plainly(message: str, *, as_json: bool) -> NoReturn:
    _print_error(ReverieError.type, message, "`reverie doctor` checks everything", retryable=False, as_json=as_json)
    raise typer.Exit(FAILED)


def _print_error(kind: str, message: str, next_step: str, *, retryable: bool, as_json: bool) -> None:
    if as_json:
        with suppress(OSError):  # where stdout is what failed, stderr tells
            emit({"error": {"type": kind, "message": f"{message}; {next_step}", "retryable": retryable}})
    say(f"error: {message}\n       {next_step}")


def _place(error: Exception) -> str:
    """File and line of the innermost frame: enough for a report, and free of data."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
