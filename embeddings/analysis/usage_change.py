"""Words whose use differs between two groups of documents, such as two periods, with a permutation test."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embeddings.analysis.keyword_in_context import DEFAULT_WIDTH, ConcordanceLine, concordance_lines
from embeddings.analysis.occurrences import Occurrences, check_corpus, document_of
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.corpus_cache.tempdir import corpora_folder, new_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.resampling import MIN_UNITS, write_selection
from embeddings.errors import CorpusError, SettingError
from embeddings.settings import check_value
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import check_threads_and_seed, prepare
from embeddings.vectors.align import align
from embeddings.vectors.vectors import Vectors

DEFAULT_PERMUTATIONS, DEFAULT_OCCURRENCES, DEFAULT_FDR = 20, 20, 0.05
DEFAULT_TOP, DEFAULT_NEIGHBOURS = 20, 5
MIN_PERMUTATIONS = 4

Progress = Callable[[int, int], object]  # takes the number of finished trainings, and of all


@dataclass(frozen=True)
class ChangedWord:
    """A word and the evidence for a change of its use.

    change: 1 - cosine of its aligned vectors. expected: the mean change where documents are divided at random.
    z: how many standard deviations the change is above that. p: the share of random changes with such a z.
    q: the rate of false discoveries if this word and all above it are called changed.
    counts: its occurrences in each group. neighbours: its nearest neighbours in each group.
    lines: occurrences in the first group, then in the second.
    """

    word: str
    change: float
    expected: float
    z: float
    p: float
    q: float
    counts: tuple[int, int]
    neighbours: tuple[list[str], list[str]]
    lines: tuple[ConcordanceLine, ...]


@dataclass(frozen=True)
class UsageChange:
    """The result of `compare_usage`.

    words: those with the largest z. n_words: how many words were compared. n_changed: how many have q of at most the
    requested rate. documents: in each group.
    """

    words: list[ChangedWord]
    n_words: int
    n_changed: int
    documents: tuple[int, int]


def compare_usage(
    corpus: Corpus,
    groups: NDArray[np.int64],
    trainer: Trainer,
    *,
    permutations: int = DEFAULT_PERMUTATIONS,
    occurrences: int = DEFAULT_OCCURRENCES,
    fdr: float = DEFAULT_FDR,
    top: int = DEFAULT_TOP,
    lines: int = 0,
    seed: int = 1,
    threads: int | None = None,
    report: Progress | None = None,
) -> UsageChange:
    """Find words whose use differs between two groups of documents.

    A model is trained on each group, and one is rotated onto the other (Hamilton, Leskovec and Jurafsky 2016,
    "Diachronic Word Embeddings Reveal Statistical Laws of Semantic Change"). The change of a word, 1 - cosine, is
    compared with its changes when the documents are divided at random into groups of the same sizes (Dubossarsky,
    Weinshall and Grossman 2017, "Outta Control", ask for such a control). The deviations of all words and random
    divisions together give p-values; false discoveries are controlled by Benjamini and Hochberg's procedure.

    Arguments:
        corpus: all documents.
        groups: (documents,) 0 for the first group, 1 for the second, -1 for documents to leave out.
        trainer: the model to train, such as `em.SkipGram(dim=50)`.
        permutations: the number of random divisions, at least 4. Each takes as long as a training on all documents.
        occurrences: compare words with at least as many occurrences in each group.
        fdr: the rate of false discoveries, for `n_changed`.
        top: how many words to return, with the largest deviations first.
        lines: lines of the corpus to return for each of these words and groups.
        seed: with one thread, results are bit-reproducible.
        report: called after each division.

    Raises:
        SettingError: an argument is out of range, or the model is not trained on words alone.
        CorpusError: a group has too few documents, or no word is frequent enough; or as `Corpus.encode`.
    """
    least = {"permutations": MIN_PERMUTATIONS, "occurrences": 1, "top": 1, "lines": 0}
    numbers = {"permutations": permutations, "occurrences": occurrences, "top": top, "lines": lines}
    for name, value in numbers.items():
        check_value(name, value, int, {"ge": least[name]})
    check_value("fdr", fdr, float, {"gt": 0, "le": 0.5})
    if trainer.reads_labels or trainer.reads_pairs:
        raise SettingError(f"{trainer.trainer_name} is not trained on words alone")
    threads, seed = check_threads_and_seed(threads, seed, trainer)
    encoded = check_corpus(corpus).encode()
    groups = check_groups(groups, encoded)
    members = np.flatnonzero(groups >= 0)
    is_second = groups[members] == 1
    counts = np.stack([word_counts(encoded, members[is_second == side]) for side in (False, True)])
    changes: list[NDArray[np.float64]] = []
    pair: list[Vectors] = []
    for number, division in enumerate(divisions(is_second, permutations, seed)):
        vectors = [train_on(trainer, encoded, members[division == side], threads, seed) for side in (False, True)]
        pair = pair or vectors
        rows = compared_rows(pair[0], counts, occurrences)
        changes.append(distances(vectors, rows))
        if report is not None:
            report(number + 1, permutations + 1)
    z, p = significance(np.stack(changes))
    q = false_discovery_rates(p)
    words = [
        ChangedWord(
            word=(word := pair[0].words[rows[i]]), change=float(changes[0][i]),
            expected=float(np.mean(np.stack(changes[1:])[:, i])), z=float(z[i]), p=float(p[i]), q=float(q[i]),
            counts=(int(counts[0, rows[i]]), int(counts[1, rows[i]])),
            neighbours=(nearest_words(pair[0], word), nearest_words(pair[1], word)),
            lines=tuple(group_lines(encoded, word, groups, lines)),
        )
        for i in np.lexsort((-z, q))[:top].tolist()
    ]  # fmt: skip
    sizes = int(np.sum(~is_second)), int(np.sum(is_second))
    return UsageChange(words, len(rows), int(np.sum(q <= fdr)), sizes)


def check_groups(groups: NDArray[np.int64], encoded: EncodedCorpus) -> NDArray[np.int64]:
    """The groups, if there is one for each document, and each has enough documents."""
    groups, documents = np.asarray(groups), len(encoded.documents) - 1
    if groups.shape != (documents,) or not np.isin(groups, (-1, 0, 1)).all():
        raise SettingError(f"groups must be 0, 1 or -1 for each of {documents:,} documents, got shape {groups.shape}")
    for group in (0, 1):
        count = int(np.sum(groups == group))
        if count < MIN_UNITS:
            raise CorpusError(f"group {group + 1} has too few documents: {count}, at least {MIN_UNITS} are required")
    return groups


def divisions(is_second: NDArray[np.bool_], permutations: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """Which documents are in the second group: as observed, then at random."""
    yield is_second
    random = np.random.default_rng(seed)
    for _ in range(permutations):
        yield random.permutation(is_second)


def word_counts(encoded: EncodedCorpus, documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """The occurrences of each word of the corpus in some documents."""
    borders = np.asarray(encoded.sentences)[np.asarray(encoded.documents)]
    inside = np.zeros(len(borders) - 1, bool)
    inside[documents] = True
    tokens = np.repeat(inside, np.diff(borders))
    size = len(encoded.vocabulary)
    return np.bincount(encoded.ids[tokens], minlength=size)[:size]


def train_on(
    trainer: Trainer, encoded: EncodedCorpus, documents: NDArray[np.int64], threads: int, seed: int
) -> Vectors:
    """Vectors of length 1 that are trained on some documents."""
    with new_folder(corpora_folder()) as folder:
        part = write_selection(encoded, np.asarray(encoded.documents), documents, folder)
    with part:
        return trainer.learn(prepare(trainer, part, threads=threads, seed=seed)).vectors.normalize()


def compared_rows(vectors: Vectors, counts: NDArray[np.int64], occurrences: int) -> NDArray[np.int64]:
    """The rows of the words that are frequent enough in both groups; the vocabulary is sorted as the counts are."""
    rows = np.flatnonzero(counts[:, : len(vectors)].min(axis=0) >= occurrences)
    if len(rows) < vectors.dim:
        raise CorpusError(
            f"{len(rows)} words occur {occurrences} times in both groups, too few to compare {vectors.dim} dimensions: "
            "lower occurrences or dim, or compare larger groups"
        )
    return rows


def distances(pair: list[Vectors], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 - cosine of each word's two vectors, after the first space is rotated onto the second, (rows,)."""
    first, second = (Vectors([str(row) for row in rows], centred(one.matrix[rows])).normalize() for one in pair)
    aligned = align(first, onto=second).vectors.matrix
    return np.asarray(1 - np.einsum("ij,ij->i", aligned, second.matrix, dtype=np.float64))


