"""Evidence from a corpus about vectors: occurrences and shared contexts of words, and how certain results are."""

from typing import TYPE_CHECKING

from embeddings.support.imports import lazy_package

if TYPE_CHECKING:
    from embeddings.analysis.confidence import confident_analogy as confident_analogy
    from embeddings.analysis.confidence import confident_difference as confident_difference
    from embeddings.analysis.confidence import confident_neighbours as confident_neighbours
    from embeddings.analysis.confidence import confident_similarity as confident_similarity
    from embeddings.analysis.explanation import explain as explain
    from embeddings.analysis.induced_vectors import ContextInducer as ContextInducer
    from embeddings.analysis.induced_vectors import ContextMap as ContextMap
    from embeddings.analysis.induced_vectors import fit_context_map as fit_context_map
    from embeddings.analysis.keyword_in_context import concordance as concordance
    from embeddings.analysis.stability_runs import StabilityRuns as StabilityRuns
    from embeddings.analysis.stability_runs import stability as stability
    from embeddings.analysis.usage_change import compare_usage as compare_usage
    from embeddings.text_search.similar_texts import similar_pairs as similar_pairs

if not TYPE_CHECKING:  # so that type checkers report unknown names
    MODULES, __getattr__, __dir__ = lazy_package(__name__, {
        "analysis.confidence": "confident_analogy confident_difference confident_neighbours confident_similarity",
        "analysis.explanation": "explain",
        "analysis.induced_vectors": "ContextInducer ContextMap fit_context_map",
        "analysis.keyword_in_context": "concordance",
        "analysis.stability_runs": "StabilityRuns stability",
        "analysis.usage_change": "compare_usage",
        "text_search.similar_texts": "similar_pairs",
    })  # fmt: skip
