"""Vectors of texts: pooled from the vectors of their words, or inferred by a document model."""

import os
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.reader import read_texts
from embeddings.corpora.reading.sources import Items, Texts
from embeddings.errors import S, SettingError
from embeddings.models.embed import default_pool, load_source, text_settings, word_frequencies
from embeddings.models.loading import load_model
from embeddings.models.model import Epochs, Model, installed_capability
from embeddings.models.text_embedder import TextEmbedder, check_options
from embeddings.models.text_settings import PHRASES, corpus_settings
from embeddings.settings import check_value
from embeddings.sklearn.estimator import TextVectorizer, as_texts, as_training_texts
from embeddings.vectors.pooling import Frequencies, Pool
from embeddings.vectors.vectors import Vectors, as_vectors


@dataclass(repr=False, eq=False, kw_only=True)
class MeanVectorizer(TextVectorizer):
    """Learns word vectors from texts, or takes trained ones, and turns each text into the mean of its word vectors.

    >>> import embeddings as em
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> texts, labels = ["a good film", "a bad film", "a good book", "a bad book"] * 9, [1, 0, 1, 0] * 9
    >>> means = em.sklearn.MeanVectorizer("cbow", {"dim": 8, "min_count": 1}, pool="sif", remove_components=1)
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
        pool: how the vectors of words become one, as in `embeddings.embed`: "mean", "sif", "idf" or "sum"; by default
            chosen by the vectors or the model, as there.
        constant: the a of "sif"; 0.001 by default.
        frequencies: the source of word frequencies for "sif": "vectors", which must have counts, or "texts", those of
            `fit`. By default the vectors if they have counts. "idf" takes those of `fit`.
        remove_components: how many of the first singular vectors of the texts of `fit` to remove from every result; the
            paper on SIF removes one.
        normalize: scale vectors to length 1.
        tokenizer: as for a `Corpus`; by default that of the trained vectors, or of the trainer, or "words".
        case: "lower" or "keep"; by default that of the trained vectors, "keep" if it is unknown (words are then looked
            up as they are, and in lower case), and "lower" for training.
        threads: for training; None for all cores.
        random_state: a seed, a numpy.random.RandomState, or None for numpy's global generator.
        run_options: an `embeddings.training.RunOptions` with callbacks, vectors to start from and the like.
        verbose: show a progress bar.

    After `fit`: `vectors_`; `model_`, or None; `frequencies_`, a Vocabulary (of numbers of texts for "idf"), or None;
    and `components_` (components, dim).
    """

    vectors: "Vectors | Model | str | os.PathLike[str] | None" = None
    pool: Pool | None = None
    constant: float | None = None
    frequencies: Frequencies | None = None
    remove_components: int = 0
    normalize: bool = False

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
        """`fit` followed by `transform`."""
        return self._transform(self._fit(X))

    def transform(self, X: Any) -> np.ndarray:
        """The vectors of texts, or of lists of tokens, (texts, dim) float32.

        Raises:
            NotFittedError: `fit` was not called.
            SettingError: X does not hold texts, or a vector holds NaN or infinity.
        """
        check_is_fitted(self)
        return self._transform(as_texts(X))

    def _fit(self, X: Any) -> Texts:
        """Learn from texts, and return them."""
        texts, seed = as_training_texts(X), self._seed()
        check_options(self.pool, self.constant, self.frequencies, self.remove_components, self.normalize)
        if self.vectors is None:
            trainer = self._make_trainer("skipgram")
            settings = self._text_settings(trainer.tokenizer, "lower")
            source: Vectors | Model = self._learn(trainer, Corpus(texts, **settings), seed)
        else:
            source = load_source(self.vectors)
            self._check_no_training("vectors")
            settings = text_settings(source)
            # another tokenizer makes words of which the recorded rules, such as joined phrases, say nothing
            if self.tokenizer is not None:
                settings = {"tokenizer": None, "case": settings["case"]}
            settings = self._text_settings(**settings)
        self.model_ = source if isinstance(source, Model) else None
        self.vectors_ = as_vectors(source)
        self._embedder = TextEmbedder(
            self.vectors_, settings, self.pool or default_pool(source), self.constant, self.frequencies,
            self.remove_components, self.normalize, vocabulary=word_frequencies(source),
            tokenizer_file=self.vectors_.tokenizer_file if self.tokenizer is None and self.case is None else None,
        )  # fmt: skip
        self._embedder.fit(read_texts([Items(texts)]))
        self.frequencies_ = self._embedder.word_frequencies
        components = self._embedder.components
        self.components_ = np.zeros((0, self._embedder.output_dim)) if components is None else components
        self._n_features_out = self._embedder.output_dim
        return texts

    def _transform(self, texts: Texts) -> np.ndarray:
        """The vectors of texts, float32 (texts, dim)."""
        parts = [rows for _, rows in self._embedder.embed(read_texts([Items(texts)]), self.threads)]
        return np.concatenate([np.zeros((0, self._embedder.output_dim), np.float32), *parts])


