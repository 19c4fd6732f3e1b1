"""Saved models: round trips, memory mapping, and one-line errors about broken folders."""

import json
import shutil

import numpy as np
import pytest

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError, OutputError, SettingError
from embeddings.models.loading import load
from embeddings.models.model import Model
from embeddings.support import tensors
from embeddings.vectors.vectors import Vectors

FILES = ["model.json", "vocabulary.arrow", "tensors.safetensors"]


def make_model(name="skipgram", **changes):
    vocabulary = Vocabulary(["the", "new york", "日本"], [9, 4, 4], total=20)
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    arguments = {
        "vectors": Vectors(vocabulary.words, matrix, counts=vocabulary.counts),
        "vocabulary": vocabulary,
        "settings": {"dim": 4, "learning_rate": 0.05, "case": "lower"},
        "tables": {
            "output": matrix * 2,
            "slots": np.ones((2, 3, 4), np.float32),
            "none": np.empty((0, 4), np.float32),
        },
        "record": {"seed": 1, "loss": [np.float32(0.5), float("nan")], "words": np.int64(17)},
    }
    return Model(name, **{**arguments, **changes})


@pytest.fixture
def saved(tmp_path):
    make_model().save(tmp_path / "m")
    return tmp_path / "m"


def test_round_trip(saved):
    model = Model.load(saved)
    assert (model.name, model.settings) == ("skipgram", {"dim": 4, "learning_rate": 0.05, "case": "lower"})
    assert model.record == {"seed": 1, "loss": [0.5, None], "words": 17}
    assert model.packages == make_model().packages
    assert model.packages["numpy"] == np.__version__
    assert list(model.vocabulary.words) == model.vectors.words == ["the", "new york", "日本"]
    assert model.vocabulary.total == 20
    assert model.vectors.counts.tolist() == [9, 4, 4]
    assert np.array_equal(model.vectors.matrix, make_model().vectors.matrix)
    assert sorted(model.tables) == ["none", "output", "slots"]
    for name, table in make_model().tables.items():
        assert np.array_equal(model.tables[name], table)
    assert sorted(path.name for path in saved.iterdir()) == sorted(FILES)


def test_load_and_empty_vocabulary(tmp_path, saved):
    assert load(saved).words == ["the", "new york", "日本"]
    vocabulary = Vocabulary([], [])
    make_model(vectors=Vectors([], np.empty((0, 4))), vocabulary=vocabulary, tables={}).save(tmp_path / "e")
    assert Model.load(tmp_path / "e").vectors.matrix.shape == (0, 4)


def test_tensors_are_memory_mapped_and_read_only(saved):
    model = Model.load(saved)
    for array in (model.vectors.matrix, model.tables["output"]):
        base = array
        while base is not None and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


def test_a_loaded_model_can_be_saved_over_itself(saved):
    model = Model.load(saved)
    model.save(saved, force=True)
    assert np.array_equal(Model.load(saved).vectors.matrix, make_model().vectors.matrix)


def test_save_replaces_only_models_and_only_with_force(tmp_path, saved):
    with pytest.raises(OutputError, match=r"m exists.*force"):
        make_model().save(saved)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "to-mother.txt").write_text("dear")
    with pytest.raises(OutputError, match=r"letters is .*not a saved model"):
        make_model().save(tmp_path / "letters", force=True)
    assert (tmp_path / "letters" / "to-mother.txt").read_text() == "dear"


def test_nan_is_not_saved(tmp_path):
    vocabulary = Vocabulary(["a"], [1])
    with pytest.raises(SettingError, match=r"'a'.*NaN"):
        make_model(vectors=Vectors(["a"], np.array([[np.nan]])), vocabulary=vocabulary).save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_tables_and_words_must_fit():
    with pytest.raises(SettingError, match="'vectors'"):
        make_model(tables={"vectors": np.ones(1)})
    with pytest.raises(SettingError, match="different words: 1 and 3"):
        make_model(vectors=Vectors(["a"], np.ones((1, 1))))


@pytest.mark.parametrize("name", FILES)
def test_truncated_and_missing_files_are_refused(saved, name):
    content = (saved / name).read_bytes()
    for twentieth in range(20):
        (saved / name).write_bytes(content[: len(content) * twentieth // 20])
        with pytest.raises(FormatError, match=name) as error:
            Model.load(saved)
        assert "\n" not in str(error.value)
    (saved / name).unlink()
    with pytest.raises(FormatError, match=name):
        Model.load(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 3}, "format version 3; this package reads 2"),
        ({"format_version": "1"}, "format version '1'"),
        ({"settings": None}, r"'settings'.*dict"),
        ({"model": 3}, r"'model'.*str"),
    ],
)
def test_invalid_fields_of_model_json(saved, change, message):
    content = json.loads((saved / "model.json").read_text(encoding="utf-8"))
    (saved / "model.json").write_text(json.dumps({**content, **change}))
    with pytest.raises(FormatError, match=message):
        Model.load(saved)


def test_files_of_different_models(tmp_path, saved):
    other = Vocabulary(["a"], [1])
    make_model(vectors=Vectors(["a"], np.ones((1, 4))), vocabulary=other).save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "vocabulary.arrow", saved)
    with pytest.raises(FormatError, match=r"1 words.*\(3, 4\)"):
        Model.load(saved)
    tensors.save({"output": np.ones(1)}, saved / "tensors.safetensors")
    with pytest.raises(FormatError, match="no float32 matrix 'vectors'"):
        Model.load(saved)


def test_paths_that_are_not_models(tmp_path):
    with pytest.raises(FormatError, match="nothing does not exist"):
        Model.load(tmp_path / "nothing")
    with pytest.raises(FormatError, match=r"has no model\.json"):
        Model.load(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(FormatError, match="file is not a saved model"):
        Model.load(tmp_path / "file")
