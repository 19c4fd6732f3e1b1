"""Predict a word from its context with the output table of a model."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from embeddings.corpora.reading.sources import Texts
from embeddings.corpora.remapping import id_mapping
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import NoWordsError, SettingError
from embeddings.indexes.cosine_search import check_search
from embeddings.models.capabilities import installed_capability
from embeddings.models.text_settings import corpus_settings
from embeddings.vectors.search import Neighbours
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model


GAP = "[]"
EncodeContexts = Callable[[Sequence[np.ndarray]], list[np.ndarray]]


class GapContexts:
    """The methods of a `Model` for texts with a gap."""

    name: str
    vectors: Vectors
    vocabulary: Vocabulary

    def context_vector(self, text: str) -> np.ndarray:
        """The vector of the context of a gap, such as "I ate a [] for lunch", float32 (dim,).

        The text is split into words as in training; unknown words are read as the unknown word.

        Raises:
            SettingError: models of this trainer encode no contexts, or the text does not have one gap, [].
            RegistryError: the trainer of a saved model is not installed.
            FormatError: a table or setting is missing or broken.
        """
        return np.asarray(self.context_vectors([text])[0])

    def context_vectors(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of the contexts of the gaps of several texts, float32 (texts, dim); see `context_vector`."""
        if isinstance(texts, str | bytes):
            raise SettingError(f"context_vectors takes a list of texts, such as [{texts!r:.80}], got a string")
        if not texts:
            return np.zeros((0, self.vectors.dim), np.float32)
        parts = [part for text in texts for part in split_at_gap(text)]
        ids, gap = word_ids(cast("Model", self), parts), [len(self.vocabulary)]
        sentences = [np.concatenate([left, gap, right]) for left, right in zip(ids[::2], ids[1::2], strict=True)]
        rows = self._encode_contexts(sentences)
        return np.stack([row[len(left)] for row, left in zip(rows, ids[::2], strict=True)])

    def substitutes(self, text: str, top: int = 10) -> Neighbours:
        """The words that fit a gap best, such as that of "I ate a [] for lunch", each with its cosine, best first.

        Raises:
            SettingError: as `context_vector`, or `top` is below 1.
        """
        return self.vectors.most_similar(self.context_vector(text), top=top)

    @cached_property
    def _encode_contexts(self) -> EncodeContexts:
        encode: EncodeContexts | None = installed_capability(cast("Model", self), "context_encoder")
        if encode is None:
            raise SettingError(f"{self.name} models have no vectors of contexts; train context2vec")
        return encode


def split_at_gap(text: str) -> tuple[str, str]:
    """The text on either side of its gap."""
    if not isinstance(text, str):
        raise SettingError(f"a text must be a string, got {text!r:.80}")
    parts = text.split(GAP)
    if len(parts) != 2:
        problem = "no gap" if len(parts) == 1 else f"{len(parts) - 1} gaps"
        raise SettingError(
            f"a text must have one gap, {GAP}, as in 'I ate a {GAP} for lunch': {text!r:.80} has {problem}"
        )
    return parts[0], parts[1]


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
    pairs = [(model.vectors.words[row], float(probabilities[row])) for row in order]
    return Neighbours(pairs, columns={"word": "", "probability": ""})


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
    predictor = installed_capability(model, "word_predictor")
    if predictor is None:
        raise SettingError(
            f"{model.name} models do not predict words of new text from their contexts alone: use skipgram, cbow, "
            "structured-skipgram, directional-skipgram, continuous-window or fasttext"
        )
    return predictor
