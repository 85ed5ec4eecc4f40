"""Row scores: in what order the entered rows are worth returning (paper A.3, reranking; platform.md 5)."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import UUID

from domain.memory import Frozen
from domain.retrieval.words import stem, stems

K1 = 1.2
B = 0.75
"""BM25's usual saturation and length constants."""


class RowWeights(Frozen):
    """Weights of the z-scored terms, as tried on recorded answers (platform.md 5)."""

    cosine: float = 1.5
    """Question against title, text and date of the row."""
    lexical: float = 1.0
    """BM25 of the clean query: names, numbers and rare words that a vector blurs."""
    frame_cosine: float = 0.5
    """Best cosine of the question with a frame that cites the row: a finer unit than the row."""
    fact: float = 0.5
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


def bm25(words: Sequence[str], documents: Sequence[str]) -> tuple[float, ...]:
    """BM25 of the words against each document, over the documents as the collection; matched by stem."""
    wanted = tuple(dict.fromkeys(stem(word) for word in words))
    counted = [Counter(stems(document)) for document in documents]
    lengths = [sum(counts.values()) for counts in counted]
    mean = sum(lengths) / len(lengths) if lengths and sum(lengths) else 1.0
    frequency = {word: sum(word in counts for counts in counted) for word in wanted}
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


def score_rows(
    rows: Sequence[RowFeatures], words: Sequence[str], *, weights: RowWeights = WEIGHTS
) -> Mapping[UUID, float]:
    """The weighted sum of the z-scored terms over the entered rows. `words`: the plan's clean lexical query."""
    columns = (
        (weights.cosine, z_scores([row.cosine for row in rows])),
        (weights.lexical, z_scores(bm25(words, [row.text for row in rows]))),
        (weights.frame_cosine, z_scores([row.frame_cosine for row in rows])),
        (weights.fact, z_scores([row.fact for row in rows])),
    )
    return {row.id: math.fsum(weight * column[at] for weight, column in columns) for at, row in enumerate(rows)}
