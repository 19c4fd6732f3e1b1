"""The header of a fastText file. Numbers are little-endian.

- signature: int32 magic number and version; absent before 2017
- arguments: 12 int32 and one float64
- dictionary: int32 entries, words and labels; int64 tokens
- pruning: int64 buckets left by pruning, -1 if not pruned; only in files with a signature
"""

import struct
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from embeddings.errors import FormatError
from embeddings.models.subwords import MAX_NGRAM_LENGTH
from embeddings.vectors.file_validation import MAX_DIM

MAGIC, VERSION = 793712314, 12
SIGNATURE = struct.Struct("<2i")
ARGUMENTS = struct.Struct("<12id")
SIZES, PRUNED = struct.Struct("<3iq"), struct.Struct("<q")
MAX_HEADER_BYTES = SIGNATURE.size + ARGUMENTS.size + SIZES.size + PRUNED.size
CBOW, SKIPGRAM, SUPERVISED = 1, 2, 3
MODELS = {CBOW: "cbow", SKIPGRAM: "skipgram", SUPERVISED: "supervised"}
LOSSES = {1: "hierarchical softmax", 2: "negative sampling", 3: "softmax", 4: "one against all"}
NEGATIVE_SAMPLING = LOSSES[2]
QUANTISED = "its matrices are quantised, so it can only classify texts; for vectors use the .bin file it was made from"


@dataclass(frozen=True, kw_only=True)
class Header:
    """The fields in the order of the file, except for the version, with fastText's defaults."""

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
    learning_rate_updates: int = 100
    subsample: float = 1e-4
    entries: int
    words: int
    labels: int = 0
    tokens: int
    pruned_size: int = -1
    version: int = VERSION

    def pack(self) -> bytes:
        """Encode the header in the newest version."""
        values = astuple(self)
        parts = (SIGNATURE, (MAGIC, VERSION)), (ARGUMENTS, values[:13]), (SIZES, values[13:17]), (PRUNED, values[17:18])
        return b"".join(layout.pack(*part) for layout, part in parts)

    @property
    def size(self) -> int:
        """Size of the header in its file, in bytes."""
        return MAX_HEADER_BYTES if self.version else ARGUMENTS.size + SIZES.size

    @property
    def output_rows(self) -> int:
        """Rows of the output matrix: one per label in a supervised model, else one per word."""
        return self.labels if self.model == SUPERVISED else self.words

    @property
    def input_rows(self) -> int:
        """Rows of the input matrix of a quantised file: one per word and bucket left by pruning."""
        return self.words + (self.buckets if self.pruned_size < 0 else self.pruned_size)

    @property
    def has_ngrams(self) -> bool:
        """Whether words have n-grams; supervised models before version 12 have none, whatever their arguments say."""
        is_old_supervised = self.model == SUPERVISED and self.version < VERSION
        return self.max_n > 0 and self.min_n <= self.max_n and self.pruned_size != 0 and not is_old_supervised


def find_header(start: bytes) -> Header | None:
    """Parse the start of a file; without a magic number, `version` is 0, and implausible values give None."""
    has_magic = start[:4] == SIGNATURE.pack(MAGIC, 0)[:4]
    if len(start) < (MAX_HEADER_BYTES if has_magic else ARGUMENTS.size + SIZES.size):
        return None
    version = SIGNATURE.unpack_from(start)[1] if has_magic else 0
    offset = SIGNATURE.size if has_magic else 0
    values = ARGUMENTS.unpack_from(start, offset) + SIZES.unpack_from(start, offset + ARGUMENTS.size)
    pruned = PRUNED.unpack_from(start, offset + ARGUMENTS.size + SIZES.size)[0] if has_magic else -1
    names = [field.name for field in fields(Header)]
    header = Header(**dict(zip(names, (*values, pruned, version), strict=True)))
    return header if has_magic or is_plausible(header) else None


def is_plausible(header: Header) -> bool:
    """Whether the numbers can be those of a fastText model."""
    is_known = header.model in MODELS and header.loss in LOSSES and 0 < header.dim <= MAX_DIM
    fits = header.words >= 0 and header.labels >= 0 and header.entries == header.words + header.labels
    return is_known and fits and header.tokens >= 0 and header.buckets >= 0 and 0 <= header.subsample <= 1


def read_header(path: Path, start: bytes) -> Header:
    """The header of a file, checked."""
    header = find_header(start)
    if header is None:
        raise FormatError(f"{path} is truncated or not a fastText model")
    if not 0 <= header.version <= VERSION:
        raise FormatError(f"{path} has fastText version {header.version}; versions up to {VERSION} are supported")
    if not is_plausible(header) or not -1 <= header.pruned_size <= header.buckets:
        raise FormatError(f"{path} is broken: its header contains impossible numbers")
    if header.has_ngrams and header.max_n > MAX_NGRAM_LENGTH:
        raise FormatError(
            f"{path} has n-grams of up to {header.max_n} characters; at most {MAX_NGRAM_LENGTH} are supported"
        )
    if header.has_ngrams and not header.buckets:
        raise FormatError(f"{path} is broken: it has n-grams but no buckets")
    return header
