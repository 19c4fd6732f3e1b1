"""Readers do work in proportion to the file, whatever it repeats; a quadratic reader hangs on a few hundred KB.

The calls of functions, Python's and C's, and the peak of memory are counted for n, 2n and 4n bytes. Loops within one
call of a C function are not counted: a file that is much larger must be done within a limit of CPU time that a linear
reader keeps a hundred times over and a quadratic one exceeds a hundred times.
"""

import functools
import gzip
import signal
import struct
import sys
import tracemalloc
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pytest

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.column_selection import ColumnSelection
from embeddings.corpora.reading.compression import read_head
from embeddings.corpora.reading.reader import SourceReader
from embeddings.corpora.reading.sources import File
from embeddings.corpora.vocabulary import read_vocabulary_file
from embeddings.errors import CorpusError, EmbeddingsError
from embeddings.support import tensors
from embeddings.vectors import file_format
from embeddings.vectors.vectors import Vectors

PATTERNS = {
    "line breaks": b"\n",
    "carriage returns": b"\r",
    "blanks": b" ",
    "blank lines": b" \n",
    "tabs": b"\t",
    "quotes": b'"',
    "quoted line breaks": b'"\n',
    "commas": b",",
    "brackets": b"[",
    "braces": b'{"a":',
    "backslashes": b"\\",
    "a long word": b"a",
    "words": b"a ",
    "lines": b"a\n",
    "rows with tags": b"a,b\n",
    "digits": b"1",  # before a letter, so that they are no number
    "numbers": b"1 ",
    "zeros": b"\0",
    "continuation bytes": b"\x80",
}
WORD_PATTERNS = {
    "a combining mark": "\u0301",
    "marks in order": "\u0323\u0301",
    "marks out of order": "\u0301\u0323",
    "marks outside of the basic plane": "\U0001d165",
    "soft hyphens": "\u00ad",
    "joiners": "\u200d",
    "non-joiners": "\u200c",
    "changes of direction": "\u202e\u202c",
    "variation selectors": "\ufe0f",
    "tags": "\U000e0061",
    "flags": "\U0001f1e9",
    "emoji and joiners": "\U0001f469\u200d",
    "viramas and joiners": "\u0915\u094d\u200d",
    "jamo": "\u1100\u1161",
    "apostrophes": "'",
    "letters and apostrophes": "a'",
    "digits and points": "1.",
    "capital sigmas": "\u03a3",
    "dotted i": "\u0130",
    "both directions": "a\u05d0",
}
COMMON_IN_WORDS = ["a combining mark", "marks out of order", "soft hyphens", "joiners", "changes of direction"]
WORD_STARTS = ["", "e", "\u0915\u094d"]
WORD_SETTINGS = {
    "default": {},
    "all changes": {"normalize": "nfkc", "case": "fold", "fold": "accents,width,ligatures,diacritics,long-s,tatweel"},
    "Greek, emoji as words": {"language": "el", "emoji": "as-words", "fold": "accents"},
    "Lithuanian": {"language": "lt", "hyphens": "join", "apostrophes": "split"},
}
COMMON = ["line breaks", "blanks", "quotes", "brackets", "a long word", "words", "rows with tags", "digits"]
SECONDS = 10  # of CPU time


class Reader(NamedTuple):
    """The name of a file, the starts after which a pattern is repeated, and what reads it."""

    file: str
    starts: tuple[bytes, ...]
    read: object


load_format = functools.cache(file_format.load_format)  # finding a plugin takes longer than reading a small file


def read_format(name):
    """Everything that reads a file of a format, except pickles."""

    def read(path):
        form = load_format(name)
        for use in (form.read, form.describe):
            ignore_refusal(use, path)
        if form.sniff and path.is_file():
            form.sniff(read_head(path))

    return read


def ignore_refusal(use, path):
    try:
        use(path)
    except EmbeddingsError:
        return


def read_corpus(path):
    columns = ColumnSelection() if path.suffix == ".txt" else ColumnSelection("text", "tag")

    def blocks(path):
        for _ in SourceReader("replace", columns=columns).read(File(path)):
            pass

    ignore_refusal(blocks, path)


def read_safetensors(path):
    """The file as a header of that length."""
    data = path.read_bytes()
    path.write_bytes(struct.pack("<Q", len(data)) + data)
    ignore_refusal(tensors.load, path)


def fasttext_start(tmp_path):
    """A fastText file up to its first word, and up to its first matrix."""
    Vectors(["word", "other"], np.ones((2, 3))).save(tmp_path / "start.bin", "fasttext")
    data = (tmp_path / "start.bin").read_bytes()
    return data[: data.index(b"word")], data[: data.index(b"word") + 9]


