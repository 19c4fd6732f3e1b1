"""Evaluation of word, phrase and document vectors and of text classifiers, from any tool; imported on first use."""

from typing import TYPE_CHECKING

from embeddings.support.imports import lazy_getattr

if TYPE_CHECKING:
    from embeddings.eval.evaluation import Suite, compare, compare_scores, evaluate
    from embeddings.eval.statistics.results import Comparison, Result

__all__ = ["Comparison", "Result", "Suite", "compare", "compare_scores", "evaluate"]
MODULES = {
    **dict.fromkeys(__all__, "embeddings.eval.evaluation"),
    **dict.fromkeys(("Comparison", "Result"), "embeddings.eval.statistics.results"),
}

if not TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = lazy_getattr(__name__, MODULES)
