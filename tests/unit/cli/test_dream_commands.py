"""`reverie dream`, `reverie anchors` and `reverie ingest --dream` over fake services."""

import asyncio
import json
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from domain.dream.rounds import ConsolidationState, NewConsolidation, Pair, PairEnd, PairState, Stage, merge_id
from domain.errors import Unavailable
from domain.graph import Joined
from domain.jobs import batch_id
from domain.memory import AnchorType
from domain.model_calls import Verdict
from infra.run.cli import consolidating
from tests.fakes.services import NOW, FakeServices
from tests.unit.cli.conftest import Run
from tests.unit.retrieval.world import Said, World

IDS = (UUID("11111111-0000-4000-8000-000000000001"), UUID("22222222-0000-4000-8000-000000000002"))


def pair(number: int, one: str, other: str, **values: Any) -> Pair:
    """A pair told to be the same."""
    a, b = PairEnd(anchor_id=uuid4(), name=one), PairEnd(anchor_id=uuid4(), name=other)
    told = {"state": PairState.MERGED, "verdict": Verdict.SAME, "canonical": b.anchor_id, **values}
    return Pair(
        id=IDS[number], key=f"k{number}", type=AnchorType.PERSON, a=a, b=b, similarity=0.9 - number / 10,
        reason=f"{one} is short for {other}", decided_by="rules", **told,
    )  # fmt: skip


PAIRS = (pair(0, "Liz", "Elizabeth"), pair(1, "Bob", "Robert"))


@pytest.fixture
def dreaming(services: FakeServices) -> FakeServices:
    """Rounds find two pairs."""
    services.worker.pairs = PAIRS
    return services


def document(run: Run, *arguments: str) -> Any:
    """What a command prints with --json."""
    return json.loads(run(*arguments, "--json").stdout)


def reviewed(run: Run) -> str:
    """The id of a round of Ana's that waits for a person."""
    identity: str = document(run, "dream", "run", "--user", "ana", "--review")["consolidation"]["id"]
    return identity


# --------------------------------------------------------------------------------------------------------- rounds


def test_a_round_is_waited_for_and_its_receipt_printed(run: Run, dreaming: FakeServices) -> None:
    result = run("dream", "run", "--user", "ana")
    assert result.exit_code == 0
    for part in ("2 merged, 2 pairs verified", "intermediate", "completed", "asked by", "zoe", "unchanged, 0 records"):
        assert part in result.stdout
    assert "Elizabeth" not in result.stdout


def test_what_is_asked_for_is_what_the_options_say(run: Run, dreaming: FakeServices) -> None:
    dreaming.worker.asleep = True
    chunk = uuid4()
    arguments = ("dream", "run", "--user", "ana", "--final", "--chunks", str(chunk), "--timeout", "90", "--no-wait")
    shown = document(run, *arguments, "--actor", "Ana")
    told = {"mode": "final", "chunk_ids": [str(chunk)], "timeout_seconds": 90, "actor": "Ana", "state": "accepted"}
    assert told.items() <= shown["consolidation"].items()
    assert (shown["created"], "pairs" in shown) == (True, False)
    since = document(run, "dream", "run", "--since", "2025-06-01T10:00:00+02:00", "--timeout", "2h", "--no-wait")
    asked = since["consolidation"]
    assert (asked["since"], asked["timeout_seconds"]) == (
        "2025-06-01T08:00:00Z",
        7200,
    )


def test_without_waiting_it_says_where_to_look(run: Run, dreaming: FakeServices) -> None:
    dreaming.worker.asleep = True
    assert "it goes on: reverie dream show " in run("dream", "run", "--no-wait").stdout


@pytest.mark.parametrize(
    ("option", "named"),
    [
        (("--chunks", "seven"), "--chunks"),
        (("--since", "soon"), "--since"),
        (("--since", ""), "--since"),
        (("--since", "2999-01-01T00:00:00Z"), "--since"),
        (("--since", "0001-01-01T00:00:00+14:00"), "--since"),
        (("--timeout", "0"), "--timeout"),
        (("--timeout", "soon"), "--timeout"),
        (("--user", "a b"), "--user"),
        (("--actor", "a\x07b"), "--actor"),
    ],
)
def test_a_bad_option_is_named_and_nothing_stored(
    run: Run, dreaming: FakeServices, option: tuple[str, str], named: str
) -> None:
    result = run("dream", "run", *option)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {named}: ")
    assert not dreaming.evidence.consolidations


