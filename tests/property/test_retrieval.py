"""Laws of planning and fusion."""

from datetime import UTC, date, datetime
from random import Random
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from domain.memory import MemoryKind
from domain.retrieval.entry import MAX_NAME_KEYS, exact_names
from domain.retrieval.fusion import Candidate, Lane, Quota, fuse, paraphrases
from domain.retrieval.plan import Budget, plan
from domain.retrieval.rows import RowFeatures, score_rows
from domain.retrieval.words import tokens

WORDS = st.frozensets(st.sampled_from(["run", "canal", "mor", "even", "5", "10", "km", "ana"]), max_size=6)
DAYS = st.one_of(st.none(), st.dates(date(2024, 5, 1), date(2024, 5, 3)))
KINDS = st.sampled_from([MemoryKind.EPISODIC, MemoryKind.SEMANTIC, MemoryKind.RESOURCE])
BUDGETS = st.builds(Budget, base=st.integers(0, 8), cited=st.integers(0, 12))
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        id=st.integers(0, 40).map(lambda number: UUID(int=number)),
        kind=KINDS,
        score=st.floats(-3, 3).map(lambda score: round(score, 1)),
        cited=st.booleans(),
        words=WORDS,
        day=DAYS,
    ),
    max_size=60,
    unique_by=lambda row: row.id,
)
QUOTAS = st.sampled_from(Quota)


@given(CANDIDATES, BUDGETS, QUOTAS)
def test_budgets_hold_and_no_row_comes_twice(rows: list[Candidate], budget: Budget, quota: Quota) -> None:
    """|rows| = min(budget, rows that are left after the collapse); every row is one of those that entered, once."""
    fused = fuse(rows, budget, quota=quota)
    ids = [chosen.id for chosen in fused.rows]
    assert len(set(ids)) == len(ids) == min(budget.rows, len(rows) - len(fused.collapsed))
    assert sorted([*ids, *fused.collapsed, *fused.cut]) == sorted(row.id for row in rows)


@given(CANDIDATES, BUDGETS, QUOTAS, st.randoms(use_true_random=False))
def test_the_order_of_entry_does_not_matter(rows: list[Candidate], budget: Budget, quota: Quota, order: Random) -> None:
    """Same rows, same answer."""
    shuffled = list(rows)
    order.shuffle(shuffled)
    assert fuse(shuffled, budget, quota=quota) == fuse(rows, budget, quota=quota)


@given(CANDIDATES, BUDGETS)
def test_strict_fusion_puts_cited_rows_before_base_rows(rows: list[Candidate], budget: Budget) -> None:
    """Every cited row stands before every base row, and both keep at least their share."""
    cited = {row.id: row.cited for row in rows}
    fused = fuse(rows, budget, quota=Quota.STRICT)
    flags = [cited[chosen.id] for chosen in fused.rows]
    assert flags == sorted(flags, reverse=True)
    left = [row for row in rows if row.id not in fused.collapsed]
    assert sum(flags) >= min(budget.cited, sum(row.cited for row in left))
    assert len(flags) - sum(flags) >= min(budget.base, sum(not row.cited for row in left))


@given(CANDIDATES, BUDGETS)
def test_soft_fusion_keeps_half_of_the_cited_share(rows: list[Candidate], budget: Budget) -> None:
    """Half of B_R, rounded up, is sure for the best cited rows; the answer is in order of score."""
    by_id = {row.id: row for row in rows}
    fused = fuse(rows, budget, quota=Quota.SOFT)
    chosen = [by_id[row.id] for row in fused.rows]
    available = sum(row.cited and row.id not in fused.collapsed for row in rows)
    assert sum(row.lane is Lane.CITED for row in fused.rows) == min((budget.cited + 1) // 2, available)
    assert [(-row.score, row.id) for row in chosen] == sorted((-row.score, row.id) for row in chosen)


@given(CANDIDATES, BUDGETS, QUOTAS)
def test_only_paraphrases_of_one_calendar_date_collapse(rows: list[Candidate], budget: Budget, quota: Quota) -> None:
    """A collapsed row has an episodic twin of the same date that stays, is at least as cited, and has its numbers."""
    fused = fuse(rows, budget, quota=quota)
    gone = [row for row in rows if row.id in fused.collapsed]
    stay = [row for row in rows if row.id not in fused.collapsed]
    for row in gone:
        twins = [other for other in stay if paraphrases(row, other)]
        assert twins
        assert all(other.day == row.day and other.kind is MemoryKind.EPISODIC for other in twins)
        assert any(other.cited >= row.cited for other in twins)
    for position, row in enumerate(stay):
        assert not any(paraphrases(row, other) for other in stay[position + 1 :])


@given(WORDS, DAYS, DAYS)
def test_equal_words_on_two_dates_stay_two(words: frozenset[str], one: date | None, other: date | None) -> None:
    """And undated ones, whatever their words."""
    rows = [
        Candidate(id=UUID(int=n), kind=MemoryKind.EPISODIC, score=0, cited=False, words=words, day=when)
        for n, when in enumerate((one, other))
    ]
    same = one is not None and one == other and bool(words)
    assert len(fuse(rows, Budget(base=5, cited=5)).rows) == (1 if same else 2)


@given(CANDIDATES, BUDGETS, QUOTAS, st.integers(0, 5))
def test_a_limit_per_kind_holds(rows: list[Candidate], budget: Budget, quota: Quota, limit: int) -> None:
    """No kind has more rows than its limit."""
    kinds = {row.id: row.kind for row in rows}
    fused = fuse(rows, budget, quota=quota, limits=dict.fromkeys(MemoryKind, limit))
    for kind in MemoryKind:
        assert sum(kinds[row.id] is kind for row in fused.rows) <= limit


@given(st.text(max_size=300), st.datetimes(timezones=st.just(UTC)))
def test_any_text_has_the_same_plan_twice(question: str, as_of: datetime) -> None:
    """The planner is total and deterministic, and its lexical query has no word it would drop."""
    assert plan(question, as_of=as_of) == plan(question, as_of=as_of)
    assert len(exact_names(question)) <= MAX_NAME_KEYS


@given(st.text(st.characters(max_codepoint=127), max_size=80))
def test_tokens_of_plain_text_are_those_among_other_scripts(text: str) -> None:
    """The short way for ASCII gives what the long way gives."""
    assert tokens(f"{text} \u00e9") == (*tokens(text), "\u00e9")


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.text(max_size=20), st.one_of(st.none(), st.floats(-5, 5))), max_size=20),
    st.lists(st.text(max_size=8), max_size=4),
)
def test_row_scores_are_finite_and_complete(rows: list[tuple[float, str, float | None]], words: list[str]) -> None:
    """One finite score a row, whatever is missing."""
    features = [
        RowFeatures(id=UUID(int=n), text=text, cosine=cosine, frame_cosine=None, fact=fact)
        for n, (cosine, text, fact) in enumerate(rows)
    ]
    scores = score_rows(features, words)
    assert set(scores) == {row.id for row in features}
    assert all(abs(score) < 1e6 for score in scores.values())
