"""Pairs of texts in an encoded corpus: each pair is a document, each of its two or three texts a sentence."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.pair_batch import PairBatch
from embeddings.corpora.reading.reader import TagBlock
from embeddings.corpora.reading.text_pairs import COLUMNS, PairColumns, TextPairs, check_kinds
from embeddings.corpora.reading.text_rows import TextBlock
from embeddings.errors import CorpusError, SettingError
from embeddings.kernels.integers import smaller
from embeddings.kernels.jit import entry_point
from embeddings.support.logs import log

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus
    from embeddings.corpora.encoder import Encoder

PAIR_SIDES = "pair_sides"  # in the description of a corpus: how many texts a pair has
LINE_BREAKS = {ord(mark): " " for mark in "\n\r"}


@dataclass(frozen=True)
class PairFormat:
    """Where the pairs of a corpus are.

    Arguments:
        kinds: what a pair is, several separated by commas: "columns", rows of a table; "title-body", "neighbours",
            "neighbouring-paragraphs" or "neighbouring-sentences", made from documents; see `TextPairs`.
        left, right, negative, rating, header: see `PairColumns`.
        title_column: the column of titles of documents in tables.

    Raises:
        SettingError: an argument is out of range.
    """

    kinds: str = COLUMNS
    left: str | None = None
    right: str | None = None
    negative: str | None = None
    rating: str | None = None
    header: bool | None = None
    title_column: str | None = None

    def __post_init__(self) -> None:
        check_kinds(self.kinds.split(","))
        self.columns()

    def columns(self) -> PairColumns:
        """The columns of tables."""
        return PairColumns(self.left, self.right, self.negative, self.rating, self.header)

    def read(self, corpus: "Corpus") -> TextPairs:
        """The pairs of the sources of a corpus."""
        return TextPairs(
            *cast(Any, corpus.sources),
            kinds=self.kinds.split(","),
            columns=self.columns(),
            text_column=corpus.text_column,
            title_column=self.title_column,
            encoding=corpus.encoding,
            encoding_errors=corpus.encoding_errors,
        )


def format_of(pairs: TextPairs) -> PairFormat:
    """The format of pairs that are given as such."""
    return PairFormat(",".join(pairs.kinds), **asdict(pairs.columns), title_column=pairs.title_column)


def check_pairs(pairs: PairFormat | None, corpus: "Corpus") -> PairFormat | None:
    """The format of pairs, which excludes other settings of a corpus."""
    if pairs is None:
        return None
    if not isinstance(pairs, PairFormat):
        raise SettingError(f"pairs must be an embeddings.PairFormat, got {pairs!r:.80}")
    for name in ("labels", "tag_column", "rows", "deduplicate"):
        if getattr(corpus, name):
            raise SettingError(f"pairs cannot be combined with {name}")
    return pairs


def write_pairs(encoder: "Encoder", pairs: PairFormat, corpus: "Corpus") -> dict[str, Any]:
    """Encode the pairs of a corpus; returns the rest of its description."""
    source = pairs.read(corpus)
    sides = encode_pairs(encoder, source, source.name)
    return {"decoding_errors": 0, "columns": {}, PAIR_SIDES: sides}


@dataclass(frozen=True)
class EncodedPairs:
    """Pairs of texts as words.

    Text s of pair p is `ids[starts[p * sides + s]:starts[p * sides + s + 1]]`.

    Arguments:
        order: int64, the numbers of the pairs whose texts all have words of the vocabulary.
        ratings: float32 (all pairs,), on their own scale; empty if there are none.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    sides: int
    order: NDArray[np.int64]
    ratings: NDArray[np.float32]

    @property
    def count(self) -> int:
        """The number of all pairs."""
        return (len(self.starts) - 1) // self.sides


def encode_pairs(encoder: "Encoder", batches: Iterable[PairBatch], name: str) -> int:
    """Encode pairs of texts from the source with this name; returns how many texts a pair has, 2 or 3."""
    sides = 2
    for batch in batches:
        texts = [batch.left, batch.right, *([] if batch.negatives is None else [batch.negatives])]
        sides = len(texts)
        if batch.ratings is not None:
            encoder.add(TagBlock([repr(float(rating)) for rating in batch.ratings]), name)
        data, ends = joined_texts(texts)
        encoder.add(TextBlock(data, ends, items=True, is_complete=True), name)
    return sides


def joined_texts(texts: Sequence[Sequence[str]]) -> tuple[bytes, NDArray[np.int64]]:
    """The UTF-8 of all pairs with a line for each text, and where each pair ends."""
    items = ["".join(f"{text.translate(LINE_BREAKS)}\n" for text in pair).encode() for pair in zip(*texts, strict=True)]
    return b"".join(items), np.cumsum(list(map(len, items)), dtype=np.int64)


def corpus_pairs(encoded: EncodedCorpus, words: int, limit: int | None = None) -> EncodedPairs:
    """The pairs of a corpus, of which those with a text without any known word are left out.

    Arguments:
        words: how many words of the vocabulary are known, the most frequent ones.
        limit: how many words of a text count, unless all do.

    Raises:
        CorpusError: the corpus has no pairs, or none with words of the vocabulary.
    """
    sides, starts = encoded.meta.get(PAIR_SIDES), np.asarray(encoded.sentences)
    if sides is None:
        raise CorpusError("the corpus has no pairs of texts; set pairs of the Corpus, such as pairs=PairFormat()")
    counts = np.zeros(len(starts) - 1, np.int32)
    count_known_words(np.asarray(encoded.ids), starts, words, len(encoded.ids) if limit is None else limit, counts)
    is_known: NDArray[np.bool_] = np.all(counts.reshape(-1, sides) > 0, axis=1)
    order = np.flatnonzero(is_known)
    if not len(order):
        raise CorpusError(f"none of {len(is_known):,} pairs has words of the vocabulary in all of its texts")
    if len(order) < len(is_known):
        numbers = f"{len(is_known) - len(order):,}", f"{len(is_known):,}"
        log.warning("%s of %s pairs have a text without known words and are skipped", *numbers)
    return EncodedPairs(np.asarray(encoded.ids), starts, sides, order, corpus_ratings(encoded))


def corpus_ratings(encoded: EncodedCorpus) -> NDArray[np.float32]:
    """The ratings of the pairs of a corpus; empty if there are none."""
    if encoded.tags is None:
        return np.empty(0, np.float32)
    return np.asarray(encoded.tags.cast("float32").to_numpy(zero_copy_only=False))


@entry_point
def count_known_words(ids: np.ndarray, starts: np.ndarray, words: int, limit: int, counts: np.ndarray) -> None:
    """Count those of the first `limit` words of each text, (texts,), that are known."""
    for text in range(counts.shape[0]):
        for k in range(starts[text], smaller(starts[text + 1], starts[text] + limit)):
            counts[text] += ids[k] < words
