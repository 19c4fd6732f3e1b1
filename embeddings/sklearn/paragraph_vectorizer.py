"""Texts as the vectors that a document model infers for them."""

import os
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.sources import Texts
from embeddings.errors import S, SettingError
from embeddings.models.document_vectors import installed_inferencer
from embeddings.models.loading import load_model
from embeddings.models.model import Epochs, Model
from embeddings.models.text_settings import PHRASES, corpus_settings
from embeddings.settings import check_value
from embeddings.sklearn.estimator import TextVectorizer, as_texts, as_training_texts


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
        model = self._load() if self.model is not None else self._train(texts, seed)
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
        model = load_model(self.model) if isinstance(self.model, str | os.PathLike) else self.model
        if not isinstance(model, Model):
            raise SettingError(f"model must be a Model or the path of one, got {model!r:.80}")
        installed_inferencer(model)
        text = model.record.get("text")
        if isinstance(text, dict) and text.get(PHRASES) is not None:
            raise SettingError(
                f"this {model.name} model was trained on joined phrases, and estimators do not join phrases: pass its "
                "vectors, and lists of tokens as texts"
            )
        corpus_settings(model)  # raises if they are unknown
        return model

    def _train(self, texts: Texts, seed: int) -> Model:
        """A document model learned from texts."""
        trainer = self._make_trainer("paragraph-dbow")
        if trainer.inferencer is None:
            raise SettingError(
                f"{S.trainer} must infer document vectors, as paragraph-dbow and paragraph-dm do, got {self.trainer!r}"
            )
        if self.tokenizer is not None and not isinstance(self.tokenizer, str):
            raise SettingError(f"{S.tokenizer} must be a name, got {self.tokenizer!r}: pass lists of tokens instead")
        corpus = Corpus(texts, **self._text_settings("words", "lower"))
        return self._learn(trainer, corpus, seed)
