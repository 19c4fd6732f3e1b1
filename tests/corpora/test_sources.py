import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import check, decoded, encode, naive_file, naive_lines, naive_tokens
from platforms import needs_pipes

import embeddings.corpora.encoder  # noqa: F401 - compiles the kernels before a test moves the cache
from embeddings.corpora import Corpus
from embeddings.corpora.reading.sources import File
from embeddings.errors import CorpusError

DOCUMENTS = st.lists(st.text(st.sampled_from("aB é\n\n."), max_size=12), max_size=8)


@settings(deadline=None, max_examples=60)
@given(items=DOCUMENTS, size=st.integers(1, 40), rule=st.sampled_from(["words", "whitespace", str.split]))
def test_each_string_is_a_document_and_its_lines_are_sentences(items, size, rule):
    items = [*items, "end"]
    lines = [naive_lines(item) or [""] for item in items]
    sentences = [
        naive_tokens(line, "whitespace" if callable(rule) else rule, "lower") for lines in lines for line in lines
    ]
    starts = [sum(map(len, lines[:i])) for i in range(len(items) + 1)]
    with encode((item for item in items), block_size=size, tokenizer=rule) as encoded:
        check(encoded, sentences, starts)


@settings(deadline=None, max_examples=60)
@given(
    items=st.lists(st.lists(st.text(st.sampled_from("aB \n\té\0"), max_size=3), max_size=5)),
    size=st.integers(1, 20),
)
def test_each_token_list_is_an_unchanged_sentence(items, size):
    items = [*items, ("End",)]
    with encode(items, block_size=size) as encoded:
        check(encoded, [list(item) for item in items], list(range(len(items) + 1)))


def test_files_end_lines_tokens_and_documents(tmp_path):
    (tmp_path / "1").write_text("one")
    (tmp_path / "2").write_text("\ufefftwo\r\n", encoding="utf-8")
    (tmp_path / "3").write_text("")
    (tmp_path / "4").write_text("four\n \nfour")
    with encode(tmp_path) as encoded:
        check(encoded, [["one"], ["two"], ["four"], [], ["four"]], [0, 1, 2, 4, 5])


def test_exceptions_of_an_iterable_propagate_and_leave_no_files(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def items(error):
        yield "a"
        raise error

    for error in (KeyboardInterrupt(), ZeroDivisionError("mine")):
        with pytest.raises(type(error)):
            Corpus(items(error)).encode()
    assert list(tmp_path.iterdir()) == []


def test_folders_are_read_recursively_in_order_without_hidden_files(tmp_path):
    for name in ("b/2", "b/1", "a", "c", ".hidden", "b/.hidden", ".git/x"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name.replace("/", ""))
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
    with encode(tmp_path) as encoded:
        assert decoded(encoded) == [["a"], ["b1"], ["b2"], ["c"]]


def test_saved_models_are_not_texts(tmp_path):
    for name in ("model.json", "vocabulary.arrow"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(CorpusError, match="is a saved model"):
        Corpus(tmp_path)


def test_an_unreadable_file_is_reported(tmp_path, monkeypatch):
    path = tmp_path / "f"
    path.write_text("a")

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(CorpusError, match=r"/f cannot be read: Permission denied$"):
        File(path).open_stream().__enter__()


@pytest.mark.parametrize("text", ["", "\n\n", " ... \n"])
def test_a_corpus_without_words_is_refused(tmp_path, text):
    (tmp_path / "f").write_text(text)
    with pytest.raises(CorpusError, match=r"no words found in .*/f$"):
        encode(tmp_path / "f")
    with pytest.raises(CorpusError, match=r"no words found in an iterable \(list\)$"):
        encode([])


@pytest.mark.parametrize("kind", [str, Path])
def test_a_list_of_paths_is_refused_as_a_list_of_texts(tmp_path, kind):
    (tmp_path / "f").write_text("a text")
    with pytest.raises(CorpusError, match=r"a file: Corpus\(\*paths\)"):
        encode([kind(tmp_path / "f")])


def test_the_sample_is_built_in_unless_a_file_has_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with encode("sample") as encoded:
        assert len(encoded.documents) - 1 == 566
        text = "".join(f"{' '.join(tokens)}\n" for tokens in decoded(encoded)[:2])
        assert text.startswith("anarchism\nanarchism is a political philosophy")
    (tmp_path / "sample").write_text("mine")
    with encode("sample") as encoded:
        assert decoded(encoded) == [["mine"]]


@pytest.mark.parametrize("data", [b"b a\na", gzip.compress(b"b a\n") + gzip.compress(b"a")])
def test_standard_input(monkeypatch, data):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    with Corpus("-").encode() as encoded:
        assert decoded(encoded) == [["b", "a"], ["a"]]
        assert encoded.finalizer is not None


def test_progress_reaches_the_total(tmp_path):
    (tmp_path / "1").write_text("word " * 2000)
    (tmp_path / "2").write_text("more " * 1000)
    seen = []
    Corpus(tmp_path).write_text(make(tmp_path / "out"), lambda *progress: seen.append(progress), block_size=1000)
    done, totals = zip(*seen, strict=True)
    assert list(done) == sorted(done)
    assert done[-1] == 15_000
    assert set(totals) == {15_000}
    seen.clear()
    Corpus(["word " * 100]).write_text(
        make(tmp_path / "out2"), lambda *progress: seen.append(progress), block_size=1000
    )
    assert seen[-1] == (500, None)


def make(folder):
    folder.mkdir()
    return folder


def test_importing_needs_neither_numba_nor_pyarrow():
    code = "import sys, embeddings.corpora; print({'numba', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"set()\n"


@pytest.mark.parametrize(("threads", "limit"), [(1, 40 << 20), pytest.param(2, 120 << 20, marks=pytest.mark.slow)])
def test_memory_does_not_grow_with_the_corpus(tmp_path, threads, limit):
    """One-word lines are the worst case for bounds: 40 MB of them stay in blocks, or in chunks."""
    import tracemalloc

    Corpus(["a"]).encode()  # imports what is imported when it is used
    (tmp_path / "f").write_bytes(b"a\n" * 20_000_000)
    corpus = Corpus(tmp_path / "f")
    tracemalloc.start()
    try:
        corpus.write_text(make(tmp_path / "out"), None, threads, block_size=1 << 18)
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()
    assert naive_file("a\n" * 3)[0] == [["a"]] * 3


def test_a_generator_function_is_called():
    def texts():
        yield "one two"

    with Corpus(texts).encode() as encoded:
        assert decoded(encoded) == [["one", "two"]]


@needs_pipes
def test_a_pipe_may_return_short_reads(tmp_path):
    text = "the old town, été 日本\n" * 50
    (tmp_path / "t").write_text(text)
    expected = decoded(encode(tmp_path / "t"))
    reader, writer = os.pipe()
    if os.fork() == 0:
        for byte in text.encode():
            os.write(writer, bytes([byte]))
        os._exit(0)
    os.close(writer)
    try:
        assert decoded(encode(f"/dev/fd/{reader}", block_size=64)) == expected
    finally:
        os.close(reader)
        os.wait()
