"""Text in other encodings than UTF-8: names, byte order marks, patterns of NUL bytes, and conversion in blocks."""

import codecs
import threading
from codecs import BOM_UTF8, utf_8_decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from embeddings.corpora.reading.bzip2_blocks import Read
from embeddings.errors import CorpusError, S, SettingError
from embeddings.support.arrow import pa

REPLACEMENT = "\ufffd"
MAX_POSITIONS = 5  # of errors that are reported
FAST_SIZE = 1 << 12  # bytes from which on Arrow checks text faster than Python decodes it
REMEDY = f"to accept it, set {S.encoding_errors} to replace or ignore"
OTHER = f"if it is in another encoding, set {S.encoding} to its name, such as cp1252; {REMEDY}"
MIXED = f"the text before it is, so the file mixes encodings; {REMEDY}"


ERRORS = threading.local()  # `count`: what error handlers call in this thread


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
        # Arrow releases the lock of the interpreter meanwhile, so that scanner threads go on
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
        if len(self.positions) < MAX_POSITIONS:
            ERRORS.count = lambda error: self.add_error(lambda: self.position(data, error.start))
            text, used = utf_8_decode(data, f"embeddings.{self.policy}", final)
            return text.encode(), used
        # Without a call of Python for each error; replacement characters in the original text are none.
        text, used = utf_8_decode(data, "replace", final)
        self.errors += text.count(REPLACEMENT) - data[:used].count(REPLACEMENT.encode())
        if self.policy == "ignore":
            text, used = utf_8_decode(data, "ignore", final)
        return text.encode(), used


def incomplete_size(data: bytes) -> int:
    """The number of bytes at the end of UTF-8 text that belong to an incomplete code point; 0 if there are none."""
    for size in range(1, min(len(data), 3) + 1):
        byte = data[-size]
        if byte & 0xC0 != 0x80:
            return size if size < (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0) + 1 else 0
    return 0


def is_valid(data: bytes) -> bool:
    """Whether bytes are complete UTF-8; other threads run meanwhile."""
    buffers = [None, pa.py_buffer(np.array([0, len(data)], np.int64)), pa.py_buffer(data)]
    try:
        pa.Array.from_buffers(pa.large_string(), 1, buffers).validate(full=True)
    except pa.ArrowInvalid:
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


DecodingPolicy = Literal["strict", "replace", "ignore"]

UTF8 = "utf-8"
BYTE_ORDER_MARKS = {  # the longer ones first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def check_encoding(encoding: str) -> str:
    """Return the canonical name of an encoding; raises SettingError unless Python can decode it block by block."""
    try:
        information = codecs.lookup(encoding)
        "a".encode(encoding)  # refuses codecs between bytes, such as zlib
        codecs.getincrementaldecoder(encoding)("strict").decode(b"", False)
    except (LookupError, ValueError):  # ValueError: a NUL in the name
        message = "expected an encoding of Python, such as cp1252, shift_jis, gb18030 or utf-16"
        raise SettingError(f"unknown encoding {encoding!r:.80}; {message}") from None
    return information.name


def check_byte_order(head: bytes, encoding: str, name: str) -> None:
    """Refuse text that its first bytes show to be in UTF-16 or UTF-32, or whose order of bytes is unknown."""
    mark = next((mark for mark in BYTE_ORDER_MARKS if head.startswith(mark)), None)
    actual = encoding if mark is None else BYTE_ORDER_MARKS[mark]
    if mark is not None and not encoding.startswith(actual):
        problem = f"is text in {actual.upper()}, by its byte order mark, not in {encoding.upper()}"
        raise CorpusError(f"{name} {problem}; set {S.encoding} to {actual}")
    # without a mark, Python would take the order of bytes of this machine
    if head and mark is None and encoding in BYTE_ORDER_MARKS.values():
        raise CorpusError(f"{name} has no byte order mark; set {S.encoding} to {encoding}-le or {encoding}-be")


class Transcoder:
    """Converts a stream in an encoding to UTF-8; errors are counted by `decoder`, which also has the policy."""

    def __init__(self, read: Read, encoding: str, decoder: Utf8Decoder) -> None:
        self.source = read
        self.encoding = encoding
        self.decoder = decoder
        errors = "strict" if decoder.policy == "strict" else f"embeddings.{decoder.policy}"
        self.incremental: Any = codecs.getincrementaldecoder(encoding)(errors)
        self.offset = 0  # of the block that is being decoded
        self.line = 1  # in which it starts
        self.block, self.state = b"", self.incremental.getstate()
        self.output, self.is_end = b"", False

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes of UTF-8, b"" only at the end."""
        while not self.output and not self.is_end:
            data = self.source(size)
            self.is_end = not data
            self.output = self.convert(data)
        part, self.output = self.output[:size], self.output[size:]
        return part

    def convert(self, data: bytes) -> bytes:
        """Return the UTF-8 of the next bytes of the stream, b"" for its end."""
        ERRORS.count = lambda error: self.decoder.add_error(lambda: self.position(error))
        self.block, self.state = data, self.incremental.getstate()
        name = self.decoder.name
        try:
            text = self.incremental.decode(data, not data)
        except UnicodeError as error:
            problem = f": {error}"
            if isinstance(error, UnicodeDecodeError):
                problem = f" at {self.position(error)}: {error.reason}"
            problem += f"; set {S.encoding} to that of the text; {REMEDY}"
            raise CorpusError(f"{name} is not {self.encoding.upper()}{problem}") from None
        self.line += text.count("\n")
        self.offset += len(data)
        return bytes(text.encode("utf-8", "surrogatepass"))

    def position(self, error: UnicodeDecodeError) -> str:
        """Return the byte and the line of an error in the block that is being decoded."""
        start = error.start - len(self.state[0])  # the decoder prepends bytes that it kept back
        again: Any = codecs.getincrementaldecoder(self.encoding)("replace")
        again.setstate(self.state)
        line = self.line + again.decode(self.block[: max(start, 0)]).count("\n")
        return f"byte {self.offset + start} (0x{error.object[error.start]:02x}), line {line}"


def count_error(error: UnicodeError, text: str) -> tuple[str, int]:
    """Count an error, and return its replacement and where decoding continues."""
    assert isinstance(error, UnicodeDecodeError)
    ERRORS.count(error)
    return text, error.end


codecs.register_error("embeddings.replace", lambda error: count_error(error, REPLACEMENT))
codecs.register_error("embeddings.ignore", lambda error: count_error(error, ""))
