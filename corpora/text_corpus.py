"""The plain text corpus: sources and settings in, an encoded corpus out."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from embeddings.corpora.corpus_cache.entries import entry_name, load_or_write
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.reader import Report, SourceReader
from embeddings.corpora.reading.sources import File, Source, resolve_source
from embeddings.corpora.reading.text_rows import ColumnSelection
from embeddings.corpora.reading.utf8 import check_policy
from embeddings.corpora.tokenizers import BUILT_IN, CharClassTokenizer, Tokenizer, check_case, resolve_tokenizer
from embeddings.errors import CorpusError, SettingError


class TextCorpus:
    """Text as words, without phrases. `Corpus` documents the arguments."""

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
    ) -> None:
        if not sources:
            raise CorpusError("a corpus needs a source: a path, '-', 'sample' or an iterable")
        self.case = check_case(case)
        self.encoding_errors = check_policy(encoding_errors)
        self.tokenizer = resolve_tokenizer(tokenizer)
        self.text_column, self.tag_column = check_column("text", text_column), check_column("tag", tag_column)
        self.rows, self.max_types = check_count("rows", rows), check_count("max_types", max_types)
        self.sources = [item for source in sources for item in resolve_source(source)]
        self.paths = [Path(source) for source in sources if isinstance(source, str | os.PathLike)]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(source.name for source in self.sources)}>"

    @property
    def text_settings(self) -> dict[str, Any]:
        """The settings of the text as plain values; a tokenizer by its name."""
        name = getattr(self.tokenizer, "name", None) or getattr(self.tokenizer, "__qualname__", "a callable")
        names = ("case", "encoding_errors", "text_column", "tag_column", "rows", "max_types")
        return {"tokenizer": str(name), **{name: getattr(self, name) for name in names}}

    def cache_name(self, settings: dict[str, Any]) -> str | None:
        """Return the name of this corpus in the cache; None for sources or tokenizers that cannot be identified."""
        is_built_in = isinstance(self.tokenizer, CharClassTokenizer) and self.tokenizer in BUILT_IN
        return entry_name(self.sources, settings) if is_built_in else None

    def encode_text(self, report: Report | None, block_size: int) -> EncodedCorpus:
        """Return the encoded corpus, from the cache if possible."""
        return load_or_write(
            lambda: self.cache_name(self.text_settings), lambda folder: self.write_text(folder, report, block_size)
        )

    def write_text(self, folder: Path, report: Report | None, block_size: int) -> None:
        """Write the encoded corpus into a folder."""
        from embeddings.corpora.encoder import Encoder

        columns = ColumnSelection(self.text_column, self.tag_column)
        size = total_size(self.sources)
        reader = SourceReader(self.encoding_errors, report, block_size, size, columns, self.rows)
        with Encoder(folder, self.tokenizer, self.case, self.max_types) as encoder:
            for source in self.sources:
                for block in reader.read(source):
                    encoder.add(block, source.name)
            names = [source.name for source in self.sources]
            description = {"decoding_errors": reader.errors, "settings": self.text_settings, "sources": names}
            encoder.finish({**description, "columns": columns.inferred_columns})


def check_column(name: str, column: str | None) -> str | None:
    """Return the name of a column; raises SettingError if it is empty or not a string."""
    if column is not None and (not isinstance(column, str) or not column):
        raise SettingError(f"{name}_column must be the name of a column, got {column!r}")
    return column


def check_count(name: str, count: int | None) -> int | None:
    """Return the number; raises SettingError if it is not an integer from 1 up."""
    if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
        raise SettingError(f"{name} must be an integer of at least 1, got {count!r}")
    return count


def total_size(sources: list[Source]) -> int | None:
    """Return the bytes of the files on disk; None if a source is not a regular file."""
    paths = [source.path for source in sources if isinstance(source, File) and source.path and source.is_regular]
    if len(paths) < len(sources):
        return None
    try:
        return sum(path.stat().st_size for path in paths)
    except OSError:
        return None
