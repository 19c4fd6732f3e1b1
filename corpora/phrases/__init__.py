"""Phrases as tokens: detection, types, lists in files, and joining in encoded corpora."""

from typing import TYPE_CHECKING

from embeddings.corpora.phrases.phrase import Phrase
from embeddings.corpora.phrases.phrase_list import PhraseList, read_phrases
from embeddings.corpora.phrases.pos_types import Triple, triples
from embeddings.support.imports import lazy_getattr

if TYPE_CHECKING:
    from embeddings.corpora.phrases.detection import Phrases

__all__ = ["Phrase", "PhraseList", "Phrases", "Triple", "read_phrases", "triples"]
__getattr__ = lazy_getattr(__name__, {"Phrases": "embeddings.corpora.phrases.detection"})  # which imports kernels
