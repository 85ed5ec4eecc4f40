"""The admission gate: which entities of a record become anchors, and how many (paper A.2; design 3.1)."""

import re
import unicodedata
from collections.abc import Iterable

from domain.keys import anchor_key
from domain.memory import AnchorType, Arm, Entity, Extraction, FrameDraft, MemoryKind

MAX_EPISODIC_ANCHORS = 16
"""Anchors admitted from one episodic record (paper A.2)."""
MAX_SEMANTIC_ANCHORS = 18
"""Anchors admitted from one semantic record (paper A.2)."""
MIN_FRAME_ANCHORS = 2
"""Distinct anchors a frame needs, |A_f| >= 2 (Algorithm 1, line 9)."""

_CAPS = {MemoryKind.EPISODIC: MAX_EPISODIC_ANCHORS, MemoryKind.SEMANTIC: MAX_SEMANTIC_ANCHORS}

_FILING_TERMS = """
    advice, answer, anything, chat, context, conversation, data, detail, dialogue, discussion,
    everything, example, fact, fyi, general, help, idea, info, information, item, matter, memory,
    message, misc, miscellaneous, n/a, none, note, nothing, null, other, overview, plan, point,
    question, reason, recommendation, record, reminder, request, response, something, stuff, suggestion,
    summary, thing, tip, topic, unknown, unspecified, update, various, way, useful information, general
    information, personal information, more information, additional information, other thing, lot thing
"""
_DIALOGUE_ROLES = """
    user, assistant, ai assistant, bot, chatbot, human, speaker, narrator, system, agent,
    interlocutor, other person, language model, everyone, everybody, someone, somebody, anyone, anybody,
    nobody, no one, usuario, asistente, utilisateur, benutzer, assistent, utente, usuário, пользователь,
    ассистент, 用户, 使用者, 助手, 助理, ユーザー, アシスタント, 사용자, 어시스턴트, المستخدم, المساعد
"""
_PRONOUNS = """
    i, me, my, mine, myself, you, your, yours, yourself, yourselves, we, us, our, ours, ourselves, he,
    him, his, himself, she, her, hers, herself, it, its, itself, they, them, their, theirs, themselves,
    this, that, these, those, here, there, who, whom, whose, what, which, one, oneself, each other, one
    another, both, all, some, ich, du, wir, sie, yo, tú, nosotros, je, moi, nous, vous, я,
    ты, мы, вы, он, она, они, 我, 你, 他, 她, 我们, 他们, 私, 僕, 彼, 彼女, 나, 너, 저, 우리, أنا, أنت, نحن
"""
_REFUSED = frozenset(map(anchor_key, f"{_FILING_TERMS},{_DIALOGUE_ROLES}".split(",")))
_PRONOUN_KEYS = frozenset(map(anchor_key, _PRONOUNS.split(",")))
_CAPITAL_NAMES = frozenset({"US", "IT", "WHO"})
"""Names that only their capitals tell from a pronoun."""


def is_admissible(name: str) -> bool:
    """Whether a name may be an anchor: no filing term, dialogue role or bare pronoun, and something to name it by."""
    key = anchor_key(name)
    if key in _PRONOUN_KEYS:
        return not _CAPITAL_NAMES.isdisjoint(re.findall(r"\w+", name))
    return key not in _REFUSED and any(map(_names_something, key))


def admit(kind: MemoryKind, extraction: Extraction) -> Extraction:
    """Only the entities that become anchors, and only the frames that still join two of them.

    Entities of one key are one, under the first name; arms carry that name. Entities used by frames come first, in
    frame order, so that the cap of the kind takes the others before them. An arm that names no listed entity stands
    for one of type `other`. Kinds that the graph does not index admit nothing.
    """
    merged = _merged(extraction)
    frames = _standing(extraction.frames, merged)
    used = dict.fromkeys(anchor_key(arm.name) for frame in frames for arm in frame.arms)
    listed = {anchor_key(entity.name): entity for entity in merged.values()}
    kept = [*used, *(key for key in listed if key not in used)][: _CAPS.get(kind, 0)]
    admitted = {key: listed[key] for key in kept}
    names = {key: entity for key, entity in merged.items() if anchor_key(entity.name) in admitted}
    return Extraction(entities=tuple(admitted.values()), frames=_standing(frames, names))


def _names_something(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character) == "So"


def _merged(extraction: Extraction) -> dict[str, Entity]:
    """Admissible entities by their key and by the keys of their aliases."""
    by_key: dict[str, Entity] = {}
    unlisted = (Entity(name=arm.name) for frame in extraction.frames for arm in frame.arms)
    for entity in extraction.entities:
        _merge_into(by_key, entity)
    known = {anchor_key(alias) for entity in by_key.values() for alias in entity.aliases} | by_key.keys()
    for entity in unlisted:
        if anchor_key(entity.name) not in known:
            _merge_into(by_key, entity)
    of_alias = {anchor_key(alias): entity for entity in reversed(by_key.values()) for alias in entity.aliases}
    return {**by_key, **{key: entity for key, entity in of_alias.items() if key and key not in by_key}}


def _merge_into(by_key: dict[str, Entity], entity: Entity) -> None:
    if not is_admissible(entity.name):
        return
    key = anchor_key(entity.name)
    by_key[key] = _one(by_key[key], entity) if key in by_key else entity


def _one(first: Entity, second: Entity) -> Entity:
    names = dict.fromkeys((*first.aliases, second.name, *second.aliases))
    kind = second.type if first.type is AnchorType.OTHER else first.type
    return Entity(name=first.name, type=kind, aliases=tuple(name for name in names if name != first.name))


def _standing(frames: Iterable[FrameDraft], named: dict[str, Entity]) -> tuple[FrameDraft, ...]:
    """The frames with the arms that name one of `named`, where two distinct ones are left."""
    cut = (
        frame.model_copy(
            update={"arms": tuple(
                Arm(role=arm.role, name=named[key].name) for arm in frame.arms if (key := anchor_key(arm.name)) in named
            )}
        )
        for frame in frames
    )  # fmt: skip
    return tuple(frame for frame in cut if len({anchor_key(arm.name) for arm in frame.arms}) >= MIN_FRAME_ANCHORS)
