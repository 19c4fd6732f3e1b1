"""Vectors of texts from word vectors: texts as rows of vectors, weights of words, pooling, removal of components.

Texts are split into words as the training text was.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, compress, pairwise, repeat
from operator import contains, ne
from pathlib import Path
from string import punctuation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.sources import Texts
from embeddings.corpora.reading.tag_arrays import string_lists
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.scanner_tables import ScannedTokenizer
from embeddings.corpora.segmenters import Segmenter, huggingface, load_tokenizer, unknown_token
from embeddings.corpora.text_scanner import ItemScanner, ScannedTexts, TokenTexts
from embeddings.corpora.tokenizers import WordTokenizer, lower_case, written
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.corpora.word_rules import WordRules
from embeddings.errors import CorpusError, NoWordsError, S, SettingError
from embeddings.setting_names import WORD_SETTINGS
from embeddings.settings import check_value
from embeddings.support.arrow import starts_of, string_bytes, to_string_array
from embeddings.support.cosine import normalize_rows
from embeddings.support.threads import map_in_order
from embeddings.vectors.pooling import (
    DEFAULT_CONSTANT,
    DataType,
    Frequencies,
    Pool,
    RowTexts,
    common_components,
    look_up_weights,
    pool_rows,
    remove_components,
    sif_weights,
)
from embeddings.vectors.spellings import FORMS, LOWER_CASE, OF_MODEL, spellings
from embeddings.vectors.vectors import Vectors

Found = tuple[NDArray[np.int64], NDArray[np.int8]]  # rows, -1 where there are none, and forms, both (words,)
Change = Callable[[list[str]], list[str]]


def are_true(test: Callable[[str], bool], words: list[str]) -> NDArray[np.bool_]:
    """Whether a test is true of each word."""
    return np.fromiter(map(test, words), np.bool_, len(words))


def select(words: Iterable[str], is_selected: NDArray[np.bool_]) -> list[str]:
    """The selected words."""
    return [*compress(words, is_selected.tolist())]


class WordFinder:
    """Finds words as they are, then in the other forms of `Vectors.find_form`."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The row of each word (words,), -1 for a word without one."""
        rows = self.vectors.word_list.rows
        return np.fromiter(map(rows.get, words, repeat(-1)), np.int64, len(words))

    def find_forms(self, words: list[str], change: Change | None = None) -> Found:
        """`find` for words, or else their forms, and the number of the form of each word among `FORMS`.

        change: returns the forms of words in the training text, where `Vectors.word_form` is not known.
        """
        rows, forms = self.find(words), np.zeros(len(words), np.int8)
        is_missing = rows < 0
        rows[is_missing], forms[is_missing] = self.find_other_forms(select(words, is_missing), change)
        return rows, forms

    def find_other_forms(self, words: list[str], change: Change | None = None) -> Found:
        """`find_forms` for words that are not found as they are."""
        rows, is_plain = np.full(len(words), -1, np.int64), np.zeros(len(words), np.bool_)
        if self.vectors.word_form is None:
            # Lower case is the only other form of words without apostrophes or letters that can be composed.
            rows = self.find([*map(str.lower, words)])
            is_plain = are_true(str.isascii, words)
            is_plain &= ~np.fromiter(map(contains, words, repeat("'")), np.bool_, len(words))
        forms = np.where(rows < 0, 0, FORMS.index(LOWER_CASE)).astype(np.int8)
        if is_plain.all():
            return rows, forms
        rows[~is_plain], forms[~is_plain] = self.find_spellings(select(words, ~is_plain))
        is_open = ~is_plain & (rows < 0)
        if change is not None and is_open.any():
            before = select(words, is_open)
            changed = change(before)
            is_open[is_open] = is_changed = np.array([new != old for new, old in zip(changed, before, strict=True)])
            rows[is_open], forms[is_open] = self.find_forms(select(changed, is_changed))
            forms[is_open & (rows >= 0) & (forms == 0)] = FORMS.index(OF_MODEL)
        return rows, forms

    def find_spellings(self, words: list[str]) -> Found:
        """The row of each word in the first form that has one, or -1, and the number of the form."""
        found: dict[int, tuple[int, int]] = {}
        table = self.vectors.word_list.rows
        has_line_ends = any("\n" in word for word in words)
        for first in range(len(words)) if has_line_ends else [0] * bool(words):
            part = words[first : first + 1] if has_line_ends else words
            for form, changed in spellings(part, self.vectors.word_form):
                for place, (new, old) in enumerate(zip(changed, part, strict=True), first):
                    if new != old and new in table:
                        found.setdefault(place, (table[new], FORMS.index(form)))
        rows, forms = np.full(len(words), -1, np.int64), np.zeros(len(words), np.int8)
        for place, pair in found.items():
            rows[place], forms[place] = pair
        return rows, forms

    def compose(self, words: Sequence[str]) -> np.ndarray:
        """Vectors composed for words, float32 (words, dim), zeros where none can be composed."""
        if self.vectors.compose is None or not words:
            return np.zeros((len(words), self.vectors.dim), np.float32)
        is_lower = self.vectors.is_lower
        return self.vectors.compose_words([lower_case(word) if is_lower else word for word in words])


