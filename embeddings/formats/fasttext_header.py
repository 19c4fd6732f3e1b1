"""The start of a fastText file: how the model was trained, and what sizes follow. All numbers are little-endian.

MAGIC and the version, in files since 2017; twelve int32 and a float64 of arguments; then, of the dictionary, int32
entries, words and labels, int64 tokens, and in newer files int64 how many buckets are left after pruning, -1 for all.
"""

import struct
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from embeddings.errors import FormatError
from embeddings.models.subwords import MOST_N
from embeddings.vectors.word_encoding import LARGEST_DIM

MAGIC, VERSION = 793712314, 12
SIGN = struct.Struct("<2i")
ARGUMENTS = struct.Struct("<12id")
SIZES, PRUNED = struct.Struct("<3iq"), struct.Struct("<q")
LONGEST = SIGN.size + ARGUMENTS.size + SIZES.size + PRUNED.size
CBOW, SKIPGRAM, SUPERVISED = 1, 2, 3
MODELS = {CBOW: "cbow", SKIPGRAM: "skipgram", SUPERVISED: "supervised"}
LOSSES = {1: "hierarchical softmax", 2: "negative sampling", 3: "softmax", 4: "one against all"}
NEGATIVE_SAMPLING = LOSSES[2]
QUANTISED = "a quantised fastText model (.ftz) is not read; use the .bin that it was made from"


@dataclass(frozen=True, kw_only=True)
class Header:
    """What stands before the words, in the order of the file; fastText's own defaults."""

    dim: int
    window: int = 5
    epochs: int = 5
    min_count: int = 1
    negatives: int = 5
    word_ngrams: int = 1
    loss: int = 2
    model: int = SKIPGRAM
    buckets: int = 0
    min_n: int = 0
    max_n: int = 0
    rate_updates: int = 100
    sample: float = 1e-4
    entries: int
    words: int
    labels: int = 0
    tokens: int
    left: int = -1
    version: int = VERSION

    def packed(self) -> bytes:
        """The bytes of the newest version."""
        values = astuple(self)
        parts = (SIGN, (MAGIC, VERSION)), (ARGUMENTS, values[:13]), (SIZES, values[13:17]), (PRUNED, values[17:18])
        return b"".join(layout.pack(*part) for layout, part in parts)

    @property
    def size(self) -> int:
        """Bytes of it in its file."""
        return LONGEST if self.version else ARGUMENTS.size + SIZES.size

    @property
    def outputs(self) -> int:
        """Rows of the output matrix: one for each label of a supervised model, for each word of any other."""
        return self.labels if self.model == SUPERVISED else self.words

    @property
    def composes(self) -> bool:
        """Whether words have n-grams: not in supervised models up to version 11, whatever they say."""
        old = self.model == SUPERVISED and self.version < VERSION
        return self.max_n > 0 and self.min_n <= self.max_n and self.left != 0 and not old


def find_header(start: bytes) -> Header | None:
    """The header in the first bytes of a file, if they are plausible; `version` is 0 where the file names none."""
    signed = start[:4] == SIGN.pack(MAGIC, 0)[:4]
    if len(start) < (LONGEST if signed else ARGUMENTS.size + SIZES.size):
        return None
    version = SIGN.unpack_from(start)[1] if signed else 0
    at = SIGN.size if signed else 0
    values = ARGUMENTS.unpack_from(start, at) + SIZES.unpack_from(start, at + ARGUMENTS.size)
    left = PRUNED.unpack_from(start, at + ARGUMENTS.size + SIZES.size)[0] if signed else -1
    names = [field.name for field in fields(Header)]
    header = Header(**dict(zip(names, (*values, left, version), strict=True)))
    return header if signed or plausible(header) else None


def plausible(header: Header) -> bool:
    """Whether numbers that no magic precedes are those of a fastText model."""
    known = header.model in MODELS and header.loss in LOSSES and 0 < header.dim <= LARGEST_DIM
    sizes = header.words >= 0 and header.labels >= 0 and header.entries == header.words + header.labels
    return known and sizes and header.tokens >= 0 and header.buckets >= 0 and 0 <= header.sample <= 1


def read_header(path: Path, start: bytes) -> Header:
    """The header of a file, its numbers checked.

    Raises:
        FormatError: it is cut short, of a later version, quantised, or a number is impossible.
    """
    header = find_header(start)
    if header is None:
        raise FormatError(f"{path} is truncated, or no fastText model")
    if not 0 <= header.version <= VERSION:
        raise FormatError(f"{path} is of fastText's version {header.version}; up to {VERSION} is read")
    if not plausible(header) or header.left < -1:
        raise FormatError(f"{path} is broken: its header holds impossible numbers")
    if header.composes and header.max_n > MOST_N:
        raise FormatError(f"{path} has n-grams of up to {header.max_n} characters, more than {MOST_N}")
    if header.composes and not header.buckets:
        raise FormatError(f"{path} is broken: it has n-grams but no buckets")
    if header.left > 0:
        raise FormatError(f"{path}: {QUANTISED}")
    return header
