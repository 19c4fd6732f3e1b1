"""Predict a word from its context with the output table of a model."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.corpora.reading.sources import Texts
from embeddings.corpora.remapping import id_mapping
from embeddings.errors import NoWordsError, SettingError
from embeddings.models.capabilities import installed_capability
from embeddings.models.text_settings import corpus_settings

if TYPE_CHECKING:
    from embeddings.models.model import Model


def word_ids(model: "Model", texts: Sequence[str]) -> list[np.ndarray]:
    """The rows of the words of each text, int64; the size of the vocabulary for unknown words."""
    from embeddings.corpora.corpus import Corpus  # imports numba

    try:
        with Corpus(Texts(texts), **corpus_settings(model)).encode() as encoded:
            rows = id_mapping(encoded.vocabulary, model.vocabulary)[np.asarray(encoded.ids)].astype(np.int64)
            bounds = np.asarray(encoded.sentences)[np.asarray(encoded.documents)]
            return np.split(rows, bounds[1:-1])
    except NoWordsError:
        return [np.zeros(0, np.int64)] * len(texts)


OUTPUT, NEGATIVE_SAMPLING = "output", "negative-sampling"


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
    """The `WordPredictor` of a model, with probabilities of words."""
    predictor = held_out_predictor(model)
    if not predictor.has_probabilities:
        raise SettingError(
            f"this {model.name} model has no probabilities of words: negative sampling does not define them; train it "
            "with another objective, such as hierarchical-softmax or nce"
        )
    return predictor


def held_out_predictor(model: "Model") -> Any:
    """The `WordPredictor` of a model, which may have a loss without probabilities of words; errors as above."""
    predictor = installed_capability(model, "word_predictor")
    if predictor is None:
        raise SettingError(
            f"{model.name} models do not predict words of new text from their contexts alone: use skipgram, cbow, "
            "structured-skipgram, directional-skipgram, continuous-window or fasttext"
        )
    return predictor
