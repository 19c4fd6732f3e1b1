"""The base of the estimators: a trainer with its settings as parameters, the seed, scikit-learn's tags."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state

from embeddings import registry
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.columns import is_null
from embeddings.corpora.reading.sources import Texts
from embeddings.corpora.word_rules import TOKENIZER_SETTINGS
from embeddings.errors import SettingError
from embeddings.models.model import Model
from embeddings.settings import check_list, check_value
from embeddings.training.training_data import check_threads_and_seed

PREFIX = "settings__"  # of the name of one trainer setting, in parameter searches


def as_texts(source: Any, *, has_tokens: bool = True) -> Texts:
    """A list of the texts of a Series, a pyarrow column, a one-dimensional array, or any iterable; nulls are empty.

    Arguments:
        has_tokens: whether lists of tokens may stand for texts.
    """
    kinds: Any = str | Iterable if has_tokens else str
    items = "strings or lists of tokens" if has_tokens else "strings"
    if getattr(source, "ndim", 1) != 1:  # iterating a frame would yield the names of its columns
        given = f"{type(source).__name__} of shape {source.shape}"
        raise SettingError(f"texts must be a list of {items}, or one column of a table, got {given}")
    texts = Texts(check_list("texts", source, items))
    is_tokens = any(isinstance(text, Iterable) and not isinstance(text, str | bytes) for text in texts)
    for number, text in enumerate(texts):
        if is_null(text):
            texts[number] = [] if is_tokens else ""
            continue
        if isinstance(text, bytes) or not isinstance(text, kinds):
            raise SettingError(f"texts must be {items}; text {number} is {text!r:.40}, of type {type(text).__name__}")
        if isinstance(text, Iterator):  # a second pass over the texts would find it exhausted
            texts[number] = list(text)
    return texts


def as_training_texts(source: Any, *, has_tokens: bool = True) -> Texts:
    """`as_texts`, at least one."""
    texts = as_texts(source, has_tokens=has_tokens)
    if not texts:
        raise SettingError("texts must not be empty: there is nothing to learn from")
    return texts


@dataclass(repr=False, eq=False)
class TextEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of estimators that learn from texts."""

    trainer: Any = None
    settings: Any = None
    _: KW_ONLY
    tokenizer: Any = None
    case: str | None = None
    threads: int | None = 1
    random_state: Any = 1
    run_options: Any = None
    verbose: bool = False

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; if `deep`, also each of `settings`, as in `settings__dim`."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and isinstance(self.settings, Mapping):
            params |= {f"{PREFIX}{name}": value for name, value in self.settings.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; `settings__NAME` sets any setting of the trainer.

        Raises:
            ValueError: a parameter does not exist.
        """
        own = {name: value for name, value in params.items() if not name.startswith(PREFIX)}
        for name in own:
            parameter, separator, setting = name.partition("__")
            if separator and hasattr(self, parameter) and not hasattr(getattr(self, parameter), "set_params"):
                advice = f": set {PREFIX}{setting}" * (parameter == "trainer")
                raise SettingError(f"{name} does not exist: {parameter} has no parameters of its own{advice}")
        super().set_params(**own)
        nested_settings = {name.removeprefix(PREFIX): value for name, value in params.items() if name not in own}
        if nested_settings:
            self.settings = {**checked_settings(self.settings), **nested_settings}
        return self

    def _seed(self) -> int:
        """The seed: an integer `random_state`, or a number drawn from its generator, None for numpy's global one.

        Also checks the threads.
        """
        # drawn once for training and inference: a generator would give each of them another seed
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31 - 1)
        seed = int(check_value("random_state", seed, int, {"ge": 0, "le": 2**63 - 1}))
        return check_threads_and_seed(self.threads, seed)[1]

    def _learn(self, trainer: Any, corpus: Corpus, seed: int) -> Model:
        """A model trained on a corpus, which is read once."""
        progress = bool(self.verbose)
        # encoded here, so that the text is read once even if the trainer encodes it again
        with corpus.encode(progress=progress):
            model: Model = trainer.train(
                corpus, threads=self.threads, seed=seed, progress=progress, run_options=self.run_options
            )
        return model

    def _make_trainer(self, default: str) -> Any:
        """The trainer with its settings.

        Raises:
            RegistryError: no trainer of this name is installed.
            SettingError: a setting is unknown or out of range.
            TypeError: `trainer` is neither a name nor a trainer.
        """
        trainer, settings = default if self.trainer is None else self.trainer, checked_settings(self.settings)
        if isinstance(trainer, str):
            return registry.create("trainer", trainer, dict(settings))
        return replace(trainer, **settings)

    def _check_no_training(self, parameter: str) -> None:
        """Refuse parameters of training next to a parameter that replaces it."""
        for name in ("trainer", "settings"):
            if getattr(self, name) is not None:
                raise SettingError(f"{name} cannot be combined with {parameter}, which replaces training")

    def _text_settings(self, tokenizer: Any, case: str, **others: Any) -> dict[str, Any]:
        """Settings of a `Corpus`: the estimator's own, or the given defaults.

        `others` are settings of the default tokenizer, and are left out if the estimator sets `tokenizer`.
        """
        has_own = self.tokenizer is not None
        return {
            **{name: value for name, value in others.items() if not (has_own and name in TOKENIZER_SETTINGS)},
            "tokenizer": tokenizer if self.tokenizer is None else self.tokenizer,
            "case": case if self.case is None else self.case,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.non_deterministic = self.threads != 1
        return tags


@dataclass(repr=False, eq=False)
class TextVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TextEstimator):  # type: ignore[misc]
    """Base class of estimators that turn texts into vectors."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def checked_settings(settings: Any) -> Mapping[str, Any]:
    """The settings of a trainer by name; an empty dict for None."""
    return {} if settings is None else dict(**settings)
