"""Held-out loss and perplexity of a model on a text."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.remapping import id_mapping
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import S, SettingError
from embeddings.eval.statistics.results import ItemScores, Key, Measurement
from embeddings.eval.tasks.evaluation_kind import Kind, Subject
from embeddings.models.model import Model
from embeddings.models.prediction import word_predictor
from embeddings.models.text_settings import corpus_settings

PROTOCOLS = {
    "held-out loss": "mean of -log P over all examples, with exact probabilities over the whole vocabulary; an example "
    "is an input with a word to predict, as in training; windows of full size, without subsampling; words outside the "
    "vocabulary are dropped first",
    "perplexity": "exp of the held-out loss",
}

MAX_LOSS = 700.0  # exp of more overflows


class TotalLoss(NamedTuple):
    """The sum of the losses of all examples of a text, their number, and its words."""

    total: float
    examples: int
    known_words: int
    words: int


def total_loss(predictor: Any, encoded: EncodedCorpus, vocabulary: Vocabulary) -> TotalLoss:
    """The loss of a text by a `WordPredictor`; words outside the predictor's vocabulary are dropped first."""
    ids, lines = known_words(encoded, vocabulary)
    total, examples = predictor.total_loss(ids, lines)
    return TotalLoss(total, examples, len(ids), len(encoded.ids))


def known_words(encoded: EncodedCorpus, vocabulary: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """The ids of the words of a text that a vocabulary has, and the bounds of its lines among them (lines + 1,)."""
    ids = id_mapping(encoded.vocabulary, vocabulary)[np.asarray(encoded.ids)]
    is_known = ids < len(vocabulary)
    return ids[is_known], np.append(0, np.cumsum(is_known))[np.asarray(encoded.sentences)]


def score_perplexity(subject: Subject, text: Path) -> list[ItemScores]:
    """The held-out loss and the perplexity of a text.

    Raises:
        SettingError: there are vectors only, or the model defines no probabilities of words.
        CorpusError: the text cannot be read, or no word of it is in the vocabulary.
    """
    source = subject.word_source
    if not isinstance(source, Model):
        raise SettingError(
            f"{S.perplexity} requires a saved model with its output tables, but {subject.name} holds only vectors"
        )
    predictor = word_predictor(source)
    with Corpus(text, **corpus_settings(source)).encode() as encoded:
        loss = total_loss(predictor, encoded, source.vocabulary)
    values: dict[str, float | None] = dict.fromkeys(PROTOCOLS)
    if loss.examples:
        mean = loss.total / loss.examples
        values = {"held-out loss": mean, "perplexity": float(np.exp(min(mean, MAX_LOSS)))}
    return [
        Measurement(
            vectors=subject.name,
            key=Key(text.name, measure),
            value=value,
            covered=loss.known_words,
            total=loss.words,
            protocol=PROTOCOLS[measure],
            reason=None if loss.examples else "no two words of a line are in the vocabulary",
        )
        for measure, value in values.items()
    ]


KIND = Kind(
    name="perplexity",
    read=lambda test, settings: Path(test),
    score=score_perplexity,
)
