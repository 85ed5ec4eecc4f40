"""`reverie up`: the whole stack in this terminal until Ctrl-C."""

import signal
import threading
from typing import Annotated

import typer

from infra.run.cli.output import edge, out
from infra.run.cli.stack import read_settings
from infra.run.embedded.postgres import without_password
from infra.run.embedded.state import StackState
from infra.run.embedded.supervisor import embedded_stack
from infra.settings import Settings

_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def up(
    services: Annotated[bool, typer.Option(help="Run the worker and the API too, not the servers alone.")] = True,
) -> None:
    """Start Postgres, Temporal, a worker and the API under one data directory; Ctrl-C stops them all."""
    with edge(as_json=False):
        settings = read_settings()
        for ending in _ENDINGS:
            signal.signal(ending, _interrupt)
        try:
            with embedded_stack(settings, say=_print, services=services) as (_, state):
                _print_addresses(settings, state)
                threading.Event().wait()
        except KeyboardInterrupt:
            _print("stopped")


def _interrupt(_number: int, _frame: object) -> None:
    """The first signal ends the wait; while the parts are being stopped further ones change nothing."""
    for ending in _ENDINGS:
        signal.signal(ending, signal.SIG_IGN)
    raise KeyboardInterrupt


def _print_addresses(settings: Settings, state: StackState) -> None:
    """Where everything is reached; the database without its password, which stack.json has."""
    places = {
        "API": state.api_url,
        "Temporal UI": state.ui_url,
        "Temporal": state.temporal_address,
        "Database": without_password(state.database_url.get_secret_value()),
        "Data": str(settings.data_dir.absolute()),
    }
    for name, place in places.items():
        if place is not None:
            _print(f"{name:<12} {place}")
    _print("ready; Ctrl-C stops everything")


def _print(line: str) -> None:
    out.print(line, markup=False, soft_wrap=True)
