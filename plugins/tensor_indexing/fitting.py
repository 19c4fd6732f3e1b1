"""Fits composition functions to all phrases of a vocabulary, and to each type with enough phrases.

The squared error is least for the expected vector, which is short in directions that two words predict poorly; but
these directions distinguish phrases, so the true phrase ranks below more common ones. x + y keeps them: a share of it
costs little squared error and greatly improves ranks.

A type has too few phrases to regress on dim x dim products directly. In terms of the phrases themselves
W_i = sum over phrases n of c_ni x_n y_n', and x'W_i y = sum over n of c_ni (x_n'x)(y_n'y), so a (phrases, phrases)
system is solved, whatever dim is (Saunders, Gammerman and Vovk 1998, equation 8).

Then mini-batch gradient descent by Adam (Kingma and Ba 2015) stops early by held-out phrases.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from embeddings.errors import CorpusError, S
from embeddings.plugins.tensor_indexing.composer import EXAMPLES
from embeddings.plugins.tensor_indexing.composition_settings import DEFAULT_RANK, CompositionSettings
from embeddings.plugins.tensor_indexing.functions import (
    Parameters,
    PhraseVectors,
    solve_matrices,
    solve_weights,
    tensor_indexing,
    tensor_indexing_gradient,
)
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY, DEV, TRAIN, Examples, split
from embeddings.settings import check_value
from embeddings.support.cosine import normalize, row_blocks
from embeddings.support.imports import import_library
from embeddings.vectors.vectors import Vectors

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
FIXED = "identity"  # a parameter that is not learned
MIN_GAIN = 1e-4  # relative gain on the best dev error below which an epoch counts as none


class Epoch(NamedTuple):
    """Mean squared errors over the targets' mean square of train (during the epoch) and dev; the learning rate."""

    train: float | None
    dev: float
    learning_rate: float


ReportEpoch = Callable[[int, Epoch], None]


def descend(
    start: Parameters,
    train: PhraseVectors,
    dev: PhraseVectors,
    settings: CompositionSettings,
    rng: np.random.Generator,
    report: ReportEpoch | None = None,
) -> tuple[Parameters, list[Epoch]]:
    """Fit tensor indexing; returns the parameters with the least error on `dev` and all epochs, first the start.

    After each epoch that gains less than `MIN_GAIN`, the best parameters are restored and the learning rate is halved;
    an epoch that overflows gains nothing.
    """
    adam = Adam({name: array for name, array in start.items() if name != FIXED}, settings.penalty)
    current, best = deepcopy(start), start
    epochs = [Epoch(None, relative_error(best, dev), settings.fit_learning_rate)]
    least, rate, failures = epochs[0].dev, settings.fit_learning_rate, 0
    while len(epochs) <= settings.fit_epochs and failures < settings.patience:
        order, total = rng.permutation(len(train.x)), 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, len(order), settings.fit_batch):
                x, y, z = (rows[order[first : first + settings.fit_batch]] for rows in train)
                error, gradient = tensor_indexing_gradient(current, x, y, z)
                total += float(np.vdot(error, error))
                adam.step(current, gradient, rate)
            epochs.append(Epoch(total / sum_of_squares(train.z), relative_error(current, dev), rate))
        has_gained = epochs[-1].dev < least * (1 - MIN_GAIN)
        if epochs[-1].dev < least:
            least, best = epochs[-1].dev, deepcopy(current)
        failures = 0 if has_gained else failures + 1
        if failures:
            current, rate = deepcopy(best), rate / 2
            adam.reset()
        if report:
            report(len(epochs) - 1, epochs[-1])
    return best, epochs


def relative_error(parameters: Parameters, phrases: PhraseVectors) -> float:
    """The squared error divided by the squared length of the targets; NaN after an overflow."""
    total = 0.0
    for rows in row_blocks(len(phrases.x), phrases.x.shape[1] ** 2):
        predictions = tensor_indexing(parameters, phrases.x[rows], phrases.y[rows])
        error = (predictions - phrases.z[rows]).astype(np.float64)
        total += float(np.vdot(error, error))
    return total / sum_of_squares(phrases.z)


def sum_of_squares(rows: np.ndarray) -> float:
    """The sum of squares, but at least the smallest positive float32."""
    return max(float(np.vdot(rows, rows)), float(np.finfo(np.float32).tiny))


