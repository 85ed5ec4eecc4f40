"""AutoDream over HTTP: what is asked for is stored once, what is another's is not found, and what comes of it is told.

The stores are in memory, and no round runs: states are set by the tests.
"""

from typing import Any
from uuid import UUID, uuid4

import pytest

from domain.dream.rounds import ConsolidationState, PairState, Receipt, Stage
from domain.errors import ConsolidationEnded, StoreUnavailable
from tests.contract.consolidating import two
from tests.integration.conftest import CANARY, NOW, Server, dreamed, error_of, told

ROUNDS = "/v1/consolidations"


async def anchor(server: Server, name: str, user: str = "ana") -> str:
    """The id of an anchor by name."""
    return next(str(each.id) for each in await server.graph.anchor_page(user, limit=50) if each.name == name)


# ------------------------------------------------------------------------------------------------------- rounds


async def test_a_round_is_accepted_with_its_place_and_wakes_the_queue(server: Server) -> None:
    body = {"user_id": "ana", "mode": "final", "dry_run": True, "actor": "Ana", "timeout_seconds": 60}
    response = await server.post(ROUNDS, body, key="k1")
    shown = response.json()
    assert response.status_code == 202
    assert {**body, "request_id": "k1", "state": "accepted"}.items() <= shown["consolidation"].items()
    assert response.headers["location"] == shown["status_url"]
    assert (await server.client.get(shown["status_url"])).json() == shown["consolidation"]
    assert server.starter.woken == ["ana"]


async def test_a_round_is_intermediate_unless_said(server: Server) -> None:
    assert (await server.post(ROUNDS, {"user_id": "ana"})).json()["consolidation"]["mode"] == "intermediate"


async def test_the_same_key_is_the_same_round_and_another_body_conflicts(server: Server) -> None:
    body = {"user_id": "ana", "chunk_ids": [str(uuid4()), str(uuid4())]}
    first = (await server.post(ROUNDS, body, key="k1")).json()
    again = (await server.post(ROUNDS, {**body, "chunk_ids": body["chunk_ids"][::-1]}, key="k1")).json()
    assert (first["created"], again["created"]) == (True, False)
    assert again["consolidation"] == first["consolidation"]
    other = await server.post(ROUNDS, {**body, "mode": "final"}, key="k1")
    assert (other.status_code, error_of(other)["type"]) == (409, "request_conflict")
    assert len({(await server.post(ROUNDS, body)).json()["consolidation"]["id"] for _ in range(2)}) == 2


@pytest.mark.parametrize("state", [ConsolidationState.COMPLETED, ConsolidationState.FAILED, ConsolidationState.REVIEW])
async def test_a_wait_ends_once_the_round_has_settled(server: Server, state: ConsolidationState) -> None:
    waiting = await server.post(ROUNDS, {"user_id": "ana"}, key="k1", wait=0.05)
    assert waiting.status_code == 202
    identity = UUID(waiting.json()["consolidation"]["id"])
    pending = two(identity, "a", "b", state=PairState.PENDING)
    await server.services.consolidations.save_pairs(identity, Stage.MAIN, [pending], waiting=())
    await server.services.consolidations.end(identity, state, receipt=Receipt(), now=NOW)
    done = await server.post(ROUNDS, {"user_id": "ana"}, key="k1", wait=5)
    assert (done.status_code, done.json()["consolidation"]["state"]) == (200, state.value)


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"mode": "undo"}, "mode: Input should be 'intermediate' or 'final'"),
        ({"mode": CANARY}, "mode"),
        ({"chunk_ids": ["x"]}, "chunk_ids[0]"),
        ({"chunk_ids": [str(uuid4())], "since": "2024-05-01T00:00:00Z"}, "since"),
        ({"since": "2024-05-01T00:00:00"}, "since"),
        ({"since": "2999-01-01T00:00:00Z"}, "since"),
        ({"since": "0001-01-01T00:00:00+14:00"}, "since"),
        ({"actor": "a\x00b"}, "actor"),
        ({"actor": "x" * 201}, "actor: String should have at most 200 characters"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"timeout_seconds": True}, "timeout_seconds"),
        ({"dry_run": "yes"}, "dry_run"),
        ({"target": str(uuid4())}, "body"),
    ],
)
async def test_a_bad_request_is_refused_by_field_and_nothing_is_stored(
    server: Server, body: dict[str, Any], where: str
) -> None:
    response = await server.post(ROUNDS, {"user_id": "ana", **body})
    assert (response.status_code, error_of(response)["type"]) == (422, "invalid_input")
    assert error_of(response)["message"].startswith(where)
    assert CANARY not in response.text
    assert await server.services.consolidations.consolidations("ana") == ()


async def test_an_idempotency_key_is_checked(server: Server) -> None:
    response = await server.post(ROUNDS, {"user_id": "ana"}, key="with space")
    assert (response.status_code, error_of(response)["type"]) == (422, "invalid_input")


