"""Fits all composition functions to the phrases of a vocabulary: to all phrases, and to each type with enough."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from embeddings.errors import CorpusError
from embeddings.plugins.tensor_indexing.blending import additive_scale, best_share, blend
from embeddings.plugins.tensor_indexing.fit_settings import CompositionSettings
from embeddings.plugins.tensor_indexing.function_fitter import MIXTURE, FunctionFitter, single_precision
from embeddings.plugins.tensor_indexing.functions import Parameters
from embeddings.plugins.tensor_indexing.gradient_descent import Epoch
from embeddings.plugins.tensor_indexing.linear_solvers import PhraseVectors
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY, DEV, TRAIN, Examples, split
from embeddings.vectors.vectors import Vectors

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
        functions[type][MIXTURE], shares[type] = blended(functions[type], train, dev, settings.additive_share)
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
    parameters, scale = functions[MIXTURE], additive_scale(train)
    if share is None:
        share = best_share(parameters, functions["full-additive"], scale, dev, train)
    return single_precision(blend(parameters, share, scale)), share
