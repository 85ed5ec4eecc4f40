"""Errors and text as the command line prints them."""

import json
from collections.abc import Callable

import pytest
import typer

from domain.errors import (
    ConfigurationError,
    GraphUnavailable,
    InvalidInput,
    ModelRateLimited,
    NotFound,
    RequestConflict,
    ReverieError,
    StoreUnavailable,
)
from infra.run.cli.output import FAILED, INVALID, advice, edge, emit, plain


def ends(action: Callable[[], object], *, as_json: bool = False) -> int:
    with pytest.raises(typer.Exit) as caught, edge(as_json=as_json):
        action()
    return caught.value.exit_code


def raising(error: Exception) -> Callable[[], object]:
    def action() -> None:
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code", "next_step"),
    [
        (StoreUnavailable("no answer"), FAILED, "reverie up"),
        (GraphUnavailable("broken"), FAILED, "reverie doctor"),
        (ModelRateLimited("too many"), FAILED, "REVERIE_MODEL_BASE_URL"),
        (ConfigurationError("bad"), FAILED, "reverie doctor"),
        (NotFound("no job"), FAILED, "reverie jobs"),
        (RequestConflict("other body"), INVALID, "an id of its own"),
        (InvalidInput("is empty", field="TEXT"), INVALID, "mend it"),
        (ReverieError("what"), FAILED, "reverie doctor"),
    ],
)
def test_every_error_says_what_and_what_to_do_next(
    error: ReverieError, code: int, next_step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ends(raising(error)) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {error.message}\n")
    assert next_step in printed.err
    assert "Traceback" not in printed.err


def test_json_errors_are_one_document_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends(raising(StoreUnavailable("no answer")), as_json=True) == FAILED
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["type"], error["retryable"]) == ("store_unavailable", True)
    assert error["message"].startswith("no answer; start the stack")


def test_an_unexpected_error_shows_its_type_and_place_but_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends(raising(KeyError("canary-5521"))) == FAILED
    printed = capsys.readouterr().err
    assert "unexpected KeyError at test_output.py:" in printed
    assert "canary" not in printed


def test_a_broken_file_system_is_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends(raising(PermissionError(13, "Permission denied", "/data"))) == FAILED
    assert "error: Permission denied: /data" in capsys.readouterr().err


def test_an_exit_passes() -> None:
    assert ends(raising(typer.Exit(7))) == 7


def test_an_error_may_bring_its_own_advice() -> None:
    class Special(ReverieError):
        advice = "turn it off and on"

    assert advice(Special("what")) == "turn it off and on"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred\x07", "\ufffd[31mred\ufffd"),
        ("a\ud800b\x85c", "a\ufffdb\ufffdc"),
        ("👩\u200d🚀 김하나 שלום\u3000", "👩\u200d🚀 김하나 שלום\u3000"),
    ],
)
def test_text_can_not_steer_the_terminal(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_json_keeps_any_script(capsys: pytest.CaptureFixture[str]) -> None:
    emit({"name": "김하나"})
    assert "김하나" in capsys.readouterr().out
