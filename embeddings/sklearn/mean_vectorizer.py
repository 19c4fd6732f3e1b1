"""Texts as means of the vectors of their words."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import NoWordsError, SettingError
from embeddings.eval.measures.word_matching import look_up
from embeddings.models.loading import load_model_or_vectors
from embeddings.models.model import Model
from embeddings.settings import check_value
from embeddings.sklearn.estimator import TextVectorizer, model_text_settings
from embeddings.sklearn.text_input import as_texts, as_training_texts
from embeddings.vectors.pooling import BagsOfWords
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_weights import DEFAULT_CONSTANT, common_components, remove_components, word_weights

Weighting = Literal["mean", "subsample", "sif"]
Frequencies = Literal["vectors", "texts"]


@dataclass(repr=False, eq=False, kw_only=True)
class MeanVectorizer(TextVectorizer):
    """Learns word vectors from texts, or takes trained ones, and turns each text into the mean of its word vectors.

    >>> import embeddings as em
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> texts, labels = ["a good film", "a bad film", "a good book", "a bad book"] * 9, [1, 0, 1, 0] * 9
    >>> means = em.MeanVectorizer("cbow", {"dim": 8, "min_count": 1}, weighting="sif", remove_components=1)
    >>> means.fit_transform(texts).shape
    (36, 8)
    >>> pipeline = make_pipeline(means, LogisticRegression(C=100)).fit(texts, labels)
    >>> pipeline.set_params(meanvectorizer__settings__dim=16).fit(texts, labels)[0].transform(texts).shape
    (36, 16)

    Words without a vector are ignored; a text without any word vector becomes zeros. With `threads=1` and an integer
    `random_state` the vectors are bit-reproducible.

    Arguments:
        trainer: the name of an installed trainer, or an object such as `em.SkipGram(dim=50)`; "skipgram" by default.
        settings: of the trainer, such as `{"dim": 50}`; parameter searches name one as `settings__dim`.
        vectors: trained vectors to use instead of training: Vectors, a Model, or the path of either.
        weighting: "mean" weights all words equally. "subsample" weights a word by the probability that word2vec's
            subsampling keeps it, so that the mean is that expected of a subsampled text. "sif" weights a word with
            the share p of the corpus by a / (a + p) and divides by the number of words (Arora, Liang and Ma 2017).
        constant: the threshold of "subsample", or the a of "sif"; 0.001 by default.
        frequencies: the source of word frequencies for "subsample" and "sif": "vectors", which must have counts, or
            "texts", those of `fit`. By default the vectors if they have counts.
        remove_components: how many of the first singular vectors of the texts of `fit` to remove from every result; the
            paper on SIF removes one.
        tokenizer: as for a `Corpus`; by default that of the trained vectors, or of the trainer, or "words".
        case: "lower" or "keep"; by default that of the trained vectors, "keep" if it is unknown (words are then looked
            up as they are, and in lower case), and "lower" for training.
        threads: for training; None for all cores.
        random_state: a seed, a numpy.random.RandomState, or None for numpy's global generator.

    After `fit`: `vectors_`; `model_`, or None; `frequencies_`, a Vocabulary; and `components_` (components, dim).
    """

    vectors: "Vectors | Model | str | os.PathLike[str] | None" = None
    weighting: Weighting = "mean"
    constant: float | None = None
    frequencies: Frequencies | None = None
    remove_components: int = 0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from texts, or lists of tokens; `y` is ignored.

        Raises:
            SettingError: a parameter is out of range or cannot be combined with another, or X does not hold texts.
            RegistryError: the trainer or tokenizer is unknown.
            CorpusError: the texts hold no words, or none that is frequent enough for the trainer.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """`fit` followed by `transform`; the texts are read once."""
        return self._transform(self._fit(X))

    def transform(self, X: Any) -> np.ndarray:
        """The vectors of texts, or of lists of tokens, (texts, dim) float32.

        Raises:
            NotFittedError: `fit` was not called.
            SettingError: X does not hold texts, or a vector holds NaN or infinity.
        """
        check_is_fitted(self)
        texts = as_texts(X)
        try:
            with Corpus(texts, **self._corpus_settings).encode() as encoded:
                return self._transform(BagsOfWords.of(encoded))
        except NoWordsError:
            return np.zeros((len(texts), self.vectors_.dim), np.float32)

    def _fit(self, X: Any) -> BagsOfWords:
        """Learn from texts, and return them as bags of words."""
        texts, seed = as_training_texts(X), self._seed()
        self._check_parameters()
        source: Any = load_source(self.vectors)
        trainer = None
        if source is None:
            trainer = self._make_trainer("skipgram")
        else:
            self._check_no_training("vectors")
        self._corpus_settings = self._settings_for(source, trainer)
        corpus = Corpus(texts, **self._corpus_settings)
        with corpus.encode() as encoded:
            if trainer is not None:
                source = trainer.train(corpus, threads=self.threads, seed=seed)
            bags, vocabulary = BagsOfWords.of(encoded), encoded.vocabulary
        self.model_ = source if isinstance(source, Model) else None
        self.vectors_: Vectors = source.vectors if isinstance(source, Model) else source
        self.frequencies_ = None if self.weighting == "mean" else self._choose_frequencies(source, vocabulary)
        self._is_sif = self.weighting == "sif"
        self._constant = DEFAULT_CONSTANT if self.constant is None else self.constant
        self.components_ = np.zeros((0, self.vectors_.dim))
        if self.remove_components:
            self.components_ = common_components(self._means(bags), self.remove_components)
        self._n_features_out = self.vectors_.dim
        return bags

    def _check_parameters(self) -> None:
        """Refuse parameters that are out of range or have no effect."""
        check_value("weighting", self.weighting, Weighting, {})
        check_value("remove_components", self.remove_components, int, {"ge": 0})
        check_value("constant", self.constant, float | None, {"ge": 1e-9})
        check_value("frequencies", self.frequencies, Frequencies | None, {})
        for name in ("constant", "frequencies"):
            if self.weighting == "mean" and getattr(self, name) is not None:
                raise SettingError(f"{name} requires weighting='subsample' or 'sif'")

    def _settings_for(self, source: "Vectors | Model | None", trainer: Any) -> dict[str, Any]:
        """`Corpus` settings that split texts into the words of the vectors."""
        if isinstance(source, Model) and "text" in source.record:
            return self._text_settings(**model_text_settings(source))
        return self._text_settings(
            "words" if trainer is None else trainer.tokenizer, "keep" if trainer is None else "lower"
        )

    def _choose_frequencies(self, source: "Vectors | Model", of_texts: Vocabulary) -> Vocabulary:
        """Word frequencies of the vectors if they have any, or of the texts."""
        if self.frequencies == "texts":
            return of_texts
        if isinstance(source, Model):
            return source.vocabulary
        if source.counts is not None:
            return Vocabulary.from_counts(source.words, source.counts.tolist())
        if self.frequencies == "vectors":
            raise SettingError("frequencies='vectors' requires vectors with counts: use 'texts'")
        return of_texts

    def _means(self, bags: BagsOfWords) -> np.ndarray:
        """The weighted means of the word vectors of texts, float64 (texts, dim)."""
        matrix, is_known = look_up(self.vectors_, bags.words)
        weights = is_known
        if self.frequencies_ is not None and self.weighting != "mean":
            weights = is_known * word_weights(bags.words, self.frequencies_, self.weighting, self._constant)
        divisors = bags.sum_weights(is_known if self._is_sif else weights)
        return np.asarray(bags.sum_vectors(matrix, weights) / np.where(divisors > 0, divisors, 1)[:, None])

    def _transform(self, bags: BagsOfWords) -> np.ndarray:
        """The vectors of texts, float32 (texts, dim)."""
        return np.asarray(remove_components(self.components_, self._means(bags)), np.float32)


def load_source(vectors: Any) -> "Vectors | Model | None":
    """Vectors or a model, loaded if the parameter is a path."""
    if isinstance(vectors, str | os.PathLike):
        return load_model_or_vectors(Path(vectors))
    if vectors is not None and not isinstance(vectors, Vectors | Model):
        raise SettingError(f"vectors must be Vectors, a Model, or the path of either, got {vectors!r:.80}")
    return vectors
