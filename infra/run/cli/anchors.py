"""`reverie anchors`: what memories speak of, and what a person changes of it by hand."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID, uuid4

import typer
from rich.table import Table
from rich.text import Text

from api.routes.graph import DEGREE_CEILING
from api.services import Services
from domain.dream.rounds import Mode, NewConsolidation
from domain.errors import InvalidInput, NotFound
from domain.graph import Merge
from domain.keys import anchor_key
from domain.memory import Anchor, Frame
from infra.run.cli.consolidating import NoAnchor, actor_of, asked, done, id_of, in_words_of
from infra.run.cli.dream_tables import report
from infra.run.cli.output import edge, emit, out, plain, say
from infra.run.cli.rendering import fact_text
from infra.run.formats.inputs import DEFAULT_USER

PAGE = 50
RECORD_IDS = {"episodic_ids", "semantic_ids"}
"""Left out of what is printed: a hub has thousands. The facts name the records they cite."""

User = Annotated[str, typer.Option(help="Whose memory.")]
Actor = Annotated[str, typer.Option(help="Who asks, for the audit; default: the system's user.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it has ended.")]
Limit = Annotated[int, typer.Option(min=1, max=500, help="Lines a page.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_OPTIONS = {"user_id": "--user", "target": "TARGET", "absorbed": "ABSORBED", "name": "NAME", "actor": "--actor"}
"""Where a field's value comes from."""

app = typer.Typer(
    no_args_is_help=True,
    help="List anchors (people, places, things, ideas), show one, merge or split by hand.",
    epilog="Example: reverie anchors show --name Porto --user ana",
)


@dataclass(frozen=True, kw_only=True)
class Detail:
    """An anchor with a page of its facts and its merges."""

    anchor: Anchor
    degree: int
    frames: tuple[Frame, ...]
    merges: tuple[Merge, ...]


@app.command("list", epilog="Example: reverie anchors list --user ana --limit 100")
def list_anchors(
    user: User = DEFAULT_USER,
    after: Annotated[str, typer.Option(help="Only anchors after this id: the next page.")] = "",
    limit: Limit = PAGE,
    as_json: AsJson = False,
) -> None:
    """List a user's anchors in the order of their ids."""
    with edge(as_json=as_json):
        start = id_of(after, argument="--after") if after else None
        found = done(lambda services: services.graph.anchor_page(user, after=start, limit=limit))
        following = str(found[-1].id) if len(found) == limit else None
        if as_json:
            emit({"anchors": [_json(anchor) for anchor in found], "after": following})
            return
        if not found:
            say(f"no anchors of {user}" + (f" after {after}" if after else ""))
            return
        out.print(_listing(found))
        if following:
            say(f"further ones: reverie anchors list --user {user} --after {following}")


@app.command(epilog="Example: reverie anchors show --name Porto --user ana")
def show(
    anchor: Annotated[str, typer.Argument(help="The anchor's id; or give --name.")] = "",
    name: Annotated[str, typer.Option(help="A name or alias of it.")] = "",
    user: User = DEFAULT_USER,
    after: Annotated[str, typer.Option(help="Only facts after this id: the next page.")] = "",
    limit: Limit = PAGE,
    as_json: AsJson = False,
) -> None:
    """Show an anchor with its facts, and what was merged into it or took it in."""
    with edge(as_json=as_json), in_words_of(_OPTIONS, NoAnchor):
        if bool(anchor) == bool(name):
            raise InvalidInput("give the anchor's id or --name, one of the two", field="ANCHOR")
        identity = id_of(anchor, argument="ANCHOR") if anchor else None
        detail = done(lambda services: _detail(services, user, identity, name=name, after=after or None, limit=limit))
        following = detail.frames[-1].id if len(detail.frames) == limit else None
        if as_json:
            emit(_document(detail, following))
            return
        _print(detail)
        if following:
            say(f"further facts: --after {following}")


