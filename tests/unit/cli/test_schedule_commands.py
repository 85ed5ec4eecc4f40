"""`reverie schedule` over schedules in memory."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from api.services import Services
from domain.dream.rounds import Mode
from domain.dream.schedules import NewSchedule, Schedule
from domain.errors import InvalidInput
from infra.run.cli import stack
from infra.run.cli.durations import seconds_of, shown
from infra.settings import Settings
from tests.fakes.schedules import MemorySchedules, with_schedules
from tests.unit.cli.conftest import Run

NIGHTLY = ("schedule", "create", "nightly", "--cron", "0 3 * * *", "--user", "ana")


@pytest.fixture
def schedules(monkeypatch: pytest.MonkeyPatch, environment: None) -> MemorySchedules:
    """What the commands work with."""
    kept = MemorySchedules()

    @asynccontextmanager
    async def connect(settings: Settings) -> AsyncIterator[Services]:
        yield with_schedules(kept, settings)

    monkeypatch.setattr(stack, "connect", connect)
    return kept


def found(schedules: MemorySchedules, user_id: str | None, name: str) -> Schedule:
    return asyncio.run(schedules.schedule(user_id, name))


def values(output: str) -> dict[str, str]:
    """What `show` prints, by name."""
    lines = (line.partition("  ") for line in output.splitlines())
    return {name.strip(): value.strip() for name, _, value in lines if name.strip()}


def test_create_asks_for_what_the_options_say(run: Run, schedules: MemorySchedules) -> None:
    result = run(
        *("schedule", "create", "often", "--every", "1d12h", "--all-users", "--intermediate", "--review"),
        *("--timeout", "90s", "--run-timeout", "2h", "--catch-up", "30m", "--json"),
    )
    assert result.exit_code == 0, result.stderr
    kept = found(schedules, None, "often")
    assert NewSchedule(**kept.model_dump(include=set(NewSchedule.model_fields))) == NewSchedule(
        name="often", user_id=None, every_seconds=36 * 3600, mode=Mode.INTERMEDIATE, review=True,
        timeout_seconds=90, run_timeout_seconds=7200, catch_up_seconds=1800,
    )  # fmt: skip
    assert json.loads(result.stdout) == kept.model_dump(mode="json")


def test_create_with_nothing_else_is_a_final_round_of_the_user(run: Run, schedules: MemorySchedules) -> None:
    assert run(*NIGHTLY).exit_code == 0
    assert (
        found(schedules, "ana", "nightly").model_dump(include=set(NewSchedule.model_fields))
        == NewSchedule(name="nightly", user_id="ana", cron="0 3 * * *").model_dump()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "error: --cron: give a cron expression or an interval"),
        (("--cron", "@daily", "--every", "1h"), "error: --cron: give a cron expression or an interval"),
        (("--cron", "soon"), "error: --cron: must be five fields"),
        (("--every", "soon"), "error: --every: is not a length of time"),
        (("--every", "1s"), "error: --every: must be"),
        (("--cron", "@daily", "--timezone", "Mars/Olympus"), "error: --timezone: not an IANA time zone"),
        (("--cron", "@daily", "--timeout", "8d"), "error: --timeout: must be"),
        (("--cron", "@daily", "--run-timeout", "0s"), "error: --run-timeout: must be"),
        (("--cron", "@daily", "--catch-up", "1"), "error: --catch-up: is not a length of time"),
        (("--cron", "@daily", "--user", "a b"), "error: --user: is not a user id"),
    ],
)
def test_create_refuses_what_is_not_valid_before_anything(run: Run, options: tuple[str, ...], message: str) -> None:
    """No services here: a connection would fail."""
    result = run("schedule", "create", "nightly", *options)
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert json.loads(run("schedule", "create", "nightly", *options, "--json").stdout)["error"]["type"] == (
        "invalid_input"
    )


@pytest.mark.parametrize("command", [("list",), ("show", "nightly"), ("trigger", "nightly"), ("delete", "nightly")])
@pytest.mark.parametrize("user", ["*", "a' OR 'b", "\udc80", ""])
def test_only_a_user_has_schedules(run: Run, command: tuple[str, ...], user: str) -> None:
    result = run("schedule", *command, "--user", user)
    assert (result.exit_code, result.stderr.splitlines()[0]) == (2, "error: --user: is not a user id")


def test_create_again_is_the_same_and_another_is_told_of(run: Run, schedules: MemorySchedules) -> None:
    assert run(*NIGHTLY).stdout == run(*NIGHTLY).stdout
    other = run(*NIGHTLY, "--review")
    assert other.exit_code == 2
    assert "reverie schedule delete" in other.stderr


def test_times_are_shown_in_the_schedules_zone(run: Run, schedules: MemorySchedules) -> None:
    """It is noon UTC in these tests."""
    run(*NIGHTLY, "--timezone", "Asia/Kolkata")
    told = values(run("schedule", "show", "nightly", "--user", "ana").stdout)
    assert (told["created"], told["next runs"]) == ("2025-07-01 17:30", "2025-07-02 17:30")
    assert told["when"] == "0 3 * * * Asia/Kolkata"
    assert "2025-07-02 17:30" in run("schedule", "list", "--user", "ana").stdout


def test_what_went_wrong_is_shown(run: Run, schedules: MemorySchedules) -> None:
    troubles = {"missed": 11, "skipped": 12, "timed_out": 13, "failed": 14}
    run(*NIGHTLY)
    asyncio.run(schedules._set("ana", "nightly", **troubles, next_at=(), running=1))
    told = values(run("schedule", "show", "nightly", "--user", "ana").stdout)
    assert [told[name.replace("_", " ")] for name in troubles] == ["11", "12", "13", "14"]
    assert (told["next runs"], told["last runs"], told["state"]) == ("never", "none", "active, 1 running")
    _, line = run("schedule", "list", "--user", "ana").stdout.splitlines()
    assert line.split()[-9:] == ["never", "0", "11", "12", "13", "14", "active,", "1", "running"]


def test_pause_resume_trigger_and_delete(run: Run, schedules: MemorySchedules) -> None:
    run(*NIGHTLY)
    of_ana = ("nightly", "--user", "ana")
    assert values(run("schedule", "pause", *of_ana).stdout)["state"] == "paused"
    assert values(run("schedule", "resume", *of_ana).stdout)["state"] == "active"
    told = values(run("schedule", "trigger", *of_ana).stdout)
    assert (told["runs"], told["last runs"]) == ("1", "2025-07-01 12:00  run-0")
    assert json.loads(run("schedule", "delete", *of_ana, "--json").stdout) == {"deleted": "nightly"}
    assert run("schedule", "list", "--user", "ana").stderr == "no schedules of ana\n"


@pytest.mark.parametrize("command", ["show", "pause", "resume", "trigger", "delete"])
def test_a_schedule_of_someone_else_is_not_there(command: str, run: Run, schedules: MemorySchedules) -> None:
    run(*NIGHTLY)
    for other in (("--user", "bob"), ("--all-users",)):
        result = run("schedule", command, "nightly", *other)
        assert result.exit_code == 1
        assert "no schedule nightly" in result.stderr
        assert "reverie schedule list" in result.stderr
    assert found(schedules, "ana", "nightly").runs == 0


def test_lists_are_paged(run: Run, schedules: MemorySchedules) -> None:
    for name in ("c", "a", "b"):
        run("schedule", "create", name, "--cron", "@daily", "--all-users")
    first: dict[str, Any] = json.loads(run("schedule", "list", "--all-users", "--limit", "2", "--json").stdout)
    assert [one["name"] for one in first["schedules"]] == ["a", "b"]
    rest = json.loads(run("schedule", "list", "--all-users", "--after", first["after"], "--json").stdout)
    assert ([one["name"] for one in rest["schedules"]], rest["after"]) == (["c"], None)
    assert "--after b" in run("schedule", "list", "--all-users", "--limit", "2").stderr
    assert run("schedule", "list").exit_code == 0


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("6h", 21600), ("1d", 86400), ("1d12h", 129600), ("0s", 0)]
)
def test_lengths_of_time(text: str, seconds: int) -> None:
    assert seconds_of(text, option="--every") == seconds
    assert seconds_of(shown(seconds), option="--every") == seconds


@pytest.mark.parametrize("text", ["", "6", "h", "6 h", "-1h", "1.5h", "1m1h", "6H", "٣h", "9" * 5000 + "s", "PT6H"])
def test_what_is_no_length_of_time(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        seconds_of(text, option="--every")
    assert caught.value.field == "--every"
