"""fastText's .bin: whole models there and back, mapped; what it cannot hold; what is told of it."""

import bz2
import gzip
import lzma

import numpy as np
import pytest
from subword_models import UNSEEN, WORDS, model

import embeddings as em
from embeddings.cli.inspection import describe
from embeddings.corpora.vocabulary import UnknownWordError, Vocabulary
from embeddings.errors import FormatError, SettingError
from embeddings.formats import fasttext_bin
from embeddings.models.model import Model
from embeddings.vectors import format_dispatch
from embeddings.vectors.vectors import Vectors

DIM, BUCKETS = 7, 50
KNOWN = [word for word in UNSEEN if word]


@pytest.fixture
def made():
    return model(
        architecture="cbow", window=4, epochs=3, min_count=2, negatives=8, sample=0.01, dim=DIM, buckets=BUCKETS
    )


@pytest.fixture
def path(tmp_path, made):
    made.export(tmp_path / "m.bin", "fasttext")
    return tmp_path / "m.bin"


def same(found, made, words=KNOWN):
    assert found.words == made.words
    assert np.array_equal(found.counts, made.counts)
    assert found.matrix.tobytes() == made.matrix.tobytes()
    for word in words:
        assert found[word].tobytes() == made[word].tobytes()


def test_a_model_comes_back_whole(path, made):
    found = em.load_model(path)
    same(found.vectors, made.vectors)
    assert found.settings == made.settings
    assert found.vocabulary.total == made.vocabulary.total
    assert {name: table.tobytes() for name, table in found.tables.items()} == {
        name: table.tobytes() for name, table in made.tables.items()
    }
    same(em.load(path), made.vectors)


def test_matrices_are_mapped(path):
    found = em.load_model(path)
    for name in ("words", "ngrams", "output"):
        table = found.tables[name]
        assert isinstance(table, np.memmap) or isinstance(table.base, np.memmap)
        assert not table.flags.writeable


def test_what_is_read_is_written_again_byte_for_byte(tmp_path, path):
    em.load_model(path).export(tmp_path / "again.bin", "fasttext")
    assert (tmp_path / "again.bin").read_bytes() == path.read_bytes()


def test_what_is_read_becomes_a_folder_and_a_file_again(tmp_path, path, made):
    found = em.load_model(path)
    found.save(tmp_path / "m")
    again = Model.load(tmp_path / "m")
    again.composer = made.composer  # the trainer may not be installed
    again.export(tmp_path / "again.bin", "fasttext")
    assert (tmp_path / "again.bin").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
def test_compressed_files_are_read(tmp_path, path, made, pack):
    (tmp_path / "packed").write_bytes(pack(path.read_bytes()))
    found = em.load_model(tmp_path / "packed")
    same(found.vectors, made.vectors)
    assert found.tables["output"].tobytes() == made.tables["output"].tobytes()


@pytest.mark.parametrize("block", [1, 7, 100])
def test_blocks_of_any_size_read_the_same(monkeypatch, tmp_path, path, made, block):
    (tmp_path / "packed").write_bytes(gzip.compress(path.read_bytes()))
    monkeypatch.setattr("embeddings.formats.fasttext_reading.BLOCK", block)
    monkeypatch.setattr("embeddings.formats.fasttext_reading.COMPRESSION", 10**9)
    plain, packed = em.load(path), em.load(tmp_path / "packed")
    same(plain, made.vectors)
    same(packed, made.vectors)
    assert plain.matrix.tobytes() == packed.matrix.tobytes()


def test_a_model_without_ngrams(tmp_path):
    vectors = Vectors(["b", "a", "c d"], np.random.default_rng(0).standard_normal((3, 4)), counts=[7, 2, 2])
    output = np.ones((3, 4), np.float32)
    made = Model(
        "cbow",
        vectors=vectors,
        vocabulary=Vocabulary(vectors.words, vectors.counts, total=20),
        tables={"output": output, "slots": np.ones((3, 2, 4), np.float32)},
        settings={"window": 3, "sample": 0},
    )
    made.export(tmp_path / "m.bin", "fasttext")
    found = em.load_model(tmp_path / "m.bin")
    same(found.vectors, vectors, words=())
    assert np.array_equal(found.tables["output"], output)
    expected = {"architecture": "cbow", "min_n": 0, "max_n": 0, "buckets": 0, "window": 3, "sample": 0}
    assert found.settings.items() >= expected.items()
    with pytest.raises(UnknownWordError):
        found.vectors["x"]


