"""Raw text to encoded corpora: sources, tokenisers, one pass of interning, and a cache of the results."""

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded import EncodedCorpus

__all__ = ["Corpus", "EncodedCorpus"]
