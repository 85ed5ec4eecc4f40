"""Frames from clauses: predicate, role-typed arms, literals, time and standing (paper Eq. 5; design 3.3)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from spacy.tokens import Token

from domain.keys import anchor_key
from domain.memory import AnchorType, Arm, FrameDraft, Literal, Status
from infra.models.rules.arms import Role, complements, is_particle, subject_role
from infra.models.rules.lexicon import words
from infra.models.rules.literals import literals
from infra.models.rules.names import Named, conjuncts, is_measure, named
from infra.models.rules.parse import quoted
from infra.models.rules.people import GROUP, Cast, Relation
from infra.models.rules.said import Said
from infra.models.rules.status import Clause, is_condition

ASSERTED, REPORTED, OPINION = 0.8, 0.6, 0.5
"""Confidence of a frame with its subject, of one without or under "I think", of a general remark of the speaker."""


@dataclass
class Draft:
    """A frame under construction; arms keep their order and each (role, name) stands once."""

    predicate: str
    arms: list[tuple[str, Named]] = field(default_factory=list)
    values: list[Literal] = field(default_factory=list)

    def add(self, role: str, participant: Named | None) -> None:
        """Put in a participant, with its possessor and its count."""
        if participant is None or not participant.name:
            return
        self._arm(role, participant)
        if participant.count:
            self.values.append(Literal(name="count", value=participant.count, unit=participant.name))
        if participant.possessor and participant.possessor not in participant.name:
            self._arm("possessor", Named(participant.possessor, AnchorType.PERSON))

    def _arm(self, role: str, participant: Named) -> None:
        if all((role, participant.name) != (other, known.name) for other, known in self.arms):
            self.arms.append((role, participant))

    @property
    def distinct(self) -> int:
        """How many different anchors the arms name."""
        return len({anchor_key(participant.name) for _, participant in self.arms})


def frames(item: Said, cast: Cast) -> tuple[list[FrameDraft], list[Named]]:
    """The frames of a sentence and every participant they name."""
    found: list[FrameDraft] = []
    participants: list[Named] = []
    cast.relations.clear()
    for clause in item.clauses:
        if is_condition(clause.verb):
            continue
        made = _frame(item, clause, cast)
        if made is not None:
            frame, members = made
            found.append(frame)
            participants += members
    for relation in cast.relations:
        found.append(_relation(relation))
        participants += [Named(relation.name, AnchorType.PERSON), Named(relation.owner, AnchorType.PERSON)]
    cast.relations.clear()
    if not found:
        frame_and_members = fragment(item, cast)
        if frame_and_members is not None:
            found.append(frame_and_members[0])
            participants += frame_and_members[1]
    return found, participants


def _frame(item: Said, clause: Clause, cast: Cast) -> tuple[FrameDraft, list[Named]] | None:
    if clause.verb.lemma_ in words("not frames") and not clause.matrix:
        return None
    draft = Draft(predicate(clause))
    if _presents(clause) and cast.speaker:
        return _presented(clause, cast)
    subjects = _subjects(draft, clause, cast)
    for role in complements(clause):
        _complement(draft, role, cast)
    if not draft.predicate:
        return None
    _activity(draft, clause)
    confidence = ASSERTED if subjects else REPORTED
    if not subjects:
        if draft.distinct < 2 or not _stands_alone(draft, clause):
            return None
        if _general(draft, cast):
            draft.add("holder", Named(cast.speaker, AnchorType.PERSON))
            confidence = OPINION
    if draft.distinct < 2:
        return None
    _titles(draft, item, clause)
    inside = " ".join(part.name for _, part in draft.arms).lower()
    draft.values += [
        value
        for position, value in _literals(item)
        if _carried(item, position, clause) and f"{value.value} {value.unit}".strip().lower() not in inside
    ]
    time = item.time_of_clause(clause)
    frame = FrameDraft(
        predicate=draft.predicate,
        arms=tuple(Arm(role=role, name=participant.name) for role, participant in draft.arms),
        literals=tuple(dict.fromkeys(draft.values)),
        event_time=time.span if time is not None else None,
        status=clause.status,
        negated=clause.negated,
        modality=clause.modality,
        confidence=REPORTED if clause.verb.dep_ == "ccomp" and confidence > REPORTED else confidence,
    )
    return frame, [participant for _, participant in draft.arms]


def _relation(relation: Relation) -> FrameDraft:
    """ "my brother Tom": who is what to whom."""
    arms = (Arm(role="subject", name=relation.name), Arm(role="possessor", name=relation.owner))
    return FrameDraft(predicate=f"be_{relation.kind}", arms=arms, status=Status.STATE, confidence=ASSERTED)


_SUBJECT_ROLES = frozenset({"agent", "experiencer", "subject"})


def _stands_alone(draft: Draft, clause: Clause) -> bool:
    """Without a definite subject: a general one, a passive object, or something that "it" does to a person."""
    roles = {role for role, _ in draft.arms}
    if roles & _SUBJECT_ROLES or (
        clause.subject is not None and clause.subject.dep_ == "nsubjpass" and "object" in roles
    ):
        return True
    pointing = clause.subject is not None and clause.subject.pos_ == "PRON" and clause.verb.dep_ != "relcl"
    named_one = any(part.type is AnchorType.PERSON for role, part in draft.arms if role != "possessor")
    return pointing and named_one and draft.distinct > 1 and clause.verb.lemma_ not in words("linking")


def _presents(clause: Clause) -> bool:
    """ "Here's a pic of Oliver": the speaker shows something."""
    return clause.verb.lemma_ == "be" and any(child.lower_ == "here" for child in clause.verb.children)


def _presented(clause: Clause, cast: Cast) -> tuple[FrameDraft, list[Named]] | None:
    draft = Draft("share")
    draft.add("agent", Named(cast.speaker, AnchorType.PERSON))
    for token in conjuncts(clause.subject) if clause.subject is not None else []:
        draft.add("object", named(token, cast))
        for child in token.children:
            if child.dep_ == "prep" and child.lower_ == "of":
                for inner in child.children:
                    draft.add("depicted", named(inner, cast))
    if draft.distinct < 2:
        return None
    arms = tuple(Arm(role=role, name=part.name) for role, part in draft.arms)
    frame = FrameDraft(predicate=draft.predicate, arms=arms, status=Status.DONE, confidence=REPORTED)
    return frame, [part for _, part in draft.arms]


def _general(draft: Draft, cast: Cast) -> bool:
    """No person of the talk stands in the frame: without a holder it would be a fact of nobody."""
    return bool(cast.speaker) and bool(draft.arms) and all(part.name != cast.speaker for _, part in draft.arms)


def _subjects(draft: Draft, clause: Clause, cast: Cast) -> bool:
    """Add the subject's arms; False if there is no definite one."""
    role = subject_role(clause)
    token = clause.subject
    definite = False
    for each in conjuncts(token) if token is not None else []:
        if each.lower_ in GROUP:
            draft.add(role, Named(cast.speaker, AnchorType.PERSON) if cast.speaker else None)
            draft.add("co_agent", Named(cast.group, AnchorType.PERSON) if cast.group else None)
            if not cast.group:
                draft.values.append(Literal(name="participants", value="group"))
            definite = True
            continue
        participant = named(each, cast)
        draft.add(role, participant)
        owned = participant is None and _owner(draft, each, cast)
        definite = (
            definite
            or owned
            or is_measure(each)
            or (participant is not None and (participant.type is AnchorType.PERSON or each.pos_ == "PROPN"))
        )
    if clause.gap is not None:
        draft.add("object", named(clause.gap, cast))
    return definite


