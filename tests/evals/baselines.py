"""What the retriever is measured against: M0, flat hybrid search over the same records, and the scorer's flat search
over turns. Both see everything of one user and use the same embedder."""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from domain.memory import Record
from domain.ports import Embedder
from domain.records import embedding_text
from domain.retrieval.words import stem
from tests.evals.conversations import Conversation

Ranking = list[list[str]]
"""Rows in rank order, each the turn ids it cites."""

MAX_IDS_A_ROW = 3
"""Turns of a row that count: a row that cites a session would win for free."""

DEPTH = 60
"""Rows of a baseline's ranking that are kept: three times the largest budget."""


async def flat_records(
    conversation: Conversation, records: Sequence[Record], embedder: Embedder, scorer: ModuleType
) -> Mapping[str, Ranking]:
    """M0: z(cosine) + z(BM25) of question and record (title, text, date), stop words out, by question id."""
    texts = [embedding_text(record) for record in records]
    vectors = np.array(await embedder.embed(texts))
    lexical = scorer.BM25([scorer.tokens(text, stem) for text in texts])
    cited = [cited_turns(record) for record in records]
    runs = {}
    for question, vector in zip(conversation.questions, await _asked(conversation, embedder), strict=True):
        words = lexical.scores(scorer.tokens(question.text, stem))
        order = scorer.zsum(words, (vectors @ np.array(vector)).tolist())
        runs[question.id] = [cited[at] for at in order[:DEPTH]]
    return runs


async def flat_turns(
    conversation: Conversation, turns: Sequence[Any], embedder: Embedder, scorer: ModuleType
) -> Mapping[str, Ranking]:
    """The scorer's `g z-sum BM25win+MiniLM` over turns: BM25 of a turn with its neighbours, cosine of the turn.
    `turns` are the scorer's."""
    vectors = np.array(await embedder.embed([scorer.body(turn) for turn in turns]))
    windows = [scorer.unit_text(turn, {"turns": turns}) for turn in turns]
    lexical = scorer.BM25([scorer.tokens(window, stem) for window in windows])
    runs = {}
    for question, vector in zip(conversation.questions, await _asked(conversation, embedder), strict=True):
        words = lexical.scores(scorer.tokens(question.text, stem))
        order = scorer.zsum(words, (vectors @ np.array(vector)).round(6).tolist())
        runs[question.id] = [[turns[at]["dia_id"]] for at in order[:DEPTH]]
    return runs


def cited_turns(record: Record) -> list[str]:
    """The first turns a record cites, at most MAX_IDS_A_ROW."""
    return list(dict.fromkeys(source.turn_id for source in record.sources))[:MAX_IDS_A_ROW]


async def _asked(conversation: Conversation, embedder: Embedder) -> Sequence[Sequence[float]]:
    return await embedder.embed([question.text for question in conversation.questions])
