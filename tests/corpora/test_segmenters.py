"""Tokenizers of other libraries, in processes of their own."""

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from naive_corpora import decoded, encode
from platforms import needs_kill

import embeddings as em
from embeddings.corpora import Corpus, LabelFormat, PairFormat, VectorFormat, segmenter_pool, text_vectors
from embeddings.corpora.corpus_cache import warn_once
from embeddings.corpora.segmenters import load_jieba, script_advice
from embeddings.corpora.tokenizers import resolve_tokenizer
from embeddings.errors import CorpusError, FormatError, RegistryError

PLUGIN = """
import os, time
from pathlib import Path
from embeddings.corpora.segmenters import Segmenter

def load(argument):
    if argument:
        with open(argument, "a") as stream:
            stream.write(f"{os.getpid()}\\n")
    def split(line):
        if "boom" in line:
            raise ValueError("two\\nlines")
        if "leave" in line:
            os._exit(7)
        if "wait" in line:
            time.sleep(600)
        print("noise")
        return line.split(" ")
    return split

fake = Segmenter("fake", load, "json", ("numpy",), argument_name="a file")
"""
LINES = [f"Line {number} , with  {'word ' * (number % 7)}" for number in range(3000)]
EXPECTED = [[word.lower() for word in line.split() if word != ","] for line in LINES]


@pytest.fixture
def fake(install, monkeypatch):
    """A package with a segmenter, which the processes find as this one does."""
    monkeypatch.delitem(sys.modules, "fake_module", raising=False)
    return install("fake", "fake = fake_module:fake", PLUGIN, group="embeddings.tokenizers")


@pytest.fixture(params=[1, 3], ids=["one process", "three processes"])
def processes(request, monkeypatch):
    monkeypatch.setattr(segmenter_pool, "available_threads", lambda: request.param)


@pytest.mark.parametrize("size", [700])
def test_lines_stay_in_order(tmp_path, fake, processes, size):
    (tmp_path / "a.txt").write_text("\n".join(LINES[:1000]) + "\n")
    (tmp_path / "b.txt").write_text("\r\n".join(LINES[1000:]))
    files = (tmp_path / "a.txt", tmp_path / "b.txt")
    with encode(*files, tokenizer="fake", block_size=size) as encoded:
        assert decoded(encoded) == EXPECTED
        assert encoded.meta["documents"] == 2
        assert encoded.meta["settings"]["tokenizer"] == "fake"
    with encode(*files, tokenizer="fake", case="keep", block_size=size, rows=5) as encoded:
        assert decoded(encoded) == [[word for word in line.split() if word != ","] for line in LINES[:5]]


@pytest.mark.parametrize("size", [50])
def test_rows_have_lines_and_tags(fake, processes, size):
    rows = [{"text": f"first {number}\n,\n\nthird", "tags": [f"t{number}", "all"]} for number in range(300)]
    with encode(rows, tokenizer="fake", text_column="text", tag_column="tags", block_size=size) as encoded:
        assert decoded(encoded) == [
            line for number in range(300) for line in (["first", str(number)], [], [], ["third"])
        ]
        assert encoded.tags.to_pylist() == [tag for number in range(300) for tag in (f"t{number}", "all")]
    with encode([["As", "Is"], ["x"]], tokenizer="fake") as encoded:
        assert decoded(encoded) == [["As", "Is"], ["x"]]


def test_documents_and_lines_without_words(tmp_path, fake):
    (tmp_path / "t").write_text("a\n,\nb\n\n \nc\x01d\n")
    with encode(tmp_path / "t", tokenizer="fake") as encoded:
        assert decoded(encoded) == [["a"], [], ["b"], [], [], ["c", "d"]]
        assert encoded.documents.tolist() == [0, 5, 6]


def test_texts_with_labels_pairs_or_vectors_are_split_too(fake):
    texts = ["Some Text , here", "and more"]
    labelled = encode([f"__label__a {text}" for text in texts], tokenizer="fake", labels=LabelFormat())
    with_vectors = encode(text_vectors(texts, np.eye(2, dtype=np.float32)), tokenizer="fake", vectors=VectorFormat())
    paired = encode([(*texts, 0.5), (*texts[::-1], 1.5)], tokenizer="fake", pairs=PairFormat())
    for encoded in (labelled, with_vectors, paired):
        assert decoded(encoded)[:2] == [["some", "text", "here"], ["and", "more"]]


