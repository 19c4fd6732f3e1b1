"""Evidence from a corpus about vectors: occurrences and shared contexts of words, and how certain results are."""

from typing import TYPE_CHECKING

from embeddings.support.imports import lazy_getattr

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
    from embeddings.analysis.replicates import Replicates as Replicates
    from embeddings.analysis.replicates import stability as stability
    from embeddings.analysis.usage_change import compare_usage as compare_usage

MODULES = {  # imported on use: a concordance is printed without the imports of training
    name: f"embeddings.analysis.{module}"
    for module, names in {
        "confidence": "confident_analogy confident_difference confident_neighbours confident_similarity",
        "explanation": "explain",
        "induced_vectors": "ContextInducer ContextMap fit_context_map",
        "keyword_in_context": "concordance",
        "replicates": "Replicates stability",
        "usage_change": "compare_usage",
    }.items()
    for name in names.split()
}
__getattr__ = lazy_getattr(__name__, MODULES)
__all__ = list(MODULES)