def centred(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows less their mean, the direction that all words share, which would hide differences."""
    return np.asarray(matrix - matrix.mean(axis=0))


def significance(changes: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far each word's change is above random ones, in standard deviations, and its p-value.

    Each random change is compared with the other random ones in the same way, and the p-value is the share of these
    deviations, of all words, that are as large. The standard deviation is increased by its median over words, so that
    words with a small one by chance do not stand out (Tusher, Tibshirani and Chu 2001, "Significance analysis of
    microarrays").

    Arguments:
        changes: (1 + permutations, words), the observed ones first.
    """
    observed, null = changes[0], changes[1:]
    offset = float(np.median(null.std(axis=0, ddof=1)))
    z = deviation(observed, null, offset)
    others = [np.delete(null, i, axis=0) for i in range(len(null))]
    null_z = np.sort(np.concatenate([deviation(one, rest, offset) for one, rest in zip(null, others, strict=True)]))
    as_large = len(null_z) - np.searchsorted(null_z, z, side="left")
    return z, (as_large + 1) / (len(null_z) + 1)


def deviation(values: NDArray[np.float64], others: NDArray[np.float64], offset: float) -> NDArray[np.float64]:
    """How many standard deviations values (words,) are above the mean of others (n, words)."""
    return np.asarray((values - others.mean(axis=0)) / (others.std(axis=0, ddof=1) + max(offset, 1e-12)))


def false_discovery_rates(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lowest rate of false discoveries at which each p-value is significant (Benjamini and Hochberg 1995)."""
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p))


def nearest_words(vectors: Vectors, word: str) -> list[str]:
    """The nearest neighbours of a word."""
    return [neighbour for neighbour, _ in vectors.most_similar(word, top=DEFAULT_NEIGHBOURS)]


def group_lines(encoded: EncodedCorpus, word: str, groups: NDArray[np.int64], lines: int) -> list[ConcordanceLine]:
    """Lines around a word in each group."""
    if not lines:
        return []
    everywhere = Occurrences.of(encoded, word)
    documents = document_of(encoded, everywhere.sentences)
    result = []
    for group in (0, 1):
        positions = everywhere.positions[groups[documents] == group]
        result += concordance_lines(Occurrences(encoded, everywhere.words, positions), lines, DEFAULT_WIDTH)
    return result