def _owner(draft: Draft, token: Token, cast: Cast) -> bool:
    """ "My way back is …": an empty noun still says whose it is."""
    owner = next((child for child in token.children if child.dep_ == "poss"), None) if token.pos_ == "NOUN" else None
    name = cast.name_of(owner) if owner is not None else ""
    if name:
        draft.add("possessor", Named(name, AnchorType.PERSON))
    return bool(name)


def _complement(draft: Draft, role: Role, cast: Cast) -> None:
    if role.token.lower_ in GROUP:
        draft.add(role.name, Named(cast.speaker, AnchorType.PERSON) if cast.speaker else None)
        return
    if role.adjective:
        draft.add(role.name, Named(role.token.lower_, AnchorType.CONCEPT, token=role.token))
        return
    for each in conjuncts(role.token):
        participant = _placed(role.name, named(each, cast))
        draft.add(_person_role(role.name, participant), participant)


def _placed(role: str, participant: Named | None) -> Named | None:
    """A proper name that one goes to, comes from or is in is a place, unless the parser knows better."""
    if participant is None or participant.token is None or participant.token.pos_ != "PROPN":
        return participant
    unsure = participant.type is AnchorType.OTHER or participant.token.ent_type_ == "ORG"
    if role in {"destination", "source"} and unsure and not any(char.isdigit() for char in participant.name):
        return replace(participant, type=AnchorType.LOCATION)
    return participant


def _person_role(role: str, participant: Named | None) -> str:
    """Roles of prepositions depend on what stands behind them: with a friend, with a brush."""
    if participant is None:
        return role
    person = participant.type is AnchorType.PERSON
    if role == "companion" and not person and participant.type not in {AnchorType.ORGANIZATION, AnchorType.OTHER}:
        return "topic" if participant.type in {AnchorType.CONCEPT, AnchorType.EVENT} else "instrument"
    if role == "purpose" and person:
        return "beneficiary"
    if role == "destination" and person:
        return "recipient"
    return role


