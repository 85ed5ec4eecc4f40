"""The commands over fake services: what they print, where, and with which exit code."""

import json
from pathlib import Path

import pytest

from domain.memory import MemoryKind
from tests.fakes.services import FakeServices
from tests.unit.cli.conftest import Run

MESSAGES = "".join(json.dumps({"text": f"turn {number}", "session_id": "s"}) + "\n" for number in range(5))


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A file of five messages."""
    path = tmp_path / "talk.jsonl"
    path.write_text(MESSAGES)
    return path


# ---------------------------------------------------------------------------------------------------------- add


def test_add_stores_a_message_and_prints_its_records(run: Run, services: FakeServices) -> None:
    result = run("add", "I like pears", "--user", "ana")
    assert result.exit_code == 0
    assert "stored; 1 records" in result.stdout
    assert "[episodic] I like pears" in result.stdout


@pytest.mark.parametrize("text", ["", "  \n ", "-"])
def test_add_refuses_an_empty_message_before_anything(run: Run, text: str) -> None:
    """No services here: a connection would fail."""
    result = run("add", text, stdin=" \n")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: TEXT: the message is empty")


def test_add_reads_stdin(run: Run, services: FakeServices) -> None:
    assert "I like figs" in run("add", "-", stdin="I like figs\n").stdout


def test_add_refuses_stdin_that_is_not_utf_8(run: Run, services: FakeServices) -> None:
    result = run("add", "-", stdin=b"caf\xe9")
    assert result.exit_code == 2
    assert "not UTF-8 at byte 3" in result.stderr


def test_add_with_an_id_is_stored_once(run: Run, services: FakeServices) -> None:
    assert run("add", "I like pears", "--id", "k1", "--at", "2025-03-08").exit_code == 0
    again = run("add", "I like pears", "--id", "k1", "--at", "2025-03-08")
    assert again.exit_code == 0
    assert "nothing written" in again.stdout
    other = run("add", "I like figs", "--id", "k1")
    assert other.exit_code == 2
    assert "an id of its own" in other.stderr


def test_add_with_a_time_is_stored_once_and_without_one_every_time(run: Run, services: FakeServices) -> None:
    for _ in range(2):
        run("add", "I like pears", "--at", "2025-03-08T10:00")
        run("add", "I like pears")
    assert len(services.evidence.jobs) == 3


def test_add_prints_one_json_document(run: Run, services: FakeServices) -> None:
    result = run("add", "I like pears", "--json")
    answer = json.loads(result.stdout)
    assert (answer["created"], answer["job"]["state"], len(answer["records"])) == (True, "completed", 1)


def test_add_without_waiting_says_that_the_job_goes_on(run: Run, services: FakeServices) -> None:
    services.worker.asleep = True
    assert "accepted; the job goes on" in run("add", "I like pears", "--no-wait").stdout


def test_add_whose_job_fails_keeps_the_message_and_fails(run: Run, services: FakeServices) -> None:
    services.worker.failing = True
    result = run("add", "I like pears")
    assert result.exit_code == 1
    assert "the message is kept, but its job failed in write: model_unavailable" in result.stdout


@pytest.mark.parametrize("option", [("--at", "soon"), ("--timezone", "Mars/Olympus"), ("--user", "a b")])
def test_add_refuses_what_it_can_not_read(run: Run, services: FakeServices, option: tuple[str, str]) -> None:
    result = run("add", "I like pears", *option, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["type"] == "invalid_input"
    assert not services.evidence.jobs


# ------------------------------------------------------------------------------------------------------- ingest


def test_ingest_stores_a_file_and_sums_up(run: Run, services: FakeServices, talk: Path) -> None:
    result = run("ingest", str(talk), "--user", "ana")
    assert result.exit_code == 0
    for part in ("5 turns stored", "5 episodic", "0 anchors, 0 frames, 0 arms", "failed steps", "turns/s"):
        assert part in result.stdout
    assert "talk.jsonl: messages, 5 turns in 1 inputs" in result.stderr


def test_ingest_again_writes_nothing_and_says_so(run: Run, services: FakeServices, talk: Path) -> None:
    run("ingest", str(talk))
    result = run("ingest", str(talk))
    assert result.exit_code == 0
    assert "5 turns already stored, nothing written" in result.stdout


def test_ingest_of_a_longer_file_stores_what_is_new(run: Run, services: FakeServices, talk: Path) -> None:
    run("ingest", str(talk))
    talk.write_text(MESSAGES + json.dumps({"text": "turn 5", "session_id": "s"}))
    summary = json.loads(run("ingest", str(talk), "--json").stdout)
    assert (summary["turns_offered"], summary["turns_new"], summary["turns_already_stored"]) == (6, 1, 5)


def test_ingest_prints_one_json_document(run: Run, services: FakeServices, talk: Path) -> None:
    summary = json.loads(run("ingest", str(talk), "--json").stdout)
    assert (summary["turns_new"], summary["records"], summary["failed_steps"]) == (5, {"episodic": 5}, [])
    assert summary["graph"] == {"default": {"anchors": 0, "frames": 0, "arms": 0}}
    assert [job["state"] for job in summary["jobs"]] == ["completed"]


def test_ingest_with_a_bad_last_line_stores_nothing_of_any_file(run: Run, services: FakeServices, talk: Path) -> None:
    bad = talk.with_name("bad.jsonl")
    bad.write_text(MESSAGES + '{"text": ""}\n')
    result = run("ingest", str(talk), str(bad))
    assert result.exit_code == 2
    assert "error: bad.jsonl, line 6: text: no text" in result.stderr
    assert not services.evidence.jobs


def test_ingest_of_a_message_that_was_changed_names_its_session(run: Run, services: FakeServices, talk: Path) -> None:
    talk.write_text(json.dumps({"text": "I like pears", "id": "m1", "session_id": "s"}))
    run("ingest", str(talk))
    talk.write_text(json.dumps({"text": "I like figs", "id": "m1", "session_id": "s"}))
    result = run("ingest", str(talk))
    assert result.exit_code == 2
    assert "session s: the session holds another message with this id" in result.stderr
    assert "give what was changed an id of its own" in result.stderr


def test_ingest_of_what_is_not_there_is_an_error(run: Run, services: FakeServices, tmp_path: Path) -> None:
    result = run("ingest", str(tmp_path / "none.txt"), "--json")
    assert result.exit_code == 2
    assert "No such file" in json.loads(result.stdout)["error"]["message"]


def test_ingest_fails_if_a_job_does(run: Run, services: FakeServices, talk: Path) -> None:
    services.worker.failing = True
    result = run("ingest", str(talk))
    assert result.exit_code == 1
    assert "failed in write: model_unavailable; reverie jobs retry" in result.stdout


def test_ingest_says_which_records_were_not_indexed(run: Run, services: FakeServices, talk: Path) -> None:
    services.worker.unindexed = 2
    result = run("ingest", str(talk))
    assert result.exit_code == 0
    assert "2 records not indexed; reverie jobs retry" in result.stdout


def test_ingest_seals_secrets(run: Run, services: FakeServices, talk: Path) -> None:
    talk.write_text(json.dumps({"text": "The wifi password is Heron-Lantern-5521."}))
    run("ingest", str(talk))
    assert [secret for _, secret, _ in services.entries.values()] == ["Heron-Lantern-5521"]
    assert "Heron" not in str(services.evidence)


def test_ingest_takes_the_format_it_is_told(run: Run, services: FakeServices, talk: Path) -> None:
    result = run("ingest", str(talk), "--format", "text")
    assert "talk.jsonl: text, 1 turns in 1 inputs" in result.stderr


def test_ingest_without_waiting_leaves_the_jobs_to_themselves(run: Run, services: FakeServices, talk: Path) -> None:
    services.worker.asleep = True
    result = run("ingest", str(talk), "--no-wait")
    assert "5 turns accepted" in result.stdout
    assert "reverie jobs --user default" in result.stderr


# ------------------------------------------------------------------------------------------------------- search


def test_search_asks_in_the_user_s_zone(run: Run, services: FakeServices) -> None:
    result = run("search", "Who won?", "--user", "ana", "--as-of", "2025-03-08T12:00", "--timezone", "Europe/Paris")
    assert result.exit_code == 0
    assert "nothing found" in result.stdout
    (query,) = services.retriever.asked
    assert (query.user_id, query.as_of.isoformat()) == ("ana", "2025-03-08T12:00:00+01:00")


def test_search_takes_kinds_limit_and_explain(run: Run, services: FakeServices) -> None:
    run("search", "Who won?", "--kind", "semantic", "--kind", "resource", "--limit", "3", "--explain")
    (query,) = services.retriever.asked
    assert query.kinds == (MemoryKind.SEMANTIC, MemoryKind.RESOURCE)
    assert (query.limit_per_kind, query.explain) == (3, True)


def test_search_prints_one_json_document(run: Run, services: FakeServices) -> None:
    assert json.loads(run("search", "Who won?", "--json").stdout)["rows"] == []


@pytest.mark.parametrize(
    "arguments", [("",), (" ",), ("Who?", "--timezone", "Mars/Olympus"), ("Who?", "--as-of", "soon")]
)
def test_search_refuses_what_it_can_not_read(run: Run, services: FakeServices, arguments: tuple[str, ...]) -> None:
    result = run("search", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert not services.retriever.asked


# --------------------------------------------------------------------------------------------------------- jobs


def test_jobs_are_listed_newest_first_by_pages(run: Run, services: FakeServices) -> None:
    for number in range(5):
        run("add", f"message {number}", "--id", f"k{number}")
    page = json.loads(run("jobs", "list", "--limit", "2", "--json").stdout)
    assert [job["sequence"] for job in page["jobs"]] == [5, 4]
    rest = json.loads(run("jobs", "--limit", "3", "--before", str(page["before"]), "--json").stdout)
    assert [job["sequence"] for job in rest["jobs"]] == [3, 2, 1]
    assert rest["before"] is None
    assert "older ones: reverie jobs --user default --before 4" in run("jobs", "--limit", "2").stderr


def test_no_jobs_is_said(run: Run, services: FakeServices) -> None:
    result = run("jobs", "--user", "bo")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no jobs of bo" in result.stderr


def test_a_job_is_shown_retried_and_cancelled(run: Run, services: FakeServices) -> None:
    services.worker.failing = True
    run("add", "I like pears")
    (job,) = services.evidence.jobs
    assert "model_unavailable" in run("jobs", "show", str(job)).stdout
    services.worker.asleep = True
    retried = json.loads(run("jobs", "retry", str(job), "--json").stdout)
    assert (retried["state"], retried["attempt"]) == ("accepted", 2)
    assert json.loads(run("jobs", "cancel", str(job), "--json").stdout)["state"] == "cancelled"


def test_another_user_s_job_is_not_found(run: Run, services: FakeServices) -> None:
    run("add", "I like pears", "--user", "ana")
    (job,) = services.evidence.jobs
    result = run("jobs", "show", str(job), "--user", "bo", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["type"] == "not_found"


def test_what_is_no_job_id_is_refused(run: Run, services: FakeServices) -> None:
    assert run("jobs", "show", "seven").exit_code == 2


# ------------------------------------------------------------------------------------------------ all of them


@pytest.mark.parametrize(
    "command", [("add", "x"), ("search", "x"), ("jobs",), ("jobs", "show", "0" * 32), ("ingest", "README.md")]
)
def test_without_a_stack_every_command_says_how_to_start_one(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    for name in ("REVERIE_DATABASE_URL", "REVERIE_TEMPORAL_ADDRESS", "TEMPORAL_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    result = run(*command, "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["type"] == "no_stack"
    assert "reverie up" in error["message"]


def test_a_bad_setting_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVERIE_CHUNK_TURNS", "many-5521")
    result = run("jobs")
    assert result.exit_code == 1
    assert "error: REVERIE_CHUNK_TURNS: " in result.stderr
    assert "5521" not in result.stderr


@pytest.mark.parametrize(
    "command",
    ["add", "ingest", "search", "demo", "up", "doctor", "reembed", "version", "jobs", "jobs list", "jobs retry"],
)
def test_help_has_an_example(run: Run, command: str) -> None:
    result = run(*command.split(), "--help")
    assert result.exit_code == 0
    assert "Example: reverie" in result.stdout


def test_version(run: Run) -> None:
    assert json.loads(run("version", "--json").stdout)["version"]
    assert run("version").stdout.startswith("reverie ")