def test_a_dry_run_shows_every_merge_it_proposes_with_its_evidence(run: Run, dreaming: FakeServices) -> None:
    run("add", "Liz, that is Elizabeth, " + "ran " * 60, "--user", "ana")
    (record,) = dreaming.evidence.records
    end = PAIRS[0].a.model_copy(update={"record_ids": (record,)})
    dreaming.worker.pairs = (PAIRS[0].model_copy(update={"a": end}), PAIRS[1])
    result = run("dream", "run", "--user", "ana", "--dry-run")
    assert "2 merges proposed, nothing changed" in result.stdout
    for part in ("11111111", "Liz", "Elizabeth", "person", "0.90", "same", "keeps Elizabeth", "rules", "Bob", "0.80"):
        assert part in result.stdout
    words = " ".join(result.stdout.split())
    assert "is short for Elizabeth" in words
    assert "…" in words


def test_a_dry_run_gives_whole_pairs_as_json(run: Run, dreaming: FakeServices) -> None:
    shown = document(run, "dream", "run", "--user", "ana", "--dry-run")
    assert {each["id"] for each in shown["pairs"]} == {str(each) for each in IDS}
    assert [each["state"] for each in shown["pairs"]] == ["proposed", "proposed"]


def test_a_round_that_fails_says_where_why_and_what_next(run: Run, dreaming: FakeServices) -> None:
    dreaming.worker.dream_failure = ("verify", "model_unavailable", "the endpoint answered 503")
    result = run("dream", "run")
    assert result.exit_code == 1
    assert "failed in verify: model_unavailable (the endpoint answered 503)" in result.stderr
    assert "reverie doctor" in result.stderr
    dreaming.worker.dream_failure = ("dream", "timed_out", "")
    timed_out = run("dream", "run", "--json")
    assert (timed_out.exit_code, json.loads(timed_out.stdout)["consolidation"]["state"]) == (1, "failed")
    assert "longer --timeout" in timed_out.stderr


def test_ctrl_c_says_that_the_round_goes_on(run: Run, dreaming: FakeServices, monkeypatch: pytest.MonkeyPatch) -> None:
    async def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(consolidating, "settled", interrupted)
    result = run("dream", "run", "--user", "ana")
    assert result.exit_code == 130
    assert "what was accepted goes on: `reverie dream list --user ana`" in result.stderr


def test_progress_is_told_by_the_pairs_of_the_stage(run: Run, dreaming: FakeServices) -> None:
    found = dreaming.consolidations
    new = NewConsolidation(user_id="ana", request_id="r", mode="final")
    waiting = asyncio.run(found.request(new, now=NOW)).consolidation
    assert consolidating.progress_text(waiting, ()) == "waiting for its turn at the graph"
    running = waiting.model_copy(update={"state": ConsolidationState.RUNNING})
    assert consolidating.progress_text(running, ()) == "looking for candidates"
    pairs = [PAIRS[0], pair(1, "Bob", "Robert", state=PairState.OPEN, verdict=None)]
    assert consolidating.progress_text(running, pairs) == "round: 1 of 2 pairs verified"
    repair = [each.model_copy(update={"stage": Stage.REPAIR}) for each in pairs[1:]]
    assert consolidating.progress_text(running, [*pairs, *repair]) == "repair round: 0 of 1 pairs verified"


def test_a_round_that_waits_is_looked_at_until_it_has_ended(
    run: Run, dreaming: FakeServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consolidating, "LINE_SECONDS", 0.0)
    dreaming.worker.asleep = True
    look = dreaming.consolidations.consolidation

    async def woken(user_id: str, consolidation_id: UUID) -> Any:
        dreaming.worker.asleep = False
        await dreaming.worker.wake_queue(user_id)
        return await look(user_id, consolidation_id)

    monkeypatch.setattr(dreaming.consolidations, "consolidation", woken)
    result = run("dream", "run", "--user", "ana")
    assert "2 merged" in result.stdout
    assert "waiting for its turn at the graph" in result.stderr


# ------------------------------------------------------------------------------------- list, show, cancel, undo


def test_consolidations_are_listed_newest_first_by_pages(run: Run, dreaming: FakeServices) -> None:
    for _ in range(3):
        run("dream", "run")
    page = document(run, "dream", "list", "--limit", "2")
    assert [each["sequence"] for each in page["consolidations"]] == [3, 2]
    rest = document(run, "dream", "list", "--limit", "2", "--before", str(page["before"]))
    assert ([each["sequence"] for each in rest["consolidations"]], rest["before"]) == ([1], None)
    table = run("dream", "list", "--limit", "2")
    assert page["consolidations"][0]["id"] in table.stdout
    assert "older ones: reverie dream list --user default --before 2" in table.stderr
    assert "no consolidations of bo" in run("dream", "list", "--user", "bo").stderr


