"""Fits all composition functions of one type of phrase, each from the best start that a simpler one gives."""

from math import isfinite

import numpy as np

from embeddings.plugins.tensor_indexing.cross_products import Products, low_rank, solve_products
from embeddings.plugins.tensor_indexing.fit_settings import CompositionSettings
from embeddings.plugins.tensor_indexing.functions import (
    FullTensor,
    LearnedFunction,
    NeuralTensor,
    Parameters,
    TensorIndexing,
)
from embeddings.plugins.tensor_indexing.gradient_descent import FIXED, ReportEpoch, descend, relative_error
from embeddings.plugins.tensor_indexing.linear_solvers import (
    PhraseVectors,
    solve_features,
    solve_matrices,
    solve_ridge,
    solve_weights,
)

Curve = list[list[float | None]]
MIXTURE = "tensor-additive"  # tensor indexing without the identity, interpolated with the additive function
NEURAL_SCALES = (0.25, 0.5, 1.0)  # of the arguments of tanh at the start; with the first, it is nearly linear


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
        """The parameters of every function; sets `curves` and `penalties`. `MIXTURE` is not interpolated yet."""
        settings, pooled = self.settings, self.pooled_functions
        linear, self.penalties["full-additive"] = solve_matrices(self.train, self.dev, pooled.get("full-additive"))
        full_additive = {**linear, FIXED: np.zeros(2)}
        functions = {"weighted-additive": {"weights": solve_weights(self.train)}, "full-additive": full_additive}
        if settings.pair_features:
            functions["pair-features"] = self.fit_pair_features(linear)
        start, products = ({}, None) if pooled else self.start(full_additive)
        functions[MIXTURE] = self.learn(MIXTURE, TensorIndexing(), start)
        if settings.identity == "none":
            functions["tensor-indexing"], self.curves["tensor-indexing"] = functions[MIXTURE], self.curves[MIXTURE]
        else:
            start = {} if pooled else self.start({**linear, FIXED: self.identity_weights})[0]
            functions["tensor-indexing"] = self.learn("tensor-indexing", TensorIndexing(), start)
        if settings.neural_tensor:
            functions["neural-tensor"] = self.learn_neural(functions[MIXTURE])
        if settings.full_tensor:
            dim = self.train.x.shape[1]
            zero = np.zeros((1, dim, dim))
            start = {} if products is None else {"left": zero, "right": zero, "tensor": products.tensor()}
            functions["full-tensor"] = self.learn("full-tensor", FullTensor(), start)
        return {name: single_precision(parameters) for name, parameters in functions.items()}

    @property
    def identity_weights(self) -> np.ndarray:
        """The weights of both readings of the identity, for scaled vectors."""
        return np.array([self.settings.identity == name for name in ("elementwise", "literal")]) * self.scale

    def start(self, linear: Parameters) -> tuple[Parameters, Products]:
        """The start of tensor functions: products fitted to the residuals of a linear function, cut to the rank."""
        dim = self.train.x.shape[1]
        train, dev = self.residuals(TensorIndexing(), linear)
        products, self.penalties["products"] = solve_products(train, dev, self.rng)
        left, right = low_rank(products, self.settings.rank_for(dim))
        zero = np.zeros((1, dim, dim))
        return {"left": np.vstack([zero, left]), "right": np.vstack([zero, right]), FIXED: linear[FIXED]}, products

    def residuals(self, function: LearnedFunction, parameters: Parameters) -> list[PhraseVectors]:
        """Train and dev with the residuals of a function as targets."""
        parts = self.train, self.dev
        return [part._replace(z=part.z - function.predict(parameters, part.x, part.y)) for part in parts]

    def fit_pair_features(self, linear: Parameters) -> Parameters:
        """Ridge regression on words and pair features, towards the pooled function or full additive composition."""
        pooled = self.pooled_functions.get("pair-features")
        dim = self.train.x.shape[1]
        centre = (
            rescale(pooled, self.scale)
            if pooled
            else {**linear, **dict.fromkeys(("difference", "product"), np.zeros((dim, dim)))}
        )
        parameters, self.penalties["pair-features"] = solve_features(self.train, self.dev, centre)
        return rescale(parameters, 1 / self.scale)

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
        return self.descend(name, function, start)

    def learn_neural(self, tensor: Parameters) -> Parameters:
        """The neural tensor function learned from the pooled one, or from a tensor function in the original scale."""
        pooled, dim = self.pooled_functions.get("neural-tensor"), self.train.x.shape[1]
        if pooled:
            return self.descend("neural-tensor", NeuralTensor(), rescale(pooled, self.scale))
        starts = []
        for factor in NEURAL_SCALES:
            start = rescale(tensor, self.scale)
            start["left"] *= factor
            start["right"][0] *= factor
            start |= {"output": np.eye(dim), "bias": np.zeros(dim)}
            hidden, dev_hidden = (
                NeuralTensor().predict(start, part.x, part.y).astype(np.float64) for part in (self.train, self.dev)
            )
            start["output"], _ = solve_ridge(hidden, self.train.z, dev_hidden, self.dev.z, np.eye(dim) / factor)
            starts.append((relative_error(NeuralTensor(), start, self.dev), factor, start))
        return self.descend("neural-tensor", NeuralTensor(), min(starts, key=lambda one: one[:2])[2])

    def descend(self, name: str, function: LearnedFunction, start: Parameters) -> Parameters:
        """The function learned by gradient descent, in the original scale."""
        start = single_precision(start)
        best, epochs = descend(function, start, self.train, self.dev, self.settings, self.rng, self.report)
        self.curves[name] = [[None if value is None or not isfinite(value) else value for value in e] for e in epochs]
        return rescale(best, 1 / self.scale)


def rescale(parameters: Parameters, scale: float) -> Parameters:
    """The same function of vectors divided by `scale`: parameters of products are multiplied by it."""
    copy = {name: array.astype(np.float64) for name, array in parameters.items()}
    copy["left"][1:] *= scale
    for name in {FIXED, "tensor", "product"} & set(copy):
        copy[name] *= scale
    if "output" in copy:  # tanh has arguments of its own scale
        copy["left"] *= scale
        copy["right"][0] *= scale
        copy[FIXED] *= scale
        copy["output"] /= scale
    return copy


def single_precision(parameters: Parameters) -> Parameters:
    """Contiguous float32 copies."""
    return {name: np.ascontiguousarray(array, np.float32) for name, array in parameters.items()}
