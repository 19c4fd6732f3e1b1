"""Tables of vectors with a tokenizer: what is in the files, and what of others' is read or refused."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from embeddings.errors import FormatError
from embeddings.formats import tokenizer_json
from embeddings.models.loading import load
from embeddings.vectors.vectors import Vectors

PLACES = {"huggingface": ".", "sentence-transformers": "0_StaticEmbedding"}
NAMES = {"huggingface": "embeddings", "sentence-transformers": "embedding.weight"}


@pytest.fixture(params=PLACES)
def form(request):
    return request.param


@pytest.fixture
def small():
    return Vectors(["the", "king", "日本"], np.array([[1, -0.5], [0.25, 8], [0, 1e-7]], "f4"), counts=[9, 5, 5])


@pytest.fixture
def place(tmp_path, small, form):
    small.save(tmp_path / "v", form)
    return tmp_path / "v" / PLACES[form]


def test_what_is_in_the_files(tmp_path, place, form, small):
    tensors = load_file(place / "model.safetensors")
    assert tensors[NAMES[form]][:3].tobytes() == small.matrix.tobytes()
    assert tensors[NAMES[form]][3].tolist() == [0, 0]
    tokenizer = json.loads((place / "tokenizer.json").read_text())
    assert tokenizer["model"]["vocab"] == {"the": 0, "king": 1, "日本": 2, "[UNK]": 3}
    assert tokenizer["model"]["unk_token"] == "[UNK]"


def test_half_precision(tmp_path, small, form):
    small.save(tmp_path / "h", form, dtype="float16")
    assert load_file(tmp_path / "h" / PLACES[form] / "model.safetensors")[NAMES[form]].dtype == np.float16
    assert np.array_equal(load(tmp_path / "h").matrix, small.matrix.astype("f2").astype("f4"))


@pytest.mark.parametrize(
    ("words", "lower", "split"),
    [
        (["the", "été", "日本", "नमस्ते", "new_york", "x2"], True, True),
        (["the", "The"], False, True),
        (["ΣΑΣ"], False, True),
        (["u.s.", "the"], True, False),
        (["new york"], True, False),
        ([], True, True),
    ],
)
def test_how_text_is_cut_follows_from_the_words(tmp_path, words, lower, split):
    tokenizer_json.write(words, tmp_path / "t")
    found = json.loads((tmp_path / "t").read_text())
    assert found["normalizer"] == ({"type": "Lowercase"} if lower else None)
    assert found["pre_tokenizer"]["type"] == ("Split" if split else "WhitespaceSplit")


def test_the_token_for_the_unknown_is_no_word(tmp_path, form):
    vectors = Vectors(["[UNK]", "[UNK1]", "a"], np.ones((3, 2)))
    vectors.save(tmp_path / "v", form)
    assert load(tmp_path / "v").words == vectors.words


def test_an_unknown_token_that_has_a_vector_is_kept(tmp_path):
    save_file({"embeddings": np.ones((2, 3), np.float32)}, tmp_path / "model.safetensors")
    tokenizer = {"model": {"vocab": {"a": 0, "[UNK]": 1}, "unk_token": "[UNK]"}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert load(tmp_path).words == ["a", "[UNK]"]


@pytest.mark.parametrize(
    "tokenizer",
    [
        {"model": {"type": "WordPiece", "vocab": {"b": 1, "##a": 0, "c": 2}}},
        {"model": {"type": "Unigram", "vocab": [["##a", -1.5], ["b", 0.0], ["c", -2]], "unk_id": 1}},
        {
            "model": {"type": "BPE", "vocab": {"##a": 0}},
            "added_tokens": [{"id": 1, "content": "b"}, {"id": 2, "content": "c"}],
        },
        {"model": {"vocab": {"##a": 0, "b": 1, "c": 2}}, "added_tokens": [{"id": 1, "content": "b"}]},
    ],
)
def test_tokenizers_of_other_kinds(tmp_path, tokenizer):
    save_file({"embedding.weight": np.eye(3, dtype=np.float32)}, tmp_path / "model.safetensors")
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    again = load(tmp_path)
    assert again.words == ["##a", "b", "c"]
    assert np.array_equal(again.matrix, np.eye(3))


VOCAB = {"the": 0, "king": 1, "日本": 2, "[UNK]": 3}
BROKEN = {
    "no JSON": (b'{"model": ', "tokenizer.json is truncated or no JSON: Expecting value"),
    "deep": (b"[" * 100_000, "is truncated or no JSON"),
    "not UTF-8": (b'{"\xff": 1}', "is not UTF-8 at byte 2"),
    "a list": ([], "is no tokenizer: it has no model"),
    "no model": ({"model": []}, "is no tokenizer: it has no model"),
    "no vocabulary": ({"model": {}}, "is no tokenizer with a vocabulary: that is NoneType"),
    "a vocabulary of numbers": ({"model": {"vocab": [1, 2]}}, "is no tokenizer with a vocabulary: that is list"),
    "a number too high": (
        {"model": {"vocab": VOCAB | {"x": 4}}},
        "the token 'x' has the number 4, and there are 4 vectors",
    ),
    "a negative number": (
        {"model": {"vocab": VOCAB | {"x": -1}}},
        "the token 'x' has the number -1, and there are 4 vectors",
    ),
    "a number that is none": ({"model": {"vocab": VOCAB | {"x": 1.0}}}, "the token 'x' has the number 1.0, and"),
    "true": ({"model": {"vocab": VOCAB | {"x": True}}}, "the token 'x' has the number True, and"),
    "too few": ({"model": {"vocab": {"a": 0, "b": 2, "c": 3}}}, "no token has the number 1, and there are 4 vectors"),
    "one twice": ({"model": {"vocab": VOCAB | {"x": 0}}}, "the tokens 'the' and 'x' have the same number 0"),
    "added": ({"model": {"vocab": VOCAB}, "added_tokens": [3]}, "its added tokens are no list of tokens"),
    "half a character": (
        {"model": {"vocab": {"\ud800": 0, "b": 1, "c": 2, "d": 3}}},
        r"'\\ud800' is not valid Unicode",
    ),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_tokenizers(tmp_path, place, content, message):
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (place / "tokenizer.json").write_bytes(data)
    with pytest.raises(FormatError, match=message) as caught:
        load(tmp_path / "v")
    assert "\n" not in str(caught.value)


TABLE = np.ones((4, 2), np.float32)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"bert.weight": TABLE}, r"holds no static embeddings \(embedding.weight or embeddings\) but 'bert.weight'"),
        (
            {"embeddings": TABLE, "mapping": np.ones(4)},
            "holds mapping too: tables with shared or weighted rows are not",
        ),
        ({"embeddings": TABLE[0]}, r"'embeddings' must be \(tokens, dim\) floats, not \(2,\) float32"),
        ({"embeddings": TABLE.astype("i4")}, r"must be \(tokens, dim\) floats, not \(4, 2\) int32"),
        ({"embeddings": TABLE[:3]}, "has the number 3, and there are 3 vectors"),
        ({"embeddings": TABLE * np.nan}, "the vector of 'the' holds NaN"),
        ({"embeddings": TABLE * 0, "counts": np.ones(4, "i8")}, r"counts must be \(3,\) int64, not \(4,\) int64"),
    ],
)
def test_broken_tables(tmp_path, place, tensors, message):
    save_file(tensors, place / "model.safetensors")
    with pytest.raises(FormatError, match=message):
        load(tmp_path / "v")


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_missing_files(tmp_path, place, form, name):
    (place / name).unlink()
    with pytest.raises(FormatError, match=f"{name} |has no model.json"):
        load(tmp_path / "v")


STATIC = {"type": "sentence_transformers.models.StaticEmbedding", "path": "0_StaticEmbedding"}


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ({}, "modules.json is broken: it lists no modules"),
        ([], "it lists no modules"),
        ([1], "it lists no modules"),
        ([{"type": "sentence_transformers.models.Transformer", "path": ""}], "is made of Transformer: only a Static"),
        ([STATIC, {"type": "x.Dense"}], "is made of StaticEmbedding, Dense: only a StaticEmbedding has vectors"),
        ([STATIC | {"path": "../other"}], "must be a folder in it, not '../other'"),
        ([STATIC | {"path": ".."}], "must be a folder in it, not '..'"),
        ([STATIC | {"path": "/etc"}], "must be a folder in it, not '/etc'"),
        ([STATIC | {"path": None}], "must be a folder in it, not None"),
        ([STATIC | {"path": "elsewhere"}], "elsewhere.model.safetensors cannot be read: No such file"),
    ],
)
def test_modules_that_are_not_read(tmp_path, small, modules, message):
    small.save(tmp_path / "v", "sentence-transformers")
    (tmp_path / "v" / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(FormatError, match=message):
        load(tmp_path / "v")


def test_a_folder_as_model2vec_lays_it_out(tmp_path, small):
    small.save(tmp_path / "v", "huggingface")
    modules = [STATIC | {"path": "."}, {"type": "sentence_transformers.models.Normalize", "path": "1_Normalize"}]
    (tmp_path / "v" / "modules.json").write_text(json.dumps(modules))
    assert load(tmp_path / "v").words == small.words
    (tmp_path / "v" / "modules.json").write_text(json.dumps([STATIC | {"path": ""}]))
    assert load(tmp_path / "v").words == small.words
