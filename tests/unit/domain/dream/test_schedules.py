"""What may be asked of a schedule."""

import pytest

from domain.dream.asking import MAX_TIMEOUT_SECONDS
from domain.dream.rounds import Mode
from domain.dream.schedules import (
    MAX_CRON_CHARACTERS,
    MAX_INTERVAL_SECONDS,
    MIN_CATCH_UP_SECONDS,
    MIN_INTERVAL_SECONDS,
    NewSchedule,
    checked_schedule,
)
from domain.errors import InvalidInput

NIGHTLY = NewSchedule(name="nightly", user_id="ana", cron="0 3 * * *")
HOURLY = NewSchedule(name="hourly", every_seconds=3600)


def changed(base: NewSchedule, **changes: object) -> NewSchedule:
    return base.model_copy(update=changes)


@pytest.mark.parametrize(
    "new",
    [
        NIGHTLY,
        HOURLY,
        changed(NIGHTLY, name="A.b_c-9" + "x" * 57, user_id="ana+b@x.org", timezone="Asia/Kolkata"),
        changed(NIGHTLY, cron="*/15  8-18 1,15 JAN-MAR MON"),
        changed(NIGHTLY, cron="@daily", mode=Mode.INTERMEDIATE),
        changed(HOURLY, every_seconds=MIN_INTERVAL_SECONDS),
        changed(HOURLY, every_seconds=MAX_INTERVAL_SECONDS, catch_up_seconds=MIN_CATCH_UP_SECONDS),
    ],
)
def test_a_valid_schedule_stays_as_it_is(new: NewSchedule) -> None:
    assert checked_schedule(new) == new


@pytest.mark.parametrize("name", ["", "a" * 65, "a/b", ".a", "-a", "a b", "é", "a\n", "*"])
def test_names_fit_into_paths_and_ids(name: str) -> None:
    _refused(changed(NIGHTLY, name=name), "name")


@pytest.mark.parametrize("user_id", ["", "*", "a b", "a'b", "a\n"])
def test_the_user_has_an_id(user_id: str) -> None:
    _refused(changed(NIGHTLY, user_id=user_id), "user_id")


@pytest.mark.parametrize(
    "cron",
    [
        *("soon", "@every 1s", "@reboot", "* * * *", "0 * * * * *", "* * * * * * *", "0 3 * * *\n", " 0 3 * * *"),
        *("TZ=UTC 3 * * *", "CRON_TZ=UTC 0 3 * * *", "0 3 * * é", "0 3 * * * # nightly", "0\t3 * * *"),
        "0" * MAX_CRON_CHARACTERS + " 3 * * *",
    ],
)
def test_a_cron_expression_is_five_fields_or_a_word(cron: str) -> None:
    """No seconds and no zone of its own."""
    _refused(changed(NIGHTLY, cron=cron), "cron")


@pytest.mark.parametrize("new", [changed(NIGHTLY, every_seconds=3600), changed(NIGHTLY, cron="")])
def test_it_is_cron_or_interval(new: NewSchedule) -> None:
    _refused(new, "cron")


@pytest.mark.parametrize("every", [-1, 1, MIN_INTERVAL_SECONDS - 1, MAX_INTERVAL_SECONDS + 1])
def test_intervals_have_bounds(every: int) -> None:
    _refused(changed(HOURLY, every_seconds=every), "every_seconds")


@pytest.mark.parametrize("timezone", ["", "Mars/Olympus", "../etc/passwd", "/etc/passwd", "Local", "a\x00b"])
def test_the_zone_is_an_iana_zone(timezone: str) -> None:
    _refused(changed(NIGHTLY, timezone=timezone), "timezone")


@pytest.mark.parametrize("mode", [Mode.MERGE, Mode.SPLIT, Mode.UNDO])
def test_only_rounds_are_scheduled(mode: Mode) -> None:
    _refused(changed(NIGHTLY, mode=mode), "mode")


@pytest.mark.parametrize(
    ("field", "least"), [("timeout_seconds", 1), ("run_timeout_seconds", 1), ("catch_up_seconds", MIN_CATCH_UP_SECONDS)]
)
def test_times_have_bounds(field: str, least: int) -> None:
    for seconds in (least, MAX_TIMEOUT_SECONDS):
        assert getattr(checked_schedule(changed(NIGHTLY, **{field: seconds})), field) == seconds
    for seconds in (least - 1, MAX_TIMEOUT_SECONDS + 1):
        _refused(changed(NIGHTLY, **{field: seconds}), field)


def _refused(new: NewSchedule, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        checked_schedule(new)
    assert caught.value.field == field
