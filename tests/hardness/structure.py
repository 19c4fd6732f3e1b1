"""Alterations of one field of a valid file, which stays valid for its container: only our own checks can refuse it.

Numbers of arrays, their types and shapes; columns of tables; values of JSON; fields of a fastText header. Whatever
depends on them (lengths, offsets, checksums, sizes in records) is computed again.
"""

import json
import random
import shutil
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from mutations import VALUES, corrupt_value

from embeddings.errors import EmbeddingsError

Alter = Callable[[random.Random, Path], None]
ODD_INTEGERS = [
    0,
    1,
    2,
    -1,
    -2,
    7,
    255,
    256,
    2**15,
    2**31 - 1,
    -(2**31),
    2**31,
    2**32,
    2**40,
    2**62,
    2**63 - 1,
    -(2**63),
]
ODD_FLOATS = [0.0, -0.0, 1e-45, -1.0, 1e6, 3e38, -3e38, float("inf"), float("-inf"), float("nan")]
DTYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
ODD_TEXTS = ["", " ", "\n", "\t", "\0", "a" * 99_999, "the", "été", "\ufeff", "\u2028", "x y", "_", "-1", "nan"]


def odd_number(rng: random.Random, dtype: np.dtype[Any]) -> Any:
    """An extreme or invalid number of a type."""
    if dtype.kind == "f":
        return np.array(rng.choice(ODD_FLOATS)).astype(dtype)
    if dtype.kind == "b":
        return rng.random() < 0.5
    bits = 8 * dtype.itemsize
    value = rng.choice(ODD_INTEGERS) % (1 << bits)
    return np.array([value], f"<u{dtype.itemsize}").view(dtype)[0]


def alter_array(rng: random.Random, array: np.ndarray) -> np.ndarray:
    """A copy with other numbers, another type or another shape."""
    with np.errstate(all="ignore"):
        kind = rng.random()
        result = np.array(array)
        if kind < 0.55 and result.size:
            return alter_numbers(rng, result)
        if kind < 0.65:
            return result.astype(rng.choice(DTYPES))
        return alter_shape(rng, result)


def alter_numbers(rng: random.Random, array: np.ndarray) -> np.ndarray:
    """The array with one, some or all numbers replaced, shifted, sorted or shuffled."""
    flat = array.reshape(-1)
    start = rng.randrange(len(flat))
    part = slice(start, start + rng.choice([1, 1, 1, 5, len(flat)]))
    kind = rng.random()
    if kind < 0.6:
        flat[part] = odd_number(rng, array.dtype)
    elif kind < 0.75 and array.dtype.kind in "iu":
        flat[part] += np.array(rng.choice([-1, 1, 2, -3, 100])).astype(array.dtype)
    elif kind < 0.85:
        flat[part] = flat[part][::-1].copy()
    else:
        flat[part] = np.frombuffer(rng.randbytes(flat[part].nbytes), np.uint8).view(array.dtype)
    return array


