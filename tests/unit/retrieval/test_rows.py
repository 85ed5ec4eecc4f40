"""Row scores and the choices between the reads."""

import math

import pytest

from domain.memory import Frame, MemoryKind, Status
from domain.retrieval.lanes import co_participants, facts_of, joined, nearest
from domain.retrieval.rows import RowFeatures, bm25, score_rows, shortlist, z_scores
from domain.retrieval.scoring import FactScore
from tests.unit.retrieval.build import arm, day, frame, uid


def test_bm25_prefers_rare_words_and_short_rows() -> None:
    documents = ["the red boat", "the red car", "the red car and the long red road to the red house", "a bird"]
    assert bm25(["red", "boat"], documents)[0] == max(bm25(["red", "boat"], documents))
    red = bm25(["car"], documents)
    assert red[1] > red[2] > red[3] == 0


def test_bm25_matches_inflections_and_survives_nothing() -> None:
    assert bm25(["painted"], ["She paints"])[0] > 0
    assert bm25([], ["text"]) == (0,)
    assert bm25(["word"], []) == ()
    assert bm25(["word"], ["", ""]) == (0, 0)


def test_z_scores_leave_out_what_is_missing() -> None:
    scores = z_scores([1.0, None, 3.0])
    assert scores == pytest.approx((-1.0, 0.0, 1.0))
    assert z_scores([2.0, 2.0]) == (0.0, 0.0)
    assert z_scores([None]) == (0.0,)


def test_each_term_can_lift_a_row() -> None:
    plain = RowFeatures(id=uid("plain"), text="nothing", cosine=0.3, frame_cosine=0.3, fact=0.0)
    for better in (
        plain.model_copy(update={"cosine": 0.6}),
        plain.model_copy(update={"text": "a red boat"}),
        plain.model_copy(update={"frame_cosine": 0.6}),
        plain.model_copy(update={"fact": 2.0}),
        plain.model_copy(update={"around": "a red boat"}),
    ):
        lifted = better.model_copy(update={"id": uid("better")})
        scores = score_rows([plain, lifted], ["boat"])
        assert scores[lifted.id] > scores[plain.id]
        assert all(math.isfinite(score) for score in scores.values())


def test_rows_looked_at_closely_stand_above_the_others() -> None:
    rows = [
        RowFeatures(id=uid("near"), text="boat", cosine=0.9),
        RowFeatures(id=uid("far"), text="", cosine=0.1, around=""),
        RowFeatures(id=uid("answer"), text="", cosine=0.1, around="asked about a boat"),
        RowFeatures(id=uid("other"), text="", cosine=0.5),
    ]
    scores = score_rows(rows, ["boat"])
    assert sorted(scores, key=lambda row: -scores[row]) == [uid("answer"), uid("far"), uid("near"), uid("other")]


def test_the_shortlist_goes_by_cosine_and_words() -> None:
    rows = [RowFeatures(id=uid(str(n)), text="a boat" if n == 7 else "", cosine=n / 20) for n in range(10)]
    assert shortlist(rows, ["boat"], limit=2) == (uid("7"), uid("9"))
    assert shortlist([], ["boat"], limit=2) == ()


def test_rows_of_a_hub_enter_in_vector_order() -> None:
    ids = [uid(str(number)) for number in range(10)]
    cosines = {row: number / 10 for number, row in enumerate(ids[:8])}
    assert nearest(ids, cosines, limit=3) == (ids[7], ids[6], ids[5])


def test_rankings_are_joined() -> None:
    one, other = uid("one"), uid("other")
    assert joined([{one: 0.5}, {one: 0.5, other: 0.1}, {}]) == {one: 0.5, other: 0.1}


def test_co_participants_of_the_nearest_frames_come_first() -> None:
    near = frame("meet", [arm("agent", "Ana"), arm("object", "Ben")])
    far = frame("meet", [arm("agent", "Ana"), arm("object", "Cleo")])
    found = co_participants([far, near], frozenset({uid("Ana")}), {near.id: 0.9, far.id: 0.1})
    assert found == (uid("Ben"), uid("Cleo"))


def scored(*frames: Frame) -> dict[str, FactScore]:
    """All the same score."""
    return {found.id: FactScore(frame_id=found.id, score=1.0, terms={}) for found in frames}


def test_frames_made_equal_by_a_merge_are_one_fact_with_all_citations() -> None:
    """Invariant 2 holds beside it: undated occurrences stay apart."""
    arms = [arm("agent", "Ana"), arm("object", "tea")]
    semantic = [frame("like", arms, of=[name], kind=MemoryKind.SEMANTIC, status=Status.STATE) for name in ("a", "b")]
    dated = [frame("drink", arms, of=[name], event_time=day(2024, 5, 1)) for name in ("a", "b")]
    undated = [frame("drink", arms, of=[name]) for name in ("a", "b")]
    frames = [*semantic, *dated, *undated]
    facts = facts_of(frames, scored(*frames), {uid("a"), uid("b")}, limit=10)
    assert [len(fact.record_ids) for fact in facts] == [2, 2, 1, 1]
    assert [len(fact.frame_ids) for fact in facts] == [2, 2, 1, 1]


def test_a_fact_cites_only_rows_that_are_seen() -> None:
    frames = [
        frame("run", [arm("agent", "Ana"), arm("object", "race")], of=["a", "gone"]),
        frame("run", [], of=["gone"]),
    ]
    facts = facts_of(frames, scored(*frames), {uid("a"): None}, limit=10)
    assert [fact.record_ids for fact in facts] == [(uid("a"),)]