def test_a_callable_gets_lines_of_spaces_and_may_return_any_strings():
    with encode(["a b\n  \n", "x"], tokenizer=lambda line: [*line, "\n\x01y", ""]) as encoded:
        assert decoded(encoded) == [["a", " ", "b", "  y"], [" ", " ", "  y"], ["x", "  y"]]
    with encode(["a"], tokenizer=lambda line: [line, "\x01y"]) as encoded:
        assert decoded(encoded) == [["a", " y"]]
    with pytest.raises(CorpusError, match="row 2, line 1: the tokenizer must return strings, got 5 of type int"):
        encode(["a", "b"], tokenizer=lambda line: [5] if line == "b" else [line])


@pytest.mark.parametrize("size", [200])
def test_an_error_has_file_and_line(tmp_path, fake, processes, size):
    (tmp_path / "good").write_text("good\n")
    (tmp_path / "t").write_text("\n".join(["fine words"] * 1234 + ["boom"] + ["fine words"] * 100))
    message = "line 1235: the tokenizer fake failed: ValueError: two lines$"
    with pytest.raises(CorpusError, match=message):
        encode(tmp_path / "good", tmp_path / "t", tokenizer="fake", block_size=size)
    rows = ["fine\ntext"] * 500 + ["fine\nboom"]
    with pytest.raises(CorpusError, match="row 501, line 2: the tokenizer fake failed"):
        encode(rows, tokenizer="fake", block_size=size)


def test_a_process_that_ends_is_an_error(tmp_path, fake, monkeypatch):
    monkeypatch.setattr(segmenter_pool, "available_threads", lambda: 2)
    (tmp_path / "t").write_text("\n".join(["fine words"] * 1000 + ["leave"]))
    with pytest.raises(CorpusError, match=r"a process of the tokenizer fake ended with exit code 7"):
        encode(tmp_path / "t", tokenizer="fake", block_size=200)


def test_the_encoded_corpus_is_cached(tmp_path, fake, monkeypatch):
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "t").write_text("some text\n")
    for _ in range(2):
        assert em.Corpus(tmp_path / "t", tokenizer=f"fake:{tmp_path / 'log'}").encode().vocabulary.words == [
            "some",
            "text",
        ]
        monkeypatch.setattr("embeddings.corpora.encoder.SegmenterPool", None)
    assert len((tmp_path / "log").read_text().split()) == 1


def test_vectors_are_looked_up_without_the_segmenter(tmp_path, fake, monkeypatch):
    model = em.train("skipgram", em.Corpus(["Some Text"] * 10, tokenizer="fake"), dim=4, subsample=0, threads=1)
    model.save(tmp_path / "model")
    monkeypatch.setattr("embeddings.corpora.segmenters.find_spec", lambda name: None)
    vectors = em.load(tmp_path / "model")
    assert vectors["SOME"].tolist() == vectors["some"].tolist()


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


KILL = getattr(signal, "SIGKILL", 9)


@needs_kill
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow), KILL])
def test_processes_end_with_the_command(tmp_path, fake, number):
    log = tmp_path / "log"
    (tmp_path / "t").write_text("\n".join(["fine words"] * 50_000 + ["wait"] + ["fine words"] * 50_000))
    script = (
        "from embeddings.corpora import segmenter_pool; segmenter_pool.available_threads = lambda: 2; "
        "from embeddings.cli import main; main()"
    )
    command = [sys.executable, "-c", script, "vocabulary", tmp_path / "t", "-o", tmp_path / "v.txt"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(fake), *filter(None, sys.path)])}
    process = subprocess.Popen(
        [*map(str, command), "--tokenizer", f"fake:{log}"], stderr=subprocess.PIPE, text=True, env=env
    )
    try:
        while not (log.exists() and log.read_text().count("\n") == 3):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        process.send_signal(number)
        _, messages = process.communicate(timeout=60)
    finally:
        process.kill()
    assert "Traceback" not in messages
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, KILL: -9}[number]
    assert not (tmp_path / "v.txt").exists()
    children = [int(line) for line in log.read_text().split() if int(line) != process.pid]
    waiting = 1 if number == KILL else 0  # one that is asleep notices the end of its input later
    while sum(map(is_running, children)) > waiting:
        time.sleep(0.05)
    for child in filter(is_running, children):
        os.kill(child, KILL)


