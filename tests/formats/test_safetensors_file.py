"""Vectors, words and counts in one safetensors file: exact, memory-mapped, read by the library; or refused."""

import numpy as np
import pytest
from drawn_vectors import some_vectors
from hypothesis import given, settings
from safetensors.numpy import load_file, save_file

from embeddings.cli.info import describe
from embeddings.errors import FormatError
from embeddings.models.loading import load
from embeddings.vectors import file_format


@pytest.mark.reads("safetensors", "safetensors", "`load_file`: every byte of vectors, words and counts")
@settings(max_examples=50, deadline=None)
@given(vectors=some_vectors("safetensors"))
def test_the_library_reads_the_tensors(folder, vectors):
    vectors.save(folder / "v.safetensors", force=True)
    tensors = load_file(folder / "v.safetensors")
    assert tensors["vectors"].tobytes() == vectors.matrix.tobytes()
    assert tensors["vectors"].shape == vectors.matrix.shape
    assert vectors.counts is None or tensors["counts"].tolist() == vectors.counts.tolist()
    assert bytes(tensors["words"]).decode().split("\n")[: len(vectors)] == vectors.words


TEXT = np.frombuffer(b"a\nb", np.uint8)
GOOD = {"vectors": np.ones((2, 3), np.float32), "words": TEXT}
BYTES = {"vectors": np.ones((2, 3), np.int8), "words": TEXT}
BROKEN = {
    "no words": ({"vectors": GOOD["vectors"]}, "vectors and words.*has 'vectors'"),
    "no tensors": ({}, "vectors and words.*none|safetensors"),
    "other tensors": ({str(i): TEXT for i in range(12)}, "has '0', '1', '10'.* and others"),
    "one dimension": (
        GOOD | {"vectors": np.ones(3, np.float32)},
        r"vectors.*\(3,\)",
    ),
    "no components": (GOOD | {"vectors": np.ones((2, 0), np.float32)}, r"\(2, 0\)"),
    "integers": (GOOD | {"vectors": np.ones((2, 3), np.int32)}, "int32"),
    "int8 alone": (BYTES, "int8"),
    "other scales": (BYTES | {"scales": np.ones(3, np.float32)}, r"scales.*\(2,\).*\(3,\) float32"),
    "scales without end": (BYTES | {"scales": np.array([1, np.inf], "f4")}, "'b'.*NaN"),
    "words of floats": (GOOD | {"words": np.ones(3, np.float32)}, "words.*float32"),
    "fewer words": (GOOD | {"words": TEXT[:1]}, r"1 words.*\(2, 3\)"),
    "more words": (GOOD | {"words": np.frombuffer(b"a\nb\nc", np.uint8)}, r"3 words.*\(2, 3\)"),
    "words without vectors": (GOOD | {"vectors": np.ones((0, 3), np.float32)}, r"2 words.*\(0, 3\)"),
    "twice": (GOOD | {"words": np.frombuffer(b"a\na", np.uint8)}, "'a'"),
    "not UTF-8": (GOOD | {"words": np.frombuffer(b"a\n\xff", np.uint8)}, "word 2: .*UTF-8"),
    "counts": (GOOD | {"counts": np.ones(2, np.float32)}, r"counts.*\(2,\) int64.*float32"),
    "NaN": (GOOD | {"vectors": np.full((2, 3), np.nan, np.float32)}, "'a'.*NaN"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_mismatched_tensors_are_refused_in_one_line(tmp_path, content, message):
    save_file(content, tmp_path / "v.safetensors")
    with pytest.raises(FormatError, match=message) as caught:
        file_format.load_format("safetensors").read(tmp_path / "v.safetensors")
    assert str(tmp_path / "v.safetensors") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_float64_of_other_tools(tmp_path):
    save_file(GOOD | {"vectors": np.array([[1.5, 2, 3], [4, 5, 6]])}, tmp_path / "v.safetensors")
    assert load(tmp_path / "v.safetensors")["a"].tolist() == [1.5, 2, 3]
    save_file(GOOD | {"vectors": np.array([[1.5, 2, 1e300], [4, 5, 6]])}, tmp_path / "v.safetensors")
    with pytest.raises(FormatError, match=r"'a'.*NaN"):
        load(tmp_path / "v.safetensors")


def test_info_of_tensors_without_vectors(tmp_path):
    save_file({"a": np.ones((2, 3), np.float32)}, tmp_path / "t")
    facts = describe(tmp_path / "t")
    assert (facts["what"], facts["format"], facts["tensors"]) == ("tensors", "safetensors", {"a": [2, 3]})
    assert describe(tmp_path / "t", full=True) == facts
