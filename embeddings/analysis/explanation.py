"""Why two words have similar vectors: the contexts that they share in a corpus."""

import math
import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from embeddings.analysis.keyword_in_context import ConcordanceLine, concordance_lines
from embeddings.analysis.occurrences import MAX_WIDTH, MAX_WINDOW, Occurrences, check_corpus
from embeddings.errors import SettingError
from embeddings.models.embed import load_source
from embeddings.models.model import Model
from embeddings.settings import Positive, Range, check_arguments, check_value
from embeddings.vectors.vectors import as_vectors

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus
    from embeddings.corpora.vocabulary import Vocabulary
    from embeddings.vectors.vectors import Vectors

DEFAULT_WINDOW = 5  # of models that record none
SMOOTHING = 0.75  # exponent of the counts of contexts, as for negative samples
WindowSize = Annotated[int, Range(ge=1, le=MAX_WINDOW)]
DEFAULT_TOP, DEFAULT_LINES, DEFAULT_WIDTH = 10, 1, 40


@dataclass(frozen=True)
class SharedContext:
    """A word that occurs near both words.

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


@dataclass(frozen=True)
class Explanation:
    """The evidence for the similarity of two words.

    cosine: of their vectors; None without vectors. context_cosine: of their contexts in the corpus.
    count, other_count: their occurrences. joint_count: how often the other occurs within the window of the word.
    pmi: their pointwise mutual information in nats; None if they never occur together.
    contexts: those that they share, by `share`. n_contexts: how many contexts they share.
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


def explain(
    vectors: "Model | Vectors | str | os.PathLike[str] | None", corpus: "Corpus", word: str, other: str, *,
    window: WindowSize | None = None, top: Positive = DEFAULT_TOP,
    lines: Annotated[int, Range(ge=0)] = DEFAULT_LINES,
    width: Annotated[int, Range(ge=1, le=MAX_WIDTH)] = DEFAULT_WIDTH,
) -> Explanation:  # fmt: skip
    """The evidence in a corpus for the similarity of two words: their `PairContexts`.

    >>> import embeddings as em
    >>> texts = ["the cat drinks milk", "the dog drinks water", "the cat sleeps", "the dog sleeps"]
    >>> evidence = em.explain(None, em.Corpus(texts), "cat", "dog", window=2)
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
        SettingError: the words are the same, or an argument is out of range.
        CorpusError: as `Corpus.encode`.
    """
    vectors = None if vectors is None else load_source(vectors)
    check_arguments(explain, top=top, width=width, lines=lines)
    cosine = None if vectors is None else similarity(vectors, word, other)
    window = check_value("window", recorded_window(vectors) if window is None else window, WindowSize, {})
    encoded = check_corpus(corpus).encode()
    contexts = PairContexts((Occurrences.of(encoded, word), Occurrences.of(encoded, other)), window)
    pair, joint = contexts.pair, contexts.joint_count
    return Explanation(
        word=" ".join(pair[0].words), other=" ".join(pair[1].words), cosine=cosine,
        context_cosine=contexts.cosine, count=len(pair[0]), other_count=len(pair[1]), joint_count=joint,
        pmi=pair_pmi(contexts.counts[0], pair, joint), contexts=contexts.nearest(top, lines, width),
        n_contexts=int(np.count_nonzero(contexts.products)), window=window,
        same_corpus=is_same_corpus(vectors, encoded.fingerprint),
    )  # fmt: skip


