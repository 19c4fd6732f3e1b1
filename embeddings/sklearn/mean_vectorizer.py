"""Texts as means of the vectors of their words."""

import os
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from embeddings.corpora import Corpus
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import NoWordsError, SettingError
from embeddings.eval.word_matching import look_up
from embeddings.models.loading import load_whole
from embeddings.models.model import Model
from embeddings.settings import check_value
from embeddings.sklearn.estimator import TextVectorizer, text_of
from embeddings.sklearn.text_input import as_many_texts, as_texts
from embeddings.sklearn.word_weights import common_components, weights_of, without
from embeddings.vectors.pooling import Bags
from embeddings.vectors.vectors import Vectors

Weighting = Literal["mean", "subsample", "sif"]
Frequencies = Literal["vectors", "texts"]
CONSTANT = 1e-3


class MeanVectorizer(TextVectorizer):
    """Learns vectors of words from texts, or takes ready ones, and gives each text the mean of those of its words.

    >>> import embeddings as em
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> texts, labels = ["a good film", "a bad film", "a good book", "a bad book"] * 9, [1, 0, 1, 0] * 9
    >>> means = em.MeanVectorizer("cbow", {"dim": 8, "min_count": 1}, weighting="sif", remove_components=1)
    >>> means.fit_transform(texts).shape
    (36, 8)
    >>> line = make_pipeline(means, LogisticRegression(C=100)).fit(texts, labels)
    >>> line.set_params(meanvectorizer__settings__dim=16).fit(texts, labels)[0].transform(texts).shape
    (36, 16)

    Words without a vector are left out; a text without a word that has one is zeros. With `threads=1` an integer
    `random_state` settles every byte of the vectors.

    Arguments:
        trainer: the name of an installed one, or one such as `em.SkipGram(dim=50)`; "skipgram" if not given.
        settings: of the trainer, such as `{"dim": 50}`; a search over parameters names one as `settings__dim`.
        vectors: ready ones, then nothing is trained: Vectors, a Model, or the path of either.
        weighting: "mean": all words alike. "subsample": by the chance that word2vec's sub-sampling leaves the word,
            which is what the mean of a sub-sampled text is like on average. "sif": by a / (a + p) for a word of share
            p of the corpus, the sum divided by the number of words (Arora, Liang and Ma 2017).
        constant: the threshold of sub-sampling, or the a of SIF; 0.001 if not given.
        frequencies: where shares are from: "vectors", whose counts must be known, or "texts", those of `fit`. If not
            given, from the vectors if they know their counts. As `constant`, not for the plain mean.
        remove_components: how many of the first singular vectors of the texts of `fit` are taken out of every vector;
            the paper on SIF takes out one.
        tokenizer: as that of a `Corpus`; if not given, what ready vectors were trained with, the trainer's, or "words".
        case: "lower" or "keep"; if not given, what ready vectors were trained with, "keep" for those of which this is
            not known (a word is looked up as it stands, then in lower case), and "lower" for a training.
        threads: that train; None for all cores.
        random_state: a seed, a numpy.random.RandomState, or None for numpy's own.

    After `fit`: `vectors_`; `model_`, or None; `frequencies_`, a Vocabulary; and `components_` (components, dim).
    """

    def __init__(
        self,
        trainer: Any = None,
        settings: Any = None,
        *,
        vectors: "Vectors | Model | str | os.PathLike[str] | None" = None,
        weighting: Weighting = "mean",
        constant: float | None = None,
        frequencies: Frequencies | None = None,
        remove_components: int = 0,
        tokenizer: Any = None,
        case: str | None = None,
        threads: int | None = 1,
        random_state: Any = 1,
    ) -> None:
        self.trainer = trainer
        self.settings = settings
        self.vectors = vectors
        self.weighting = weighting
        self.constant = constant
        self.frequencies = frequencies
        self.remove_components = remove_components
        self.tokenizer = tokenizer
        self.case = case
        self.threads = threads
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from texts, or lists of tokens; `y` is not looked at.

        Raises:
            SettingError: a parameter is out of range or not for what is asked, or X holds no texts.
            RegistryError: there is no such trainer or tokenizer.
            CorpusError: the texts hold no words, or none that is frequent enough for the trainer.
        """
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """What `fit` and then `transform` give; texts are read once."""
        return self._rows(self._learn(X))

    def transform(self, X: Any) -> np.ndarray:
        """The vectors of texts, or of lists of tokens, (texts, dim) float32.

        Raises:
            NotFittedError: `fit` was not called.
            SettingError: X holds no texts, or a vector holds NaN or infinity.
        """
        check_is_fitted(self)
        texts = as_texts(X)
        try:
            with Corpus(texts, **self._text).encode() as encoded:
                return self._rows(Bags.of(encoded))
        except NoWordsError:
            return np.zeros((len(texts), self.vectors_.dim), np.float32)

    def _learn(self, X: Any) -> Bags:
        """Learn from texts, and give them as bags of words."""
        texts, seed = as_many_texts(X), self._seed()
        self._check()
        given = loaded(self.vectors)
        if given is not None:
            self._refuse_training("vectors are")
        trainer = self._trainer("skipgram") if given is None else None
        self._text = self._reading_for(given, trainer)
        corpus = Corpus(texts, **self._text)
        with corpus.encode() as encoded:
            source: Any = given if trainer is None else trainer.train(corpus, threads=self.threads, seed=seed)
            bags, counted = Bags.of(encoded), encoded.vocabulary
        self.model_ = source if isinstance(source, Model) else None
        self.vectors_: Vectors = source.vectors if isinstance(source, Model) else source
        self.frequencies_ = None if self.weighting == "mean" else self._frequencies(source, counted)
        self._sif, self._constant = self.weighting == "sif", CONSTANT if self.constant is None else self.constant
        self.components_ = np.zeros((0, self.vectors_.dim))
        if self.remove_components:
            self.components_ = common_components(self._means(bags), self.remove_components)
        self._n_features_out = self.vectors_.dim
        return bags

    def _check(self) -> None:
        """Refuse parameters that are out of range, or not for what is asked.

        Raises:
            SettingError: naming the parameter.
        """
        check_value("weighting", self.weighting, Weighting, {})
        check_value("remove_components", self.remove_components, int, {"least": 0})
        check_value("constant", self.constant, float | None, {"least": 1e-9})
        check_value("frequencies", self.frequencies, Frequencies | None, {})
        for name in ("constant", "frequencies"):
            if self.weighting == "mean" and getattr(self, name) is not None:
                raise SettingError(f"{name} is for weighting by subsample or sif, not for the plain mean")

    def _reading_for(self, given: "Vectors | Model | None", trainer: Any) -> dict[str, Any]:
        """How texts become words that have vectors."""
        if isinstance(given, Model) and "text" in given.record:
            return self._reading(**text_of(given))
        return self._reading(getattr(trainer, "tokenizer", "words"), "keep" if trainer is None else "lower")

    def _frequencies(self, source: "Vectors | Model", counted: Vocabulary) -> Vocabulary:
        """How often words occur: what the vectors know, or what was counted in the texts.

        Raises:
            SettingError: the vectors are asked, and do not know.
        """
        known = None if self.frequencies == "texts" else known_frequencies(source)
        if known is None and self.frequencies == "vectors":
            raise SettingError("frequencies are to be those of the vectors, which know no counts: choose texts")
        return counted if known is None else known

    def _means(self, bags: Bags) -> np.ndarray:
        """The weighted means of the vectors of the words in bags, float64 (texts, dim)."""
        matrix, known = look_up(self.vectors_, bags.words)
        weights = known
        if self.frequencies_ is not None:
            weights = known * weights_of(bags.words, self.frequencies_, self._sif, self._constant)
        divisors = bags.totals(known if self._sif else weights)
        return np.asarray(bags.sums(matrix, weights) / np.where(divisors > 0, divisors, 1)[:, None])

    def _rows(self, bags: Bags) -> np.ndarray:
        """The vectors of bags of words, float32 (texts, dim)."""
        return np.asarray(without(self.components_, self._means(bags)), np.float32)


def loaded(vectors: Any) -> "Vectors | Model | None":
    """Vectors or a model, read if a path is given.

    Raises:
        SettingError: it is neither.
        FormatError: as `embeddings.load`.
    """
    if isinstance(vectors, str | os.PathLike):
        return load_whole(Path(vectors))
    if vectors is not None and not isinstance(vectors, Vectors | Model):
        raise SettingError(f"vectors must be Vectors, a Model, or the path of either, not {vectors!r:.80}")
    return vectors


def known_frequencies(source: Any) -> Vocabulary | None:
    """How often the words of a model or of vectors occur, if that is known."""
    if isinstance(source, Model):
        return source.vocabulary
    if source.counts is None:
        return None
    return Vocabulary.from_counts(source.words, source.counts.tolist())
