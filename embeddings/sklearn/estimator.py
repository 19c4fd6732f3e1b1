"""What the estimators share: a trainer and its settings as parameters, the seed, and what scikit-learn asks of both."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from numbers import Integral
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state

from embeddings.errors import SettingError
from embeddings.models.model import Model
from embeddings.models.text_settings import PHRASES, reading_of
from embeddings.registry import check_settings
from embeddings.settings import check_value
from embeddings.training.task import run_settings
from embeddings.training.train import make

NESTED = "settings__"  # before the name of one setting of the trainer, in searches over parameters


class TextVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learns from texts, and turns texts into vectors."""

    trainer: Any
    settings: Mapping[str, Any] | None
    tokenizer: Any
    case: str | None
    threads: int | None
    random_state: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; if `deep`, each of `settings` too, as in `settings__dim`."""
        found: dict[str, Any] = super().get_params(deep=deep)
        if deep and isinstance(self.settings, Mapping):
            found |= {f"{NESTED}{name}": value for name, value in self.settings.items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters; any setting of the trainer as `settings__NAME`, whether it was given before or not.

        Raises:
            ValueError: there is no such parameter.
        """
        own = {name: value for name, value in params.items() if not name.startswith(NESTED)}
        super().set_params(**own)
        given = {name.removeprefix(NESTED): value for name, value in params.items() if name not in own}
        if given:
            self.settings = {**settings_of(self.settings), **given}
        return self

    def _seed(self) -> int:
        """The seed of a run; that and the threads are checked, trained or not.

        Raises:
            SettingError: one is out of range.
        """
        return run_settings(self.threads, seed_of(self.random_state))[1]

    def _trainer(self, default: str) -> Any:
        """The trainer with its settings.

        Raises:
            RegistryError, SettingError: as `embeddings.train`; or it is neither a name nor a trainer.
        """
        chosen, settings = default if self.trainer is None else self.trainer, settings_of(self.settings)
        if isinstance(chosen, str):
            return make(chosen, dict(settings))
        if isinstance(chosen, type) or not is_dataclass(chosen) or not hasattr(chosen, "train"):
            raise SettingError(f"trainer must be the name of one, or one such as em.SkipGram(dim=50), not {chosen!r}")
        check_settings(type(chosen).__name__, [field.name for field in fields(chosen)], settings)
        made: Any = chosen  # an object, as the line above has seen
        return replace(made, **settings)

    def _refuse_training(self, given: str) -> None:
        """Refuse what says how to train, where nothing is trained.

        Raises:
            SettingError: naming the parameter.
        """
        for name in ("trainer", "settings"):
            if getattr(self, name) is not None:
                raise SettingError(f"{name} is for a training, and {given} given: leave out one of the two")

    def _reading(self, tokenizer: Any, case: str) -> dict[str, Any]:
        """How texts become words, as settings of a `Corpus`: these, unless told otherwise."""
        return {
            "tokenizer": tokenizer if self.tokenizer is None else self.tokenizer,
            "case": case if self.case is None else self.case,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        tags.non_deterministic = self.threads != 1
        return tags


def settings_of(given: Any) -> Mapping[str, Any]:
    """Settings of a trainer, by name.

    Raises:
        SettingError: they are none.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise SettingError(f"settings must be a dict of the trainer's settings, such as {{'dim': 50}}, not {given!r}")
    return given


def seed_of(random_state: Any) -> int:
    """The seed that a `random_state` stands for: itself, or drawn by a generator; None is numpy's own.

    Raises:
        SettingError: it is neither a whole number from 0 on nor a generator.
    """
    if isinstance(random_state, Integral):
        return int(check_value("random_state", random_state, int, {"least": 0, "most": 2**63 - 1}))
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        told = "random_state must be a whole number, a numpy.random.RandomState or None"
        raise SettingError(f"{told}, not {random_state!r}") from None


def text_of(model: Model) -> dict[str, Any]:
    """The tokenizer and the case that a model was trained with.

    Raises:
        FormatError: its record does not say.
        SettingError: phrases were joined, which is not done here.
    """
    text = model.record.get("text")
    if isinstance(text, dict) and text.get(PHRASES) is not None:
        told = "phrases were joined, which no estimator does: give its vectors, and lists of tokens"
        raise SettingError(f"the {model.name} model was trained on text in which {told}")
    read = reading_of(model)
    return {"tokenizer": read["tokenizer"], "case": read["case"]}
