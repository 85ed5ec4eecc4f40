"""Laws of the one way in (cases 17-20)."""

from datetime import timedelta

from hypothesis import given

from domain.errors import InvalidInput
from domain.intake import InputIn, Limits, build_input, sealed
from domain.memory import NewInput
from tests.strategies import NOW, raw_inputs

LIMITS = Limits(max_message_characters=40, max_input_messages=3)


def attempt(raw: InputIn) -> tuple[NewInput, str] | InvalidInput:
    """The input, or the one error it may raise."""
    try:
        return build_input(raw, limits=LIMITS, default_timezone="UTC", now=NOW)
    except InvalidInput as error:
        return error


@given(raw_inputs)
def test_an_input_is_stored_or_refused_with_its_field(raw: InputIn) -> None:
    outcome = attempt(raw)
    if isinstance(outcome, InvalidInput):
        assert outcome.field
        return
    new, digest = outcome
    assert len(digest) == 64
    assert (new, digest) == build_input(raw, limits=LIMITS, default_timezone="UTC", now=NOW)
    new.model_dump_json().encode("utf-8")
    assert 1 <= len(new.messages) <= LIMITS.max_input_messages
    assert len({message.id for message in new.messages}) == len(new.messages)
    for message in new.messages:
        assert message.text.strip() or message.captions
        assert message.sent_at.utcoffset() == timedelta(0)
        assert message.sent_at <= NOW + timedelta(hours=24)


@given(raw_inputs)
def test_sealing_keeps_everything_but_secrets(raw: InputIn) -> None:
    outcome = attempt(raw)
    if isinstance(outcome, InvalidInput):
        return
    new, _ = outcome
    clean, secrets = sealed(new)
    assert [message.id for message in clean.messages] == [message.id for message in new.messages]
    assert secrets or clean == new
