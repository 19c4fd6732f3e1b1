"""All functions fitted to the phrases of one vocabulary: for each type that has enough of them, and for all."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from embeddings.errors import CorpusError
from embeddings.plugins.tensor_indexing import cross_products
from embeddings.plugins.tensor_indexing.blending import best_share, blended, scale_of
from embeddings.plugins.tensor_indexing.fit_settings import CompositionSettings
from embeddings.plugins.tensor_indexing.functions import FullTensor, Learned, Parameters, TensorIndexing
from embeddings.plugins.tensor_indexing.gradient_descent import FIXED, Descent, Epoch, descend
from embeddings.plugins.tensor_indexing.linear_solvers import Part, matrices, weights
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY, Examples
from embeddings.plugins.tensor_indexing.split import DEV, TRAIN, split
from embeddings.vectors.vectors import Vectors

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
    functions: dict[str, dict[str, Parameters]] = {}
    curves, penalties, shares = {}, {}, {}
    pooled: dict[str, Parameters] = {}
    for type in enough:
        of = found.of(type)
        train, dev = (part_of(vectors, found.rows[of & (parts == part)]) for part in (TRAIN, DEV))
        told = partial(watch, type) if watch else None
        learner = Learner(train, dev, settings, seed, told, pooled)
        functions[type] = learner.functions()
        pooled = pooled or dict(functions[type])
        functions[type]["tensor-indexing"], shares[type] = mixed(functions[type], train, dev, settings.additive_share)
        curves[type], penalties[type] = learner.curves, learner.penalties
    record = {
        "types": found.types,
        "phrases": {type: int(found.of(type).sum()) for type in enough},
        "curve": curves,
        "ridge_penalty": penalties,
        "additive_share": shares,
        "notes": notes(found, few, settings.fewest),
    }
    return Fitted(functions, found, parts, record)


def notes(found: Examples, few: dict[str, int], fewest: int) -> list[str]:
    """What was passed over, in lines for people."""
    left = [
        f"phrases left out, as they or their words have no vector or their words make a commoner one: {found.left_out}"
    ]
    left *= found.left_out > 0
    wants = {type: f"and {fewest} are needed (fewest)" for type in few}
    wants |= {type: "none of which is held out to stop by" for type, number in few.items() if number >= fewest}
    return left + [f"{type}: {number} phrases, {wants[type]}: no functions of its own" for type, number in few.items()]


def check_enough(
    found: Examples, settings: CompositionSettings, seed: int
) -> tuple[np.ndarray, list[str], dict[str, int]]:
    """The part of each example, the types that get functions, `ANY` the first, and the other types' numbers of phrases.

    Raises:
        CorpusError: even all together are too few.
    """
    parts, fewest = split(found.rows[:, 3], settings.held_out, seed), settings.fewest
    counts = {type: int(found.of(type).sum()) for type in [ANY, *(type for type in found.types if type != ANY)]}
    enough = [type for type in counts if counts[type] >= fewest and not missing(parts[found.of(type)])]
    if counts[ANY] < fewest:
        lost = f"; {found.left_out} more are left out, most for want of a vector" if found.left_out else ""
        raise CorpusError(f"there are {counts[ANY]} phrases to learn from, and {fewest} are needed (fewest){lost}")
    if counts[ANY] and ANY not in enough:  # none at all is what fewest=0 lets in
        share = settings.held_out
        raise CorpusError(f"of {counts[ANY]} phrases a share of {share} held out leaves none to learn from or stop by")
    return parts, enough, {type: count for type, count in counts.items() if type not in enough}


def missing(parts: np.ndarray) -> bool:
    """Whether there is nothing to learn from, or nothing to stop by."""
    return bool((parts == TRAIN).sum() < 2 or not (parts == DEV).any())


def mixed(functions: dict[str, Parameters], train: Part, dev: Part, share: float | None) -> tuple[Parameters, float]:
    """Tensor indexing with a share of the additive function, and the share: what is given, or what does best on dev."""
    found, scale = functions["tensor-indexing"], scale_of(train)
    if share is None:
        share = best_share(found, functions["full-additive"], scale, dev, train)
    return single(blended(found, share, scale)), share


def part_of(vectors: Vectors, rows: np.ndarray) -> Part:
    """The vectors of examples, (examples, dim) float32 each."""
    return Part(*(np.asarray(vectors.matrix[rows[:, column]]) for column in (1, 2, 3)))


class Learner:
    """Learns the functions of one type.

    All is learned of vectors divided by the root mean square of the targets' components, so that rates and penalties
    mean the same whatever the vectors' length; parameters come back in units of the vectors as they are.

    Arguments:
        pooled: the functions of all types together, from which those of a type start; none where these are learned.
    """

    def __init__(
        self,
        train: Part,
        dev: Part,
        settings: CompositionSettings,
        seed: int,
        watch: Callable[[int, Epoch], None] | None,
        pooled: dict[str, Parameters],
    ) -> None:
        self.size = float(np.sqrt(np.mean(np.square(train.z, dtype=np.float64)))) or 1.0
        self.train, self.dev = (Part(*(rows / np.float32(self.size) for rows in part)) for part in (train, dev))
        self.settings, self.watch, self.pooled = settings, watch, pooled
        self.rng = np.random.default_rng(seed)
        self.curves: dict[str, Curve] = {}
        self.penalties: dict[str, float] = {}

    def functions(self) -> dict[str, Parameters]:
        """The parameters of every function; curves and penalties are then known too."""
        linear, self.penalties["full-additive"] = matrices(self.train, self.dev, self.pooled.get("full-additive"))
        made = {"weighted-additive": {"weights": weights(self.train)}, "full-additive": {**linear, FIXED: np.zeros(2)}}
        new = self.starts(made["full-additive"]) if not self.pooled else {}
        made["tensor-indexing"] = self.learn("tensor-indexing", TensorIndexing(), new.get("tensor-indexing", {}))
        if self.settings.full_tensor:
            made["full-tensor"] = self.learn("full-tensor", FullTensor(), new.get("full-tensor", {}))
        return {name: single(parameters) for name, parameters in made.items()}

    def starts(self, linear: Parameters) -> dict[str, Parameters]:
        """Where tensor indexing and the full tensor start: at what products give to the rest of full additive."""
        dim = self.train.x.shape[1]
        reading = np.array([self.settings.identity == name for name in ("elementwise", "literal")]) * self.size
        train, dev = self.rests(TensorIndexing(), {**linear, FIXED: reading})
        found, self.penalties["products"] = cross_products.ridge(train, dev, self.rng)
        left, right = cross_products.low_rank(found, self.settings.rank_for(dim))
        none = np.zeros((1, dim, dim))
        starts = {
            "tensor-indexing": {"left": np.vstack([none, left]), "right": np.vstack([none, right]), FIXED: reading}
        }
        if self.settings.full_tensor:
            starts["full-tensor"] = {"left": none, "right": none, "tensor": cross_products.whole(found)}
        return starts

    def rests(self, function: Learned, parameters: Parameters) -> list[Part]:
        """Train and dev with what a function leaves of the targets."""
        return [
            part._replace(z=part.z - function.predict(parameters, part.x, part.y)) for part in (self.train, self.dev)
        ]

    def learn(self, name: str, function: Learned, new: Parameters) -> Parameters:
        """The function learned from that of all types, or where there is none from `new` ones.

        M and N start where they do best beside the others: by ridge regression to what these leave of the targets.
        """
        pooled = self.pooled.get(name)
        start = scaled(pooled, self.size) if pooled else new
        others = {**start, "left": without_first(start["left"]), "right": without_first(start["right"])}
        train, dev = self.rests(function, others)
        linear, self.penalties[name] = matrices(train, dev, pooled)
        for side, matrix in linear.items():
            start[side] = np.concatenate([matrix, start[side][1:]])
        given = self.settings
        how = Descent(given.fit_rate, given.fit_epochs, given.fit_batch, given.penalty, given.patience)
        best, epochs = descend(function, single(start), self.train, self.dev, how, self.rng, self.watch)
        self.curves[name] = [[number(value) for value in epoch] for epoch in epochs]
        return scaled(best, 1 / self.size)


def scaled(parameters: Parameters, size: float) -> Parameters:
    """The same function of vectors divided by `size`: products of two components count so much more."""
    made = {name: array.astype(np.float64) for name, array in parameters.items()}
    made["left"][1:] *= size
    for name in {FIXED, "tensor"} & set(made):
        made[name] *= size
    return made


def without_first(matrices: np.ndarray) -> np.ndarray:
    """The same, with zeros for the first."""
    made = matrices.copy()
    made[0] = 0
    return made


def number(value: float | None) -> float | None:
    """A finite number, or None."""
    return value if value is not None and isfinite(value) else None


def single(parameters: Parameters) -> Parameters:
    """The same in float32, each in one piece of memory."""
    return {name: np.ascontiguousarray(array, np.float32) for name, array in parameters.items()}
