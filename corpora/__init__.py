"""Raw text to encoded corpora: sources, tokenisers, one pass of interning, and a cache of the results."""

from typing import TYPE_CHECKING

from embeddings.support.lazy_imports import getter

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus as Corpus
    from embeddings.corpora.encoded_corpus import EncodedCorpus as EncodedCorpus

HOMES = {"Corpus": "embeddings.corpora.corpus", "EncodedCorpus": "embeddings.corpora.encoded_corpus"}
__getattr__ = getter(__name__, HOMES)  # who reads compressed vectors alone needs none of it
