"""Named arrays in one safetensors file: written by its library, read by mapping the file into memory.

The library's numpy reader copies; here a header is checked in full, and each array is then a read-only
view of the file. Format: 8 bytes of header length, a JSON header, the bytes of the arrays without gaps.
"""

import json
import os
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.errors import FormatError

HEADER_LIMIT = 100_000_000
DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}


def save(tensors: Mapping[str, np.ndarray], path: Path) -> None:
    """Write arrays of any shape; the dtypes are those of `DTYPES`.

    Raises:
        OSError: they cannot be written, as on a full disk.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    try:
        save_file({name: np.asarray(array, order="C") for name, array in tensors.items()}, str(path))
    except SafetensorError as error:  # the library's own for whatever the system says
        raise OSError(str(error)) from error


def load(path: Path) -> dict[str, np.ndarray]:
    """Every array by name, mapped read-only.

    Raises:
        FormatError: a missing, truncated or overlong file, or a header that does not describe it exactly.
    """
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            length = int.from_bytes(stream.read(8), "little")
            if size < 8 or length > min(size - 8, HEADER_LIMIT):
                raise FormatError(f"{path} is truncated, or no safetensors file: its header is cut short")
            header = parse(path, stream.read(length))
        data = np.memmap(path, np.uint8, "r")
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from error
    start = 8 + length
    check_extents(path, header, size - start)
    return {name: viewed(data[start:], entry) for name, entry in header.items()}


def parse(path: Path, text: bytes) -> dict[str, Any]:
    """The header's entries, each of a known dtype, a shape, and as many bytes as they need.

    Raises:
        FormatError: the header is no JSON object, or an entry is wrong; it is named.
    """
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise FormatError(f"{path} is broken: its header is not JSON") from None
    if not isinstance(header, dict):
        raise FormatError(f"{path} is broken: its header is not a JSON object")
    header.pop("__metadata__", None)
    for name, entry in header.items():
        if not well_formed(entry):
            raise FormatError(f"{path} is broken: the entry of tensor {name!r} is not valid")
    return header


def well_formed(entry: Any) -> bool:
    """Whether an entry has a known dtype, and offsets that span just the bytes of its shape."""
    if not isinstance(entry, dict) or entry.get("dtype") not in list(DTYPES):
        return False
    shape: Any = entry.get("shape")
    offsets: Any = entry.get("data_offsets")
    if not is_sizes(shape) or not is_sizes(offsets) or len(offsets) != 2:
        return False
    width = np.dtype(DTYPES[entry["dtype"]]).itemsize
    if prod(max(size, 1) for size in shape) * width >= 2**63:  # numpy makes no such array, not even an empty one
        return False
    return bool(offsets[1] - offsets[0] == prod(shape) * width)


def is_sizes(value: Any) -> bool:
    """Whether a JSON value is a short list of whole numbers from 0 up."""
    return (
        isinstance(value, list) and len(value) <= 32 and all(type(item) is int and 0 <= item < 2**63 for item in value)
    )


def check_extents(path: Path, header: Mapping[str, Any], available: int) -> None:
    """Refuse overlaps, gaps and a data part of another size.

    Raises:
        FormatError: saying what does not fit.
    """
    end = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        if entry["data_offsets"][0] != end:
            raise FormatError(f"{path} is broken: tensor {name!r} overlaps another or leaves a gap")
        end = entry["data_offsets"][1]
    if end != available:
        raise FormatError(f"{path} is truncated or overlong: {end} bytes of tensors expected, {available} found")


def viewed(data: np.ndarray, entry: Mapping[str, Any]) -> np.ndarray:
    """One array as a read-only view of the mapped data; an empty one stands by itself."""
    dtype, shape = np.dtype(DTYPES[entry["dtype"]]), tuple(entry["shape"])
    if 0 in shape:
        return np.empty(shape, dtype=dtype)
    first, last = entry["data_offsets"]
    return data[first:last].view(dtype).reshape(shape)
