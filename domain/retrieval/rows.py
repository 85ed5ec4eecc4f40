"""Row scores: in what order the entered rows are worth returning (paper A.3, reranking; platform.md 5)."""

import math
from collections.abc import Mapping, Sequence
from uuid import UUID

from domain.memory import Frozen
from domain.retrieval.words import stem, stems

K1 = 1.2
B = 0.75
"""BM25's usual saturation and length constants."""


class RowWeights(Frozen):
    """Weights of the z-scored terms. Tried on recorded answers and on those of the rules model: without `around` the
    latter find all gold turns for 69 % instead of 74 % of the questions; 0.3 or 0.5 for the frames' terms are alike."""

    cosine: float = 1.2
    """Question against title, text and date of the row."""
    lexical: float = 1.0
    """BM25 of the clean query: names, numbers and rare words that a vector blurs."""
    around: float = 1.0
    """The same against the words around the row: what a short answer is about stands in the turn before it."""
    frame_cosine: float = 0.3
    """Best cosine of the question with a frame that cites the row: a finer unit than the row."""
    fact: float = 0.3
    """Best s_F of those frames: relation, role, time and state."""


WEIGHTS = RowWeights()


class RowFeatures(Frozen):
    """What a row is scored by. None: no frame of the row was read, which speaks neither for nor against it."""

    id: UUID
    text: str
    """Title, text, and what the frames that cite it say: they name the relation and the participants in other words."""
    cosine: float
    frame_cosine: float | None = None
    fact: float | None = None
    around: str | None = None
    """The messages around the row; None: it was not looked at closely."""


def bm25(words: Sequence[str], documents: Sequence[str]) -> tuple[float, ...]:
    """BM25 of the words against each document, over the documents as the collection; matched by stem."""
    wanted = tuple(dict.fromkeys(stem(word) for word in words))
    said = [stems(document) for document in documents]
    counted = [{word: found.count(word) for word in wanted} for found in said]
    lengths = [len(found) for found in said]
    mean = sum(lengths) / len(lengths) if lengths and sum(lengths) else 1.0
    frequency = {word: sum(counts[word] > 0 for counts in counted) for word in wanted}
    idf = {word: math.log1p((len(documents) - n + 0.5) / (n + 0.5)) for word, n in frequency.items()}
    return tuple(
        sum(
            idf[word] * counts[word] * (K1 + 1) / (counts[word] + K1 * (1 - B + B * length / mean))
            for word in wanted
            if counts[word]
        )
        for counts, length in zip(counted, lengths, strict=True)
    )


def z_scores(values: Sequence[float | None]) -> tuple[float, ...]:
    """Values less their mean in standard deviations; 0 for what is missing, and for all where they do not differ."""
    present = [value for value in values if value is not None]
    if not present:
        return tuple(0.0 for _ in values)
    mean = math.fsum(present) / len(present)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in present) / len(present))
    if deviation < 1e-9:
        return tuple(0.0 for _ in values)
    return tuple(0.0 if value is None else (value - mean) / deviation for value in values)


def shortlist(
    rows: Sequence[RowFeatures], words: Sequence[str], *, limit: int, weights: RowWeights = WEIGHTS
) -> tuple[UUID, ...]:
    """The rows worth a closer look, best first, ties by id: by cosine and words alone (paper A.3, shallow ranking)."""
    scores = _shallow(rows, words, weights)
    return tuple(sorted(scores, key=lambda row: (-scores[row], row))[:limit])


def score_rows(
    rows: Sequence[RowFeatures], words: Sequence[str], *, weights: RowWeights = WEIGHTS
) -> Mapping[UUID, float]:
    """The weighted sum of the z-scored terms over the entered rows. `words`: the plan's clean lexical query.

    Where rows were looked at closely (`around`), these are scored among themselves; the others stand below them, in
    the order of the shallow score.
    """
    closely = [row for row in rows if row.around is not None] or list(rows)
    columns = (
        (weights.around, z_scores(bm25(words, [row.around or "" for row in closely]))),
        (weights.frame_cosine, z_scores([row.frame_cosine for row in closely])),
        (weights.fact, z_scores([row.fact for row in closely])),
    )
    shallow = _shallow(closely, words, weights)
    scores = {
        row.id: math.fsum((shallow[row.id], *(weight * column[at] for weight, column in columns)))
        for at, row in enumerate(closely)
    }
    rest = _shallow([row for row in rows if row.id not in scores], words, weights)
    below = min(scores.values(), default=0.0) - max(rest.values(), default=0.0) - 1.0
    return {**scores, **{row: below + score for row, score in rest.items()}}


def _shallow(rows: Sequence[RowFeatures], words: Sequence[str], weights: RowWeights) -> dict[UUID, float]:
    cosines = z_scores([row.cosine for row in rows])
    lexical = z_scores(bm25(words, [row.text for row in rows]))
    return {
        row.id: weights.cosine * cosine + weights.lexical * said
        for row, cosine, said in zip(rows, cosines, lexical, strict=True)
    }