def _titles(draft: Draft, item: Said, clause: Clause) -> None:
    """A quoted title that hangs on the clause in a way the parser doesn't show: "a novel called …"."""
    known = {part.name for _, part in draft.arms}
    for start, _, title in quoted(item.text):
        if title not in known and title[:1].isupper() and _carried(item, start + 1, clause):
            draft.add("title", Named(title, AnchorType.CONTENT))


def _activity(draft: Draft, clause: Clause) -> None:
    """ "We hiked": the activity stands as an arm where the verb has no other participant."""
    if (
        draft.distinct == 1
        and clause.verb.tag_ == "VBN"
        and clause.subject is not None
        and clause.subject.dep_ == "nsubjpass"
    ):
        draft.add("attribute", Named(clause.verb.lower_, AnchorType.CONCEPT))
    if draft.distinct == 1 and clause.verb.lemma_ in words("activities"):
        draft.add("activity", Named(gerund(clause.verb.lemma_), AnchorType.CONCEPT))


def gerund(lemma: str) -> str:
    """The -ing form of an activity verb."""
    if lemma in {"run", "swim", "jog", "knit", "box", "row", "ski"}:
        return {"box": "boxing", "row": "rowing", "ski": "skiing"}.get(lemma, lemma + lemma[-1] + "ing")
    return (lemma.removesuffix("e")) + "ing"


def predicate(clause: Clause) -> str:
    """Lemma with its particle; "be" takes its adjective where something depends on it ("be_proud")."""
    verb = clause.verb
    lemma = verb.lemma_.lower().strip("'’")
    if verb.lower_ == "got" and any(child.dep_ == "aux" and child.lemma_ == "have" for child in verb.children):
        lemma = "have"
    particle = next((child.lower_ for child in verb.children if is_particle(child)), "")
    adjective = next((child for child in verb.children if child.dep_ == "acomp"), None)
    if (
        adjective is not None
        and lemma in words("linking")
        and any(child.dep_ == "prep" for child in adjective.children)
    ):
        return f"{'be' if lemma == 'be' else lemma}_{adjective.lower_}"
    if not lemma.isalpha():
        return ""
    return f"{lemma}_{particle}" if particle else lemma


def _literals(item: Said) -> tuple[tuple[int, Literal], ...]:
    return literals(item.text, tuple((found.start, found.end) for found in item.times if not found.since))


def _carried(item: Said, position: int, clause: Clause) -> bool:
    """The literal at a position hangs on this clause's verb, or on no verb while the clause is the main one."""
    token = next(
        (tok for tok in item.sentence.tokens if item.sentence.place(tok) - item.sentence.start >= position), None
    )
    verbs = {clause.verb.i, *(verb.i for verb in clause.matrix)}
    while token is not None:
        if token.i in verbs:
            return True
        if token.head.i == token.i or any(token.i == other.verb.i for other in item.clauses):
            break
        token = token.head
    main = item.main
    known = token is not None and any(token.i == other.verb.i for other in item.clauses)
    return not known and main is not None and main.verb.i == clause.verb.i


def fragment(item: Said, cast: Cast) -> tuple[FrameDraft, list[Named]] | None:
    """A sentence without a usable clause ("Dentist on Monday week", "Luna and Oliver!")."""
    if not cast.speaker or any(clause.verb.dep_ == "ROOT" for clause in item.clauses):
        return None
    root = next((token for token in item.sentence.tokens if token.head.i == token.i), None)
    if root is None or root.pos_ not in {"NOUN", "PROPN", "X", "ADJ"}:
        return None
    time = item.time_of(root)
    planned = time is not None and time.direction > 0
    if not planned and all(token.pos_ != "PROPN" for token in conjuncts(root)):
        return None
    draft = Draft("have" if planned else "mention")
    draft.add("agent", Named(cast.speaker, AnchorType.PERSON))
    for each in conjuncts(root):
        participant = named(each, cast)
        draft.add("object", participant if participant is None or participant.name not in cast.speakers else None)
    _phrases(draft, root, cast)
    if all(role != "object" for role, _ in draft.arms) or draft.distinct < 2:
        return None
    draft.values += [value for _, value in _literals(item)]
    frame = FrameDraft(
        predicate=draft.predicate,
        arms=tuple(Arm(role=role, name=participant.name) for role, participant in draft.arms),
        literals=tuple(dict.fromkeys(draft.values)),
        event_time=time.span if time is not None else None,
        status=Status.PLANNED if planned else Status.STATE,
        confidence=REPORTED,
    )
    return frame, [participant for _, participant in draft.arms]


def _phrases(draft: Draft, root: Token, cast: Cast) -> None:
    for child in root.children:
        if child.dep_ == "prep" and child.lower_ != "of":
            for inner in child.children:
                if inner.dep_ == "pobj":
                    draft.add("topic", named(inner, cast))


def merged(participants: Iterable[Named]) -> Sequence[Named]:
    """Each participant once, by name, first mention first."""
    return tuple({participant.name: participant for participant in reversed(list(participants))}.values())[::-1]