async def test_rounds_are_paged_newest_first(server: Server) -> None:
    for key in ("a", "b", "c"):
        await server.post(ROUNDS, {"user_id": "ana"}, key=key)
    first = (await server.get(ROUNDS, limit=2)).json()
    rest = (await server.get(ROUNDS, limit=2, before=first["next"])).json()
    assert [each["request_id"] for each in first["items"] + rest["items"]] == ["c", "b", "a"]
    assert rest["next"] is None


async def test_a_round_that_waits_is_cancelled_and_one_that_ended_is_left(server: Server) -> None:
    url = (await server.post(ROUNDS, {"user_id": "ana"})).json()["status_url"].split("?")[0]
    for _ in range(2):
        response = await server.client.post(f"{url}/cancel", params={"user_id": "ana"})
        assert (response.status_code, response.json()["state"]) == (200, "cancelled")


# ------------------------------------------------------------------------------------- pairs, merges and decisions


async def test_pairs_are_told_with_names_evidence_and_verdict(server: Server) -> None:
    await told(server)
    found, _ = await dreamed(server, "ana", "Ana", "canal")
    url = f"{ROUNDS}/{found.id}/pairs"
    (shown,) = (await server.get(url)).json()["items"]
    record = str(server.user_records["ana"][0].id)
    assert [(end["name"], end["record_ids"]) for end in (shown["a"], shown["b"])] == [
        ("Ana", [record]),
        ("canal", [record]),
    ]
    assert (shown["type"], shown["similarity"], shown["state"], shown["verdict"]) == ("other", 0.9, "pending", "same")
    assert (shown["canonical_name"], shown["reason"], shown["decided_by"]) == ("Ana", "canal is Ana", "rules")
    assert len((await server.get(url, state=["pending", "merged"])).json()["items"]) == 1
    assert (await server.get(url, state="merged")).json()["items"] == []
    assert (await server.get(url, state="lost")).status_code == 422
    page = (await server.get(url, limit=1)).json()
    assert (await server.get(url, limit=1, after=page["next"])).json() == {"items": [], "next": None}


async def test_merges_are_told_of_a_round_and_of_both_anchors(server: Server) -> None:
    await told(server)
    found, pair = await dreamed(server, "ana", "Ana", "canal")
    (merge,) = (await server.get(f"{ROUNDS}/{found.id}/merges")).json()["items"]
    assert (merge["representative_name"], merge["absorbed_name"], merge["state"]) == ("Ana", "canal", "applied")
    for end in (pair.a, pair.b):
        assert (await server.get(f"/v1/anchors/{end.anchor_id}/merges")).json()["items"] == [merge]
    assert (await server.get(f"/v1/anchors/{pair.b.anchor_id}")).status_code == 404
    assert (await server.get(f"/v1/anchors/{uuid4()}/merges")).status_code == 404


async def test_a_merge_under_review_is_approved_by_a_person_once(server: Server) -> None:
    await told(server)
    found, pair = await dreamed(server, "ana", "Ana", "canal")
    url = f"{ROUNDS}/{found.id}/pairs/{pair.id}"
    approved = await server.post(url, {"approve": True, "keep": "canal", "actor": "Zoe"})
    shown = approved.json()
    assert (approved.status_code, shown["state"], shown["canonical_name"]) == (200, "approved", "canal")
    assert shown["decided_by"] == "Zoe"
    late = await server.post(url, {"approve": False})
    assert (late.status_code, error_of(late)["type"]) == (409, "merge_conflict")


async def test_a_name_that_is_neither_is_refused(server: Server) -> None:
    await told(server)
    found, pair = await dreamed(server, "ana", "Ana", "canal")
    response = await server.post(f"{ROUNDS}/{found.id}/pairs/{pair.id}", {"approve": True, "keep": CANARY})
    assert (response.status_code, CANARY in response.text) == (422, False)
    assert error_of(response)["message"].startswith("keep:")


async def test_a_decision_after_the_end_conflicts(server: Server) -> None:
    await told(server)
    found, pair = await dreamed(server, "ana", "Ana", "canal")
    await server.services.dreamer.cancel("ana", found.id)
    response = await server.post(f"{ROUNDS}/{found.id}/pairs/{pair.id}", {"approve": True})
    assert (response.status_code, error_of(response)["type"]) == (409, "merge_conflict")


async def test_a_pair_of_anothers_round_is_not_found_under_ones_own(server: Server) -> None:
    await told(server)
    own, _ = await dreamed(server, "ana", "Ana", "canal")
    _, pair = await dreamed(server, "bob", CANARY, f"{CANARY} two")
    response = await server.post(f"{ROUNDS}/{own.id}/pairs/{pair.id}", {"approve": True})
    assert (response.status_code, CANARY in response.text) == (404, False)