def alter_shape(rng: random.Random, array: np.ndarray) -> np.ndarray:
    """The array with rows or columns removed or added, flattened, transposed, or with another axis."""
    alterations = [
        lambda a: a[: len(a) // 2],
        lambda a: a[:0],
        lambda a: a[:-1],
        lambda a: np.concatenate([a, a[:1]]),
        lambda a: np.concatenate([a, a]),
        lambda a: a.reshape(-1),
        lambda a: a.T,
        lambda a: a[..., :1],
        lambda a: a[..., :0],
        lambda a: a[..., None],
        lambda a: a[None],
        lambda a: a.reshape(()) if a.size == 1 else a.sum(),
    ]
    return np.ascontiguousarray(rng.choice(alterations)(array if array.ndim else array.reshape(1)))


def alter_tensors(rng: random.Random, path: Path) -> None:
    """A safetensors file with one array altered, removed, renamed, added or exchanged with another."""
    from embeddings.support import tensors

    arrays = {name: np.array(array) for name, array in tensors.load(path).items()}
    if not arrays:
        return
    name, kind = rng.choice(list(arrays)), rng.random()
    if kind < 0.8:
        arrays[name] = alter_array(rng, arrays[name])
    elif kind < 0.88:
        del arrays[name]
    elif kind < 0.94:
        arrays[rng.choice(["", "vectors", "extra", f"{name}2"])] = arrays[name]
    else:
        other = rng.choice(list(arrays))
        arrays[name], arrays[other] = arrays[other], arrays[name]
    path.unlink()
    tensors.save(arrays, path)


def alter_npy(rng: random.Random, path: Path) -> None:
    """A numpy file with another array, or the same in Fortran order or of the other byte order."""
    array = np.load(path)
    kind = rng.random()
    if kind < 0.8:
        array = alter_array(rng, array)
    elif kind < 0.9:
        array = np.asfortranarray(array)
    else:
        array = array.astype(array.dtype.newbyteorder(">"))
    path.unlink()
    np.save(path, array)


def alter_json(rng: random.Random, path: Path) -> None:
    """A record with one value replaced or removed, or a number near to the old one."""
    content = json.loads(path.read_text("utf-8"))
    if rng.random() < 0.7 or not alter_leaf(rng, content):
        corrupt_value(rng, content)
    path.write_text(json.dumps(content), "utf-8")


def alter_leaf(rng: random.Random, content: Any) -> bool:
    """Change one number, text or boolean at any depth to another of its type; whether one was found."""
    leaves = [(container, key) for container, key in walk(content) if type(container[key]) in (int, float, str, bool)]
    if not leaves:
        return False
    container, key = rng.choice(leaves)
    old = container[key]
    if isinstance(old, bool):
        container[key] = not old
    elif isinstance(old, int):
        container[key] = rng.choice([old + 1, old - 1, 2 * old, -old, *ODD_INTEGERS])
    else:
        container[key] = rng.choice([*ODD_TEXTS, old + "x"] if isinstance(old, str) else [*ODD_FLOATS, old * 2])
    return True


def walk(content: Any) -> list[tuple[Any, Any]]:
    """All containers of a JSON value, with each of their keys."""
    keys = list(content) if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else []
    result = [(content, key) for key in keys]
    for key in keys:
        result += walk(content[key])
    return result


def alter_column(rng: random.Random, column: Any) -> Any:
    """A column with other values, nulls, another type or dictionary-encoded."""
    import pyarrow as pa

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind = rng.random()
    if kind < 0.15:
        return column.dictionary_encode() if pa.types.is_string(column.type) else pa.nulls(len(column), column.type)
    if kind < 0.3:
        types = [
            pa.int8(),
            pa.int32(),
            pa.uint64(),
            pa.float64(),
            pa.string(),
            pa.large_binary(),
            pa.list_(pa.float32()),
        ]
        return pa.nulls(len(column), rng.choice(types)) if rng.random() < 0.3 else column.cast(rng.choice(types))
    values = column.to_pylist()
    if values:
        row = rng.randrange(len(values))
        values[row] = alter_cell(rng, values[row], values)
    return pa.array(values, column.type)


def alter_cell(rng: random.Random, value: Any, values: list[Any]) -> Any:
    """Another value for a cell: of its own type, that of another row, or null."""
    if rng.random() < 0.2:
        return rng.choice([None, rng.choice(values)])
    if isinstance(value, str):
        return rng.choice([*ODD_TEXTS, value + "x"])
    if isinstance(value, list):
        return rng.choice([[], value[:-1], value * 2, [rng.choice(ODD_FLOATS)] * len(value), [None] * len(value)])
    if isinstance(value, float):
        return rng.choice(ODD_FLOATS)
    return rng.choice(ODD_INTEGERS)


def alter_table(rng: random.Random, table: Any) -> Any:
    """A table with one column altered, removed, renamed or repeated, other rows, or other metadata."""
    kind, number = rng.random(), rng.randrange(table.num_columns)
    name = table.column_names[number]
    if kind < 0.55:
        return table.set_column(number, name, alter_column(rng, table.column(number)))
    if kind < 0.62:
        return table.remove_column(number)
    if kind < 0.7:
        return table.rename_columns(
            [*table.column_names[:number], rng.choice(["", "word", "x"]), *table.column_names[number + 1 :]]
        )
    if kind < 0.76:
        return table.append_column(name, table.column(number))
    if kind < 0.88:
        rows = list(range(table.num_rows))
        return table.take(
            rng.choice([rows[:-1], rows[:1], [], rows[::-1], rows * 2, [*rows[:1], *rows[:1], *rows[2:]]])
        )
    metadata = dict(table.schema.metadata or {})
    if metadata:
        key = rng.choice(list(metadata))
        metadata[key] = str(rng.choice([*ODD_INTEGERS, "x", "", "9" * 400])).encode()
    return table.replace_schema_metadata(metadata)


def alter_arrow(rng: random.Random, path: Path) -> None:
    """An Arrow file with an altered table, in one or several batches, compressed or not."""
    import pyarrow as pa

    with pa.OSFile(str(path), "rb") as source:
        table = valid_table(rng, pa.ipc.open_file(source).read_all())
    options = pa.ipc.IpcWriteOptions(compression=rng.choice([None, None, "zstd"]))
    path.unlink()
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rng.choice([None, 1, 7]))


