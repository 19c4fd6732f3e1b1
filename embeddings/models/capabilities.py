"""Capabilities of the models of a trainer, besides holding vectors; trainers declare them as attributes."""

from typing import TYPE_CHECKING, Any, ClassVar

from embeddings import registry

if TYPE_CHECKING:
    from embeddings.models.model import Model


class Capabilities:
    """Optional capabilities of a trainer's models; a subclass overrides those that it has.

    composer: a static method that returns, for a model, a function that computes vectors of any words: `Model.compose`.
    inferencer: one that returns, for a model, a function that infers vectors of new documents: `Model.infer`.
    predictor: one that returns, for a model, its `LabelPredictor`: `Model.classifier`. The same function as an entry
        point of the group `embeddings.classifiers`, under the trainer's name, lets predictions import no training code.
    context_encoder: one that returns, for a model, a function from sentences, as rows of the vocabulary, to the vectors
        of the contexts of their words: `Model.context_vector`.
    word_predictor: one that returns, for a model, its `embeddings.training.word_predictor.WordPredictor`, or an object
        with its attributes `total_loss`, `has_probabilities` and `hidden_dim`: the probabilities of words in text.
    """

    composer: ClassVar[Any] = None
    inferencer: ClassVar[Any] = None
    predictor: ClassVar[Any] = None
    context_encoder: ClassVar[Any] = None
    word_predictor: ClassVar[Any] = None


def capabilities_of(trainer: Any) -> type[Capabilities]:
    """The capabilities of a trainer class; none if it declares none."""
    return trainer if isinstance(trainer, type) and issubclass(trainer, Capabilities) else Capabilities


def installed_capability(model: "Model", name: str) -> Any:
    """A capability of a model, made by its installed trainer; None if models of the trainer lack it."""
    make = getattr(capabilities_of(registry.load("trainer", model.name)), name)
    return None if make is None else make(model)
