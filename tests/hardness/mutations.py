"""What is done to a good file to make a bad one: bytes changed, cut, put in, numbers that lie, nesting, other files."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

NUMBERS = [0, -1, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, -(2**63)]
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


def at(draw: random.Random, data: bytes) -> int:
    """A place: anywhere, or where headers and footers stand."""
    near = draw.choice([len(data), len(data), 64, 8])
    place = draw.randrange(max(1, min(near, len(data))))
    return place if draw.random() < 0.7 else max(0, len(data) - 1 - place)


def changed(draw: random.Random, data: bytes) -> bytes:
    place = at(draw, data)
    return data[:place] + bytes([draw.randrange(256)]) + data[place + 1 :]


def flipped(draw: random.Random, data: bytes) -> bytes:
    place = at(draw, data)
    return data[:place] + bytes([data[place] ^ 1 << draw.randrange(8)]) + data[place + 1 :] if data else b"\1"


def cut(draw: random.Random, data: bytes) -> bytes:
    return data[: at(draw, data)]


def headless(draw: random.Random, data: bytes) -> bytes:
    return data[at(draw, data) :]


def lacking(draw: random.Random, data: bytes) -> bytes:
    first, last = sorted((at(draw, data), at(draw, data)))
    return data[:first] + data[last:]


def doubled(draw: random.Random, data: bytes) -> bytes:
    first, last = sorted((at(draw, data), at(draw, data)))
    return data[:last] + data[first:last] * draw.choice([1, 1, 2, 50]) + data[last:]


def number(draw: random.Random, data: bytes) -> bytes:
    """A size that lies, as headers hold it."""
    size = draw.choice([2, 4, 8])
    value = draw.choice(NUMBERS) % (1 << 8 * size)
    place = at(draw, data)
    return data[:place] + value.to_bytes(size, draw.choice(["little", "little", "big"])) + data[place + size :]


def digits(draw: random.Random, data: bytes) -> bytes:
    """One of the numbers that stand there as text."""
    runs, inside = [], False
    for place, byte in enumerate(data[: 1 << 16]):
        digit = 48 <= byte <= 57
        if digit and not inside:
            runs.append(place)
        inside = digit
    if not runs:
        return number(draw, data)
    start = draw.choice(runs[:8] + runs) if runs else 0
    stop = start
    while stop < len(data) and 48 <= data[stop] <= 57:
        stop += 1
    return data[:start] + draw.choice(DIGITS) + data[stop:]


def odd(draw: random.Random, data: bytes) -> bytes:
    place = at(draw, data)
    return data[:place] + draw.choice(ODD) * draw.choice([1, 1, 7, 3000]) + data[place:]


def long(draw: random.Random, data: bytes) -> bytes:
    """A word, field or line without an end."""
    place = at(draw, data)
    return data[:place] + draw.choice([b"a", b"1", b"\xc3\xa9", b"a "]) * draw.choice([200, 140_000]) + data[place:]


def deep(draw: random.Random, data: bytes) -> bytes:
    opening, closing = draw.choice([(b"[", b"]"), (b'{"a":', b"}"), (b"{", b"}"), (b"(", b")"), (b"a.", b"")])
    inner = opening * DEEP + draw.choice([b"", b"1", b'"x"']) + draw.choice([closing * DEEP, b""])
    place = draw.choice([0, at(draw, data), len(data)])
    return draw.choice([inner, b'{"text": ' + inner + b"}", data[:place] + inner + data[place:]])


def noise(draw: random.Random, data: bytes) -> bytes:
    """The start stands, and what follows is no more than chance."""
    stays = at(draw, data)
    return data[:stays] + draw.randbytes(min(4096, len(data)))


def zeros(draw: random.Random, data: bytes) -> bytes:
    first, last = sorted((at(draw, data), at(draw, data)))
    return data[:first] + bytes(last - first) + data[last:]


def told(draw: random.Random, data: bytes) -> bytes:
    """A value of JSON that lies, at any depth; of a header of JSON too."""
    start = data.find(b"{", 0, 16)
    try:
        content, stop = json.JSONDecoder().raw_decode(data[max(start, 0) :].decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return digits(draw, data)
    if not isinstance(content, dict):
        return digits(draw, data)
    lie(draw, content)
    text = json.dumps(content).encode("utf-8", "surrogateescape")
    if start == 8:  # safetensors: the length of the header stands in front
        return len(text).to_bytes(8, "little") + text + data[8 + stop :]
    return data[: max(start, 0)] + text + data[max(start, 0) + stop :]


def lie(draw: random.Random, content: dict | list) -> None:  # type: ignore[type-arg]
    """Change one value in place."""
    keys = list(content) if isinstance(content, dict) else list(range(len(content)))
    if not keys:
        return
    key = draw.choice(keys)
    if isinstance(content[key], dict | list) and content[key] and draw.random() < 0.8:
        lie(draw, content[key])
    elif isinstance(content, dict) and draw.random() < 0.2:
        del content[key]
    else:
        content[key] = draw.choice(VALUES)


CHANGES: list[Callable[[random.Random, bytes], bytes]] = [
    *(changed, flipped, cut, headless, lacking, doubled, number, number, digits, digits, odd, long, noise, zeros),
    *(told, told, told),
]
RARELY = [deep]


def mutated(draw: random.Random, data: bytes) -> bytes:
    """A file with one to three changes."""
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        change = draw.choice(RARELY if draw.random() < 0.04 else CHANGES)
        data = change(draw, data)
    return data


def spoil(draw: random.Random, good: Path, bad: Path, others: list[Path]) -> None:
    """Make of a good file or folder a bad one: a file of it changed, gone, or another's."""
    if good.is_file():
        shutil.copyfile(good, bad)
        for beside in good.parent.iterdir():
            if beside != good and beside.is_file():
                shutil.copyfile(beside, bad.parent / beside.name)
        files = sorted(path for path in bad.parent.rglob("*") if path.is_file())
    else:
        shutil.copytree(good, bad)
        files = sorted(path for path in bad.rglob("*") if path.is_file())
    file, way = draw.choice(files), draw.random()
    if way < 0.02 and len(files) > 1:
        file.unlink()
    elif way < 0.03 and len(files) > 1:
        file.unlink()
        file.mkdir()
    elif way < 0.06:
        file.write_bytes(draw.choice([path for path in others if path.is_file()] or files).read_bytes())
    elif way < 0.08:
        file.write_bytes(draw.randbytes(draw.choice([0, 1, 7, 4096])))
    else:
        file.write_bytes(mutated(draw, file.read_bytes()))
