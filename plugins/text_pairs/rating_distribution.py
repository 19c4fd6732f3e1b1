"""A distribution over ratings, predicted from both texts of a pair by a small network (Tai, Socher and Manning 2015).

With the unit vectors a and b of a pair, f = (|a - b|, a * b), h = sigmoid(W f + c) and q = softmax(V h + d). A rating
between two classes is a distribution over both. The loss is the Kullback-Leibler divergence of q from it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import implements, inline
from embeddings.errors import S, SettingError
from embeddings.kernels.logistic import sigmoid
from embeddings.kernels.row_operations import PADDING, padded
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.sparse_steps import StepRates, step_row
from embeddings.models.embed import embed
from embeddings.models.model import Model
from embeddings.models.table import INITIALIZERS, Table
from embeddings.plugins.text_pairs.pair_objectives import BatchShape, PairObjective
from embeddings.plugins.text_pairs.pair_stream import PairBlock
from embeddings.plugins.text_pairs.text_batch import TextBatch, add_product, transpose

HIDDEN, OUTPUT = "rating_hidden", "rating_output"  # tables
LOWEST_RATING = "lowest_rating"  # in the record


class RatingOperand(NamedTuple):
    """The ratings of all pairs in classes from 0 on, the network, and scratch memory.

    hidden, output: rows of W and V with their biases, (hidden size, 2 width + 16) and (classes, padded size + 16).
    features, activations, scores: (batch, ...) f and 1, h and 1, and the scores of classes.
    feature_gradients, activation_gradients: gradients of the loss with respect to features and activations.
    hidden_transposed, output_transposed: W' and V'. hidden_gradient, output_gradient: gradients of W and V.
    """

    ratings: np.ndarray
    classes: int
    size: int
    hidden: Any
    output: Any
    features: np.ndarray
    feature_gradients: np.ndarray
    activations: np.ndarray
    activation_gradients: np.ndarray
    scores: np.ndarray
    hidden_transposed: np.ndarray
    output_transposed: np.ndarray
    hidden_gradient: np.ndarray
    output_gradient: np.ndarray


def class_count(ratings: np.ndarray) -> int:
    """The number of classes of ratings from 0 on."""
    return int(np.ceil(ratings.max())) + 1


class RatingDistribution(RatingOperand, PairObjective):
    """A network predicts ratings from both vectors."""

    needs = "classes"

    @classmethod
    def tables(cls, settings: Any, width: int, ratings: np.ndarray) -> dict[str, Table]:
        """The tables of the network."""
        size = settings.hidden_size
        hidden = Table(
            rows=size, dim=2 * width + PADDING, axis="other", init=INITIALIZERS["xavier"], seed=2, on_continue="copy"
        )
        return {
            HIDDEN: hidden,
            OUTPUT: Table(rows=class_count(ratings), dim=padded(size) + PADDING, axis="other", on_continue="copy"),
        }

    @classmethod
    def operand(cls, settings: Any, shape: BatchShape, ratings: np.ndarray, *rows: Any) -> "RatingDistribution":
        """The operand of one thread."""
        hidden, output = rows
        dtype, classes = ratings.dtype.type, class_count(ratings)
        size, features = padded(settings.hidden_size) + PADDING, 2 * shape.width + PADDING

        def matrix(rows: int, columns: int) -> np.ndarray:
            return separate_zeros((rows, columns), dtype)

        return cls(
            ratings,
            classes,
            settings.hidden_size,
            hidden,
            output,
            features=matrix(shape.pairs, features),
            feature_gradients=matrix(shape.pairs, features),
            activations=matrix(shape.pairs, size),
            activation_gradients=matrix(shape.pairs, size),
            scores=matrix(shape.pairs, padded(classes)),
            hidden_transposed=matrix(features, padded(settings.hidden_size)),
            output_transposed=matrix(size, padded(classes)),
            hidden_gradient=matrix(settings.hidden_size, features),
            output_gradient=matrix(classes, size),
        )


@implements(RatingDistribution)
@inline
def learn_ratings(
    operand: RatingDistribution, batch: TextBatch, block: PairBlock, size: int, sides: int, rates: StepRates
) -> float:
    """The gradients of the mean divergence, and a step of the network."""
    width, hidden, output = batch.units.shape[1], operand.hidden.values, operand.output.values
    large, root = operand.features.dtype.type(width), operand.features.dtype.type(np.sqrt(width))
    for k in range(size):  # factors so that differences and products are both about 1
        for d in range(width):
            a, b = batch.units[k, d], batch.units[size + k, d]
            operand.features[k, d] = root * abs(a - b)
            operand.features[k, width + d] = large * a * b
        operand.features[k, 2 * width] = 1
    transpose(operand.hidden_transposed, hidden, operand.size, hidden.shape[1])
    operand.activations[:size] = 0
    columns = operand.features.shape[1]
    add_product(
        operand.activations, operand.features, operand.hidden_transposed, size, operand.size, columns, columns, 1
    )
    for k in range(size):
        for j in range(operand.size):
            operand.activations[k, j] = sigmoid(np.float64(operand.activations[k, j]))
        operand.activations[k, operand.activations.shape[1] - PADDING] = 1
    transpose(operand.output_transposed, output, operand.classes, output.shape[1])
    operand.scores[:size] = 0
    columns = operand.activations.shape[1]
    add_product(
        operand.scores, operand.activations, operand.output_transposed, size, operand.classes, columns, columns, 1
    )
    loss = divergence_gradients(operand, block, size)
    backprop_network(operand, size)
    backprop_features(operand.feature_gradients, batch, size, width)
    for i in range(operand.size):
        step_row(operand.hidden, i, operand.hidden_gradient[i], rates)
    for i in range(operand.classes):
        step_row(operand.output, i, operand.output_gradient[i], rates)
    return loss


@inline
def divergence_gradients(operand: RatingDistribution, block: PairBlock, size: int) -> float:
    """Replace scores by the gradients of the mean divergence; returns the summed divergence of the batch."""
    loss, n = 0.0, operand.classes
    for k in range(size):
        scores, rating = operand.scores[k], np.float64(operand.ratings[block.pairs[k]])
        lower = int(np.floor(rating))
        share = rating - lower
        peak, total = np.float64(scores[0]), 0.0
        for j in range(n):
            peak = max(peak, np.float64(scores[j]))
        for j in range(n):
            total += np.exp(np.float64(scores[j]) - peak)
        for j in range(n):
            log_q = np.float64(scores[j]) - peak - np.log(total)
            p = (1 - share) if j == lower else share if j == lower + 1 else 0.0
            if p > 0:
                loss += p * (np.log(p) - log_q)
            scores[j] = (np.exp(log_q) - p) / size
    return loss


@inline
def backprop_network(operand: RatingDistribution, size: int) -> None:
    """The gradients of features and of the network, from the gradients of scores."""
    hidden, output = operand.hidden.values, operand.output.values
    features, columns, classes = operand.features.shape[1], operand.activations.shape[1], operand.scores.shape[1]
    operand.activation_gradients[:size] = 0
    add_product(operand.activation_gradients, operand.scores, output, size, columns, operand.classes, classes, 1)
    operand.output_gradient[:] = 0
    add_product(
        operand.output_gradient, operand.scores, operand.activations, operand.classes, columns, size, 1, classes
    )
    for k in range(size):
        for j in range(columns):
            h = operand.activations[k, j]
            operand.activation_gradients[k, j] *= h * (1 - h)
    operand.hidden_gradient[:] = 0
    gradients = operand.activation_gradients
    add_product(operand.hidden_gradient, gradients, operand.features, operand.size, features, size, 1, columns)
    operand.feature_gradients[:size] = 0
    add_product(operand.feature_gradients, gradients, hidden, size, features, operand.size, columns, 1)


@inline
def backprop_features(gradients: np.ndarray, batch: TextBatch, size: int, width: int) -> None:
    """Add the gradients of units, from the gradients of features."""
    large, root = gradients.dtype.type(width), gradients.dtype.type(np.sqrt(width))
    for k in range(size):
        for d in range(width):
            a, b = batch.units[k, d], batch.units[size + k, d]
            step = root * gradients[k, d] * np.sign(a - b)
            product = large * gradients[k, width + d]
            batch.unit_gradients[k, d] += step + product * b
            batch.unit_gradients[size + k, d] += product * a - step


class RatingPredictor:
    """Predicts ratings of pairs of texts by a model of the trainer `text-pairs` with objective="rating-distribution".

    Arguments:
        model: the model.

    Raises:
        SettingError: the model does not predict ratings.
    """

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise SettingError(f"model must be a Model, such as load_model(path) returns, got {model!r:.60}")
        tables = [model.tables.get(name) for name in (HIDDEN, OUTPUT)]
        lowest = model.record.get(LOWEST_RATING)
        if tables[0] is None or tables[1] is None or not isinstance(lowest, int | float):
            problem = f"train it by text-pairs with {S.objective('rating-distribution')}"
            raise SettingError(f"the {model.name} model does not predict ratings: {problem}")
        self.model, self.lowest = model, float(lowest)
        self.hidden, self.output = (table.astype(np.float64) for table in tables if table is not None)

    def distribution(self, left: Sequence[str], right: Sequence[str]) -> np.ndarray:
        """The probabilities of the ratings from the lowest one on, float64 (pairs, ratings).

        Arguments:
            left, right: the texts of the pairs; one without known words has a vector of zeros.
        """
        if isinstance(left, str) or isinstance(right, str):
            raise SettingError("left and right must be lists of texts, such as ['a good film']")
        if len(left) != len(right):
            raise SettingError(f"left and right must have the same number of texts, got {len(left)} and {len(right)}")
        a, b = (embed(self.model, list(texts), normalize=True).astype(np.float64) for texts in (left, right))
        dim, width = a.shape[1], padded(a.shape[1])
        features = np.zeros((len(a), 2 * width + PADDING))  # as in `learn_ratings`
        features[:, :dim], features[:, width : width + dim] = np.sqrt(width) * np.abs(a - b), width * a * b
        features[:, 2 * width] = 1
        activations = 1 / (1 + np.exp(-features @ self.hidden.T))
        size = len(self.hidden)
        scores = activations @ self.output[:, :size].T + self.output[:, padded(size)]
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        probabilities: np.ndarray = powers / powers.sum(axis=1, keepdims=True)
        return probabilities

    def predict(self, left: Sequence[str], right: Sequence[str]) -> np.ndarray:
        """The expected rating of each pair, float64 (pairs,)."""
        probabilities = self.distribution(left, right)
        expected: np.ndarray = self.lowest + probabilities @ np.arange(probabilities.shape[1])
        return expected
