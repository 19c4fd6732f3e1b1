"""Safetensors files: broken ones are refused in one line, and every dtype and shape is restored."""

import json
import struct

import numpy as np
import pytest
import safetensors.numpy
from safetensors import SafetensorError

from embeddings.errors import FormatError
from embeddings.support import tensors

HALVES = b'{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}'  # a type that numpy lacks
HUGE = b'{"a":{"dtype":"F32","shape":[0,4611686018427387904],"data_offsets":[0,0]}}'  # and empty


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"\xff" * 8, "header"),
        (struct.pack("<Q", 2**40) + b"x" * 100, "header"),
        (struct.pack("<Q", len(HALVES)) + HALVES + b"xx", "BF16"),
        (struct.pack("<Q", len(HUGE)) + HUGE, "too big"),
    ],
)
def test_headers_that_do_not_end_and_what_numpy_cannot_hold_are_refused(tmp_path, data, fact):
    (tmp_path / "t").write_bytes(data)
    with pytest.raises(FormatError, match=rf"/t\b.*{fact}"):
        tensors.load(tmp_path / "t")


def test_tensors_of_every_dtype_and_shape(tmp_path):
    arrays = {
        f"{kind}{shape}": np.ones(shape, kind) for kind in tensors.DTYPES.values() for shape in [(), (3,), (2, 0)]
    }
    tensors.save(arrays, tmp_path / "t")
    safetensors.numpy.save_file(arrays, tmp_path / "library")
    assert (tmp_path / "t").read_bytes() == (tmp_path / "library").read_bytes()
    loaded = tensors.load(tmp_path / "t")
    assert {name: (array.dtype, array.shape) for name, array in loaded.items()} == {
        name: (array.dtype, array.shape) for name, array in arrays.items()
    }
    assert all(np.array_equal(loaded[name], arrays[name]) for name in arrays)


def test_parts_of_an_array_are_written_one_after_another(tmp_path):
    whole = np.arange(12, dtype=np.float32).reshape(6, 2)
    for name, array in (("whole", whole), ("parts", [whole[:1], whole[1:1], whole[1:][:, ::1]])):
        tensors.save({"a": array, "b": whole[0]}, tmp_path / name)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()


A, B = '"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}', '"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}'
ODD_HEADERS = {  # header, data, and what is read: True, False, or stricter where only the library reads it
    "one": (f"{{{A}}}", 2, True),
    "none": ("{}", 0, True),
    "metadata": (f'{{"__metadata__":{{"x":"y"}},{A}}}', 2, True),
    "null metadata": (f'{{"__metadata__":null,{A}}}', 2, True),
    "other order": (f"{{{B},{A}}}", 4, True),
    "trailing spaces": (f"{{{A}}}   ", 2, True),
    "spaces within": (f"{{ {A} }}", 2, True),
    "other field": (f'{{{A[:-1]},"more":1}}}}', 2, True),
    "empty name": (f'{{{A.replace("a", "", 1)}}}', 2, True),
    "escaped name": ('{"\\u0000\\n":' + A[4:] + "}", 2, True),
    "scalar": ('{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}', 1, True),
    "unaligned": ('{"b":{"dtype":"F32","shape":[2],"data_offsets":[2,10]},' + A + "}", 10, True),
    "same name": (f"{{{A},{A}}}", 2, "stricter"),
    "same escaped name": (f'{{{A},{A.replace("a", chr(92) + "u0061", 1)}}}', 2, "stricter"),
    "same metadata name": (f'{{"__metadata__":{{"x":"y","x":"z"}},{A}}}', 2, "stricter"),
    "leading space": (f" {{{A}}}", 2, True),
    "list": ('{"a":["U8",[2],[0,2]]}', 2, "stricter"),
    "same name, other offsets": (f"{{{A},{B.replace('b', 'a')}}}", 4, False),
    "same field": (f'{{{A[:-1]},"dtype":"U8"}}}}', 2, False),
    "byte order mark": (f"\ufeff{{{A}}}", 2, False),
    "trailing NUL": (f"{{{A}}}\0", 2, False),
    "trailing text": (f"{{{A}}}x", 2, False),
    "trailing comma": (f"{{{A},}}", 2, False),
    "array": ("[1]", 0, False),
    "null entry": ('{"a":null}', 0, False),
    "nothing": ("", 0, False),
    "hole at the start": (f"{{{B}}}", 4, False),
    "hole": (f"{{{A},{B.replace('[2,4]', '[3,5]')}}}", 5, False),
    "overlap": (f"{{{A},{B.replace('[2,4]', '[1,3]')}}}", 3, False),
    "same bytes": (f"{{{A},{B.replace('[2,4]', '[0,2]')}}}", 2, False),
    "bytes after the end": (f"{{{A}}}", 3, False),
    "truncated": (f"{{{A}}}", 1, False),
    "reversed offsets": (f"{{{A.replace('[0,2]', '[2,0]')}}}", 2, False),
    "negative offset": (f"{{{A.replace('[0,2]', '[-2,0]')}}}", 2, False),
    "float offset": (f"{{{A.replace('[0,2]', '[0.0,2.0]')}}}", 2, False),
    "huge offset": (f"{{{A.replace('[0,2]', '[0,18446744073709551618]')}}}", 2, False),
    "overflowing shape": (f"{{{A.replace('[2]', '[4294967296,4294967296]')}}}", 2, False),
    "overflowing and empty": ('{"a":{"dtype":"U8","shape":[4611686018427387904,8,0],"data_offsets":[0,0]}}', 0, False),
    "other shape": (f"{{{A.replace('[2]', '[3]')}}}", 2, False),
    "unknown type": (f"{{{A.replace('U8', 'u8')}}}", 2, False),
    "number as metadata": (f'{{"__metadata__":{{"x":1}},{A}}}', 2, False),
    "lone surrogate": (f'{{{A.replace("a", chr(92) + "ud800", 1)}}}', 2, False),
    "NaN": (f"{{{A.replace('[2]', '[NaN]')}}}", 2, False),
    "truth as a size": (f"{{{A.replace('[2]', '[true]')}}}", 2, False),
    "negative shape": (f"{{{A.replace('[2]', '[-1,-2]')}}}", 2, False),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_HEADERS)
def test_odd_headers_are_read_as_by_the_library_or_refused(tmp_path, name):
    header, size, expected = ODD_HEADERS[name]
    data = struct.pack("<Q", len(header.encode())) + header.encode() + bytes(range(1, 1 + size))
    (tmp_path / "t").write_bytes(data)
    reference, ours = (
        outcome_of(read) for read in (lambda: safetensors.numpy.load(data), lambda: tensors.load(tmp_path / "t"))
    )
    assert (isinstance(reference, dict), isinstance(ours, dict)) == (bool(expected), expected is True)
    assert ours == reference if expected is True else "\n" not in ours


def outcome_of(read):
    """The content of each array, or the error if reading is refused."""
    try:
        return {name: (array.dtype, array.shape, array.tobytes()) for name, array in read().items()}
    except (FormatError, SafetensorError) as error:
        return str(error)


def test_arrays_are_aligned(tmp_path):
    entries = {
        "b": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
        "a": {"dtype": "F32", "shape": [2], "data_offsets": [1, 9]},
    }
    text = json.dumps(entries).encode()
    (tmp_path / "t").write_bytes(struct.pack("<Q", len(text)) + text + b"x" + np.array([1, 2], "<f4").tobytes())
    array = tensors.load(tmp_path / "t")["a"]
    assert array.flags.aligned
    assert array.tolist() == [1, 2]
