"""`reverie search`: a question, answered by facts and the rows they cite."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from domain.errors import InvalidInput
from domain.memory import GRAPH_KINDS, MemoryKind
from domain.retrieval.query import SearchQuery, SearchResult
from infra.run.cli.ingest import parse_time
from infra.run.cli.output import edge, emit, out
from infra.run.cli.rendering import result_view
from infra.run.cli.stack import connected, located, read_settings
from infra.run.formats.inputs import DEFAULT_USER
from infra.settings import Settings


def search(
    question: Annotated[str, typer.Argument(help="What to look for.")],
    user: Annotated[str, typer.Option(help="Whose memory to ask.")] = DEFAULT_USER,
    as_of: Annotated[
        str, typer.Option(help="Moment of asking (ISO 8601): later memories are not seen; default: now.")
    ] = "",
    timezone: Annotated[str, typer.Option(help="IANA zone of words like yesterday.")] = "",
    kind: Annotated[list[MemoryKind] | None, typer.Option(help="Kinds of memory; may be repeated.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Most rows of each kind, within the plan's budget.")] = None,
    explain: Annotated[bool, typer.Option(help="Also print plan, scores, lanes and what was cut.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Answer a question from a user's memory."""
    with edge(as_json=as_json):
        if not question.strip():
            raise InvalidInput("the question is empty", field="QUESTION")
        settings = located(read_settings())
        zone = timezone or settings.default_timezone
        query = SearchQuery(
            user_id=user,
            query=question,
            as_of=moment_of_asking(as_of, zone),
            timezone=zone,
            kinds=tuple(kind) if kind else GRAPH_KINDS,
            limit_per_kind=limit,
            explain=explain,
        )
        result = asyncio.run(_search(settings, query))
        if as_json:
            emit(result.model_dump(mode="json"))
        else:
            out.print(result_view(result))


async def _search(settings: Settings, query: SearchQuery) -> SearchResult:
    async with connected(settings) as services:
        return await services.retriever.search(query)


def moment_of_asking(text: str, zone: str) -> datetime:
    """The time given, naive meaning local to the zone; now without one. Raises InvalidInput."""
    try:
        local = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput("is not an IANA time zone such as Europe/Paris", field="--timezone") from error
    if not text:
        return datetime.now(UTC)
    at = parse_time(text, option="--as-of")
    return at if at.tzinfo else at.replace(tzinfo=local)
