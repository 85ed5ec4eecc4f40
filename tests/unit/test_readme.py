"""What the README says of settings and size is so."""

from tests.readme import README, with_table

LONGEST = 250


def test_the_settings_table_is_up_to_date() -> None:
    text = README.read_text(encoding="utf-8")
    assert text == with_table(text), "run `python -m tests.readme`"


def test_it_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) < LONGEST
