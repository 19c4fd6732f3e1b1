"""The words that a model learns, and the corpus with their ids."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from embeddings.corpora.corpus_cache import corpora_folder, new_folder
from embeddings.corpora.document_counts import document_counts
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.remapping import remap, remap_to_rows
from embeddings.corpora.vocabulary import Vocabulary, VocabularyRule

if TYPE_CHECKING:
    from embeddings.training.trainer import Trainer


def select_vocabulary(
    encoded: EncodedCorpus, settings: "Trainer", rule: VocabularyRule | None, *, is_new: bool
) -> tuple[EncodedCorpus, Vocabulary]:
    """The words that the trainer learns, and the corpus with their ids; a continued model brings its own ids."""
    vocabulary = select_words(encoded, settings, rule)
    if is_new and (rows := getattr(settings, "unknown_rows", 0)):
        encoded = with_unknown_rows(encoded, vocabulary, rows)
        return encoded, encoded.vocabulary
    if getattr(settings, "min_documents", 1) > 1 or rule is not None:
        encoded = with_vocabulary(encoded, vocabulary)  # its words need not be the most frequent ones
    return encoded, vocabulary


def select_words(encoded: EncodedCorpus, settings: "Trainer", rule: VocabularyRule | None) -> Vocabulary:
    """The words of a new model."""
    values = asdict(settings)
    has_limit = values.get("min_documents", 1) > 1 and not encoded.meta["fixed_vocabulary"]
    return encoded.select(
        min_count=values.get("min_count", 1),
        max_vocab=values.get("max_vocab"),
        min_documents=values.get("min_documents", 1),
        documents=document_counts(encoded, values.get("documents") or "auto") if has_limit else None,
        rule=rule,
    )


def with_vocabulary(encoded: EncodedCorpus, vocabulary: Vocabulary) -> EncodedCorpus:
    """The text encoded with this vocabulary, in a temporary folder."""
    with new_folder(corpora_folder()) as folder:
        remap(encoded, vocabulary, folder)
    return EncodedCorpus(folder, temporary=True)


def with_unknown_rows(encoded: EncodedCorpus, words: Vocabulary, rows: int) -> EncodedCorpus:
    """The text with rows for all words but these, in a temporary folder."""
    with new_folder(corpora_folder()) as folder:
        remap_to_rows(encoded, words, rows, folder)
    return EncodedCorpus(folder, temporary=True)
