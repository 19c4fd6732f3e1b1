"""Means of the vectors around words, over all their occurrences in an encoded corpus."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from embeddings.analysis.occurrences import Occurrences, check_corpus, sentence_of
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import CorpusError
from embeddings.support.arrow_arrays import find_words, to_string_array
from embeddings.support.system import available_threads
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_weights import DEFAULT_CONSTANT

CHUNK = 1 << 22  # tokens that are read at a time
ContextWeights = Literal["equal", "sif"]
CONTEXT_WEIGHTS: tuple[str, ...] = get_args(ContextWeights)
Report = Callable[[int, int], object]


@dataclass(frozen=True)
class ContextMeans:
    """The mean vector around each of several words.

    means: (n, dim) float64, zeros for a word without a context. occurrences: (n,) int64, those with a context.
    """

    means: NDArray[np.float64]
    occurrences: NDArray[np.int64]


@dataclass(frozen=True)
class ContextReader:
    """A corpus with the vectors of its words, from which means of contexts are read.

    A context is a word with a vector that is at most `window` words away in the same line. All contexts of a word have
    one mean, over all its occurrences; weights "sif" are a / (a + p) for a word with the share p of the corpus, where
    a is 0.001 (Arora, Liang and Ma 2017).

    Raises:
        CorpusError: no word of the corpus has a vector.
        SettingError: a vector holds NaN or infinity.
    """

    encoded: EncodedCorpus
    vectors: Vectors
    window: int
    weights: ContextWeights
    threads: int | None = None

    def __post_init__(self) -> None:
        self.vectors.check_finite()
        if not (self.rows >= 0).any():
            raise CorpusError("no word of the corpus has a vector; read it as the training text of the vectors was")

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """The row in the vectors of each word of the corpus, then of the id of unknown words; -1 for none."""
        words = find_words(self.encoded.vocabulary.column, to_string_array(self.vectors.words), -1)
        return np.append(words, np.int32(-1))

    def word_means(self, ids: NDArray[np.int64], report: Report | None = None) -> ContextMeans:
        """The means around words, given by their ids in the corpus (n,)."""
        slots = np.full(len(self.rows), -1, np.int32)
        slots[ids] = np.arange(len(ids), dtype=np.int32)
        sums = self.new_sums(len(ids))
        tokens = self.encoded.ids
        for begin in range(0, len(tokens), CHUNK):
            found = slots[tokens[begin : begin + CHUNK]]
            places = np.flatnonzero(found >= 0)
            self.add(places + begin, found[places], 1, sums)
            if report is not None:
                report(min(begin + CHUNK, len(tokens)), len(tokens))
        return sums.means()

    def phrase_means(self, phrases: Sequence[Occurrences]) -> ContextMeans:
        """The means around occurrences of several consecutive words; these are not contexts of each other."""
        sums = self.new_sums(len(phrases))
        for slot, phrase in enumerate(phrases):
            self.add(phrase.positions, np.full(len(phrase), slot, np.int32), len(phrase.words), sums)
        return sums.means()

    def new_sums(self, number: int) -> "Sums":
        """Sums for this many words."""
        return Sums(np.zeros((number, self.vectors.dim)), np.zeros(number), np.zeros(number, np.int64))

    def add(self, positions: NDArray[np.int64], slots: NDArray[np.int32], size: int, sums: "Sums") -> None:
        """Add the contexts at these positions, on all threads."""
        if not len(positions):
            return
        from embeddings.kernels.context_sums import ContextSums, ContextText, add_contexts

        arrays = self.encoded.ids, self.encoded.sentences, self.rows, self.type_weights, self.vectors.matrix
        text = ContextText(*(read_only(array) for array in arrays))
        line = int(sentence_of(self.encoded, positions[:1])[0])
        threads = min(self.threads or available_threads(), len(sums.weights))

        def work(thread: int) -> None:
            result = ContextSums(sums.sums, sums.weights, sums.occurrences, np.zeros(self.vectors.dim, np.float32))
            add_contexts(text, positions, slots, size, self.window, line, (thread, threads), result)

        with ThreadPoolExecutor(threads, thread_name_prefix="contexts") as pool:
            list(pool.map(work, range(threads)))

    @cached_property
    def type_weights(self) -> NDArray[np.float32]:
        """The weight of each word of the corpus as a context."""
        if self.weights == "equal":
            return np.ones(len(self.rows), np.float32)
        vocabulary = self.encoded.vocabulary
        shares = np.append(vocabulary.counts / max(vocabulary.total, 1), 0)
        return np.asarray(DEFAULT_CONSTANT / (DEFAULT_CONSTANT + shares), np.float32)


@dataclass(frozen=True)
class Sums:
    """Sums of the vectors around words; the fields are those of `embeddings.kernels.context_sums.ContextSums`."""

    sums: NDArray[np.float64]
    weights: NDArray[np.float64]
    occurrences: NDArray[np.int64]

    def means(self) -> ContextMeans:
        """The means; the sums are consumed."""
        self.sums[:] /= np.where(self.weights > 0, self.weights, 1)[:, None]
        return ContextMeans(self.sums, self.occurrences)


def read_only(array: np.ndarray) -> np.ndarray:
    """A contiguous array that cannot be written to, so that the kernel is compiled once."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view


def as_encoded(corpus: Corpus | EncodedCorpus) -> EncodedCorpus:
    """The encoded corpus of a corpus."""
    return corpus if isinstance(corpus, EncodedCorpus) else check_corpus(corpus).encode()
