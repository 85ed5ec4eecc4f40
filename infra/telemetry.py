"""Logging: one line an event, to standard error. Callers log ids, counts and types, never memory text (invariant 7)."""

import logging

FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"
QUIET = ("httpx", "httpcore", "openai", "instructor", "temporalio", "psycopg")
"""Libraries whose own messages may hold what we send; only their errors pass."""


def configure_logging(level: int = logging.INFO) -> None:
    """Set the process's logging up, once, from infra.run."""
    logging.basicConfig(level=level, format=FORMAT)
    quiet_libraries()


def quiet_libraries() -> None:
    """Let only the errors of libraries pass, also where nothing else is logged, as on the command line."""
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.ERROR)
