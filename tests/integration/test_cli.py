"""The command line on the real stack: the demo from nothing, then every command on what it left behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import psutil
import pytest
from typer.testing import CliRunner, Result

from infra.run.cli import main
from infra.run.demo.questions import QUESTIONS, TIMEZONE, USER
from infra.run.embedded.supervisor import embedded_stack
from infra.settings import Settings

pytestmark = pytest.mark.timeout(900)

REVERIE = (sys.executable, "-c", "from infra.run.cli.main import main; main()")
PATIENCE_SECONDS = 120.0
SECRET = "Heron-Lantern"

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """The data directory of the module's servers."""
    directory = Path(tempfile.mkdtemp(prefix="reverie-test-cli-"))
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def demo(place: Path) -> subprocess.CompletedProcess[str]:
    """`reverie demo` in an empty directory, run to its end."""
    command = [*REVERIE, "demo", "--json", "--data-dir", str(place)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=800)


@pytest.fixture(scope="module")
def stack(demo: subprocess.CompletedProcess[str], place: Path) -> Iterator[Path]:
    """The servers of the demo, started again; the place where commands find them."""
    with embedded_stack(Settings(data_dir=place, api_port=0), say=lambda _: None):
        yield place


@pytest.fixture
def run(stack: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `reverie` in this process against the running stack."""
    monkeypatch.setenv("REVERIE_DATA_DIR", str(stack))

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main.app, list(arguments), catch_exceptions=False)

    return invoke


def answer(result: Result) -> Any:
    """The JSON a command printed, which must be all of stdout."""
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_the_demo_answers_three_questions_with_facts_and_the_rows_they_cite(
    demo: subprocess.CompletedProcess[str],
) -> None:
    assert demo.returncode == 0, demo.stderr
    shown = json.loads(demo.stdout)
    assert shown["summary"]["turns_new"] == shown["summary"]["turns_offered"] >= 40
    assert shown["summary"]["failed_steps"] == []
    assert {job["state"] for job in shown["summary"]["jobs"]} == {"completed"}
    assert [each["question"] for each in shown["answers"]] == list(QUESTIONS)
    for each in shown["answers"]:
        rows = {row["record_id"] for row in each["answer"]["rows"]}
        assert not each["answer"]["degraded"]
        assert any(rows & set(fact["record_ids"]) for fact in each["answer"]["facts"])
    assert shown["places"]["Temporal UI"].startswith("http://127.0.0.1:")


def test_two_like_worded_events_stay_two(demo: subprocess.CompletedProcess[str]) -> None:
    count = json.loads(demo.stdout)["answers"][1]["answer"]
    repairs = [fact for fact in count["facts"] if fact["predicate"] == "repair"]
    assert len({fact["frame_ids"][0] for fact in repairs}) == 2
    assert len({record for fact in repairs for record in fact["record_ids"]}) == 2


def test_the_secret_of_the_demo_is_in_the_vault_alone(demo: subprocess.CompletedProcess[str], run: Run) -> None:
    assert SECRET not in demo.stdout + demo.stderr
    assert json.loads(demo.stdout)["summary"]["records"]["vault"] == 1
    found = run("search", "What is the wifi password for the boathouse?", "--user", USER)
    assert "[vault:" in found.stdout
    assert SECRET not in found.stdout


def test_what_was_ingested_outlives_its_servers_and_is_not_written_again(run: Run) -> None:
    with as_file(files("infra.run.demo").joinpath("conversation.jsonl")) as path:
        result = run("ingest", str(path), "--user", USER, "--timezone", TIMEZONE)
    assert result.exit_code == 0
    assert "46 turns already stored, nothing written" in result.stdout
    assert answer(run("search", QUESTIONS[0], "--user", USER, "--json"))["facts"]


def test_one_message_goes_from_the_command_line_to_the_graph_and_back(run: Run) -> None:
    arguments = ("add", "Lena adopted a kitten yesterday.", "--user", "ana", "--at", "2025-03-08T10:00:00+01:00")
    added = answer(run(*arguments, "--json"))
    assert added["created"]
    assert added["job"]["state"] == "completed"
    assert added["job"]["indexed"] >= 1
    found = answer(run("search", "What did Lena adopt?", "--user", "ana", "--json"))
    (fact,) = (fact for fact in found["facts"] if fact["predicate"] == "adopt")
    assert {arm["name"] for arm in fact["arms"]} >= {"Lena", "kitten"}
    assert set(fact["record_ids"]) <= {record["id"] for record in added["records"]}
    assert not answer(run(*arguments, "--json"))["created"]


def test_an_ingest_dreams_along_the_way_and_anchors_are_merged_and_taken_apart_by_hand(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "talk.jsonl"
    names = ("Lena", "Marek", "Odile", "Tariq", "Yusra", "Zelda")
    path.write_text(
        "".join(json.dumps({"text": f"{name} adopted a kitten.", "session_id": name}) + "\n" for name in names)
    )
    dream = answer(run("ingest", str(path), "--user", "dreamer", "--dream", "--json"))["dream"]["dreamer"]
    assert (dream["rounds"], dream["final"]["state"], dream["final"]["mode"]) == (2, "completed", "final")
    user = ("--user", "dreamer")
    lena, marek = (
        answer(run("anchors", "show", "--name", name, *user, "--json"))["anchor"]["id"] for name in names[:2]
    )
    merged = answer(run("anchors", "merge", lena, marek, *user, "--force", "--json"))["consolidation"]
    assert (merged["state"], merged["receipt"]["merged"]) == ("completed", 1)
    assert answer(run("anchors", "show", "--name", "Marek", *user, "--json"))["anchor"]["id"] == lena
    undone = answer(run("dream", "undo", merged["id"], *user, "--json"))["consolidation"]
    assert (undone["state"], undone["receipt"]["undone"]) == ("completed", 1)
    assert answer(run("anchors", "show", "--name", "Marek", *user, "--json"))["anchor"]["id"] == marek
    assert merged["receipt"]["evidence_before"] == undone["receipt"]["evidence_after"]


def test_another_user_sees_nothing_of_it(run: Run) -> None:
    job = answer(run("jobs", "--user", USER, "--json"))["jobs"][0]["id"]
    refused = run("jobs", "show", job, "--user", "bo", "--json")
    assert refused.exit_code == 1
    assert json.loads(refused.stdout)["error"]["type"] == "not_found"
    assert answer(run("search", QUESTIONS[0], "--user", "bo", "--json"))["rows"] == []


def test_a_file_with_a_bad_last_line_stores_nothing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "I like pears."}\n' * 299 + '{"text": ""}\n')
    result = run("ingest", str(path), "--user", "clean")
    assert result.exit_code == 2
    assert "bad.jsonl, line 300: text: no text" in result.stderr
    assert answer(run("jobs", "--user", "clean", "--json"))["jobs"] == []


def test_ctrl_c_leaves_the_jobs_at_work_and_the_same_command_finishes(run: Run, stack: Path, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    rows = [{"text": f"I planted {n} pear trees in Lyon.", "session_id": f"s{n % 4}"} for n in range(2, 26)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with halted_worker(), heeded_interrupts():  # else a quick machine is done before the signal comes
        process = subprocess.Popen(
            [*REVERIE, "ingest", str(path), "--user", "cut"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "REVERIE_DATA_DIR": str(stack)},
        )
        wait_for(lambda: bool(answer(run("jobs", "--user", "cut", "--json"))["jobs"]))
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130, stderr
    assert stdout == ""
    assert "their jobs go on without this command; see them with `reverie jobs --user cut`" in stderr
    summary = answer(run("ingest", str(path), "--user", "cut", "--json"))
    assert summary["turns_offered"] == 24
    assert [job["state"] for job in summary["jobs"]] == ["completed"] * 4
    assert sum(job["messages"] for job in answer(run("jobs", "--user", "cut", "--json"))["jobs"]) == 24


@contextmanager
def halted_worker() -> Iterator[None]:
    """The stack's worker takes no step meanwhile."""
    children = psutil.Process().children(recursive=True)
    (worker,) = [child for child in children if "infra.run.worker" in child.cmdline()]
    worker.suspend()
    try:
        yield
    finally:
        worker.resume()


@contextmanager
def heeded_interrupts() -> Iterator[None]:
    """Processes started meanwhile heed SIGINT, also where this one was told to ignore it, as in a job run behind."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def wait_for(condition: Callable[[], bool]) -> None:
    """Look again and again until it holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.2)