def alter_parquet(rng: random.Random, path: Path) -> None:
    """A Parquet file with an altered table, in one or several row groups."""
    from pyarrow import parquet

    table = valid_table(rng, parquet.read_table(path))
    parquet.write_table(table, path, row_group_size=rng.choice([None, 1, 7]), use_dictionary=rng.random() < 0.5)


def valid_table(rng: random.Random, table: Any) -> Any:
    """An altered table; the same one if Arrow cannot represent the alteration."""
    import pyarrow as pa

    try:
        return alter_table(rng, table)
    except (pa.ArrowException, OverflowError, ValueError, TypeError):
        return table


def alter_tabular_text(rng: random.Random, path: Path) -> None:
    """A text with one field of one line altered, or one line removed or repeated."""
    lines = path.read_text("utf-8").split("\n")
    row = rng.randrange(len(lines))
    separator = "\t" if "\t" in lines[row] else " "
    fields = lines[row].split(separator)
    kind = rng.random()
    if kind < 0.7:
        odd = [*ODD_TEXTS, *map(str, ODD_INTEGERS), "9" * 30, "1e999", "\ud800"]
        fields[rng.randrange(len(fields))] = rng.choice(odd)
    elif kind < 0.8:
        fields.append(rng.choice(ODD_TEXTS))
    elif kind < 0.9:
        fields.pop()
    lines[row : row + 1] = [separator.join(fields)] * rng.choice([1, 1, 2, 0])
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))


def fasttext_fields(data: bytes) -> list[tuple[int, str]]:
    """The offset and format of each field of a fastText file of the newest version, without the numbers of matrices."""
    words = struct.unpack_from("<i", data, 8 + 56)[0]
    fields = [(4 * i, "<i") for i in range(14)] + [
        (56, "<d"),
        (64, "<i"),
        (68, "<i"),
        (72, "<i"),
        (76, "<q"),
        (84, "<q"),
    ]
    offset = 92
    for _ in range(words):
        offset = data.index(b"\0", offset) + 1
        fields += [(offset, "<q"), (offset + 8, "<b")]
        offset += 9
    pruned = max(struct.unpack_from("<q", data, 84)[0], 0)
    fields += [(offset + 4 * i, "<i") for i in range(2 * pruned)]
    offset += 8 * pruned
    for _ in range(2):
        fields += [(offset, "<b")]
        matrix = quantised_fields if data[offset] else dense_fields
        offset = matrix(data, offset + 1, fields)
    return fields


def dense_fields(data: bytes, offset: int, fields: list[tuple[int, str]]) -> int:
    """Append the fields of a dense matrix; returns its end."""
    fields += [(offset, "<q"), (offset + 8, "<q")]
    rows, dim = struct.unpack_from("<2q", data, offset)
    return int(offset + 16 + 4 * rows * dim)


def quantised_fields(data: bytes, offset: int, fields: list[tuple[int, str]]) -> int:
    """Append the fields of a quantised matrix; returns its end."""
    has_norms, rows, dim, codes = struct.unpack_from("<?2qi", data, offset)
    fields += [(offset, "<b"), (offset + 1, "<q"), (offset + 9, "<q"), (offset + 17, "<i")]
    offset += 21 + codes
    for columns in [dim, 1] if has_norms else [dim]:
        offset += rows if columns == 1 and columns != dim else 0
        fields += [(offset + 4 * i, "<i") for i in range(4)]
        offset += 16 + 1024 * columns
    return int(offset)


def alter_fasttext(rng: random.Random, path: Path) -> None:
    """A fastText file with one to three fields of its header, dictionary or matrices altered."""
    data = bytearray(path.read_bytes())
    fields = fasttext_fields(bytes(data))
    for _ in range(rng.choice([1, 1, 2, 3])):
        offset, kind = rng.choice(fields[:20] + fields[-6:] if rng.random() < 0.7 else fields)
        old = struct.unpack_from(kind, data, offset)[0]
        if kind == "<d":
            value = rng.choice(ODD_FLOATS)
        else:
            bits = 8 * struct.calcsize(kind)
            value = rng.choice([old + 1, old - 1, old * 2, *ODD_INTEGERS]) % (1 << bits)
            value -= (1 << bits) if value >> (bits - 1) else 0
        struct.pack_into(kind, data, offset, value)
    path.write_bytes(data)


