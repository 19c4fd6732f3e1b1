"""Validation of UTF-8 block by block, without splitting code points."""

from codecs import BOM_UTF8, utf_8_decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from embeddings.corpora.reading.peekable_stream import Read
from embeddings.errors import CorpusError

REPLACEMENT = "\ufffd"
MAX_POSITIONS = 5  # of errors that are reported
FAST_SIZE = 1 << 12  # bytes from which on Arrow checks text faster than Python decodes it
REMEDY = "to accept it, set encoding_errors to replace or ignore"
OTHER = f"if it is in another encoding, set encoding to its name, such as cp1252; {REMEDY}"
MIXED = f"the text before it is, so the file mixes encodings; {REMEDY}"


@dataclass
class Utf8Decoder:
    """Validates a stream in blocks; keeps a split code point, the position, and the number of errors."""

    policy: str
    name: str
    errors: int = 0
    positions: list[str] = field(default_factory=list)  # of the first errors
    incomplete: bytes = b""
    offset: int = 0
    line: int | None = None  # None if lines are not counted
    is_foreign: bool = False  # whether there were code points outside of ASCII

    def clean(self, block: bytes, *, final: bool = False) -> bytes:
        """Return the complete code points up to the end of this block as valid UTF-8; errors are counted."""
        data = self.incomplete + block if self.incomplete else block
        if data.isascii():
            self.advance(data, len(data))
            return data
        used = len(data) - (0 if final else incomplete_size(data))
        valid = data[:used]
        if len(data) >= FAST_SIZE and is_valid(valid):
            self.is_foreign = self.is_foreign or not valid.isascii()
            self.advance(data, used)
            return valid
        try:
            _, used = utf_8_decode(data, "strict", final)
            valid = data[:used] if used < len(data) else data
        except UnicodeDecodeError as error:
            if self.policy == "strict":
                is_mixed = self.is_foreign or not data[: error.start].isascii()
                raise CorpusError(
                    f"{self.name} is not UTF-8 at {self.position(data, error.start)}: {error.reason}; "
                    + (MIXED if is_mixed else OTHER)
                ) from None
            valid, used = self.repair(data, final)
        self.is_foreign = True
        self.advance(data, used)
        return valid

    def advance(self, data: bytes, used: int) -> None:
        """Go on to the bytes after the first `used` ones."""
        self.incomplete, self.offset = data[used:], self.offset + used
        if self.line is not None:
            self.line += int(np.count_nonzero(np.frombuffer(data, np.uint8)[:used] == ord("\n")))

    def position(self, data: bytes, start: int) -> str:
        """Return where a byte of the current data stands."""
        line = "" if self.line is None else f", line {self.line + data.count(10, 0, start)}"
        return f"byte {self.offset + start} (0x{data[start]:02x}){line}"

    def add_error(self, position: Callable[[], str]) -> None:
        """Count an error, and keep its position if it is one of the first."""
        self.errors += 1
        if len(self.positions) < MAX_POSITIONS:
            self.positions.append(f"{self.name}, {position()}")

    def add_errors_of(self, part: "Utf8Decoder") -> None:
        """Add the errors of a part of the text that was decoded by itself."""
        self.errors += part.errors
        self.positions = (self.positions + part.positions)[:MAX_POSITIONS]

    def repair(self, data: bytes, final: bool) -> tuple[bytes, int]:
        """Replace or drop errors; returns valid UTF-8 and the number of bytes used."""
        text, used = utf_8_decode(data, "replace", final)
        # replacement characters in the original text are not errors
        total = self.errors + text.count(REPLACEMENT) - data[:used].count(REPLACEMENT.encode())
        start = 0
        for _ in range(min(total - self.errors, MAX_POSITIONS - len(self.positions))):
            try:
                utf_8_decode(data[start:], "strict", final)
            except UnicodeDecodeError as error:
                place = start + error.start
                self.add_error(lambda place=place: self.position(data, place))  # type: ignore[misc]
                start += error.end
        self.errors = total
        if self.policy == "ignore":
            text, used = utf_8_decode(data, "ignore", final)
        return text.encode(), used


def incomplete_size(data: bytes) -> int:
    """Return the size of the code point at the end of UTF-8 text of which bytes are missing; 0 if there is none."""
    for size in range(1, min(len(data), 3) + 1):
        byte = data[-size]
        if byte & 0xC0 != 0x80:
            return size if size < (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0) + 1 else 0
    return 0


def is_valid(data: bytes) -> bool:
    """Whether bytes are complete UTF-8; other threads run meanwhile."""
    import pyarrow

    buffers = [None, pyarrow.py_buffer(np.array([0, len(data)], np.int64)), pyarrow.py_buffer(data)]
    try:
        pyarrow.Array.from_buffers(pyarrow.large_string(), 1, buffers).validate(full=True)
    except pyarrow.ArrowInvalid:
        return False
    return True


def encode_utf8(text: str, decoder: Utf8Decoder, name: str) -> bytes:
    """Encode a string; a lone surrogate is an error that is handled by the decoder's policy and reported for `name`."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        item = Utf8Decoder(decoder.policy, name)
        data = item.clean(text.encode("utf-8", "surrogatepass"), final=True)
        decoder.add_errors_of(item)
        return data


def utf8_blocks(read: Read, size: int, decoder: Utf8Decoder) -> Iterator[bytes]:
    """Yield a stream as valid UTF-8 in blocks of about `size` bytes, without a byte order mark at its start."""
    is_start, is_end = True, False
    decoder.line = 1
    while not is_end:
        data = read(size)
        is_end = not data
        valid = decoder.clean(data, final=is_end)
        if is_start and valid:
            valid, is_start = valid.removeprefix(BOM_UTF8), False
        if valid:
            yield valid
