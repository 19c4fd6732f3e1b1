"""Tables of vectors with a tokenizer: the content of the files, and which files of other tools are read."""

import json

import numpy as np
import pytest
from optional_libraries import needs
from safetensors.numpy import load_file, save_file

import embeddings as em
from embeddings.errors import FormatError
from embeddings.models.loading import load
from embeddings.vectors.vectors import Vectors

pytestmark = needs("tokenizers")
SUBFOLDERS = {"model2vec": ".", "sentence-transformers": "0_StaticEmbedding"}
TENSOR_NAMES = {"model2vec": "embeddings", "sentence-transformers": "embedding.weight"}


def tokenizer_of(vocab):
    """The content of a tokenizer.json of these tokens."""
    nothing = dict.fromkeys(["truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"])
    model = {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"}
    return {"version": "1.0", **nothing, "added_tokens": [], "model": model}


@pytest.fixture(params=SUBFOLDERS)
def form(request):
    return request.param


@pytest.fixture
def small():
    return Vectors(["the", "king", "日本"], np.array([[1, -0.5], [0.25, 8], [0, 1e-7]], "f4"), counts=[9, 5, 5])


@pytest.fixture
def folder(tmp_path, small, form):
    small.save(tmp_path / "v", form)
    return tmp_path / "v" / SUBFOLDERS[form]


def test_the_content_of_the_files(tmp_path, folder, form, small):
    tensors = load_file(folder / "model.safetensors")
    assert tensors[TENSOR_NAMES[form]][:3].tobytes() == small.matrix.tobytes()
    assert tensors[TENSOR_NAMES[form]][3].tolist() == [0, 0]
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    assert tokenizer["model"]["vocab"] == {"the": 0, "king": 1, "日本": 2, "[UNK]": 3}
    assert tokenizer["model"]["unk_token"] == "[UNK]"


def test_the_token_for_unknown_words_is_not_a_word(tmp_path, form):
    vectors = Vectors(["[UNK]", "[UNK1]", "a"], np.ones((3, 2)))
    vectors.save(tmp_path / "v", form)
    assert load(tmp_path / "v").words == vectors.words


def test_an_unknown_token_that_has_a_vector_is_kept(tmp_path):
    save_file({"embeddings": np.ones((2, 3), np.float32)}, tmp_path / "model.safetensors")
    tokenizer = tokenizer_of({"a": 0, "[UNK]": 1})
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert load(tmp_path).words == ["a", "[UNK]"]


@pytest.mark.parametrize(
    "model",
    [
        {"type": "WordPiece", "vocab": {"b": 1, "##a": 0, "c": 2}, "unk_token": "b", "continuing_subword_prefix": "##",
         "max_input_chars_per_word": 100},
        {"type": "Unigram", "vocab": [["##a", -1.5], ["b", 0.0], ["c", -2.0]], "unk_id": 1},
        {"type": "BPE", "vocab": {"##a": 0, "b": 1, "c": 2}, "merges": []},
    ],
    ids=lambda model: model["type"],
)  # fmt: skip
def test_tokenizers_of_other_kinds(tmp_path, model):
    save_file({"embedding.weight": np.eye(3, dtype=np.float32)}, tmp_path / "model.safetensors")
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer_of({}) | {"model": model}))
    again = load(tmp_path)
    assert again.words == ["##a", "b", "c"]
    assert np.array_equal(again.matrix, np.eye(3))


def test_the_unknown_token_of_unigram_models_is_left_out_of_texts(tmp_path):
    """These models, which SentencePiece learns, name it by its number."""
    save_file({"embeddings": np.array([[9, 9], [1, 0], [0, 1]], np.float32)}, tmp_path / "model.safetensors")
    model = {"type": "Unigram", "vocab": [["<unk>", 0.0], ["\u2581red", -1.0], ["\u2581car", -2.0]], "unk_id": 0}
    spaces = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    tokenizer = tokenizer_of({}) | {"model": model, "pre_tokenizer": spaces}
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert em.embed(tmp_path, ["red \u5317\u4eac", "\u5317"], pool="mean").tolist() == [[1, 0], [0, 0]]


def test_added_tokens_are_read(tmp_path):
    save_file({"embedding.weight": np.eye(2, dtype=np.float32)}, tmp_path / "model.safetensors")
    flags = dict.fromkeys(["single_word", "lstrip", "rstrip", "normalized", "special"], False)
    added = tokenizer_of({"a": 0}) | {"added_tokens": [{"id": 1, "content": "b", **flags}]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(added))
    assert load(tmp_path).words == ["a", "b"]