class Adam:
    """Adam (Kingma and Ba 2015, algorithm 1) with a penalty on the distance from `centre`.

    g += penalty * (p - centre), m += (1 - b1) (g - m), v += (1 - b2) (g^2 - v),
    p -= rate * sqrt(1 - b2^t) / (1 - b1^t) * m / (sqrt(v) + epsilon).
    """

    def __init__(self, centre: Parameters, penalty: float) -> None:
        self.centre, self.penalty = centre, penalty
        self.reset()

    def reset(self) -> None:
        """Forget past gradients."""
        self.steps = 0
        self.means, self.squares = ({name: np.zeros_like(a) for name, a in self.centre.items()} for _ in range(2))

    def step(self, parameters: Parameters, gradient: Parameters, rate: float) -> None:
        """Update the parameters in place."""
        self.steps += 1
        size = rate * math.sqrt(1 - BETA2**self.steps) / (1 - BETA1**self.steps)
        for name, slope in gradient.items():
            slope += self.penalty * (parameters[name] - self.centre[name])
            mean, square = self.means[name], self.squares[name]
            mean += (1 - BETA1) * (slope - mean)
            square += (1 - BETA2) * (slope * slope - square)
            parameters[name] -= size * mean / (np.sqrt(square) + EPSILON)


SHARES = np.arange(21) / 20

PENALTIES = np.logspace(1, -2.5, 8)  # tried on held-out phrases while they gain, in units of the mean of (x'x)(y'y)
MAX_PHRASES = 8000  # their matrix has 256 MB, and is solved in seconds

Curve = list[list[float | None]]
MIXTURE = "tensor-additive"  # tensor indexing without the identity, interpolated with the additive function

ReportFit = Callable[[str, int, Epoch], None]  # called with the type, the number of the epoch, and the epoch


def cosine_ranks(composition: np.ndarray, true: np.ndarray, phrases: np.ndarray) -> np.ndarray:
    """The rank (n,) of each true vector among all phrases by cosine with the composed vector, 1 for the nearest."""
    composition, true, phrases = (normalize(rows) for rows in (composition, true, phrases))
    ranks = np.empty(len(composition))
    for part in row_blocks(len(composition), len(phrases), itemsize=16):
        own = (composition[part] * true[part]).sum(axis=1)
        ranks[part] = 1 + (composition[part] @ phrases.T > own[:, None] + 1e-12).sum(axis=1)
    return ranks


def blend(parameters: Parameters, share: float, scale: float) -> Parameters:
    """The parameters of (1 - share) times tensor indexing plus share times scale (x + y)."""
    blended = {name: array.copy() for name, array in parameters.items()}
    blended["left"] *= 1 - share
    blended["right"][0] *= 1 - share
    blended[FIXED] *= 1 - share
    diagonal = np.arange(blended["left"].shape[1])
    for side in ("left", "right"):
        blended[side][0, diagonal, diagonal] += share * scale
    return blended


def additive_scale(phrases: PhraseVectors) -> float:
    """The scale a = (x + y)·z / (x + y)·(x + y), for which a (x + y) is nearest to z."""
    sums = (phrases.x + phrases.y).astype(np.float64)
    return float(np.vdot(sums, phrases.z) / (np.vdot(sums, sums) or 1.0))


def best_share(
    parameters: Parameters, linear: Parameters, scale: float, dev: PhraseVectors, train: PhraseVectors
) -> float:
    """The share among `SHARES` with the best mean reciprocal rank of `dev` among all phrases of both parts.

    Eligible are shares whose squared error on dev is below that of full additive composition (parameters `linear`) by
    the standard error of the difference, so that few phrases allow less (the one-standard-error rule: Breiman,
    Friedman, Olshen and Stone 1984, section 3.4.3). If there is none, the share with the least error is returned.
    """
    fitted, additive = tensor_indexing(parameters, dev.x, dev.y), np.float32(scale) * (dev.x + dev.y)
    blends = [np.float32(1 - share) * fitted + np.float32(share) * additive for share in SHARES]
    errors = np.array([squared_errors(blended, dev.z) for blended in blends])
    losses = errors - squared_errors(tensor_indexing(linear, dev.x, dev.y), dev.z)
    candidates = np.flatnonzero(losses.mean(axis=1) + losses.std(axis=1) / np.sqrt(len(dev.z)) < 0)
    if not len(candidates):
        return float(SHARES[np.argmin(errors.mean(axis=1))])
    phrases = np.concatenate([dev.z, train.z])
    gains = [float((1 / cosine_ranks(blends[place], dev.z, phrases)).mean()) for place in candidates]
    return float(SHARES[candidates[int(np.argmax(gains))]])


def squared_errors(composition: np.ndarray, true: np.ndarray) -> np.ndarray:
    """The squared length of each row's difference, (phrases,) float64."""
    return np.asarray(np.square(composition - true, dtype=np.float64).sum(axis=1))


