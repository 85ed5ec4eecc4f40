"""`python -m tests.distribution`: how long functions and modules are, against the aims; part of `make check`.

A function's length is that of its `def`, docstring included, decorators left out. Broad catches (`except Exception`)
belong to the HTTP, command-line and activity edges; ruff's BLE001 asks for a reason beside each.
"""

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("domain", "workflows", "activities", "api", "infra")
ROOT = Path(__file__).parent.parent

MEDIAN, P90, LONGEST_FUNCTION, LONGEST_MODULE = 10, 30, 60, 400
"""The most lines aimed for."""


class Length(NamedTuple):
    """Lines of a thing and where it is."""

    lines: int
    place: str


def modules(root: Path, packages: tuple[str, ...] = PACKAGES) -> Iterator[Path]:
    """The Python files of the packages, in order."""
    for package in packages:
        yield from sorted((root / package).rglob("*.py"))


def functions(root: Path, module: Path) -> Iterator[Length]:
    """Every function and method of a module, nested ones too."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            yield Length(lines, f"{module.relative_to(root)}:{node.lineno} {node.name}")


def faults(root: Path) -> list[str]:
    """Prints the distribution and returns what is beyond the aims."""
    paths = list(modules(root))
    sizes = [Length(len(path.read_text().splitlines()), str(path.relative_to(root))) for path in paths]
    lengths = [length for path in paths for length in functions(root, path)]
    median = statistics.median(length.lines for length in lengths)
    p90, p99 = (statistics.quantiles((length.lines for length in lengths), n=100)[at] for at in (89, 98))
    source = sum(size.lines for size in sizes)
    test = sum(len(path.read_text().splitlines()) for path in modules(root, ("tests",)))
    print(
        f"functions: {len(lengths)}, lines median {median:g}, p90 {p90:g}, p99 {p99:g}, longest {max(lengths).lines} | "
        f"modules: {len(sizes)}, longest {max(sizes).lines} | source {source}, test/source {test / source:.2f}"
    )
    return [
        *([f"median function has {median:g} lines, aim {MEDIAN}"] if median > MEDIAN else []),
        *([f"p90 of functions is {p90:g} lines, aim {P90}"] if p90 > P90 else []),
        *(f"{place}: {lines} lines, aim {LONGEST_FUNCTION}" for lines, place in lengths if lines > LONGEST_FUNCTION),
        *(f"{place}: {lines} lines, aim {LONGEST_MODULE}" for lines, place in sizes if lines > LONGEST_MODULE),
    ]


if __name__ == "__main__":
    found = faults(ROOT)
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    sys.exit(bool(found))
