"""Mutations of a good file: bytes changed, cut or inserted, false numbers, deep nesting, other files."""

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

FALSE_NUMBERS = [0, -1, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, -(2**63)]
DIGITS = [b"-1", b"0", b"99999999999", b"9" * 400, b"1e309", b"nan", b"-inf", b"0x10", b"1_0", b""]
VALUES = [None, True, -1, 0, 10**9, 2**63, 10**30, 1e308, -0.5, "", "x" * 9000, "\0", "\ud800", [], {}, [[]], {"a": {}}]
ODD = [
    b"\0",
    b"\xff",
    b"\r",
    b"\n",
    b"\t",
    b'"',
    b",",
    b"\xed\xa0\x80",
    b"\xe2\x80\xa8",
    b" " * 9,
    b"\xef\xbb\xbf",
    b"[",
]
DEEP = 100_000


def position(rng: random.Random, data: bytes) -> int:
    """A random offset, more often in a header or footer."""
    limit = rng.choice([len(data), len(data), 64, 8])
    offset = rng.randrange(max(1, min(limit, len(data))))
    return offset if rng.random() < 0.7 else max(0, len(data) - 1 - offset)


def replace_byte(rng: random.Random, data: bytes) -> bytes:
    offset = position(rng, data)
    return data[:offset] + bytes([rng.randrange(256)]) + data[offset + 1 :]


def flip_bit(rng: random.Random, data: bytes) -> bytes:
    offset = position(rng, data)
    return data[:offset] + bytes([data[offset] ^ 1 << rng.randrange(8)]) + data[offset + 1 :] if data else b"\1"


def truncate(rng: random.Random, data: bytes) -> bytes:
    return data[: position(rng, data)]


def drop_start(rng: random.Random, data: bytes) -> bytes:
    return data[position(rng, data) :]


def drop_range(rng: random.Random, data: bytes) -> bytes:
    first, last = sorted((position(rng, data), position(rng, data)))
    return data[:first] + data[last:]


def repeat_range(rng: random.Random, data: bytes) -> bytes:
    first, last = sorted((position(rng, data), position(rng, data)))
    return data[:last] + data[first:last] * rng.choice([1, 1, 2, 50]) + data[last:]


def corrupt_number(rng: random.Random, data: bytes) -> bytes:
    """A false number, as in binary headers."""
    size = rng.choice([2, 4, 8])
    value = rng.choice(FALSE_NUMBERS) % (1 << 8 * size)
    offset = position(rng, data)
    return data[:offset] + value.to_bytes(size, rng.choice(["little", "little", "big"])) + data[offset + size :]


def corrupt_digits(rng: random.Random, data: bytes) -> bytes:
    """A false number in text."""
    runs = [match.span() for match in re.finditer(rb"\d+", data[: 1 << 16])]
    if not runs:
        return corrupt_number(rng, data)
    start, stop = rng.choice(runs[:8] + runs)
    return data[:start] + rng.choice(DIGITS) + data[stop:]


def insert_bytes(rng: random.Random, data: bytes) -> bytes:
    offset = position(rng, data)
    return data[:offset] + rng.choice(ODD) * rng.choice([1, 1, 7, 3000]) + data[offset:]


def insert_long_word(rng: random.Random, data: bytes) -> bytes:
    """A word, field or line that does not end."""
    offset = position(rng, data)
    return data[:offset] + rng.choice([b"a", b"1", b"\xc3\xa9", b"a "]) * rng.choice([200, 140_000]) + data[offset:]


def insert_nesting(rng: random.Random, data: bytes) -> bytes:
    opening, closing = rng.choice([(b"[", b"]"), (b'{"a":', b"}"), (b"{", b"}"), (b"(", b")"), (b"a.", b"")])
    inner = opening * DEEP + rng.choice([b"", b"1", b'"x"']) + rng.choice([closing * DEEP, b""])
    offset = rng.choice([0, position(rng, data), len(data)])
    return rng.choice([inner, b'{"text": ' + inner + b"}", data[:offset] + inner + data[offset:]])


def randomise_rest(rng: random.Random, data: bytes) -> bytes:
    """Random bytes after the start."""
    start = position(rng, data)
    return data[:start] + rng.randbytes(min(4096, len(data)))


def zero_range(rng: random.Random, data: bytes) -> bytes:
    first, last = sorted((position(rng, data), position(rng, data)))
    return data[:first] + bytes(last - first) + data[last:]


def corrupt_json(rng: random.Random, data: bytes) -> bytes:
    """A false value at any depth of JSON, or of a JSON header."""
    start = data.find(b"{", 0, 16)
    try:
        content, stop = json.JSONDecoder().raw_decode(data[max(start, 0) :].decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return corrupt_digits(rng, data)
    if not isinstance(content, dict):
        return corrupt_digits(rng, data)
    corrupt_value(rng, content)
    text = json.dumps(content).encode("utf-8", "surrogateescape")
    if start == 8:  # safetensors: the length of the header precedes it
        return len(text).to_bytes(8, "little") + text + data[8 + stop :]
    return data[: max(start, 0)] + text + data[max(start, 0) + stop :]


def corrupt_value(rng: random.Random, content: dict | list) -> None:  # type: ignore[type-arg]
    """Change one value in offset."""
    keys = list(content) if isinstance(content, dict) else list(range(len(content)))
    if not keys:
        return
    key = rng.choice(keys)
    if isinstance(content[key], dict | list) and content[key] and rng.random() < 0.8:
        corrupt_value(rng, content[key])
    elif isinstance(content, dict) and rng.random() < 0.2:
        del content[key]
    else:
        content[key] = rng.choice(VALUES)


MUTATIONS: list[Callable[[random.Random, bytes], bytes]] = [
    *(replace_byte, flip_bit, truncate, drop_start, drop_range, repeat_range, insert_bytes, insert_long_word),
    *(randomise_rest, zero_range, *[corrupt_number] * 2, *[corrupt_digits] * 2, *[corrupt_json] * 3),
]
RARE_MUTATIONS = [insert_nesting]


def mutate(rng: random.Random, data: bytes) -> bytes:
    """One to three random mutations."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        mutation = rng.choice(RARE_MUTATIONS if rng.random() < 0.04 else MUTATIONS)
        data = mutation(rng, data)
    return data


def write_bad_copy(rng: random.Random, good: Path, bad: Path, others: list[Path]) -> None:
    """Copy a good file or folder with one file mutated, missing, or replaced by one of `others`."""
    if good.is_file():
        shutil.copyfile(good, bad)
        for companion in good.parent.iterdir():
            if companion != good and companion.is_file():
                shutil.copyfile(companion, bad.parent / companion.name)
        files = sorted(path for path in bad.parent.rglob("*") if path.is_file())
    else:
        shutil.copytree(good, bad)
        files = sorted(path for path in bad.rglob("*") if path.is_file())
    file, chance = rng.choice(files), rng.random()
    if chance < 0.02 and len(files) > 1:
        file.unlink()
    elif chance < 0.03 and len(files) > 1:
        file.unlink()
        file.mkdir()
    elif chance < 0.06:
        file.write_bytes(rng.choice([path for path in others if path.is_file()] or files).read_bytes())
    elif chance < 0.08:
        file.write_bytes(rng.randbytes(rng.choice([0, 1, 7, 4096])))
    else:
        file.write_bytes(mutate(rng, file.read_bytes()))