def test_one_is_shown_with_its_pairs_by_state(run: Run, dreaming: FakeServices) -> None:
    identity = document(run, "dream", "run", "--user", "ana")["consolidation"]["id"]
    assert "Elizabeth" not in run("dream", "show", identity, "--user", "ana").stdout
    assert "Elizabeth" in run("dream", "show", identity, "--user", "ana", "--pairs").stdout
    shown = document(run, "dream", "show", identity, "--user", "ana", "--state", "rejected")
    assert (shown["pairs"], "created" in shown) == ([], False)
    assert len(document(run, "dream", "show", identity, "--user", "ana", "--state", "merged")["pairs"]) == 2


def test_another_user_s_is_not_found_and_what_is_no_id_is_refused(run: Run, dreaming: FakeServices) -> None:
    identity = reviewed(run)
    for command in (("show",), ("undo",), ("cancel",), ("review",)):
        result = run("dream", *command, identity, "--user", "bo", "--json")
        error = json.loads(result.stdout)["error"]
        assert (result.exit_code, error["type"]) == (1, "not_found")
        assert "reverie dream list" in error["message"]
        assert run("dream", *command, "seven", "--user", "ana").exit_code == 2


def test_one_that_waits_is_cancelled(run: Run, dreaming: FakeServices) -> None:
    identity = reviewed(run)
    result = run("dream", "cancel", identity, "--user", "ana", "--json")
    assert (result.exit_code, json.loads(result.stdout)["consolidation"]["state"]) == (0, "cancelled")
    assert "error" not in run("dream", "cancel", identity, "--user", "ana").stderr


def test_an_undo_is_asked_for_as_a_whole_or_for_one_anchor(run: Run, dreaming: FakeServices) -> None:
    identity = document(run, "dream", "run", "--user", "ana")["consolidation"]["id"]
    whole = run("dream", "undo", identity, "--user", "ana")
    assert (whole.exit_code, "0 merges undone" in whole.stdout) == (0, True)
    anchor = str(uuid4())
    assert run("dream", "undo", identity, "--user", "ana", "--absorbed", "").exit_code == 2
    one = document(run, "dream", "undo", identity, "--user", "ana", "--absorbed", anchor)["consolidation"]
    assert (one["mode"], one["target"], one["absorbed"], one["actor"]) == ("undo", identity, anchor, "zoe")


# --------------------------------------------------------------------------------------------------------- review


def test_what_waits_is_listed_and_decided_one_by_one(run: Run, dreaming: FakeServices) -> None:
    identity = reviewed(run)
    listed = run("dream", "review", identity, "--user", "ana")
    assert f"2 merges wait for a decision: reverie dream review {identity} --user ana" in listed.stdout
    assert "Robert" in listed.stdout
    shown = document(run, "dream", "review", identity, "--user", "ana", "--approve", "1111", "--keep", "Liz")
    (decided,) = shown["pairs"]
    assert (decided["state"], decided["decided_by"], decided["canonical"]) == (
        "merged",
        "zoe",
        str(PAIRS[0].a.anchor_id),
    )
    assert (shown["consolidation"]["state"], shown["consolidation"]["receipt"]["pending"]) == ("review", 1)
    rejected = document(run, "dream", "review", identity, "--user", "ana", "--reject", str(IDS[1]))
    assert (rejected["pairs"][0]["state"], rejected["consolidation"]["state"]) == ("declined", "completed")


