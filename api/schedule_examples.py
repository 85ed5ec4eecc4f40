"""The story of `api.examples` goes on: every night what was written about Ana is consolidated."""

from api.examples import Example

_ASKED: Example = {
    "name": "nightly",
    "cron": "0 3 * * *",
    "timezone": "Europe/Lisbon",
    "mode": "final",
    "review": False,
    "timeout_seconds": 3600,
    "run_timeout_seconds": 86400,
    "catch_up_seconds": 86400,
}
BY_CRON: Example = {"name": "nightly", "cron": "0 3 * * *", "timezone": "Europe/Lisbon"}
BY_INTERVAL: Example = {"name": "often", "every_seconds": 21600, "mode": "intermediate", "review": True}

SCHEDULE: Example = {
    **_ASKED,
    "user_id": "ana",
    "every_seconds": None,
    "paused": False,
    "created_at": "2024-05-02T09:30:00Z",
    "next_at": ["2024-05-03T02:00:00Z", "2024-05-04T02:00:00Z"],
    "recent": [],
    "running": 0,
    "runs": 0,
    "missed": 0,
    "skipped": 0,
    "timed_out": 0,
    "failed": 0,
}
PAUSED: Example = {**SCHEDULE, "paused": True}
_RUN: Example = {
    "scheduled_at": "2024-05-02T10:00:00Z",
    "started_at": "2024-05-02T10:00:00Z",
    "workflow_id": "reverie/scheduled/ana/nightly-2024-05-02T10:00:00Z",
    "run_id": "019a8f0e-7c1d-7b6a-9d5e-2f4c6b8a1e30",
}
TRIGGERED: Example = {**SCHEDULE, "recent": [_RUN], "running": 1, "runs": 1}
SCHEDULES: Example = {"items": [TRIGGERED], "next": None}
CONFLICT: Example = {
    "error": {
        "type": "request_conflict",
        "message": "there is another schedule nightly; delete it first",
        "retryable": False,
    }
}
