"""Benchmarks as tables: `python -m tests.bench [NAME…] [--data FILE]`. Each compares ours with the plain limit in one
run."""

import argparse
import os
import platform
from pathlib import Path

from rich.console import Console

from tests.bench import ingest

BENCHES = {"ingest": ingest.run}


def main() -> None:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("names", nargs="*", choices=[*BENCHES, []], help="which benchmarks; all if none is named")
    parser.add_argument("--data", type=Path, help="conversation to ingest instead of the demo's")
    arguments = parser.parse_args()
    console = Console(width=120)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    console.print(f"{machine}, Python {platform.python_version()}")
    for name in arguments.names or BENCHES:
        BENCHES[name](console, arguments.data)


if __name__ == "__main__":
    main()