def test_all_that_is_not_rejected_is_approved(run: Run, dreaming: FakeServices) -> None:
    identity = reviewed(run)
    shown = document(run, "dream", "review", identity, "--user", "ana", "--approve-all", "--reject", "2")
    assert [(each["id"], each["state"]) for each in shown["pairs"]] == [
        (str(IDS[1]), "declined"),
        (str(IDS[0]), "merged"),
    ]
    assert shown["consolidation"]["state"] == "completed"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--approve", "3"), "--approve: is no pair of this consolidation"),
        (("--reject", ""), "--reject: is no pair of this consolidation"),
        (("--keep", "Liz"), "--keep: goes with one --approve"),
        (("--approve", "1", "--approve", "2", "--keep", "Liz"), "--keep: goes with one --approve"),
        (("--approve", "1", "--reject", "1111"), "--reject: names a pair that is to be approved too"),
        (("--approve", "1", "--actor", "a\x07b"), "--actor: holds a control character"),
        (("--approve", "1", "--keep", "Lisbeth"), "--keep: must be one of the pair's two names"),
    ],
)
def test_a_decision_that_means_nothing_is_refused(
    run: Run, dreaming: FakeServices, arguments: tuple[str, ...], told: str
) -> None:
    result = run("dream", "review", reviewed(run), "--user", "ana", *arguments)
    assert (result.exit_code, told in result.stderr) == (2, True)
    every = document(run, "dream", "list", "--user", "ana")["consolidations"]
    assert every[0]["receipt"]["pending"] == len(PAIRS)


def test_the_start_of_several_ids_is_refused(run: Run, dreaming: FakeServices) -> None:
    dreaming.worker.pairs = (PAIRS[0], PAIRS[1].model_copy(update={"id": UUID(int=IDS[0].int + 1)}))
    result = run("dream", "review", reviewed(run), "--user", "ana", "--approve", "1111")
    assert (result.exit_code, "several pairs" in result.stderr) == (2, True)


def test_a_decision_that_comes_too_late_conflicts(run: Run, dreaming: FakeServices) -> None:
    identity = reviewed(run)
    run("dream", "review", identity, "--user", "ana", "--approve-all")
    result = run("dream", "review", identity, "--user", "ana", "--approve", "1111", "--json")
    error = json.loads(result.stdout)["error"]
    assert (result.exit_code, error["type"]) == (1, "merge_conflict")
    assert "reverie dream show" in error["message"]


# -------------------------------------------------------------------------------------------------------- anchors


@pytest.fixture
def told(services: FakeServices) -> FakeServices:
    """Ana ran with Liz along the canal."""
    arms = (("agent", "Ana"), ("companion", "Liz"), ("location", "canal"))
    world = World(services.jobs, services.records, services.graph)
    asyncio.run(world.tell("ana", "s1", [Said("Ana ran along the canal with Liz.", "run", arms)]))
    return services


def ids(run: Run) -> dict[str, str]:
    """Ana's anchors by name."""
    return {each["name"]: each["id"] for each in document(run, "anchors", "list", "--user", "ana")["anchors"]}


def lizs_merge(run: Run, told: FakeServices) -> UUID:
    """The round that merged Liz into Ana."""
    known = {name: UUID(identity) for name, identity in ids(run).items()}
    round_ = UUID(document(run, "dream", "run", "--user", "ana", "--no-wait")["consolidation"]["id"])
    told.evidence.consolidations[round_] = told.evidence.consolidations[round_].model_copy(
        update={"state": ConsolidationState.RUNNING}
    )
    join = Joined(id=merge_id(round_, known["Liz"]), absorbed=known["Liz"], representative=known["Ana"])
    asyncio.run(told.graph.merge("ana", [join], consolidation=round_, now=NOW))
    return round_


def test_anchors_are_listed_by_pages(run: Run, told: FakeServices) -> None:
    first = document(run, "anchors", "list", "--user", "ana", "--limit", "2")
    rest = document(run, "anchors", "list", "--user", "ana", "--limit", "2", "--after", first["after"])
    assert {each["name"] for each in first["anchors"] + rest["anchors"]} == {"Ana", "Liz", "canal"}
    assert (rest["after"], "semantic_ids" in first["anchors"][0]) == (None, False)
    table = run("anchors", "list", "--user", "ana", "--limit", "2")
    assert first["anchors"][0]["id"] in table.stdout
    assert f"--after {first['after']}" in table.stderr
    assert "no anchors of bo" in run("anchors", "list", "--user", "bo").stderr


