"""Entities and frames of one record, from the stretches of the turns it cites (Phi(m), paper 2.3)."""

import re
from collections.abc import Iterable
from datetime import datetime

from domain.keys import anchor_key
from domain.memory import AnchorType, Arm, Entity, Extraction, FrameDraft, Literal, Record, Status, Turn
from infra.models.rules.frames import frames
from infra.models.rules.lexicon import words
from infra.models.rules.names import Named, named
from infra.models.rules.parse import quoted
from infra.models.rules.people import Cast
from infra.models.rules.records import local, note_people
from infra.models.rules.said import Said, said


def extract(record: Record, turns: tuple[Turn, ...], *, timezone: str, speakers: tuple[str, ...]) -> Extraction:
    """What the record's cited sentences and captions say. A degraded record says nothing to the graph."""
    if record.degraded:
        return Extraction()
    found: list[FrameDraft] = []
    participants: list[Named] = []
    for turn in turns:
        at = local(turn.at, timezone)
        cast = Cast(turn.speaker, speakers or tuple(dict.fromkeys(each.speaker for each in turns if each.speaker)))
        for item in said(turn.text, at):
            if item.keep and _cited(record, turn, item):
                made, members = frames(item, cast)
                found += made
                participants += [*members, *_others(item, cast)]
            note_people((item,), cast)
        for caption in turn.captions:
            if caption.strip() in record.text:
                made, members = caption_frames(caption, turn, at)
                found += made
                participants += members
    listed = tuple(_with_short_forms(entity, turns, speakers) for entity in entities(participants))
    return Extraction(entities=listed, frames=distinct(named_alike(found, listed)))


_ADDRESS = re.compile(
    r"(?:^|[.!?]\s+)(?:hey|hi|hello|thanks|wow|yeah|yes|yep|oh|congrats|absolutely)[ ,]+([A-Z]\w+)|"
    r",\s+([A-Z]\w+)\s*[.!?,]",
    re.IGNORECASE,
)


def _with_short_forms(entity: Entity, turns: tuple[Turn, ...], speakers: tuple[str, ...]) -> Entity:
    """A speaker with the short forms that another one addresses them by ("Thanks, Mel!"): the source states them."""
    called: list[str] = []
    for turn in turns if entity.name in speakers else ():
        spoken = [match[1] or match[2] for match in _ADDRESS.finditer(turn.text)]
        called += [name for name in spoken if Cast(turn.speaker, speakers).speaker_called(name) == entity.name]
    aliases = tuple(name for name in dict.fromkeys(called) if name.casefold() != entity.name.casefold())
    return entity.model_copy(update={"aliases": aliases}) if aliases else entity


def _cited(record: Record, turn: Turn, item: Said) -> bool:
    """Whether the record cites the sentence; one that cites only an image of the turn does not."""
    for source in record.sources:
        if source.turn_id != turn.id:
            continue
        if source.start is None or source.end is None:
            return not any(caption.strip() in record.text for caption in turn.captions)
        if turn.offset + item.sentence.start < source.end and source.start < turn.offset + item.sentence.end:
            return True
    return False


def _others(item: Said, cast: Cast) -> list[Named]:
    """Nouns of the sentence that no frame took: they are findable all the same (Algorithm 1, line 7)."""
    heads = {"dobj", "pobj", "nsubj", "nsubjpass", "attr", "conj", "ROOT", "appos"}
    found = [
        named(token, cast) for token in item.sentence.tokens if token.pos_ in {"NOUN", "PROPN"} and token.dep_ in heads
    ]
    titles = [
        Named(text, AnchorType.CONTENT) for _, _, text in quoted(item.text) if text[:1].isupper() or text[:1].isdigit()
    ]
    return [*titles, *(each for each in found if each is not None)]


_PICTURES = frozenset(
    {"photo", "photograph", "photography", "picture", "image", "pic", "photos", "pictures", "screenshot"}
)


_INSIDE = frozenset({"compound", "npadvmod", "amod", "nmod"})


def caption_frames(caption: str, turn: Turn, at: datetime) -> tuple[list[FrameDraft], list[Named]]:
    """One frame for an image: who shared it and what it shows."""
    depicted: list[Named] = []
    nobody = Cast("", ())
    for item in said(caption, at):
        for token in item.sentence.tokens:
            if token.lower_ in _PICTURES or token.lower_ in words("backdrop"):
                continue
            participant = (
                named(token, nobody) if token.pos_ in {"NOUN", "PROPN"} and token.dep_ not in _INSIDE else None
            )
            if participant is not None:
                depicted.append(participant)
    depicted = [each for each in depicted if not _part_of_other(each, depicted)]
    if not depicted:
        return [], []
    sharer = [Named(turn.speaker, AnchorType.PERSON)] if turn.speaker else []
    arms = [
        *(Arm(role="agent", name=each.name) for each in sharer),
        *(Arm(role="depicted", name=each.name) for each in depicted),
    ]
    counts = tuple(Literal(name="count", value=each.count, unit=each.name) for each in depicted if each.count)
    frame = FrameDraft(
        predicate="share_photo", arms=tuple(dict.fromkeys(arms)), literals=counts, status=Status.DONE, confidence=0.9
    )
    return [frame], [*sharer, *depicted]


def _part_of_other(one: Named, all_of_them: list[Named]) -> bool:
    return (
        any(one.name != other.name and f" of {one.name}" in other.name for other in all_of_them) and one.name.islower()
    )


def entities(participants: Iterable[Named]) -> tuple[Entity, ...]:
    """Each participant once, by key, under its first name and its most telling type."""
    by_key: dict[str, Entity] = {}
    for each in participants:
        key = anchor_key(each.name)
        known = by_key.get(key)
        if known is None or (
            known.type in {AnchorType.OTHER, AnchorType.OBJECT}
            and each.type not in {AnchorType.OTHER, AnchorType.OBJECT}
        ):
            by_key[key] = Entity(name=known.name if known else each.name, type=each.type)
    return tuple(by_key.values())


def named_alike(found: Iterable[FrameDraft], listed: tuple[Entity, ...]) -> list[FrameDraft]:
    """The frames with every arm under the name its entity is listed by."""
    names = {anchor_key(entity.name): entity.name for entity in listed}
    return [
        frame.model_copy(update={"arms": tuple(dict.fromkeys(_under(arm, names) for arm in frame.arms))})
        for frame in found
    ]


def _under(arm: Arm, names: dict[str, str]) -> Arm:
    return Arm(role=arm.role, name=names.get(anchor_key(arm.name), arm.name))


def distinct(found: Iterable[FrameDraft]) -> tuple[FrameDraft, ...]:
    """Each frame once."""
    seen: dict[tuple[object, ...], FrameDraft] = {}
    for frame in found:
        seen.setdefault((frame.predicate, frame.arms, frame.event_time, frame.status, frame.negated), frame)
    return tuple(seen.values())
