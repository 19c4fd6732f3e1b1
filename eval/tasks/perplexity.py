"""Held-out text: the loss and perplexity of a model on it, after training and during it."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.sources import resolve_source
from embeddings.corpora.remapping import id_mapping
from embeddings.corpora.resampling import hold_out
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, S, SettingError
from embeddings.eval.statistics.results import ItemScores, Key, Measurement
from embeddings.eval.tasks.evaluation_kind import Kind, Subject
from embeddings.models.model import Model, held_out_predictor, word_predictor
from embeddings.models.text_settings import corpus_settings
from embeddings.settings import check_value
from embeddings.training.trainer import Trainer

PROTOCOLS = {
    "held-out loss": "mean of -log P over all examples, with exact probabilities over the whole vocabulary; an example "
    "is an input with a word to predict, as in training; windows of full size, without subsampling; words outside the "
    "vocabulary are dropped first",
    "perplexity": "exp of the held-out loss",
}

MAX_LOSS = 700.0  # exp of more overflows


def total_loss(predictor: Any, encoded: EncodedCorpus, vocabulary: Vocabulary) -> tuple[float, int, int]:
    """The total loss of a text by a `WordPredictor`, the number of its examples, and the number of its known words.

    Words outside the predictor's vocabulary are dropped first.
    """
    ids, lines = known_words(encoded, vocabulary)
    total, examples = predictor.total_loss(ids, lines)
    return total, examples, len(ids)


def known_words(encoded: EncodedCorpus, vocabulary: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """The ids of the words of a text that a vocabulary has, and the bounds of its lines among them (lines + 1,)."""
    ids = id_mapping(encoded.vocabulary, vocabulary)[np.asarray(encoded.ids)]
    # dropped before windows are formed, as in training: the neighbours of an unknown word become neighbours
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
        total, examples, known = total_loss(predictor, encoded, source.vocabulary)
    values: dict[str, float | None] = dict.fromkeys(PROTOCOLS)
    if examples:
        mean = total / examples
        values = {"held-out loss": mean, "perplexity": float(np.exp(min(mean, MAX_LOSS)))}
    return [
        Measurement(
            vectors=subject.name,
            key=Key(text.name, measure),
            value=value,
            covered=known,
            total=len(encoded.ids),
            protocol=PROTOCOLS[measure],
            reason=None if examples else "no two words of a line are in the vocabulary",
        )
        for measure, value in values.items()
    ]


KIND = Kind(
    name="perplexity",
    metavar="TEXT...",
    read=lambda test, settings: Path(test),
    score=score_perplexity,
)


HELD_OUT_COSINE = "held_out_cosine"  # in the record of a model of texts with vectors


@dataclass
class Validation:
    """Held-out text; for models of texts with vectors, the share of texts that their trainer holds out.

    Arguments:
        source: the path of a text, which is read as the training text; or the share of the training text, between 0 and
            1, that is held out; see `embeddings.corpora.resampling`.

    Raises:
        SettingError: the share is out of range.
        CorpusError: there is no such text.
    """

    source: str | os.PathLike[str] | float
    part: EncodedCorpus | None = None
    cut_from: str | None = field(default=None, init=False)  # the fingerprint of the corpus that `part` is cut from
    unit: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.source, str | os.PathLike):
            self.source = check_value("validation", self.source, float, {"gt": 0, "le": 0.9})
        else:
            resolve_source(self.source)

    @property
    def description(self) -> str:
        """The held-out text, for records."""
        if not isinstance(self.source, float):
            return f"held-out loss on {os.fspath(self.source)}"
        if self.part is None:
            return f"held-out loss on {self.source:g} of the text"
        count = self.part.meta["documents"]
        return f"held-out loss on {self.source:g} of the text ({count:,} {self.unit}), which is not trained on"

    def training_part(self, encoded: EncodedCorpus, trainer: Trainer) -> EncodedCorpus:
        """The corpus to train on, without what is held out.

        Raises:
            SettingError: models of this trainer define no loss of new text.
            CorpusError: nothing can be held out.
        """
        if trainer.reads_vectors:
            held_out = getattr(trainer, "held_out", None)
            if self.source != held_out:
                problem = f"{S.validation} must be {held_out}, the share that {S.held_out} holds out"
                raise SettingError(f"{problem}, got {self.source}")
            return encoded
        check_predicts_words(trainer)
        if not isinstance(self.source, float):
            return encoded
        if self.part is not None and self.cut_from == encoded.fingerprint:
            self.part.close()
        training, self.part, self.unit = hold_out(encoded, self.source)
        self.cut_from = encoded.fingerprint
        return training

    def score(self, model: Model) -> float:
        """The mean loss of an example of the held-out text, negated; for texts with vectors the mean cosine - 1.

        Raises:
            CorpusError: no two words of a line of it are in the vocabulary.
        """
        if HELD_OUT_COSINE in model.record:
            return float(model.record[HELD_OUT_COSINE]) - 1
        return -mean_loss(model, self.text(model))

    def text(self, model: Model) -> EncodedCorpus:
        """The held-out text, read as the training text of a model."""
        if self.part is None:
            self.part = Corpus(os.fspath(self.source), **corpus_settings(model)).encode()  # type: ignore[arg-type]
        return self.part


def check_predicts_words(trainer: Trainer) -> None:
    """Refuse a trainer whose models define no loss of new text."""
    if not trainer.predicts_words:
        raise SettingError(
            f"{trainer.trainer_name} defines no loss of held-out text: choose another score, or a trainer that "
            "predicts words from contexts, such as skipgram"
        )


def mean_loss(model: Model, encoded: EncodedCorpus) -> float:
    """The mean loss of an example of a text.

    Raises:
        CorpusError: no two words of a line of it are in the vocabulary.
    """
    total, examples, _ = total_loss(held_out_predictor(model), encoded, model.vocabulary)
    if not examples:
        raise CorpusError("the held-out text has no line with two words of the vocabulary; hold out more")
    return total / examples
