"""Phrases as tokens: found in a corpus or given, typed, listed in files, joined in encoded corpora."""

from embeddings.corpora.phrases.finding import Phrases
from embeddings.corpora.phrases.listed import Phrase, PhraseList, read
from embeddings.corpora.phrases.typed import Triple, triples

__all__ = ["Phrase", "PhraseList", "Phrases", "Triple", "read", "triples"]