VOCAB = {"the": 0, "king": 1, "日本": 2, "[UNK]": 3}
BROKEN = {
    "truncated": (b'{"model": ', "tokenizer.json"),
    "deeply nested": (b"[" * 100_000, "tokenizer.json"),
    "not UTF-8": (b'{"\xff": 1}', "utf-8.* 2"),
    "a list": ([], "tokenizer.json"),
    "no model": ({"model": []}, "tokenizer.json"),
    "an id too high": (tokenizer_of(VOCAB | {"x": 4}), "5 tokens.*0 to 3"),
    "a negative id": (tokenizer_of(VOCAB | {"x": -1}), "tokenizer.json"),
    "an id that is a float": (tokenizer_of(VOCAB | {"x": 1.0}), "tokenizer.json"),
    "a missing id": (tokenizer_of({"a": 0, "b": 2, "c": 3}), "3 tokens.*0 to 3"),
    "a duplicate id": (tokenizer_of(VOCAB | {"x": 0}), "5 tokens.*0 to 3"),
    "added tokens that are numbers": (tokenizer_of(VOCAB) | {"added_tokens": [3]}, "tokenizer.json"),
    "half a character": (tokenizer_of({"\ud800": 0, "b": 1, "c": 2, "d": 3}), "tokenizer.json"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_tokenizers(tmp_path, folder, content, message):
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (folder / "tokenizer.json").write_bytes(data)
    with pytest.raises(FormatError, match=message) as caught:
        load(tmp_path / "v")
    assert "\n" not in str(caught.value)


TABLE = np.ones((4, 2), np.float32)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"bert.weight": TABLE}, "embedding.weight or embeddings.*'bert.weight'"),
        (
            {"embeddings": TABLE, "mapping": np.ones(4)},
            "mapping",
        ),
        ({"embeddings": TABLE[0]}, r"'embeddings'.*\(2,\) float32"),
        ({"embeddings": TABLE.astype("i4")}, r"\(4, 2\) int32"),
        ({"embeddings": TABLE[:3]}, "4 tokens.*0 to 2"),
        ({"embeddings": TABLE * np.nan}, "'the'.*NaN"),
        ({"embeddings": TABLE * 0, "counts": np.ones(4, "i8")}, r"counts.*\(3,\).*\(4,\)"),
    ],
)
def test_broken_tables(tmp_path, folder, tensors, message):
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(FormatError, match=message):
        load(tmp_path / "v")


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_missing_files(tmp_path, folder, form, name):
    (folder / name).unlink()
    with pytest.raises(FormatError, match=f"{name} |has no model.json"):
        load(tmp_path / "v")


STATIC = {"type": "sentence_transformers.models.StaticEmbedding", "path": "0_StaticEmbedding"}


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ({}, "modules.json"),
        ([], "modules.json"),
        ([1], "modules.json"),
        ([{"type": "sentence_transformers.models.Transformer", "path": ""}], "Transformer"),
        ([STATIC, {"type": "x.Dense"}], "StaticEmbedding, Dense"),
        ([STATIC | {"path": "../other"}], "'../other'"),
        ([STATIC | {"path": ".."}], "'..'"),
        ([STATIC | {"path": "/etc"}], "'/etc'"),
        ([STATIC | {"path": "a/../../other"}], "'a/../../other'"),
        ([STATIC | {"path": "a\\..\\..\\other"}], "not safe"),
        ([STATIC | {"path": "C:other"}], "'C:other'"),
        ([STATIC | {"path": "link"}], "link that leads out"),
        ([STATIC | {"path": None}], "None"),
        ([STATIC | {"path": "elsewhere"}], "elsewhere.model.safetensors"),
    ],
)
def test_unsupported_modules(tmp_path, small, modules, message):
    small.save(tmp_path / "v", "sentence-transformers")
    small.save(tmp_path / "other", "model2vec")
    (tmp_path / "v" / "link").symlink_to(tmp_path / "other")
    (tmp_path / "v" / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(FormatError, match=message):
        load(tmp_path / "v")


def test_the_folder_layout_of_model2vec(tmp_path, small):
    small.save(tmp_path / "v", "model2vec")
    modules = [STATIC | {"path": "."}, {"type": "sentence_transformers.models.Normalize", "path": "1_Normalize"}]
    (tmp_path / "v" / "modules.json").write_text(json.dumps(modules))
    assert load(tmp_path / "v").words == small.words
    (tmp_path / "v" / "modules.json").write_text(json.dumps([STATIC | {"path": ""}]))
    assert load(tmp_path / "v").words == small.words


@pytest.mark.parametrize("format", ["model2vec", "sentence-transformers"])
def test_texts_of_a_folder_that_normalizes_them_have_length_one(tmp_path, format):
    plain = em.Vectors(["red", "car"], np.array([[3, 0], [0, 4]]), counts=[3, 1])
    plain.save(tmp_path / "v", format, normalize=True)
    vectors = em.load(tmp_path / "v")
    np.testing.assert_allclose(em.embed(vectors, ["red car", "red", "x"]), [[0.6, 0.8], [1, 0], [0, 0]], atol=1e-7)
    for options in ({}, {"counts": False}):
        vectors.save(tmp_path / "again", format, force=True, **options)
        assert np.linalg.norm(em.embed(tmp_path / "again", ["red car"])) == pytest.approx(1)
    plain.save(tmp_path / "v", format, force=True)
    assert em.embed(tmp_path / "v", ["red car"]).tolist() == [[1.5, 2]]
