"""Ingest: turns a second, and CPU by part, against the model alone (nothing stored, nothing orchestrated)."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid5

import psutil
from rich.console import Console
from rich.table import Table

from api.services import Services
from domain.chunking import cut
from domain.intake import InputIn, Limits, build_input
from domain.jobs import NAMESPACE as IDS
from domain.memory import GRAPH_KINDS
from domain.model_calls import ExtractRequest, RouteRequest, WriteRequest
from domain.records import cited_turns, embedding_text, records_of
from infra.models.minilm import MiniLM
from infra.models.rules.model import RulesModel
from infra.run.cli.demo import demo_inputs
from infra.run.cli.ingest import read_files
from infra.run.embedded.postgres import EmbeddedPostgres
from infra.run.embedded.temporal import NAMESPACE, EmbeddedTemporal
from infra.run.formats.inputs import Placement
from infra.settings import Settings
from tests.e2e.deployment import Deployment, finished, new_deployment

LIMITS = Limits(max_message_characters=1_000_000, max_input_messages=5_000)


@dataclass(frozen=True)
class Parts:
    """CPU seconds spent so far, by part of the system."""

    worker: float
    postgres: float
    temporal: float
    caller: float


def run(console: Console, data: Path | None) -> None:
    """Measure and print."""
    inputs = tuple(_read(data) if data else demo_inputs(Settings()))
    turns = sum(len(one.messages) for one in inputs)
    limit = asyncio.run(_model_alone(inputs))
    wall, cpu, steps = _ours(inputs)
    table = Table(title=f"Ingest of {turns} turns in {len(inputs)} inputs")
    for column in ("", "wall s", "turns/s", "CPU s", "CPU ms a step"):
        table.add_column(column, justify="right" if column else "left")
    table.add_row("model alone (plain limit)", f"{limit:.1f}", f"{turns / limit:.1f}", "", "")
    table.add_row("Reverie, accepted to indexed", f"{wall:.1f}", f"{turns / wall:.1f}", f"{sum(_values(cpu)):.1f}", "")
    for name, seconds in zip(("worker (our code)", "Postgres", "Temporal", "caller"), _values(cpu), strict=True):
        table.add_row(f"  {name}", "", "", f"{seconds:.1f}", f"{1000 * seconds / steps:.1f}")
    console.print(table)
    console.print(f"{steps} steps (activities); ratio to the plain limit {wall / limit:.2f}")


def _read(path: Path) -> Sequence[InputIn]:
    return read_files([path], None, Placement(), settings=Settings())[0]


def _values(parts: Parts) -> tuple[float, float, float, float]:
    return parts.worker, parts.postgres, parts.temporal, parts.caller


async def _model_alone(inputs: tuple[InputIn, ...]) -> float:
    """Seconds for route, write, extract and the records' embeddings over the same chunks, in this process."""
    model, embedder, settings = RulesModel(), MiniLM(), Settings()
    await embedder.embed(["warm"])
    started = time.perf_counter()
    for raw in inputs:
        new, _ = build_input(raw, limits=LIMITS, default_timezone="UTC", now=datetime.now(UTC))
        job = uuid5(IDS, raw.request_id)
        for chunk in cut(job, new, characters=settings.chunk_characters, turns=settings.chunk_turns, previous=None):
            routed = (await model.route(RouteRequest(chunk=chunk))).answer
            drafts = {
                kind: (await model.write(WriteRequest(kind=kind, chunk=chunk))).answer.records for kind in routed.kinds
            }
            records = records_of(chunk, drafts)
            await embedder.embed([embedding_text(record) for record in records])
            for record in records:
                if record.kind in GRAPH_KINDS:
                    turns = cited_turns(record, chunk)
                    await model.extract(
                        ExtractRequest(record=record, turns=turns, timezone=chunk.timezone, speakers=chunk.speakers)
                    )
    return time.perf_counter() - started


def _ours(inputs: tuple[InputIn, ...]) -> tuple[float, Parts, int]:
    """Wall seconds, CPU by part, and activities run."""
    with tempfile.TemporaryDirectory(prefix="reverie-bench-") as folder:
        Path(folder).chmod(0o755)
        postgres, temporal = EmbeddedPostgres(Path(folder)), EmbeddedTemporal(Path(folder))
        deployment = new_deployment(postgres.start(), temporal.start(), NAMESPACE, prefix="bench")
        worker = deployment.start_worker()
        pids = (worker.pid, postgres.pid, temporal.pid)
        try:
            return asyncio.run(_ingest(deployment, inputs, pids))
        finally:
            deployment.stop()
            temporal.stop()
            postgres.stop()


async def _ingest(
    deployment: Deployment, inputs: tuple[InputIn, ...], pids: tuple[int | None, ...]
) -> tuple[float, Parts, int]:
    async with deployment.services() as services:
        before, started = _cpu(pids), time.perf_counter()
        jobs = [await services.acceptor.accept(raw) for raw in inputs]
        for raw, accepted in zip(inputs, jobs, strict=True):
            await finished(services, raw.user_id, accepted.job.id, patience=3600)
        wall, after = time.perf_counter() - started, _cpu(pids)
        steps = await _steps(deployment, services)
    spent = [b - a for a, b in zip(_values(before), _values(after), strict=True)]
    return wall, Parts(*spent), steps


def _cpu(pids: tuple[int | None, ...]) -> Parts:
    worker, postgres, temporal = (_tree(psutil.Process(pid)) for pid in pids)
    return Parts(worker, postgres, temporal, _own(psutil.Process()))


def _tree(process: psutil.Process) -> float:
    """CPU of a process, its living children, and those it has reaped."""
    times = process.cpu_times()
    reaped = float(times.children_user + times.children_system)
    return _own(process) + reaped + sum(map(_own, process.children(recursive=True)))


def _own(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def _steps(deployment: Deployment, services: Services) -> int:
    client = await deployment.client()
    total = 0
    async for execution in client.list_workflows():
        if execution.id.startswith(f"{deployment.prefix}/"):
            handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
            history = await handle.fetch_history()
            total += sum(event.HasField("activity_task_scheduled_event_attributes") for event in history.events)
    return total