MAX_TYPES = 1 << 20  # distinct tokens in memory, after which they are forgotten
Weigh = Callable[[Sequence[str]], np.ndarray]


@dataclass(frozen=True)
class EncodedTexts:
    """Texts as rows of vectors, numbered from 0 in the vocabulary's table and from there on in `composed`.

    n_words: (texts,), with unknown words. composed_words: the words of the rows of `composed`, and perhaps more.
    composed_weights: (composed,), or None if words are not weighted. other_forms: the number of words that have a row
    in each of `FORMS` but the first. scanned: the tokens that a scanner found.
    """

    rows: RowTexts
    n_words: NDArray[np.int64]
    composed: np.ndarray
    composed_words: list[str]
    composed_weights: np.ndarray | None
    other_forms: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(FORMS) - 1, np.int64))
    scanned: ScannedTexts | None = None


MARKS = ',;:!?()[]{}<>"'  # of sentences
EDGES = punctuation + "\u2018\u2019"
QUOTES = "'\u2018\u2019"
JOINED = re.compile(r"[^,;!?()\[\]{}<>\"]*[-#$%&'*+./:=@\\^_`|~\u2018\u2019\u2010\u2011][^,;!?()\[\]{}<>\"]*")


def joined_word(inner: str, core: str) -> str:
    """The word that fastText composes for a token, such as "state-of-the" and "C+++"; empty if others may divide it.

    Arguments:
        inner: the token without punctuation of sentences at its edges.
        core: the token without any punctuation at its edges.
    """
    word = inner.strip(QUOTES)
    before_stop = word.rstrip("." + QUOTES)
    # The last full stop ends a sentence, unless the word has others, as "e.g." has.
    word = word if "." in before_stop else before_stop
    return word if core and JOINED.fullmatch(word) else ""


@cache
def case_rules(tokenizer: ScannedTokenizer, case: str, language: str | None) -> WordRules:
    """Rules that change the case of words only."""
    return WordRules(tokenizer, case, "none", language=language)


