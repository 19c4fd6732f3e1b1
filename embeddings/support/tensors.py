"""Named arrays in a safetensors file, memory-mapped on reading.

The safetensors library copies arrays when it reads them into numpy; here they are read-only views of the file.
Format: 8 bytes of header length, a JSON header, and the bytes of the arrays without gaps.
"""

import json
import os
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.errors import FormatError

MAX_HEADER = 100_000_000  # bytes
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
    """Write arrays of any shape with dtypes of `DTYPES`; raises OSError if they cannot be written."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    try:
        save_file({name: np.asarray(array, order="C") for name, array in tensors.items()}, str(path))
    except SafetensorError as error:  # for any error of the system
        raise OSError(str(error)) from error


def load(path: Path) -> dict[str, np.ndarray]:
    """Memory-map every array read-only, by name.

    Raises:
        FormatError: the file is missing, truncated or too long, or its header does not describe it exactly.
    """
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            length = int.from_bytes(stream.read(8), "little")
            if size < 8 or length > min(size - 8, MAX_HEADER):
                raise FormatError(f"{path} is truncated or not a safetensors file: its header is incomplete")
            header = parse_header(path, stream.read(length))
        data = np.memmap(path, np.uint8, "r")
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from error
    start = 8 + length
    check_extents(path, header, size - start)
    return {name: view(data[start:], entry) for name, entry in header.items()}


def parse_header(path: Path, text: bytes) -> dict[str, Any]:
    """Parse the header and validate each entry."""
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise FormatError(f"{path} is broken: its header is not JSON") from None
    if not isinstance(header, dict):
        raise FormatError(f"{path} is broken: its header is not a JSON object")
    header.pop("__metadata__", None)
    for name, entry in header.items():
        if not is_valid_entry(entry):
            raise FormatError(f"{path} is broken: the entry of tensor {name!r} is not valid")
    return header


def is_valid_entry(entry: Any) -> bool:
    """Whether an entry has a known dtype, a shape, and offsets that span exactly its bytes."""
    if not isinstance(entry, dict) or entry.get("dtype") not in list(DTYPES):
        return False
    shape: Any = entry.get("shape")
    offsets: Any = entry.get("data_offsets")
    if not is_sizes(shape) or not is_sizes(offsets) or len(offsets) != 2:
        return False
    itemsize = np.dtype(DTYPES[entry["dtype"]]).itemsize
    if prod(max(size, 1) for size in shape) * itemsize >= 2**63:  # numpy cannot hold it, not even an empty one
        return False
    return bool(offsets[1] - offsets[0] == prod(shape) * itemsize)


def is_sizes(value: Any) -> bool:
    """Whether a JSON value is a list of at most 32 integers from 0 up."""
    return (
        isinstance(value, list) and len(value) <= 32 and all(type(item) is int and 0 <= item < 2**63 for item in value)
    )


def check_extents(path: Path, header: Mapping[str, Any], size: int) -> None:
    """Refuse tensors that overlap, leave gaps, or do not fill the data part of `size` bytes."""
    end = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        if entry["data_offsets"][0] != end:
            raise FormatError(f"{path} is broken: tensor {name!r} overlaps another or leaves a gap")
        end = entry["data_offsets"][1]
    if end != size:
        raise FormatError(f"{path} is truncated or too long: its tensors have {end} bytes, the file has {size}")


def view(data: np.ndarray, entry: Mapping[str, Any]) -> np.ndarray:
    """Return a read-only view of the bytes of one array; an empty array is separate."""
    dtype, shape = np.dtype(DTYPES[entry["dtype"]]), tuple(entry["shape"])
    if 0 in shape:
        return np.empty(shape, dtype=dtype)
    first, last = entry["data_offsets"]
    return data[first:last].view(dtype).reshape(shape)
