"""À la carte embedding (Khodak et al. 2018): a linear map from the mean vector around a word to its own vector."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from embeddings.analysis.context_means import CONTEXT_WEIGHTS, ContextReader, ContextWeights, Report, as_encoded
from embeddings.analysis.explanation import LIMITS, recorded_window
from embeddings.errors import CorpusError, FormatError, SettingError
from embeddings.models.embed import load_source
from embeddings.settings import check_value
from embeddings.support import tensors
from embeddings.support.cosine import normalize
from embeddings.support.files import atomic_write, check_own_folder
from embeddings.support.versioned_json import check_fields, read_versioned
from embeddings.vectors.as_vectors import as_vectors

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus
    from embeddings.corpora.encoded_corpus import EncodedCorpus
    from embeddings.models.model import Model
    from embeddings.vectors.vectors import Vectors

Weighting = Literal["log", "equal"]
DEFAULT_MIN_COUNT, DEFAULT_MAX_WORDS = 100, 100_000
MIN_CONDITION = 1e-12  # smallest ratio of eigenvalues with which the regression is solved
FORMAT_VERSION = 1
RECORD, TENSORS, MATRIX = "map.json", "tensors.safetensors", "map"
FIELDS: dict[str, type] = {
    "window": int, "context_weights": str, "words": int, "mean_cosine": float, "vectors": str, "corpus": str,
}  # fmt: skip


@dataclass(frozen=True)
class ContextMap:
    """A linear map from mean vectors of contexts to vectors of words.

    matrix: (dim, dim) float32; the vector of a word is `matrix @ mean`. window, context_weights: how means are
    computed. words: how many words it was fitted to. mean_cosine: between the vectors of these words and their images.
    vectors: the fingerprint of the vectors, to which alone it applies. corpus: that of the corpus.
    """

    matrix: NDArray[np.float32]
    window: int
    context_weights: ContextWeights
    words: int
    mean_cosine: float
    vectors: str
    corpus: str

    def apply(self, means: NDArray[Any]) -> NDArray[np.float32]:
        """The vectors (n, dim) of words with these means of contexts (n, dim)."""
        return np.asarray(means.astype(np.float64) @ self.matrix.T.astype(np.float64), np.float32)

    def check_vectors(self, vectors: "Vectors") -> None:
        """Refuse vectors that the map was not fitted to.

        Raises:
            SettingError: they are others.
        """
        if vectors.fingerprint != self.vectors:
            raise SettingError("the map was fitted to other vectors; fit one to these")

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Save to a folder, atomically: map.json and tensors.safetensors.

        Arguments:
            force: replace an existing map; nothing else is replaced.

        Raises:
            OutputError: the path exists or cannot be written.
        """
        check_map_target(path, force=force)
        with atomic_write(path, force=force, folder=True) as folder:
            tensors.save({MATRIX: self.matrix}, folder / TENSORS)
            content = {name: value for name, value in asdict(self).items() if name != "matrix"}
            text = json.dumps({"format_version": FORMAT_VERSION, **content}, indent=2)
            (folder / RECORD).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "ContextMap":
        """Load a saved map.

        Raises:
            FormatError: a file is missing, broken or of an unknown version.
        """
        folder = Path(path)
        if not (folder / RECORD).is_file():
            raise FormatError(f"{folder} {'is not a saved map of contexts' if folder.exists() else 'does not exist'}")
        content = read_versioned(folder / RECORD, FORMAT_VERSION)
        check_fields(folder / RECORD, content, FIELDS)
        matrix = tensors.load(folder / TENSORS).get(MATRIX)
        if matrix is None or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype != np.float32:
            raise FormatError(f"{folder / TENSORS} is broken: it has no square float32 matrix {MATRIX!r}")
        is_valid = content["context_weights"] in CONTEXT_WEIGHTS and content["window"] >= 1
        if not is_valid or not np.isfinite(matrix).all():
            raise FormatError(f"{folder} is broken: a value is out of range")
        return cls(np.array(matrix), **{name: content[name] for name in FIELDS})


def check_map_target(path: str | os.PathLike[str], *, force: bool) -> Path:
    """The path, if a map can be saved there: nothing exists, or with `force` another saved map."""
    return check_own_folder(path, RECORD, {RECORD, TENSORS}, "map of contexts", force=force)


