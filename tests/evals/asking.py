"""Every question of a conversation through the retriever, with what the search did on the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time

from rich.progress import track

from api.services import Services
from domain.retrieval.fusion import Quota
from domain.retrieval.query import Explanation, SearchQuery, SearchResult
from infra.run.cli.output import err
from tests.evals.baselines import MAX_IDS_A_ROW, Ranking
from tests.evals.conversations import Conversation, Question


@dataclass(frozen=True)
class Answered:
    """A question of a user with its answer."""

    user_id: str
    question: Question
    result: SearchResult

    @property
    def rows(self) -> Ranking:
        """The turns each row cites, in rank order."""
        return [
            list(dict.fromkeys(source.turn_id for source in row.sources))[:MAX_IDS_A_ROW] for row in self.result.rows
        ]

    @property
    def explanation(self) -> Explanation:
        """What the search did; every question is asked with `explain`."""
        assert self.result.explanation is not None
        return self.result.explanation


async def ask_all(services: Services, conversations: Sequence[Conversation], quota: Quota) -> list[Answered]:
    """The questions one after the other, with the planner's own budgets, on the day after the last session."""
    asked = [(conversation, question) for conversation in conversations for question in conversation.questions]
    answered = []
    for conversation, question in track(asked, description="asking", console=err, transient=True):
        query = SearchQuery(
            user_id=conversation.id,
            query=question.text,
            as_of=datetime.combine(conversation.asked_on, time(), UTC),
            quota=quota,
            explain=True,
        )
        answered.append(Answered(conversation.id, question, await services.retriever.search(query)))
    return answered