def alter_safetensors_header(rng: random.Random, path: Path) -> None:
    """A safetensors file with an altered header of the right length; the reference decides whether it is valid."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    if rng.random() < 0.5:
        alter_leaf(rng, header)
    elif rng.random() < 0.3:
        header["__metadata__"] = rng.choice([*VALUES, {"a": "b"}, {"a": 1}])
    elif rng.random() < 0.5:
        corrupt_value(rng, header)
    text = json.dumps(header, separators=rng.choice([(",", ":"), (", ", ": ")]))
    if rng.random() < 0.4:
        text = alter_json_text(rng, text)
    encoded = text.encode("utf-8", "surrogatepass")
    body = data[8 + size :]
    body = rng.choice([body, body, body, body[:-1], body + b"x", body + body])
    path.write_bytes(len(encoded).to_bytes(8, "little") + encoded + body)


def alter_json_text(rng: random.Random, text: str) -> str:
    """JSON that means the same or nearly: white space, repeated names, escapes, other numbers."""
    entry = text[1 : text.index("}") + 1] if "}" in text else text
    return rng.choice(
        [
            f" {text}", f"\n{text}", f"{text} ", f"{text}\n", f"{text}\0", f"{text}{{}}", f"\ufeff{text}",
            "{" + entry + "," + text[1:], text.replace('"', '\\u0022', 1), text.replace("0,", "0.0,", 1),
            text.replace("[", "[ ", 1), text.replace("}", ",}", 1), text.replace(":", ":-", 1),
        ]
    )  # fmt: skip


ALTERATIONS: dict[str, Alter] = {
    ".safetensors": alter_tensors,
    ".json": alter_json,
    ".arrow": alter_arrow,
    ".feather": alter_arrow,
    ".parquet": alter_parquet,
    ".npy": alter_npy,
    ".txt": alter_tabular_text,
    ".tsv": alter_tabular_text,
}


def alter_folder(rng: random.Random, path: Path) -> None:
    """A folder with one file altered, at any depth; or a file of one of the types."""
    files = sorted(file for file in path.rglob("*") if file.suffix in ALTERATIONS) if path.is_dir() else [path]
    file = rng.choice(files)
    ALTERATIONS[file.suffix](rng, file)


def alter_encoded_corpus(rng: random.Random, path: Path) -> None:
    """An encoded corpus with one file altered, whose description has the new sizes and digests, its own included."""
    from embeddings.corpora import encoded_corpus
    from embeddings.corpora.vocabulary import Vocabulary

    shuffle_borders(rng, path) if rng.random() < 0.3 else alter_folder(rng, path)
    content = json.loads((path / encoded_corpus.META).read_text("utf-8"))
    if not isinstance(content, dict) or rng.random() < 0.05:
        return
    if rng.random() < 0.2:  # counts that fit the vocabulary, so that only the ids can show that it is another one
        with suppress(EmbeddingsError):
            vocabulary = Vocabulary.load(path / encoded_corpus.VOCABULARY)
            content |= {"types": len(vocabulary), "known_tokens": vocabulary.tokens}
    with suppress(UnicodeEncodeError):  # a description with half of a surrogate pair cannot be written
        encoded_corpus.write_meta(path, content)


def shuffle_borders(rng: random.Random, path: Path) -> None:
    """Other inner borders of sentences or documents, in the same number; those of both ends mostly stay."""
    file = path / rng.choice(["sentences.npy", "documents.npy"])
    data = bytearray(file.read_bytes())
    borders = np.frombuffer(data, "<i8", offset=128)  # behind the header
    inner = borders[1:-1] if len(borders) > 2 and rng.random() < 0.9 else borders
    end, numbers = int(borders[-1]), np.random.default_rng(rng.randrange(1 << 30))
    kinds = [
        lambda: numbers.integers(0, end, len(inner), endpoint=True),
        lambda: np.sort(numbers.integers(0, end, len(inner), endpoint=True)),  # valid, but another text
        lambda: np.where(np.arange(len(inner)) % 2, 0, end),
        lambda: -numbers.integers(0, 10**6, len(inner)),
        lambda: np.full(len(inner), rng.choice(ODD_INTEGERS[:-3])),
        lambda: inner + rng.choice([-1, 1]),
    ]
    inner[:] = rng.choice(kinds)()
    file.write_bytes(data)


def write_altered_copy(rng: random.Random, good: Path, bad: Path, alter: Alter) -> None:
    """Copy a good file with those next to it, or a folder, and alter the copy."""
    for entry in good.parent.iterdir():
        target = bad.parent / entry.name
        shutil.copytree(entry, target) if entry.is_dir() else shutil.copyfile(entry, target)
    alter(rng, bad)