def test_an_output_that_has_no_row_for_each_word_is_written_as_zeros(tmp_path, made):
    made.tables["output"] = np.ones((len(WORDS), 3, DIM), np.float32)
    made.export(tmp_path / "m.bin", "fasttext")
    assert not em.load_model(tmp_path / "m.bin").tables["output"].any()


def test_vectors_alone(tmp_path):
    vectors = Vectors(["b", "a"], np.eye(2))
    vectors.save(tmp_path / "v.bin", "fasttext")
    found = em.load(tmp_path / "v.bin")
    assert found.words == ["b", "a"]
    assert found.counts.tolist() == [1, 1]
    assert np.array_equal(found.matrix, np.eye(2))


def test_vectors_that_compose_are_not_written_without_what_they_are_made_of(tmp_path, made):
    with pytest.raises(FormatError, match="takes their whole model"):
        made.vectors.save(tmp_path / "v.bin", "fasttext")
    made.vectors.normalised().save(tmp_path / "v.bin", "fasttext")
    assert em.load(tmp_path / "v.bin").compose is None


REFUSED = {
    "empty": (["a", ""], "cannot hold the word '', which is empty"),
    "NUL": (["a", "b\0"], r"cannot hold the word 'b\\x00'"),
    "surrogate": (["a", "\ud800"], "not valid Unicode"),
}


@pytest.mark.parametrize(("words", "told"), REFUSED.values(), ids=REFUSED)
def test_words_it_cannot_hold(tmp_path, words, told):
    with pytest.raises(FormatError, match=told):
        Vectors(words, np.eye(2)).save(tmp_path / "v.bin", "fasttext")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("table", ["words", "ngrams", "output"])
def test_no_table_with_a_nan_is_written(tmp_path, made, table):
    made.tables[table][-1, -1] = np.nan
    with pytest.raises(FormatError, match="NaN"):
        made.export(tmp_path / "m.bin", "fasttext")
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_composes_in_another_way_is_refused(tmp_path, made):
    del made.tables["words"]
    with pytest.raises(FormatError, match="cannot hold a fasttext model, which is not made of n-grams"):
        made.export(tmp_path / "m.bin", "fasttext")


def test_counts_of_a_model_are_always_held(tmp_path, made):
    with pytest.raises(SettingError, match="always holds the counts"):
        made.export(tmp_path / "m.bin", "fasttext", counts=False)


def test_settings_that_a_header_cannot_hold_are_fasttexts_own(tmp_path, made):
    made.settings |= {"window": 2**40, "epochs": "many", "negatives": -1, "sample": float("nan"), "architecture": [1]}
    made.export(tmp_path / "m.bin", "fasttext")
    found = em.load_model(tmp_path / "m.bin").settings
    assert (found["window"], found["epochs"], found["negatives"], found["sample"]) == (5, 5, 5, 1e-4)
    assert found["architecture"] == "skipgram"


def test_info(path):
    found = describe(path)
    assert (found["what"], found["format"], found["model"]) == ("vectors", "fasttext", "cbow")
    assert (found["words"], found["dim"], found["buckets"], found["ngrams"]) == (len(WORDS), DIM, BUCKETS, "3 to 6")
    assert found["first_words"][:3] == ["the", "</s>", "where"]
    assert describe(path, full=True)["checked"] is True


def test_no_other_format_is_taken_for_it(tmp_path):
    vectors = Vectors(["a", "b"], np.eye(2))
    for name in ("word2vec-text", "word2vec-binary", "gensim", "parquet", "arrow", "npy"):
        vectors.save(tmp_path / "v.x", name, force=True)
        assert format_dispatch.sniff(tmp_path / "v.x") == name
    assert fasttext_bin.sniff(b"") == 0
