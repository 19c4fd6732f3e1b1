"""Capabilities of the models of a trainer, besides holding vectors; trainers declare them as attributes."""

from typing import TYPE_CHECKING, Any, ClassVar

from embeddings import registry
from embeddings.errors import SettingError

if TYPE_CHECKING:
    from embeddings.models.model import Model


class Capabilities:
    """Optional capabilities of a trainer's models; a subclass overrides the capabilities that it has.

    composer: a static method that returns, for a model, a function that computes vectors of any words: `Model.compose`.
    inferencer: one that returns, for a model, a function that infers vectors of new documents: `Model.infer`.
    predictor: one that returns, for a model, its `LabelPredictor`: `Model.classifier`. The same function as an entry
        point of the group `embeddings.classifiers`, under the trainer's name, lets predictions import no training code.
    sides_of: one that returns, for a model with two sides, the models of its left and right texts: `Model.sides`.
    context_encoder: one that returns, for a model, a function from sentences, as rows of the vocabulary, to the vectors
        of the contexts of their words: `Model.context_vector`.
    word_predictor: one that returns, for a model, its `embeddings.training.word_predictor.WordPredictor`, or an object
        with its attributes `total_loss`, `has_probabilities` and `hidden_dim`: the probabilities of words in text.
    text_pool: how vectors of words become those of texts by default, as the argument `pool` of `embeddings.embed`;
        recorded in each model. "mean" where the trainer learns means of word vectors.
    """

    composer: ClassVar[Any] = None
    inferencer: ClassVar[Any] = None
    predictor: ClassVar[Any] = None
    sides_of: ClassVar[Any] = None
    context_encoder: ClassVar[Any] = None
    word_predictor: ClassVar[Any] = None
    text_pool: ClassVar[str] = "sif"


def capabilities_of(trainer: Any) -> type[Capabilities]:
    """The capabilities of a trainer class; none if it declares none."""
    return trainer if isinstance(trainer, type) and issubclass(trainer, Capabilities) else Capabilities


def installed_capability(model: "Model", name: str) -> Any:
    """A capability of a model, made by its installed trainer; None if models of the trainer lack it."""
    make = getattr(capabilities_of(registry.load("trainer", model.name)), name)
    return None if make is None else make(model)


def word_predictor(model: "Model") -> Any:
    """The `WordPredictor` of a model, with probabilities of words."""
    predictor = held_out_predictor(model)
    if not predictor.has_probabilities:
        raise SettingError(
            f"this {model.name} model has no probabilities of words: negative sampling does not define them; train it "
            "with another objective, such as hierarchical-softmax or nce"
        )
    return predictor


def held_out_predictor(model: "Model") -> Any:
    """The `WordPredictor` of a model, which may have a loss without probabilities of words; errors as above."""
    predictor = installed_capability(model, "word_predictor")
    if predictor is None:
        raise SettingError(
            f"{model.name} models do not predict words of new text from their contexts alone: use skipgram, cbow, "
            "structured-skipgram, directional-skipgram, continuous-window or fasttext"
        )
    return predictor
