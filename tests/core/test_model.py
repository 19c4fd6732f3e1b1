"""Model folders: what is saved comes back, mapped; what is broken is told in one line."""

import json
import shutil
import struct

import numpy as np
import pytest

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError, OutputError, SettingError
from embeddings.models.loading import load
from embeddings.models.model import Model
from embeddings.support import tensors
from embeddings.vectors.vectors import Vectors

FILES = ["model.json", "vocabulary.arrow", "tensors.safetensors"]


def make(name="skipgram", **changes):
    vocabulary = Vocabulary(["the", "new york", "日本"], [9, 4, 4], total=20)
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    parts = {
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
    return Model(name, **{**parts, **changes})


@pytest.fixture
def saved(tmp_path):
    make().save(tmp_path / "m")
    return tmp_path / "m"


def test_round_trip(saved):
    model = Model.load(saved)
    assert (model.name, model.settings) == ("skipgram", {"dim": 4, "learning_rate": 0.05, "case": "lower"})
    assert model.record == {"seed": 1, "loss": [0.5, None], "words": 17}
    assert model.packages == make().packages
    assert model.packages["numpy"] == np.__version__
    assert list(model.vocabulary.words) == model.vectors.words == ["the", "new york", "日本"]
    assert model.vocabulary.total == 20
    assert model.vectors.counts.tolist() == [9, 4, 4]
    assert np.array_equal(model.vectors.matrix, make().vectors.matrix)
    assert sorted(model.tables) == ["none", "output", "slots"]
    for name, table in make().tables.items():
        assert np.array_equal(model.tables[name], table)
    assert sorted(path.name for path in saved.iterdir()) == sorted(FILES)


def test_load_gives_the_vectors_and_an_empty_vocabulary_is_fine(tmp_path, saved):
    assert load(saved).words == ["the", "new york", "日本"]
    vocabulary = Vocabulary([], [])
    make(vectors=Vectors([], np.empty((0, 4))), vocabulary=vocabulary, tables={}).save(tmp_path / "e")
    assert Model.load(tmp_path / "e").vectors.matrix.shape == (0, 4)


def test_tensors_are_mapped_and_read_only(saved):
    model = Model.load(saved)
    for array in (model.vectors.matrix, model.tables["output"]):
        base = array
        while base is not None and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


@pytest.mark.golden
def test_safetensors_library_reads_ours(saved):
    from safetensors.numpy import load_file

    found = load_file(saved / "tensors.safetensors")
    assert np.array_equal(found["vectors"], make().vectors.matrix)


def test_a_loaded_model_can_be_saved_over_itself(saved):
    model = Model.load(saved)
    model.save(saved, force=True)
    assert np.array_equal(Model.load(saved).vectors.matrix, make().vectors.matrix)


def test_outputs_are_guarded(tmp_path, saved):
    with pytest.raises(OutputError, match="m exists; choose another name, or --force"):
        make().save(saved)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "to-mother.txt").write_text("dear")
    with pytest.raises(OutputError, match="letters is a folder but not a saved model, and is not replaced"):
        make().save(tmp_path / "letters", force=True)
    assert (tmp_path / "letters" / "to-mother.txt").read_text() == "dear"


def test_nan_is_not_saved(tmp_path):
    vocabulary = Vocabulary(["a"], [1])
    with pytest.raises(SettingError, match="the vector of 'a' holds NaN or infinity"):
        make(vectors=Vectors(["a"], np.array([[np.nan]])), vocabulary=vocabulary).save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_parts_must_fit():
    with pytest.raises(SettingError, match="a table may not be called 'vectors'"):
        make(tables={"vectors": np.ones(1)})
    with pytest.raises(SettingError, match="words of 1 vectors are not the vocabulary's 3"):
        make(vectors=Vectors(["a"], np.ones((1, 1))))