READERS = {
    "word2vec-binary": Reader("v.bin.gz", (b"5 300\n", b"5 2\na 12345678", b""), read_format("word2vec-binary")),
    "word2vec-text": Reader("v.vec.gz", (b"5 2\n", b"5 2\na 1 2\n", b"5 2\na 1 2"), read_format("word2vec-text")),
    "glove": Reader("v.glove", (b"", b"a 1 2\n", b"a 1"), read_format("glove")),
    "fasttext": Reader("v.bin.gz", (b"", b"header", b"word"), read_format("fasttext")),
    "npy": Reader("v.npy", (b"", b"\x93NUMPY\1\0\xff\xff{"), read_format("npy")),
    "gensim": Reader("v.kv", (b"\x80\4", b"I1", b"(" * 99), read_format("gensim")),
    "safetensors": Reader("v.safetensors", (b"", b'{"a', b'{"a":', b"{"), read_safetensors),
    "text": Reader("t.txt", (b"",), read_corpus),
    "text.gz": Reader("t.txt.gz", (b"",), read_corpus),
    "csv": Reader("t.csv", (b"", b"text,tag\n", b'text,tag\n"', b'text,tag\na,"', b'"'), read_corpus),
    "tsv": Reader("t.tsv", (b"", b"text\ttag\n", b'text\ttag\n"'), read_corpus),
    "jsonl": Reader("t.jsonl", (b"", b'{"text":"', b'{"text":', b'{"text":"a","tag":'), read_corpus),
    "vocabulary": Reader("v.txt", (b"", b"a "), lambda path: ignore_refusal(read_vocabulary_file, path)),
}  # fmt: skip


def run_reader(name, start, pattern, size, folder):
    """Read a file that repeats a pattern up to a size."""
    reader, path = READERS[name], folder / READERS[name].file
    data = start + (pattern * (size // len(pattern) + 1))[:size] + (b"x" if pattern == b"1" else b"")
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    reader.read(path)


@pytest.fixture(scope="module", autouse=True)
def traced_memory():
    """Memory is traced during all tests: Python 3.11 may crash if tracing ends while a library's thread allocates."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


def counted_work(use):
    """The calls of functions, and the peak of allocated bytes, of one use."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += 1

    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    sys.setprofile(count)
    try:
        use()
    finally:
        sys.setprofile(None)
        peak = tracemalloc.get_traced_memory()[1] - before
    return np.array([calls, peak])


@contextmanager
def cpu_limit(seconds, message):
    """Fail after this CPU time; expressions in progress are interrupted too."""
    before = signal.signal(signal.SIGPROF, lambda *_: pytest.fail(message))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def starts_of(name, tmp_path):
    return (b"", *fasttext_start(tmp_path)) if name == "fasttext" else READERS[name].starts


def excess(use):
    """The work of a use for 1, 2 and 4 times a size, if it grows faster than the size; else nothing."""
    use(1)  # what is allocated once is allocated now
    one, two, four = (counted_work(lambda n=n: use(n)) for n in (1, 2, 4))
    slack = np.array([500, 1 << 20])  # buffers of earlier files are freed at any time
    is_more = (two > 2.5 * one + slack) & (four > 2.5 * two + slack)  # what is cached may differ once
    return f"{one} {two} {four}" if is_more.any() else ""


def check_growth(name, size, tmp_path, patterns):
    failures = {
        (label, start[-20:]): excess(lambda n: run_reader(name, start, PATTERNS[label], n * size, tmp_path))  # noqa: B023
        for start in starts_of(name, tmp_path)
        for label in patterns
    }
    assert not any(failures.values()), failures


@pytest.mark.parametrize("name", READERS)
def test_work_grows_with_the_file(name, tmp_path):
    check_growth(name, 2000, tmp_path, COMMON)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_work_grows_with_a_larger_file(name, tmp_path):
    check_growth(name, 100_000, tmp_path, PATTERNS)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_large_file_is_done_in_time(name, tmp_path):
    check_time(name, 1 << 20, tmp_path, PATTERNS)


@pytest.mark.parametrize("name", READERS)
def test_a_file_is_done_in_time(name, tmp_path):
    check_time(name, 1 << 16, tmp_path, COMMON)


def check_time(name, size, tmp_path, patterns):
    for start in starts_of(name, tmp_path):
        for label in patterns:
            with cpu_limit(SECONDS, f"{label} after {start[-20:]!r}"):
                run_reader(name, start, PATTERNS[label], size, tmp_path)


def read_words(start, pattern, size, settings):
    """Encode a text of one line with a word, or many, of that length."""
    try:
        Corpus([start + pattern * (size // len(pattern))], **settings).encode().close()
    except CorpusError:  # no words, or a word that is too long
        return


ALL_WORD_SETTINGS = pytest.mark.parametrize(
    "settings",
    [pytest.param(value, id=name, marks=[pytest.mark.slow] if value else []) for name, value in WORD_SETTINGS.items()],
)


@ALL_WORD_SETTINGS
def test_work_grows_with_the_length_of_words(settings):
    failures = {
        (label, start): excess(lambda n: read_words(start, WORD_PATTERNS[label], 2000 * n, settings))  # noqa: B023
        for label in (WORD_PATTERNS if settings else COMMON_IN_WORDS)
        for start in (WORD_STARTS if settings else ["e"])
    }
    assert not any(failures.values()), failures


@ALL_WORD_SETTINGS
def test_long_words_are_done_in_time(settings):
    for label in WORD_PATTERNS if settings else COMMON_IN_WORDS:
        with cpu_limit(SECONDS, label):
            read_words("e", WORD_PATTERNS[label], 1 << 17, settings)