def fit_context_map(
    vectors: "Model | Vectors | str | os.PathLike[str]",
    corpus: "Corpus | EncodedCorpus",
    *,
    window: int | None = None,
    context_weights: ContextWeights = "equal",
    weighting: Weighting = "log",
    min_count: int = DEFAULT_MIN_COUNT,
    max_words: int = DEFAULT_MAX_WORDS,
    ridge: float = 0.0,
    threads: int | None = None,
    report: Report | None = None,
) -> ContextMap:
    """Fit the map A that minimises the sum over words of weight * |v - A u|² (Khodak et al. 2018, section 3.1).

    v is the vector of a word and u the mean of the vectors around it.

    Arguments:
        vectors: a model or vectors, or the path of either.
        corpus: the text, best the one that the vectors were trained on, read in the same way.
        window: how many words on each side are contexts; by default as in the training of the model, or 5.
        context_weights: "equal", or "sif" for less weight of frequent words.
        weighting: the weight of a word with n occurrences in the corpus: "log" for log n, or "equal".
        min_count: only words with this many occurrences are used.
        max_words: at most this many are used, the most frequent ones; each takes 8 dim bytes of memory.
        ridge: adds this times the mean eigenvalue of the matrix of the normal equations to its diagonal.
        threads: all available cores if not given; the map does not depend on it.
        report: called regularly with the number of tokens read, and the total.

    Raises:
        SettingError: an argument is out of range, a vector is not finite, or there are too few words for the
            regression.
        CorpusError: as `Corpus.encode`, or no word of the corpus has a vector.
    """
    source = load_source(vectors)
    window = check_value("window", recorded_window(source) if window is None else window, int, LIMITS)
    check_value("context_weights", context_weights, ContextWeights, {})
    check_value("weighting", weighting, Weighting, {})
    check_value("min_count", min_count, int, {"ge": 1})
    check_value("max_words", max_words, int, {"ge": 1})
    check_value("ridge", ridge, float, {"ge": 0})
    encoded, word_vectors = as_encoded(corpus), as_vectors(source)
    reader = ContextReader(encoded, word_vectors, window, context_weights, threads)
    counts = encoded.vocabulary.counts
    ids = np.flatnonzero((reader.rows[:-1] >= 0) & (counts >= min_count))[:max_words]
    if not len(ids):
        raise CorpusError(f"no word with a vector occurs {min_count} times in the corpus; lower min_count")
    result = reader.word_means(ids, report)
    has_context = result.occurrences > 0
    ids, means = ids[has_context], result.means[has_context]
    weights = np.log(counts[ids]) if weighting == "log" else np.ones(len(ids))
    targets = word_vectors.matrix[reader.rows[ids]]
    matrix = regression(means, targets, weights, ridge).astype(np.float32)
    cosines = (normalize(means @ matrix.T.astype(np.float64)) * normalize(targets)).sum(axis=1)
    return ContextMap(
        matrix, window, context_weights, len(ids), float(cosines.mean()), word_vectors.fingerprint, encoded.fingerprint
    )


def regression(
    means: NDArray[np.float64], targets: NDArray[np.float32], weights: NDArray[np.float64], ridge: float
) -> NDArray[np.float64]:
    """The matrix A (dim, dim) that minimises the sum of weights * |targets - A means|².

    Raises:
        SettingError: the means do not determine it, and `ridge` is 0.
    """
    words, dim = means.shape
    weighted = means * weights[:, None]
    moments = weighted.T @ means
    eigenvalues = np.linalg.eigvalsh(moments)
    if ridge == 0 and (words < dim or eigenvalues[0] <= MIN_CONDITION * eigenvalues[-1]):
        raise SettingError(
            f"the contexts of {words} words do not determine a map of {dim} dimensions; lower min_count, or give a "
            "ridge, such as 0.1"
        )
    moments[np.diag_indices(dim)] += ridge * eigenvalues.mean()
    return np.asarray(np.linalg.solve(moments, weighted.T @ targets).T)


def mean_map(vectors: "Vectors", encoded: "EncodedCorpus", window: int, context_weights: ContextWeights) -> ContextMap:
    """The identity: the vector of a word is the mean of those around it."""
    return ContextMap(
        np.eye(vectors.dim, dtype=np.float32), window, context_weights, 0, 0.0, vectors.fingerprint,
        encoded.fingerprint,
    )  # fmt: skip