def test_an_anchor_is_shown_by_id_or_by_a_name_of_it(run: Run, told: FakeServices) -> None:
    identity = ids(run)["canal"]
    for arguments in ((identity,), ("--name", "The Canals")):
        result = run("anchors", "show", *arguments, "--user", "ana")
        assert result.exit_code == 0
        for part in (identity, "canal", "run(agent: Ana, companion: Liz, location: canal)"):
            assert part in result.stdout
    shown = document(run, "anchors", "show", identity, "--user", "ana", "--limit", "1")
    assert (shown["anchor"]["name"], shown["degree"], len(shown["frames"])) == ("canal", 1, 1)
    assert shown["after"] == shown["frames"][0]["id"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 2),
        (("seven",), 2),
        ((str(uuid4()), "--name", "Ana"), 2),
        (("--name", " "), 2),
        ((str(uuid4()),), 1),
        (("--name", "Zoe"), 1),
        (("--name", "Ana", "--user", "bo"), 1),
    ],
)
def test_what_is_not_there_is_told(run: Run, told: FakeServices, arguments: tuple[str, ...], code: int) -> None:
    user = () if "--user" in arguments else ("--user", "ana")
    result = run("anchors", "show", *arguments, *user)
    assert result.exit_code == code
    assert ("reverie anchors list" in result.stderr) == (code == 1)


def test_an_anchor_that_was_merged_is_said_to_be(run: Run, told: FakeServices) -> None:
    known, round_ = ids(run), lizs_merge(run, told)
    gone = run("anchors", "show", known["Liz"], "--user", "ana")
    assert (gone.exit_code, f"was merged into {known['Ana']} by {round_}" in gone.stderr) == (1, True)
    assert (
        f"merge applied: Liz into Ana, by {round_}" in run("anchors", "show", "--name", "Liz", "--user", "ana").stdout
    )


def test_a_merge_and_a_split_by_hand_are_waited_for(run: Run, told: FakeServices) -> None:
    known = ids(run)
    merged = run("anchors", "merge", known["Ana"], known["Liz"], "--user", "ana", "--force")
    assert (merged.exit_code, merged.stdout.startswith("merged\n")) == (0, True)
    lizs_merge(run, told)
    refused = run("anchors", "split", known["Ana"], "Ana", "--user", "ana")
    assert (refused.exit_code, "keeps its own name" in refused.stderr) == (1, True)
    split = document(run, "anchors", "split", known["Ana"], "Liz", "--user", "ana", "--actor", "Ana")
    shown = split["consolidation"]
    assert (shown["mode"], shown["target"], shown["name"], shown["actor"]) == ("split", known["Ana"], "Liz", "Ana")
    first = next(each for each in told.evidence.consolidations.values() if each.mode == "merge")
    assert (str(first.target), str(first.absorbed), first.force) == (known["Ana"], known["Liz"], True)


def test_what_the_guard_refuses_fails_with_what_to_do(run: Run, told: FakeServices) -> None:
    told.worker.dream_failure = ("by_hand", "merge_conflict", "the two may not be one (types); force it if you know")
    known = ids(run)
    result = run("anchors", "merge", known["Ana"], known["Liz"], "--user", "ana")
    assert result.exit_code == 1
    assert "the two may not be one" in result.stderr


def test_an_anchor_that_is_not_the_user_s_is_not_found_before_anything_is_stored(run: Run, told: FakeServices) -> None:
    known = ids(run)
    for arguments in (
        ("merge", known["Ana"], str(uuid4()), "--user", "ana"),
        ("merge", known["Ana"], known["Liz"], "--user", "bo"),
        ("split", str(uuid4()), "Annie", "--user", "ana"),
    ):
        result = run("anchors", *arguments)
        assert (result.exit_code, "reverie anchors list" in result.stderr) == (1, True)
    assert run("anchors", "merge", known["Ana"], known["Ana"], "--user", "ana").exit_code == 2
    assert not told.evidence.consolidations


# --------------------------------------------------------------------------------------------------------- ingest


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """Twelve sessions of a message each: twelve inputs of a chunk each."""
    path = tmp_path / "talk.jsonl"
    path.write_text(lines(12))
    return path


def lines(count: int) -> str:
    return "".join(json.dumps({"text": f"turn {n}", "session_id": f"s{n}"}) + "\n" for n in range(count))


def test_an_ingest_dreams_after_every_five_chunks_and_at_the_end(run: Run, dreaming: FakeServices, talk: Path) -> None:
    result = run("ingest", str(talk), "--user", "ana", "--dream")
    assert result.exit_code == 0
    assert "rounds 3, merges 2; final round " in result.stdout
    modes = [each.mode.value for each in dreaming.evidence.consolidations.values()]
    assert modes == ["intermediate", "intermediate", "final"]
    (started,) = dreaming.worker.batches
    jobs = sorted(dreaming.evidence.jobs.values(), key=lambda job: job.sequence)
    assert started == batch_id("ana", [job.request_id for job in jobs])
    assert {job.batch_id for job in jobs} == {started}


