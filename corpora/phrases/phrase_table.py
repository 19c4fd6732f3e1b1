"""The phrases that stand in an encoded corpus, on disk: an Arrow file of their words and passes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.corpora.phrases.phrase_list import Phrase, PhraseList
from embeddings.errors import FormatError, SettingError

if TYPE_CHECKING:
    from embeddings.corpora.encoded_corpus import EncodedCorpus

WORDS, STEP = "words", "pass"


class KnownPhrases(PhraseList):
    """Phrases of another corpus, joined where they occur; a corpus may have none of them."""

    def find(self, encoded: "EncodedCorpus") -> PhraseList:
        """Those whose words the corpus has."""
        known = encoded.vocabulary
        return PhraseList(phrase for phrase in self.phrases if all(word in known for word in phrase.words))


def table_of(listed: PhraseList) -> Any:
    """Phrases as a pyarrow table."""
    import pyarrow

    words = pyarrow.array([phrase.words for phrase in listed], pyarrow.large_list(pyarrow.large_string()))
    return pyarrow.table({WORDS: words, STEP: pyarrow.array([phrase.step for phrase in listed], pyarrow.int8())})


def save_table(table: Any, path: Path) -> None:
    """Write such a table."""
    import pyarrow

    with path.open("wb") as stream, pyarrow.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)


def load_table(path: Path) -> Any:
    """The table of a file, mapped into memory.

    Raises:
        FormatError: the file is missing or broken, or holds something else.
    """
    import pyarrow

    try:
        with pyarrow.memory_map(str(path)) as source:
            table = pyarrow.ipc.open_file(source).read_all()
        table.validate(full=True)
        names = table.column_names
    except (OSError, pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise FormatError(f"{path} is not a readable file of phrases: {' '.join(str(error).split())}") from error
    if table.schema.types != table_of(PhraseList([])).schema.types or names != [WORDS, STEP]:
        raise FormatError(f"{path} holds {', '.join(names) or 'no columns'}, not the words of phrases")
    return table


def merged(old: Any, new: Any) -> Any:
    """The phrases of two tables, or of the one that is there; of those in both, as they stand in the old one."""
    if old is None or new is None:
        return new if old is None else old
    return table_of(PhraseList([*phrases_of(old), *phrases_of(new)]))


def phrases_of(table: Any) -> KnownPhrases:
    """The phrases of a table.

    Raises:
        FormatError: a row is no phrase.
    """
    rows = zip(table.column(WORDS).to_pylist(), table.column(STEP).to_pylist(), strict=True)
    try:
        return KnownPhrases(Phrase(tuple(words or ()), step=step or 0) for words, step in rows)
    except SettingError as error:
        raise FormatError(f"the phrases of a model are broken: {error}") from None