async def test_an_undo_is_a_consolidation_of_its_own(server: Server) -> None:
    await told(server)
    found, pair = await dreamed(server, "ana", "Ana", "canal")
    body = {"absorbed": str(pair.b.anchor_id), "actor": "Zoe"}
    response = await server.post(f"{ROUNDS}/{found.id}/undo", body, key="u1")
    shown = response.json()["consolidation"]
    assert response.status_code == 202
    assert (shown["mode"], shown["target"], shown["absorbed"]) == ("undo", str(found.id), body["absorbed"])
    assert (shown["actor"], shown["id"] != str(found.id)) == ("Zoe", True)
    again = await server.post(f"{ROUNDS}/{found.id}/undo", body, key="u1")
    assert (again.json()["created"], again.json()["consolidation"]["id"]) == (False, shown["id"])
    whole = await server.post(f"{ROUNDS}/{found.id}/undo", {}, key="u1")
    assert (whole.status_code, error_of(whole)["type"]) == (409, "request_conflict")


# ------------------------------------------------------------------------------------------------------ by hand


async def test_a_merge_by_hand_names_both_anchors_and_is_asked_once(server: Server) -> None:
    await told(server)
    target, absorbed = await anchor(server, "Ana"), await anchor(server, "canal")
    body = {"absorbed": absorbed, "force": True, "actor": "Zoe"}
    response = await server.post(f"/v1/anchors/{target}/merge", body, key="m1")
    shown = response.json()["consolidation"]
    assert response.status_code == 202
    assert (shown["mode"], shown["target"], shown["absorbed"], shown["force"]) == ("merge", target, absorbed, True)
    server.graph._anchors.pop(("ana", UUID(absorbed)))  # it is merged, and gone
    again = await server.post(f"/v1/anchors/{target}/merge", body, key="m1")
    assert (again.status_code, again.json()["created"]) == (202, False)


async def test_a_split_names_what_leaves(server: Server) -> None:
    await told(server)
    await dreamed(server, "ana", "Ana", "canal")
    target = await anchor(server, "Ana")
    response = await server.post(f"/v1/anchors/{target}/split", {"name": "the canal", "actor": "Zoe"})
    shown = response.json()["consolidation"]
    assert (response.status_code, shown["mode"], shown["target"], shown["name"]) == (202, "split", target, "the canal")


async def test_a_name_that_can_not_leave_is_refused_before_anything_is_stored(server: Server) -> None:
    await told(server)
    target = await anchor(server, "Ana")
    for name in "Ana", "canal":
        response = await server.post(f"/v1/anchors/{target}/split", {"name": name})
        assert (response.status_code, error_of(response)["type"]) == (409, "merge_conflict")
    assert await server.services.consolidations.consolidations("ana") == ()


async def test_a_wait_for_a_change_by_hand_ends_with_it(server: Server) -> None:
    await told(server)
    await dreamed(server, "ana", "Ana", "canal")
    url = f"/v1/anchors/{await anchor(server, 'Ana')}/split"
    waiting = (await server.post(url, {"name": "the canal"}, key="s1", wait=0.05)).json()["consolidation"]
    await server.services.consolidations.end(
        UUID(waiting["id"]), ConsolidationState.COMPLETED, receipt=Receipt(undone=1), now=NOW
    )
    done = await server.post(url, {"name": "the canal"}, key="s1", wait=5)
    assert (done.status_code, done.json()["consolidation"]["receipt"]["undone"]) == (200, 1)


async def test_anchors_of_another_user_are_not_found_before_anything_is_stored(server: Server) -> None:
    await told(server)
    own, bobs = await anchor(server, "Ana"), await anchor(server, CANARY, "bob")
    for url, body in (
        (f"/v1/anchors/{own}/merge", {"absorbed": bobs}),
        (f"/v1/anchors/{bobs}/merge", {"absorbed": own}),
        (f"/v1/anchors/{bobs}/split", {"name": "x"}),
    ):
        response = await server.post(url, body)
        assert (response.status_code, CANARY in response.text) == (404, False)
    assert await server.services.consolidations.consolidations("ana") == ()


async def test_what_can_not_be_done_by_hand_is_refused(server: Server) -> None:
    await told(server)
    own = await anchor(server, "Ana")
    for url, body in (("merge", {"absorbed": own}), ("split", {"name": " \u200b"}), ("split", {"name": ""})):
        response = await server.post(f"/v1/anchors/{own}/{url}", body)
        assert (response.status_code, error_of(response)["type"]) == (422, "invalid_input")


# ------------------------------------------------------------------------------------------------------- errors


async def test_a_conflict_and_an_absent_server_have_the_one_shape(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error, status in ((ConsolidationEnded("it has ended"), 409), (StoreUnavailable("no database"), 503)):

        async def fail(*_: object, failure: Exception = error, **__: object) -> None:
            raise failure

        monkeypatch.setattr(server.services.consolidations, "consolidations", fail)
        response = await server.get(ROUNDS)
        assert (response.status_code, error_of(response)["type"]) == (status, error.type)
