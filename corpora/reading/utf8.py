"""UTF-8 checked block by block: what comes out is valid and never cuts a code point."""

from codecs import BOM_UTF8, utf_8_decode
from collections.abc import Iterator

from embeddings.corpora.reading.compression import Read
from embeddings.errors import CorpusError, SettingError

POLICIES = ("strict", "replace", "ignore")
REPLACEMENT = "\ufffd"


def check_policy(policy: str) -> str:
    """The policy itself.

    Raises:
        SettingError: it is not strict, replace or ignore.
    """
    if policy not in POLICIES:
        raise SettingError(f"encoding-errors must be strict, replace or ignore, not {policy!r}")
    return policy


class Utf8:
    """A decoder's memory between blocks: a cut code point, the place in the stream, the faults."""

    def __init__(self, policy: str, name: str) -> None:
        self.policy = policy
        self.name = name
        self.errors = 0
        self.rest = b""
        self.offset = 0

    def clean(self, block: bytes, *, final: bool = False) -> bytes:
        """The whole code points of the stream so far that were not given yet, as valid UTF-8.

        Faults are replaced or left out, and counted, exactly as `bytes.decode` would.

        Raises:
            CorpusError: a fault under the policy `strict`; it names the stream and the byte.
        """
        data = self.rest + block if self.rest else block
        if data.isascii():
            self.rest, self.offset = b"", self.offset + len(data)
            return data
        try:
            _, used = utf_8_decode(data, "strict", final)
            valid = data[:used] if used < len(data) else data
        except UnicodeDecodeError as error:
            if self.policy == "strict":
                raise self.fault(error) from None
            valid, used = self.mended(data, final)
        self.rest, self.offset = data[used:], self.offset + used
        return valid

    def mended(self, data: bytes, final: bool) -> tuple[bytes, int]:
        """The data with its faults replaced or left out, and how many bytes of it were used."""
        text, used = utf_8_decode(data, "replace", final)
        # a replacement character that stood in the text itself is no fault
        self.errors += text.count(REPLACEMENT) - data[:used].count(REPLACEMENT.encode())
        if self.policy == "ignore":
            text, used = utf_8_decode(data, "ignore", final)
        return text.encode(), used

    def fault(self, error: UnicodeDecodeError) -> CorpusError:
        """The error for the first fault of a block."""
        place = self.offset + error.start
        return CorpusError(
            f"{self.name} is not UTF-8 at byte {place} (0x{error.object[error.start]:02x}): {error.reason}; "
            "to go on all the same: --encoding-errors replace or ignore"
        )


def utf8(text: str, decoder: Utf8) -> bytes:
    """The text as valid UTF-8; a lone surrogate in it, which is no character, is a fault to the decoder."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return decoder.clean(text.encode("utf-8", "surrogatepass"), final=True)


def blocks(read: Read, size: int, decoder: Utf8) -> Iterator[bytes]:
    """The stream as valid UTF-8 in blocks of about `size` bytes, without a byte order mark at its start."""
    start = True
    ended = False
    while not ended:
        data = read(size)
        ended = not data
        valid = decoder.clean(data, final=ended)
        if start and valid:
            valid, start = valid.removeprefix(BOM_UTF8), False
        if valid:
            yield valid
