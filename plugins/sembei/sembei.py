"""Segmentation-free embedding (Oshikiri 2017): frequent n-grams of raw text predict the adjacent n-grams.

In compositional models, the vector of any string is the sum of the rows of all n-grams within it (Kim et al. 2019).

A lattice block holds a thread's next few thousand text positions, with the n-grams that start at each. N-grams that end
at a position and n-grams that start there are adjacent. All n-grams are the edges of a lattice that holds every
segmentation of the text into n-grams. All random choices are made in the block.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from embeddings.compilation.jit import allocating_entry_point, dispatched, entry_point, implements, inline
from embeddings.corpora.token_trie import NONE, TokenTrie, build_trie, find_sequences
from embeddings.errors import S, SettingError
from embeddings.kernels.block import (
    END,
    FIRST,
    LAST,
    LINE,
    MAX_BLOCK_NOISE,
    POSITION,
    all_in_range,
    draw_noise,
    is_valid_cursor,
    keep_thresholds,
    new_cursor,
)
from embeddings.kernels.gradient_steps import learn
from embeddings.kernels.line_operations import line_end
from embeddings.kernels.random_numbers import alias_table, random_bits, uniform_uint32
from embeddings.kernels.row_operations import address, padded, prefetch, scatter_add, sum_rows
from embeddings.kernels.step_buffers import StepBuffers, new_step_buffers
from embeddings.models.model import Model, saved_array
from embeddings.models.table import VECTORS, Arrays, Table, word_vectors
from embeddings.plugins.sembei.ngram_vocabulary import frequent_ngrams
from embeddings.settings import (
    LEARNING_RATE,
    RATE_RANGE,
    Dimension,
    NegativeSampling,
    Schedule,
    VocabularyChoice,
    option,
)
from embeddings.support.imports import import_library
from embeddings.training.plan import Plan
from embeddings.training.stream import TokenStream
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData

LATTICE_SIZE = 8192  # positions in a block
BORDER = NONE - 1  # in place of n-grams, between two lines
POSITIVES_PER_NOISE = 2  # positives per shared negative sample


class LatticeSource(NamedTuple):
    """The corpus and sampling tables that all threads read.

    ids: (tokens,); lines: (lines + 1,) line boundaries in `ids`.
    trie: finds n-grams in `ids`.
    keep_thresholds: (vocabulary,) uint32, for subsampling.
    noise: (vocabulary,) alias table of the noise distribution.
    windows_per_draw: how many positions, too far apart for one n-gram, share one set of negative samples.
    """

    ids: np.ndarray
    lines: np.ndarray
    trie: TokenTrie
    keep_thresholds: np.ndarray
    noise: np.ndarray
    windows_per_draw: int


class LatticeBlock(NamedTuple):
    """Positions `cursor[FIRST]` to `cursor[LAST]` of a text, after a history of the previous positions.

    `starts[i, n - 1]` is the n-gram of n tokens that starts at position i, or -1. `noise[i]` (negatives * groups,) are
    the negative samples of position i: enough for as many n-grams as can start or end there.
    """

    starts: np.ndarray
    noise: np.ndarray
    cursor: np.ndarray


def new_lattice(longest: int, negatives: int, size: int = LATTICE_SIZE) -> LatticeBlock:
    """An empty block for n-grams of up to `longest` tokens, small enough for a core's private cache."""
    noise = noise_groups(longest) * negatives
    size = max(min(size, MAX_BLOCK_NOISE // max(noise, 1)), longest + 1)
    rows = np.full((longest + size + 1, longest), NONE, np.int32)
    return LatticeBlock(rows, np.zeros((len(rows), noise), np.int32), new_cursor())


def is_valid_lattice(block: LatticeBlock, source: LatticeSource, begin: int, end: int) -> bool:
    """Whether training can continue from a restored block of the share `ids[begin:end]`: kernels check no bounds."""
    history = block.starts.shape[1]
    first, last = block.cursor[FIRST : LAST + 1].tolist()
    is_ordered = first == last == 0 or history == first <= last <= len(block.starts)
    has_valid_ngrams = all_in_range(block.starts, len(source.keep_thresholds), BORDER)
    has_valid_noise = all_in_range(block.noise, len(source.noise))
    return (
        is_ordered and has_valid_ngrams and has_valid_noise and is_valid_cursor(block.cursor, source.lines, begin, end)
    )


@inline
def noise_groups(positives: int) -> int:
    """The number of groups of negative samples for positives that share them."""
    return (positives + POSITIVES_PER_NOISE - 1) // POSITIVES_PER_NOISE


@entry_point
def fill_lattice(block: LatticeBlock, source: LatticeSource, rng: np.ndarray) -> int:
    """Read tokens until the block is full or the share ends; returns how many were read.

    `rng` (2,) is a key and a counter.
    """
    cursor, size = block.cursor, block.starts.shape[0] - 1
    history = block.starts.shape[1]
    position, end, line = cursor[POSITION], cursor[END], cursor[LINE]
    before, n = position, history
    # N-grams that began in the last block end in this one.
    carry_over(block, source, rng)
    while position < end and n < size:
        stop = max(position, line_end(source.lines, line, source.ids.shape[0]))
        begin, border = position, min(stop, end)
        while position < border and n < size:
            find_starts(block, source, n, position, stop, rng)
            position += 1
            n += 1
        if position == stop:
            line += 1
            if position > begin:  # the last n-grams of a line and the first of the next are not adjacent
                block.starts[n, :] = BORDER
                n += 1
    # Positions further apart than an n-gram have no n-gram in common, so they may share samples.
    draw_noise(block.noise, source.noise, history + 1, source.windows_per_draw, history, n, rng)
    cursor[POSITION], cursor[LINE], cursor[FIRST], cursor[LAST] = position, line, history, n
    return int(position - before)


@inline
def carry_over(block: LatticeBlock, source: LatticeSource, rng: np.ndarray) -> None:
    """Copy the history to the start of the block: the n-grams of earlier positions may end in this block."""
    cursor, longest = block.cursor, block.starts.shape[1]
    last, line = cursor[LAST], cursor[LINE]
    for i in range(longest):
        position = cursor[POSITION] - longest + i
        if last != 0:
            for n in range(longest):
                block.starts[i, n] = block.starts[last - longest + i, n]
        elif cursor[POSITION] < cursor[END] and position >= max(line_end(source.lines, line - 1, cursor[END]), 0):
            find_starts(block, source, i, position, line_end(source.lines, line, source.ids.shape[0]), rng)
        else:
            block.starts[i, :] = NONE


@inline
def find_starts(block: LatticeBlock, source: LatticeSource, i: int, position: int, end: int, rng: np.ndarray) -> None:
    """Find and subsample the n-grams that start at a position of the text, which is position i of the block."""
    ngrams = block.starts[i]
    if find_sequences(source.trie, source.ids, position, end, ngrams) == 0:
        return
    for n in range(source.trie.longest):
        ngram = ngrams[n]
        if ngram >= 0:
            if uniform_uint32(random_bits(rng[0], rng[1])) > source.keep_thresholds[ngram]:
                ngrams[n] = NONE
            rng[1] += np.uint64(1)


@inline
def adjacent_ngrams(block: LatticeBlock, buffers: StepBuffers, i: int) -> tuple[int, int]:
    """Write the n-grams that end at position i, then those that start at i, to `contexts`; returns both counts."""
    lefts = rights = 0
    for n in range(block.starts.shape[1]):
        ngram = block.starts[i - n - 1, n]
        if ngram >= 0:
            buffers.contexts[lefts] = ngram
            lefts += 1
    for n in range(block.starts.shape[1]):
        ngram = block.starts[i, n]
        if ngram >= 0:
            buffers.contexts[lefts + rights] = ngram
            rights += 1
    return lefts, rights


@inline
def fill_targets(output: np.ndarray, buffers: StepBuffers, positives: np.ndarray, noise: np.ndarray) -> int:
    """Write the rows and weights of positives and of their shared negative samples; returns the number of rows.

    Each negative sample stands for one or two positives, but not for an equal positive.
    """
    p = positives.shape[0]
    count = noise_groups(p) * (noise.shape[0] // noise_groups(buffers.inputs.shape[0]))
    for j in range(p):
        buffers.targets[j], buffers.weights[j] = address(output, positives[j]), 1
    for j in range(count):
        others = 0
        for q in range(p):
            others += positives[q] != noise[j]
        buffers.targets[p + j], buffers.weights[p + j] = address(output, noise[j]), others / noise_groups(p)
    return int(p + count)


def new_lattice_buffers(
    longest: int, negatives: int, width: int, *, max_parts: int = 0, dtype: type = np.float32
) -> StepBuffers:
    """Step buffers for n-grams of up to `longest` tokens; `max_parts` is for n-grams that are sums of rows."""
    targets = longest + noise_groups(longest) * negatives
    contexts, rows = 2 * longest + max_parts, 2 * longest if max_parts else 0
    return new_step_buffers(longest, targets, width, contexts=contexts, rows=rows, dtype=dtype)


DEFAULT_PER_LENGTH = (3000, 20000)  # n-grams of one character, and of each further length


NGRAMS = "ngrams"  # the table of rows that vectors are sums of
LOWER_DOTTED_I = "\u0130".lower()  # the only code point whose lower case is two code points


class NgramOccurrences(NamedTuple):
    """The n-grams within texts: text i has `words[offsets[i]:offsets[i + 1]]`, with repetitions."""

    offsets: np.ndarray
    words: np.ndarray


@dataclass(frozen=True)
class NgramComposer:
    """Composes vectors from n-grams and their rows, float32 (n-grams, dim).

    A call with texts returns vectors (texts, dim): for each text the sum of the rows of all n-grams within it, counting
    every occurrence at any code point; zeros for a text without n-grams.
    """

    ngrams: Sequence[str]
    rows: np.ndarray

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of texts, float32 (texts, dim)."""
        csr_array = import_library("scipy.sparse").csr_array

        offsets, words = ngrams_within(self.trie, *code_points(texts))
        counts = csr_array((np.ones(len(words), np.float32), words, offsets), shape=(len(texts), len(self.ngrams)))
        return np.asarray(counts @ self.rows, np.float32)

    @cached_property
    def trie(self) -> TokenTrie:
        """The trie of the n-grams."""
        return trie_of(self.ngrams)


def trie_of(ngrams: Sequence[str]) -> TokenTrie:
    """A trie of n-grams by code points."""
    points, borders = code_points(ngrams)
    lengths = np.diff(borders)
    sequences = np.full((len(ngrams), int(lengths.max(initial=1))), NONE, np.int32)
    sequences[np.arange(sequences.shape[1]) < lengths[:, None]] = points
    return build_trie(sequences, np.arange(len(ngrams), dtype=np.int32), int(points.max(initial=0)) + 1)


@allocating_entry_point
def list_occurrences(trie: TokenTrie, ids: np.ndarray, occurrences: NgramOccurrences, write: bool) -> None:
    """Replace text boundaries in `ids` by boundaries of n-grams, in `offsets`; if `write`, also list the n-grams."""
    ngrams, count, begin = np.empty(trie.longest, np.int32), 0, 0
    for text in range(occurrences.offsets.shape[0] - 1):
        end = occurrences.offsets[text + 1]
        for i in range(begin, end):
            find_sequences(trie, ids, i, end, ngrams)
            for word in ngrams:
                if word >= 0:
                    if write:
                        occurrences.words[count] = word
                    count += 1
        occurrences.offsets[text + 1] = count
        begin = end


def ngrams_within(trie: TokenTrie, ids: np.ndarray, borders: np.ndarray) -> NgramOccurrences:
    """All n-grams within each text of tokens `ids`, whose boundaries in `ids` are `borders` (texts + 1,)."""
    counted = NgramOccurrences(borders.copy(), np.empty(0, np.int32))
    list_occurrences(trie, ids, counted, False)
    found = NgramOccurrences(borders.copy(), np.empty(int(counted.offsets[-1]), np.int32))
    list_occurrences(trie, ids, found, True)
    return found


def code_points(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The code points of all texts, int32, and their boundaries (texts + 1,), int64."""
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.int32)
    return points, np.cumsum([0, *map(len, texts)], dtype=np.int64)


def new_composer(model: Model) -> NgramComposer:
    """The composer of a model with a row for each n-gram of its vocabulary, in the table "ngrams"."""
    rows = saved_array(model, NGRAMS, (len(model.vocabulary), model.vectors.dim))
    return NgramComposer(model.vocabulary.words, rows)


NO_PARTS = NgramOccurrences(np.zeros(1, np.int64), np.empty(0, np.int32))


class LatticeOperands(NamedTuple):
    """Vectors of n-grams, output vectors of right and left neighbours, each (n-grams, padded dim)."""

    words: np.ndarray
    right: np.ndarray
    left: np.ndarray
    parts: NgramOccurrences = NO_PARTS


class SummedOperands(LatticeOperands):
    """Operands of compositional models: an n-gram has the sum of the `words` rows of its `parts`, its n-grams."""


@entry_point
def learn_block(block: LatticeBlock, operands: LatticeOperands, buffers: StepBuffers, rate: float) -> None:
    """Skip-gram by negative sampling on the n-grams of a text.

    At each position, n-grams x that end there predict n-grams that start there as right neighbours, and vice versa.
    With the output vector o of a neighbour, y = 1, or of a negative sample, y = 0:

        g = rate * (y - sigmoid(x · o))    o += g * x    x += sum of g * o, of o before the step
    """
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        prefetch_next(block, operands, i + 1)
        m, p = adjacent_ngrams(block, buffers, i)
        if m > 0 and p > 0:
            lefts, rights = buffers.contexts[:m], buffers.contexts[m : m + p]
            predict(operands, operands.right, buffers, lefts, rights, block.noise[i], rate)
            predict(operands, operands.left, buffers, rights, lefts, block.noise[i], rate)


@dispatched
def predict(
    operands: LatticeOperands, output: np.ndarray, buffers: StepBuffers, inputs: np.ndarray,
    positives: np.ndarray, noise: np.ndarray, rate: float,
) -> None:  # fmt: skip
    """One step in which all inputs predict all positives."""


@implements(LatticeOperands)
@inline
def predict_from_rows(
    operands: LatticeOperands, output: np.ndarray, buffers: StepBuffers, inputs: np.ndarray, positives: np.ndarray,
    noise: np.ndarray, rate: float,
) -> None:  # fmt: skip
    """The step of `learn_block` from the row of each input."""
    for i in range(inputs.shape[0]):
        buffers.inputs[i] = buffers.input_gradient_rows[i] = address(operands.words, inputs[i])
    n = fill_targets(output, buffers, positives, noise)
    learn(buffers, inputs.shape[0], positives.shape[0], n, output.shape[1], rate)


@implements(SummedOperands)
@inline
def predict_from_sums(
    operands: SummedOperands, output: np.ndarray, buffers: StepBuffers, inputs: np.ndarray, positives: np.ndarray,
    noise: np.ndarray, rate: float,
) -> None:  # fmt: skip
    """The step of `learn_block` from h, the sum of the rows of an input's parts x (Kim et al. 2019).

    g = rate * (y - sigmoid(h · o))    o += g * h    each x += sum of g * o, of o before the step
    """
    m, half, width = inputs.shape[0], buffers.hidden_rows.shape[0] // 2, output.shape[1]
    # The sums are the first half of the hidden rows, their gradients the second; addresses of parts are written behind
    # those of the n-grams at the position, which both calls of the step read.
    rows = buffers.contexts[2 * half :]
    buffers.hidden_rows[:] = 0
    for i in range(m):
        hidden, gradient = address(buffers.hidden_rows, i), address(buffers.hidden_rows, half + i)
        buffers.inputs[i], buffers.input_gradient_rows[i] = hidden, gradient
        sum_rows(buffers.factor, hidden, rows, gather_parts(operands, inputs[i], rows), width)
    n = fill_targets(output, buffers, positives, noise)
    learn(buffers, m, positives.shape[0], n, width, rate)
    for i in range(m):
        count = gather_parts(operands, inputs[i], rows)
        scatter_add(buffers.factor, buffers.input_gradient_rows[i], rows, count, width)


@inline
def gather_parts(operands: SummedOperands, ngram: int, rows: np.ndarray) -> int:
    """Write the row addresses of an n-gram's parts; returns the number of parts."""
    first = operands.parts.offsets[ngram]
    count = operands.parts.offsets[ngram + 1] - first
    for k in range(count):
        rows[k] = address(operands.words, operands.parts.words[first + k])
    return int(count)


@inline
def prefetch_next(block: LatticeBlock, operands: LatticeOperands, i: int) -> None:
    """Prefetch the rows for position i, unless the block ends before it."""
    if i >= block.cursor[LAST]:
        return
    size = operands.words.shape[1] * operands.words.itemsize
    for n in range(block.starts.shape[1]):
        right, left = block.starts[i, n], block.starts[i - n - 1, n]
        if right >= 0:
            prefetch(address(operands.words, right), size)
            prefetch(address(operands.right, right), size)
        if left >= 0:
            prefetch(address(operands.left, left), size)
    for j in range(block.noise.shape[1] // noise_groups(block.starts.shape[1])):
        prefetch(address(operands.right, block.noise[i, j]), size)
        prefetch(address(operands.left, block.noise[i, j]), size)


@dataclass(frozen=True, kw_only=True)
class Sembei(Trainer, NegativeSampling, VocabularyChoice, Schedule, Dimension):
    """Segmentation-free embedding: frequent n-grams of raw text predict adjacent ones. For text without spaces.

    Each n-gram predicts every n-gram that starts where it ends and every n-gram that ends where it starts, with
    separate output vectors for right and left neighbours. Differences from the original program: n-grams cut off by
    the end of the text are ignored, all n-grams at a position share negative samples, and subsampling drops an
    occurrence both as a left and as a right neighbour.
    """

    trainer_name = "sembei"
    learning_rate: float = option(0.1, LEARNING_RATE, gt=0, le=100, search=RATE_RANGE, common=True)
    negatives: int = option(10, "Negative samples per positive.", ge=1, le=1000, common=True)
    negative_sharing: Literal["batch", "window"] = option(
        "batch",
        "Which n-grams share one set of negative samples. batch: the n-grams at 8 positions that are far "
        "apart, which is faster; window: the n-grams at one position.",
    )
    subsample: float = option(
        1e-4,
        "Subsampling threshold t for frequent n-grams: an occurrence of an n-gram with relative frequency f is kept "
        "with probability sqrt(t/f) + t/f. 0 keeps all.",
        ge=0,
        le=1,
    )
    max_n: int = option(4, "Maximum n-gram length in characters.", ge=1, le=16, common=True)
    per_length: str | None = option(
        None,
        "Number of the most frequent n-grams of 1, 2, ... characters that get vectors; the last number is for all "
        "greater lengths. 'all' takes every n-gram that occurs at least --min-count times.  [default: 3000,20000]",
    )
    cross_lines: bool = option(False, "Let n-grams cross line ends, but not document ends.")
    compositional: bool = option(
        False,
        "The vector of an n-gram is the sum of the rows of all n-grams within it (SCNE, Kim et al. 2019), so any "
        "string has a vector. Use about a quarter of the learning rate.",
    )
    tokenizer: ClassVar[str] = "codepoints"
    unsupported = frozenset({"continued"})
    composer = staticmethod(new_composer)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(
            "per_length", len(self.limits or ()) <= self.max_n, f"at most {self.max_n} numbers, as {S.max_n} says"
        )
        self.require("per_length", self.limits is None or any(self.limits), "a number above 0")

    @property
    def can_freeze(self) -> bool:
        """Whether given vectors can be kept constant: not in sums."""
        return not self.compositional

    @property
    def limits(self) -> list[int] | None:
        """The number of n-grams of each length that get vectors; None for all."""
        if self.per_length is None:
            return list(DEFAULT_PER_LENGTH[: self.max_n])
        if self.per_length == "all":
            return None
        numbers = [number.strip() for number in self.per_length.split(",")]
        if not all(number.isascii() and number.isdigit() and len(number) < 10 for number in numbers):
            raise SettingError(f"{S.per_length} must be 'all' or integers separated by commas, got {self.per_length!r}")
        return [int(number) for number in numbers]

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "right" and "left" (vocabulary, dim), the output vectors of neighbours.

        If compositional, there is also "ngrams", the rows that vectors are sums of.
        """
        tokens = data.encoded.vocabulary.words
        longer = next((token for token in tokens if len(token) > 1 and token != LOWER_DOTTED_I), None)
        if self.compositional and longer is not None:  # the n-grams within a string start at every code point
            one = f"{S.tokenizer('codepoints')}, got {longer!r}"
            raise SettingError(f"{S.compositional} requires tokens of one code point, such as {one}")
        ngrams = frequent_ngrams(
            data.encoded,
            max_n=self.max_n,
            min_count=self.min_count,
            per_length=self.limits,
            max_vocab=self.max_vocab,
            cross_lines=self.cross_lines,
        )
        vocabulary, words, longest = ngrams.vocabulary, ngrams.vocabulary.words, ngrams.sequences.shape[1]
        output = Table(rows=len(words), dim=self.dim, axis="words")
        saved_as = NGRAMS if self.compositional else VECTORS
        rows = replace(word_vectors(len(words), self.dim), saved_as=saved_as)
        parts = ngrams_within(trie_of(words), *code_points(words)) if self.compositional else NO_PARTS
        max_parts = int(np.diff(parts.offsets).max(initial=0))
        kind = SummedOperands if self.compositional else LatticeOperands
        source = LatticeSource(
            ids=np.asarray(data.encoded.ids),
            lines=ngrams.lines,
            trie=ngrams.trie,
            keep_thresholds=keep_thresholds(vocabulary.keep_probabilities(self.subsample)),
            noise=alias_table(vocabulary.noise_weights(self.noise_exponent)),
            windows_per_draw=self.windows_per_draw,
        )
        sizes, width = (longest, self.negatives), padded(self.dim)
        new_block = partial(new_lattice, *sizes)

        def export_sums(tables: Arrays) -> Arrays:
            return {VECTORS: NgramComposer(words, tables[NGRAMS])(words), **tables}

        return Plan(
            tables={"words": rows, "right": output, "left": output},
            stream=TokenStream(source, new_block, fill_lattice, is_valid_lattice, ngrams.unit),
            kernel=learn_block,
            operands=lambda tables: kind(tables["words"], tables["right"], tables["left"], parts),
            buffers=partial(new_lattice_buffers, *sizes, width, max_parts=max_parts),
            export=export_sums if self.compositional else None,
            vocabulary=vocabulary,
            set_vectors=partial(self.set_sums, words, parts) if self.compositional else None,
            composes=self.compositional,
            loss_is_estimate=True,
        )

    def set_sums(
        self, words: Sequence[str], parts: NgramOccurrences, tables: Arrays, rows: np.ndarray, matrix: np.ndarray
    ) -> None:
        """Set the rows of n-grams so that sums over parts are the vectors `matrix`."""
        table, ones = tables["words"], np.ones(len(parts.words), np.float32)
        occurrences = import_library("scipy.sparse").csr_array(
            (ones, parts.words, parts.offsets), shape=(len(table), len(table))
        )
        lengths = np.array([len(words[row]) for row in rows.tolist()])
        for length in np.unique(lengths):  # the parts of an n-gram are itself, once, and shorter ones
            chosen = lengths == length
            sums = occurrences[rows[chosen]] @ table[:, : self.dim]
            table[rows[chosen], : self.dim] += matrix[chosen] - sums
