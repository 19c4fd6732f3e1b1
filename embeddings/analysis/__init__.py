"""What a corpus says about vectors: occurrences and shared contexts of words, and how certain results are."""

from embeddings.analysis.confidence import confident_neighbours, confident_similarity
from embeddings.analysis.context_map import ContextMap, fit_context_map
from embeddings.analysis.explanation import explain
from embeddings.analysis.induced_vectors import ContextInducer
from embeddings.analysis.keyword_in_context import concordance
from embeddings.analysis.replicates import Replicates, stability
from embeddings.analysis.usage_change import compare_usage

__all__ = [
    "ContextInducer",
    "ContextMap",
    "Replicates",
    "compare_usage",
    "concordance",
    "confident_neighbours",
    "confident_similarity",
    "explain",
    "fit_context_map",
    "stability",
]
