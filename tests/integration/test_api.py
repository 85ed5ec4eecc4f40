"""The HTTP API over the stores in memory: answers, one shape of error, limits, and isolation by the route table."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel

from api import consolidation_views, schedule_views, views
from domain.dream.schedules import NewSchedule
from domain.errors import StoreUnavailable
from domain.jobs import JobState
from domain.memory import MemoryKind
from tests.integration.conftest import CANARY, NOW, Server, dreamed, error_of, told
from tests.unit.retrieval.world import Said

MESSAGE = {"id": "m1", "speaker": "Ana", "text": "I moved to Porto.", "sent_at": "2024-05-02T09:30:00Z"}
UNKNOWN = UUID(int=404)


# ------------------------------------------------------------------------------------------------------ writing


async def test_a_memory_is_accepted_with_its_job(server: Server) -> None:
    response = await server.add({"user_id": "ana", "messages": [MESSAGE]}, key="k1")
    assert response.status_code == 202
    body = response.json()
    assert (body["created"], body["job"]["state"], body["job"]["request_id"]) == (True, "accepted", "k1")
    assert [str(started) for started in server.starter.started] == [body["job"]["id"]]
    assert response.headers["location"] == body["status_url"]
    assert (await server.client.get(body["status_url"])).json()["id"] == body["job"]["id"]


async def test_the_same_key_is_the_same_job_and_another_body_conflicts(server: Server) -> None:
    body = {"user_id": "ana", "messages": [MESSAGE]}
    first = (await server.add(body, key="k1")).json()
    again = await server.add(body, key="k1")
    assert (again.json()["created"], again.json()["job"]["id"]) == (False, first["job"]["id"])
    other = await server.add({**body, "messages": [{**MESSAGE, "text": "Other"}]}, key="k1")
    assert (other.status_code, error_of(other)["type"]) == (409, "request_conflict")
    await server.world.jobs.set_state(UUID(first["job"]["id"]), JobState.COMPLETED, now=NOW)
    done = await server.add(body, key="k1", wait=5)
    assert (done.status_code, done.json()["job"]["state"]) == (200, "completed")


async def test_without_a_key_every_request_is_its_own(server: Server) -> None:
    body = {"user_id": "ana", "messages": [MESSAGE]}
    ids = {(await server.add(body)).json()["job"]["id"] for _ in range(2)}
    assert len(ids) == 2


async def test_a_wait_ends_when_the_job_does(server: Server) -> None:
    body = {"user_id": "ana", "messages": [MESSAGE]}
    assert (await server.add(body, key="k1", wait=0.05)).status_code == 202
    job = (await server.get("/v1/jobs")).json()["items"][0]
    await server.world.jobs.set_state(UUID(job["id"]), JobState.FAILED, now=NOW, step="write", reason="model_error")
    retried = await server.client.post(f"/v1/jobs/{job['id']}/retry", params={"user_id": "ana"})
    assert (retried.json()["state"], retried.json()["attempt"]) == ("accepted", 2)
    cancelled = await server.client.post(f"/v1/jobs/{job['id']}/cancel", params={"user_id": "ana"})
    assert cancelled.json()["state"] == "cancelled"


async def test_a_job_without_an_open_workflow_is_cancelled_all_the_same(server: Server) -> None:
    """It waits for its turn at the graph, or its workflow could not be started yet."""
    job = (await server.add({"user_id": "ana", "messages": [MESSAGE]})).json()["job"]
    await server.world.jobs.set_state(UUID(job["id"]), JobState.EXTRACTED, now=NOW)
    server.starter.closed.add(UUID(job["id"]))
    cancelled = await server.client.post(f"/v1/jobs/{job['id']}/cancel", params={"user_id": "ana"})
    assert (cancelled.json()["state"], cancelled.json()["reason"]) == ("cancelled", "cancelled")


async def test_an_empty_text_is_told_of_in_characters(server: Server) -> None:
    answer = await server.client.post("/v1/search", json={"user_id": "ana", "query": ""})
    assert answer.json()["error"]["message"] == "query: String should have at least 1 character"


async def test_a_user_id_with_signs_has_a_working_address(server: Server) -> None:
    body = (await server.add({"user_id": "ana+b@x.org", "messages": [MESSAGE]})).json()
    assert (await server.client.get(body["status_url"])).json()["user_id"] == "ana+b@x.org"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"user_id": "ana", "messages": []}, "messages"),
        ({"user_id": "ana", "messages": [""]}, "messages[0]"),
        ({"user_id": "ana", "messages": [{"text": "  \n"}]}, "messages[0].text"),
        ({"user_id": "ana", "messages": [{"speaker": "Ana"}]}, "messages[0].text"),
        ({"user_id": "ana"}, "messages"),
        ({"messages": [MESSAGE]}, "user_id"),
        ({"user_id": "a\x00b", "messages": [MESSAGE]}, "user_id"),
        ({"user_id": "ana", "session_id": "\ud800", "messages": [MESSAGE]}, "session_id"),
        ({"user_id": "ana", "messages": [{**MESSAGE, "sent_at": "yesterday"}]}, "messages[0].sent_at"),
        ({"user_id": "ana", "messages": [MESSAGE], "timezone": "Mars/Olympus"}, "timezone"),
        ({"user_id": "ana", "messages": [MESSAGE] * 6}, "messages"),
        ({"user_id": "ana", "messages": [MESSAGE], "form": f"{CANARY}"}, "form"),
        ([], "body"),
        ("text", "body"),
    ],
)
async def test_bad_input_is_refused_with_its_place(server: Server, body: Any, where: str) -> None:
    """422, where and what, nothing stored, and not a word of what was sent."""
    content = json.dumps(body).encode()
    response = await server.client.post("/v1/memories", content=content, headers={"Content-Type": "application/json"})
    error = error_of(response)
    assert (response.status_code, error["type"], error["retryable"]) == (422, "invalid_input", False)
    assert error["message"].startswith(f"{where}:")
    assert CANARY not in response.text
    assert server.starter.started == []


async def test_an_unknown_field_is_refused_without_its_name(server: Server) -> None:
    response = await server.add({"user_id": "ana", "messages": [MESSAGE], CANARY: CANARY})
    assert (response.status_code, CANARY in response.text) == (422, False)


async def test_an_idempotency_key_is_checked(server: Server) -> None:
    response = await server.add({"user_id": "ana", "messages": [MESSAGE]}, key="with space")
    assert (response.status_code, error_of(response)["type"]) == (422, "invalid_input")


# ------------------------------------------------------------------------------------------------------ reading


async def test_search_answers_with_facts_and_rows(server: Server) -> None:
    await told(server)
    response = await server.client.post(
        "/v1/search", json={"user_id": "ana", "query": "Where did Ana run?", "as_of": NOW.isoformat(), "explain": True}
    )
    body = response.json()
    assert response.status_code == 200
    assert body["rows"][0]["text"] == "Ana ran along the canal."
    assert body["facts"][0]["record_ids"] == [body["rows"][0]["record_id"]]
    assert (body["degraded"], body["plan"]["operator"]) == (False, "single")
    assert body["explanation"]["anchors"]


async def test_search_says_when_the_graph_is_down(server: Server) -> None:
    await told(server)
    server.graph.broken = True
    response = await server.client.post("/v1/search", json={"user_id": "ana", "query": "Where did Ana run?"})
    assert (response.json()["degraded"], response.json()["reason"]) == (True, "graph_unavailable")
    assert response.json()["rows"]
    anchors = await server.get("/v1/anchors")
    assert (anchors.status_code, error_of(anchors)["retryable"]) == (503, True)
    assert int(anchors.headers["retry-after"]) >= 1
    ready = await server.client.get("/readyz")
    assert (ready.status_code, ready.json()["parts"]["graph"]) == (200, "graph_unavailable")


async def test_pages_hold_every_record_once_whatever_is_written_between(server: Server) -> None:
    await told(server)
    first = (await server.get("/v1/memories", limit=1)).json()
    await server.world.tell("ana", "s2", [Said("Ana read a book.")])
    seen, after = [first["items"][0]["id"]], first["next"]
    while after:
        page = (await server.get("/v1/memories", limit=1, after=after)).json()
        seen += [item["id"] for item in page["items"]]
        after = page["next"]
    assert len(seen) == len(set(seen)) == 3


async def test_kinds_narrow_a_page(server: Server) -> None:
    await told(server)
    assert (await server.get("/v1/memories", kinds=MemoryKind.SEMANTIC.value)).json()["items"] == []
    assert len((await server.get("/v1/memories", kinds=MemoryKind.EPISODIC.value)).json()["items"]) == 2


async def test_a_record_is_traced_to_its_turns_and_facts(server: Server) -> None:
    await told(server)
    record = server.user_records["ana"][0]
    assert (await server.get(f"/v1/memories/{record.id}")).json()["text"] == record.text
    sources = (await server.get(f"/v1/memories/{record.id}/sources")).json()
    assert [turn["id"] for turn in sources["items"]] == ["s1:0"]
    (fact,) = (await server.get(f"/v1/memories/{record.id}/facts")).json()["items"]
    assert fact["record_ids"] == [str(record.id)]
    assert (await server.get(f"/v1/frames/{fact['id']}")).json() == fact
    anchors = (await server.get("/v1/anchors")).json()["items"]
    detail = (await server.get(f"/v1/anchors/{anchors[0]['id']}")).json()
    assert (detail["degree"], len(detail["frames"])) == (2, 2)


async def test_jobs_are_paged_newest_first(server: Server) -> None:
    for key in ("a", "b", "c"):
        await server.add({"user_id": "ana", "messages": [{"text": key}]}, key=key)
    first = (await server.get("/v1/jobs", limit=2)).json()
    rest = (await server.get("/v1/jobs", limit=2, before=first["next"])).json()
    assert [job["request_id"] for job in first["items"] + rest["items"]] == ["c", "b", "a"]


async def test_health(server: Server) -> None:
    assert (await server.client.get("/healthz")).json() == {"status": "ok"}
    assert (await server.client.get("/readyz")).json()["ready"] is True


# ------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("PUT", "/v1/memories", 405, "method_not_allowed"),
        ("GET", f"/v1/memories/{UNKNOWN}?user_id=ana", 404, "not_found"),
        ("GET", "/v1/memories/x?user_id=ana", 422, "invalid_input"),
        ("GET", f"/v1/memories/{UNKNOWN}", 422, "invalid_input"),
        ("GET", "/v1/memories?user_id=ana&limit=0", 422, "invalid_input"),
        ("GET", "/v1/memories?user_id=ana&limit=1000000", 422, "invalid_input"),
        ("GET", "/v1/memories?user_id=a%00b", 422, "invalid_input"),
        ("GET", "/v1/memories?user_id=", 422, "invalid_input"),
        ("GET", "/v1/anchors?user_id=two%20words", 422, "invalid_input"),
        ("GET", "/v1/jobs?user_id=ana%0A", 422, "invalid_input"),
        ("GET", "/v1/jobs?user_id=ana&before=99999999999999999999", 422, "invalid_input"),
        ("GET", f"/v1/anchors/{UNKNOWN}?user_id=ana", 404, "not_found"),
        ("GET", f"/v1/frames/{'0' * 64}?user_id=ana", 404, "not_found"),
        ("GET", "/v1/frames/%00?user_id=ana", 422, "invalid_input"),
        ("POST", f"/v1/jobs/{UNKNOWN}/retry?user_id=ana", 404, "not_found"),
    ],
)
async def test_errors_have_one_shape(server: Server, method: str, path: str, status: int, kind: str) -> None:
    response = await server.client.request(method, path)
    assert (response.status_code, error_of(response)["type"]) == (status, kind)


@pytest.mark.parametrize(
    "content", [b"{", b"\xff\xfe", b'{"user_id": "ana", "query": ' + b"[" * 9000, b"9" * 9000, b"", b"null"]
)
async def test_unreadable_json_is_refused(server: Server, content: bytes) -> None:
    response = await server.client.post("/v1/search", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code in (400, 422)
    assert error_of(response)["type"] == "invalid_input"


async def test_a_body_with_two_meanings_is_refused(server: Server) -> None:
    """By every route that takes a body: a name that stands twice, however deep, and numbers that JSON has not."""
    for path in bodies(server.app):
        for content, why in (
            ('{"user_id": "ana", "user_id": "bob"}', "a name stands twice in one object"),
            (
                f'{{"user_id": "ana", "filters": [{{"{CANARY}": 1, "{CANARY}": 2}}]}}',
                "a name stands twice in one object",
            ),
            ('{"user_id": NaN}', "NaN and Infinity are no JSON"),
        ):
            response = await server.client.post(path, content=content, headers={"Content-Type": "application/json"})
            assert (response.status_code, error_of(response)["type"]) == (422, "invalid_input"), path
            assert error_of(response)["message"] == f"body: {why}"


@pytest.mark.parametrize(
    "query", ["\x00", "a\x00b", "\ud800", "", " ", "x" * 5000, 7, None, {"a": 1}], ids=lambda query: repr(query)[:12]
)
async def test_bad_questions_are_refused(server: Server, query: object) -> None:
    content = json.dumps({"user_id": "ana", "query": query})
    response = await server.client.post("/v1/search", content=content, headers={"Content-Type": "application/json"})
    assert (response.status_code, error_of(response)["type"]) == (422, "invalid_input")


@pytest.mark.parametrize(
    "as_of",
    [
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-12:00",
        "2024-02-30T00:00:00Z",
        "2024-05-01T00:00:00",
    ],
)
async def test_the_ends_of_the_calendar_never_break_a_search(server: Server, as_of: str) -> None:
    await told(server)
    body = {
        "user_id": "ana",
        "query": "What happened last year and next year?",
        "as_of": as_of,
        "timezone": "Asia/Tokyo",
    }
    assert (await server.client.post("/v1/search", json=body)).status_code in (200, 422)


async def test_a_large_body_is_refused_whether_its_length_is_said_or_not(server: Server) -> None:
    async def stream() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b" " * 1000

    said = await server.client.post("/v1/memories", content=b" " * 30_000)
    streamed = await server.client.post("/v1/memories", content=stream())
    for response in (said, streamed):
        assert (response.status_code, error_of(response)["type"]) == (413, "too_large")


async def test_an_unforeseen_error_names_no_cause(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """500 without the exception's text, in the answer and in the log."""

    async def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr(server.world.records, "page", fail)
    response = await server.get("/v1/memories")
    assert (response.status_code, error_of(response)) == (
        500,
        {"type": "internal", "message": "internal error", "retryable": False},
    )
    assert CANARY not in caplog.text
    assert "RuntimeError" in caplog.text