class RowsByToken:
    """The rows of each token that a scanner has numbered; looked up when the token first occurs.

    Words of a model's training text are tokens, changed by the rules. It is not known how the text was read from which
    other programs learned, so words are looked up as they are written before the rules change them.
    """

    def __init__(self, finder: WordFinder, rules: WordRules | None, weigh: Weigh | None) -> None:
        self.finder = finder
        self.rules = rules
        self.weigh = weigh
        self.is_known = finder.vectors.word_form is not None  # how the training text was read
        self.scanned_rules = rules
        if rules is not None and not self.is_known:
            self.scanned_rules = case_rules(rules.tokenizer, rules.case, rules.language)
        self.clear()

    def clear(self) -> None:
        """Forget all tokens, so that memory stays bounded."""
        self.scanner = ItemScanner(self.scanned_rules)
        self.places = np.zeros(1, np.int64)  # token t consists of the words from place t to below place t + 1
        self.rows = np.zeros(0, np.int64)  # of words
        self.forms = np.zeros(0, np.int8)
        self.composed = np.zeros((0, self.finder.vectors.dim), np.float32)
        self.composed_words: list[str] = []
        self.composed_weights: np.ndarray | None = None if self.weigh is None else np.zeros(0, np.float32)

    def encode(self, raw: NDArray[np.int32], starts: NDArray[np.int64]) -> EncodedTexts:
        """The rows of scanned texts."""
        from embeddings.kernels.text_pooling import TokenRows, select_rows

        self.look_up_new()
        tokens = TokenRows(self.places, self.rows, self.forms)
        ids = np.empty(int(np.diff(self.places)[raw].sum()), np.int64)
        new_starts, n_words = np.empty(len(starts), np.int64), np.empty(len(starts) - 1, np.int64)
        form_counts = np.zeros(len(FORMS), np.int64)
        select_rows(raw, starts, tokens, ids, new_starts, n_words, form_counts)
        rows = RowTexts(ids[: new_starts[-1]], new_starts)
        scanned = self.scanner, TokenTexts(raw, starts).copy()
        return EncodedTexts(rows, n_words, *self.composed_parts(), form_counts[1:], scanned)

    def composed_parts(self) -> tuple[np.ndarray, list[str], np.ndarray | None]:
        """The composed vectors, their words and their weights."""
        return self.composed, self.composed_words, self.composed_weights

    def look_up_new(self) -> None:
        """Find the rows of tokens that have occurred for the first time; compose vectors of tokens without a row."""
        new: list[str] = self.scanner.table.words()[len(self.places) - 1 :].to_pylist()
        if not new:
            return
        words, rows, forms = self.find(new)
        if self.finder.vectors.compose is not None:
            missing = np.flatnonzero(rows < 0)
            vectors = self.finder.compose([words[place] for place in missing.tolist()])
            is_composed: NDArray[np.bool_] = np.any(vectors, axis=1)
            places = missing[is_composed].tolist()
            # Composed rows follow those of the vocabulary, as the two tables do when rows are pooled.
            rows[places] = len(self.finder.vectors) + len(self.composed) + np.arange(len(places))
            self.composed = np.concatenate([self.composed, vectors[is_composed]])
            new = [words[place] for place in places]
            self.composed_words += new
            if self.weigh is not None and self.composed_weights is not None:
                self.composed_weights = np.concatenate([self.composed_weights, self.weigh(new)])
        self.append(rows, forms, np.ones(len(rows), np.int64))

    def append(self, rows: NDArray[np.int64], forms: NDArray[np.int8], sizes: NDArray[np.int64]) -> None:
        """Append the rows and forms of the words of new tokens, of which each consists of `sizes` words."""
        self.rows = np.concatenate([self.rows, rows])
        self.forms = np.concatenate([self.forms, forms])
        self.places = np.concatenate([self.places, self.places[-1] + np.cumsum(sizes)])

    def find(self, words: list[str]) -> tuple[list[str], NDArray[np.int64], NDArray[np.int8]]:
        """Words, changed by known rules, with their rows, and the number of the form of each word among `FORMS`."""
        if self.rules is None or not self.is_known:  # lists of tokens, or other programs
            return words, *self.finder.find_forms(words, None if self.rules is None else self.rules.normalize_all)
        places = [place for place, word in enumerate(words) if not word.isascii()]  # the scanner has changed the others
        for place, word in zip(places, self.rules.normalize_all([words[one] for one in places]), strict=True):
            words[place] = word
        if self.rules.case == "keep":
            return words, *self.finder.find_forms(words)
        return words, self.finder.find(words), np.zeros(len(words), np.int8)


