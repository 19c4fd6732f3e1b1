"""Text that workers read: each worker reads and counts one piece, then the words are divided into equal shares.

Pieces are ranges of bytes, so they hold different numbers of words. When all words are counted, each worker gets its
share of the words from the pieces that hold them. So the shares do not depend on the number of pieces.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import accumulate
from time import perf_counter
from typing import IO, Any, ClassVar, cast

import numpy as np

from embeddings.cluster.cluster_task import ClusterTask
from embeddings.cluster.distributed_text import SentShare, description_of
from embeddings.cluster.worker_pool import WorkerPool
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.compression import HEAD, detect_compression
from embeddings.corpora.reading.encodings import UTF8
from embeddings.corpora.reading.file_types import FileType, detect, detect_binary
from embeddings.corpora.reading.sources import File, FileStatus, RemoteFile, file_statuses, read_errors
from embeddings.corpora.tokenizers import token_name
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import NoWordsError
from embeddings.kernels.separate_arrays import read_only
from embeddings.support.logs import notice
from embeddings.training.callbacks import Callback
from embeddings.training.run_options import RunOptions
from embeddings.training.stream import CorpusShare, TokenStream, share_bounds
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData

SEARCH_SIZE = 1 << 20  # bytes in which a line end is searched at a time


@dataclass(frozen=True)
class FileRange(File):
    """Bytes `begin` to `end` of a file of plain text."""

    begin: int = 0
    end: int = 0
    is_plain_text: ClassVar[bool] = True  # any text may follow the first bytes of the file, by which it was detected

    @property
    def name(self) -> str:
        """The name of the part for messages, in which positions count from `begin`."""
        return f"{self.path} from byte {self.begin} on" if self.begin else str(self.path)

    def status(self) -> FileStatus:
        """Return the size and what identifies the content; raises OSError."""
        return FileStatus(self.end - self.begin, [self.begin, File(self.path).status().identity])

    @contextmanager
    def open_stream(self) -> Iterator[IO[bytes]]:
        """Open the range for reading bytes."""
        with super().open_stream() as stream:
            yield cast(IO[bytes], LimitedStream(stream, self.begin, self.end))


class LimitedStream(io.RawIOBase):
    """A range of an open file."""

    def __init__(self, stream: IO[bytes], begin: int, end: int) -> None:
        self.stream, self.left = stream, end - begin
        stream.seek(begin)

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes; b"" only at the end."""
        data = self.stream.read(self.left if size < 0 else min(size, self.left))
        self.left -= len(data)
        return data


