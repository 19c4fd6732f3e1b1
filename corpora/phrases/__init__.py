"""Phrases as tokens: found in a corpus or given, typed, listed in files, joined in encoded corpora."""

from typing import TYPE_CHECKING

from embeddings.support.lazy_imports import getter

if TYPE_CHECKING:
    from embeddings.corpora.phrases.detection import Phrases as Phrases
    from embeddings.corpora.phrases.phrase_list import Phrase as Phrase
    from embeddings.corpora.phrases.phrase_list import PhraseList as PhraseList
    from embeddings.corpora.phrases.phrase_list import read as read
    from embeddings.corpora.phrases.pos_types import Triple as Triple
    from embeddings.corpora.phrases.pos_types import triples as triples

__all__ = ["Phrase", "PhraseList", "Phrases", "Triple", "read", "triples"]
HOMES = {
    "Phrase": "embeddings.corpora.phrases.phrase_list",
    "PhraseList": "embeddings.corpora.phrases.phrase_list",
    "Phrases": "embeddings.corpora.phrases.detection",
    "Triple": "embeddings.corpora.phrases.pos_types",
    "read": "embeddings.corpora.phrases.phrase_list",
    "triples": "embeddings.corpora.phrases.pos_types",
}
__getattr__ = getter(__name__, HOMES)  # who reads a list of phrases alone needs none of the kernels
