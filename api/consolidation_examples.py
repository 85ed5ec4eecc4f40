"""The story of the OpenAPI document goes on: Oporto, said later, is Porto."""

from api.examples import MEMORY_ID, PLACE_ID, Example

CONSOLIDATION_ID = "4e0d0a52-0a4e-5c1a-8a5e-2f4c1f0e9b54"
UNDO_ID = "6a1f3c70-5b7d-5e2c-9d8f-3a5b2e1d0c65"
PAIR_ID = "7b2e4d81-6c8e-5f3d-8e9a-4b6c3f2e1d76"
MERGE_ID = "8c3f5e92-7d9f-5a4e-9fab-5c7d4a3f2e87"
OTHER_ID = "a15b7c03-8ea0-5b5f-8abc-6d8e5b4a3f98"
LATER_ID = "b26c8d14-9fb1-5c60-9bcd-7e9f6c5b40a9"

ROUND_IN: Example = {"user_id": "ana", "mode": "final", "actor": "ana"}
REVIEWED_IN: Example = {"user_id": "ana", "mode": "intermediate", "review": True, "since": "2024-05-01T00:00:00Z"}
UNDO_IN: Example = {"absorbed": OTHER_ID, "actor": "ana"}
APPROVE_IN: Example = {"approve": True, "keep": "Porto", "actor": "ana"}
REJECT_IN: Example = {"approve": False, "actor": "ana"}
MERGE_IN: Example = {"absorbed": OTHER_ID, "actor": "ana"}
SPLIT_IN: Example = {"name": "Oporto", "actor": "ana"}

_NOTHING = {
    "frontier": 0,
    "candidates": 0,
    "cached": 0,
    "verified": 0,
    "merged": 0,
    "rejected": 0,
    "unsure": 0,
    "guarded": 0,
    "stale": 0,
    "proposed": 0,
    "pending": 0,
    "unreached": 0,
    "undone": 0,
    "kept": 0,
    "model_calls": 0,
    "tokens_in": 0,
    "tokens_out": 0,
    "seconds": 0.0,
    "evidence_before": "",
    "evidence_after": "",
}
_DIGEST = "12:7d0f1c4b9a3e58620c4d7e1f2a3b4c5d"
_WAITING = {
    "id": CONSOLIDATION_ID,
    "user_id": "ana",
    "request_id": "k2",
    "sequence": 1,
    "mode": "final",
    "dry_run": False,
    "review": False,
    "chunk_ids": [],
    "since": None,
    "target": None,
    "absorbed": None,
    "name": "",
    "force": False,
    "actor": "ana",
    "timeout_seconds": 3600,
    "state": "accepted",
    "step": "",
    "reason": "",
    "detail": "",
    "receipt": _NOTHING,
    "accepted_at": "2024-05-03T08:00:00Z",
    "started_at": None,
    "finished_at": None,
    "status_url": f"/v1/consolidations/{CONSOLIDATION_ID}?user_id=ana",
}
WAITING: Example = _WAITING
CONSOLIDATION: Example = {
    **_WAITING,
    "state": "completed",
    "receipt": {
        **_NOTHING,
        "frontier": 4,
        "candidates": 3,
        "verified": 3,
        "merged": 1,
        "rejected": 2,
        "model_calls": 3,
        "tokens_in": 2140,
        "tokens_out": 188,
        "seconds": 4.2,
        "evidence_before": _DIGEST,
        "evidence_after": _DIGEST,
    },
    "started_at": "2024-05-03T08:00:01Z",
    "finished_at": "2024-05-03T08:00:05Z",
}
CANCELLED: Example = {**_WAITING, "state": "cancelled", "reason": "cancelled", "finished_at": "2024-05-03T08:00:02Z"}
CONSOLIDATIONS: Example = {"items": [CONSOLIDATION], "next": None}


def _asked(**values: object) -> Example:
    view = {**_WAITING, **values}
    return {"consolidation": view, "created": True, "status_url": view["status_url"]}


REQUESTED: Example = _asked()
SETTLED: Example = {"consolidation": CONSOLIDATION, "created": True, "status_url": CONSOLIDATION["status_url"]}
_UNDO_URL = f"/v1/consolidations/{UNDO_ID}?user_id=ana"
UNDO: Example = _asked(
    id=UNDO_ID, sequence=2, mode="undo", target=CONSOLIDATION_ID, absorbed=OTHER_ID, status_url=_UNDO_URL
)
MERGE: Example = _asked(mode="merge", target=PLACE_ID, absorbed=OTHER_ID)
SPLIT: Example = _asked(mode="split", target=PLACE_ID, name="Oporto")


def ended(requested: Example) -> Example:
    """The same, once it has ended."""
    view = {**requested["consolidation"], "state": "completed", "finished_at": "2024-05-03T08:00:05Z"}
    return {**requested, "consolidation": view}


_PAIR = {
    "id": PAIR_ID,
    "stage": "main",
    "type": "location",
    "a": {"anchor_id": PLACE_ID, "name": "Porto", "record_ids": [MEMORY_ID]},
    "b": {"anchor_id": OTHER_ID, "name": "Oporto", "record_ids": [LATER_ID]},
    "similarity": 0.87,
    "state": "pending",
    "verdict": "same",
    "canonical": PLACE_ID,
    "canonical_name": "Porto",
    "reason": "Oporto is another name of the city of Porto.",
    "decided_by": "rules",
}
PAIRS: Example = {"items": [_PAIR], "next": None}
DECIDED: Example = {**_PAIR, "state": "approved", "decided_by": "ana"}

_MERGE = {
    "id": MERGE_ID,
    "consolidation_id": CONSOLIDATION_ID,
    "absorbed": OTHER_ID,
    "absorbed_name": "Oporto",
    "representative": PLACE_ID,
    "representative_name": "Porto",
    "type": "location",
    "state": "applied",
    "merged_at": "2024-05-03T08:00:05Z",
    "undone_by": None,
}
MERGES: Example = {"items": [_MERGE], "next": None}
