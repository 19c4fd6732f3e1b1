"""Validation of UTF-8 block by block, without splitting code points."""

from codecs import BOM_UTF8, utf_8_decode
from collections.abc import Iterator
from dataclasses import dataclass

from embeddings.corpora.reading.peekable_stream import Read
from embeddings.errors import CorpusError

REPLACEMENT = "\ufffd"


@dataclass
class Utf8Decoder:
    """Validates a stream in blocks; keeps a split code point, the byte offset, and the number of errors."""

    policy: str
    name: str
    errors: int = 0
    incomplete: bytes = b""
    offset: int = 0

    def clean(self, block: bytes, *, final: bool = False) -> bytes:
        """Return the complete code points up to the end of this block as valid UTF-8; errors are counted."""
        data = self.incomplete + block if self.incomplete else block
        if data.isascii():
            self.incomplete, self.offset = b"", self.offset + len(data)
            return data
        try:
            _, used = utf_8_decode(data, "strict", final)
            valid = data[:used] if used < len(data) else data
        except UnicodeDecodeError as error:
            if self.policy == "strict":
                raise CorpusError(
                    f"{self.name} is not UTF-8 at byte {self.offset + error.start} (0x{data[error.start]:02x}): "
                    f"{error.reason}; to accept it, set encoding_errors to replace or ignore"
                ) from None
            valid, used = self.repair(data, final)
        self.incomplete, self.offset = data[used:], self.offset + used
        return valid

    def repair(self, data: bytes, final: bool) -> tuple[bytes, int]:
        """Replace or drop errors; returns valid UTF-8 and the number of bytes used."""
        text, used = utf_8_decode(data, "replace", final)
        # replacement characters in the original text are not errors
        self.errors += text.count(REPLACEMENT) - data[:used].count(REPLACEMENT.encode())
        if self.policy == "ignore":
            text, used = utf_8_decode(data, "ignore", final)
        return text.encode(), used


def encode_utf8(text: str, decoder: Utf8Decoder, name: str) -> bytes:
    """Encode a string; a lone surrogate is an error that is handled by the decoder's policy and reported for `name`."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        item = Utf8Decoder(decoder.policy, name)
        data = item.clean(text.encode("utf-8", "surrogatepass"), final=True)
        decoder.errors += item.errors
        return data


def utf8_blocks(read: Read, size: int, decoder: Utf8Decoder) -> Iterator[bytes]:
    """Yield a stream as valid UTF-8 in blocks of about `size` bytes, without a byte order mark at its start."""
    is_start, is_end = True, False
    while not is_end:
        data = read(size)
        is_end = not data
        valid = decoder.clean(data, final=is_end)
        if is_start and valid:
            valid, is_start = valid.removeprefix(BOM_UTF8), False
        if valid:
            yield valid
