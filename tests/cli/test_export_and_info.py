"""`export` with its options, `info` on every kind of file, and `evaluate` with methods and intervals."""

import gzip
import json
import pickle
import time

import numpy as np
import pytest
from commands import expect

import embeddings as em
from embeddings.cli.inspection import describe
from embeddings.corpora.reading import compressed_files
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.models.model import Model
from embeddings.vectors.vectors import Vectors

WORDS = ["the", "king", "queen", "new york"]


@pytest.fixture
def vectors():
    return Vectors(WORDS, np.random.default_rng(0).standard_normal((4, 6)), counts=[9, 5, 5, 1])


@pytest.fixture
def model(tmp_path, vectors):
    output = np.arange(24, dtype=np.float32).reshape(4, 6)
    tables = {"output": output, "bias": np.ones(3, np.float32), "positions": np.ones((5, 6), np.float32)}
    vocabulary = Vocabulary(WORDS, [9, 5, 5, 1], total=30)
    Model("skipgram", vectors=vectors, vocabulary=vocabulary, tables=tables, settings={"dim": 6}).save(tmp_path / "m")
    return tmp_path / "m"


@pytest.mark.parametrize("name", ["v.kv", "v.npy", "v.parquet", "v.arrow", "v.feather"])
def test_every_ending(tmp_path, model, vectors, name):
    done = expect("export", model, tmp_path / name)
    assert done.stdout == ""
    assert f"{tmp_path / name}" in done.stderr
    found = em.load(tmp_path / name, allow_pickle=True)
    assert found.words == WORDS
    assert np.array_equal(found.matrix, vectors.matrix)


def test_words_a_format_cannot_hold_leave_nothing(tmp_path, model):
    done = expect("export", model, tmp_path / "v.glove", code=1)
    assert done.stderr == "Error: the glove format cannot hold the word 'new york', which holds white space\n"
    assert not (tmp_path / "v.glove").exists()


def test_another_table(tmp_path, model):
    expect("export", model, tmp_path / "o.npy", "--table", "output")
    assert np.load(tmp_path / "o.npy").tolist() == np.arange(24).reshape(4, 6).tolist()
    for table, told in [
        ("wrong", "has no table 'wrong'; it has vectors, "),
        ("bias", "is (3,) float32: not one vector for each of 4 words"),
        ("positions", "is (5, 6) float32: not one vector for each"),
    ]:
        assert told in expect("export", model, tmp_path / "x.npy", "--table", table, code=2).stderr
    done = expect("export", tmp_path / "o.npy", tmp_path / "x.bin", "--table", "output", code=2)
    assert "only a saved model has tables beside its vectors" in done.stderr


def test_fewer_words(tmp_path, model):
    expect("export", model, tmp_path / "two.bin", "--words", "2")
    assert em.load(tmp_path / "two.bin").words == ["the", "king"]
    (tmp_path / "list").write_text("queen\nunseen\nnew york\nnor this\n")
    done = expect("export", model, tmp_path / "some.npy", "--words", tmp_path / "list")
    assert em.load(tmp_path / "some.npy").words == ["queen", "new york"]
    assert f"2 of the 4 words of {tmp_path / 'list'} have no vector, such as 'unseen'" in done.stderr
    (tmp_path / "list").write_text("unseen\n")
    done = expect("export", model, tmp_path / "x.npy", "--words", tmp_path / "list", code=1)
    assert "none of the 1 words of" in done.stderr
    assert "must be at least 1, not 0" in expect("export", model, tmp_path / "x.bin", "--words", "0", code=2).stderr


def test_counts(tmp_path, model):
    expect("export", model, tmp_path / "v.npy", "--counts", "--words", "3")
    assert (tmp_path / "v.npy.vocab").read_text() == "the 9\nking 5\nqueen 5\n"
    expect("export", model, tmp_path / "v.parquet", "--no-counts")
    assert em.load(tmp_path / "v.parquet").counts is None
    done = expect("export", tmp_path / "v.parquet", tmp_path / "w.bin", "--counts", code=2)
    assert "counts are asked for, and these vectors have none" in done.stderr


def test_half_precision_where_a_format_has_it(tmp_path, model):
    expect("export", model, tmp_path / "v.npy", "--dtype", "float16")
    assert np.load(tmp_path / "v.npy").dtype == np.float16
    done = expect("export", tmp_path / "missing", tmp_path / "v.bin", "--dtype", "float16", code=2)
    assert done.stderr == "Error: the word2vec-binary format has no dtype; leave it out\n"


def test_outputs_are_checked_before_anything_is_read(tmp_path):
    (tmp_path / "v.txt").write_text("mine")
    assert "v.txt exists" in expect("export", tmp_path / "missing", tmp_path / "v.npy", code=1).stderr


def info(path, *more):
    return json.loads(expect("info", path, "--json", *more).stdout)


@pytest.mark.parametrize(
    ("name", "form", "words", "dim"),
    [
        ("v.bin", "word2vec-binary", 3, 6),
        ("v.txt", "word2vec-text", 3, 6),
        ("v.glove", "glove", None, 6),
        ("v.npy", "npy", 3, 6),
        ("v.parquet", "parquet", 3, 6),
        ("v.arrow", "arrow", 3, 6),
        ("v.kv", "gensim", None, None),
    ],
)
def test_info_on_vectors(tmp_path, vectors, name, form, words, dim):
    vectors.subset(3).save(tmp_path / name)
    facts = info(tmp_path / name)
    assert (facts["what"], facts["format"], facts.get("words"), facts.get("dim")) == ("vectors", form, words, dim)
    assert facts["size"] == (tmp_path / name).stat().st_size
    assert facts.get("first_words", WORDS[:3]) == WORDS[:3]
    full = info(tmp_path / name, "--full", "--allow-pickle")
    assert (full["words"], full["dim"], full["first_words"]) == (3, 6, WORDS[:3])
    assert full["checked"]


