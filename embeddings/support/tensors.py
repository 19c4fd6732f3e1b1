"""Named arrays in a safetensors file, memory-mapped on reading, and an array in an .npy file.

Format: 8 bytes of header length, a JSON header, and the bytes of the arrays. Files are those that the safetensors
library writes, byte for byte. Saving and loading a model does not require the library, which copies arrays when it
reads them into numpy; here they are read-only views of the file.

The format's specification is stricter than some versions of the library: a header starts with "{", may end with
spaces, and names nothing twice. All of it is checked, so that no two parsers can see different arrays in one file.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib.format import header_data_from_array_1_0, write_array_header_1_0

from embeddings.errors import FormatError
from embeddings.support.foreign_files import check_no_stream, format_errors

MAX_HEADER = 100_000_000  # bytes, the limit of the library
ALIGNMENT = 8  # bytes, of the first array
DTYPES = {  # in the order of the arrays in a file
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
    "F32": "<f4",
    "U32": "<u4",
    "I32": "<i4",
    "F16": "<f2",
    "U16": "<u2",
    "I16": "<i2",
    "I8": "|i1",
    "U8": "|u1",
    "BOOL": "|b1",
}


def save(tensors: Mapping[str, np.ndarray | list[np.ndarray]], path: Path) -> None:
    """Write arrays of any shape with dtypes of `DTYPES`, or lists of parts that are written one after another.

    Raises OSError if they cannot be written.
    """
    kinds = {np.dtype(dtype): (place, name) for place, (name, dtype) in enumerate(DTYPES.items())}
    lists = {name: one if isinstance(one, list) else [one] for name, one in tensors.items()}
    header, blocks, offset = {}, [], 0
    # by falling size of an item, as the library does, so that each array is aligned without padding
    for name, parts in sorted(lists.items(), key=lambda item: (kinds[item[1][0].dtype], item[0])):
        dtype, shape = parts[0].dtype, parts[0].shape
        offsets = [offset, offset := offset + sum(part.nbytes for part in parts)]
        shape = (sum(map(len, parts)), *shape[1:]) if len(parts) > 1 else shape
        header[name] = {"dtype": kinds[dtype][1], "shape": shape, "data_offsets": offsets}
        blocks += [np.asarray(part, dtype.newbyteorder("<"), "C").reshape(-1).view(np.uint8) for part in parts]
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    # the specification allows spaces after the object, and mapped arrays must be aligned
    text += b" " * (-len(text) % ALIGNMENT)
    with path.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        for block in blocks:
            stream.write(block.data)


def load(path: Path) -> dict[str, np.ndarray]:
    """Memory-map every array read-only, by name; raises FormatError if the file is damaged."""
    check_no_stream(path)
    arrays = {}
    with format_errors(path), path.open("rb") as stream:
        # nothing is allocated by a length of the file before it is compared with the size of the file
        length, size = int.from_bytes(stream.read(8), "little"), path.stat().st_size - 8
        if length > min(size, MAX_HEADER):
            raise FormatError(f"the length of its header is {length:,} bytes, of {max(size, 0):,} that follow")
        header = parse_header(stream.read(length), size - length)
        data = np.memmap(path, np.uint8, "r", offset=8 + length) if size > length else None
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            dtype, shape = np.dtype(DTYPES[entry["dtype"]]), entry["shape"]
            # numpy cannot map an empty range
            array = np.empty(shape, dtype) if data is None or 0 in shape else data[first:last].view(dtype)
            arrays[name] = np.require(array.reshape(shape), requirements="A")  # as kernels expect; may copy
    return arrays


def parse_header(text: bytes, size: int) -> dict[str, dict[str, Any]]:
    """The entry of each tensor; `size` bytes follow the header. FormatError if it breaks the specification."""
    # of two equal names some parsers take the first, others the last
    header: dict[str, Any] = json.loads(text.decode(), object_pairs_hook=unique_names)
    json.dumps(header, ensure_ascii=False).encode()  # raises ValueError for half of a surrogate pair
    metadata = header.pop("__metadata__", None)
    if metadata is not None and not (isinstance(metadata, dict) and all(type(one) is str for one in metadata.values())):
        raise FormatError("its metadata must be texts")
    for name, entry in header.items():
        check_entry(name, entry)
    # gaps could hide other content, and overlaps let a small file claim much memory
    spans = sorted(entry["data_offsets"] for entry in header.values())
    if [*(first for first, _ in spans), size] != [0, *(last for _, last in spans)]:
        raise FormatError(f"its tensors must follow each other and fill {size:,} bytes, got offsets {spans!r:.200}")
    return header


def check_entry(name: str, entry: Any) -> None:
    """Refuse the entry of a tensor if a field is invalid, or its number of bytes does not match its shape."""
    fields = entry if type(entry) is dict else {}
    dtype, shape, offsets = (fields.get(field) for field in ("dtype", "shape", "data_offsets"))
    lists = [one for one in (shape, offsets) if type(one) is list and all(type(n) is int and n >= 0 for n in one)]
    is_valid = type(dtype) is str and dtype in DTYPES and len(lists) == 2 and len(lists[1]) == 2
    if not is_valid or lists[1][1] - lists[1][0] != math.prod(lists[0]) * np.dtype(DTYPES[str(dtype)]).itemsize:
        expected = "a dtype that numpy has, a shape, and data_offsets as many bytes apart as both take"
        raise FormatError(f"the tensor {name!r} must have {expected}, got {entry!r:.200}")


def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object as a dict; raises FormatError if a name occurs twice."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise FormatError("a name occurs twice in its header")
    return content


def write_npy(array: np.ndarray, stream: BinaryIO) -> None:
    """Write an array as .npy in C order; raises OSError on a full disk, which `numpy.save` does not notice."""
    contiguous = array if array.flags.c_contiguous else array.copy(order="C")
    write_array_header_1_0(stream, header_data_from_array_1_0(contiguous))
    stream.write(contiguous.reshape(-1).view("u1").data)