@pytest.mark.parametrize("name", FILES)
def test_every_truncation_and_absence_is_noticed(saved, name):
    whole = (saved / name).read_bytes()
    for part in range(20):
        (saved / name).write_bytes(whole[: len(whole) * part // 20])
        with pytest.raises(FormatError, match=name) as caught:
            Model.load(saved)
        assert "\n" not in str(caught.value)
    (saved / name).unlink()
    with pytest.raises(FormatError, match=name):
        Model.load(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 2}, "is of format version 2; this package reads 1"),
        ({"format_version": "1"}, "is of format version '1'"),
        ({"settings": None}, "'settings' is missing or not a dict"),
        ({"model": 3}, "'model' is missing or not a str"),
    ],
)
def test_model_json_that_is_wrong(saved, change, message):
    content = json.loads((saved / "model.json").read_text(encoding="utf-8"))
    (saved / "model.json").write_text(json.dumps({**content, **change}))
    with pytest.raises(FormatError, match=message):
        Model.load(saved)


@pytest.mark.parametrize("text", ["[1]", "{}", "[" * 100_000, "{\udcff"])
def test_model_json_that_is_no_description(saved, text):
    (saved / "model.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(FormatError, match=r"model\.json is broken"):
        Model.load(saved)


def test_parts_of_different_models(tmp_path, saved):
    other = Vocabulary(["a"], [1])
    make(vectors=Vectors(["a"], np.ones((1, 4))), vocabulary=other).save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "vocabulary.arrow", saved)
    with pytest.raises(FormatError, match=r"do not fit: 1 words but 3 rows"):
        Model.load(saved)
    tensors.save({"output": np.ones(1)}, saved / "tensors.safetensors")
    with pytest.raises(FormatError, match="holds no float32 matrix called 'vectors'"):
        Model.load(saved)


def test_paths_that_are_no_model(tmp_path):
    with pytest.raises(FormatError, match="nothing does not exist"):
        Model.load(tmp_path / "nothing")
    with pytest.raises(FormatError, match=r"has no model\.json, so it is no saved model"):
        Model.load(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(FormatError, match="file is not a saved model"):
        Model.load(tmp_path / "file")


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.mark.parametrize(
    ("header", "data", "message"),
    [
        (b"\xff" * 8, b"", "its header is cut short"),
        (struct.pack("<Q", 2**40), b"x" * 100, "its header is cut short"),
        (
            {"a": entry(shape=(2**62, 2**62), offsets=(0, 8))},
            b"x" * 8,
            "the entry of tensor 'a' is not valid",
        ),
        ({"a": entry(shape=(-1, -2), offsets=(0, 8))}, b"x" * 8, "the entry of tensor 'a'"),
        ({"a": entry(shape=(True,), offsets=(0, 4))}, b"x" * 4, "the entry of tensor 'a'"),
        ({"a": entry(dtype="O")}, b"x" * 8, "the entry of tensor 'a'"),
        ({"a": entry(dtype=["F32"])}, b"x" * 8, "the entry of tensor 'a'"),
        ({"a": entry(offsets=(0, 4))}, b"x" * 4, "the entry of tensor 'a'"),
        ({"a": entry(offsets=(8, 0))}, b"x" * 8, "the entry of tensor 'a'"),
        ({"a": 7}, b"", "the entry of tensor 'a'"),
        ({"a": entry(), "b": entry()}, b"x" * 8, "tensor 'b' overlaps another or leaves a gap"),
        ({"a": entry(offsets=(8, 16))}, b"x" * 16, "tensor 'a' overlaps another or leaves a gap"),
        ({"a": entry()}, b"x" * 7, "truncated or overlong: 8 bytes of tensors expected, 7 found"),
        ({"a": entry()}, b"x" * 9, "truncated or overlong: 8 bytes of tensors expected, 9 found"),
        ([1], b"", "its header is not a JSON object"),
    ],
)
def test_hostile_safetensors(tmp_path, header, data, message):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    start = b"" if isinstance(header, bytes) else struct.pack("<Q", len(text))
    (tmp_path / "t").write_bytes(start + text + data)
    with pytest.raises(FormatError, match=message):
        tensors.load(tmp_path / "t")


def test_tensors_of_every_dtype_and_shape(tmp_path):
    arrays = {
        f"{kind}{shape}": np.ones(shape, kind) for kind in tensors.DTYPES.values() for shape in [(), (3,), (2, 0)]
    }
    tensors.save(arrays, tmp_path / "t")
    found = tensors.load(tmp_path / "t")
    assert {name: (array.dtype, array.shape) for name, array in found.items()} == {
        name: (array.dtype, array.shape) for name, array in arrays.items()
    }
    assert all(np.array_equal(found[name], arrays[name]) for name in arrays)
