"""What may be asked of AutoDream, checked before anything is stored."""

import re
import unicodedata
from datetime import UTC, datetime

from domain.dream.rounds import ROUNDS, Mode, NewConsolidation
from domain.errors import InvalidInput
from domain.intake import USER_ID
from domain.keys import anchor_key

MAX_CHUNKS = 1_000
"""Chunks of one request."""
MAX_ACTOR_CHARACTERS = 200
MAX_NAME_CHARACTERS = 1_000
MIN_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS = 1, 7 * 24 * 3600
_REQUEST_ID = re.compile(r"[!-~]{1,200}")


def checked(new: NewConsolidation, *, now: datetime) -> NewConsolidation:
    """The request as it may be stored, its chunks sorted and each once. Raises InvalidInput naming the field."""
    if not USER_ID.fullmatch(new.user_id):
        raise InvalidInput("is not a user id", field="user_id")
    if not _REQUEST_ID.fullmatch(new.request_id):
        raise InvalidInput("must be 1 to 200 printable ASCII characters without spaces", field="request_id")
    if not MIN_TIMEOUT_SECONDS <= new.timeout_seconds <= MAX_TIMEOUT_SECONDS:
        raise InvalidInput(f"must be {MIN_TIMEOUT_SECONDS} to {MAX_TIMEOUT_SECONDS} seconds", field="timeout_seconds")
    if new.since is not None and new.since > now:
        raise InvalidInput("lies in the future", field="since")
    since = None if new.since is None else _in_utc(new.since)
    check_actor(new.actor)
    if new.mode in ROUNDS:
        _check_round(new)
    else:
        _check_by_hand(new)
    return new.model_copy(update={"chunk_ids": tuple(sorted(set(new.chunk_ids))), "since": since})


def check_actor(actor: str) -> None:
    """Raises InvalidInput."""
    _check_text(actor, "actor", MAX_ACTOR_CHARACTERS)


def _in_utc(since: datetime) -> datetime:
    """In UTC, as it is stored. The first hours of the calendar may have no such time."""
    try:
        return since.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput("lies outside the calendar", field="since") from error


def _check_round(new: NewConsolidation) -> None:
    if len(new.chunk_ids) > MAX_CHUNKS:
        raise InvalidInput(f"at most {MAX_CHUNKS} chunks a round", field="chunk_ids")
    if new.chunk_ids and new.since is not None:
        raise InvalidInput("chunks and `since` are two ways to say the same: give one", field="since")
    if new.target or new.absorbed or new.name or new.force:
        raise InvalidInput("a round takes no anchor, name or force", field="mode")


def _check_by_hand(new: NewConsolidation) -> None:
    if new.target is None:
        raise InvalidInput("is missing", field="target")
    if new.dry_run or new.review or new.chunk_ids or new.since:
        raise InvalidInput("what is done by hand takes no dry run, review or frontier", field="mode")
    if new.force and new.mode is not Mode.MERGE:
        raise InvalidInput("only a merge can be forced", field="force")
    if new.mode is Mode.MERGE and new.absorbed in {None, new.target}:
        raise InvalidInput("must be another anchor than the one that stays", field="absorbed")
    if new.mode is Mode.SPLIT:
        _check_text(new.name, "name", MAX_NAME_CHARACTERS)
        if new.absorbed or not anchor_key(new.name):
            raise InvalidInput("must be a name of the anchor", field="name")
    elif new.name:
        raise InvalidInput("only a split takes a name", field="name")


def _check_text(text: str, field: str, longest: int) -> None:
    """No character that can't be stored or shown: NUL, lone surrogates, other controls."""
    if len(text) > longest:
        raise InvalidInput(f"is longer than {longest} characters", field=field)
    if any(unicodedata.category(ch) in ("Cc", "Cs") for ch in text):
        raise InvalidInput("holds a control character or half a character", field=field)