@app.command(epilog="Example: reverie anchors merge c2e4… a15b… --user ana")
def merge(
    target: Annotated[str, typer.Argument(help="Id of the anchor that stays.")],
    absorbed: Annotated[str, typer.Argument(help="Id of the anchor that goes.")],
    user: User = DEFAULT_USER,
    force: Annotated[
        bool, typer.Option("--force", help="Though types, numbers or a common fact speak against.")
    ] = False,
    actor: Actor = "",
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Merge an anchor into another: names, records and facts. `reverie dream undo` takes it back."""
    with edge(as_json=as_json), in_words_of(_OPTIONS, NoAnchor):
        new = NewConsolidation(
            user_id=user,
            request_id=str(uuid4()),
            mode=Mode.MERGE,
            target=id_of(target, argument="TARGET"),
            absorbed=id_of(absorbed, argument="ABSORBED"),
            force=force,
            actor=actor_of(actor),
        )
        raise typer.Exit(report(asked(new, wait=wait), as_json=as_json))


@app.command(epilog='Example: reverie anchors split c2e4… "Oporto" --user ana')
def split(
    anchor: Annotated[str, typer.Argument(help="Id of the anchor that has the name.")],
    name: Annotated[str, typer.Argument(help="The name that leaves.")],
    user: User = DEFAULT_USER,
    actor: Actor = "",
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Give a name an anchor of its own: a merge that brought it is undone, another name leaves with its records."""
    with edge(as_json=as_json), in_words_of(_OPTIONS, NoAnchor):
        new = NewConsolidation(
            user_id=user,
            request_id=str(uuid4()),
            mode=Mode.SPLIT,
            target=id_of(anchor, argument="ANCHOR"),
            name=name,
            actor=actor_of(actor),
        )
        raise typer.Exit(report(asked(new, wait=wait), as_json=as_json))


async def _detail(
    services: Services, user: str, identity: UUID | None, *, name: str, after: str | None, limit: int
) -> Detail:
    anchor = await _by_id(services, user, identity) if identity else await _by_name(services, user, name)
    degrees = await services.graph.degrees(user, [anchor.id], ceiling=DEGREE_CEILING)
    return Detail(
        anchor=anchor,
        degree=degrees.get(anchor.id, 0),
        frames=await services.graph.frames_page(user, anchor.id, after=after, limit=limit),
        merges=await services.graph.merges(user, anchor=anchor.id, limit=limit),
    )


async def _by_id(services: Services, user: str, identity: UUID) -> Anchor:
    found = await services.graph.anchors(user, [identity])
    if found:
        return found[0]
    for entry in await services.graph.merges(user, anchor=identity, limit=1):
        raise NotFound(f"anchor {identity} was merged into {entry.representative} by {entry.consolidation_id}")
    raise NotFound(f"no anchor {identity}")


async def _by_name(services: Services, user: str, name: str) -> Anchor:
    key = anchor_key(name)
    if not key:
        raise InvalidInput("is not a name", field="--name")
    found = (await services.graph.resolve(user, [key])).get(key)
    if found is None:
        raise NotFound("no anchor has this name")
    return found


def _json(anchor: Anchor) -> dict[str, object]:
    return anchor.model_dump(mode="json", exclude=RECORD_IDS)


def _document(detail: Detail, following: str | None) -> dict[str, object]:
    return {
        "anchor": _json(detail.anchor),
        "degree": detail.degree,
        "frames": [frame.model_dump(mode="json") for frame in detail.frames],
        "after": following,
        "merges": [entry.model_dump(mode="json") for entry in detail.merges],
    }


def _listing(anchors: tuple[Anchor, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("Anchor", no_wrap=True)
    for name in ("Name", "Type", "Mentions", "Aliases"):
        table.add_column(name, overflow="fold")
    for anchor in anchors:
        aliases = Text(plain(", ".join(anchor.aliases)))
        table.add_row(str(anchor.id), Text(plain(anchor.name)), anchor.type.value, str(anchor.mentions), aliases)
    return table


def _print(detail: Detail) -> None:
    anchor = detail.anchor
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in (
        ("anchor", str(anchor.id)),
        ("name", anchor.name),
        ("type", anchor.type.value),
        ("aliases", ", ".join(anchor.aliases)),
        ("mentions", str(anchor.mentions)),
        ("facts", str(detail.degree)),
    ):
        table.add_row(name, Text(plain(value)))
    out.print(table)
    for frame in detail.frames:
        out.print(f"• {fact_text(frame)}", markup=False, soft_wrap=True)
    for entry in detail.merges:
        names = plain(f"{entry.absorbed_name} into {entry.representative_name}")
        out.print(f"merge {entry.state.value}: {names}, by {entry.consolidation_id}", markup=False, soft_wrap=True)