async def test_a_store_that_is_away_is_worth_a_retry(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*args: object, **kwargs: object) -> None:
        raise StoreUnavailable("the database can't be reached", retry_after=2.5)

    monkeypatch.setattr(server.world.records, "page", away)
    response = await server.get("/v1/memories")
    assert (response.status_code, response.headers["retry-after"]) == (503, "3")
    assert error_of(response)["type"] == "store_unavailable"
    assert (await server.client.get("/readyz")).status_code == 503


async def test_no_other_origin_is_answered(server: Server) -> None:
    response = await server.client.get("/healthz", headers={"Origin": "https://elsewhere.example"})
    assert not [name for name in response.headers if name.startswith("access-control")]


# ---------------------------------------------------------------------------------------------------- isolation


def routes(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Every verb and path the application answers but its own description, in the OpenAPI document or not."""
    for context in iter_route_contexts(app.routes):
        assert isinstance(context.path, str)
        yield from (
            (method, context.path) for method in sorted(context.methods or ()) if context.path != "/openapi.json"
        )


def bodies(app: FastAPI) -> list[str]:
    """Paths of the routes that take a body."""
    paths = app.openapi()["paths"]
    return [path for path, methods in paths.items() for verb in methods.values() if "requestBody" in verb]


BODIES: dict[str, dict[str, object]] = {
    "/v1/search": {"query": f"Who ran along the canal with a {CANARY}?", "explain": True},
    "/v1/memories": {"messages": [{**MESSAGE, "text": "ran along the canal"}], "session_id": f"s-{CANARY}"},
    "/v1/consolidations": {"mode": "final"},
    "/v1/consolidations/{consolidation_id}/undo": {},
    "/v1/consolidations/{consolidation_id}/pairs/{pair_id}": {"approve": True},
    "/v1/anchors/{anchor_id}/merge": {"absorbed": str(uuid4())},
    "/v1/anchors/{anchor_id}/split": {"name": CANARY},
    "/v1/schedules": {"name": "nightly", "cron": "0 3 * * *"},
}
"""Bodies of the routes that take one; a new route with a body must be added here."""

USER_IN_BODY = ("/v1/search", "/v1/memories", "/v1/consolidations")
"""The other routes take it as a parameter."""


async def test_no_route_shows_anything_of_another_user(server: Server) -> None:
    await told(server)
    await dreamed(server, "bob", CANARY, f"{CANARY} two")
    await check_isolation(server)
    documented = {(verb.upper(), path) for path, verbs in server.app.openapi()["paths"].items() for verb in verbs}
    assert set(routes(server.app)) == documented


@pytest.mark.parametrize("path", ["/v1/all", "/v1/memories/{memory_id}/all", "/v1/skills/{skill_id}"])
@pytest.mark.parametrize("documented", [True, False])
async def test_a_route_that_shows_what_is_anothers_or_has_no_id_of_bobs_is_noticed(
    server: Server, path: str, documented: bool
) -> None:
    async def leak() -> dict[str, str]:
        return {"text": CANARY}

    await told(server)
    await dreamed(server, "bob", CANARY, f"{CANARY} two")
    server.app.add_api_route(path, leak, include_in_schema=documented)
    with pytest.raises((AssertionError, KeyError)):
        await check_isolation(server)


async def test_a_new_route_with_a_body_must_be_asked_with_one(server: Server) -> None:
    async def strict(body: dict[str, str]) -> dict[str, str]:
        return body

    await told(server)
    await dreamed(server, "bob", CANARY, f"{CANARY} two")
    server.app.add_api_route("/v1/notes", strict, methods=["POST"])
    with pytest.raises(AssertionError, match="/v1/notes"):
        await check_isolation(server)


async def check_isolation(server: Server) -> None:
    """For every verb and path of the route table, asked as Ana with ids of Bob's: not found, or nothing of Bob's."""
    ids = await bobs_ids(server)
    for method, path in routes(server.app):
        filled = re.sub(r"\{(\w+)\}", lambda found: ids[found[1]], path)
        response = await ask_as_ana(server, method, path, filled)
        expected = {404} if "{" in path else {200, 201, 202}
        assert response.status_code in expected, (method, path, response.text)
        answer = response.text.replace(f"s-{CANARY}", "").replace(f"with a {CANARY}?", "")
        told_plan = response.json().get("plan") or {}
        for word in told_plan.get("words", []) + told_plan.get("constraints", []):
            answer = answer.replace(f'"{word}"', "")
        assert CANARY not in answer, (method, path)
        assert not [value for value in ids.values() if value in answer and value not in filled], (method, path)


async def test_every_route_but_health_needs_a_user(server: Server) -> None:
    for method, path in routes(server.app):
        if path in ("/healthz", "/readyz"):
            continue
        filled = re.sub(r"\{\w+\}", str(uuid4()), path).replace("/frames/", f"/frames/{'0' * 28}")
        body = {key: value for key, value in BODIES.get(path, {}).items() if method == "POST"}
        response = await server.client.request(method, filled, json=body or None)
        assert (response.status_code, "user_id" in response.text) == (422, True), (method, path)


async def bobs_ids(server: Server) -> dict[str, str]:
    """An id of Bob's for every path parameter; the same ids are found when Bob asks."""
    record = server.user_records["bob"][0]
    anchors = await server.graph.anchor_page("bob", limit=10)
    (frame,) = await server.graph.frames_of_records("bob", [record.id], limit=1)
    canary = next(anchor for anchor in anchors if anchor.name == CANARY)
    (round_,) = await server.services.consolidations.consolidations("bob")
    (pair,) = await server.services.consolidations.pairs(round_.id)
    schedule = NewSchedule(name="bobs-nightly", user_id="bob", cron="0 3 * * *")
    ids = {
        "memory_id": str(record.id),
        "job_id": str(record.input_id),
        "anchor_id": str(canary.id),
        "frame_id": frame.id,
        "consolidation_id": str(round_.id),
        "pair_id": str(pair.id),
        "schedule_name": (await server.services.schedules.create(schedule)).name,
    }
    for path in (
        f"memories/{ids['memory_id']}",
        f"jobs/{ids['job_id']}",
        f"anchors/{ids['anchor_id']}",
        f"anchors/{ids['anchor_id']}/merges",
        f"frames/{ids['frame_id']}",
        f"consolidations/{ids['consolidation_id']}",
        f"consolidations/{ids['consolidation_id']}/pairs",
        f"consolidations/{ids['consolidation_id']}/merges",
    ):
        assert CANARY in (await server.get(f"/v1/{path}", user_id="bob")).text
    assert (await server.get(f"/v1/schedules/{ids['schedule_name']}", user_id="bob")).status_code == 200
    return ids


async def ask_as_ana(server: Server, method: str, path: str, filled: str) -> httpx.Response:
    """A request by Ana, by the parameter and, where it is taken there, in the body."""
    body = BODIES.get(path) if method == "POST" else None
    if body is not None and path in USER_IN_BODY:
        body = {"user_id": "ana", **body}
    return await server.client.request(method, filled, params={"user_id": "ana"}, json=body)


ANSWERS: dict[str, type[BaseModel]] = {
    view.__name__: view
    for module in (views, consolidation_views, schedule_views)
    for view in vars(module).values()
    if isinstance(view, type) and issubclass(view, BaseModel)
}


async def test_every_route_is_described_with_examples_that_are_true_to_its_types(server: Server) -> None:
    for path, methods in server.app.openapi()["paths"].items():
        for method, verb in methods.items():
            assert verb["summary"], path
            assert verb["description"], path
            assert all(given.get("description") for given in verb.get("parameters", ())), (method, path)
            answers = [answer for status, answer in verb["responses"].items() if status != "204"]
            contents = [*([verb["requestBody"]] if "requestBody" in verb else []), *answers]
            for content in (described["content"]["application/json"] for described in contents):
                view = ANSWERS[content["schema"]["$ref"].rsplit("/")[-1]]
                assert content["examples"], (method, path)
                for shown in content["examples"].values():
                    view.model_validate_json(json.dumps(shown["value"]))


CONFLICTS = {*BODIES} - {"/v1/search"}
"""What is sent to these may conflict with what was sent before."""


async def test_every_route_documents_its_errors_in_the_one_shape(server: Server) -> None:
    """500 of all, 422 and 503 of what takes a user, 404 of what names one thing, 400 and 413 of what takes a body."""
    for path, methods in server.app.openapi()["paths"].items():
        for method, verb in methods.items():
            found = {int(status) for status in verb["responses"] if int(status) >= 400}
            expected = {500} if path in ("/healthz", "/readyz") else {422, 500, 503}
            expected |= {404} if "{" in path else set()
            expected |= {400, 413} if "requestBody" in verb else set()
            expected |= {409} if path in CONFLICTS and method == "post" else set()
            expected |= {503} if path == "/readyz" else set()
            assert found == expected, path
            for status in found - ({503} if path == "/readyz" else set()):
                described = verb["responses"][str(status)]
                assert described["content"]["application/json"]["schema"]["$ref"].endswith("/ErrorView")
                assert described["description"]
