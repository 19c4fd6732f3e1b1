"""Map one space onto another, so that vectors of two trainings or languages can be compared."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from embeddings.errors import FormatError, S, SettingError
from embeddings.settings import check_value
from embeddings.support.cosine import normalize, normalize_rows, row_blocks
from embeddings.support.local_paths import local_path
from embeddings.support.logs import log
from embeddings.support.progress_display import ProgressOption, waiting
from embeddings.support.text_lines import read_text_lines
from embeddings.vectors.vectors import Vectors, as_vectors
from embeddings.vectors.word_vectors import HasVectors

Method = Literal["orthogonal", "normalized", "whitened"]
IDENTICAL, NUMERALS = "identical", "numerals"
UNDETERMINED = 1e-6  # relative singular value below which no pair determines a direction
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
    """

    vectors: Vectors
    onto: Vectors
    residual: float
    rotation: np.ndarray
    pairs: list[tuple[str, str]]


def align(
    vectors: Vectors | HasVectors, onto: Vectors | HasVectors, *, dictionary: Dictionary = IDENTICAL,
    method: Method = "orthogonal", progress: ProgressOption = False,
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
    embedding mappings").

    Arguments:
        vectors: Vectors, or a Model.
        onto: Vectors, or a Model.
        dictionary: the pairs of words that determine the map: a file of lines of a word and its translation, a list of
            pairs, "identical" for all words of equal spelling, or "numerals" for those of digits only. Pairs with an
            unknown word are left out.
        method: "orthogonal" rotates and leaves `onto` as it is. "normalized" first scales all vectors to length one,
            subtracts their mean, and scales again. "whitened" also whitens both spaces before and weights the
            directions by their correlation; it requires more pairs than components.
        progress: True shows for how many seconds the alignment has been running.

    Raises:
        SettingError: dimensions differ, no pair has both words, a vector holds NaN or infinity, there are too few pairs
            for the method, or an argument is not vectors.
        FormatError: the dictionary cannot be read.
    """
    check_value("method", method, Method, {})
    source, target = as_vectors(vectors), as_vectors(onto)
    if source.dim != target.dim:
        raise SettingError(f"cannot align vectors of {source.dim} components onto vectors of {target.dim}")
    rows = pair_rows(source, target, dictionary)
    if not len(rows[0]):
        reasons = {IDENTICAL: "the two spaces share no word", NUMERALS: "the two spaces share no number"}
        reason = reasons.get(str(dictionary), "no pair of the dictionary has vectors for both words")
        raise SettingError(f"cannot align: {reason}")
    with waiting(progress, f"aligning {len(source):,} words"):
        # NaN in one row would spread over the whole map by the singular value decomposition
        x, z = source.check_finite().matrix, target.check_finite().matrix
        if method != "orthogonal":
            x, z = centred_units(x), centred_units(z)
        a, b = x[rows[0]].astype(np.float64), z[rows[1]].astype(np.float64)
        maps = whitened_maps(a, b) if method == "whitened" else (orthogonal_map(a, b), None)
        mapped = with_rows(source, x, maps[0])
        other = target if method == "orthogonal" else with_rows(target, z, maps[1])
    b = b if maps[1] is None else b @ maps[1]
    norm = float(np.linalg.norm(b))
    residual = float(np.linalg.norm(a @ maps[0] - b)) / norm if norm else 0.0
    pairs = [(source.words[i], target.words[j]) for i, j in zip(*(side.tolist() for side in rows), strict=True)]
    return Alignment(mapped, other, residual, maps[0], pairs)


def with_rows(vectors: Vectors, matrix: np.ndarray, linear_map: np.ndarray | None) -> Vectors:
    """The words of `vectors` with the rows of `matrix`, multiplied by a map."""
    rows = matrix
    if linear_map is not None:
        rows = np.empty(matrix.shape, dtype=np.float32)
        for block in row_blocks(*matrix.shape, itemsize=8):
            rows[block] = matrix[block] @ linear_map
    return Vectors(vectors.word_list, rows, counts=vectors.counts, word_form=vectors.word_form)


def pair_rows(source: Vectors, target: Vectors, dictionary: Dictionary) -> Rows:
    """The rows of the pairs of a dictionary whose words both have a vector; each pair once."""
    if isinstance(dictionary, str) and dictionary in (IDENTICAL, NUMERALS):
        shared = [word for word in source.words if target.word_list.find(word) is not None]
        pairs = [(word, word) for word in shared if dictionary == IDENTICAL or word.isdecimal()]
    elif isinstance(dictionary, str | os.PathLike):
        pairs = read_dictionary(dictionary)
    else:
        pairs = list(dictionary)
        for pair in pairs:
            if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(word, str) for word in pair):
                raise SettingError(f"{S.dictionary} must hold pairs of words, got {pair!r:.80}")
    found = [(source.find(first), target.find(second)) for first, second in dict.fromkeys(map(tuple, pairs))]
    # two spellings in the dictionary may name the same rows, which would weigh twice
    both = [pair for pair in dict.fromkeys(found) if None not in pair]
    first, second = np.array(both, np.int64).reshape(-1, 2).T
    return first, second


def read_dictionary(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """The pairs of a file of lines of a word and its translation, separated by a tab or by spaces."""
    file = local_path(path)
    if not file.is_file():
        raise FormatError(f"no dictionary called {str(path)!r}: give a file, or {IDENTICAL} or {NUMERALS}")
    pairs: list[tuple[str, str]] = []
    for number, line in enumerate(map(str.strip, read_text_lines(file, "dictionary")), 1):
        words = line.split("\t") if "\t" in line else line.split()
        if len(words) == 2 and all(words):
            pairs.append((words[0], words[1]))
        elif line:
            raise FormatError(f"{file}, line {number}: expected a word and its translation, got {line!r:.80}")
    return pairs


def centred_units(matrix: np.ndarray) -> np.ndarray:
    """Rows of length one, minus their mean, scaled to length one again; float32."""
    units = normalize_rows(matrix)
    # float32 would lose the mean of a million unit vectors, which is near zero
    mean = units.mean(axis=0, dtype=np.float64)
    for block in row_blocks(*matrix.shape, itemsize=8):
        units[block] = normalize(units[block] - mean)
    return units


def orthogonal_map(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The orthogonal W that minimises |A W - B| (Schoenemann, 1966), and of several the nearest to the identity.

    Fewer pairs than components leave directions undetermined.
    """
    u, values, v = np.linalg.svd(a.T @ b)
    rank, dim = np.count_nonzero(values > UNDETERMINED * values[0]), len(values)
    linear_map = u[:, :rank] @ v[:rank]
    if rank == dim:
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
        # whitening divides by singular values, and would blow up the noise of directions that pairs hardly determine
        if len(values) < side.shape[1] or values[-1] <= 1e-6 * values[0]:
            raise SettingError(
                f"{S.method('whitened')} requires more pairs than the {side.shape[1]} components, got {len(side)}: use "
                "normalized"
            )
        whiten.append((v.T / values) @ v)
    u, values, v = np.linalg.svd((a @ whiten[0]).T @ (b @ whiten[1]))
    weights = np.sqrt(values)
    first, second = (
        white @ (base * weights) @ base.T @ np.linalg.inv(white) @ base
        for white, base in zip(whiten, (u, v.T), strict=True)
    )
    return first, second
