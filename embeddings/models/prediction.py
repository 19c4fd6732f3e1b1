"""Predict a word from its context with the output table of a model."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from embeddings.errors import SettingError
from embeddings.support.cosine import check_search
from embeddings.vectors.search import Neighbours

if TYPE_CHECKING:
    from embeddings.models.model import Model

OUTPUT = "output"


def predict_output_word(model: "Model", context_words: Sequence[str], top: int) -> Neighbours:
    """See `Model.predict_output_word`."""
    check_search(top, None)
    if isinstance(context_words, str):
        raise SettingError(f"context_words must be a list of words, got the string {context_words!r:.80}")
    table = model.tables.get(OUTPUT)
    if table is None or table.shape != model.vectors.matrix.shape:
        raise SettingError(
            f"predict_output_word requires an output vector for each word, which this {model.name} model lacks: use "
            "skipgram, cbow or fasttext"
        )
    ids = [model.vectors.index(word) for word in context_words if word in model.vectors]
    if not ids:
        raise SettingError(f"no word of the context is in the vocabulary: {list(context_words)!r:.80}")
    hidden = model.vectors.matrix[ids].sum(axis=0, dtype=np.float64)
    if model.settings.get("combine", "mean") == "mean":
        hidden /= len(ids)
    scores = np.asarray(table @ hidden, dtype=np.float64)
    exponentials = np.exp(scores - scores.max())
    probabilities = exponentials / exponentials.sum()
    order = np.argsort(-probabilities, kind="stable")[:top]
    return [(model.vectors.words[row], float(probabilities[row])) for row in order]
