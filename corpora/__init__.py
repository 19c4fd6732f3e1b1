"""From raw text to encoded corpora: sources, tokenizers, a one-pass encoder, phrases, and a cache of the results."""

from typing import TYPE_CHECKING

from embeddings.support.imports import lazy_getattr

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus as Corpus
    from embeddings.corpora.encoded_corpus import EncodedCorpus as EncodedCorpus

MODULES = {"Corpus": "embeddings.corpora.corpus", "EncodedCorpus": "embeddings.corpora.encoded_corpus"}
__getattr__ = lazy_getattr(__name__, MODULES)
