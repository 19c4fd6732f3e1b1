"""From raw text to encoded corpora: sources, tokenizers, a one-pass encoder, phrases, and a cache of the results."""

from typing import TYPE_CHECKING

from embeddings.support.imports import lazy_package

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus as Corpus
    from embeddings.corpora.encoded_corpus import EncodedCorpus as EncodedCorpus
    from embeddings.corpora.phrases import PhraseList as PhraseList
    from embeddings.corpora.phrases import Phrases as Phrases
    from embeddings.corpora.random_walks import RandomWalks as RandomWalks
    from embeddings.corpora.reading.labelled_texts import LabelFormat as LabelFormat
    from embeddings.corpora.reading.text_pairs import PairFormat as PairFormat
    from embeddings.corpora.reading.text_vectors import VectorFormat as VectorFormat
    from embeddings.corpora.reading.text_vectors import text_vectors as text_vectors
    from embeddings.corpora.reading.word_contexts import ContextFormat as ContextFormat
    from embeddings.corpora.vocabulary import Vocabulary as Vocabulary

if not TYPE_CHECKING:  # so that type checkers report unknown names
    MODULES, __getattr__, __dir__ = lazy_package(__name__, {
        "corpora.corpus": "Corpus",
        "corpora.encoded_corpus": "EncodedCorpus",
        "corpora.phrases": "PhraseList Phrases",
        "corpora.random_walks": "RandomWalks",
        "corpora.reading.labelled_texts": "LabelFormat",
        "corpora.reading.text_pairs": "PairFormat",
        "corpora.reading.text_vectors": "VectorFormat text_vectors",
        "corpora.reading.word_contexts": "ContextFormat",
        "corpora.vocabulary": "Vocabulary",
    })  # fmt: skip
