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
        (b"\xff" * 8, b"", "header"),
        (struct.pack("<Q", 2**40), b"x" * 100, "header"),
        ({"a": header_entry(shape=(2**62, 2**62))}, b"x" * 8, "overflow"),
        ({"a": header_entry(shape=(-1, -2))}, b"x" * 8, "-1"),
        ({"a": header_entry(shape=(True,), offsets=(0, 4))}, b"x" * 4, "boolean"),
        ({"a": header_entry(dtype="O")}, b"x" * 8, "`O`"),
        ({"a": header_entry(dtype=["F32"])}, b"x" * 8, "invalid type"),
        ({"a": header_entry(dtype="BF16", shape=(4,))}, b"x" * 8, "'a'.*BF16"),
        ({"a": header_entry(shape=(0, 2**62), offsets=(0, 0))}, b"", "'a'.*too big"),
        ({"a": header_entry(offsets=(0, 4))}, b"x" * 4, "offset for tensor"),
        ({"a": header_entry(offsets=(8, 0))}, b"x" * 8, "offset for tensor"),
        ({"a": 7}, b"", "`7`"),
        ({"a": header_entry(), "b": header_entry()}, b"x" * 8, "offset for tensor"),
        ({"a": header_entry(offsets=(8, 16))}, b"x" * 16, "offset for tensor"),
        ({"a": header_entry()}, b"x" * 7, "not fully covered"),
        ({"a": header_entry()}, b"x" * 9, "not fully covered"),
        ([1], b"", "sequence"),
    ],
)
def test_broken_files_are_refused(tmp_path, header, data, message):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    start = b"" if isinstance(header, bytes) else struct.pack("<Q", len(text))
    (tmp_path / "t").write_bytes(start + text + data)
    with pytest.raises(FormatError, match=rf"/t\b[^\n]*{message}[^\n]*$"):
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