class Products(NamedTuple):
    """A tensor in terms of phrases: vectors of first and second words, and weights c, each (phrases, dim)."""

    x: np.ndarray
    y: np.ndarray
    weights: np.ndarray

    def matrix(self, i: int) -> np.ndarray:
        """W_i, (dim, dim) float64."""
        return np.asarray((self.x * self.weights[:, i : i + 1]).T.astype(np.float64) @ self.y)


def solve_products(train: PhraseVectors, dev: PhraseVectors, rng: np.random.Generator) -> tuple[Products, float]:
    """Fit the tensor W so that x'W_i y is nearest to z_i; returns W and the penalty with the least `dev` error."""
    linalg = import_library("scipy.linalg")
    if len(train.x) > MAX_PHRASES:
        sample = rng.permutation(len(train.x))[:MAX_PHRASES]
        train = PhraseVectors(*(rows[sample] for rows in train))
    scales = [float(np.sqrt(np.mean(np.square(rows, dtype=np.float64)))) or 1.0 for rows in train[:2]]
    (x, y), (dev_x, dev_y) = (
        [np.asarray(rows / scale, np.float32) for rows, scale in zip(part[:2], scales, strict=True)]
        for part in (train, dev)
    )
    gram, dev_gram = x @ x.T, dev_x @ x.T  # then (x_n'x_m)(y_n'y_m), the products of outer products
    gram *= y @ y.T
    dev_gram *= dev_y @ y.T
    mean = np.diag(gram).mean() or np.float32(1)
    best, least, best_penalty = np.zeros(train.z.shape, np.float32), np.inf, float(PENALTIES[0])
    for penalty in PENALTIES:
        penalised, weights = gram.copy(), np.zeros(train.z.shape, np.float32)
        np.fill_diagonal(penalised, np.diag(gram) + np.float32(penalty) * mean)
        with suppress(linalg.LinAlgError):  # where the system is numerically singular, weights are zero
            factor = linalg.cho_factor(penalised, overwrite_a=True, check_finite=False)
            weights = np.asarray(linalg.cho_solve(factor, train.z, check_finite=False), np.float32)
        error = float(np.square(dev_gram @ weights - dev.z, dtype=np.float64).sum())
        if not error < least:
            break
        best, least, best_penalty = weights, error, float(penalty)
    first, second = (rows / np.float32(scale) for rows, scale in zip((x, y), scales, strict=True))
    return Products(first, second, best), best_penalty


