"""Fits all composition functions to the phrases of a vocabulary: to all phrases, and to each type with enough."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from embeddings.errors import CorpusError
from embeddings.plugins.tensor_indexing.blending import additive_scale, best_share, blend
from embeddings.plugins.tensor_indexing.cross_products import low_rank, solve_products
from embeddings.plugins.tensor_indexing.fit_settings import CompositionSettings
from embeddings.plugins.tensor_indexing.functions import FullTensor, LearnedFunction, Parameters, TensorIndexing
from embeddings.plugins.tensor_indexing.gradient_descent import FIXED, Epoch, ReportEpoch, descend
from embeddings.plugins.tensor_indexing.linear_solvers import PhraseVectors, solve_matrices, solve_weights
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY, DEV, TRAIN, Examples, split
from embeddings.vectors.vectors import Vectors

Curve = list[list[float | None]]
ReportFit = Callable[[str, int, Epoch], None]  # called with the type, the number of the epoch, and the epoch


@dataclass(frozen=True)
class FitResult:
    """Parameters by type and function, the examples with the part of each, and the training record."""

    functions: dict[str, dict[str, Parameters]]
    examples: Examples
    parts: np.ndarray
    record: dict[str, Any]


def fit(
    vectors: Vectors, examples: Examples, settings: CompositionSettings, *, seed: int, report: ReportFit | None = None
) -> FitResult:
    """Fit the functions of each type with enough phrases, and of all phrases together."""
    settings.check_dim(vectors.dim)
    parts, fitted_types, small_types = check_enough(examples, settings, seed)
    functions: dict[str, dict[str, Parameters]] = {}
    curves, penalties, shares = {}, {}, {}
    pooled_functions: dict[str, Parameters] = {}
    for type in fitted_types:
        members = examples.of_type(type)
        members_by_part = (examples.rows[members & (parts == part), 1:] for part in (TRAIN, DEV))
        train, dev = (PhraseVectors(*(vectors.matrix[rows] for rows in part.T)) for part in members_by_part)
        fitter = FunctionFitter(train, dev, settings, seed, partial(report, type) if report else None, pooled_functions)
        functions[type] = fitter.fit()
        pooled_functions = pooled_functions or dict(functions[type])
        functions[type]["tensor-indexing"], shares[type] = blended(functions[type], train, dev, settings.additive_share)
        curves[type], penalties[type] = fitter.curves, fitter.penalties
    notes = []
    if examples.left_out:
        notes.append(f"{examples.left_out} phrases left out: no vector, or the words of a more frequent phrase")
    for type, count in small_types.items():
        enough = count >= settings.min_phrases
        reason = "none is held out for early stopping" if enough else f"min_phrases is {settings.min_phrases}"
        notes.append(f"{type}: no functions of its own for {count} phrases: {reason}")
    record = {
        "types": examples.types,
        "phrases": {type: int(examples.of_type(type).sum()) for type in fitted_types},
        "curve": curves,
        "ridge_penalty": penalties,
        "additive_share": shares,
        "notes": notes,
    }
    return FitResult(functions, examples, parts, record)


def check_enough(
    examples: Examples, settings: CompositionSettings, seed: int
) -> tuple[np.ndarray, list[str], dict[str, int]]:
    """The part of each example, the types that get functions (`ANY` first), and the phrases of each other type."""
    parts, min_phrases = split(examples.rows[:, 3], settings.held_out, seed), settings.min_phrases
    types = [ANY, *(type for type in examples.types if type != ANY)]
    counts = {type: int(examples.of_type(type).sum()) for type in types}
    fitted = []
    for type in types:
        own_parts = parts[examples.of_type(type)]
        if counts[type] >= min_phrases and (own_parts == TRAIN).sum() >= 2 and (own_parts == DEV).any():
            fitted.append(type)
    if counts[ANY] < min_phrases:
        left_out = f" ({examples.left_out} more lack a vector or repeat others)" if examples.left_out else ""
        raise CorpusError(f"at least {min_phrases} phrases are required (min_phrases), got {counts[ANY]}{left_out}")
    if counts[ANY] and ANY not in fitted:  # min_phrases=0 allows no phrases at all
        raise CorpusError(f"held_out={settings.held_out} of {counts[ANY]} phrases leaves none for training or dev")
    return parts, fitted, {type: count for type, count in counts.items() if type not in fitted}


def blended(
    functions: dict[str, Parameters], train: PhraseVectors, dev: PhraseVectors, share: float | None
) -> tuple[Parameters, float]:
    """Tensor indexing interpolated with the additive function, and the share: as set, or the best on dev."""
    parameters, scale = functions["tensor-indexing"], additive_scale(train)
    if share is None:
        share = best_share(parameters, functions["full-additive"], scale, dev, train)
    return single_precision(blend(parameters, share, scale)), share


class FunctionFitter:
    """Fits the functions of one type.

    Vectors are divided by the root mean square of the targets' components, so that learning rates and penalties do not
    depend on the vectors' scale; parameters are returned in the original scale.

    Arguments:
        pooled: the functions of all types together, from which those of a type start; empty when fitting these.
    """

    def __init__(
        self,
        train: PhraseVectors,
        dev: PhraseVectors,
        settings: CompositionSettings,
        seed: int,
        report: ReportEpoch | None,
        pooled_functions: dict[str, Parameters],
    ) -> None:
        self.scale = float(np.sqrt(np.mean(np.square(train.z, dtype=np.float64)))) or 1.0
        divisor = np.float32(self.scale)
        self.train, self.dev = (PhraseVectors(*(rows / divisor for rows in part)) for part in (train, dev))
        self.settings, self.report, self.pooled_functions = settings, report, pooled_functions
        self.rng = np.random.default_rng(seed)
        self.curves: dict[str, Curve] = {}
        self.penalties: dict[str, float] = {}

    def fit(self) -> dict[str, Parameters]:
        """The parameters of every function; sets `curves` and `penalties`."""
        centre = self.pooled_functions.get("full-additive")
        linear, self.penalties["full-additive"] = solve_matrices(self.train, self.dev, centre)
        full_additive = {**linear, FIXED: np.zeros(2)}
        functions = {"weighted-additive": {"weights": solve_weights(self.train)}, "full-additive": full_additive}
        starts = {} if self.pooled_functions else self.starts(full_additive)
        learners: dict[str, LearnedFunction] = {"tensor-indexing": TensorIndexing()}
        if self.settings.full_tensor:
            learners["full-tensor"] = FullTensor()
        functions |= {name: self.learn(name, function, starts.get(name, {})) for name, function in learners.items()}
        return {name: single_precision(parameters) for name, parameters in functions.items()}

    def starts(self, linear: Parameters) -> dict[str, Parameters]:
        """The start of both tensor functions: products fitted to the residuals of full additive composition."""
        dim = self.train.x.shape[1]
        weights = np.array([self.settings.identity == name for name in ("elementwise", "literal")]) * self.scale
        train, dev = self.residuals(TensorIndexing(), {**linear, FIXED: weights})
        products, self.penalties["products"] = solve_products(train, dev, self.rng)
        left, right = low_rank(products, self.settings.rank_for(dim))
        zero = np.zeros((1, dim, dim))
        starts = {
            "tensor-indexing": {"left": np.vstack([zero, left]), "right": np.vstack([zero, right]), FIXED: weights}
        }
        if self.settings.full_tensor:
            starts["full-tensor"] = {"left": zero, "right": zero, "tensor": products.tensor()}
        return starts

    def residuals(self, function: LearnedFunction, parameters: Parameters) -> list[PhraseVectors]:
        """Train and dev with the residuals of a function as targets."""
        parts = self.train, self.dev
        return [part._replace(z=part.z - function.predict(parameters, part.x, part.y)) for part in parts]

    def learn(self, name: str, function: LearnedFunction, start: Parameters) -> Parameters:
        """The function learned from the pooled one, or without pooled ones from `start`."""
        pooled_functions = self.pooled_functions.get(name)
        start = rescale(pooled_functions, self.scale) if pooled_functions else start
        others = start | {
            side: np.concatenate([np.zeros_like(start[side][:1]), start[side][1:]]) for side in ("left", "right")
        }
        train, dev = self.residuals(function, others)
        # M and N start where they work best with the other parameters: ridge regression on what these leave
        linear, self.penalties[name] = solve_matrices(train, dev, pooled_functions)
        for side, matrix in linear.items():
            start[side] = np.concatenate([matrix, start[side][1:]])
        start = single_precision(start)
        best, epochs = descend(function, start, self.train, self.dev, self.settings, self.rng, self.report)
        self.curves[name] = [[None if value is None or not isfinite(value) else value for value in e] for e in epochs]
        return rescale(best, 1 / self.scale)


def rescale(parameters: Parameters, scale: float) -> Parameters:
    """The same function of vectors divided by `scale`: parameters of products are multiplied by it."""
    copy = {name: array.astype(np.float64) for name, array in parameters.items()}
    copy["left"][1:] *= scale
    for name in {FIXED, "tensor"} & set(copy):
        copy[name] *= scale
    return copy


def single_precision(parameters: Parameters) -> Parameters:
    """Contiguous float32 copies."""
    return {name: np.ascontiguousarray(array, np.float32) for name, array in parameters.items()}
