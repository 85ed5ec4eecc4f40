"""Benchmarks as tables: `python -m tests.bench [NAME…] [--data FILE] [--frames N…]`. Each compares ours with the plain
limit in one run."""

import argparse
import os
import platform
from pathlib import Path

from rich.console import Console

from tests.bench import dream, ingest, search

BENCHES = ("ingest", "search", "dream")


def main() -> None:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("names", nargs="*", choices=[*BENCHES, []], help="which benchmarks; all if none is named")
    parser.add_argument("--data", type=Path, help="conversation to ingest instead of the demo's")
    parser.add_argument("--frames", type=int, nargs="+", default=list(search.FRAMES), help="scales of the search")
    parser.add_argument("--json", action="store_true", help="print the figures of search and dream as JSON")
    arguments = parser.parse_args()
    console = Console(width=160, stderr=arguments.json)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    console.print(f"{machine}, Python {platform.python_version()}")
    for name in arguments.names or BENCHES:
        if name == "ingest":
            ingest.run(console, arguments.data)
        elif name == "dream":
            dream.run(console, as_json=arguments.json)
        else:
            search.run(console, arguments.frames, as_json=arguments.json)


if __name__ == "__main__":
    main()
