"""Vectors of texts from word vectors: pooling, weights of words, removal of components."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.segmenters import huggingface
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import S, SettingError
from embeddings.models.text_encoder import EncodedTexts, JsonEncoder, TextEncoder, WordFinder
from embeddings.settings import check_value
from embeddings.support.cosine import normalize_rows
from embeddings.support.threads import map_in_order
from embeddings.vectors.pooling import (
    DEFAULT_CONSTANT,
    WEIGHTINGS,
    DataType,
    Frequencies,
    Pool,
    common_components,
    inverse_document_frequencies,
    pool_rows,
    remove_components,
    word_weights,
)
from embeddings.vectors.vectors import Vectors

MAX_TEXTS, MAX_BYTES = 1 << 15, 1 << 25  # of texts from which statistics are learned


@dataclass(frozen=True)
class TextFrequencies:
    """The occurrences of each word, the number of texts with it, and the number of texts."""

    words: Vocabulary
    texts_of_words: Vocabulary
    texts: int


def count_words(texts: list[EncodedTexts], vectors: Vectors) -> TextFrequencies:
    """Count the words that have vectors, in texts that one encoder has encoded."""
    size = len(vectors) + max((len(one.composed) for one in texts), default=0)
    occurrences, in_texts = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for one in texts:
        ids, counts = one.rows.ids, one.rows.counts
        occurrences += np.bincount(ids, minlength=size)
        pairs = np.unique(np.repeat(np.arange(len(counts)), counts) * size + ids)
        in_texts += np.bincount(pairs % size, minlength=size)
    used = np.flatnonzero(occurrences).tolist()
    composed = texts[-1].composed_words if texts else []
    words = [vectors.words[row] if row < len(vectors) else composed[row - len(vectors)] for row in used]
    total = int(sum(one.n_words.sum() for one in texts))
    return TextFrequencies(
        merged_vocabulary(words, occurrences[used].tolist(), total),
        merged_vocabulary(words, in_texts[used].tolist()),
        sum(len(one.rows) for one in texts),
    )


def merged_vocabulary(words: list[str], counts: list[int], total: int | None = None) -> Vocabulary:
    """The vocabulary of words; the counts of a word that occurs twice are added."""
    merged: dict[str, int] = {}
    for word, count in zip(words, counts, strict=True):
        merged[word] = merged.get(word, 0) + count
    return Vocabulary.from_counts(merged, total=total)


def first_texts(batches: Iterator[TextBlock]) -> tuple[list[TextBlock], list[TextBlock]]:
    """The first 32,768 texts of batches, or the first texts up to 32 MiB, and the batches that were read for that."""
    sample: list[TextBlock] = []
    read: list[TextBlock] = []
    texts = size = 0
    for batch in batches:
        read.append(batch)
        fitting = int(np.searchsorted(np.cumsum(batch.sizes) + size, MAX_BYTES, side="right"))
        if not sample:
            fitting = max(fitting, 1)
        part = batch.slice(0, min(fitting, MAX_TEXTS - texts, len(batch)))
        sample.append(part)
        texts, size = texts + len(part), size + int(part.sizes.sum())
        if len(part) < len(batch) or texts == MAX_TEXTS:
            break
    return sample, read


@dataclass
class TextCounts:
    """Counts of embedded texts, of texts without known words, of words, and of unknown words."""

    texts: int = 0
    texts_without_words: int = 0
    words: int = 0
    unknown_words: int = 0


@dataclass
class TextEmbedder:
    """Turns texts into vectors: pools the vectors of their words. `embeddings.embed` documents the arguments.

    settings: those of a `Corpus` by which texts become words.
    """

    vectors: Vectors
    settings: Mapping[str, Any]
    pool: Pool = "mean"
    constant: float | None = None
    frequencies: Frequencies | None = None
    remove_components: int = 0
    normalize: bool = False
    dim: int | None = None
    dtype: DataType = "float32"
    vocabulary: Vocabulary | None = None  # the word frequencies of the vectors
    tokenizer_file: Path | None = None  # a tokenizer.json that splits texts, instead of the settings
    counts: TextCounts = field(default_factory=TextCounts)

    def __post_init__(self) -> None:
        check_options(self.pool, self.constant, self.frequencies, self.remove_components, self.normalize)
        check_value("dim", self.dim, int | None, {"ge": 1, "le": self.vectors.dim})
        check_value("dtype", self.dtype, DataType, {})
        if self.frequencies == "vectors" and self.vocabulary is None:
            raise SettingError("frequencies 'vectors' requires vectors with counts: use 'texts'")
        if self.frequencies == "texts":
            self.vocabulary = None
        self.finder = WordFinder(self.vectors)
        self.text_frequencies: TextFrequencies | None = None
        self.weights: np.ndarray | None = None  # of the words of the vectors
        self.components: np.ndarray | None = None  # float64 (components, output_dim)
        self._unused_encoders: list[TextEncoder | JsonEncoder] = []
        if self.pool in WEIGHTINGS and self.vocabulary is not None:
            self.weights = self.weigh(self.vectors.words)

    @property
    def output_dim(self) -> int:
        """Components of the vector of a text."""
        return (self.dim or self.vectors.dim) * (3 if self.pool == "power-mean" else 1)

    @property
    def is_weighted(self) -> bool:
        """Whether words have different weights."""
        return self.pool in (*WEIGHTINGS, "idf")

    @property
    def word_frequencies(self) -> Vocabulary | None:
        """The frequencies of words that decide their weights, of texts with the word for "idf"; None if none do."""
        if not self.is_weighted or (self.vocabulary is not None and self.pool != "idf"):
            return self.vocabulary if self.is_weighted else None
        frequencies = self.text_frequencies
        if frequencies is None:
            return None
        return frequencies.texts_of_words if self.pool == "idf" else frequencies.words

    @property
    def requires_fit(self) -> bool:
        """Whether `fit` must be called before texts are embedded."""
        lacks_weights = self.is_weighted and self.weights is None
        return lacks_weights or (self.remove_components > 0 and self.components is None)

    def weigh(self, words: Sequence[str]) -> np.ndarray:
        """The weights of words, (words,)."""
        frequencies = self.word_frequencies
        assert frequencies is not None
        if self.pool == "idf":
            assert self.text_frequencies is not None
            return inverse_document_frequencies(words, frequencies, self.text_frequencies.texts)
        constant = DEFAULT_CONSTANT if self.constant is None else self.constant
        total = None if self.vocabulary is not None else frequencies.total
        return word_weights(words, frequencies, self.pool, constant, total)  # type: ignore[arg-type]

    def fit(self, batches: Iterable[TextBlock]) -> None:
        """Learn word frequencies, if the vectors have none, and the components to remove."""
        encoder = self._new_encoder(is_weighted=False)
        texts = [encoder.encode(batch) for batch in batches]
        if self.is_weighted and (self.vocabulary is None or self.pool == "idf"):
            self.text_frequencies = count_words(texts, self.vectors)
            self.weights = self.weigh(self.vectors.words)
        if self.remove_components:
            rows = [self._pool(one) for one in texts]
            rows = rows or [np.zeros((0, self.output_dim), np.float32)]
            self.components = common_components(np.concatenate(rows), self.remove_components)

    def check_fit_on(self) -> None:
        """Refuse texts to fit on if nothing is learned from them."""
        if not self.requires_fit:
            known = " and the frequencies of the vectors" if self.is_weighted else ""
            raise SettingError(
                f"{S.fit_on} has no effect with pool {self.pool}{known}: it requires {S.remove_components}, pool idf, "
                "or frequencies texts"
            )

    def fit_first(self, batches: Iterable[TextBlock]) -> None:
        """`fit` on the first texts, given as `fit_on`; see `first_texts`."""
        self.check_fit_on()
        self.fit(first_texts(iter(batches))[0])

    def embed(self, batches: Iterable[TextBlock], threads: int | None = None) -> Iterator[tuple[TextBlock, np.ndarray]]:
        """Yield each batch with its vectors, (texts, output_dim), and count words.

        Without a call of `fit`, what is required of it is learned from the first texts; see `first_texts`.
        """
        batches = iter(batches)
        if self.requires_fit:
            sample, read = first_texts(batches)
            self.fit(sample)
            batches = chain(read, batches)
        encoder = self._take_encoder()
        self._unused_encoders.append(encoder)
        threads = threads if encoder.is_scanned else 1  # other encoders are not compiled, or use processes
        for batch, encoded, rows in map_in_order(self._embed, batches, threads, "embed"):
            known = encoded.rows.counts
            self.counts.texts += len(known)
            self.counts.texts_without_words += int((known == 0).sum())
            self.counts.words += int(encoded.n_words.sum())
            self.counts.unknown_words += int(encoded.n_words.sum() - known.sum())
            yield batch, rows

    def __getstate__(self) -> dict[str, Any]:
        """The state to pickle, without working memory."""
        return vars(self) | {"_unused_encoders": []}

    def _embed(self, batch: TextBlock) -> tuple[TextBlock, EncodedTexts, np.ndarray]:
        encoder = self._take_encoder()
        encoded = encoder.encode(batch)
        rows = self._pool(encoded)
        self._unused_encoders.append(encoder)
        if self.components is not None:
            rows = remove_components(self.components.astype(np.float32), rows)
        if not np.isfinite(rows).all():
            self.vectors.check_finite()
            raise SettingError("the vector of a text is too large for float32: scale the word vectors down")
        if self.normalize:
            rows = normalize_rows(rows)
        if self.dtype == "int8":  # keeps directions, not norms
            largest = np.abs(rows).max(axis=1, keepdims=True, initial=0)
            cast = np.asarray(np.rint(rows * (127 / np.where(largest > 0, largest, 1))), np.int8)
        else:
            with np.errstate(over="ignore"):
                cast = rows.astype(self.dtype, copy=False)
            if self.dtype == "float16" and not np.isfinite(cast).all():
                raise SettingError("a component does not fit float16: normalize the vectors")
        return batch, encoded, cast

    def _pool(self, texts: EncodedTexts) -> np.ndarray:
        weights = None
        if self.weights is not None:
            composed = texts.composed_weights
            if composed is None:
                composed = self.weigh(texts.composed_words[: len(texts.composed)])
            weights = [self.weights, composed]
        tables = [self.vectors.matrix, texts.composed]
        with np.errstate(over="ignore", invalid="ignore"):
            return pool_rows(tables, texts.rows, self.pool, weights, self.dim)

    def _take_encoder(self) -> "TextEncoder | JsonEncoder":
        try:
            return self._unused_encoders.pop()
        except IndexError:  # other threads use all of them
            return self._new_encoder(is_weighted=self.is_weighted)

    def _new_encoder(self, *, is_weighted: bool) -> "TextEncoder | JsonEncoder":
        encoder = TextEncoder(self.finder, self.settings, self.weigh if is_weighted else None)
        if self.tokenizer_file is not None:
            return JsonEncoder(self.vectors, self.tokenizer_file, encoder, is_of_folder=True)
        name, _, path = str(self.settings.get("tokenizer")).partition(":")
        if name == huggingface.name and self.settings.get("phrases") is None and self.vectors.compose is None:
            return JsonEncoder(self.vectors, Path(path), encoder, is_of_folder=False)
        return encoder


def check_options(pool: Any, constant: Any, frequencies: Any, remove_components: Any, normalize: Any) -> None:
    """Refuse options that are out of range or have no effect."""
    check_value("pool", pool, Pool, {})
    check_value("constant", constant, float | None, {"ge": 1e-9})
    check_value("frequencies", frequencies, Frequencies | None, {})
    check_value("remove_components", remove_components, int, {"ge": 0})
    check_value("normalize", normalize, bool, {})
    for name, value in (("constant", constant), ("frequencies", frequencies)):
        if pool not in WEIGHTINGS and value is not None:
            raise SettingError(f"{S[name]} requires pool {' or '.join(WEIGHTINGS)}, got {pool}")
