"""All functions fitted to the phrases of one vocabulary: for each type that has enough of them, and for all."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from embeddings.composition.descent import Descent, Epoch, descend
from embeddings.composition.functions import FullTensor, Learned, Parameters, TensorIndexing, identity
from embeddings.composition.linear import Part, matrices, weights
from embeddings.composition.phrases import ANY, Examples
from embeddings.composition.settings import CompositionSettings
from embeddings.composition.split import DEV, TRAIN, split
from embeddings.errors import CorpusError
from embeddings.vectors import Vectors

START = 0.01  # standard deviation of U and V at the start
Curve = list[list[float | None]]
Watch = Callable[[str, int, Epoch], None]  # the type, the number of the pass, and what it gave


@dataclass(frozen=True)
class Fitted:
    """What was learned: parameters by type and function, the examples with the part each was, and the record."""

    functions: dict[str, dict[str, Parameters]]
    examples: Examples
    parts: np.ndarray
    record: dict[str, Any]


def fit(
    vectors: Vectors, found: Examples, settings: CompositionSettings, *, seed: int, watch: Watch | None = None
) -> Fitted:
    """The functions for each type of `found` with enough phrases, and those for all phrases together.

    Raises:
        SettingError: the settings do not fit the vectors' dim.
        CorpusError: there are too few phrases even together.
    """
    settings.check_dim(vectors.dim)
    parts, enough, few = check_enough(found, settings, seed)
    functions, curves, penalties = {}, {}, {}
    for type in enough:
        of = found.of(type)
        train, dev = (part_of(vectors, found.rows[of & (parts == part)]) for part in (TRAIN, DEV))
        told = partial(watch, type) if watch else None
        functions[type], curves[type], penalties[type] = fit_type(train, dev, settings, seed, told)
    record = {
        "types": found.types,
        "phrases": {type: int(found.of(type).sum()) for type in enough},
        "curve": curves,
        "ridge_penalty": penalties,
        "notes": notes(found, few, settings.fewest),
    }
    return Fitted(functions, found, parts, record)


def notes(found: Examples, few: dict[str, int], fewest: int) -> list[str]:
    """What was passed over, in lines for people."""
    left = [f"{found.left_out} phrases are left out: a word of theirs has no vector, or they have none themselves"]
    left *= found.left_out > 0
    return left + [
        f"{type}: {number} phrases, and {fewest} are needed (fewest): no functions of its own"
        for type, number in few.items()
    ]


def check_enough(
    found: Examples, settings: CompositionSettings, seed: int
) -> tuple[np.ndarray, list[str], dict[str, int]]:
    """The part of each example, the types that get functions, `ANY` the last, and the other types' numbers of phrases.

    Raises:
        CorpusError: even all together are too few.
    """
    parts, fewest = split(found.rows[:, 3], settings.held_out, seed), settings.fewest
    counts = {type: int(found.of(type).sum()) for type in [*(type for type in found.types if type != ANY), ANY]}
    enough = [type for type in counts if counts[type] >= fewest and not missing(parts[found.of(type)])]
    if counts[ANY] < fewest:
        lost = f"; {found.left_out} more have a word or token without a vector" if found.left_out else ""
        raise CorpusError(f"there are {counts[ANY]} phrases to learn from, and {fewest} are needed (fewest){lost}")
    return parts, enough, {type: count for type, count in counts.items() if type not in enough}


def missing(parts: np.ndarray) -> bool:
    """Whether there is nothing to learn from, or nothing to stop by."""
    return bool((parts == TRAIN).sum() < 2 or not (parts == DEV).any())


def part_of(vectors: Vectors, rows: np.ndarray) -> Part:
    """The vectors of examples, (examples, dim) float32 each."""
    return Part(*(np.asarray(vectors.matrix[rows[:, column]]) for column in (1, 2, 3)))


def fit_type(
    train: Part, dev: Part, settings: CompositionSettings, seed: int, watch: Callable[[int, Epoch], None] | None
) -> tuple[dict[str, Parameters], dict[str, Curve], dict[str, float]]:
    """The parameters of every function; the curves of those learned step by step; the penalties of ridge regression.

    All is learned of vectors divided by the root mean square of the targets' components, so that rates and penalties
    mean the same whatever the vectors' length; parameters come back in units of the vectors as they are.
    """
    size = float(np.sqrt(np.mean(np.square(train.z, dtype=np.float64)))) or 1.0
    train, dev = (Part(*(rows / np.float32(size) for rows in part)) for part in (train, dev))
    linear, penalty = matrices(train, dev)
    made = {
        "weighted-additive": {"weights": weights(train)},
        "full-additive": {**linear, "identity": np.zeros(2)},
    }
    penalties, curves = {"full-additive": penalty}, {}
    learner = Learner(train, dev, settings, seed, watch)
    made["tensor-indexing"], curves["tensor-indexing"], penalties["tensor-indexing"] = learner.indexing(size)
    if settings.full_tensor:
        made["full-tensor"], curves["full-tensor"] = learner.full(linear, size)
    return {name: single(parameters) for name, parameters in made.items()}, curves, penalties


class Learner:
    """Learns functions of one type step by step."""

    def __init__(
        self,
        train: Part,
        dev: Part,
        settings: CompositionSettings,
        seed: int,
        watch: Callable[[int, Epoch], None] | None,
    ) -> None:
        self.train, self.dev, self.settings, self.watch = train, dev, settings, watch
        self.rng = np.random.default_rng(seed)

    def indexing(self, size: float) -> tuple[Parameters, Curve, float]:
        """Tensor indexing: M and N start where they do best with the identity alone, U and V near zero."""
        chosen = self.settings.identity
        weights = np.array([chosen == "elementwise", chosen == "literal"], np.float32) * np.float32(size)
        rest = [part._replace(z=part.z - identity(weights, part.x, part.y)) for part in (self.train, self.dev)]
        linear, penalty = matrices(*rest)
        shape = (self.settings.rank, self.train.x.shape[1], self.train.x.shape[1])
        centre = {name: np.concatenate([matrix, np.zeros(shape)]) for name, matrix in linear.items()}
        start = {
            name: np.concatenate([matrix, self.rng.normal(scale=START, size=shape)]) for name, matrix in linear.items()
        }
        learned, curve = self.learn(TensorIndexing(), {**start, "identity": weights}, centre)
        learned["left"][1:] /= size
        return {**learned, "identity": weights / size}, curve, penalty

    def full(self, linear: Parameters, size: float) -> tuple[Parameters, Curve]:
        """The full tensor: the full additive function, and a tensor that starts as zero."""
        dim = self.train.x.shape[1]
        start = {**linear, "tensor": np.zeros((dim, dim * dim))}
        learned, curve = self.learn(FullTensor(), start, start)
        return {**learned, "tensor": learned["tensor"] / size}, curve

    def learn(self, function: Learned, start: Parameters, centre: Parameters) -> tuple[Parameters, Curve]:
        """Descend in float32; the curve has train, dev and rate of each epoch, None where there is no finite number."""
        given = self.settings
        how = Descent(given.fit_rate, given.fit_epochs, given.fit_batch, given.penalty, given.patience)
        best, epochs = descend(function, single(start), single(centre), self.train, self.dev, how, self.rng, self.watch)
        return best, [[value if value is not None and isfinite(value) else None for value in one] for one in epochs]


def single(parameters: Parameters) -> Parameters:
    """The same in float32, each in one piece of memory."""
    return {name: np.ascontiguousarray(array, np.float32) for name, array in parameters.items()}
