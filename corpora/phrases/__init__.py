"""Phrases as tokens: found in a corpus or given, typed, listed in files, joined in encoded corpora."""

from typing import TYPE_CHECKING

from embeddings.lazy import getter

if TYPE_CHECKING:
    from embeddings.corpora.phrases.finding import Phrases as Phrases
    from embeddings.corpora.phrases.listed import Phrase as Phrase
    from embeddings.corpora.phrases.listed import PhraseList as PhraseList
    from embeddings.corpora.phrases.listed import read as read
    from embeddings.corpora.phrases.typed import Triple as Triple
    from embeddings.corpora.phrases.typed import triples as triples

__all__ = ["Phrase", "PhraseList", "Phrases", "Triple", "read", "triples"]
HOMES = {
    "Phrase": "embeddings.corpora.phrases.listed",
    "PhraseList": "embeddings.corpora.phrases.listed",
    "Phrases": "embeddings.corpora.phrases.finding",
    "Triple": "embeddings.corpora.phrases.typed",
    "read": "embeddings.corpora.phrases.listed",
    "triples": "embeddings.corpora.phrases.typed",
}
__getattr__ = getter(__name__, HOMES)  # who reads a list of phrases alone needs none of the kernels