class RowsByWrittenToken(RowsByToken):
    """The rows of tokens of other programs, which may be anything without white space, such as "New_York" or "C++".

    `WordTokenizer` divides only tokens that are not themselves words of the vectors: neither as a whole nor without
    punctuation at their edges. Vectors that compose do so for whole tokens, as fastText does; see `joined_word`.
    """

    def __init__(self, finder: WordFinder, rules: WordRules, weigh: Weigh | None) -> None:
        self.word_rules = rules
        super().__init__(finder, case_rules(written, rules.case, rules.language), weigh)

    def clear(self) -> None:
        """Forget all tokens and words."""
        super().clear()
        vars(self).pop("words", None)

    @cached_property
    def words(self) -> RowsByToken:
        """The rows of the words of divided tokens."""
        return RowsByToken(self.finder, self.word_rules, self.weigh)

    def composed_parts(self) -> tuple[np.ndarray, list[str], np.ndarray | None]:
        """The composed vectors, their words and their weights."""
        return self.words.composed_parts() if "words" in vars(self) else super().composed_parts()

    def look_up_new(self) -> None:
        """Find the rows of tokens that have occurred for the first time, or else of the words in them."""
        names: list[str] = self.scanner.table.words()[len(self.places) - 1 :].to_pylist()
        if not names:
            return
        inner = [name.strip(MARKS) for name in names]
        cores = [name.strip(EDGES) for name in inner]
        rows, sizes = self.finder.find(names), np.ones(len(names), np.int64)
        for strings, before in ((inner, names), (cores, inner)):
            is_tried = (rows < 0) & np.fromiter(map(ne, strings, before), np.bool_, len(names))
            rows[is_tried] = self.finder.find(select(strings, is_tried))
        # The tokenizer must tell what else is in a token: even one that is found may be punctuation, without any word.
        is_open = (rows < 0) | ~(are_true(str.isascii, cores) & are_true(str.isalnum, cores))
        forms = np.zeros(len(names), np.int8)
        if not is_open.any():
            return self.append(rows, forms, sizes)
        open_tokens = [select(one, is_open) for one in (names, inner, cores)]
        words, rows[is_open], forms[is_open], sizes[is_open] = self.divide(open_tokens, rows[is_open])
        is_whole = rows >= 0
        of_whole = np.repeat(is_whole, sizes)
        all_rows, all_forms = np.empty(len(of_whole), np.int64), np.empty(len(of_whole), np.int8)
        all_rows[of_whole], all_forms[of_whole] = rows[is_whole], forms[is_whole]
        all_rows[~of_whole], all_forms[~of_whole] = self.words.rows[words], self.words.forms[words]
        self.append(all_rows, all_forms, sizes)

    def divide(
        self, strings: list[list[str]], rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int8], NDArray[np.int64]]:
        """The numbers of the words of divided tokens, and of each token the row, or -1, the form and the words it has.

        Arguments:
            strings: the tokens, the same without punctuation of sentences at their edges, and without any at them.
            rows: those of tokens that are words as a whole, -1 for others.
        """
        _, inner, cores = strings
        composed = (
            [joined_word(*pair) for pair in zip(inner, cores, strict=True)]
            if self.finder.vectors.compose
            else [""] * len(rows)
        )
        is_joined = (rows < 0) & are_true(bool, composed)
        scanned = ["" if is_one else core for core, is_one in zip(cores, is_joined.tolist(), strict=True)]
        text, core_starts = string_bytes(to_string_array(scanned))
        ids, starts = self.words.scanner.scan(text.tobytes(), core_starts)
        joined = self.words.scanner.add_lists(string_lists([select(composed, is_joined)])).ids
        ids, starts = np.insert(ids, starts[:-1][is_joined], joined), starts + np.append(0, np.cumsum(is_joined))
        self.words.look_up_new()
        sizes, forms = np.diff(starts), np.zeros(len(rows), np.int8)
        rows[sizes == 0] = -1
        ends = np.append(0, np.cumsum(np.diff(string_bytes(self.words.scanner.table.words())[1])[ids]))
        # A token of one word is divided too if the word is shorter than what is left without punctuation.
        is_divided = is_joined | (sizes > 1) | ((sizes == 1) & (np.diff(ends[starts]) < np.diff(core_starts)))
        for names in strings if is_divided.any() else ():
            is_tried = is_divided & (rows < 0)
            rows[is_tried], forms[is_tried] = self.finder.find_other_forms(select(names, is_tried))
        words = ids[np.repeat(rows < 0, sizes)]
        sizes[rows >= 0] = 1
        return words, rows, forms, sizes


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
        self.weigh = weigh
        values: dict[str, Any] = {name: settings.get(name) for name in WORD_SETTINGS}
        self.rules = WordRules(**values)
        is_scanned = isinstance(self.rules.tokenizer, ScannedTokenizer) and not isinstance(
            self.rules.tokenizer, Segmenter
        )
        self.is_scanned = is_scanned and settings.get("phrases") is None

    @cached_property
    def scanned(self) -> RowsByToken:
        """The rows of tokens of text, if a scanner finds them."""
        is_written = self.finder.vectors.word_form is None and isinstance(self.rules.tokenizer, WordTokenizer)
        return (RowsByWrittenToken if is_written else RowsByToken)(self.finder, self.rules, self.weigh)

    @cached_property
    def listed(self) -> RowsByToken:
        """The rows of tokens of lists."""
        return RowsByToken(self.finder, None, self.weigh)

    def encode(self, batch: TextBlock) -> EncodedTexts:
        """Encode a batch of texts."""
        tokens = self.listed if batch.token_lists is not None or not self.is_scanned else self.scanned
        if len(tokens.scanner.table) > MAX_TYPES:
            tokens.clear()
        if batch.token_lists is not None:
            return tokens.encode(*tokens.scanner.add_lists(batch.token_lists))
        if self.is_scanned:
            return tokens.encode(*tokens.scanner.scan(batch.data, batch.starts))
        return tokens.encode(*tokens.scanner.add_lists(self.split(batch)))

    def split(self, batch: TextBlock) -> Any:
        """The tokens of texts as a `Corpus` has them, of segmenters, Python functions and phrases: Arrow lists."""
        texts = Texts(batch.data[start:stop].decode() for start, stop in pairwise(batch.starts.tolist()))
        settings = {**self.settings, **({} if self.listed.is_known else {"normalize": "none"})}
        try:
            with Corpus(texts, **settings).encode() as encoded:
                words = encoded.vocabulary.words
                ids, starts = encoded.ids.tolist(), encoded.sentences[encoded.documents].tolist()
        except NoWordsError:
            return string_lists([[] for _ in texts])
        return string_lists([[words[i] for i in ids[start:stop]] for start, stop in pairwise(starts)])


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
            unknown = tokens.get(unknown_token(self.tokenizer) or "")
            if unknown is not None:
                self.rows[unknown] = -1
        else:
            words = of_lists.rules.normalize_all(list(tokens))
            self.rows[np.fromiter(tokens.values(), np.int64, len(tokens))] = of_lists.finder.find_forms(words)[0]

    def encode(self, batch: TextBlock) -> EncodedTexts:
        """Encode a batch of texts."""
        if batch.token_lists is not None:
            return self.of_lists.encode(batch)
        texts = [batch.data[start:stop].decode().removesuffix("\n") for start, stop in pairwise(batch.starts.tolist())]
        lines = [[text] if self.is_of_folder else text.replace("\r\n", "\n").split("\n") for text in texts]
        all_lines = [*chain.from_iterable(lines)]
        try:
            encodings = [one.ids for one in self.tokenizer.encode_batch_fast(all_lines, add_special_tokens=False)]
        except Exception as error:  # the library raises nothing more specific
            raise CorpusError(f"the tokenizer.json failed: {' '.join(str(error).split()):.200}") from None
        ends = starts_of(encodings)[starts_of(lines)]
        rows = self.rows[np.fromiter(chain.from_iterable(encodings), np.int64, int(ends[-1]))]
        starts = np.append(0, np.cumsum(rows >= 0))[ends]
        nothing = np.zeros((0, self.dim), np.float32)
        return EncodedTexts(RowTexts(rows[rows >= 0], starts), np.diff(ends), nothing, [], np.zeros(0, np.float32))


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
    ids = np.concatenate([np.zeros(0, np.int64), *(one.rows.ids for one in texts)])
    counts = np.concatenate([np.zeros(0, np.int64), *(one.rows.counts for one in texts)])
    used_ids = np.unique(ids)
    # Few texts use few of a million words: only what they use is counted, and only that part of the table written.
    numbers = np.zeros(size, np.int64)
    numbers[used_ids] = np.arange(len(used_ids))
    ids = numbers[ids]
    occurrences = np.bincount(ids, minlength=len(used_ids))
    # A word counts once for each text, however often it occurs in it.
    pairs = np.unique(np.repeat(np.arange(len(counts)), counts) * len(used_ids) + ids)
    in_texts = np.bincount(pairs % len(used_ids), minlength=len(used_ids))
    used = used_ids.tolist()
    composed = texts[-1].composed_words if texts else []
    words = [vectors.words[row] if row < len(vectors) else composed[row - len(vectors)] for row in used]
    total = int(sum(one.n_words.sum() for one in texts))
    return TextFrequencies(
        merged_vocabulary(words, occurrences.tolist(), total),
        merged_vocabulary(words, in_texts.tolist()),
        len(counts),
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
        # A first text above the limit is a sample all the same.
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
    """Counts of embedded texts, of texts without known words, of words, and of unknown words.

    other_forms: the number of words that were not found as they are written, by the name of the form.
    """

    texts: int = 0
    texts_without_words: int = 0
    words: int = 0
    unknown_words: int = 0
    other_forms: dict[str, int] = field(default_factory=dict)

    def describe_forms(self) -> str:
        """The number of words found in each form, such as "NFC 3, lower case 12"; empty if all are as written."""
        return ", ".join(f"{form} {count:,}" for form, count in self.other_forms.items())


@dataclass
class TextEmbedder:
    """Turns texts into vectors: pools the vectors of their words. `embeddings.embed` documents the arguments.

    settings: those of a `Corpus` by which texts become words.
    """

    vectors: Vectors
    settings: Mapping[str, Any]
    pool: Pool
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
        self.normalize = self.normalize or self.vectors.unit_texts
        self.finder = WordFinder(self.vectors)
        self.text_frequencies: TextFrequencies | None = None
        # Of the words of the vectors; 0 for a word that has not occurred yet, if they are learned from texts.
        self.weights: np.ndarray | None = None
        self.components: np.ndarray | None = None  # float64 (components, output_dim)
        self._unused_encoders: list[TextEncoder | JsonEncoder] = []
        if self.pool == "sif" and self.vocabulary is not None:
            stored, rule = self.vectors.text_weights, (self.constant, self.vocabulary)
            if rule not in stored:
                stored[rule] = self.weigh(self.vectors.words)
            self.weights = stored[rule]

    @property
    def output_dim(self) -> int:
        """Components of the vector of a text."""
        return self.dim or self.vectors.dim

    @property
    def is_weighted(self) -> bool:
        """Whether words have different weights."""
        return self.pool in ("sif", "idf")

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
        """The weights of words, float32 (words,)."""
        if not words:
            return np.zeros(0, np.float32)
        frequencies = self.word_frequencies
        assert frequencies is not None
        if self.pool == "idf":  # ln((1 + n) / (1 + f)) + 1 for a word in f of n texts, as in scikit-learn
            assert self.text_frequencies is not None
            texts = self.text_frequencies.texts
            weights = np.log((1 + texts) / (1 + frequencies.counts)) + 1
            return look_up_weights(words, frequencies, weights, float(np.log(1 + texts)) + 1).astype(np.float32)
        constant = DEFAULT_CONSTANT if self.constant is None else self.constant
        return sif_weights(words, frequencies, constant).astype(np.float32)

    def weigh_by(self, frequencies: TextFrequencies) -> None:
        """Weigh words by their frequencies in texts."""
        self.text_frequencies = frequencies
        self.weights = np.zeros(len(self.vectors), np.float32)

    def weigh_rows(self, ids: NDArray[np.int64]) -> None:
        """Compute the weights of the words in these rows of the vectors, unless they are known."""
        assert self.weights is not None
        ids = ids[ids < len(self.weights)]
        new = np.unique(ids[self.weights[ids] == 0])
        if len(new):
            self.weights[new] = self.weigh([self.vectors.words[row] for row in new.tolist()])

    def fit(self, batches: Iterable[TextBlock]) -> None:
        """Learn word frequencies, if the vectors have none, and the components to remove."""
        encoder = self._new_encoder(is_weighted=False)
        texts = [encoder.encode(batch) for batch in batches]
        if self.is_weighted and (self.vocabulary is None or self.pool == "idf"):
            self.weigh_by(count_words(texts, self.vectors))
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
        return ((batch, rows) for batch, _, rows in self.embed_encoded(batches, threads))

    def embed_encoded(
        self, batches: Iterable[TextBlock], threads: int | None = None
    ) -> Iterator[tuple[TextBlock, EncodedTexts, np.ndarray]]:
        """`embed`, with the texts as rows of vectors."""
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
            for form, count in zip(FORMS[1:], encoded.other_forms.tolist(), strict=True):
                if count:
                    self.counts.other_forms[form] = self.counts.other_forms.get(form, 0) + count
            yield batch, encoded, rows

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
        # The word is searched for only now: checking all vectors first would read a table of which texts use few rows.
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
        tables = [self.vectors.matrix, texts.composed] if len(texts.composed) else [self.vectors.matrix]
        weights = None if self.weights is None else [self.weights]
        if self.text_frequencies is not None and self.weights is not None:
            self.weigh_rows(texts.rows.ids)
        if weights is not None and len(texts.composed):
            composed = texts.composed_weights
            weights += [self.weigh(texts.composed_words[: len(texts.composed)]) if composed is None else composed]
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
    check_value("pool", pool, Pool | None, {})
    check_value("constant", constant, float | None, {"ge": 1e-9})
    check_value("frequencies", frequencies, Frequencies | None, {})
    check_value("remove_components", remove_components, int, {"ge": 0})
    check_value("normalize", normalize, bool, {})
    for name, value in (("constant", constant), ("frequencies", frequencies)):
        if pool not in ("sif", None) and value is not None:
            raise SettingError(f"{S[name]} requires pool sif, got {pool}")
