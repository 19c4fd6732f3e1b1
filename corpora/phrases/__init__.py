"""Phrases as tokens: detection, types, lists in files, and joining in encoded corpora."""

from typing import TYPE_CHECKING

from embeddings.support.lazy_imports import lazy_getattr

if TYPE_CHECKING:
    from embeddings.corpora.phrases.detection import Phrases as Phrases
    from embeddings.corpora.phrases.phrase import Phrase as Phrase
    from embeddings.corpora.phrases.phrase_list import PhraseList as PhraseList
    from embeddings.corpora.phrases.phrase_list import read_phrases as read_phrases
    from embeddings.corpora.phrases.pos_types import Triple as Triple
    from embeddings.corpora.phrases.pos_types import triples as triples

__all__ = ["Phrase", "PhraseList", "Phrases", "Triple", "read_phrases", "triples"]
MODULES = {
    "Phrase": "embeddings.corpora.phrases.phrase",
    "PhraseList": "embeddings.corpora.phrases.phrase_list",
    "Phrases": "embeddings.corpora.phrases.detection",
    "Triple": "embeddings.corpora.phrases.pos_types",
    "read_phrases": "embeddings.corpora.phrases.phrase_list",
    "triples": "embeddings.corpora.phrases.pos_types",
}
__getattr__ = lazy_getattr(__name__, MODULES)  # reading a phrase list does not import the kernels
