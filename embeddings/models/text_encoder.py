"""Texts as rows of word vectors, split into words as the training text was."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.sources import Texts
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.scanner_tables import ScannedTokenizer
from embeddings.corpora.segmenters import Segmenter
from embeddings.corpora.text_scanner import ItemScanner
from embeddings.corpora.tokenizers import lower_case
from embeddings.corpora.word_rules import WordRules
from embeddings.errors import CorpusError, FormatError, NoWordsError
from embeddings.setting_names import WORD_SETTINGS
from embeddings.support.imports import import_extra
from embeddings.vectors.pooling import RowTexts
from embeddings.vectors.vectors import Vectors


class WordFinder:
    """Finds words as they are, then in their form in the training text, then in lower case."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The row of each word (words,), -1 for a word without one."""
        rows = self.vectors.word_list.rows
        return np.fromiter(map(rows.get, words, repeat(-1)), np.int64, len(words))

    def find_forms(self, words: Sequence[str]) -> NDArray[np.int64]:
        """`find`, and for words without a row, their forms."""
        rows = self.find(words)
        others = np.flatnonzero(rows < 0)
        missing = [words[place] for place in others.tolist()]
        if self.vectors.word_form is None:
            rows[others] = self.find([lower_case(word) for word in missing])
            return rows
        find = self.vectors.find
        for place, word in zip(others.tolist(), missing, strict=True):
            rows[place] = next((row for form in (word, lower_case(word)) if (row := find(form)) is not None), -1)
        return rows

    @cached_property
    def is_lower(self) -> bool:
        """Whether all words of the vectors are in lower case, so that others are composed in lower case."""
        return all(word == lower_case(word) for word in self.vectors.words)

    def compose(self, words: Sequence[str]) -> np.ndarray:
        """Vectors composed for words, float32 (words, dim), zeros where none can be composed."""
        if self.vectors.compose is None or not words:
            return np.zeros((len(words), self.vectors.dim), np.float32)
        return self.vectors.compose_words([lower_case(word) for word in words] if self.is_lower else list(words))


MAX_TYPES = 1 << 20  # distinct tokens in memory, after which they are forgotten
Weigh = Callable[[Sequence[str]], np.ndarray]


@dataclass(frozen=True)
class EncodedTexts:
    """Texts as rows of vectors, numbered from 0 in the vocabulary's table and from there on in `composed`.

    n_words: (texts,), with unknown words. composed_words: the words of the rows of `composed`, and perhaps more.
    composed_weights: (composed,), or None if words are not weighted.
    """

    rows: RowTexts
    n_words: NDArray[np.int64]
    composed: np.ndarray
    composed_words: list[str]
    composed_weights: np.ndarray | None


class RowsByToken:
    """The row of each token that a scanner has numbered; looked up when the token first occurs."""

    def __init__(self, finder: WordFinder, rules: WordRules | None, weigh: Weigh | None) -> None:
        self.finder = finder
        self.rules = rules
        self.weigh = weigh
        self.clear()

    def clear(self) -> None:
        """Forget all tokens, so that memory stays bounded."""
        self.scanner = ItemScanner(self.rules)
        self.rows = np.zeros(0, np.int64)
        self.composed = np.zeros((0, self.finder.vectors.dim), np.float32)
        self.composed_words: list[str] = []
        self.composed_weights: np.ndarray | None = None if self.weigh is None else np.zeros(0)

    def encode(self, raw: NDArray[np.int32], starts: NDArray[np.int64]) -> EncodedTexts:
        """The rows of scanned texts."""
        from embeddings.kernels.text_pooling import select_rows

        self.look_up_new()
        ids, new_starts = np.empty(len(raw), np.int64), np.empty(len(starts), np.int64)
        select_rows(raw, starts, self.rows, ids, new_starts)
        rows = RowTexts(ids[: new_starts[-1]], new_starts)
        return EncodedTexts(rows, np.diff(starts), self.composed, self.composed_words, self.composed_weights)

    def look_up_new(self) -> None:
        """Find the rows of tokens that have occurred for the first time; compose vectors of tokens without a row."""
        known = len(self.rows)
        if len(self.scanner.table) == known:
            return
        words: list[str] = self.scanner.table.words()[known:].to_pylist()
        if self.rules is not None:  # no lists of tokens; the scanner has already normalised words of ASCII characters
            places = [place for place, word in enumerate(words) if not word.isascii()]
            for place, word in zip(places, self.rules.normalize_all([words[one] for one in places]), strict=True):
                words[place] = word
        is_converted = self.rules is not None and self.rules.case != "keep"
        rows = self.finder.find(words) if is_converted else self.finder.find_forms(words)
        if self.finder.vectors.compose is not None:
            missing = np.flatnonzero(rows < 0)
            vectors = self.finder.compose([words[place] for place in missing.tolist()])
            is_composed: NDArray[np.bool_] = np.any(vectors, axis=1)
            places = missing[is_composed].tolist()
            rows[places] = len(self.finder.vectors) + len(self.composed) + np.arange(len(places))
            self.composed = np.concatenate([self.composed, vectors[is_composed]])
            new = [words[place] for place in places]
            self.composed_words += new
            if self.weigh is not None and self.composed_weights is not None:
                self.composed_weights = np.concatenate([self.composed_weights, self.weigh(new)])
        self.rows = np.concatenate([self.rows, rows])