def test_a_library_that_is_not_installed(monkeypatch):
    monkeypatch.setattr("embeddings.corpora.segmenters.find_spec", lambda name: None)
    with pytest.raises(RegistryError, match=r"requires jieba.*pip install 'embeddings-toolkit\[jieba\]'"):
        resolve_tokenizer("jieba")


@pytest.mark.parametrize("content", [None, "{}", "\0"])
def test_a_tokenizer_json_that_is_missing_or_broken(tmp_path, content):
    pytest.importorskip("tokenizers")
    if content is not None:
        (tmp_path / "t.json").write_text(content)
    with pytest.raises(FormatError, match=r"t\.json.*(cannot be read|broken)"):
        encode(["a"], tokenizer=f"huggingface:{tmp_path / 't.json'}")


def test_a_tokenizer_json(tmp_path, monkeypatch, processes):
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({"[UNK]": 0, "play": 1, "##ing": 2, "!": 3}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.enable_truncation(2)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("playing play!\n" * 500)
    with encode("t.txt", tokenizer="huggingface:tokenizer.json", block_size=200) as encoded:
        assert decoded(encoded) == [["play", "##ing", "play", "!"]] * 500
        assert encoded.meta["settings"]["tokenizer"] == "huggingface:tokenizer.json"


@pytest.mark.filterwarnings("ignore")  # of the libraries
@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("jieba", "我来到北京清华大学\uff0c很好。", ["我", "来到", "北京", "清华大学", "很", "好"]),
        ("fugashi", "吾輩は猫である。名前は", ["吾輩", "は", "猫", "で", "ある", "名前", "は"]),
        ("pythainlp", "สวัสดีชาวโลก ครับ", ["สวัสดี", "ชาวโลก", "ครับ"]),
        ("spacy:de", "Das ist z.B. ein Test, oder?", ["das", "ist", "z.b.", "ein", "test", "oder"]),
        ("spacy", "Well, yes", ["well", "yes"]),
    ],
)
def test_segmenters_against_their_libraries(name, text, tokens):
    pytest.importorskip(name.partition(":")[0])
    with encode([text], tokenizer=name) as encoded:
        assert decoded(encoded) == [tokens]


def test_jieba_keeps_its_dictionary_in_a_private_folder(tmp_path, monkeypatch):
    """Not in the system's folder for temporary files, where others could have put one."""
    names = ("setLogLevel", "initialize", "lcut")
    jieba = SimpleNamespace(dt=SimpleNamespace(), **dict.fromkeys(names, lambda *_: []))
    monkeypatch.setitem(sys.modules, "jieba", jieba)
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path))
    load_jieba("")
    assert jieba.dt.tmp_dir == str(tmp_path / "segmenters")


THAI = "ภาษาไทยเป็นภาษาราชการของประเทศไทย"
CHINESE = "道可道非常道名可名非常名"
JAPANESE = "吾輩は猫である名前はまだ無い"


def advice(text, **settings):
    with encode(text, **settings) as encoded:
        return script_advice(encoded.vocabulary, encoded.meta["settings"]["tokenizer"])


@pytest.mark.parametrize(
    ("text", "script"), [(THAI, "Thai"), (CHINESE, "Chinese or Japanese"), (JAPANESE, "Chinese or Japanese")]
)
@pytest.mark.parametrize("tokenizer", ["words", "whitespace"])
def test_lines_as_words(text, script, tokenizer):
    message = advice([text] * 5 + ["some English words"], tokenizer=tokenizer)
    assert f"words in {script} average" in message
    assert ("pythainlp" if script == "Thai" else "jieba") in message
    assert advice([text], tokenizer="characters") is None


@pytest.mark.parametrize(
    "text",
    [
        "plain English text",
        "안녕하세요 세계",
        "ภาษา ไทย เป็น ภาษา",
        "我 来到 北京 清华大学",
        f"a long text in English with {CHINESE[:4]} " * 9,
    ],
)
def test_words_of_usual_length(text):
    assert advice([text], tokenizer="whitespace") is None


def test_it_is_logged_before_training(tmp_path, caplog):
    warn_once.cache_clear()
    Corpus([THAI] * 20).encode()
    assert "words in Thai average" in caplog.text
    caplog.clear()
    Corpus([THAI] * 20).encode()
    Corpus([THAI] * 20, tokenizer="characters").encode()
    assert "average" not in caplog.text