def test_info_on_models_corpora_and_vocabularies(tmp_path, model):
    facts = info(model)
    assert (facts["what"], facts["words"], facts["dim"], facts["corpus_tokens"]) == ("saved model", 4, 6, 30)
    assert facts["tables"] == {"vectors": [4, 6], "output": [4, 6], "bias": [3], "positions": [5, 6]}
    assert facts["settings"] == {"dim": 6}
    vocabulary = info(model / "vocabulary.arrow")
    assert (vocabulary["what"], vocabulary["words"]) == ("vocabulary", 4)
    with em.Corpus(["one two", "two"]).encode() as encoded:
        facts = info(encoded.folder)
    assert (facts["what"], facts["tokens"], facts["types"]) == ("encoded corpus", 3, 2)


@pytest.mark.parametrize(
    ("content", "what", "more"),
    [
        (b"first line\nsecond\n", "text", {"compression": None, "first_line": "first line"}),
        (gzip.compress("日本 é\nx".encode()), "text", {"compression": "gzip", "first_line": "日本 é"}),
        ("é".encode() * 40_000, "text", {"first_line": "é" * 119 + "…"}),
        (b"caf\xe9 au lait\n", "text", {"encoding": "not UTF-8"}),
        (b"dim = 12\n", "text", {"first_line": "dim = 12"}),
        (b"", "empty file", {"size": 0}),
        (b"\x00\x01\x02", "unknown binary file", {"first_bytes": "00 01 02"}),
        (pickle.dumps({"a": 1}), "pickle", {"format": "gensim"}),
    ],
)
def test_info_on_other_files(tmp_path, content, what, more):
    (tmp_path / "f").write_bytes(content)
    facts = info(tmp_path / "f")
    assert facts["what"] == what
    assert facts | more == facts


def test_info_reads_all_of_a_text_when_asked(tmp_path):
    (tmp_path / "f").write_bytes(gzip.compress(b"one\ntwo\nthree"))
    assert info(tmp_path / "f", "--full") | {"lines": 3, "bytes": 13} == info(tmp_path / "f", "--full")


def test_info_on_a_list_of_phrases(tmp_path):
    em.PhraseList(["new york", "the big apple"]).save(tmp_path / "f")
    facts = info(tmp_path / "f")
    assert (facts["what"], facts["size"]) == ("list of phrases", (tmp_path / "f").stat().st_size)
    assert info(tmp_path / "f", "--full")["phrases"] == 2


class Bomb:
    def __reduce__(self):
        return exec, ("raise SystemExit('it ran')",)


def test_info_runs_no_pickle(tmp_path):
    (tmp_path / "f.kv").write_bytes(pickle.dumps(Bomb(), 4))
    facts = info(tmp_path / "f.kv", "--full")
    assert (facts["what"], facts["holds"]) == ("pickle", "builtins.exec")


def test_info_reads_no_more_than_the_start(tmp_path, vectors, monkeypatch):
    taken = []
    real = compressed_files.plain

    class Counting:
        def __init__(self, stream):
            self.stream = stream

        def read(self, size):
            taken.append(size)
            return self.stream.read(size)

    from contextlib import contextmanager

    @contextmanager
    def counted(path):
        with real(path) as stream:
            yield Counting(stream)

    monkeypatch.setattr(compressed_files, "plain", counted)
    with (tmp_path / "big").open("wb") as stream:
        stream.write(b"word " * 1000)
        stream.truncate(1 << 33)  # 8 GiB, of holes
    begun = time.perf_counter()
    assert describe(tmp_path / "big")["size"] == 1 << 33
    assert sum(taken) < 1 << 20
    assert time.perf_counter() - begun < 1


def test_info_as_lines_and_on_what_is_missing(tmp_path, vectors):
    vectors.save(tmp_path / "v.npy")
    lines = dict(line.split("\t") for line in expect("info", tmp_path / "v.npy").stdout.splitlines())
    assert (lines["what"], lines["words"], lines["compression"]) == ("vectors", "4", "-")
    assert expect("info", tmp_path / "none", code=1).stderr.endswith("none does not exist\n")


def test_evaluate_with_both_methods_and_intervals(tmp_path):
    rng = np.random.default_rng(1)
    Vectors([f"w{i}" for i in range(50)], rng.standard_normal((50, 4))).save(tmp_path / "v.bin")
    (tmp_path / "pairs").write_text("".join(f"w{i} w{i + 1} {i % 7}\n" for i in range(30)))
    (tmp_path / "questions").write_text(": s\nw1 w2 w3 w4\nw1 w2 w5 w6\n")
    asked = ["--similarity", tmp_path / "pairs", "--analogy", tmp_path / "questions"]
    lines = expect(
        "evaluate", tmp_path / "v.bin", *asked, "--method", "3cosadd", "--method", "3cosmul"
    ).stdout.splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]
    measures = [(row["measure"], row["method"], row["words"]) for row in rows if row["section"] == "all"]
    assert measures == [
        ("spearman", "-", "all"),
        ("pearson", "-", "all"),
        *(("accuracy", method, "all") for method in ("3cosadd", "3cosmul")),  # all words are among the first 30,000
    ]
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in rows)
