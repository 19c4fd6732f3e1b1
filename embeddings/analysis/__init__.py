"""What a corpus says about vectors: occurrences of words, and the contexts that two words share."""

from embeddings.analysis.explanation import explain
from embeddings.analysis.keyword_in_context import concordance

__all__ = ["concordance", "explain"]
