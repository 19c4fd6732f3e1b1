"""Parts of a saved model that its installed trainer makes."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from embeddings import registry
from embeddings.errors import FormatError, SettingError
from embeddings.models.capabilities import capabilities_of
from embeddings.vectors.base_vectors import Compose

if TYPE_CHECKING:
    from embeddings.models.classifier import Classifier
    from embeddings.models.model import Model


def installed_composer(model: "Model") -> Compose:
    """The compose function of a model, made by its installed trainer."""
    composer: Callable[[Model], Compose] | None = capabilities_of(registry.load("trainer", model.name)).composer
    if composer is None:
        raise FormatError(f"model.json is broken: it says that {model.name} models compose vectors, but they do not")
    return composer(model)


def installed_classifier(model: "Model") -> "Classifier":
    """The classifier of a model, made by its installed trainer."""
    predictor: Callable[[Model], Classifier] | None = capabilities_of(registry.load("trainer", model.name)).predictor
    if predictor is None:
        raise SettingError(f"{model.name} models predict no labels; train a classifier")
    return predictor(model)
