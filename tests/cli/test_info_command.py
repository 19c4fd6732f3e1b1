"""`embeddings info`, and `describe`, on every kind of file."""

import gzip
import json
import pickle
from contextlib import contextmanager

import numpy as np
import pytest
from commands import expect
from optional_libraries import needs_gensim
from remote_servers import web_server

import embeddings as em
from embeddings.cli.info import describe
from embeddings.corpora.reading import compression


def info(path, *more):
    return json.loads(expect("info", path, "--json", *more).stdout)


def test_info_on_remote_vectors_reads_their_words(tmp_path, vectors, own_cache):
    vectors.save(tmp_path / "v.npy")
    files = {f"/{name}": (tmp_path / name).read_bytes() for name in ("v.npy", "v.txt")}
    with web_server(files=files) as server:
        properties = describe(f"{server.url}/v.npy", full=True)
    assert properties["words"] == 4
    assert properties["first_words"] == vectors.words


@pytest.mark.parametrize(
    ("name", "format_name", "words", "dim"),
    [
        ("v.bin", "word2vec-binary", 3, 6),
        ("v.txt", "word2vec-text", 3, 6),
        ("v.glove", "glove", None, 6),
        ("v.npy", "npy", 3, 6),
        ("v.parquet", "parquet", 3, 6),
        ("v.arrow", "arrow", 3, 6),
        pytest.param("v.kv", "gensim", None, None, marks=needs_gensim),
    ],
)
def test_info_on_vectors(tmp_path, vectors, name, format_name, words, dim):
    vectors.subset(3).save(tmp_path / name)
    properties = info(tmp_path / name)
    assert (properties["what"], properties["format"]) == ("vectors", format_name)
    assert (properties.get("words"), properties.get("dim")) == (words, dim)
    assert properties["size"] == (tmp_path / name).stat().st_size
    assert properties.get("first_words", vectors.words[:3]) == vectors.words[:3]
    full = info(tmp_path / name, "--full", "--allow-pickle")
    assert (full["words"], full["dim"], full["first_words"]) == (3, 6, vectors.words[:3])
    assert full["checked"]


def test_info_on_models_corpora_and_vocabularies(tmp_path, model):
    properties = info(model)
    assert (properties["what"], properties["words"], properties["dim"], properties["corpus_tokens"]) == (
        "saved model",
        4,
        6,
        30,
    )
    assert properties["tables"] == {"vectors": [4, 6], "output": [4, 6], "bias": [3], "positions": [5, 6]}
    assert properties["settings"] == {"dim": 6}
    vocabulary = info(model / "vocabulary.arrow")
    assert (vocabulary["what"], vocabulary["words"]) == ("vocabulary", 4)
    with em.Corpus(["one two", "two"]).encode() as encoded:
        properties = info(encoded.folder)
    assert (properties["what"], properties["tokens"], properties["types"]) == ("encoded corpus", 3, 2)


@pytest.mark.parametrize(
    ("content", "what", "more"),
    [
        (b"first line\nsecond\n", "text", {"compression": None, "first_line": "first line"}),
        (gzip.compress("日本 é\nx".encode()), "text", {"compression": "gzip", "first_line": "日本 é"}),
        ("é".encode() * 40_000, "text", {"first_line": "é" * 119 + "…"}),
        (b"caf\xe9 au lait\n", "text", {"first_line": "caf\ufffd au lait"}),
        (b"", "empty file", {"size": 0}),
        (b"\x00\x01\x02", "unknown binary file", {"first_bytes": "00 01 02"}),
        (pickle.dumps({"a": 1}), "pickle", {"format": "gensim"}),
    ],
)
def test_info_on_other_files(tmp_path, content, what, more):
    (tmp_path / "f").write_bytes(content)
    properties = info(tmp_path / "f")
    assert properties["what"] == what
    assert properties | more == properties


def test_info_on_a_list_of_phrases(tmp_path):
    em.corpora.PhraseList(["new york", "the big apple"]).save(tmp_path / "f")
    properties = info(tmp_path / "f")
    assert (properties["what"], properties["size"]) == ("list of phrases", (tmp_path / "f").stat().st_size)


class Bomb:
    def __reduce__(self):
        return exec, ("raise SystemExit('it ran')",)


def test_info_runs_no_pickle(tmp_path):
    (tmp_path / "f.kv").write_bytes(pickle.dumps(Bomb(), 4))
    properties = info(tmp_path / "f.kv", "--full")
    assert (properties["what"], properties["holds"]) == ("pickle", "builtins.exec")


def test_info_reads_no_more_than_the_start(tmp_path, monkeypatch):
    sizes = []
    real = compression.open_decompressed

    class CountingStream:
        def __init__(self, stream):
            self.stream = stream

        def read(self, size):
            sizes.append(size)
            return self.stream.read(size)

    @contextmanager
    def counted(path):
        with real(path) as stream:
            yield CountingStream(stream)

    monkeypatch.setattr(compression, "open_decompressed", counted)
    with (tmp_path / "big").open("wb") as stream:
        stream.write(b"word " * 1000)
        stream.truncate(1 << 33)  # 8 GiB, sparse
    assert describe(tmp_path / "big")["size"] == 1 << 33
    assert 0 < sum(sizes) < 1 << 20


def test_info_as_lines(tmp_path, vectors):
    vectors.save(tmp_path / "v.npy")
    lines = dict(line.split("\t") for line in expect("info", tmp_path / "v.npy").stdout.splitlines())
    assert (lines["what"], lines["words"], lines["compression"]) == ("vectors", "4", "-")


def test_an_index_of_texts_without_its_model_has_a_problem(tmp_path, vectors):
    vectors.save(tmp_path / "v.parquet")
    em.TextIndex.build(tmp_path / "v.parquet", ["the king"], tmp_path / "i")
    assert "problem" not in info(tmp_path / "i")
    (tmp_path / "v.parquet").rename(tmp_path / "w.parquet")
    assert "v.parquet" in info(tmp_path / "i")["problem"]
    em.TextIndex.build(tmp_path / "w.parquet", ["the king"], tmp_path / "i", force=True)
    (tmp_path / "i" / "recipe" / "tensors.safetensors").unlink()
    assert "tensors.safetensors" in info(tmp_path / "i")["problem"]


def test_a_paragraph_for_a_paper_has_settings_corpus_and_versions(tmp_path):
    model = em.SkipGram(dim=5, epochs=1, min_count=1, subsample=0).train(["the king", "the queen"], threads=1, seed=7)
    model.save(tmp_path / "m")
    paragraph = " ".join(expect("info", tmp_path / "m", "--methods").stdout.split())
    for fact in (em.__version__, "dim 5", "seed 7", model.record["corpus"], f"numpy {np.__version__}", "on 4 words"):
        assert fact in paragraph
    assert "None" not in paragraph
    assert "negatives 5" in paragraph
    assert "nce normalizer" not in paragraph  # a setting of another objective
    em.train("sembei", ["ab ab ab"], epochs=2, subsample=0, dim=2, min_count=1, threads=1).save(tmp_path / "n")
    assert "on 8 characters of text" in " ".join(expect("info", tmp_path / "n", "--methods").stdout.split())
    replicas = em.training.Replicas(2)
    em.train("skipgram", ["a b c"] * 9, dim=2, min_count=1, threads=1, replicas=replicas).save(tmp_path / "r")
    assert "replicas (count 2," in " ".join(expect("info", tmp_path / "r", "--methods").stdout.split())
