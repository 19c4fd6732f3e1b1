"""Word vectors with weights and a projection in their rows, so that the plain mean of a text's words is weighted."""

import os
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from embeddings.errors import S, SettingError
from embeddings.models.embed import load_source, text_batches_of, text_embedder
from embeddings.models.model import MEAN, Model
from embeddings.settings import Positive, Range, check_value
from embeddings.vectors.pooling import common_components
from embeddings.vectors.vectors import Vectors, as_vectors

if TYPE_CHECKING:
    from embeddings.models.text_embedder import TextEmbedder

WordWeighting = Literal["none", "sif", "idf"]


def weight_vectors(
    vectors: "Vectors | Model | str | os.PathLike[str]",
    weighting: WordWeighting = "sif",
    *,
    constant: Annotated[float, Range(ge=1e-9)] | None = None,
    remove_components: Annotated[int, Range(ge=0)] = 0,
    pca: Positive | None = None,
    fit_on: Any = None,
    text_column: str | None = None,
) -> Vectors:
    """Vectors whose plain mean over the words of a text has the direction of the weighted mean.

    Each row becomes w (I - U'U) x, for the word's weight w, its vector x and the components U; with `pca`, its products
    with the next principal directions. As this is linear, the mean of the new rows of a text is, without `pca`, the
    vector of `embed` with these components removed (for "sif", if all of its tokens have vectors), up to a positive
    factor. Cosines of texts thus equal those of `embed`, in all libraries that average rows; with `pca` they
    approximate them.

    >>> import numpy as np, embeddings as em
    >>> vectors = em.Vectors(["a", "car"], np.array([[1.0, 0.0], [0.0, 1.0]]), counts=[999, 1])
    >>> em.training.weight_vectors(vectors, constant=0.001).matrix.round(3).tolist()
    [[0.0010000000474974513, 0.0], [0.0, 0.5]]

    Arguments:
        vectors: Vectors, a Model, or the path of either. Composed vectors of other words are lost.
        weighting: the weights of the vectors of words, as for `embed`; "none" gives all words the weight 1. The plain
            mean of a text is then its weighted mean, up to a factor.
        constant: the a of "sif"; 0.001 by default.
        remove_components: remove the first N principal directions of texts (uncentred).
        pca: reduce the vectors to N components: the principal directions of texts after those of `remove_components`,
            in order of variance.
        fit_on: learn the directions, and the frequencies if there are no counts, from this text.
        text_column: the text column of `fit_on`.

    Raises:
        SettingError: an argument is out of range, or there are no texts to learn from where they are required.
    """
    check_value("weighting", weighting, WordWeighting, {})
    source = load_source(vectors)
    dim = as_vectors(source).dim
    check_value("remove_components", remove_components, int, {"ge": 0, "le": dim - 1})
    check_value("pca", pca, int | None, {"ge": 1, "le": dim - remove_components})
    pool: Any = "mean" if weighting == "none" else weighting
    embedder = text_embedder(source, pool=pool, constant=constant)
    count = remove_components + (pca or 0)
    directions = np.zeros((0, dim))
    if fit_on is None and (count or embedder.requires_fit):
        reason = f"{S.remove_components} and {S.pca} require" if count else f"{S.weighting(weighting)} requires"
        raise SettingError(f"{reason} {S.fit_on}: texts to learn from")
    if fit_on is not None:
        from embeddings.models.text_embedder import first_texts  # imports numba

        if not count:
            embedder.check_fit_on()
        sample, _ = first_texts(text_batches_of(fit_on, text_column))
        if embedder.requires_fit:
            embedder.fit(sample)
        directions = common_components(np.concatenate([rows for _, rows in embedder.embed(sample)]), count)
    if len(directions) < count:
        raise SettingError(
            f"{S.remove_components} and {S.pca} require {count} directions, but the texts span {len(directions)}"
        )
    rows = weighted_rows(embedder)
    first, following = directions[:remove_components], directions[remove_components:]
    rows -= (rows @ first.T) @ first
    matrix = rows if pca is None else rows @ following.T
    old = embedder.vectors
    new = Vectors(old.word_list, np.asarray(matrix, np.float32), counts=old.counts, word_form=old.word_form)
    new.tokenizer_file, new.unit_texts, new.text_pool = old.tokenizer_file, old.unit_texts, MEAN
    return new


def weighted_rows(embedder: "TextEmbedder") -> np.ndarray:
    """The word vectors by their weights, float64 (words, dim)."""
    rows = embedder.vectors.check_finite().matrix.astype(np.float64)
    return rows if embedder.weights is None else rows * embedder.weigh(embedder.vectors.words)[:, None]
