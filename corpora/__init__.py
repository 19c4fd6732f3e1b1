"""Raw text to encoded corpora: sources, tokenisers, one pass of interning, and a cache of the results."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus as Corpus
    from embeddings.corpora.encoded import EncodedCorpus as EncodedCorpus

HOMES = {"Corpus": "embeddings.corpora.corpus", "EncodedCorpus": "embeddings.corpora.encoded"}


def __getattr__(name: str) -> Any:  # who reads compressed vectors alone needs none of it
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
