"""`reverie doctor`: check everything, and say how to mend what is broken."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from infra.run.cli.output import FAILED, edge, emit, out
from infra.run.cli.stack import read_settings
from infra.run.embedded.check import Check
from infra.run.embedded.checks import check_all


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check the machine, the servers and the models. Exit code 1 if anything is broken."""
    with edge(as_json=as_json):
        checks = check_all(read_settings())
        if as_json:
            emit([check.model_dump() for check in checks])
        else:
            _print_table(checks)
        if not all(check.ok for check in checks):
            raise typer.Exit(FAILED)


def _print_table(checks: Sequence[Check]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    table.add_column("What", no_wrap=True)
    table.add_column("Finding and fix", overflow="fold")
    for check in checks:
        finding = Text(check.detail)
        if check.fix:
            finding.append(f"\nfix: {check.fix}", style="yellow")
        table.add_row(Text("ok", "green") if check.ok else Text("broken", "bold red"), check.name, finding)
    out.print(table)
