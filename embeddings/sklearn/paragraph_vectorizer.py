"""Texts as the vectors that a model of documents infers for them."""

import os
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from embeddings.corpora import Corpus
from embeddings.corpora.reading.sources import Texts
from embeddings.errors import SettingError
from embeddings.models.document_vectors import installed_inferrer
from embeddings.models.loading import load_model
from embeddings.models.model import Model
from embeddings.settings import check_value
from embeddings.sklearn.estimator import TextVectorizer, text_of
from embeddings.sklearn.text_input import as_many_texts, as_texts

EPOCHS = {"least": 1, "most": 1_000_000}  # as those of a training


class ParagraphVectorizer(TextVectorizer):
    """Learns a model of documents from texts, or takes a ready one, and gives each text the vector it infers for it.

    >>> import embeddings as em
    >>> texts = ["a good film", "a bad film", "a good book", "a bad book"] * 9
    >>> made = em.ParagraphVectorizer("paragraph-dm", {"dim": 8, "min_count": 1}).fit(texts)
    >>> made.transform(["a film about a book"]).shape
    (1, 8)

    The texts of `fit` get inferred vectors too; those of the training are `model_.documents`. A text and the seed
    settle every byte of an inferred vector, and `threads=1` those of the model.

    Arguments:
        trainer: the name of an installed one that infers, "paragraph-dbow" or "paragraph-dm", or one such as
            `em.ParagraphDM(dim=50)`; "paragraph-dbow" if not given.
        settings: of the trainer, such as `{"dim": 50}`; a search over parameters names one as `settings__dim`.
        model: a ready one, or its path; then nothing is trained.
        infer_epochs: passes over each text to infer its vector; those of the training if not given.
        tokenizer: the name of one; "words" if not given. A ready model has its own. For another way to cut, give lists
            of tokens.
        case: "lower" or "keep"; "lower" if not given. A ready model has its own.
        threads: that train and infer; None for all cores.
        random_state: a seed, a numpy.random.RandomState, or None for numpy's own.

    After `fit`: `model_`, and `seed_`, the seed of both training and inference.
    """

    def __init__(
        self,
        trainer: Any = None,
        settings: Any = None,
        *,
        model: "Model | str | os.PathLike[str] | None" = None,
        infer_epochs: int | None = None,
        tokenizer: str | None = None,
        case: str | None = None,
        threads: int | None = 1,
        random_state: Any = 1,
    ) -> None:
        self.trainer = trainer
        self.settings = settings
        self.model = model
        self.infer_epochs = infer_epochs
        self.tokenizer = tokenizer
        self.case = case
        self.threads = threads
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from texts, or lists of tokens, each a document; `y` is not looked at.

        Raises:
            SettingError: a parameter is out of range or not for what is asked, or X holds no texts.
            RegistryError: there is no such trainer or tokenizer.
            CorpusError: the texts hold no words, or none that is frequent enough for the trainer.
        """
        texts, seed = as_many_texts(X), self._seed()
        check_value("infer_epochs", self.infer_epochs, int | None, EPOCHS)
        model = self._ready() if self.model is not None else self._trained(texts, seed)
        self._n_features_out: int = self._infer(model, [], seed).shape[1]
        self.model_, self.seed_ = model, seed
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """What `fit` and then `transform` give; a generator is read once."""
        texts = as_many_texts(X)
        return self.fit(texts).transform(texts)

    def transform(self, X: Any) -> np.ndarray:
        """The vectors inferred for texts, or for lists of tokens, (texts, dim) float32.

        Raises:
            NotFittedError: `fit` was not called.
            SettingError: X holds no texts.
        """
        check_is_fitted(self)
        return self._infer(self.model_, as_texts(X), self.seed_)

    def _infer(self, model: Model, texts: list[Any], seed: int) -> np.ndarray:
        """The vectors of texts, (texts, dim)."""
        return model.infer(texts, epochs=self.infer_epochs, seed=seed, threads=self.threads)

    def _ready(self) -> Model:
        """The model that is given.

        Raises:
            SettingError: it is none, or one without documents; or a parameter is for a training.
            FormatError: as `embeddings.load_model`.
        """
        self._refuse_training("a model is")
        for name in ("tokenizer", "case"):
            if getattr(self, name) is not None:
                raise SettingError(f"a model is given, which has its own {name}: leave it out")
        model = load_model(self.model) if isinstance(self.model, str | os.PathLike) else self.model
        if not isinstance(model, Model):
            raise SettingError(f"model must be a Model, or the path of one, not {model!r:.80}")
        installed_inferrer(model)
        text_of(model)
        return model

    def _trained(self, texts: Texts, seed: int) -> Model:
        """A model of documents, learned from texts.

        Raises:
            SettingError, RegistryError, CorpusError: as `fit`.
        """
        trainer = self._trainer("paragraph-dbow")
        if not hasattr(trainer, "inferrer"):
            told = "finds no vectors for documents: paragraph-dbow and paragraph-dm do"
            raise SettingError(f"the trainer {self.trainer!r} {told}")
        if self.tokenizer is not None and not isinstance(self.tokenizer, str):
            raise SettingError(f"tokenizer must be the name of one, not {self.tokenizer!r}: or give lists of tokens")
        corpus = Corpus(texts, **self._reading("words", "lower"))
        with corpus.encode():
            model: Model = trainer.train(corpus, threads=self.threads, seed=seed)
        return model