def divide_files(files: Sequence[File], parts: int, encoding: str) -> list[list[File]]:
    """Return the files, or ranges of them, of each part, in order; a part can be empty.

    Only files of plain text in UTF-8 on disk are cut.

    Raises:
        CorpusError: a file cannot be read.
    """
    sizes = []
    for file in files:
        with read_errors(file.name):
            sizes.append(file.status().size or 0)
    ends = list(accumulate(sizes))
    total = ends[-1] if ends else 0
    cuts = [(0, 0)] + [find_cut(files, sizes, ends, total * part // parts, encoding) for part in range(1, parts)]
    cuts.append((len(files), 0))
    return [between(files, sizes, cuts[part], max(cuts[part], cuts[part + 1])) for part in range(parts)]


def find_cut(files: Sequence[File], sizes: list[int], ends: list[int], place: int, encoding: str) -> tuple[int, int]:
    """Return the nearest cut to a position in the concatenated files: a file, and a byte in it."""
    number = next(number for number, end in enumerate(ends) if place < end or number == len(ends) - 1)
    offset = place - (ends[number] - sizes[number])
    is_text = encoding == UTF8 and not isinstance(files[number], RemoteFile)
    if is_text:
        with files[number].open_stream() as stream:
            head = stream.read(HEAD)
        is_text = not (detect_compression(head) or detect_binary(head))
        is_text = is_text and detect(head, files[number].name) is FileType.TEXT
    if not is_text:
        return (number, 0) if 2 * offset < sizes[number] else (number + 1, 0)
    start = next_line(files[number], offset)
    return (number, start) if start < sizes[number] else (number + 1, 0)


def next_line(file: File, offset: int) -> int:
    """Return where the first line after a byte begins, or the size of the file."""
    if offset == 0:
        return 0
    with file.open_stream() as stream:
        place = offset - 1  # a line may begin at the offset
        stream.seek(place)
        while data := stream.read(SEARCH_SIZE):
            end = data.find(b"\n")
            if end >= 0:
                return place + end + 1
            place += len(data)
        return place


def between(files: Sequence[File], sizes: list[int], first: tuple[int, int], last: tuple[int, int]) -> list[File]:
    """Return what lies between two cuts."""
    parts: list[File] = []
    for number in range(first[0], min(last[0] + 1, len(files))):
        begin = first[1] if number == first[0] else 0
        end = last[1] if number == last[0] else sizes[number]
        is_whole = (begin, end) == (0, sizes[number])
        if end > begin or (is_whole and number < last[0]):
            parts.append(files[number] if is_whole else FileRange(files[number].path, begin, end))
    return parts


def can_divide(corpus: Corpus, trainer: Trainer, run_options: RunOptions) -> bool:
    """Whether workers can read the text: it must be in files, and only words and lines may be used."""
    is_plain = not (corpus.labels or corpus.pairs or corpus.phrase_config or corpus.vocabulary)
    is_plain = is_plain and corpus.lines == "separate" and corpus.rows is None and corpus.max_types is None
    is_plain = is_plain and corpus.tag_column is None and corpus.rules.is_built_in
    has_files = all(type(source) in (File, RemoteFile) for source in corpus.sources)
    has_files = has_files and file_statuses(corpus.sources) is not None
    selects = run_options.vocabulary_rule is not None or getattr(trainer, "min_documents", 1) > 1
    selects = selects or bool(getattr(trainer, "unknown_rows", 0))
    # callbacks that may change the text, but for those that could hold out a share of it and do not
    changing = (one for one in run_options.callbacks if type(one).on_corpus is not Callback.on_corpus)
    cuts = any(getattr(one, "validation", True) is not None for one in changing)
    return is_plain and has_files and not selects and not cuts and reads_shares(trainer)


class DividedText:
    """The pieces of a text for which `can_divide` is true, one for each worker, which reads it with some threads.

    Raises CorpusError if a file cannot be read, is broken, or there are no words.
    """

    def __init__(self, pool: WorkerPool, corpus: Corpus, threads: int) -> None:
        self.pool, self.corpus = pool, corpus
        workers = len(pool.actors)
        files: Any = corpus.sources
        self.files = divide_files(files, workers, corpus.encoding)
        started = perf_counter()
        refs, words = {}, []
        for number, actor in enumerate(pool.actors):
            encode = actor.encode.options(num_returns=2)
            refs[number], counted = encode.remote(self.files[number], corpus.text_settings, threads)
            words.append(counted)
        results = pool.wait(refs)
        self.tokens = [results[number][1] for number in range(workers)]
        self.offsets = np.append(0, np.cumsum(self.tokens)).tolist()
        if not self.offsets[-1]:
            raise NoWordsError(f"no words found in {', '.join(source.name for source in corpus.sources)}")
        self.words: Vocabulary = pool.wait({0: self.reduce(words)})[0]
        metas: list[dict[str, Any]] = [results[number][0] for number in range(workers)]
        columns: dict[str, str] = {}
        for meta in metas:
            columns |= meta["columns"]
        self.meta = {
            "settings": corpus.text_settings,
            "sources": [source.name for source in corpus.sources],
            "tokens": self.offsets[-1],
            "types": len(self.words),
            "decoding_errors": sum(meta["decoding_errors"] for meta in metas),
            "max_undercount": 0,
            "fixed_vocabulary": False,
            "columns": columns,
            "has_items": any(meta["has_items"] for meta in metas),
        }
        unit, types = token_name(corpus.text_settings["tokenizer"]) + "s", len(self.words)
        seconds = perf_counter() - started
        notice(f"{workers} workers read {self.offsets[-1]:,} {unit} ({types:,} distinct) in {seconds:.1f} s")

    def reduce(self, words: list[Any]) -> Any:
        """A reference to the words of all pieces, merged in a tree by the workers."""
        step = 1
        while step < len(words):
            for first in range(0, len(words) - step, 2 * step):
                merge = self.pool.actors[first].merge_words
                words[first] = merge.remote(words[first], words[first + step])
            step *= 2
        return words[0]

    def share_out(self, vocabulary: Vocabulary, shares: int) -> CorpusShare:
        """Divide the text into shares; returns the description of the text, without tokens."""
        total = self.offsets[-1]
        reference, positions = self.pool.ray.put(vocabulary), [total * share // shares for share in range(1, shares)]
        refs = {
            number: actor.set_position.remote(self.offsets[number], reference, positions)
            for number, actor in enumerate(self.pool.actors)
        }
        pieces = self.pool.wait(refs)
        lines = sorted({total, *(line for _, near in pieces.values() for line in near)})
        self.bounds = share_bounds(total, np.array(lines), shares)
        sums = [sum(one) % 2**64 for one in zip(*(hashes for hashes, _ in pieces.values()), strict=True)]
        digest = sha256(f"{total} {sums}".encode())
        digest.update(vocabulary.counts.tobytes())
        nothing = read_only(np.zeros(0, np.int32)), read_only(np.zeros(1, np.int64))
        fingerprint = digest.hexdigest()[:32]
        return CorpusShare(*nothing, 0, self.meta, fingerprint)

    def sender(self, task: ClusterTask, share: CorpusShare) -> Callable[[int], SentShare]:
        """A function that sends a share to a worker."""
        description = description_of(share)

        def send(number: int) -> SentShare:
            begin, end = task.tokens_of(number)
            fragments = []
            for piece in range(len(self.files)):
                if self.offsets[piece] < end:  # earlier pieces tell how many lines they have
                    fragments.append(self.pool.actors[piece].cut.remote(begin, end))
            return SentShare(begin, end, fragments, description)

        return send


def reads_shares(trainer: Trainer) -> bool:
    """Whether the plan of a trainer reads the text only through a `TokenStream`; tried with a few words."""
    words = list("abcdefgh")
    vocabulary = Vocabulary(words, np.full(len(words), 1000))  # none is too rare
    ids, sentences = np.arange(len(words), dtype=np.int32), np.array([0, len(words)], np.int64)
    meta = {"has_items": False, "settings": {}, "documents": 1, "fixed_vocabulary": False}
    share: Any = CorpusShare(read_only(ids), read_only(sentences), 0, meta, "")
    try:
        data = TrainingData(with_small_tables(trainer), share, vocabulary, 1, 1, None)
        plan = data.trainer.plan(data)
    except Exception:  # `WholeCorpusNeeded`, or the settings do not fit a few words
        return False
    return type(plan.stream) is TokenStream and plan.vocabulary is None


def with_small_tables(trainer: "Trainer") -> "Trainer":
    """The trainer with settings that need little memory and suit a few words."""
    sizes = {"dim": 8, "buckets": 100, "cutoffs": None, "word_vectors": None}
    return replace(trainer, **{name: size for name, size in sizes.items() if getattr(trainer, name, None)})
