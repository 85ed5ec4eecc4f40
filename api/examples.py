"""One small story told by every example of the OpenAPI document: Ana says where she moved, and asks for it."""

from collections.abc import Mapping
from typing import Any

Example = Mapping[str, Any]

JOB_ID = "0b5b1c1e-7a53-5d53-9c3a-1d7f0c7f7a10"
MEMORY_ID = "5f0c7c86-2a10-5f7e-8a55-3c1f3c1b7d21"
CHUNK_ID = "1c9e2d4f-8b37-5e60-a2c1-6d5b4a3f2e54"
ANCHOR_ID = "9d3a7b1e-6a4f-5f0b-b0a5-7a3e2f1c4d32"
PLACE_ID = "c2e4b1d0-1f2e-5a3b-9c4d-5e6f7a8b9c43"
FRAME_ID = "3f" * 32

_MESSAGE = {"id": "t1", "speaker": "Ana", "text": "I moved to Porto last week.", "sent_at": "2024-05-02T09:30:00Z"}
_WEEK = {"start": "2024-04-22", "end": "2024-04-28", "granularity": "week", "clock": ""}
_SOURCE = {"turn_id": "t1", "start": 0, "end": 27}

MEMORY_IN: Example = {
    "user_id": "ana",
    "session_id": "2024-05-02",
    "timezone": "Europe/Lisbon",
    "messages": [_MESSAGE],
}
DOCUMENT_IN: Example = {
    "user_id": "ana",
    "form": "document",
    "title": "Lease",
    "messages": [{"text": "The lease of the flat in Porto runs until April 2026."}],
}

JOB: Example = {
    "id": JOB_ID,
    "user_id": "ana",
    "request_id": "k1",
    "sequence": 1,
    "state": "completed",
    "session_id": "2024-05-02",
    "form": "conversation",
    "messages": 1,
    "chunks": 1,
    "chunks_done": 1,
    "records": {"episodic": 1},
    "indexed": 1,
    "index_failed": 0,
    "model_calls": 3,
    "step": "",
    "reason": "",
    "attempt": 1,
    "sanitized": False,
    "accepted_at": "2024-05-02T09:30:01Z",
    "finished_at": "2024-05-02T09:30:03Z",
    "status_url": f"/v1/jobs/{JOB_ID}?user_id=ana",
}
WAITING_JOB: Example = {
    **JOB,
    "state": "accepted",
    "chunks": 0,
    "chunks_done": 0,
    "records": {},
    "indexed": 0,
    "model_calls": 0,
    "finished_at": None,
}
CANCELLED_JOB: Example = {**WAITING_JOB, "state": "cancelled", "step": "cancel", "reason": "cancelled"}
JOBS: Example = {"items": [JOB], "next": None}
ACCEPTED: Example = {"job": WAITING_JOB, "created": True, "status_url": JOB["status_url"]}
ENDED: Example = {"job": JOB, "created": True, "status_url": JOB["status_url"]}

_REMEMBERED = {
    "kind": "episodic",
    "title": "Moved to Porto",
    "text": "Ana moved to Porto.",
    "event_time": _WEEK,
    "mention_time": "2024-05-02T09:30:00Z",
    "status": "done",
    "session_id": "2024-05-02",
    "sources": [_SOURCE],
}
MEMORY: Example = {
    **_REMEMBERED,
    "id": MEMORY_ID,
    "input_id": JOB_ID,
    "chunk_id": CHUNK_ID,
    "attributes": {},
    "degraded": "",
    "version": 1,
    "index_status": "indexed",
    "index_step": "",
    "index_reason": "",
}
MEMORIES: Example = {"items": [MEMORY], "next": MEMORY_ID}
SOURCES: Example = {"record_id": MEMORY_ID, "items": [{**_MESSAGE, "captions": []}]}

_ARMS = [
    {"role": "agent", "anchor_id": ANCHOR_ID, "name": "Ana", "type": "person"},
    {"role": "destination", "anchor_id": PLACE_ID, "name": "Porto", "type": "location"},
]
_STATED = {
    "kind": "episodic",
    "predicate": "move_to",
    "arms": _ARMS,
    "literals": [],
    "event_time": _WEEK,
    "status": "done",
    "negated": False,
    "modality": "",
    "record_ids": [MEMORY_ID],
}
FRAME: Example = {**_STATED, "id": FRAME_ID, "mention_time": "2024-05-02T09:30:00Z"}
FACTS: Example = {"record_id": MEMORY_ID, "items": [FRAME]}

_ANCHOR = {"id": PLACE_ID, "name": "Porto", "type": "location", "aliases": ["Oporto"], "mentions": 1, "score": 1.0}
ANCHORS: Example = {"items": [_ANCHOR], "next": None}
ANCHOR: Example = {"anchor": _ANCHOR, "degree": 1, "frames": [FRAME], "next": None}

SEARCH_IN: Example = {"user_id": "ana", "query": "Where does Ana live?"}
COUNT_IN: Example = {
    "user_id": "ana",
    "query": "How many times did Ana run in May 2024?",
    "as_of": "2024-06-01T12:00:00Z",
    "timezone": "Europe/Lisbon",
    "explain": True,
}
SEARCH: Example = {
    "facts": [{**_STATED, "frame_ids": [FRAME_ID], "score": 1.62}],
    "rows": [{**_REMEMBERED, "record_id": MEMORY_ID, "score": 2.31, "why": ["anchor", "fact", "cited"]}],
    "degraded": False,
    "reason": "",
    "truncated": False,
    "plan": {
        "operator": "single",
        "families": [{"name": "reside", "surfaces": ["live", "live_in", "reside", "stay", "stay_at", "rent", "home"]}],
        "asked": ["liv"],
        "constraints": [],
        "answer_types": ["place"],
        "times": [],
        "order": "none",
        "budget": {"base": 6, "cited": 4},
        "words": ["live"],
        "directions": [{"name": "ana", "side": "subject"}],
        "future": False,
    },
    "explanation": None,
}

HEALTHY: Example = {"status": "ok"}
READY: Example = {"ready": True, "parts": {"evidence": "ok", "graph": "ok"}}
NOT_READY: Example = {"ready": False, "parts": {"evidence": "store_unavailable", "graph": "store_unavailable"}}