def test_its_rounds_stand_in_the_summary(run: Run, dreaming: FakeServices, talk: Path) -> None:
    summary = document(run, "ingest", str(talk), "--user", "ana", "--dream")
    dream = summary["dream"]["ana"]
    assert (dream["rounds"], dream["merges"], dream["final"]["state"]) == (3, 2, "completed")
    assert document(run, "ingest", str(talk), "--user", "bo")["dream"] == {}


def test_again_it_is_the_same_batch_and_the_same_rounds(run: Run, dreaming: FakeServices, talk: Path) -> None:
    first = document(run, "ingest", str(talk), "--user", "ana", "--dream")
    again = document(run, "ingest", str(talk), "--user", "ana", "--dream")
    assert (again["turns_new"], again["dream"]) == (0, first["dream"])
    assert len(dreaming.evidence.consolidations) == 3


def test_inputs_that_were_all_stored_before_are_no_batch(run: Run, dreaming: FakeServices, talk: Path) -> None:
    run("ingest", str(talk), "--user", "ana")
    result = run("ingest", str(talk), "--user", "ana", "--dream")
    assert (result.exit_code, dreaming.worker.batches) == (0, [])
    assert "all inputs of ana were stored before" in result.stderr
    assert "reverie dream run --user ana" in result.stderr
    assert not dreaming.evidence.consolidations


def test_inputs_of_an_interrupted_batch_are_fed_with_it(
    run: Run, dreaming: FakeServices, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted before the batch was started, and run again with a longer file: another batch."""
    start = dreaming.worker.start_batch

    async def interrupted(user_id: str, batch_id: UUID) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dreaming.worker, "start_batch", interrupted)
    result = run("ingest", str(talk), "--user", "ana", "--dream")
    assert (result.exit_code, "12 of 12 inputs are stored" in result.stderr) == (130, True)
    monkeypatch.setattr(dreaming.worker, "start_batch", start)
    talk.write_text(lines(14))
    summary = document(run, "ingest", str(talk), "--user", "ana", "--dream")
    assert {job["state"] for job in summary["jobs"]} == {"completed"}
    assert (summary["turns_new"], len(dreaming.worker.batches)) == (2, 2)


def test_nothing_of_a_batch_is_started_before_all_of_it_is_stored(
    run: Run, dreaming: FakeServices, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.run.cli.sending.IN_FLIGHT", 3)
    stored: list[int] = []
    start = dreaming.worker.start_batch

    async def noted(user_id: str, batch_id: UUID) -> None:
        stored.append(sum(job.state == "accepted" for job in dreaming.evidence.jobs.values()))
        await start(user_id, batch_id)

    monkeypatch.setattr(dreaming.worker, "start_batch", noted)
    assert run("ingest", str(talk), "--dream").exit_code == 0
    assert stored == [12]


def test_without_waiting_the_final_round_is_said_to_follow(run: Run, dreaming: FakeServices, talk: Path) -> None:
    dreaming.worker.asleep = True
    result = run("ingest", str(talk), "--dream", "--no-wait")
    assert (result.exit_code, "the final round follows the last job" in result.stdout) == (0, True)


def test_a_batch_that_can_not_be_started_now_is_stored_all_the_same(
    run: Run, dreaming: FakeServices, talk: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def away(user_id: str, batch_id: UUID) -> None:
        raise Unavailable("the workflow server answered UNAVAILABLE")

    monkeypatch.setattr(dreaming.worker, "start_batch", away)
    assert run("ingest", str(talk), "--dream", "--no-wait").exit_code == 0
    assert len(dreaming.evidence.jobs) == 12
    assert "will be started later" in caplog.text


def test_a_final_round_that_fails_fails_the_ingest(run: Run, dreaming: FakeServices, talk: Path) -> None:
    dreaming.worker.dream_failure = ("verify", "model_unavailable", "")
    result = run("ingest", str(talk), "--dream")
    assert result.exit_code == 1
    assert "failed in verify: model_unavailable" in result.stderr


# ------------------------------------------------------------------------------------------------------ all of them


@pytest.mark.parametrize(
    "command",
    [
        *("dream", "dream run", "dream list", "dream show", "dream undo", "dream cancel", "dream review"),
        *("anchors", "anchors list", "anchors show", "anchors merge", "anchors split"),
    ],
)
def test_help_has_an_example(run: Run, command: str) -> None:
    result = run(*command.split(), "--help")
    assert result.exit_code == 0
    assert "Example: reverie" in result.stdout
