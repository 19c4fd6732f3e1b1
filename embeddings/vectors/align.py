"""Map one space onto another, so that vectors of two trainings or languages can be compared."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from embeddings.errors import FormatError, S, SettingError
from embeddings.settings import Positive, Range, check_value
from embeddings.support.cosine import normalize, row_blocks
from embeddings.support.local_paths import local_path
from embeddings.support.logs import log
from embeddings.support.progress_display import ProgressOption, waiting
from embeddings.vectors.file_format import stripped_lines
from embeddings.vectors.search import word_list
from embeddings.vectors.vectors import Vectors, as_vectors
from embeddings.vectors.word_vectors import HasVectors

Method = Literal["orthogonal", "normalized", "whitened"]
IDENTICAL, NUMERALS, NONE = "identical", "numerals", "none"
Dictionary = str | os.PathLike[str] | Iterable[tuple[str, str]]
Rows = tuple[np.ndarray, np.ndarray]  # of the first and of the second word of each pair


@dataclass(frozen=True)
class Alignment:
    """The result of `align`.

    Arguments:
        vectors: all words of the first space, mapped.
        onto: all words of the second space; unchanged by the method "orthogonal".
        residual: the relative error |A W - B| / |B| (Frobenius norms) on the pairs; 0 for a perfect fit.
        rotation: W, (dim, dim) float64, orthogonal except for the method "whitened"; rows of the first space, which are
            first normalised unless the method is "orthogonal", are multiplied by it from the right.
        pairs: the pairs of words that determined the map.
        similarity: with self-learning, the mean cosine of words of either space with their translations, which is
            lower where learning failed.
    """

    vectors: Vectors
    onto: Vectors
    residual: float
    rotation: np.ndarray
    pairs: list[tuple[str, str]]
    similarity: float | None = None

    @property
    def words(self) -> list[str]:
        """The words of the first space that determined the map."""
        return [word for word, _ in self.pairs]


def align(
    vectors: Vectors | HasVectors, onto: Vectors | HasVectors, *, words: Iterable[str] | None = None,
    dictionary: Dictionary = IDENTICAL, method: Method = "orthogonal", self_learning: bool = False,
    restarts: Positive = 1, seed: Annotated[int, Range(ge=0)] = 1, progress: ProgressOption = False,
) -> Alignment:  # fmt: skip
    """Map `vectors` so that the first words of pairs come as close as possible to their partners in `onto`.

    >>> import numpy as np, embeddings as em
    >>> first, second = em.Vectors(["a", "b"], np.eye(2)), em.Vectors(["b", "a"], np.eye(2))
    >>> aligned = em.align(first, onto=second)
    >>> aligned.vectors["a"].round(6).tolist(), round(aligned.residual, 6)
    ([0.0, 1.0], 0.0)

    Orthogonal Procrustes (Schoenemann, 1966): with A and B the vectors of the pairs, the orthogonal W that minimises
    |A W - B| is U V' for the singular value decomposition U S V' of A' B. Longer vectors weigh more. Fewer pairs than
    components leave directions undetermined, which are turned as little as possible; a warning is logged. Whitening,
    re-weighting and de-whitening are those of Artetxe et al. (2018, "Generalizing and improving bilingual word
    embedding mappings"), self-learning that of Artetxe et al. (2018, "A robust self-learning method"), among the
    5,000 most frequent words.

    Arguments:
        vectors: Vectors, or a Model.
        onto: Vectors, or a Model.
        words: the words of both spaces that determine the map, in place of a dictionary.
        dictionary: the pairs of words that determine the map: a file of lines of a word and its translation, a list of
            pairs, "identical" for all words of equal spelling, "numerals" for those of digits only, or "none", which
            requires self-learning. Pairs with an unknown word are left out.
        method: "orthogonal" rotates and leaves `onto` as it is. "normalized" first scales all vectors to length one,
            subtracts their mean, and scales again. "whitened" also whitens both spaces before and weights the
            directions by their correlation; it requires more pairs than components.
        self_learning: extend the pairs: translate the most frequent words with the map, learn it again from these
            translations, and so on. For small dictionaries, or none.
        restarts: how often self-learning starts, with other random numbers; the start with the highest similarity
            counts. Without a dictionary some starts can fail.
        seed: of the random numbers of self-learning.
        progress: True shows for how many seconds the alignment has been running.

    Raises:
        SettingError: dimensions differ, no pair has both words, a vector holds NaN or infinity, there are too few pairs
            for the method, or an argument is not vectors.
        UnknownWordError: one of `words` is missing from one of the spaces.
        FormatError: the dictionary cannot be read.
    """
    check_value("method", method, Method, {})
    check_value("restarts", restarts, Positive, {})
    check_value("seed", seed, Annotated[int, Range(ge=0)], {})
    source, target = as_vectors(vectors), as_vectors(onto)
    if source.dim != target.dim:
        raise SettingError(f"cannot align vectors of {source.dim} components onto vectors of {target.dim}")
    rows = pair_rows(source, target, dictionary) if words is None else word_rows(source, target, words, dictionary)
    if not len(rows[0]) and not (self_learning and dictionary == NONE):
        reasons = {
            NONE: f"{S.dictionary(NONE)} requires {S.self_learning}",
            IDENTICAL: "the two spaces share no word",
            NUMERALS: "the two spaces share no number",
        }
        reason = reasons.get(str(dictionary), "no pair of the dictionary has vectors for both words")
        raise SettingError(f"cannot align: {reason if words is None else 'no words are given'}")
    similarity = None
    with waiting(progress, f"aligning {len(source):,} words"):
        x, z = source.check_finite().matrix, target.check_finite().matrix
        if self_learning or method != "orthogonal":
            x, z = centred_units(x), centred_units(z)
        if self_learning:
            starts = [learn_pairs(x, z, rows, np.random.default_rng(seed + start)) for start in range(restarts)]
            similarity, rows = max(starts, key=lambda one: one[0])
        if method == "orthogonal":
            x, z = source.matrix, target.matrix
        a, b = x[rows[0]].astype(np.float64), z[rows[1]].astype(np.float64)
        maps = whitened_maps(a, b) if method == "whitened" else (orthogonal_map(a, b), None)
        mapped = with_rows(source, x, maps[0])
        other = target if method == "orthogonal" else with_rows(target, z, maps[1])
    b = b if maps[1] is None else b @ maps[1]
    norm = float(np.linalg.norm(b))
    residual = float(np.linalg.norm(a @ maps[0] - b)) / norm if norm else 0.0
    pairs = [(source.words[i], target.words[j]) for i, j in zip(*(side.tolist() for side in rows), strict=True)]
    return Alignment(mapped, other, residual, maps[0], pairs, similarity)


def with_rows(vectors: Vectors, matrix: np.ndarray, linear_map: np.ndarray | None) -> Vectors:
    """The words of `vectors` with the rows of `matrix`, multiplied by a map."""
    rows = matrix
    if linear_map is not None:
        rows = np.empty(matrix.shape, dtype=np.float32)
        for block in row_blocks(*matrix.shape, itemsize=8):
            rows[block] = matrix[block] @ linear_map
    return Vectors(vectors.word_list, rows, counts=vectors.counts, word_form=vectors.word_form)


def word_rows(source: Vectors, target: Vectors, words: Iterable[str], dictionary: Dictionary) -> Rows:
    """The rows of words that both spaces have."""
    if dictionary != IDENTICAL:
        raise SettingError(f"{S.words} cannot be combined with {S.dictionary}")
    listed = list(dict.fromkeys(word_list(source, words)))
    first, second = (np.array([space.index(word) for word in listed], np.int64) for space in (source, target))
    return first, second


def pair_rows(source: Vectors, target: Vectors, dictionary: Dictionary) -> Rows:
    """The rows of the pairs of a dictionary whose words both have a vector; each pair once."""
    if isinstance(dictionary, str) and dictionary in (IDENTICAL, NUMERALS, NONE):
        shared = [] if dictionary == NONE else [w for w in source.words if target.word_list.find(w) is not None]
        pairs = [(word, word) for word in shared if dictionary == IDENTICAL or word.isdecimal()]
    elif isinstance(dictionary, str | os.PathLike):
        pairs = read_dictionary(dictionary)
    else:
        pairs = list(dictionary)
        for pair in pairs:
            if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(word, str) for word in pair):
                raise SettingError(f"{S.dictionary} must hold pairs of words, got {pair!r:.80}")
    found = [(source.find(first), target.find(second)) for first, second in dict.fromkeys(map(tuple, pairs))]
    both = [pair for pair in dict.fromkeys(found) if None not in pair]
    first, second = np.array(both, np.int64).reshape(-1, 2).T
    return first, second


def read_dictionary(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """The pairs of a file of lines of a word and its translation, separated by a tab or by spaces."""
    file = local_path(path)
    if not file.is_file():
        raise FormatError(f"no dictionary called {str(path)!r}: give a file, or {IDENTICAL}, {NUMERALS} or {NONE}")
    pairs: list[tuple[str, str]] = []
    for number, line in enumerate(stripped_lines(file), 1):
        words = line.split("\t") if "\t" in line else line.split()
        if len(words) == 2 and all(words):
            pairs.append((words[0], words[1]))
        elif line:
            raise FormatError(f"{file}, line {number}: expected a word and its translation, got {line!r:.80}")
    return pairs


def centred_units(matrix: np.ndarray) -> np.ndarray:
    """Rows of length one, minus their mean, scaled to length one again; float32."""
    units = np.empty(matrix.shape, np.float32)
    for block in row_blocks(*matrix.shape, itemsize=8):
        units[block] = normalize(matrix[block])
    mean = units.mean(axis=0, dtype=np.float64)
    for block in row_blocks(*matrix.shape, itemsize=8):
        units[block] = normalize(units[block] - mean)
    return units


def orthogonal_map(a: np.ndarray, b: np.ndarray, *, is_partial: bool = False) -> np.ndarray:
    """The orthogonal W that minimises |A W - B| (Schoenemann, 1966), and of several the nearest to the identity.

    Fewer pairs than components leave directions undetermined; `is_partial` maps them to zero.
    """
    u, values, v = np.linalg.svd(a.T @ b)
    rank, dim = np.count_nonzero(values > UNDETERMINED * values[0]), len(values)
    linear_map = u[:, :rank] @ v[:rank]
    if rank == dim or is_partial:
        return np.asarray(linear_map)
    log.warning("the pairs determine %d of %d directions; the others are turned as little as possible", rank, dim)
    # LAPACK's bases of what is left are arbitrary and differ between processors; the best map between them is not.
    left, right = u[:, rank:], v[rank:]
    p, _, q = np.linalg.svd(left.T @ right.T)
    return np.asarray(linear_map + left @ p @ q @ right)


def whitened_maps(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The maps of both spaces: whitening, rotation, weights sqrt(S), de-whitening (Artetxe et al., 2018, section 4)."""
    whiten = []
    for side in (a, b):
        _, values, v = np.linalg.svd(side, full_matrices=False)
        if len(values) < side.shape[1] or values[-1] <= 1e-6 * values[0]:
            raise SettingError(
                f"{S.method('whitened')} requires more pairs than the {side.shape[1]} components, got {len(side)}: use "
                "normalized, or self-learning"
            )
        whiten.append((v.T / values) @ v)
    u, values, v = np.linalg.svd((a @ whiten[0]).T @ (b @ whiten[1]))
    weights = np.sqrt(values)
    first, second = (
        white @ (base * weights) @ base.T @ np.linalg.inv(white) @ base
        for white, base in zip(whiten, (u, v.T), strict=True)
    )
    return first, second


CUTOFF = 5_000  # most frequent words that self-learning translates
START = 4_000  # most frequent words whose distributions of similarities make the first dictionary
NEIGHBOURS = 10  # of CSLS
PATIENCE = 5  # rounds without progress, after which more similarities are kept
FIRST_SHARE = 0.1  # of similarities that are kept in the first rounds
THRESHOLD = 1e-4
UNDETERMINED = 1e-6  # relative singular value below which no pair determines a direction


def learn_pairs(x: np.ndarray, z: np.ndarray, rows: Rows, rng: np.random.Generator) -> tuple[float, Rows]:
    """Alternate between the orthogonal map of pairs and the pairs of best translations by CSLS in both directions.

    At first only a tenth of all similarities, drawn at random, are compared; the share doubles when the mean similarity
    no longer rises (Artetxe et al., 2018). Returns the mean similarity and the pairs.
    """
    rows = rows if len(rows[0]) else first_pairs(x, z)
    best, share, stale = -np.inf, FIRST_SHARE, 0
    while True:
        # Words are compared in the directions that the pairs determine: eight pairs determine eight.
        a, b = x[rows[0]].astype(np.float64), z[rows[1]].astype(np.float64)
        linear_map = orthogonal_map(a, b, is_partial=True)
        cosines = x[:CUTOFF] @ linear_map.astype(np.float32) @ z[:CUTOFF].T
        similarity = float(cosines.max(axis=0).mean() + cosines.max(axis=1).mean()) / 2
        forward, backward = (translate(one, share, rng) for one in (cosines, np.ascontiguousarray(cosines.T)))
        rows = (
            np.concatenate([np.arange(len(forward)), backward]),
            np.concatenate([forward, np.arange(len(backward))]),
        )
        best, stale = (similarity, 0) if similarity > best + THRESHOLD else (best, stale + 1)
        if stale and share == 1:
            return similarity, rows
        if stale > PATIENCE:
            share, stale = min(1.0, 2 * share), 0


def translate(cosines: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """The column of the highest CSLS of each row of `cosines`, among a random share of the columns."""
    scores = cosines - mean_of_highest(cosines.T) / 2
    # Similarities that are left out become 0, as in the published code.
    if share < 1:
        scores *= rng.random(scores.shape, np.float32) < share
    return np.asarray(scores.argmax(axis=1))


def mean_of_highest(cosines: np.ndarray) -> np.ndarray:
    """The mean of the `NEIGHBOURS` highest cosines of each row."""
    count = min(NEIGHBOURS, cosines.shape[1])
    return np.asarray(
        np.partition(cosines, cosines.shape[1] - count, axis=1)[:, cosines.shape[1] - count :].mean(axis=1)
    )


def first_pairs(x: np.ndarray, z: np.ndarray) -> Rows:
    """Words whose sorted similarities with the words of their own space are alike (Artetxe et al., 2018, 3.2)."""
    count = min(START, len(x), len(z))
    profiles = []
    for side in (x, z):
        u, values, _ = np.linalg.svd(side[:count].astype(np.float64), full_matrices=False)
        profiles.append(centred_units(np.sort((u * values) @ u.T, axis=1)))
    cosines, everyone = profiles[0] @ profiles[1].T, np.arange(count)
    scores = cosines - mean_of_highest(cosines)[:, None] / 2 - mean_of_highest(cosines.T) / 2
    return np.concatenate([everyone, scores.argmax(axis=0)]), np.concatenate([scores.argmax(axis=1), everyone])
