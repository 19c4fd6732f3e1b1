"""Text in other encodings than UTF-8: their names, their signs in the first bytes, and conversion block by block."""

import codecs
import threading
from typing import Any, Literal

import numpy as np

from embeddings.corpora.reading.peekable_stream import Read
from embeddings.corpora.reading.utf8 import REPLACEMENT, Utf8Decoder
from embeddings.errors import CorpusError, SettingError

DecodingPolicy = Literal["strict", "replace", "ignore"]

UTF8 = "utf-8"
BYTE_ORDER_MARKS = {  # the longer ones first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
MIN_NULS, MIN_NUL_SHARE = 16, 0.05  # of the code units, in text in UTF-16 without a byte order mark
MAX_HIGH_BYTES = 6  # distinct ones, in UTF-16 that is also valid UTF-8


def check_encoding(encoding: object) -> str:
    """Return the canonical name of an encoding; raises SettingError unless Python can decode it block by block."""
    if not isinstance(encoding, str):
        raise SettingError(f"encoding must be the name of an encoding, such as cp1252, got {encoding!r:.80}")
    try:
        information = codecs.lookup(encoding)
        "a".encode(encoding)  # refuses codecs between bytes, such as zlib
        if information.incrementaldecoder is None:
            raise LookupError
        information.incrementaldecoder("strict").decode(b"", False)
    except (LookupError, ValueError):  # ValueError: a NUL in the name
        message = "expected an encoding of Python, such as cp1252, shift_jis, gb18030 or utf-16"
        raise SettingError(f"unknown encoding {encoding!r:.80}; {message}") from None
    return information.name


def check_signs(head: bytes, encoding: str, name: str) -> None:
    """Refuse text whose first bytes show that it is in UTF-16 or UTF-32, if it is to be read in another encoding."""
    mark = next((mark for mark in BYTE_ORDER_MARKS if head.startswith(mark)), None)
    actual, sign = (BYTE_ORDER_MARKS[mark], "its byte order mark") if mark else (nul_pattern(head), "its NUL bytes")
    if actual is None or (mark is None and encoding not in (UTF8, actual[:6])):
        return
    family = actual[:6]
    if mark is None and encoding == family:
        raise CorpusError(f"{name} has no byte order mark of {family.upper()}; set encoding to {actual}")
    if not encoding.startswith(family):
        raise CorpusError(
            f"{name} is text in {family.upper()}, by {sign}, not in {encoding.upper()}; set encoding to {actual}"
        )


def nul_pattern(head: bytes) -> str | None:
    """Return the encoding of text in UTF-16 or UTF-32 without a byte order mark, by the places of NUL bytes."""
    units = np.frombuffer(head[: len(head) // 4 * 4], np.uint8).reshape(-1, 4) == 0
    shares = units.mean(axis=0) if len(units) else np.zeros(4)
    if shares[3] == 1 and shares[2] > 0.5 and shares[0] < 0.5:
        return "utf-32-le"
    if shares[0] == 1 and shares[1] > 0.5 and shares[3] < 0.5:
        return "utf-32-be"
    even, odd = head[::2].count(0), head[1::2].count(0)
    if min(even, odd) or max(even, odd) < max(MIN_NULS, MIN_NUL_SHARE * len(head) / 2):
        return None
    high_bytes = set(head[::2] if even else head[1::2])  # few in most scripts, unlike in text with a few NUL bytes
    if len(high_bytes) > MAX_HIGH_BYTES and is_utf8(head):
        return None
    return "utf-16-be" if even else "utf-16-le"


def is_utf8(head: bytes) -> bool:
    """Whether the first bytes of a file are UTF-8; a code point may be cut off at their end."""
    try:
        codecs.utf_8_decode(head)
    except UnicodeDecodeError:
        return False
    return True


class Errors(threading.local):
    """What the error handlers of `Transcoder` report to: the transcoder at work in this thread."""

    transcoder: "Transcoder"


ERRORS = Errors()


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
        ERRORS.transcoder = self
        self.block, self.state = data, self.incremental.getstate()
        name = self.decoder.name
        try:
            text = self.incremental.decode(data, not data)
        except UnicodeDecodeError as error:
            raise CorpusError(
                f"{name} is not {self.encoding.upper()} at {self.position(error)}: {error.reason}; set encoding to "
                "that of the text or, to accept it, set encoding_errors to replace or ignore"
            ) from None
        except UnicodeError as error:
            raise CorpusError(f"{name} is not {self.encoding.upper()}: {error}") from None
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
    transcoder = ERRORS.transcoder
    transcoder.decoder.add_error(lambda: transcoder.position(error))
    return text, error.end


codecs.register_error("embeddings.replace", lambda error: count_error(error, REPLACEMENT))
codecs.register_error("embeddings.ignore", lambda error: count_error(error, ""))
