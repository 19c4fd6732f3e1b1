"""Predict a word from its context with the output table of a model."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings import registry
from embeddings.errors import SettingError
from embeddings.models.capabilities import capabilities_of
from embeddings.support.cosine import check_search
from embeddings.vectors.search import Neighbours

if TYPE_CHECKING:
    from embeddings.models.model import Model

OUTPUT, NEGATIVE_SAMPLING = "output", "negative-sampling"


def predict_output_word(model: "Model", context_words: Sequence[str], top: int) -> Neighbours:
    """See `Model.predict_output_word`."""
    check_search(top, None)
    if isinstance(context_words, str):
        raise SettingError(f"context_words must be a list of words, got the string {context_words!r:.80}")
    logarithms = output_log_probabilities(model)
    ids = [model.vectors.index(word) for word in context_words if word in model.vectors]
    if not ids:
        raise SettingError(f"no word of the context is in the vocabulary: {list(context_words)!r:.80}")
    hidden = model.vectors.matrix[ids].sum(axis=0, dtype=np.float64)
    if model.settings.get("combine", "mean") == "mean":
        hidden /= len(ids)
    probabilities = np.exp(logarithms(hidden))
    order = np.argsort(-probabilities, kind="stable")[:top]
    return [(model.vectors.words[row], float(probabilities[row])) for row in order]


def output_log_probabilities(model: "Model") -> Callable[[np.ndarray], np.ndarray]:
    """The function from a hidden row (dim,) to the logarithms of the probabilities of all words (vocabulary,).

    For negative sampling, which defines none, it is the softmax of the products with all output vectors.
    """
    if model.settings.get("objective", NEGATIVE_SAMPLING) != NEGATIVE_SAMPLING:
        predictor = word_predictor(model)
        if predictor.hidden_dim == model.vectors.dim and predictor.slots == 1:
            return lambda hidden: np.asarray(predictor.log_probabilities(hidden[None])[0])
    table = model.vectors.matrix if model.settings.get("tie") else model.tables.get(OUTPUT)
    if table is None or table.shape != model.vectors.matrix.shape:
        raise SettingError(
            f"predict_output_word requires an output vector for each word, which this {model.name} model lacks: use "
            "skipgram, cbow or fasttext"
        )

    def logarithms(hidden: np.ndarray) -> np.ndarray:
        scores = np.asarray(table @ hidden, dtype=np.float64)
        scores -= scores.max()
        return np.asarray(scores - np.log(np.exp(scores).sum()))

    return logarithms


def word_predictor(model: "Model") -> Any:
    """The `WordPredictor` of a model, with probabilities of words.

    Raises:
        SettingError: models of this trainer have none, or its objective defines no probabilities.
        RegistryError: the trainer of a saved model is not installed.
        FormatError: a table or setting is missing or broken.
    """
    predictor = held_out_predictor(model)
    if not predictor.has_probabilities:
        raise SettingError(
            f"this {model.name} model has no probabilities of words: negative sampling does not define them; train it "
            "with another objective, such as hierarchical-softmax or nce"
        )
    return predictor


def held_out_predictor(model: "Model") -> Any:
    """The `WordPredictor` of a model, which may have a loss without probabilities of words; errors as above."""
    new_predictor = capabilities_of(registry.load("trainer", model.name)).word_predictor
    predictor = None if new_predictor is None else new_predictor(model)
    if predictor is None:
        raise SettingError(
            f"{model.name} models do not predict words of new text from their contexts alone: use skipgram, cbow, "
            "structured-skipgram, directional-skipgram, continuous-window or fasttext"
        )
    return predictor
