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
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa

from embeddings.compilation.jit import entry_point
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoder import merge_spellings
from embeddings.corpora.scanner_tables import ScannedTokenizer
from embeddings.corpora.segmenters import Segmenter
from embeddings.corpora.text_scanner import ItemScanner, ScannedTexts
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.corpora.word_rules import WordForm
from embeddings.corpora.word_table import WordTable
from embeddings.errors import NoWordsError, S, SettingError
from embeddings.support.arrow import string_bytes, to_arrow, to_numpy, to_string_array
from embeddings.support.imports import import_extra
from embeddings.text_search.index_folder import POSTINGS, Segment
from embeddings.vectors.pooling import DEFAULT_CONSTANT

SATURATION, LENGTH_WEIGHT = 1.5, 0.75  # k1 and b
COMMON_SHARE = 1e-4  # of the text; the weights of rarer words are near 1
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

    def encode(self, texts: Sequence[str]) -> tuple[list[str], np.ndarray, np.ndarray]:
        """The spellings of words in texts, which are numbers (tokens,), and where each text begins (texts + 1,)."""
        if len(texts) <= FEW_TEXTS and self.form.rules.is_built_in:
            rules: Any = self.form.rules
            lists = [rules.normalize_all(list(rules.tokenizer(text))) for text in texts]
            numbers: dict[str, int] = {}
            ids = [numbers.setdefault(word, len(numbers)) for words in lists for word in words]
            return list(numbers), np.array(ids, np.int32), np.cumsum([0, *map(len, lists)])
        words, column_ids, starts = self.encode_column(pa.chunked_array([to_string_array(texts)]))
        return list(words.to_pylist()), column_ids, starts

    def encode_column(
        self, texts: pa.ChunkedArray, scanned: Sequence[ScannedTexts | None] = (None,), threads: int | None = None
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """`encode` for a column of texts, with the words as an Arrow array.

        Arguments:
            scanned: what another scanner found in blocks of these texts, which is used if its rules are the same.
        """
        rules = self.form.rules
        if not isinstance(rules.tokenizer, ScannedTokenizer) or isinstance(rules.tokenizer, Segmenter):
            try:
                with Corpus(texts, **self.settings).encode(threads=threads, progress=False) as encoded:
                    starts = np.array(encoded.sentences[encoded.documents])
                    return encoded.vocabulary.column, np.array(encoded.ids), starts
            except NoWordsError:
                return to_string_array([]), np.zeros(0, np.int32), np.zeros(len(texts) + 1, np.int64)
        # line ends are part of the blocks, but not of the texts
        if rules.tokenizer("\r") or any(one is None or one[0].rules != rules for one in scanned):
            scanner = ItemScanner(rules)
            blocks = map(string_bytes, texts.chunks)
            scanned = [(scanner, scanner.scan(data.tobytes(), starts).copy()) for data, starts in blocks]
        table, known = WordTable(), dict[ItemScanner, np.ndarray]()
        ids, lengths = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
        for scanner, tokens in filter(None, scanned):
            numbers, stop = known.get(scanner, ids[0]), int(tokens.ids.max(initial=-1)) + 1
            if stop > len(numbers):
                new = table.intern(*scanner.table.words_from(len(numbers), stop))
                numbers = known[scanner] = np.append(numbers, new)
            ids.append(numbers[tokens.ids])
            lengths.append(np.diff(tokens.starts))
        words, _, rows = merge_spellings(table.words(), table.counts(), rules)
        words = words if rows is None else words.take(to_arrow(rows))
        return words, np.concatenate(ids), np.cumsum(np.concatenate(lengths))

    def postings(
        self, texts: pa.ChunkedArray, scanned: Sequence[ScannedTexts | None] = (None,), threads: int | None = None
    ) -> tuple[Any, dict[str, np.ndarray]]:
        """The words of a column of texts, and for each the texts that contain it with its counts."""
        words, ids, starts = self.encode_column(texts, scanned, threads)
        stems = words if self.stemming is None else to_string_array(self.stem(words.to_pylist()))
        distinct = stems.dictionary_encode()
        terms, names = np.array(to_numpy(distinct.indices)), distinct.dictionary
        sizes, last = np.zeros(len(names), np.int64), np.full(len(names), -1, np.int32)
        count_texts(ids, terms, starts, last, sizes)
        term_starts = np.append(0, np.cumsum(sizes))
        postings = np.empty((2, term_starts[-1]), np.int32)
        last.fill(-1)
        write_postings(ids, terms, starts, last, term_starts[:-1].copy(), postings)
        return names, posting_arrays(term_starts, postings, np.diff(starts))


@entry_point
def count_texts(ids: np.ndarray, terms: np.ndarray, starts: np.ndarray, last: np.ndarray, sizes: np.ndarray) -> None:
    """Add to `sizes` (terms,) the number of texts with each term; `last` (terms,) is the last text with it, or -1.

    Text t has the words `ids[starts[t]:starts[t + 1]]`; the word i counts as the term `terms[i]`.
    """
    for text in range(starts.shape[0] - 1):
        for place in range(starts[text], starts[text + 1]):
            term = terms[ids[place]]
            sizes[term] += int(last[term] != text)
            last[term] = text


@entry_point
def write_postings(
    ids: np.ndarray, terms: np.ndarray, starts: np.ndarray, last: np.ndarray, places: np.ndarray, postings: np.ndarray
) -> None:
    """Write the texts with each term and its counts to `postings` (2, n), from `places` (terms,) on.

    The other arguments are those of `count_texts`.
    """
    for text in range(starts.shape[0] - 1):
        for place in range(starts[text], starts[text + 1]):
            term = terms[ids[place]]
            if last[term] == text:
                postings[1, places[term] - 1] += 1
            else:
                last[term] = text
                postings[0, places[term]], postings[1, places[term]] = text, 1
                places[term] += 1


def posting_arrays(term_starts: np.ndarray, postings: np.ndarray, lengths: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays of a segment: where each term starts, its texts in order, their counts, and the words of all texts."""
    return dict(zip(POSTINGS, (term_starts, *postings, lengths.astype(np.int32, copy=False)), strict=True))


def merge_postings(segments: Sequence[Segment]) -> tuple[Any, dict[str, np.ndarray]]:
    """The postings of the rows of segments that are not removed, in order."""
    numbers: dict[str, int] = {}
    parts, start = [], 0
    for segment in segments:
        terms = np.array([numbers.setdefault(term, len(numbers)) for term in segment.terms.to_pylist()], np.int64)
        texts, live = segment.arrays["posting_texts"], segment.live
        kept = live[texts]
        sizes = np.diff(np.append(0, np.cumsum(kept))[segment.arrays["term_starts"]])
        rows = np.cumsum(live) - 1 + start
        parts.append((terms, sizes, (rows[texts[kept]], segment.arrays["posting_counts"][kept])))
        start += segment.live_count
    totals = np.zeros(len(numbers), np.int64)
    for terms, sizes, _ in parts:
        totals[terms] += sizes
    places = np.cumsum(totals) - totals  # of the next posting of each term
    postings = np.empty((2, totals.sum()), np.int32)
    for terms, sizes, columns in parts:
        postings[:, np.repeat(places[terms] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())] = columns
        places[terms] += sizes
    lengths = np.concatenate([segment.arrays["lengths"][segment.live] for segment in segments])
    is_used = totals > 0  # words of removed rows are dropped
    names = to_string_array([*compress(numbers, is_used.tolist())])
    return names, posting_arrays(np.append(0, np.cumsum(totals[is_used])), postings, lengths)


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
