"""Phrase tables: the phrases that are tokens of an encoded corpus or a model, as Arrow files."""

from pathlib import Path
from typing import Any

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.phrases.phrase import PASS, WORDS, Phrase, phrase_schema, to_phrase_table
from embeddings.corpora.phrases.phrase_list import PhraseList
from embeddings.errors import FormatError, SettingError
from embeddings.support.arrow_files import read_table


class ModelPhrases(PhraseList):
    """Phrases of another corpus; a corpus need not contain any of them."""

    def find(self, encoded: EncodedCorpus) -> PhraseList:
        """Return the phrases whose words are all in the corpus."""
        known = encoded.vocabulary
        return PhraseList(phrase for phrase in self.phrases if all(word in known for word in phrase.words))


def load_phrase_table(path: Path) -> Any:
    """Memory-map a phrase table."""
    return read_table(path, "phrase table", phrase_schema())


def merge_phrase_tables(old: Any, new: Any) -> Any:
    """Return the phrases of both tables, each of which may be None; a phrase in both keeps its pass in the old one."""
    if old is None or new is None:
        return new if old is None else old
    return to_phrase_table(PhraseList([*phrases_from_table(old), *phrases_from_table(new)]))


def phrases_from_table(table: Any) -> ModelPhrases:
    """Return the phrases of a table; raises FormatError if it is not valid."""
    try:
        rows = zip(table.column(WORDS).to_pylist(), table.column(PASS).to_pylist(), strict=True)
        return ModelPhrases(Phrase(tuple(words or ()), step=step or 0) for words, step in rows)
    except (SettingError, KeyError, TypeError) as error:
        raise FormatError(f"the phrase table is broken: {error}") from None
