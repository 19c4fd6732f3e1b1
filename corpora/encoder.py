"""The one pass: blocks of text in, numbered words, sentences and documents out."""

import contextlib
import json
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora import scanner
from embeddings.corpora.characters import characters
from embeddings.corpora.document_tags import TagFile
from embeddings.corpora.encoded_corpus import DOCUMENTS, FORMAT, IDS, META, SENTENCES, TAGS, VOCABULARY
from embeddings.corpora.memory_mapped import Column, Renumber, writing
from embeddings.corpora.reading.reader import Block, Sentences, Tagged
from embeddings.corpora.reading.text_rows import Text
from embeddings.corpora.token_lines import Lines
from embeddings.corpora.tokenizers import Runs, Tokenizer, never
from embeddings.corpora.vocabulary import Vocabulary, ranked
from embeddings.corpora.word_counts import Words
from embeddings.errors import CorpusError, NoWordsError


class Encoder:
    """Takes blocks one by one and writes an encoded corpus to `folder`; memory grows with the types, up to a limit."""

    def __init__(self, folder: Path, tokenizer: Tokenizer, case: str, max_types: int | None = None) -> None:
        self.folder = folder
        self.tokenizer = tokenizer
        self.case = case
        self.words = Words(max_types)
        self.lines = Lines(tokenizer, case)
        self.ids = Column(folder / IDS, np.int32)
        self.sentences = Column(folder / SENTENCES, np.int64)
        self.documents = Column(folder / DOCUMENTS, np.int64)
        self.tags: TagFile | None = None
        self.items = False  # whether any text came as rows or items, each a document
        self.out: Any = ()

    def add(self, block: Block, name: str) -> None:
        """Encode a block of the source of this name.

        Raises:
            CorpusError: a token is longer than the scanner's LONGEST.
            OutputError: it cannot be written.
        """
        if isinstance(block, Tagged):
            self.tags = self.tags or TagFile(self.folder / TAGS)
            self.tags.append(block.tags)
            return
        self.items |= isinstance(block, Sentences) or block.items
        if isinstance(block, Text) and isinstance(self.tokenizer, Runs):
            self.scan(block, self.tokenizer, name)
            return
        lines = self.lines
        lines.clear(tokens=self.ids.count, lines=self.sentences.count - 1)
        if isinstance(block, Sentences):
            lines.add_lists(block.lists)
        else:
            lines.add_text(block)
        self.intern(lines.tokens)
        self.sentences.append(np.array(lines.ends, np.int64))
        self.add_documents(np.array(lines.starts, np.int64))

    def scan(self, block: Text, tokenizer: Runs, name: str) -> None:
        """Encode text by the compiled scanner."""
        state = self.words.state
        size, parts = len(block.data), np.array(block.parts, np.int64)
        ids, ends, starts = self.out = room(self.out, size + len(parts) + 1)
        most = size if tokenizer.first is not never else size // 2  # tokens: without `first`, something parts them
        table = self.words.reserve(most + len(parts) + 1, size)
        state[[scanner.IDS, scanner.ENDS, scanner.STARTS]] = 0
        state[[scanner.TOKENS, scanner.LINES]] = self.ids.count, self.sentences.count - 1
        mode = (scanner.ITEMS if block.items else scanner.FILE, block.closed)
        tables = characters(tokenizer, self.case, block.data)
        while scanner.scan(bytes_array(block.data), parts, tuple(tables), tuple(table), self.out, state, mode):
            self.words.prune()
        if state[scanner.TOO_LONG] or state[scanner.LENGTH] > scanner.LONGEST:
            raise CorpusError(f"{name}: a token is longer than {scanner.LONGEST} bytes; choose another tokenizer")
        self.ids.append(ids[: state[scanner.IDS]])
        self.sentences.append(ends[: state[scanner.ENDS]])
        self.add_documents(starts[: state[scanner.STARTS]])

    def intern(self, tokens: list[bytes]) -> None:
        """Encode tokens that are cut already."""
        text = bytes_array(b"".join(tokens))
        ids = np.empty(len(tokens), np.int32)
        table = self.words.reserve(len(tokens), len(text))
        ends = np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)))
        while scanner.intern_all(text, ends, tuple(table), ids, self.words.state):
            self.words.prune()
        self.ids.append(ids)

    def add_documents(self, starts: NDArray[np.int64]) -> None:
        """Note the lines that documents start with; the first takes in blank lines at the very start."""
        if len(starts) and not self.documents.count:
            starts = np.concatenate([np.zeros(1, np.int64), starts[1:]])
        self.documents.append(starts)

    def finish(self, record: dict[str, Any]) -> None:
        """Number the words by rank and write what is left; `record` goes into the corpus's meta file.

        Raises:
            CorpusError: there was no token.
            OutputError: it cannot be written.
        """
        if not self.ids.count:
            size = {"sentences": self.sentences.count - 1, "documents": max(self.documents.count, 1)}
            raise NoWordsError(f"no words found in {', '.join(record['sources'])}", **size, items=self.items)
        if not self.documents.count:
            self.documents.append(np.zeros(1))
        self.documents.append(np.array([self.sentences.count - 1]))
        vocabulary, rank = ranked(self.words.column(), self.words.counts())
        if not len(vocabulary):
            raise CorpusError(f"none of {self.ids.count} tokens stands out in so few types; raise --max-types")
        vocabulary.total = self.ids.count
        self.ids.renumber(renumbering(self.words, rank))
        self.close()
        with writing(self.folder / META):
            vocabulary.save(self.folder / VOCABULARY)
            names = [IDS, SENTENCES, DOCUMENTS, VOCABULARY] + [TAGS] * (self.tags is not None)
            meta = {
                "format": FORMAT,
                "fingerprint": self.fingerprint(vocabulary),
                "tokens": self.ids.count,
                "types": len(vocabulary),
                "short": self.words.short,
                "known": vocabulary.tokens,
                "given": False,
                "sentences": self.sentences.count - 1,
                "documents": self.documents.count - 1,
                "items": self.items,
                **record,
                "files": {name: (self.folder / name).stat().st_size for name in names},
            }
            (self.folder / META).write_text(json.dumps(meta, indent=1, ensure_ascii=False) + "\n", "utf-8")

    def fingerprint(self, vocabulary: Vocabulary) -> str:
        """A digest of all that a trainer can see of the corpus: equal for equal text under equal settings."""
        import pyarrow.compute

        lengths = pyarrow.compute.binary_length(vocabulary.column).to_numpy(zero_copy_only=False)
        whole = sha256(lengths.astype("<i8").data)
        whole.update(memoryview(vocabulary.column.buffers()[2])[: int(lengths.sum())])
        for column in self.files():
            whole.update(column.digest.digest())
        return whole.hexdigest()[:32]

    def close(self) -> None:
        """Complete the files of numbers."""
        for column in self.files():
            column.close()

    def files(self) -> list[Column | TagFile]:
        """The files that grow."""
        columns: list[Column | TagFile] = [self.ids, self.sentences, self.documents]
        return columns if self.tags is None else [*columns, self.tags]

    def __enter__(self) -> Self:
        self.sentences.append(np.zeros(1))
        return self

    def __exit__(self, *_: object) -> None:
        for column in self.files():
            with contextlib.suppress(OSError):  # of a full disk was told already
                column.file.close()


def renumbering(words: Words, rank: NDArray[np.int32]) -> Renumber:
    """From raw ids to ranks; from those of words that were pruned to the number of words, which is no rank."""
    if not words.short:
        return lambda raw: rank[raw]
    known, ranks = words.raw(), np.append(rank, np.int32(len(rank)))

    def renumber(raw: NDArray[np.int32]) -> NDArray[np.int32]:
        place = np.searchsorted(known, raw)
        place[known[np.minimum(place, len(known) - 1)] != raw] = len(known)
        return ranks[place]

    return renumber


def room(out: Any, size: int) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Arrays for what a block of so many bytes can hold: ids, line ends, document starts."""
    if out and len(out[0]) >= size:
        return out  # type: ignore[no-any-return]
    return np.empty(size, np.int32), np.empty(size, np.int64), np.empty(size, np.int64)


def bytes_array(data: bytes) -> NDArray[np.uint8]:
    """The bytes as an array, without a copy."""
    return np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
