"""Ratings of pairs of texts, predicted by a model with a network for them."""

from collections.abc import Sequence

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.row_operations import padded
from embeddings.models.embed import embed
from embeddings.models.model import Model
from embeddings.plugins.text_pairs.rating_distribution import HIDDEN, LOWEST_RATING, OUTPUT, feature_matrix


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
            problem = "train it by text-pairs with objective=rating-distribution"
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
        features = feature_matrix(a, b, padded(self.model.vectors.dim))
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
