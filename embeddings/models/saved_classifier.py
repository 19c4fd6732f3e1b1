"""The classifier of a saved model, without the trainer that trained it."""

import numpy as np

from embeddings.classifier import classifier
from embeddings.classifier.classifier import LabelPredictor, TextNormalizer
from embeddings.classifier.classifier_settings import (
    HIERARCHICAL_SOFTMAX,
    NEGATIVE_SAMPLING,
    ONE_VS_ALL,
    SOFTMAX,
    ClassifierSettings,
)
from embeddings.classifier.feature_extraction import index_entries, index_features
from embeddings.corpora.reading.labelled_texts import PREFIX
from embeddings.corpora.tokenizers import ascii_whitespace
from embeddings.corpora.word_rules import WordRules
from embeddings.errors import FormatError
from embeddings.kernels.matrix_rows import DenseRows
from embeddings.models.model import Model, saved_array
from embeddings.models.model_files import INPUTS
from embeddings.models.text_settings import LABEL_PREFIX, model_settings, recorded_text_settings
from embeddings.setting_names import WORD_SETTINGS
from embeddings.support.arrow import string_bytes

OUTPUT, NGRAM_BUCKETS = "output", "ngram_buckets"  # tables of a model
NO_PREFIX = b"\n"  # that no word has
LOSSES = {
    SOFTMAX: classifier.SOFTMAX,
    HIERARCHICAL_SOFTMAX: classifier.HIERARCHICAL_SOFTMAX,
    ONE_VS_ALL: "one against all",
    NEGATIVE_SAMPLING: "negative sampling",
}


def output_rows(objective: str, output: np.ndarray) -> np.ndarray:
    """The rows of labels as fastText saves them.

    In hierarchical softmax, its inner nodes are in the opposite order, and predict the other branch; there is a row of
    zeros behind them.
    """
    if objective != HIERARCHICAL_SOFTMAX:
        return output
    return np.concatenate([-output[::-1], np.zeros((1, output.shape[1]), np.float32)])


def saved_classifier(model: "Model") -> LabelPredictor:
    """The classifier of a saved model; `Model.classifier` finds this function by the name of the model."""
    settings: ClassifierSettings = model_settings(ClassifierSettings, model)
    prefix = model.record.get(LABEL_PREFIX)
    if model.labels is None or not isinstance(prefix, str):
        raise FormatError(f"the {model.name} model is broken: it has no labels")
    words, labels = model.vocabulary, model.labels
    buckets = model.tables.get(NGRAM_BUCKETS, np.empty(0, np.int32))
    check_tables(model, settings, buckets)
    text_settings = recorded_text_settings(model)
    rules = WordRules(**{name: text_settings[name] for name in WORD_SETTINGS})
    splits_at_spaces = rules.tokenizer is ascii_whitespace and rules.changes_nothing
    rows = np.column_stack([buckets, np.arange(len(buckets), dtype=np.int32)])
    parts = [string_bytes(words.column), string_bytes([PREFIX + label for label in labels.words])]
    text = np.concatenate([part for part, _ in parts])
    starts = np.append(parts[0][1], len(parts[0][0]) + parts[1][1][1:])
    return LabelPredictor(
        labels=[prefix + label for label in labels.words],
        label_counts=labels.counts,
        features=index_features(
            text,
            starts,
            index_entries(text, starts)[0],
            rows,
            words=len(words),
            label_prefix=np.frombuffer(prefix.encode() or NO_PREFIX, np.uint8),
            min_n=settings.min_n,
            max_n=settings.max_n,
            word_ngrams=settings.word_ngrams,
            buckets=settings.bucket_count,
            counts_missing=True,
        ),
        inputs=DenseRows(model.tables[INPUTS]),
        output=model.tables[OUTPUT],
        loss=LOSSES[settings.objective],
        settings=model.settings,
        name=f"the {model.name} model",
        word_counts=words.counts,
        bucket_rows=rows if settings.has_ngrams else None,
        normalize=None if splits_at_spaces else TextNormalizer(rules),
    )


def check_tables(model: "Model", settings: ClassifierSettings, buckets: np.ndarray) -> None:
    """Refuse tables that do not fit each other."""
    saved_array(model, INPUTS, (len(model.vocabulary) + len(buckets), settings.dim))
    saved_array(model, OUTPUT, (len(model.labels or ()), settings.dim))
    is_valid = buckets.dtype == np.int32 and buckets.ndim == 1 and (len(buckets) > 0) == settings.has_ngrams
    if not is_valid or np.any((buckets < 0) | (buckets >= settings.bucket_count)):
        raise FormatError(f"the {model.name} model is broken: its table {NGRAM_BUCKETS!r} holds no valid buckets")
