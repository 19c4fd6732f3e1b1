"""Judging vectors, whoever made them."""

from embeddings.eval.evaluation import evaluate
from embeddings.eval.results import Result

__all__ = ["Result", "evaluate"]
