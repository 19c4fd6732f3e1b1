"""fastText's .bin: whole models round-trip and are memory-mapped; what the format cannot store; descriptions."""

import numpy as np
import pytest
from subword_models import UNSEEN, WORDS, fasttext_model

import embeddings as em
from embeddings.cli.info import describe
from embeddings.corpora.vocabulary import UnknownWordError, Vocabulary
from embeddings.errors import FormatError, SettingError
from embeddings.models.model import Model
from embeddings.vectors.vectors import Vectors

DIM, BUCKETS = 7, 50
KNOWN = [word for word in UNSEEN if word]


@pytest.fixture
def original():
    return fasttext_model(
        architecture="cbow", window=4, epochs=3, min_count=2, negatives=8, subsample=0.01, dim=DIM, buckets=BUCKETS
    )


@pytest.fixture
def path(tmp_path, original):
    original.export(tmp_path / "m.bin", "fasttext")
    return tmp_path / "m.bin"


def check_equal(vectors, expected, words=KNOWN):
    assert vectors.words == expected.words
    assert np.array_equal(vectors.counts, expected.counts)
    assert vectors.matrix.tobytes() == expected.matrix.tobytes()
    for word in words:
        assert vectors[word].tobytes() == expected[word].tobytes()


def test_a_whole_model_round_trips(path, original):
    model = em.load_model(path)
    check_equal(model.vectors, original.vectors)
    assert model.settings == original.settings
    assert model.vocabulary.total == original.vocabulary.total
    assert {name: table.tobytes() for name, table in model.tables.items()} == {
        name: table.tobytes() for name, table in original.tables.items()
    }
    check_equal(em.load(path), original.vectors)


def test_matrices_are_memory_mapped(path):
    model = em.load_model(path)
    for name in ("words", "ngrams", "output"):
        table = model.tables[name]
        assert isinstance(table, np.memmap) or isinstance(table.base, np.memmap)
        assert not table.flags.writeable


def test_a_model_round_trips_through_a_saved_folder(tmp_path, path, original):
    model = em.load_model(path)
    model.save(tmp_path / "m")
    again = Model.load(tmp_path / "m")
    again.composer = original.composer  # the trainer may not be installed
    again.export(tmp_path / "again.bin", "fasttext")
    assert (tmp_path / "again.bin").read_bytes() == path.read_bytes()


def test_a_model_without_ngrams(tmp_path):
    vectors = Vectors(["b", "a", "c d"], np.random.default_rng(0).standard_normal((3, 4)), counts=[7, 2, 2])
    output = np.ones((3, 4), np.float32)
    original = Model(
        "cbow",
        vectors=vectors,
        vocabulary=Vocabulary(vectors.words, vectors.counts, total=20),
        tables={"output": output, "slots": np.ones((3, 2, 4), np.float32)},
        settings={"window": 3, "subsample": 0},
    )
    original.export(tmp_path / "m.bin", "fasttext")
    model = em.load_model(tmp_path / "m.bin")
    check_equal(model.vectors, vectors, words=())
    assert np.array_equal(model.tables["output"], output)
    expected = {"architecture": "cbow", "min_n": 0, "max_n": 0, "buckets": 0, "window": 3, "subsample": 0}
    assert model.settings.items() >= expected.items()
    with pytest.raises(UnknownWordError):
        model.vectors["x"]


def test_an_output_table_of_another_shape_is_written_as_zeros(tmp_path, original):
    original.tables["output"] = np.ones((len(WORDS), 3, DIM), np.float32)
    original.export(tmp_path / "m.bin", "fasttext")
    assert not em.load_model(tmp_path / "m.bin").tables["output"].any()


def test_composing_vectors_are_written_only_as_a_model(tmp_path, original):
    with pytest.raises(FormatError, match=r"Model.export"):
        original.vectors.save(tmp_path / "v.bin", "fasttext")
    original.vectors.normalize().save(tmp_path / "v.bin", "fasttext")
    assert em.load(tmp_path / "v.bin").compose is None


@pytest.mark.parametrize("table", ["words", "ngrams", "output"])
def test_no_table_with_a_nan_is_written(tmp_path, original, table):
    original.tables[table][-1, -1] = np.nan
    with pytest.raises(FormatError, match="NaN"):
        original.export(tmp_path / "m.bin", "fasttext")
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_composes_differently_is_refused(tmp_path, original):
    del original.tables["words"]
    with pytest.raises(FormatError, match="n-grams"):
        original.export(tmp_path / "m.bin", "fasttext")


def test_a_model_always_stores_counts(tmp_path, original):
    with pytest.raises(SettingError, match="counts"):
        original.export(tmp_path / "m.bin", "fasttext", counts=False)


def test_settings_that_a_header_cannot_store_are_fasttexts_defaults(tmp_path, original):
    original.settings |= {
        "window": 2**40,
        "epochs": "many",
        "negatives": -1,
        "subsample": float("nan"),
        "architecture": [1],
    }
    original.export(tmp_path / "m.bin", "fasttext")
    settings = em.load_model(tmp_path / "m.bin").settings
    assert {"window": 5, "epochs": 5, "negatives": 5, "subsample": 1e-4}.items() <= settings.items()
    assert settings["architecture"] == "skipgram"


def test_description(path):
    facts = describe(path)
    assert (facts["what"], facts["format"], facts["model"]) == ("vectors", "fasttext", "cbow")
    assert (facts["words"], facts["dim"], facts["buckets"], facts["ngrams"]) == (len(WORDS), DIM, BUCKETS, "3 to 6")
    assert facts["first_words"][:3] == ["the", "</s>", "where"]
    assert describe(path, full=True)["checked"] is True
