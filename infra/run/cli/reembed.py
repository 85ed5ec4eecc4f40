"""`reverie reembed`: change every stored vector to the configured embedder's."""

import asyncio
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from infra.run.bootstrap import reembedding
from infra.run.cli.output import edge, emit, err, out
from infra.run.cli.stack import located, read_settings
from infra.settings import Settings
from infra.stores.meta import SUBJECTS


def reembed(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Embed all records, anchors and frames anew with the configured embedder.

    Needed after a change of the embedding model. Run it while no worker and no API runs on the database; cut off and
    run again it goes on from where it was.
    """
    with edge(as_json=as_json):
        made = asyncio.run(_reembed(located(read_settings())))
        if as_json:
            emit({"vectors": made})
        elif made:
            out.print(f"{made} vectors made", markup=False)
        else:
            out.print("all vectors are the configured embedder's already; nothing changed", markup=False)


async def _reembed(settings: Settings) -> int:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err) as bar:
        tasks = {subject: bar.add_task(subject, total=None) for subject in SUBJECTS}
        async with reembedding(settings) as work:
            return await work.run(lambda subject, done, total: bar.update(tasks[subject], completed=done, total=total))
