"""Logging: what libraries say of our data stays out, also where nothing else is logged."""

import logging

import pytest

from infra.telemetry import QUIET, quiet_libraries


@pytest.mark.parametrize("name", [*QUIET, "psycopg.pool"])
def test_only_errors_of_libraries_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(name), "disabled", False)  # a model endpoint's adapter switches some off
    quiet_libraries()
    assert not logging.getLogger(name).isEnabledFor(logging.WARNING)
    assert logging.getLogger(name).isEnabledFor(logging.ERROR)
