"""Named arrays in a safetensors file, memory-mapped on reading.

The safetensors library writes files and validates their headers, but copies arrays when it reads them into numpy; here
they are read-only views of the file. Format: 8 bytes of header length, a JSON header, and the bytes of the arrays.

The format's specification is stricter than some versions of the library: a header starts with "{", may end with
spaces, and names nothing twice. All of it is checked, so that no two parsers can see different arrays in one file.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.errors import FormatError
from embeddings.support.foreign_files import check_no_stream

MAX_HEADER = 100_000_000  # bytes, the limit of the library
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

    path.touch()
    mode = path.stat().st_mode  # of the umask; the library makes files that only their owner can read
    try:
        save_file({name: np.asarray(array, order="C") for name, array in tensors.items()}, str(path))
        path.chmod(mode)
    except SafetensorError as error:  # raised for any OS error, whose number is in its message
        number = re.search(r"os error (\d+)", str(error)) if os.name == "posix" else None
        raise (OSError(int(number[1]), os.strerror(int(number[1]))) if number else OSError(str(error))) from error


def load(path: Path) -> dict[str, np.ndarray]:
    """Memory-map every array read-only, by name."""
    from safetensors import SafetensorError, safe_open

    check_no_stream(path)
    try:
        with path.open("rb") as stream, safe_open(str(path), framework="numpy"):  # validates the header
            length = int.from_bytes(stream.read(8), "little")
            header = parse_header(stream.read(length))
        data = np.memmap(path, np.uint8, "r", offset=8 + length) if path.stat().st_size > 8 + length else None
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror or error}") from error
    except (SafetensorError, ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not a valid safetensors file: {' '.join(str(error).split())}") from error
    arrays = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        try:
            dtype, shape = np.dtype(DTYPES[entry["dtype"]]), tuple(entry["shape"])
            arrays[name] = np.empty(shape, dtype) if data is None or 0 in shape else data[first:last].view(dtype)
            arrays[name] = np.require(arrays[name].reshape(shape), requirements="A")  # as kernels expect; may copy
        except (KeyError, ValueError, MemoryError) as error:
            raise FormatError(f"{path}: numpy cannot represent the tensor {name!r}: {error}") from error
    return arrays


def parse_header(text: bytes) -> dict[str, dict[str, Any]]:
    """The entry of each tensor in a header that the library has accepted; ValueError if the specification differs."""
    if not text.startswith(b"{") or not text.rstrip(b" ").endswith(b"}"):
        raise ValueError("its header must start with '{' and end with '}' or spaces")
    header: dict[str, dict[str, Any]] = json.loads(text, object_pairs_hook=unique_names)
    header.pop("__metadata__", None)
    if not all(type(entry) is dict for entry in header.values()):
        raise ValueError("an entry of its header is not an object")
    return header


def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, in which no name may occur twice."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name occurs twice in its header")
    return content