@dataclass(repr=False, eq=False, kw_only=True)
class ParagraphVectorizer(TextVectorizer):
    """Learns a document model from texts, or takes a trained one, and infers a vector for each text.

    >>> import embeddings as em
    >>> texts = ["a good film", "a bad film", "a good book", "a bad book"] * 9
    >>> vectorizer = em.sklearn.ParagraphVectorizer("paragraph-dm", {"dim": 8, "min_count": 1}).fit(texts)
    >>> vectorizer.transform(["a film about a book"]).shape
    (1, 8)

    Vectors are inferred for the texts of `fit` too; those learned in training are `model_.documents`. Inference is
    bit-reproducible, and with `threads=1` so is training.

    Arguments:
        trainer: the name of an installed trainer that can infer, such as "paragraph-dm", or an object such as
            `em.ParagraphDM(dim=50)`; "paragraph-dbow" by default.
        settings: of the trainer, such as `{"dim": 50}`; parameter searches name one as `settings__dim`.
        model: a trained model, or its path, to use instead of training.
        infer_epochs: passes over each text to infer its vector; by default the number of training epochs.
        tokenizer: the name of a tokenizer; "words" by default. A trained model has its own. For any other tokenization
            pass lists of tokens.
        case: "lower" or "keep"; "lower" by default. A trained model has its own.
        threads: for training and inference; None for all cores.
        random_state: a seed, a numpy.random.RandomState, or None for numpy's global generator.
        run_options: an `embeddings.training.RunOptions` with callbacks, vectors to start from and the like.
        verbose: show a progress bar.

    After `fit`: `model_`, and `seed_`, the seed of both training and inference.
    """

    model: "Model | str | os.PathLike[str] | None" = None
    infer_epochs: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from texts, or lists of tokens, each a document; `y` is ignored.

        Raises:
            SettingError: a parameter is out of range or cannot be combined with another, or X does not hold texts.
            RegistryError: the trainer or tokenizer is unknown.
            CorpusError: the texts hold no words, or none that is frequent enough for the trainer.
        """
        texts, seed = as_training_texts(X), self._seed()
        check_value("infer_epochs", self.infer_epochs, Epochs | None, {})
        if self.model is not None:
            model = self._load()
        else:
            trainer = self._make_trainer("paragraph-dbow")
            if trainer.inferencer is None:
                known = "as paragraph-dbow and paragraph-dm do"
                raise SettingError(f"{S.trainer} must infer document vectors, {known}, got {self.trainer!r}")
            if self.tokenizer is not None and not isinstance(self.tokenizer, str):
                given = f"got {self.tokenizer!r}: pass lists of tokens instead"
                raise SettingError(f"{S.tokenizer} must be a name, {given}")
            model = self._learn(trainer, Corpus(texts, **self._text_settings("words", "lower")), seed)
        self._n_features_out: int = self._infer(model, [], seed).shape[1]
        self.model_, self.seed_ = model, seed
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """`fit` followed by `transform`; a generator is read once."""
        texts = as_training_texts(X)
        return self.fit(texts).transform(texts)

    def transform(self, X: Any) -> np.ndarray:
        """The vectors inferred for texts, or for lists of tokens, (texts, dim) float32.

        Raises:
            NotFittedError: `fit` was not called.
            SettingError: X does not hold texts.
        """
        check_is_fitted(self)
        return self._infer(self.model_, as_texts(X), self.seed_)

    def _infer(self, model: Model, texts: list[Any], seed: int) -> np.ndarray:
        progress = bool(self.verbose)
        return model.infer(texts=texts, epochs=self.infer_epochs, seed=seed, threads=self.threads, progress=progress)

    def _load(self) -> Model:
        """The trained model, checked."""
        self._check_no_training("model")
        for name in ("tokenizer", "case"):
            if getattr(self, name) is not None:
                raise SettingError(f"{name} cannot be combined with model, which has its own {name}")
        given: Any = self.model
        model: Model = load_model(given) if isinstance(given, str | os.PathLike) else given
        installed_capability(model, "inferencer")
        text = model.record.get("text")
        if isinstance(text, dict) and text.get(PHRASES) is not None:
            raise SettingError(
                f"this {model.name} model was trained on joined phrases, and estimators do not join phrases: pass its "
                "vectors, and lists of tokens as texts"
            )
        corpus_settings(model)  # raises if they are unknown
        return model
