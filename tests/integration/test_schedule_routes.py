"""The routes of schedules over schedules in memory."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from api.app import create_app
from infra.settings import Settings
from tests.fakes.schedules import MemorySchedules, with_schedules

BODY: dict[str, Any] = {"name": "nightly", "cron": "0 3 * * *", "timezone": "Europe/Lisbon"}
NIGHTLY = "/v1/schedules/nightly"


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """As Ana unless said; of the services only the schedules are there."""
    app = create_app(with_schedules(MemorySchedules(), Settings()))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://memory", params={"user_id": "ana"}) as client:
        yield client


async def made(client: httpx.AsyncClient, *, owner: str = "ana", **changes: object) -> httpx.Response:
    return await client.post("/v1/schedules", params={"user_id": owner}, json={**BODY, **changes})


async def test_a_schedule_is_made_and_read_back(client: httpx.AsyncClient) -> None:
    response = await made(client)
    shown = response.json()
    assert response.status_code == 201
    assert BODY.items() <= shown.items()
    assert (shown["user_id"], shown["every_seconds"], shown["mode"], shown["paused"]) == ("ana", None, "final", False)
    assert shown["next_at"]
    assert (await client.get(NIGHTLY)).json() == shown
    assert (await made(client)).json() == shown


async def test_another_schedule_of_its_name_conflicts(client: httpx.AsyncClient) -> None:
    await made(client)
    response = await made(client, cron="0 4 * * *")
    assert (response.status_code, response.json()["error"]["type"]) == (409, "request_conflict")


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"cron": "soon"}, "cron"),
        ({"cron": ""}, "cron"),
        ({"every_seconds": 3600}, "cron"),
        ({"cron": "", "every_seconds": 1}, "every_seconds"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"timezone": ""}, "timezone"),
        ({"mode": "merge"}, "mode"),
        ({"name": "a/b"}, "name"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"run_timeout_seconds": 10**9}, "run_timeout_seconds"),
        ({"catch_up_seconds": 9}, "catch_up_seconds"),
        ({"user_id": "bob"}, "body"),
    ],
)
async def test_what_is_not_valid_is_refused_by_field(
    changes: dict[str, Any], where: str, client: httpx.AsyncClient
) -> None:
    response = await made(client, **changes)
    assert (response.status_code, response.json()["error"]["type"]) == (422, "invalid_input")
    assert response.json()["error"]["message"].startswith(f"{where}:")
    assert (await client.get("/v1/schedules")).json()["items"] == []


async def test_a_schedule_for_all_users_is_theirs_alone(client: httpx.AsyncClient) -> None:
    assert (await made(client, owner="*")).json()["user_id"] == "*"
    assert (await client.get(NIGHTLY)).status_code == 404
    assert (await client.get(NIGHTLY, params={"user_id": "*"})).status_code == 200
    assert (await client.get("/v1/schedules")).json()["items"] == []


@pytest.mark.parametrize(
    ("method", "act"), [("GET", ""), ("DELETE", ""), ("POST", "/pause"), ("POST", "/resume"), ("POST", "/trigger")]
)
@pytest.mark.parametrize("owner", ["ana", "*"])
async def test_no_one_reaches_anothers(method: str, act: str, owner: str, client: httpx.AsyncClient) -> None:
    before = (await made(client, owner="bob")).json()
    response = await client.request(method, NIGHTLY + act, params={"user_id": owner})
    assert (response.status_code, response.json()["error"]["type"]) == (404, "not_found")
    assert (await client.get(NIGHTLY, params={"user_id": "bob"})).json() == before


@pytest.mark.parametrize("owner", ["", "**", "a b", "*a", "ana\n"])
async def test_an_owner_is_a_user_or_all(owner: str, client: httpx.AsyncClient) -> None:
    assert (await client.get("/v1/schedules", params={"user_id": owner})).status_code == 422


async def test_a_schedule_rests_goes_on_runs_and_ends(client: httpx.AsyncClient) -> None:
    await made(client)
    assert (await client.post(f"{NIGHTLY}/pause")).json()["paused"] is True
    assert (await client.post(f"{NIGHTLY}/resume")).json()["paused"] is False
    triggered = (await client.post(f"{NIGHTLY}/trigger")).json()
    assert (triggered["runs"], len(triggered["recent"])) == (1, 1)
    deleted = await client.delete(NIGHTLY)
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (await client.get(NIGHTLY)).status_code == 404


async def test_pages_are_by_name(client: httpx.AsyncClient) -> None:
    for name in ("c", "a", "b"):
        await made(client, name=name)
    first = (await client.get("/v1/schedules", params={"limit": 2})).json()
    rest = (await client.get("/v1/schedules", params={"limit": 2, "after": first["next"]})).json()
    assert [one["name"] for one in first["items"] + rest["items"]] == ["a", "b", "c"]
    assert rest["next"] is None
