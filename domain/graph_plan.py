"""What one record changes in the graph, planned without I/O (Algorithm 1, lines 5-9; design 3.2, 3.3)."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from pydantic import AwareDatetime

from domain.admission import MIN_FRAME_ANCHORS, admit, is_admissible
from domain.frames import episodic_id, occurrence, render, semantic_id, sigma
from domain.graph import AnchorWrite, ArmWrite, FrameWrite, GraphWrite, NameKey, Vector
from domain.identity import veto
from domain.jobs import anchor_id
from domain.keys import anchor_key
from domain.memory import Anchor, Entity, Extraction, FrameDraft, Frozen, MemoryKind, Record
from domain.model_calls import Rename


class PlannedWrite(Frozen):
    """A graph write that lacks only its vectors: those of `anchors` and `frames` are empty until `with_vectors`."""

    user_id: str
    record_id: UUID
    kind: MemoryKind
    mention_time: AwareDatetime
    anchors: tuple[AnchorWrite, ...]
    frames: tuple[FrameWrite, ...]
    anchor_names: tuple[str, ...]
    """The text to embed for each anchor, in order."""
    frame_texts: tuple[str, ...]
    """The text to embed for each frame, in order."""


def renamed(extraction: Extraction, renames: Iterable[Rename]) -> Extraction:
    """The extraction with accepted canonical names; the name it used becomes an alias of the entity."""
    canonical = {anchor_key(rename.name): rename.candidate for rename in renames}
    entities = tuple(_renamed_entity(entity, canonical) for entity in extraction.entities)
    frames = tuple(
        frame.model_copy(
            update={
                "arms": tuple(
                    arm.model_copy(update={"name": canonical.get(anchor_key(arm.name), arm.name)}) for arm in frame.arms
                )
            }
        )
        for frame in extraction.frames
    )
    return Extraction(entities=entities, frames=frames)


def keys_to_resolve(extraction: Extraction) -> tuple[str, ...]:
    """The keys whose owners `plan_write` needs to know: of every entity, its aliases and every arm; sorted."""
    names = [name for entity in extraction.entities for name in (entity.name, *entity.aliases)]
    names += [arm.name for frame in extraction.frames for arm in frame.arms]
    return tuple(sorted({key for key in map(anchor_key, names) if key}))


def plan_write(record: Record, extraction: Extraction, resolved: Mapping[str, Anchor]) -> PlannedWrite:
    """Admit a record's entities, give each its anchor, and compute the ids of its frames.

    `resolved` maps a key to the user's anchor that owns it, as its own or as an alias (`keys_to_resolve` lists the keys
    to look up). An entity whose name is not owned yet goes to the owner of an alias that the source states, unless the
    identity guard forbids it. Frames that end with fewer than two distinct anchors are dropped; frames of one id are
    one, with the union of their literals.
    """
    admitted = admit(record.kind, extraction)
    anchors: dict[UUID, AnchorWrite] = {}
    by_name: dict[str, AnchorWrite] = {}
    own_keys = {anchor_key(entity.name) for entity in admitted.entities}
    for entity in admitted.entities:
        planned = _anchor(record.user_id, entity, resolved, own_keys)
        anchors[planned.id] = _joined(anchors[planned.id], planned) if planned.id in anchors else planned
        by_name[entity.name] = anchors[planned.id]
    frames: dict[str, tuple[FrameWrite, str]] = {}
    for frame in admitted.frames:
        _add_frame(frames, record, frame, by_name)
    return PlannedWrite(
        user_id=record.user_id,
        record_id=record.id,
        kind=record.kind,
        mention_time=record.mention_time,
        anchors=tuple(anchors.values()),
        frames=tuple(write for write, _ in frames.values()),
        anchor_names=tuple(anchor.name for anchor in anchors.values()),
        frame_texts=tuple(text for _, text in frames.values()),
    )


def with_vectors(
    planned: PlannedWrite, anchor_vectors: Sequence[Vector], frame_vectors: Sequence[Vector]
) -> GraphWrite:
    """The write with the vectors of its `anchor_names` and `frame_texts`. Raises ValueError if their numbers differ."""
    return GraphWrite(
        user_id=planned.user_id,
        record_id=planned.record_id,
        kind=planned.kind,
        mention_time=planned.mention_time,
        anchors=tuple(
            anchor.model_copy(update={"vector": vector})
            for anchor, vector in zip(planned.anchors, anchor_vectors, strict=True)
        ),
        frames=tuple(
            frame.model_copy(update={"vector": vector})
            for frame, vector in zip(planned.frames, frame_vectors, strict=True)
        ),
    )


def _renamed_entity(entity: Entity, canonical: Mapping[str, str]) -> Entity:
    name = canonical.get(anchor_key(entity.name), entity.name)
    aliases = dict.fromkeys((entity.name, *entity.aliases) if name != entity.name else entity.aliases)
    return Entity(name=name, type=entity.type, aliases=tuple(alias for alias in aliases if alias != name))


def _anchor(user_id: str, entity: Entity, resolved: Mapping[str, Anchor], own_keys: set[str]) -> AnchorWrite:
    own_key = anchor_key(entity.name)
    key, known = own_key, resolved.get(own_key)
    for alias in entity.aliases if known is None else ():
        alias_key = anchor_key(alias)
        owner = None if alias_key in own_keys else resolved.get(alias_key)
        if owner is not None and is_admissible(alias) and veto(entity.name, owner.name) is None:
            key, known = alias_key, owner
            break
    name = known.name if known else entity.name
    return AnchorWrite(
        id=known.id if known else anchor_id(user_id, own_key),
        name=name,
        key=key,
        type=known.type if known else entity.type,
        aliases=_aliases((entity.name, *entity.aliases), taken={key, anchor_key(name)} | (own_keys - {own_key})),
        vector=[],
    )


def _aliases(names: Iterable[str], *, taken: set[str]) -> tuple[NameKey, ...]:
    """One alias a key, none for a key that is taken or that admission refuses."""
    by_key: dict[str, str] = {}
    for name in names:
        if is_admissible(name):
            by_key.setdefault(anchor_key(name), name)
    return tuple(NameKey(name=name, key=key) for key, name in by_key.items() if key not in taken)


def _joined(first: AnchorWrite, second: AnchorWrite) -> AnchorWrite:
    """One write for two entities that are the same anchor."""
    known = {first.key, *(alias.key for alias in first.aliases)}
    more = tuple(alias for alias in second.aliases if alias.key not in known)
    return first.model_copy(update={"aliases": first.aliases + more})


def _add_frame(
    frames: dict[str, tuple[FrameWrite, str]], record: Record, frame: FrameDraft, by_name: Mapping[str, AnchorWrite]
) -> None:
    arms = {(arm.role, by_name[arm.name].id): by_name[arm.name] for arm in frame.arms}
    if len({anchor.id for anchor in arms.values()}) < MIN_FRAME_ANCHORS:
        return
    write = _frame(record, frame, arms)
    if write.id in frames:
        write = _fused(frames[write.id][0], write)
    named = [(role, anchor.name) for (role, _), anchor in arms.items()]
    text = render(
        write.predicate, named, write.literals, event_time=write.event_time, status=write.status, negated=write.negated
    )
    frames[write.id] = (write, text)


def _frame(record: Record, frame: FrameDraft, arms: Mapping[tuple[str, UUID], AnchorWrite]) -> FrameWrite:
    # A denial is another claim than what it denies: polarity belongs to the predicate that is hashed.
    predicate = f"not {frame.predicate}" if frame.negated else frame.predicate
    sig = sigma((role, anchor_key(anchor.name)) for (role, _), anchor in arms.items())
    episodic = record.kind is MemoryKind.EPISODIC
    chi = occurrence(frame, record.id) if episodic else ""
    return FrameWrite(
        id=episodic_id(record.user_id, predicate, sig, chi)
        if episodic
        else semantic_id(record.user_id, predicate, sig),
        predicate=frame.predicate,
        arms=tuple(ArmWrite(role=role, key=anchor.key) for (role, _), anchor in arms.items()),
        occurrence=chi,
        literals=tuple(dict.fromkeys(frame.literals)),
        event_time=frame.event_time,
        status=frame.status,
        negated=frame.negated,
        modality=frame.modality,
        confidence=frame.confidence,
        vector=[],
    )


def _fused(first: FrameWrite, second: FrameWrite) -> FrameWrite:
    """Two frames of one id in one record: what the first says stands, the second adds."""
    return first.model_copy(
        update={
            "literals": tuple(dict.fromkeys(first.literals + second.literals)),
            "event_time": first.event_time or second.event_time,
            "modality": first.modality or second.modality,
            "confidence": max(first.confidence, second.confidence),
        }
    )
