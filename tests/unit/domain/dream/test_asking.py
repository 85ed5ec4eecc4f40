"""What may be asked of AutoDream."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from domain.dream.asking import MAX_CHUNKS, checked
from domain.dream.rounds import Mode, NewConsolidation
from domain.errors import InvalidInput

NOW = datetime(2025, 5, 1, 12, tzinfo=UTC)
ONE, TWO = UUID(int=1), UUID(int=2)


def asked(**values: object) -> NewConsolidation:
    """A round of Ana's unless told otherwise."""
    return NewConsolidation.model_validate({"user_id": "ana", "request_id": "r1", "mode": Mode.INTERMEDIATE, **values})


@pytest.mark.parametrize(
    "new",
    [
        asked(),
        asked(mode=Mode.FINAL, review=True, actor="Ana Díaz"),
        asked(since=NOW - timedelta(days=1), dry_run=True),
        asked(mode=Mode.MERGE, target=ONE, absorbed=TWO, force=True),
        asked(mode=Mode.SPLIT, target=ONE, name="Annie"),
        asked(mode=Mode.UNDO, target=ONE, absorbed=TWO),
    ],
)
def test_what_makes_sense_is_taken_as_it_is(new: NewConsolidation) -> None:
    assert checked(new, now=NOW) == new


def test_chunks_are_a_set() -> None:
    assert checked(asked(chunk_ids=(TWO, ONE, TWO)), now=NOW).chunk_ids == (ONE, TWO)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"user_id": "a b"}, "user_id"),
        ({"user_id": ""}, "user_id"),
        ({"request_id": "a b"}, "request_id"),
        ({"request_id": ""}, "request_id"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"timeout_seconds": 10**9}, "timeout_seconds"),
        ({"since": NOW + timedelta(seconds=1)}, "since"),
        ({"since": NOW, "chunk_ids": (ONE,)}, "since"),
        ({"chunk_ids": tuple(UUID(int=n) for n in range(MAX_CHUNKS + 1))}, "chunk_ids"),
        ({"actor": "a\x00b"}, "actor"),
        ({"actor": "\ud800"}, "actor"),
        ({"actor": "x" * 201}, "actor"),
        ({"target": ONE}, "mode"),
        ({"name": "Annie"}, "mode"),
        ({"mode": Mode.MERGE, "absorbed": TWO}, "target"),
        ({"mode": Mode.MERGE, "target": ONE}, "absorbed"),
        ({"mode": Mode.MERGE, "target": ONE, "absorbed": ONE}, "absorbed"),
        ({"mode": Mode.MERGE, "target": ONE, "absorbed": TWO, "dry_run": True}, "mode"),
        ({"mode": Mode.UNDO, "target": ONE, "force": True}, "force"),
        ({"mode": Mode.UNDO, "target": ONE, "name": "Annie"}, "name"),
        ({"mode": Mode.SPLIT, "target": ONE}, "name"),
        ({"mode": Mode.SPLIT, "target": ONE, "name": "  "}, "name"),
        ({"mode": Mode.SPLIT, "target": ONE, "name": "An\nnie"}, "name"),
    ],
)
def test_what_makes_no_sense_is_refused_by_field(values: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        checked(asked(**values), now=NOW)
    assert caught.value.field == field