@dataclass(frozen=True)
class PairContexts:
    """The contexts of two words in a corpus.

    Each word is described by its positive pointwise mutual information with each context, where the counts of contexts
    are raised to 0.75, which the vectors of word2vec approximate (Levy, Goldberg and Dagan 2015, "Improving
    Distributional Similarity with Lessons Learned from Word Embeddings", sections 2 and 3). Rare contexts, of which
    vectors learn little, are discounted (Pantel and Lin 2002, "Discovering Word Senses from Text", section 3). The
    cosine of these descriptions is a sum over contexts: the share of a context is its part of this sum.
    """

    pair: tuple[Occurrences, Occurrences]
    window: int

    def __post_init__(self) -> None:
        if self.pair[0].words == self.pair[1].words:
            words = " ".join(self.pair[0].words)
            raise SettingError(f"the words are the same word in this corpus, {words!r}: name two words")

    @cached_property
    def vocabulary(self) -> "Vocabulary":
        """The contexts: all words of the corpus."""
        return self.pair[0].encoded.vocabulary

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each context occurs within the window of each word, (2, types)."""
        return np.stack([occurrences.count_contexts(self.window) for occurrences in self.pair])

    @cached_property
    def pmi(self) -> NDArray[np.float64]:
        """The pointwise mutual information of each word with each context, (2, types)."""
        return context_pmi(self.counts, self.vocabulary.counts)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The descriptions of the words, (2, types)."""
        return discounted(self.pmi, self.counts, self.vocabulary.counts)

    @cached_property
    def products(self) -> NDArray[np.float64]:
        """The terms of the sum over contexts, (types,)."""
        return np.asarray(self.weights[0] * self.weights[1])

    @property
    def cosine(self) -> float:
        """The cosine of the descriptions."""
        norms = np.linalg.norm(self.weights, axis=1).prod()
        return float(self.products.sum() / norms) if norms else 0.0

    @property
    def joint_count(self) -> int:
        """How often the second word is within the window of the first one."""
        return len(self.pair[0].near(self.pair[1], self.window))

    def nearest(self, top: int, lines: int, width: int) -> list[SharedContext]:
        """The contexts with the largest shares."""
        order = np.argsort(-self.products, kind="stable")[: min(top, np.count_nonzero(self.products))]
        return [
            SharedContext(
                context=self.vocabulary.words[row], share=float(self.products[row] / self.products.sum()),
                count=int(self.counts[0, row]), other_count=int(self.counts[1, row]),
                pmi=float(self.pmi[0, row]), other_pmi=float(self.pmi[1, row]),
                lines=tuple(context_lines(self.pair, row, self.window, lines, width)),
            )
            for row in order.tolist()
        ]  # fmt: skip


def context_pmi(counts: NDArray[np.int64], context_counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The pointwise mutual information (words, types) of words and contexts, in nats, from their joint counts.

    log p(context | word) / p(context), where p(context) is proportional to count^0.75; minus infinity for no count.
    """
    expected = context_counts.astype(np.float64) ** SMOOTHING
    expected /= expected.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        return np.asarray(np.log(observed / expected))


def discounted(
    pmi: NDArray[np.float64], counts: NDArray[np.int64], context_counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Positive pointwise mutual information, less where it rests on few occurrences.

    The factors are c / (c + 1) for the joint count c, and m / (m + 1) for the lower count m of word and context.
    """
    lower = np.minimum(counts.sum(axis=1, keepdims=True), context_counts)
    return np.asarray(np.maximum(pmi, 0) * (counts / (counts + 1)) * (lower / (lower + 1)))


def pair_pmi(contexts: NDArray[np.int64], pair: tuple[Occurrences, Occurrences], joint: int) -> float | None:
    """The pointwise mutual information of two words in nats, from their plain counts; None if it is infinite."""
    tokens = len(pair[0].encoded.ids)
    return math.log(joint * tokens / (int(contexts.sum()) * len(pair[1]))) if joint else None


def context_lines(
    pair: tuple[Occurrences, Occurrences], row: int, window: int, lines: int, width: int
) -> list[ConcordanceLine]:
    """Lines of each of two words near a context."""
    if not lines:
        return []
    context = Occurrences.of(pair[0].encoded, pair[0].encoded.vocabulary.words[row])
    near = (occurrences.near(context, window) for occurrences in pair)
    return [line for occurrences in near for line in concordance_lines(occurrences, lines, width)]


def similarity(vectors: "Model | Vectors", word: str, other: str) -> float:
    """The cosine of two words."""
    return float(as_vectors(vectors).similarity(word, other))


def recorded_window(vectors: "Model | Vectors | None") -> int:
    """The window in the settings of a model."""
    window = vectors.settings.get("window") if isinstance(vectors, Model) else None
    return window if isinstance(window, int) and window > 0 else DEFAULT_WINDOW


def is_same_corpus(vectors: "Model | Vectors | None", fingerprint: str) -> bool | None:
    """Whether a model was trained on the corpus with this fingerprint; None if it is not recorded."""
    recorded = vectors.record.get("corpus") if isinstance(vectors, Model) else None
    return None if not isinstance(recorded, str) else recorded == fingerprint
