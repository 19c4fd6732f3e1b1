"""Evaluation of word, phrase and document vectors and of text classifiers, from any tool."""

from embeddings.eval.classifier_evaluation import evaluate_classifier
from embeddings.eval.evaluation import compare, evaluate
from embeddings.eval.statistics.paired_tests import Comparison
from embeddings.eval.statistics.results import Result
from embeddings.eval.suite import Suite, compare_scores

__all__ = ["Comparison", "Result", "Suite", "compare", "compare_scores", "evaluate", "evaluate_classifier"]
