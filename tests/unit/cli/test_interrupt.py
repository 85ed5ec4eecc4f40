"""Ctrl-C, and what a run that was cut short leaves behind."""

import json
from pathlib import Path

import pytest

from domain.jobs import Job
from tests.fakes.services import FakeServices
from tests.unit.cli.conftest import Run


def test_ctrl_c_says_that_the_accepted_jobs_go_on_and_a_second_run_sends_the_rest(
    run: Run, services: FakeServices, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text("".join(json.dumps({"text": f"turn {n}", "session_id": f"s{n}"}) + "\n" for n in range(4)))
    start = services.worker.start_ingest

    async def interrupted(job: Job) -> None:
        if job.session_id == "s2":
            raise KeyboardInterrupt
        await start(job)

    monkeypatch.setattr(services.worker, "start_ingest", interrupted)
    result = run("ingest", str(talk), "--user", "ana")
    assert result.exit_code == 130
    assert "2 of 4 inputs are stored and their jobs go on" in result.stderr
    assert "`reverie jobs --user ana`" in result.stderr
    assert "run the same command again to send the rest" in result.stderr

    monkeypatch.setattr(services.worker, "start_ingest", start)
    summary = json.loads(run("ingest", str(talk), "--user", "ana", "--json").stdout)
    assert {job["state"] for job in summary["jobs"]} == {"completed"}
    assert len(services.evidence.jobs) == 4
    assert summary["turns_already_stored"] == 3


def test_more_inputs_than_may_be_in_flight_are_all_sent(
    run: Run, services: FakeServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.run.cli.sending.IN_FLIGHT", 3)
    talk = tmp_path / "talk.jsonl"
    talk.write_text("".join(json.dumps({"text": f"turn {n}", "session_id": f"s{n}"}) + "\n" for n in range(10)))
    summary = json.loads(run("ingest", str(talk), "--json").stdout)
    assert [job["session_id"] for job in summary["jobs"]] == [f"s{n}" for n in range(10)]
    assert summary["turns_new"] == 10
    assert summary["finished"]
