"""À la carte embedding (Khodak et al. 2018): vectors of new words from their contexts, by a linear map."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.analysis.explanation import WindowSize, recorded_window
from embeddings.analysis.occurrences import Occurrences, sentence_of, words_of
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus, as_encoded
from embeddings.corpora.phrases.phrase import JOINER
from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.errors import CorpusError, S, SettingError
from embeddings.kernels.separate_arrays import read_only
from embeddings.models.embed import load_source
from embeddings.models.model import Model
from embeddings.settings import Positive, Range, check_arguments, check_value
from embeddings.support.arrow import find_words, to_string_array
from embeddings.support.cosine import normalize
from embeddings.support.progress_display import ProgressOption, showing
from embeddings.support.system import available_threads
from embeddings.vectors.search import word_list
from embeddings.vectors.vectors import Vectors, as_vectors

CHUNK = 1 << 22  # tokens that are read at a time
Report = Callable[[int, int], object]
Places = tuple[NDArray[np.int64], NDArray[np.int32], int]  # positions of occurrences, their words, and their tokens


class ContextMeans(NamedTuple):
    """The mean vector around each of several words.

    means: (n, dim) float64, zeros for a word without a context. occurrences: (n,) int64, those with a context.
    """

    means: NDArray[np.float64]
    occurrences: NDArray[np.int64]


@dataclass(frozen=True)
class ContextReader:
    """A corpus with the vectors of its words, from which means of contexts are read.

    A context is a word with a vector that is at most `window` words away in the same line. All contexts of a word have
    one mean, over all its occurrences.

    Raises:
        CorpusError: no word of the corpus has a vector.
        SettingError: a vector holds NaN or infinity.
    """

    encoded: EncodedCorpus
    vectors: Vectors
    window: int
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
        tokens = self.encoded.ids

        def parts() -> Iterator[Places]:
            for begin in range(0, len(tokens), CHUNK):
                found = slots[tokens[begin : begin + CHUNK]]
                places = np.flatnonzero(found >= 0)
                yield places + begin, found[places], 1
                if report is not None:
                    report(min(begin + CHUNK, len(tokens)), len(tokens))

        return self.means(len(ids), parts())

    def means(self, number: int, parts: Iterable[Places]) -> ContextMeans:
        """The means around occurrences of this many words or phrases, on all threads.

        Arguments:
            parts: positions in the corpus, the number of the word of each, and the tokens of an occurrence, which are
                not contexts of each other.
        """
        from embeddings.kernels.text_pooling import ContextSums, ContextText, add_contexts

        sums, (contexts, occurrences) = np.zeros((number, self.vectors.dim)), np.zeros((2, number), np.int64)
        arrays = self.encoded.ids, self.encoded.sentences, self.rows, self.vectors.matrix
        text = ContextText(*(read_only(array) for array in arrays))
        # a thread adds the contexts of its own words only, so that sums do not depend on the number of threads
        threads = min(self.threads or available_threads(), number)
        for positions, slots, size in parts:
            if not len(positions):
                continue
            line = int(sentence_of(self.encoded, positions[:1])[0])
            buffers = np.zeros((threads, self.vectors.dim), np.float32)
            results = [ContextSums(sums, contexts, occurrences, buffer) for buffer in buffers]
            add = partial(add_contexts, text, positions, slots, size, self.window, line)
            with ThreadPoolExecutor(threads, thread_name_prefix="contexts") as pool:
                list(pool.map(add, [(thread, threads) for thread in range(threads)], results))
        sums /= np.maximum(contexts, 1)[:, None]
        return ContextMeans(sums, occurrences)


MAX_WORDS = 100_000  # the most frequent ones, to which a map is fitted; each takes 8 dim bytes
MIN_CONDITION = 1e-12  # smallest ratio of eigenvalues with which the regression is solved


@dataclass(frozen=True)
class ContextMap:
    """A linear map from mean vectors of contexts to vectors of words.

    matrix: (dim, dim) float32; the vector of a word is `matrix @ mean`. window: of the means. words: how many words it
    was fitted to. mean_cosine: between the vectors of these words and their images. vectors: the fingerprint of the
    vectors, to which alone it applies. corpus: that of the corpus.
    """

    matrix: NDArray[np.float32]
    window: int
    words: int
    mean_cosine: float
    vectors: str
    corpus: str

    def apply(self, means: NDArray[Any]) -> NDArray[np.float32]:
        """The vectors (n, dim) of words from the means of their contexts (n, dim)."""
        return np.asarray(means.astype(np.float64) @ self.matrix.T.astype(np.float64), np.float32)


def fit_context_map(
    vectors: Model | Vectors | str | os.PathLike[str],
    corpus: Corpus | EncodedCorpus,
    *,
    window: WindowSize | None = None,
    min_count: Positive = 100,
    ridge: Annotated[float, Range(ge=0)] = 0.0,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> ContextMap:
    """Fit the map A that minimises the sum over words of log n * |v - A u|² (Khodak et al. 2018, section 3.1).

    v is the vector of a word, n its number of occurrences, and u the mean of the vectors around it.

    Arguments:
        vectors: a model or vectors, or the path of either.
        corpus: the text, best the one that the vectors were trained on, read in the same way.
        window: the number of words on each side that are contexts; by default as in training, or 5.
        min_count: fit the map to words that occur at least N times.
        ridge: the strength of regularisation of the fit, for few words: this times the mean eigenvalue of the matrix
            of the normal equations is added to its diagonal.
        threads: all available cores if not given; the map does not depend on it.
        progress: True shows a bar, False none; by default there is one on a terminal and in a notebook. A function is
            called with the number of tokens done, and the total.

    Raises:
        SettingError: an argument is out of range, a vector is not finite, or there are too few words for the
            regression.
        CorpusError: as `Corpus.encode`, or no word of the corpus has a vector.
    """
    source = load_source(vectors)
    window = check_value("window", recorded_window(source) if window is None else window, WindowSize, {})
    check_arguments(fit_context_map, min_count=min_count, ridge=ridge)
    encoded, word_vectors = as_encoded(corpus), as_vectors(source)
    reader = ContextReader(encoded, word_vectors, window, threads)
    counts = encoded.vocabulary.counts
    ids = np.flatnonzero((reader.rows[:-1] >= 0) & (counts >= min_count))[:MAX_WORDS]
    with showing(progress, "reading contexts", "tokens") as shown:
        result = reader.word_means(ids, shown)
    # a mean of nothing is zeros, which would pull the map towards it
    has_context = result.occurrences > 0
    ids, means = ids[has_context], result.means[has_context]
    targets = word_vectors.matrix[reader.rows[ids]]
    matrix = regression(means, targets, np.log(counts[ids]), ridge).astype(np.float32)
    cosines = (normalize(means @ matrix.T.astype(np.float64)) * normalize(targets)).sum(axis=1)
    fingerprints = word_vectors.fingerprint, encoded.fingerprint
    return ContextMap(matrix, window, len(ids), float(cosines.mean()), *fingerprints)


def regression(
    means: NDArray[np.float64], targets: NDArray[np.float32], weights: NDArray[np.float64], ridge: float
) -> NDArray[np.float64]:
    """The matrix A (dim, dim) that minimises the sum of weights * |targets - A means|².

    Raises SettingError if there are no means, or `ridge` is 0 and they do not determine the matrix.
    """
    words, dim = means.shape
    weighted = means * weights[:, None]
    moments = weighted.T @ means
    eigenvalues = np.linalg.eigvalsh(moments)
    if words == 0 or (ridge == 0 and (words < dim or eigenvalues[0] <= MIN_CONDITION * eigenvalues[-1])):
        raise SettingError(
            f"the contexts of {words} words do not determine a map of {dim} dimensions; lower {S.min_count}, or give a "
            "ridge, such as 0.1"
        )
    # relative to the mean eigenvalue, so that a ridge means the same for vectors of any scale
    moments[np.diag_indices(dim)] += ridge * eigenvalues.mean()
    return np.asarray(np.linalg.solve(moments, weighted.T @ targets).T)


@dataclass(frozen=True)
class Induced:
    """Vectors induced for words.

    vectors: of the words, or phrases with "_" between their words, in the form that they have in the corpus; with
    their numbers of occurrences that have a context as counts. known: the requested words that have a vector already.
    missing: the other requested words without one, and their numbers of occurrences that have a context.
    """

    vectors: Vectors
    known: list[str]
    missing: dict[str, int]


class ContextInducer:
    """Computes vectors of words from their contexts in a corpus, by a map or as plain means.

    Called with a list of words, it returns their vectors (words, dim) float32, zeros for words without a context, as
    `lookup` takes it for "contexts".

    >>> import embeddings as em
    >>> texts = ["the cat drinks milk", "the dog drinks water", "the cow eats grass", "the emu drinks water"] * 5
    >>> model = em.train("skipgram", texts[:3] * 5, dim=4, min_count=1, subsample=0, threads=1)
    >>> inducer = em.analysis.ContextInducer(model, em.Corpus(texts), window=2)
    >>> inducer.induce(["emu", "zebra"]).missing
    {'zebra': 0}
    >>> em.lookup(model, ["emu", "cat"], "contexts", contexts=inducer).shape
    (2, 4)

    Arguments:
        vectors: a model or vectors, or the path of either.
        corpus: the text with the words.
        context_map: as `fit_context_map` returns it; without one, a vector is the mean of those around the word.
        window: without a map, that of the means; see `fit_context_map`.
        threads: all available cores if not given; vectors do not depend on it.

    Raises:
        SettingError: the map was fitted to other vectors, or an argument is out of range.
        CorpusError: as `Corpus.encode`, or no word of the corpus has a vector.
    """

    def __init__(
        self,
        vectors: Model | Vectors | str | os.PathLike[str],
        corpus: Corpus | EncodedCorpus,
        context_map: ContextMap | None = None,
        *,
        window: WindowSize | None = None,
        threads: int | None = None,
    ) -> None:
        source = load_source(vectors)
        self.vectors, self.encoded = as_vectors(source), as_encoded(corpus)
        if context_map is None:
            window = check_value("window", recorded_window(source) if window is None else window, WindowSize, {})
            identity = np.eye(self.vectors.dim, dtype=np.float32)  # the vector of a word is the mean of those around it
            fingerprints = self.vectors.fingerprint, self.encoded.fingerprint
            context_map = ContextMap(identity, window, 0, 0.0, *fingerprints)
        elif window is not None:
            raise SettingError(f"{S.window} is that of the map: leave it out")
        if context_map.vectors != self.vectors.fingerprint:
            raise SettingError("the map was fitted to other vectors; fit one to these")
        self.context_map = context_map
        self.reader = ContextReader(self.encoded, self.vectors, context_map.window, threads)

    def __call__(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of words, (words, dim) float32; zeros for words without a context."""
        rows, _ = self.rows_of([self.parts(word) for word in words])
        return rows

    def induce(self, words: Sequence[str], *, min_contexts: Positive = 1) -> Induced:
        """Induced vectors for words without a vector, and for phrases: several words separated by spaces.

        Arguments:
            words: as typed: they are converted like the text of the corpus.
            min_contexts: leave out words with fewer occurrences that have a context.

        Raises:
            SettingError: a word is not a string, or `min_contexts` is less than 1.
        """
        check_value("min_contexts", min_contexts, Positive, {})
        parts = {word: self.parts(word) for word in word_list(self.vectors, words)}
        known = [word for word in parts if word in self.vectors or JOINER.join(parts[word] or (word,)) in self.vectors]
        names = {word: JOINER.join(parts[word]) or word for word in parts if word not in known}
        unique: dict[str, str] = {}  # the first spelling of each
        for word, name in names.items():
            unique.setdefault(name, word)
        rows, counts = self.rows_of([parts[word] for word in unique.values()])
        is_induced = counts >= min_contexts
        missing = {word: int(counts[row]) for row, word in enumerate(unique.values()) if not is_induced[row]}
        induced = [name for name, word in unique.items() if word not in missing]
        return Induced(Vectors(induced, rows[is_induced], counts=counts[is_induced]), known, missing)

    def parts(self, text: str) -> tuple[str, ...]:
        """The words of a text as the corpus has them; empty if one does not occur in it."""
        try:
            return words_of(self.encoded, text)
        except UnknownWordError:
            return ()

    def rows_of(self, texts: Sequence[tuple[str, ...]]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The vectors (n, dim) of words or phrases, and their numbers of occurrences with a context (n,)."""
        unique = {words: place for place, words in enumerate(dict.fromkeys(texts))}
        means, counts = np.zeros((len(unique), self.vectors.dim)), np.zeros(len(unique), np.int64)
        ids = self.encoded.vocabulary.ids
        singles = [words for words in unique if len(words) == 1]
        phrases = [words for words in unique if len(words) > 1]
        found = [Occurrences.of(self.encoded, " ".join(words)) for words in phrases]
        parts = ((one.positions, np.full(len(one), n, np.int32), len(one.words)) for n, one in enumerate(found))
        for group, result in (
            (singles, self.reader.word_means(np.array([ids[words[0]] for words in singles], np.int64))),
            (phrases, self.reader.means(len(phrases), parts)),
        ):
            places = [unique[words] for words in group]
            means[places], counts[places] = result.means, result.occurrences
        places = [unique[words] for words in texts]
        return self.context_map.apply(means)[places], counts[places]
