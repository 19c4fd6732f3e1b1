"""`Corpus`: text sources with phrases and an optional fixed vocabulary, as an encoded corpus."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.corpora.corpus_cache import entry_name, load_or_write, new_folder, warn_once
from embeddings.corpora.documents import PREFIXED
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.phrases.phrase import PhraseMode, PhraseSource
from embeddings.corpora.reading.column_selection import ColumnSelection
from embeddings.corpora.reading.columns import column_names
from embeddings.corpora.reading.compression import FileOpener
from embeddings.corpora.reading.encodings import DecodingPolicy, check_encoding
from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.corpora.reading.paragraphs import Lines
from embeddings.corpora.reading.reader import BLOCK_SIZE, Report, SourceReader
from embeddings.corpora.reading.rows import RowReader, Rows
from embeddings.corpora.reading.sources import File, Source, resolve_source, total_size
from embeddings.corpora.reading.tag_arrays import string_lists
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.reading.text_pairs import PAIR_SIDES, PairFormat, PairReader
from embeddings.corpora.reading.text_vectors import VECTOR_DIM, VectorFormat, join_teachers, split_weights, weighted
from embeddings.corpora.reading.word_contexts import ContextFormat
from embeddings.corpora.remapping import remap
from embeddings.corpora.segmenters import Segmenter, script_advice
from embeddings.corpora.tokenizers import Emoji, Joining, Tokenizer
from embeddings.corpora.vocabulary import Vocabulary, read_vocabulary_file
from embeddings.corpora.word_rules import Case, Normalization, WordForm, WordRules
from embeddings.errors import CorpusError, S, SettingError
from embeddings.settings import Positive, check_value
from embeddings.settings.setting_fields import refuse_unknown
from embeddings.support.logs import log
from embeddings.support.progress_display import MEGABYTES, ProgressOption, showing
from embeddings.support.remote.address import display_name

if TYPE_CHECKING:
    from embeddings.corpora.encoder import Encoder
    from embeddings.corpora.phrases.detection import PhraseConfig


class Corpus:
    """Text to train on.

    >>> import embeddings as em
    >>> em.Corpus(["The cat sat.", "It did so again."]).encode()
    <EncodedCorpus of 7 tokens, 7 types, 2 sentences, 2 documents>
    >>> em.Corpus(["New York is a city"], phrases=em.corpora.PhraseList(["new york"])).encode().vocabulary.words
    ['a', 'city', 'is', 'new_york']

    Every line is a sentence. In a plain text file a document starts at the first line that is not blank, and at every
    such line after a blank one; each row of a table and each item of an iterable is a document.

    Arguments:
        sources: read one after another. Each is the path of a file or of a folder (read recursively in the order of
            names, without hidden files), or a pattern such as "texts/*.gz"; "-" for standard input; "sample" for the
            built-in sample, unless a file has that name; or an iterable of strings (documents, whose lines are
            sentences), of token lists (each a sentence and a document, used as they are), with `text_column` of
            mappings (rows of a table), or of objects with words and tags, such as gensim's TaggedDocument; or a table,
            column or data set of pandas, polars, Arrow, Dask or Hugging Face. Files may be compressed with gzip, bzip2,
            zstd or xz, which is detected by content. They are plain text or tables: Parquet, Arrow, JSON lines or a
            JSON array of objects, detected by content, or .csv and .tsv.
        tokenizer: how text is split, by "words", "alphanumeric", "whitespace", "ascii-whitespace", "characters",
            "codepoints", "jieba", "fugashi", "pythainlp", "spacy:LANGUAGE" or "huggingface:FILE". "words" finds words
            of any language, and emoji; "alphanumeric" runs of letters, marks and digits; "ascii-whitespace" splits as
            fastText; "characters" have combining marks, and no spaces; "codepoints" include spaces. "jieba" is for
            Chinese, "fugashi" for Japanese, "pythainlp" for Thai; other packages can add tokenizers. In Python also a
            callable from a line to its tokens, in which U+0001 is a space.
        case: convert text to "lower" case, "fold" its case (ß becomes ss), or "keep" it.
        normalize: the Unicode normalisation form of words; "none" keeps their code points. The default is "nfc", or
            "none" with the tokenizer "ascii-whitespace".
        fold: treat words that differ only in these as equal: "accents", "width", "ligatures", "tatweel", "diacritics"
            (of Arabic and Hebrew), "long-s", "arabic-letters" (alef, hamza, teh marbuta, alef maqsura); several are
            separated by commas.
        language: apply the rules of upper and lower case of Turkish, Azerbaijani, Lithuanian or Greek; other languages
            require no setting.
        hyphens: with the tokenizer "words": split words at hyphens, the default, or join them.
        apostrophes: with the tokenizer "words": split words at apostrophes, or join them, the default.
        emoji: with the tokenizer "words": keep emoji as tokens, the default, replace them by their names, or drop them.
        encoding: the encoding of text files, CSV, TSV and JSON lines: any that Python decodes, such as cp1252 or
            utf-16.
        encoding_errors: where text is not valid in its encoding: fail, insert U+FFFD ("replace"), or omit the bytes.
        text_column: the text column of tables: of strings or lists of tokens, in Parquet, Arrow, .jsonl, .csv or .tsv;
            dots select nested JSON fields. The default is text, or the only column of strings.
        tag_column: the column of tables that holds the tags of documents, or lists of them; of plain text files "file"
            or "folder", their name or that of their folder. A document has the tags of all such columns; repeated and
            empty tags are dropped.
        rows: read only the first N rows of tables, lines of plain text and items of iterables, of all sources together.
        lines: what is a line of plain text, at whose end contexts end: each line ("separate"), or all lines up to the
            next blank line, joined by spaces ("paragraph"), for hard-wrapped text such as that of Project Gutenberg.
            Words that are hyphenated at the end of a line stay divided.
        max_types: keep at most N distinct words in memory. Rare words may be lost, and counts may be too low by up to
            2/N of the tokens for each spelling in the text; the maximum is reported. In Python it is
            `EncodedCorpus.max_undercount`.
        vocabulary: train exactly the words of this vocabulary (output of `embeddings vocabulary`, or lines of a word
            and its count) or model, with its counts, however low they are.
        phrases: join the phrases listed in this file into tokens; "auto" detects phrases. Listed phrases are converted
            like the text. In Python also a `PhraseList`, or `Phrases` with settings of the detection.
        joiner: the string that joins the words of a phrase.
        phrase_mode: replace every occurrence of a phrase by its token, or every second one ("alternate"), which trains
            its words too.
        labels: how labels of texts are written, for classifiers. Each line of plain text, row of a table and string of
            an iterable is then a document, and labels are not words of it.
        pairs: where pairs of texts are, or words with their contexts, for trainers that learn from them.
        vectors: where vectors of texts are, for trainers that learn from them.

    Raises:
        CorpusError: a source is not found or cannot be used.
        RegistryError: no tokenizer of that name is installed.
        SettingError: a setting is out of range.
        FormatError: the vocabulary or the phrases cannot be read.
    """

    @refuse_unknown
    def __init__(
        self,
        *sources: str | os.PathLike[str] | Iterable[Any],
        tokenizer: str | Tokenizer = "words",
        case: Case = "lower",
        normalize: Normalization | None = None,
        fold: str | Iterable[str] | None = None,
        language: str | None = None,
        hyphens: Joining | None = None,
        apostrophes: Joining | None = None,
        emoji: Emoji | None = None,
        encoding: str = "utf-8",
        encoding_errors: DecodingPolicy = "strict",
        text_column: str | None = None,
        tag_column: str | Sequence[str] | None = None,
        rows: Positive | None = None,
        lines: Lines = "separate",
        max_types: Positive | None = None,
        vocabulary: Vocabulary | str | os.PathLike[str] | None = None,
        phrases: PhraseSource | str | os.PathLike[str] | None = None,
        joiner: str = "_",
        phrase_mode: PhraseMode = "replace",
        labels: LabelFormat | None = None,
        pairs: PairFormat | ContextFormat | None = None,
        vectors: VectorFormat | None = None,
    ) -> None:
        if not sources:
            raise CorpusError("a corpus requires a source: a path, '-', 'sample' or an iterable")
        self.rules = WordRules(tokenizer, case, normalize, fold, language, hyphens, apostrophes, emoji)
        self.tokenizer: Tokenizer = self.rules.tokenizer
        self.case = self.rules.case
        self.encoding: str = check_encoding(encoding)
        self.encoding_errors: str = check_value("encoding_errors", encoding_errors, DecodingPolicy, {})
        tags = column_names(tag_column)
        self.text_column = text_column
        self.tag_column: str | list[str] | None = tags if len(tags) > 1 else next(iter(tags), None)
        self.rows: int | None = check_value("rows", rows, Positive | None, {})
        self.lines: Lines = check_value("lines", lines, Lines, {})
        self.max_types: int | None = check_value("max_types", max_types, Positive | None, {})
        given, weights = (list(sources), [1.0] * len(sources)) if vectors is None else split_weights(sources)
        resolved = [resolve_source(source) for source in given]
        self.sources = [item for items in resolved for item in items]
        self.weights = [weight for items, weight in zip(resolved, weights, strict=True) for _ in items]
        self.teachers: dict[str, float] = {}
        if vectors is not None:
            self.sources, self.weights, self.teachers = join_teachers(self.sources, self.weights, vectors, text_column)
        self.paths = [Path(display_name(source)) for source in given if isinstance(source, str | os.PathLike)]
        formats = {"labels": labels, "pairs": pairs, "vectors": vectors}
        others = {
            "tag_column": self.tag_column, "lines": lines != "separate",
            "text_column": text_column if isinstance(pairs, ContextFormat) else None,
        }  # fmt: skip
        first, *rest = [name for name, value in formats.items() if value is not None] or [""]
        if first and (rest := [*rest, *(name for name, value in others.items() if value)]):
            raise SettingError(f"{S[first]} cannot be combined with {S[rest[0]]}")
        self.labels, self.pairs, self.vectors = labels, pairs, vectors
        if labels is not None and text_column is not None:
            self.labels = replace(labels, text_column=text_column)
        if not isinstance(vocabulary, Vocabulary | None):
            vocabulary = read_vocabulary_file(vocabulary)
        self.vocabulary: Vocabulary | None = vocabulary
        self.phrase_config: PhraseConfig | None = None
        if phrases is not None:
            from embeddings.corpora.phrases.detection import phrase_config

            self.phrase_config = phrase_config(phrases, joiner, phrase_mode, WordForm(self.rules.settings))
        elif (joiner, phrase_mode) != ("_", "replace"):
            raise SettingError(f"{S.joiner} and {S.phrase_mode} require {S.phrases}")
        self._uncached: EncodedCorpus | None = None  # the last result, if it is not in the cache
        self._uncached_name: str | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(source.name for source in self.sources)}>"

    @property
    def text_settings(self) -> dict[str, Any]:
        """The settings of the text as plain values; the tokenizer as a name."""
        names = ("encoding", "encoding_errors", "text_column", "tag_column", "rows", "max_types")
        formats = {"labels": self.labels, "pairs": self.pairs, "vectors": self.vectors}
        given: dict[str, Any] = {name: asdict(one) for name, one in formats.items() if one is not None}
        if self.vectors is not None:
            given["vectors"] |= {"weights": self.weights} | ({"teachers": self.teachers} if self.teachers else {})
        lines = {} if self.lines == "separate" else {"lines": self.lines}
        return {**self.rules.settings, **{name: getattr(self, name) for name in names}, **lines, **given}

    def cache_name(self, settings: dict[str, Any]) -> str | None:
        """Return the name of this corpus in the cache; None for sources or tokenizers that cannot be identified."""
        if isinstance(self.tokenizer, Segmenter):
            return entry_name(self.sources, {**settings, "segmenter": self.tokenizer.identity})
        return entry_name(self.sources, settings) if self.rules.is_built_in else None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as plain values; the tokenizer as a name, phrases as a fingerprint."""
        phrases = {} if self.phrase_config is None else {"phrases": self.phrase_config.fingerprint}
        return {**self.text_settings, **phrases}

    def encode(self, *, progress: ProgressOption = None, threads: int | None = None) -> EncodedCorpus:
        """Return the corpus as token ids, from the cache if the sources have not changed since they were encoded.

        The text is read once; memory grows only with the number of distinct words, unless the tokenizer is a callable,
        which gets whole lines. A corpus from standard input or an iterable, or with a tokenizer that is not built in,
        is not cached; this object returns it again until it is closed. If a cached corpus is damaged, a warning is
        logged, and the text is read again.

        Arguments:
            progress: True shows a bar, False none; by default there is one on a terminal and in a notebook. A function
                is called with the number of bytes read, as stored on disk, and their total, None if unknown.
            threads: the number of threads that split text into words, by default one for each core; the result does not
                depend on it. With `max_types` or a callable there is one.

        Raises:
            CorpusError: a source cannot be read, is broken or in another encoding, or there are no tokens.
            OutputError: the result cannot be written.
            SettingError: EMBEDDINGS_CACHE_LIMIT is not a size.
        """
        # a file may have changed since the last call, so that the kept result is no longer that of its text
        name = entry_name(self.sources, self.settings)
        if self._uncached is not None and self._uncached.is_open and self._uncached_name == name:
            return self._uncached
        check_value("threads", threads, Positive | None, {})
        with showing(progress, "reading", MEGABYTES) as shown:
            encoded = self.encode_phrases(shown, threads)
        if self.vocabulary is not None:
            with encoded, new_folder(encoded.folder.parent if encoded.finalizer is None else None) as folder:
                remap(encoded, self.vocabulary, folder)
            encoded = EncodedCorpus(folder, temporary=True)
        if "hard_wrapped" in encoded.meta and self.labels is None:
            remedy = "to join its lines, set lines='paragraph' (--text-lines paragraph)"
            problem = "seems to be hard-wrapped, so contexts end at its line ends"
            warn_once(f"{encoded.meta['hard_wrapped']} {problem}: {remedy}")
        if advice := script_advice(encoded.vocabulary, encoded.meta["settings"]["tokenizer"]):
            warn_once(advice)
        log.info("%r: %s words, %s distinct", self, encoded.meta["tokens"], encoded.meta["types"])
        self._uncached, self._uncached_name = (None, None) if encoded.finalizer is None else (encoded, name)
        return encoded

    def encode_phrases(self, report: Report | None, threads: int | None) -> EncodedCorpus:
        """Return the encoded corpus, with phrases as tokens if there are any, from the cache if possible."""

        def encode_text() -> EncodedCorpus:
            return load_or_write(
                lambda: self.cache_name(self.text_settings),
                lambda folder: self.write_text(folder, report, threads),
            )

        if (config := self.phrase_config) is None:
            return encode_text()

        def write(folder: Path) -> None:
            with encode_text() as encoded:
                config.write(encoded, folder)

        return load_or_write(lambda: self.cache_name(self.settings), write)

    def write_text(
        self, folder: Path, report: Report | None, threads: int | None = None, *, block_size: int = BLOCK_SIZE
    ) -> None:
        """Write the encoded corpus into a folder."""
        from embeddings.corpora.encoder import Encoder

        names = [source.name for source in self.sources]
        description: dict[str, Any] = {"settings": self.text_settings, "sources": names}
        if self.lines == "paragraph":
            description["has_items"] = True  # blank lines are not documents of their own
        if not all(isinstance(source, File) and source.path for source in self.sources):
            description["file_ends"] = []  # of standard input
        with Encoder(folder, self.rules, self.max_types, threads) as encoder:
            encoder.finish(description | self.write_blocks(encoder, report, block_size))

    def write_blocks(self, encoder: "Encoder", report: Report | None, block_size: int) -> dict[str, Any]:
        """Encode all sources; returns the fields of the description that reading determines."""
        reader, has_prefix = self.new_reader(report, block_size, encoder.threads), False

        def blocks(source: Source, weight: float) -> Iterator[TextBlock]:
            nonlocal has_prefix
            for batch in self.labels.batches(reader.read(source), source.name) if self.labels else ():
                has_prefix |= batch.unit != "row"
                yield TextBlock(batch.data, batch.starts[1:], tags=string_lists(batch.labels))
            for block in () if self.labels else reader.read(source):
                yield block if block.vectors is None else replace(block, vectors=weighted(block.vectors, weight))

        tags = column_names(self.tag_column)
        with reader.opener:
            for source, weight in zip(self.sources, self.weights, strict=True):
                encoder.add(blocks(source, weight), source.name, source.tags(tags) if isinstance(source, File) else ())
        if not isinstance(reader.columns, RowReader):
            return reader.description if self.labels is None else {**reader.description, PREFIXED: has_prefix}
        reader.columns.finish(", ".join(source.name for source in self.sources))
        found = reader.description
        if isinstance(reader.columns, PairReader):
            found[PAIR_SIDES] = reader.columns.n_texts
        if self.vectors is not None:
            found[VECTOR_DIM] = reader.columns.dim
        return found

    def pair_rows(self) -> Iterator[Rows]:
        """Yield the pairs of texts, batch by batch, without those with an empty side.

        Raises:
            CorpusError: a source cannot be read, or there are no pairs.
        """
        reader = self.new_reader()
        assert isinstance(reader.columns, PairReader)
        for source in self.sources:
            yield from reader.columns.read_source(reader, source)
        reader.columns.finish(", ".join(source.name for source in self.sources))

    def new_reader(self, report: Report | None = None, block_size: int = BLOCK_SIZE, threads: int = 1) -> SourceReader:
        """Return the reader of the sources."""
        columns: ColumnSelection | RowReader = ColumnSelection(self.text_column, column_names(self.tag_column))
        if self.labels is not None:
            columns = self.labels.columns()
        elif (rows := self.pairs or self.vectors) is not None:
            columns = rows.row_reader(self.text_column)
        return SourceReader(
            self.encoding_errors, report, block_size, total_size(self.sources), columns, self.rows,
            encoding=self.encoding,
            # if only some rows are read, no further file is opened ahead
            opener=FileOpener(self.sources if self.rows is None else [], threads), lines=self.lines,
        )  # fmt: skip
