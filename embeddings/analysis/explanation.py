"""Why two words have similar vectors: the contexts that they share in a corpus."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from embeddings.analysis.keyword_in_context import ConcordanceLine, ConcordanceLines, concordance_lines
from embeddings.analysis.occurrences import MAX_WIDTH, MAX_WINDOW, Occurrences
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import as_encoded
from embeddings.models.embed import load_source
from embeddings.models.model import Model
from embeddings.settings import Positive, Range, check_arguments, check_value
from embeddings.support.docstrings import argument_texts
from embeddings.support.result_table import ResultTable, TabularResult
from embeddings.vectors.vectors import Vectors, as_vectors

DEFAULT_WINDOW = 5  # of models that record none
SMOOTHING = 0.75  # exponent of the counts of contexts, as for negative samples
WindowSize = Annotated[int, Range(ge=1, le=MAX_WINDOW)]


@dataclass(frozen=True)
class SharedContext:
    """A word that occurs near both words.

    Arguments:
        context: the word.
        share: its part of the similarity of the two words' contexts; those of all contexts add up to 1.
        count, other_count: how often it occurs within the window of each word.
        pmi, other_pmi: the pointwise mutual information with each word, in nats.
        lines: occurrences of the first word near it, then of the other.
    """

    context: str
    share: float
    count: int
    other_count: int
    pmi: float
    other_pmi: float
    lines: tuple[ConcordanceLine, ...]


class SharedContexts(ResultTable[SharedContext]):
    """Shared contexts, without their lines."""

    columns = argument_texts(SharedContext)

    def shown(self, row: SharedContext) -> dict[str, Any]:
        """The figures of a context."""
        return {name: value for name, value in self.record(row).items() if name != "lines"}


FIGURES = ("word", "other", "cosine", "context_cosine", "count", "other_count", "joint_count", "pmi", "n_contexts")


@dataclass(frozen=True, repr=False)
class Explanation(TabularResult):
    """The evidence for the similarity of two words.

    Arguments:
        word, other: the words.
        cosine: of their vectors; None without vectors.
        context_cosine: of their contexts in the corpus.
        count, other_count: their occurrences.
        joint_count: how often the other occurs within the window of the word.
        pmi: their pointwise mutual information in nats; None if they never occur together.
        contexts: those that they share, by `share`.
        n_contexts: how many contexts they share.
        window: the number of words on each side that are contexts.
        same_corpus: whether the vectors were trained on this very corpus; None if that is not recorded.
    """

    word: str
    other: str
    cosine: float | None
    context_cosine: float
    count: int
    other_count: int
    joint_count: int
    pmi: float | None
    contexts: list[SharedContext]
    n_contexts: int
    window: int
    same_corpus: bool | None

    @property
    def tables(self) -> Sequence[ResultTable[Any]]:
        """The shared contexts, the figures of the words, and the lines of the corpus."""
        figures = ResultTable([{name: getattr(self, name) for name in FIGURES}], columns=argument_texts(Explanation))
        table = ConcordanceLines(line for one in self.contexts for line in one.lines)
        contexts = [one.context for one in self.contexts for _ in one.lines]
        lines = [{"context": one, **table.shown(line)} for one, line in zip(contexts, table, strict=True)]
        return [SharedContexts(self.contexts), figures, ResultTable(lines, columns=ConcordanceLines.columns)]


def explain(
    vectors: Model | Vectors | str | os.PathLike[str] | None, corpus: Corpus, word: str, other: str, *,
    window: WindowSize | None = None, top: Positive = 10,
    lines: Annotated[int, Range(ge=0)] = 1,
    width: Annotated[int, Range(ge=1, le=MAX_WIDTH)] = 40,
) -> Explanation:  # fmt: skip
    """The evidence in a corpus for the similarity of two words: the contexts that they share.

    Each word is described by its positive pointwise mutual information with each context, where the counts of contexts
    are raised to 0.75, which the vectors of word2vec approximate (Levy, Goldberg and Dagan 2015, "Improving
    Distributional Similarity with Lessons Learned from Word Embeddings", sections 2 and 3). Rare contexts, of which
    vectors learn little, are discounted (Pantel and Lin 2002, "Discovering Word Senses from Text", section 3). The
    cosine of these descriptions is a sum over contexts: the share of a context is its part of this sum.

    >>> import embeddings as em
    >>> texts = ["the cat drinks milk", "the dog drinks water", "the cat sleeps", "the dog sleeps"]
    >>> evidence = em.analysis.explain(None, em.Corpus(texts), "cat", "dog", window=2)
    >>> sorted(context.context for context in evidence.contexts)
    ['drinks', 'sleeps', 'the']

    Arguments:
        vectors: whose cosine to report: a model, vectors, or the path of either; None for none.
        corpus: the text, best the one that the vectors were trained on.
        word, other: as typed: they are converted like the text of the corpus.
        window: the number of words on each side that are contexts; by default as in training, or 5.
        top: the maximum number of shared contexts.
        lines: the number of lines of the corpus for each context and word.
        width: the number of characters on each side of a word in its line.

    Raises:
        UnknownWordError: a word has no vector, or does not occur in the corpus.
        SettingError: an argument is out of range.
        CorpusError: as `Corpus.encode`.
    """
    vectors = None if vectors is None else load_source(vectors)
    check_arguments(explain, top=top, width=width, lines=lines)
    cosine = None if vectors is None else float(as_vectors(vectors).similarity(word, other))
    window = check_value("window", recorded_window(vectors) if window is None else window, WindowSize, {})
    encoded = as_encoded(corpus)
    pair = Occurrences.of(encoded, word), Occurrences.of(encoded, other)
    first, second = (" ".join(occurrences.words) for occurrences in pair)
    vocabulary = encoded.vocabulary
    counts = np.stack([occurrences.count_contexts(window) for occurrences in pair])
    pmi, weights = weigh_contexts(counts, vocabulary.counts)
    products, norms = weights[0] * weights[1], np.linalg.norm(weights, axis=1).prod()
    n_contexts, joint = int(np.count_nonzero(products)), len(pair[0].near(pair[1], window))
    contexts = []
    for row in np.argsort(-products, kind="stable")[: min(top, n_contexts)].tolist():
        near = [one.near(Occurrences.of(encoded, vocabulary.words[row]), window) for one in pair if lines]
        contexts.append(SharedContext(
            context=vocabulary.words[row], share=float(products[row] / products.sum()),
            count=int(counts[0, row]), other_count=int(counts[1, row]),
            pmi=float(pmi[0, row]), other_pmi=float(pmi[1, row]),
            lines=tuple(line for one in near for line in concordance_lines(one, lines, width)),
        ))  # fmt: skip
    recorded = vectors.record.get("corpus") if isinstance(vectors, Model) else None
    return Explanation(
        word=first, other=second, cosine=cosine, context_cosine=float(products.sum() / norms) if norms else 0.0,
        count=len(pair[0]), other_count=len(pair[1]), joint_count=joint,
        pmi=math.log(joint * len(encoded.ids) / (int(counts[0].sum()) * len(pair[1]))) if joint else None,
        contexts=contexts, n_contexts=n_contexts, window=window,
        same_corpus=recorded == encoded.fingerprint if isinstance(recorded, str) else None,
    )  # fmt: skip


def weigh_contexts(
    counts: NDArray[np.int64], context_counts: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The pointwise mutual information (words, types) of words and contexts, in nats, and their weights.

    PMI is log p(context | word) / p(context), where p(context) is proportional to count^0.75; minus infinity for no
    joint count c. A weight is the positive PMI, less where it rests on few occurrences: times c / (c + 1) and
    m / (m + 1) for the lower count m of word and context.
    """
    expected = context_counts.astype(np.float64) ** SMOOTHING
    expected /= expected.sum()
    totals = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        pmi = np.asarray(np.log(counts / np.maximum(totals, 1) / expected))
    # a few joint occurrences of rare words give the highest PMI of all, and tell the least
    lower = np.minimum(totals, context_counts)
    return pmi, np.asarray(np.maximum(pmi, 0) * (counts / (counts + 1)) * (lower / (lower + 1)))


def recorded_window(vectors: Model | Vectors | None) -> int:
    """The window in the settings of a model."""
    window = vectors.settings.get("window") if isinstance(vectors, Model) else None
    return window if isinstance(window, int) and window > 0 else DEFAULT_WINDOW
