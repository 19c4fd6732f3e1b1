"""Evaluation of word, phrase and document vectors and of text classifiers, from any tool."""

from embeddings.eval.evaluation import compare, evaluate, evaluate_classifier
from embeddings.eval.statistics.results import Comparison, Result
from embeddings.eval.suite import Suite, compare_scores

__all__ = ["Comparison", "Result", "Suite", "compare", "compare_scores", "evaluate", "evaluate_classifier"]
