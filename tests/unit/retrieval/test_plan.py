"""The planner: operators, budgets, relations, sides, times."""

from datetime import date

import pytest

from domain.errors import InvalidInput
from domain.retrieval.plan import ASKED, AnswerType, Budget, Budgets, Operator, Order, Side, plan
from domain.retrieval.times import TimeRelation
from tests.unit.retrieval.build import AS_OF, ask


@pytest.mark.parametrize(
    ("question", "operator"),
    [
        ("Where does Ana live?", Operator.SINGLE),
        ("Which seat does Ben have on the flight?", Operator.SINGLE),
        ("When did Ana visit the museum?", Operator.TEMPORAL),
        ("What day did Ben leave?", Operator.TEMPORAL),
        ("How long has Cleo been vegetarian?", Operator.TEMPORAL),
        ("How many times did Ana run along the canal?", Operator.COUNT),
        ("How often does Ben swim?", Operator.COUNT),
        ("What do Ana and Ben both like?", Operator.INTERSECTION),
        ("What do Ana and Ben have in common?", Operator.INTERSECTION),
        ("Which books did Ben borrow?", Operator.LIST_UNION),
        ("What has Ana painted?", Operator.LIST_UNION),
        ("Where has Cleo travelled?", Operator.LIST_UNION),
        ("What outdoor activities does Ana enjoy?", Operator.LIST_UNION),
        ("What does Ben like to eat?", Operator.LIST_UNION),
        ("What kind of bread does Ben bake?", Operator.LIST_UNION),
        ("What does the new shop offer?", Operator.LIST_UNION),
        ("What does Ana tell Ben he won't do?", Operator.SINGLE),
        ("What makes Ben a good teacher?", Operator.SINGLE),
        ("What offer does Ben make?", Operator.SINGLE),
        ("Which song motivates Ana to be brave?", Operator.SINGLE),
        ("Why did Ana and Ben open a shop?", Operator.INTERSECTION),
        ("What did Ana buy last?", Operator.SINGLE),
        ("How many years did Ana live in Porto?", Operator.SINGLE),
    ],
)
def test_operator(question: str, operator: Operator) -> None:
    """The operator follows from the form of the question."""
    assert ask(question).operator is operator


@pytest.mark.parametrize(
    ("operator", "base", "cited"),
    [
        (Operator.SINGLE, 6, 4),
        (Operator.TEMPORAL, 6, 5),
        (Operator.INTERSECTION, 8, 8),
        (Operator.LIST_UNION, 8, 10),
        (Operator.COUNT, 8, 12),
    ],
)
def test_default_budgets(operator: Operator, base: int, cited: int) -> None:
    """Design 4's table, a temporal row less."""
    assert Budgets().of(operator) == Budget(base=base, cited=cited)


@pytest.mark.parametrize("question", ["Would Ana move abroad?", "What would Ben likely order?", "Might Cleo quit?"])
def test_a_judgement_gets_the_list_budget_and_no_other_operator(question: str) -> None:
    planned = ask(question)
    assert planned.budget == Budgets().list_union
    assert planned.operator is Operator.SINGLE


def test_budgets_are_an_argument() -> None:
    budgets = Budgets(single=Budget(base=1, cited=2))
    assert plan("Where does Ana live?", as_of=AS_OF, budgets=budgets).budget.rows == 3


def test_a_relation_has_its_surface_forms_and_leaves_the_constraints() -> None:
    planned = ask("Who gave Ana the silver ring?")
    assert [family.name for family in planned.families] == ["give"]
    assert "donate" in planned.predicates
    assert planned.constraints == ("silver", "ring")
    assert planned.words == ("gave", "silver", "ring")


def test_a_verb_no_family_knows_is_looked_up_as_asked() -> None:
    planned = ask("Who repaired the boat?")
    assert [family.name for family in planned.families] == [ASKED]
    assert "repair" in planned.predicates


def test_a_particle_belongs_to_its_verb() -> None:
    """`gave up` is a stop, and `picked up` is looked up with and without its particle."""
    assert [family.name for family in ask("When did Ana give up chess?").families] == ["give", "stop"]
    assert {"pick", "pick_up"} <= set(ask("What did Ana pick up?").predicates)


def test_families_can_be_added() -> None:
    planned = plan("Who moored the boat?", as_of=AS_OF, families={"berth": ("moor", "dock", "berth_at")})
    assert [family.name for family in planned.families] == ["berth"]


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Who gave Ana the ring?", {"ana": Side.OBJECT}),
        ("What did Ana give Ben?", {"ana": Side.SUBJECT, "ben": Side.OBJECT}),
        ("When was Ana given the ring?", {"ana": Side.OBJECT}),
        ("What was painted by Cleo?", {"cleo": Side.SUBJECT}),
        ("Which books has Ben read?", {"ben": Side.SUBJECT}),
        ("Which seat does Ben have?", {"ben": Side.SUBJECT}),
        ("Who walked Ana's dog?", {}),
    ],
)
def test_sides_follow_word_order_and_voice(question: str, sides: dict[str, Side]) -> None:
    assert {found.name: found.side for found in ask(question).directions} == sides


def test_capitalised_words_are_names_where_no_person_is_known() -> None:
    planned = plan("Where does Mara sit in May?", as_of=AS_OF)
    assert [found.name for found in planned.directions] == ["mara"]
    assert "mara" not in planned.words


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who came?", AnswerType.PERSON),
        ("Where was it?", AnswerType.PLACE),
        ("When was it?", AnswerType.TIME),
        ("How many came?", AnswerType.NUMBER),
    ],
)
def test_answer_types(question: str, kind: AnswerType) -> None:
    assert ask(question).answer_types == (kind,)


def test_order_and_future() -> None:
    assert ask("What did Ana do first?").order is Order.FIRST
    assert ask("What did Ana buy most recently?").order is Order.LAST
    assert ask("When is Ana going to run?").future
    assert not ask("When did Ana run?").future


def test_times_resolve_in_the_users_zone() -> None:
    """At 23:30 UTC it is tomorrow in Tokyo, so `today` is."""
    late = AS_OF.replace(hour=23, minute=30)
    (constraint,) = plan("What happened today?", as_of=late, timezone="Asia/Tokyo").times
    assert (constraint.relation, constraint.start) == (TimeRelation.ON, date(2024, 6, 2))


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="timezone"):
        plan("When?", as_of=AS_OF, timezone="Mars/Olympus")


@pytest.mark.parametrize("question", ["", "?", "…", "何を食べましたか", "the of and", "who", "a" * 4000])
def test_any_text_has_a_plan(question: str) -> None:
    assert plan(question, as_of=AS_OF).budget.rows >= 10
