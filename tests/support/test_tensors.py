"""Safetensors files: broken ones are refused in one line, and every dtype and shape is restored."""

import json
import struct

import numpy as np
import pytest

from embeddings.errors import FormatError
from embeddings.support import tensors


def header_entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.mark.parametrize(
    ("header", "data", "message"),
    [
        (b"\xff" * 8, b"", "header is incomplete"),
        (struct.pack("<Q", 2**40), b"x" * 100, "header is incomplete"),
        (
            {"a": header_entry(shape=(2**62, 2**62), offsets=(0, 8))},
            b"x" * 8,
            "tensor 'a'",
        ),
        ({"a": header_entry(shape=(-1, -2), offsets=(0, 8))}, b"x" * 8, "tensor 'a'"),
        ({"a": header_entry(shape=(True,), offsets=(0, 4))}, b"x" * 4, "tensor 'a'"),
        ({"a": header_entry(dtype="O")}, b"x" * 8, "tensor 'a'"),
        ({"a": header_entry(dtype=["F32"])}, b"x" * 8, "tensor 'a'"),
        ({"a": header_entry(offsets=(0, 4))}, b"x" * 4, "tensor 'a'"),
        ({"a": header_entry(offsets=(8, 0))}, b"x" * 8, "tensor 'a'"),
        ({"a": 7}, b"", "tensor 'a'"),
        ({"a": header_entry(), "b": header_entry()}, b"x" * 8, "'b' overlaps"),
        ({"a": header_entry(offsets=(8, 16))}, b"x" * 16, "'a' overlaps"),
        ({"a": header_entry()}, b"x" * 7, r"8 bytes.*7"),
        ({"a": header_entry()}, b"x" * 9, r"8 bytes.*9"),
        ([1], b"", "not a JSON object"),
    ],
)
def test_broken_files_are_refused(tmp_path, header, data, message):
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
    loaded = tensors.load(tmp_path / "t")
    assert {name: (array.dtype, array.shape) for name, array in loaded.items()} == {
        name: (array.dtype, array.shape) for name, array in arrays.items()
    }
    assert all(np.array_equal(loaded[name], arrays[name]) for name in arrays)