class TextEncoder:
    """Encodes batches of texts; each thread uses its own.

    Arguments:
        finder: of the words of the vectors.
        settings: those of a `Corpus` by which texts become words.
        weigh: gives the weights of composed words; None if words are not weighted.
    """

    def __init__(self, finder: WordFinder, settings: Mapping[str, Any], weigh: Weigh | None = None) -> None:
        self.settings = settings
        self.finder = finder
        values: dict[str, Any] = {name: settings.get(name) for name in WORD_SETTINGS}
        self.rules = WordRules(**values)
        self.scanned = RowsByToken(finder, self.rules, weigh)
        self.listed = RowsByToken(finder, None, weigh)
        is_scanned = isinstance(self.rules.tokenizer, ScannedTokenizer) and not isinstance(
            self.rules.tokenizer, Segmenter
        )
        self.is_scanned = is_scanned and settings.get("phrases") is None

    def encode(self, batch: TextBlock) -> EncodedTexts:
        """Encode a batch of texts."""
        tokens = self.listed if batch.token_lists is not None or not self.is_scanned else self.scanned
        if len(tokens.scanner.table) > MAX_TYPES:
            tokens.clear()
        if batch.token_lists is not None:
            return tokens.encode(*tokens.scanner.add_lists([list(one) for one in batch.token_lists]))
        if self.is_scanned:
            return tokens.encode(*tokens.scanner.scan(batch.data, batch.starts))
        return tokens.encode(*tokens.scanner.add_lists(self.split(batch)))

    def split(self, batch: TextBlock) -> list[list[bytes]]:
        """The tokens of texts as a `Corpus` has them: of segmenters, Python functions and phrases."""
        texts = Texts(batch.data[start:stop].decode() for start, stop in pairwise(batch.starts.tolist()))
        try:
            with Corpus(texts, **self.settings).encode() as encoded:
                words = [word.encode() for word in encoded.vocabulary.words]
                ids, starts = encoded.ids.tolist(), encoded.sentences[encoded.documents].tolist()
        except NoWordsError:
            return [[] for _ in texts]
        return [[words[i] for i in ids[start:stop]] for start, stop in pairwise(starts)]


def load_tokenizer(path: Path) -> Any:
    """A tokenizer of the library tokenizers, which keeps all of a text."""
    tokenizers = import_extra("tokenizers", "tokenizers", "a folder with a tokenizer.json")
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more specific
        raise FormatError(f"{path} is missing or not a tokenizer: {' '.join(str(error).split()):.200}") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class JsonEncoder:
    """Encodes batches of texts by a tokenizer.json, without special tokens.

    Arguments:
        vectors: whose words are tokens of it.
        path: the file.
        of_lists: the encoder of lists of tokens.
        is_of_folder: the file belongs to the folder of the vectors, whose rows are the numbers of tokens. As in
            model2vec, the token for unknown words is then left out, whether it has a vector or not. Otherwise it split
            the training text of a model, line by line, and its tokens became words by the rules of `of_lists`.
    """

    is_scanned = True  # the library works without Python's lock

    def __init__(self, vectors: Vectors, path: Path, of_lists: TextEncoder, *, is_of_folder: bool) -> None:
        self.dim = vectors.dim
        self.of_lists = of_lists
        self.is_of_folder = is_of_folder
        self.tokenizer = load_tokenizer(path)
        tokens: dict[str, int] = self.tokenizer.get_vocab(with_added_tokens=True)
        self.rows = np.full(max(tokens.values(), default=-1) + 1, -1, np.int64)
        if is_of_folder:
            size = min(len(vectors), len(self.rows))
            self.rows[:size] = np.arange(size)
            unknown = tokens.get(getattr(self.tokenizer.model, "unk_token", None) or "")
            if unknown is not None:
                self.rows[unknown] = -1
        else:
            words = of_lists.rules.normalize_all(list(tokens))
            self.rows[np.fromiter(tokens.values(), np.int64, len(tokens))] = of_lists.finder.find_forms(words)

    def encode(self, batch: TextBlock) -> EncodedTexts:
        """Encode a batch of texts."""
        if batch.token_lists is not None:
            return self.of_lists.encode(batch)
        texts = [batch.data[start:stop].decode().removesuffix("\n") for start, stop in pairwise(batch.starts.tolist())]
        lines = [[text] if self.is_of_folder else text.replace("\r\n", "\n").split("\n") for text in texts]
        all_lines = [line for each in lines for line in each]
        try:
            encodings = [one.ids for one in self.tokenizer.encode_batch_fast(all_lines, add_special_tokens=False)]
        except Exception as error:  # the library raises nothing more specific
            raise CorpusError(f"the tokenizer.json failed: {' '.join(str(error).split()):.200}") from None
        ids = np.fromiter((number for one in encodings for number in one), np.int64, sum(map(len, encodings)))
        line_ends = np.append(0, np.cumsum(np.fromiter(map(len, encodings), np.int64, len(encodings))))
        ends = line_ends[np.append(0, np.cumsum(np.fromiter(map(len, lines), np.int64, len(lines))))]
        rows = self.rows[ids]
        starts = np.append(0, np.cumsum(rows >= 0))[ends]
        nothing = np.zeros((0, self.dim), np.float32)
        return EncodedTexts(RowTexts(rows[rows >= 0], starts), np.diff(ends), nothing, [], np.zeros(0))
