"""Ranking of texts by the words of a query: BM25 (Robertson et al. 1994), in the form of Lucene.

    score(q, d) = sum over words w of q:  v_w * ln(1 + (N - n_w + 0.5) / (n_w + 0.5)) * f / (f + k1 (1 - b + b |d| / L))

f is the count of w in the text d, n_w the number of texts with w, N the number of texts, |d| the words of d, and L the
mean of |d|. v_w = a / (a + p_w) is the weight of SIF for a word with the share p_w of the training text of the model,
which takes the place of a list of stop words, in any language. Without a model it is 1.

N, n_w and L are those of all segments together, without removed rows, when a query is asked, so that an index that has
grown gives the scores of one that was built at once. This is why scores are not stored, as bm25s does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from embeddings.compilation.jit import entry_point
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.sources import Texts
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.corpora.word_rules import WordForm
from embeddings.errors import NoWordsError, S, SettingError
from embeddings.support.arrow import to_string_array
from embeddings.support.imports import import_extra
from embeddings.text_search.index_folder import Segment
from embeddings.vectors.pooling import DEFAULT_CONSTANT

SATURATION, LENGTH_WEIGHT = 1.5, 0.75  # k1 and b
COMMON_SHARE = 1e-4  # of the text; the weights of rarer words are near 1
BATCH = 1 << 14  # texts that are split at a time
FEW_TEXTS = 64  # which are split in Python, as a corpus takes milliseconds to open


def common_words(vocabulary: Vocabulary | None) -> Vocabulary | None:
    """The words of a vocabulary with a share of at least 1e-4."""
    if vocabulary is None or not len(vocabulary):
        return None
    number = int((vocabulary.counts >= COMMON_SHARE * vocabulary.total).sum())
    words, counts = vocabulary.words[:number], vocabulary.counts[:number].tolist()
    return Vocabulary.from_counts(dict(zip(words, counts, strict=True)), total=vocabulary.total)


@dataclass(frozen=True)
class Lexicon:
    """How texts become words.

    Arguments:
        settings: those of a `Corpus` that matter for words.
        stemming: the language of the Snowball stemmer; None leaves words as they are.
        common: words that are common in the language, with their counts.
    """

    settings: Mapping[str, Any]
    stemming: str | None = None
    common: Vocabulary | None = None

    @cached_property
    def form(self) -> WordForm:
        """The conversion of words that are typed."""
        return WordForm(self.settings)

    @cached_property
    def shares(self) -> dict[str, float]:
        """The share of the text of the model of each common word, or of all words with its stem."""
        shares: dict[str, float] = {}
        if self.common is not None:
            counts = self.common.counts.tolist()
            for word, count in zip(self.stem(self.common.words), counts, strict=True):
                shares[word] = shares.get(word, 0.0) + count / self.common.total
        return shares

    def weights(self, query: str) -> dict[str, float]:
        """The words of a query with their weights v, times their counts in it."""
        weights: dict[str, float] = {}
        words, ids, _ = self.encode([query])
        for word in self.stem([words[number] for number in ids.tolist()]):
            share = self.shares.get(word, 0.0)
            weights[word] = weights.get(word, 0.0) + DEFAULT_CONSTANT / (DEFAULT_CONSTANT + share)
        return weights

    def stem(self, words: Sequence[str]) -> list[str]:
        """The stems of words."""
        if self.stemming is None:
            return list(words)
        library = import_extra("Stemmer", "search", "stemming")
        if self.stemming not in library.algorithms():
            known = ", ".join(library.algorithms())
            raise SettingError(f"{S.stemming} must be among {known}, got {self.stemming!r:.80}")
        return list(library.Stemmer(self.stemming).stemWords(words))

    def encode(self, texts: Sequence[str], threads: int | None = None) -> tuple[list[str], np.ndarray, np.ndarray]:
        """The distinct words of texts, the words as numbers (tokens,), and where each text begins (texts + 1,)."""
        if len(texts) <= FEW_TEXTS and self.form.rules.is_built_in:
            rules: Any = self.form.rules
            lists = [rules.normalize_all(list(rules.tokenizer(text))) for text in texts]
            numbers: dict[str, int] = {}
            ids = [numbers.setdefault(word, len(numbers)) for words in lists for word in words]
            return list(numbers), np.array(ids, np.int64), np.cumsum([0, *map(len, lists)])
        try:
            with Corpus(Texts(texts), **self.settings).encode(threads=threads, progress=False) as encoded:
                starts = encoded.sentences[encoded.documents]
                return list(encoded.vocabulary.words), np.array(encoded.ids, np.int64), np.array(starts)
        except NoWordsError:
            return [], np.zeros(0, np.int64), np.zeros(len(texts) + 1, np.int64)

    def postings(self, texts: pa.ChunkedArray, threads: int | None = None) -> tuple[Any, dict[str, np.ndarray]]:
        """The words of a column of texts, and for each the texts that contain it with its counts."""
        stems: dict[str, int] = {}
        parts: list[list[np.ndarray]] = []
        for start in range(0, len(texts), BATCH):  # as strings and tokens, texts take many times their bytes
            batch = texts.slice(start, BATCH).to_pylist()
            words, ids, starts = self.encode(batch, threads)
            numbers = np.array([stems.setdefault(stem, len(stems)) for stem in self.stem(words)], np.int64)
            lengths = np.diff(starts)
            pairs = numbers[ids] * len(batch) + np.repeat(np.arange(len(batch)), lengths)
            pairs, counts = np.unique(pairs, return_counts=True)
            arrays = (pairs // len(batch), pairs % len(batch) + start, counts, lengths)
            parts.append([array.astype(np.int32) for array in arrays])
        terms, rows, counts, lengths = map(np.concatenate, zip(*parts, strict=True))
        return to_string_array(list(stems)), sort_postings(terms, rows, counts, lengths, len(stems))


def sort_postings(
    terms: np.ndarray, texts: np.ndarray, counts: np.ndarray, lengths: np.ndarray, size: int
) -> dict[str, np.ndarray]:
    """The postings of `size` terms: the start of each, its texts in order, their counts, and the lengths of all texts.

    Arguments:
        terms, texts, counts: of each pair of a term and a text; the texts of a term are in order.
        lengths: of each text, in words.
    """
    order = np.argsort(terms, kind="stable")  # which keeps the order of the texts
    return {
        "term_starts": np.append(0, np.cumsum(np.bincount(terms, minlength=size))).astype(np.int64),
        "posting_texts": texts[order].astype(np.int32, copy=False),
        "posting_counts": counts[order].astype(np.int32, copy=False),
        "lengths": lengths.astype(np.int32, copy=False),
    }


def merge_postings(segments: Sequence[Segment]) -> tuple[Any, dict[str, np.ndarray]]:
    """The postings of the rows of segments that are not removed, in order."""
    numbers: dict[str, int] = {}
    terms, texts, counts, start = [], [], [], 0
    for segment in segments:
        new = np.array([numbers.setdefault(term, len(numbers)) for term in segment.terms.to_pylist()], np.int64)
        arrays, live = segment.arrays, segment.live
        rows = np.cumsum(live) - 1 + start
        of_posting = np.repeat(new, np.diff(arrays["term_starts"]))
        kept = live[arrays["posting_texts"]]
        terms.append(of_posting[kept])
        texts.append(rows[arrays["posting_texts"][kept]])
        counts.append(arrays["posting_counts"][kept])
        start += segment.live_count
    lengths = np.concatenate([segment.arrays["lengths"][segment.live] for segment in segments])
    ids, used = np.unique(np.concatenate(terms), return_inverse=True)  # words of removed rows are dropped
    names = list(numbers)
    postings = sort_postings(used, np.concatenate(texts), np.concatenate(counts), lengths, len(ids))
    return to_string_array([names[number] for number in ids.tolist()]), postings


def lexical_scores(segments: Sequence[Segment], weights: Mapping[str, float]) -> list[np.ndarray]:
    """The scores of all rows of each segment, (rows,) float32; scores of removed rows are meaningless."""
    scores = [np.zeros(len(segment), np.float32) for segment in segments]
    n_texts = sum(segment.live_count for segment in segments)
    mean_length = sum(segment.live_length for segment in segments) / max(n_texts, 1)
    for word, word_weight in weights.items():
        # all segments before any score: n_with, and so the weight of the word, counts the texts of all of them
        found = []
        for segment in segments:
            number = segment.words.find(word)
            start, stop = (0, 0) if number is None else segment.arrays["term_starts"][number : number + 2]
            found.append([segment.arrays[name][start:stop] for name in ("posting_texts", "posting_counts")])
        n_with = sum(
            len(texts) if segment.live_count == len(segment) else int(segment.live[texts].sum())
            for segment, (texts, _) in zip(segments, found, strict=True)
        )
        weight = word_weight * np.log(1 + (n_texts - n_with + 0.5) / (n_with + 0.5))
        for segment, (texts, counts), total in zip(segments, found, scores, strict=True):
            add_word(texts, counts, segment.arrays["lengths"], max(mean_length, 1e-9), weight, total)
    return scores


@entry_point
def add_word(
    texts: np.ndarray, counts: np.ndarray, lengths: np.ndarray, mean_length: float, weight: float, scores: np.ndarray
) -> None:
    """Add the part of a word to the scores of its texts; `weight` is that of the formula times the logarithm."""
    for i in range(texts.shape[0]):
        norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * lengths[texts[i]] / mean_length)
        scores[texts[i]] += np.float32(weight * counts[i] / (counts[i] + norm))
