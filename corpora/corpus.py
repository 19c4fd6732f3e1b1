"""The front door: sources and settings in, an encoded corpus out."""

import os
from collections.abc import Callable, Iterable
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.corpora.corpus_cache import entries
from embeddings.corpora.corpus_cache.eviction import limit
from embeddings.corpora.corpus_cache.tempdir import made_in
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.reader import BLOCK, Reader, Report
from embeddings.corpora.reading.sources import File, Source, resolve
from embeddings.corpora.reading.text_rows import Columns
from embeddings.corpora.reading.utf8 import check_policy
from embeddings.corpora.remapping import remap
from embeddings.corpora.tokenizers import Runs, Tokenizer, check_case
from embeddings.corpora.tokenizers import resolve as resolve_tokenizer
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, SettingError
from embeddings.support.cache_folder import folder
from embeddings.support.logs import log

if TYPE_CHECKING:
    from embeddings.corpora.phrases.phrase_config import Phrasing
    from embeddings.corpora.phrases.phrase_config import Source as PhraseSource


class Corpus:
    """Text to learn from.

    >>> import embeddings as em
    >>> em.Corpus(["The cat sat.", "It did so again."]).encode()
    <EncodedCorpus of 7 tokens, 7 types, 2 sentences, 2 documents>
    >>> em.Corpus(["New York is a city"], phrases=em.PhraseList(["new york"])).encode().vocabulary.words
    ['a', 'city', 'is', 'new_york']

    sources: paths of files, plain or compressed by gzip, bzip2, zstd or xz (told by content), of folders of such
    files (all within, by name, hidden ones skipped), or patterns ("texts/*.gz"); "-" for standard input; the
    built-in name "sample", unless a path is called so; or Python iterables, of strings (each a document, its
    lines sentences), of token lists (each a sentence and a document, its tokens taken as they are, whatever
    tokenizer and case say), or with a text_column of mappings (each a row, as of a table).
    Several are read one after another. tokenizer: "words", "whitespace", another that is installed ("characters"), or a
    callable from a line to its tokens. case: "lower" or "keep". encoding_errors: "strict", "replace" or "ignore", for
    what is not UTF-8.

    A file may be a table too: Parquet or Arrow, told by content, or .jsonl, .ndjson, .csv, .tsv. Each row is a
    document, the lines of its text_column sentences; without a text_column the only column of strings is taken.
    tag_column: the documents' tags. rows: read so many rows of tables, lines of plain text, items of iterables in
    all, the first. max_types: keep no more distinct words in memory than this; the rarest are given up as others
    come. No count is then too high, and none is too low, nor any word lost, by more than `EncodedCorpus.short`
    occurrences, which is at most 2 / max_types of all tokens. vocabulary: train just these words, with the counts
    they have there, whatever min_count and max_vocab say: a Vocabulary, or what `vocabulary_files.read` reads.

    phrases: make tokens of phrases, their words parted by `joiner`: of those that `Phrases` settings find ("auto": by
    its defaults), of a `PhraseList`, or of a file of phrases, lower-cased as the text. phrase_words: "replace", or
    "alternate" to leave every second occurrence of a phrase as its words.

    Every line is a sentence. A document of a file starts at its first line that is not blank, and at every
    such line that follows a blank one.

    Raises:
        CorpusError: nothing is found under a name, or it is not a source.
        RegistryError: no tokenizer of that name is installed.
        SettingError: a setting is not one of those allowed.
        FormatError: the vocabulary or the phrases cannot be read.
    """

    def __init__(
        self,
        *sources: str | os.PathLike[str] | Iterable[Any],
        tokenizer: str | Tokenizer = "words",
        case: str = "lower",
        encoding_errors: str = "strict",
        text_column: str | None = None,
        tag_column: str | None = None,
        rows: int | None = None,
        max_types: int | None = None,
        vocabulary: Vocabulary | str | os.PathLike[str] | None = None,
        phrases: "PhraseSource | str | os.PathLike[str] | None" = None,
        joiner: str = "_",
        phrase_words: str = "replace",
    ) -> None:
        if not sources:
            raise CorpusError("a corpus needs a source: a path, '-', 'sample' or an iterable")
        self.case = check_case(case)
        self.encoding_errors = check_policy(encoding_errors)
        self.tokenizer = resolve_tokenizer(tokenizer)
        self.text_column, self.tag_column = check_column("text", text_column), check_column("tag", tag_column)
        self.rows, self.max_types = check_count("rows", rows), check_count("max-types", max_types)
        self.sources = [found for source in sources for found in resolve(source)]
        self.paths = [Path(source) for source in sources if isinstance(source, str | os.PathLike)]
        self.vocabulary = given(vocabulary)
        self.phrasing = phrased(phrases, joiner, phrase_words, self.case)
        self.kept: EncodedCorpus | None = None
        self.kept_identity: str | None = None

    def __repr__(self) -> str:
        return f"<Corpus of {', '.join(source.name for source in self.sources)}>"

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as plain values; a tokenizer by its name."""
        name = getattr(self.tokenizer, "name", None) or getattr(self.tokenizer, "__qualname__", "a callable")
        names = ("case", "encoding_errors", "text_column", "tag_column", "rows", "max_types")
        phrases = {} if self.phrasing is None else {"phrases": self.phrasing.identity}
        return {"tokenizer": str(name), **{name: getattr(self, name) for name in names}, **phrases}

    def encode(self, *, report: Report | None = None, block_size: int = BLOCK) -> EncodedCorpus:
        """The corpus as numbers, from the cache if these sources were encoded before and have not changed.

        The text is read once, `block_size` bytes at a time; memory depends on the number of distinct words
        only, unless the tokenizer is a callable, which is given whole lines. `report` is called now and then
        with the bytes read so far, as they lie on the disk, and their number, None if that is not known. What
        is read from standard input or an iterable, or cut by a tokenizer that is not built in, is not cached;
        this object keeps it, so that a second call gives it again, until it is closed.

        Raises:
            CorpusError: a source cannot be read, is broken, is not UTF-8, or there is no token in any.
            OutputError: the result cannot be written.
            SettingError: EMBEDDINGS_CACHE_LIMIT is no size.
        """
        state = entries.identity(self.sources, self.settings)
        if self.kept is not None and self.kept.open and self.kept_identity == state:
            return self.kept
        before = self.identity()
        home = folder("corpora") if before else None
        made = self.found_or_made(home, before, lambda scratch: self.write(scratch, report, block_size))
        if self.vocabulary is not None:
            with made, made_in(home) as scratch:
                remap(made, self.vocabulary, scratch)
            made = EncodedCorpus(scratch, temporary=True)
        log.info("%r: %s words, %s different", self, made.meta["tokens"], made.meta["types"])
        if made.finalizer is not None:
            self.kept, self.kept_identity = made, state
        return made

    def found_or_made(self, home: Path | None, name: str | None, write: Callable[[Path], None]) -> EncodedCorpus:
        """The corpus with all its words, from the cache or written now."""
        if home and name:
            if found := entries.find(home / name):
                log.debug("%r is in the cache, %s", self, found.folder)
                return found
            limit(home)  # hours of work come before it is asked again
        with made_in(home) as scratch:
            write(scratch)
        if home and name and scratch.parent == home and self.identity() == name:
            return entries.keep(scratch, home / name)
        return EncodedCorpus(scratch, temporary=True)

    def identity(self) -> str | None:
        """The name of this corpus in the cache as the sources are now; None if it is not to be cached."""
        built_in = isinstance(self.tokenizer, Runs) and self.tokenizer in built_in_tokenizers()
        return entries.identity(self.sources, self.settings) if built_in else None

    def write(self, scratch: Path, report: Report | None, block_size: int) -> None:
        """Write the encoded corpus into a folder, with phrases as tokens if they are asked for."""
        if self.phrasing is None:
            self.encode_into(scratch, report, block_size)
            return
        plain = copy(self)
        plain.phrasing = plain.vocabulary = plain.kept = None
        with plain.encode(report=report, block_size=block_size) as encoded:
            self.phrasing.write(encoded, scratch)

    def encode_into(self, scratch: Path, report: Report | None, block_size: int) -> None:
        """Write the encoded corpus into a folder."""
        from embeddings.corpora.encoder import Encoder

        columns = Columns(self.text_column, self.tag_column)
        size = total_size(self.sources)
        reader = Reader(self.encoding_errors, report, block_size, size, columns=columns, rows=self.rows)
        with Encoder(scratch, self.tokenizer, self.case, self.max_types) as encoder:
            for source in self.sources:
                for block in reader.read(source):
                    encoder.add(block, source.name)
            names = [source.name for source in self.sources]
            record = {"decoding_errors": reader.errors, "settings": self.settings, "sources": names}
            encoder.finish({**record, "columns": columns.taken})


def given(vocabulary: Vocabulary | str | os.PathLike[str] | None) -> Vocabulary | None:
    """The vocabulary itself, or that of a file or model folder."""
    if vocabulary is None or isinstance(vocabulary, Vocabulary):
        return vocabulary
    from embeddings.corpora.vocabulary_files import read

    return read(vocabulary)


def phrased(
    phrases: "PhraseSource | str | os.PathLike[str] | None", joiner: str, words: str, case: str
) -> "Phrasing | None":
    """How phrases become tokens, if they do.

    Raises:
        FormatError, SettingError: as `phrasing`; or a joiner or phrase-words are set, and no phrases.
    """
    if phrases is not None:
        from embeddings.corpora.phrases.phrase_config import phrasing

        return phrasing(phrases, joiner, words, case)
    if (joiner, words) != ("_", "replace"):
        raise SettingError("joiner and phrase-words say how phrases become tokens: name the phrases too")
    return None


def check_column(name: str, column: str | None) -> str | None:
    """The name of a column itself.

    Raises:
        SettingError: it is empty, or no string.
    """
    if column is not None and (not isinstance(column, str) or not column):
        raise SettingError(f"{name}-column must be the name of a column, not {column!r}")
    return column


def check_count(name: str, count: int | None) -> int | None:
    """The number itself.

    Raises:
        SettingError: it is no whole number from 1 up.
    """
    if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
        raise SettingError(f"{name} must be a whole number from 1 up, not {count!r}")
    return count


def built_in_tokenizers() -> tuple[Runs, ...]:
    """Those whose rule belongs to this package, so that its name says all."""
    from embeddings.corpora.tokenizers import characters, codepoints, whitespace, words

    return words, whitespace, characters, codepoints


def total_size(sources: list[Source]) -> int | None:
    """The bytes of the files as they lie on the disk; None if any source is not a regular file."""
    files = [source for source in sources if isinstance(source, File) and source.regular]
    if len(files) < len(sources):
        return None
    try:
        return sum(source.path.stat().st_size for source in files if source.path)
    except OSError:
        return None