def low_rank(products: Products, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """The U and V of tensor indexing (rank, dim, dim) whose U'V is nearest to W_i (Eckart and Young 1936)."""
    dim = products.x.shape[1]
    left, right = np.empty((2, rank, dim, dim))
    for i in range(dim):
        u, values, v = np.linalg.svd(products.matrix(i))
        roots = np.sqrt(values[:rank, None])
        left[:, i], right[:, i] = roots * u.T[:rank], roots * v[:rank]
    return left, right


class FunctionFitter:
    """Fits the composition functions of one type of phrases.

    Vectors are divided by the root mean square of the targets' components, so that learning rates and penalties do not
    depend on the vectors' scale; parameters are returned in the original scale.

    Arguments:
        pooled_functions: the functions of all types together, from which the functions of a type start; empty when
            all types are fitted.
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
        """The parameters of every function; sets `curves` and `penalties`. `MIXTURE` is not interpolated yet."""
        settings, pooled = self.settings, self.pooled_functions
        linear, self.penalties["full-additive"] = solve_matrices(self.train, self.dev, pooled.get("full-additive"))
        full_additive = {**linear, FIXED: np.zeros(2)}
        functions = {"weighted-additive": {"weights": solve_weights(self.train)}, "full-additive": full_additive}
        functions[MIXTURE] = self.learn(MIXTURE, {} if pooled else self.start(full_additive))
        if settings.identity == "none":
            functions["tensor-indexing"], self.curves["tensor-indexing"] = functions[MIXTURE], self.curves[MIXTURE]
        else:
            weights = np.array([settings.identity == name for name in ("elementwise", "literal")]) * self.scale
            start = {} if pooled else self.start({**linear, FIXED: weights})
            functions["tensor-indexing"] = self.learn("tensor-indexing", start)
        return {name: single_precision(parameters) for name, parameters in functions.items()}

    def start(self, linear: Parameters) -> Parameters:
        """The start of tensor indexing: products fitted to the residuals of a linear function, cut to the rank."""
        dim = self.train.x.shape[1]
        train, dev = self.residuals(linear)
        products, self.penalties["products"] = solve_products(train, dev, self.rng)
        rank = min(DEFAULT_RANK, dim) if self.settings.rank is None else self.settings.rank
        left, right = low_rank(products, rank)
        zero = np.zeros((1, dim, dim))
        return {"left": np.vstack([zero, left]), "right": np.vstack([zero, right]), FIXED: linear[FIXED]}

    def residuals(self, parameters: Parameters) -> list[PhraseVectors]:
        """Train and dev with the residuals of tensor indexing as targets."""
        parts = self.train, self.dev
        return [part._replace(z=part.z - tensor_indexing(parameters, part.x, part.y)) for part in parts]

    def learn(self, name: str, start: Parameters) -> Parameters:
        """Learn a function by gradient descent, from the pooled one or else from `start`; in the original scale."""
        pooled_functions = self.pooled_functions.get(name)
        start = rescale(pooled_functions, self.scale) if pooled_functions else start
        others = start | {
            side: np.concatenate([np.zeros_like(start[side][:1]), start[side][1:]]) for side in ("left", "right")
        }
        train, dev = self.residuals(others)
        # M and N start where they work best with the other parameters: ridge regression on what these leave
        linear, self.penalties[name] = solve_matrices(train, dev, pooled_functions)
        for side, matrix in linear.items():
            start[side] = np.concatenate([matrix, start[side][1:]])
        best, epochs = descend(single_precision(start), self.train, self.dev, self.settings, self.rng, self.report)
        self.curves[name] = [
            [None if value is None or not math.isfinite(value) else value for value in e] for e in epochs
        ]
        return rescale(best, 1 / self.scale)


def rescale(parameters: Parameters, scale: float) -> Parameters:
    """Parameters of the function for vectors divided by `scale`; parameters of products are multiplied by `scale`."""
    copy = {name: array.astype(np.float64) for name, array in parameters.items()}
    copy["left"][1:] *= scale
    copy[FIXED] *= scale
    return copy


def single_precision(parameters: Parameters) -> Parameters:
    """Contiguous float32 copies."""
    return {name: np.ascontiguousarray(array, np.float32) for name, array in parameters.items()}


def fit(
    vectors: Vectors, examples: Examples, settings: CompositionSettings, *, seed: int, report: ReportFit | None = None
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Fit functions to all phrases together, and to each type with enough phrases.

    Returns the tables, parameters as "type/function/parameter" and the examples with their parts as `EXAMPLES`, and the
    training record.
    """
    check_value("rank", settings.rank, int | None, {"le": vectors.dim})
    parts, fitted_types, small_types = check_enough(examples, settings, seed)
    tables = {EXAMPLES: np.hstack([examples.rows, parts[:, None]])}
    curves, penalties, shares = {}, {}, {}
    pooled_functions: dict[str, Parameters] = {}
    for type in fitted_types:
        members = examples.of_type(type)
        members_by_part = (examples.rows[members & (parts == part), 1:] for part in (TRAIN, DEV))
        train, dev = (PhraseVectors(*(vectors.matrix[rows] for rows in part.T)) for part in members_by_part)
        fitter = FunctionFitter(train, dev, settings, seed, partial(report, type) if report else None, pooled_functions)
        functions = fitter.fit()
        pooled_functions = pooled_functions or dict(functions)
        mixture, linear, scale = functions[MIXTURE], functions["full-additive"], additive_scale(train)
        share = settings.additive_share
        shares[type] = best_share(mixture, linear, scale, dev, train) if share is None else share
        functions[MIXTURE] = single_precision(blend(mixture, shares[type], scale))
        for function, parameters in functions.items():
            tables |= {f"{type}/{function}/{name}": array for name, array in parameters.items()}
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
    return tables, record


def check_enough(
    examples: Examples, settings: CompositionSettings, seed: int
) -> tuple[np.ndarray, list[str], dict[str, int]]:
    """The part of each example, the types that get functions (`ANY` first), and the phrase counts of other types."""
    parts, min_phrases = split(examples.rows[:, 3], settings.held_out, seed), settings.min_phrases
    types = [ANY, *(type for type in examples.types if type != ANY)]
    counts = {type: int(examples.of_type(type).sum()) for type in types}
    fitted = []
    for type in types:
        own_parts = parts[examples.of_type(type)]
        if counts[type] >= min_phrases and (own_parts == TRAIN).sum() >= 2 and (own_parts == DEV).any():
            fitted.append(type)
    if ANY not in fitted and (counts[ANY] or min_phrases):  # min_phrases=0 allows no phrases at all
        left_out = f" ({examples.left_out} more lack a vector or repeat others)" if examples.left_out else ""
        required = f"{S.min_phrases(min_phrases)} and {S.held_out(settings.held_out)} require more phrases"
        raise CorpusError(f"{required} to learn from and to hold out, got {counts[ANY]}{left_out}")
    return parts, fitted, {type: count for type, count in counts.items() if type not in fitted}
