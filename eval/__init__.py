"""Judging vectors, whoever made them."""

from embeddings.eval.comparison import Comparison
from embeddings.eval.evaluation import evaluate
from embeddings.eval.results import Result
from embeddings.eval.suite import Suite, compare

__all__ = ["Comparison", "Result", "Suite", "compare", "evaluate"]
