"""Evaluation of word, phrase and document vectors and of text classifiers, from any tool."""

from embeddings.eval.evaluation import Suite, compare, compare_scores, evaluate, evaluate_classifier
from embeddings.eval.statistics.results import Comparison, Result

__all__ = ["Comparison", "Result", "Suite", "compare", "compare_scores", "evaluate", "evaluate_classifier"]
