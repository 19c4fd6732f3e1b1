"""The kernel: the texts of a batch are sums of the rows of words; an objective over their directions moves the rows."""

from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point, inline
from embeddings.kernels.block import LAST
from embeddings.kernels.integers import smaller
from embeddings.kernels.loss_tally import EXAMPLES, LOSS, STEPS
from embeddings.kernels.random_numbers import random_bits, uniform_uint32
from embeddings.kernels.row_operations import PADDING, address, copy_row, prefetch_l2, sum_rows
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.sparse_steps import AdaGradRows, prefetch_row, step_row
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.plugins.text_pairs.pair_objectives import learn_units
from embeddings.plugins.text_pairs.pair_stream import PairBlock, PairTexts
from embeddings.plugins.text_pairs.text_batch import TextBatch


class SubwordBatch(NamedTuple):
    """The n-grams of words, and scratch memory of a thread; all is empty if words have no n-grams.

    ngrams: `AdaGradRows`, (buckets, width).
    offsets: int64 (vocabulary + 1,), where the n-grams of each word begin in `buckets`, int32 (n-grams of all words,).
    composed: (vocabulary, width), the rows of the words of a batch; is_composed: bool (vocabulary,), which these are.
    word_gradients: (words of a batch, width), the gradients of the different words, divided by their n-grams.
    counts: int32 (buckets,), zeros between batches. touched: int32 (n-grams,), the different ones of a batch.
    begins: int64 (n-grams + 1,), where their words begin in `addresses`, int64 (n-grams of all words,).
    """

    ngrams: Any
    offsets: np.ndarray
    buckets: np.ndarray
    composed: np.ndarray
    is_composed: np.ndarray
    word_gradients: np.ndarray
    counts: np.ndarray
    touched: np.ndarray
    begins: np.ndarray
    addresses: np.ndarray


def new_subword_batch(
    ngrams: AdaGradRows, offsets: np.ndarray, buckets: np.ndarray, words_of_batch: int
) -> SubwordBatch:
    """Memory for batches of up to this many words."""
    (count, width), total = ngrams.values.shape, len(buckets)
    words, dtype = len(offsets) - 1 if count else 0, ngrams.values.dtype.type
    touched = min(total, count)
    return SubwordBatch(
        ngrams,
        offsets,
        buckets,
        separate_zeros((words, max(width, PADDING)), dtype),
        np.zeros(words, np.bool_),
        separate_zeros((min(words, words_of_batch), max(width, PADDING)), dtype),
        np.zeros(count, np.int32),
        np.zeros(touched, np.int32),
        np.zeros(touched + 1, np.int64),
        np.zeros(total if count else 0, np.int64),
    )


@inline
def compose_words(subwords: SubwordBatch, batch: TextBatch, words: np.ndarray, texts: int) -> None:
    """Compute the rows of the words of a batch, from the rows of words and of n-grams."""
    width, rows = words.shape[1], subwords.ngrams.values
    for k in range(batch.starts[texts]):
        word = batch.rows[k]
        if not subwords.is_composed[word]:
            subwords.is_composed[word] = True
            copy_row(words, address(subwords.composed, word), address(words, word), width)
            begin, end = subwords.offsets[word], subwords.offsets[word + 1]
            for at in range(begin, end):
                subwords.addresses[at - begin] = address(rows, subwords.buckets[at])
            if end > begin:
                batch.factor[0] = 1 / (end - begin)
                sum_rows(batch.factor, address(subwords.composed, word), subwords.addresses, end - begin, width)


class PairOperands(NamedTuple):
    """Texts, tables, the objective and scratch memory of one thread.

    words: `AdaGradRows` of the rows of words.
    subwords: the n-grams of words, if they have any.
    dim: components of a row without padding.
    objective: the operand of a `PairObjective`.
    """

    texts: PairTexts
    batch: TextBatch
    words: Any
    subwords: SubwordBatch
    dim: int
    objective: Any


@entry_point
def learn_text_pairs(block: PairBlock, operands: PairOperands, buffers: StepBuffers, rate: float) -> None:
    """One step for a batch of pairs."""
    size, batch, sides = block.cursor[LAST], operands.batch, operands.texts.sides
    if size == 0:
        return
    texts = size * sides
    gather_words(batch, operands.texts, block, size)
    rows = operands.words.values
    if operands.subwords.is_composed.shape[0] > 0:
        compose_words(operands.subwords, batch, operands.words.values, texts)
        rows = operands.subwords.composed
    sum_words(batch, rows, texts)
    for k in range(smaller(size, operands.texts.weights.shape[0])):
        batch.weights[k] = operands.texts.weights[block.pairs[k]]
    batch.sum_gradients[:texts] = 0
    normalize_sums(batch, texts, operands.dim)
    batch.unit_gradients[:texts] = 0
    buffers.tally[LOSS] += learn_units(operands.objective, batch, block, size, sides)
    backprop_norms(batch, texts, operands.dim)
    step_words(operands, rows, buffers.frozen, texts, rate)
    buffers.tally[EXAMPLES] += size
    buffers.tally[STEPS] += 1


@inline
def gather_words(batch: TextBatch, source: PairTexts, block: PairBlock, size: int) -> None:
    """Collect the known words of the texts of a block, without dropped words; no text loses all of its words."""
    at = 0
    for side in range(source.sides):
        for k in range(size):
            text = block.pairs[k] * source.sides + side
            first, code, dropout = at, np.uint64(0), source.dropout
            stop = smaller(source.starts[text + 1], source.starts[text] + source.limit)
            for position in range(source.starts[text], stop):
                word = source.ids[position]
                if word < source.words:
                    # A hash of all words, dropped ones too: equal texts in a batch must not be each other's negatives.
                    code = random_bits(code, np.uint64(word) + np.uint64(1))
                    bits = random_bits(block.keys[k], np.uint64(position))
                    if dropout == 0 or uniform_uint32(bits) >= dropout:
                        batch.rows[at] = word
                        at += 1
            # Dropout took every word: the text keeps them all, since a text without words has no gradient.
            if at == first:
                for position in range(source.starts[text], stop):
                    if source.ids[position] < source.words:
                        batch.rows[at] = source.ids[position]
                        at += 1
            batch.starts[side * size + k] = first
            batch.hashes[side * size + k] = code
    batch.starts[source.sides * size] = at


@inline
def sum_words(batch: TextBatch, words: np.ndarray, texts: int) -> None:
    """The sum of the rows of each text."""
    sums, width, size = batch.sums, words.shape[1], words.shape[1] * words.itemsize
    sums[:texts] = 0
    batch.factor[0] = 1
    for text in range(texts):
        begin, end = batch.starts[text], batch.starts[text + 1]
        # The rows of the next text arrive while this one is summed.
        if text + 1 < texts:
            for k in range(end, batch.starts[text + 2]):
                prefetch_l2(address(words, batch.rows[k]), size)
        for k in range(begin, end):
            batch.addresses[k - begin] = address(words, batch.rows[k])
        sum_rows(batch.factor, address(sums, text), batch.addresses, end - begin, width)


@inline
def normalize_sums(batch: TextBatch, texts: int, dim: int) -> None:
    """Divide the first `dim` components of the sum of each text by their norm; a row of zeros remains."""
    width = batch.units.shape[1]
    for text in range(texts):
        total_row, unit = batch.sums[text], batch.units[text]
        total = unit.dtype.type(0)
        for d in range(dim):
            total += total_row[d] * total_row[d]
        norm = np.sqrt(total)
        batch.norms[text] = norm
        scale = unit.dtype.type(1) / norm if norm > 0 else unit.dtype.type(0)
        for d in range(dim):
            unit[d] = scale * total_row[d]
        for d in range(dim, width):
            unit[d] = 0


@inline
def backprop_norms(batch: TextBatch, texts: int, dim: int) -> None:
    """Add the gradients of sums, from the gradients of units."""
    for text in range(texts):
        if batch.norms[text] > 0:
            unit, gradient, total = batch.units[text], batch.unit_gradients[text], batch.sum_gradients[text]
            product = unit.dtype.type(0)
            for d in range(dim):
                product += unit[d] * gradient[d]
            scale = unit.dtype.type(1) / batch.norms[text]
            for d in range(dim):
                # Only the part of the gradient at right angles to the unit vector changes its direction.
                total[d] += scale * (gradient[d] - product * unit[d])


PREFETCH_DISTANCE = 3  # rows


@inline
def step_words(operands: PairOperands, rows: np.ndarray, frozen: np.ndarray, texts: int, rate: float) -> None:
    """One step of the row of each word of the batch, and of its n-grams.

    rows: the rows that texts are sums of.
    """
    batch, words, subwords, gradient = operands.batch, operands.words, operands.subwords, operands.batch.gradient[0]
    n, width = (
        group_gradients(batch, batch.sum_gradients, batch.numbers, texts, batch.starts, batch.rows),
        rows.shape[1],
    )
    batch.factor[0] = 1
    for i in range(n):
        if i + PREFETCH_DISTANCE < n:
            prefetch_row(words, batch.touched[i + PREFETCH_DISTANCE])
        row, begin, end = batch.touched[i], batch.begins[i], batch.begins[i + 1]
        gradient[:] = 0
        sum_rows(batch.factor, address(batch.gradient, 0), batch.addresses[begin:end], end - begin, width)
        if subwords.is_composed.shape[0] > 0:
            ngrams = max(subwords.offsets[row + 1] - subwords.offsets[row], 1)
            share = gradient.dtype.type(1) / gradient.dtype.type(ngrams)
            for d in range(gradient.shape[0]):
                subwords.word_gradients[i, d] = share * gradient[d]
        if frozen.shape[0] == 0 or not frozen[row]:
            step_row(words, row, gradient, rate)
    if subwords.is_composed.shape[0] > 0:
        step_ngrams(subwords, batch, n, rate)


@inline
def step_ngrams(subwords: SubwordBatch, batch: TextBatch, words: int, rate: float) -> None:
    """One step of the row of each n-gram of the different words of a batch, which are the first touched ones."""
    for i in range(words):
        subwords.is_composed[batch.touched[i]] = False
    n = group_gradients(subwords, subwords.word_gradients, batch.touched, words, subwords.offsets, subwords.buckets)
    for i in range(n):
        begin, end = subwords.begins[i], subwords.begins[i + 1]
        batch.gradient[0, :] = 0
        addresses = subwords.addresses[begin:end]
        sum_rows(batch.factor, address(batch.gradient, 0), addresses, end - begin, subwords.composed.shape[1])
        step_row(subwords.ngrams, subwords.touched[i], batch.gradient[0], rate)


@inline
def group_gradients(
    groups: Any, gradients: np.ndarray, owners: np.ndarray, n: int, starts: np.ndarray, rows: np.ndarray
) -> int:
    """Sort the addresses of n gradients by the rows that they belong to; returns the number of different rows.

    Gradient i belongs to the rows `rows[starts[j]:starts[j + 1]]` of its owner j = `owners[i]`.

    groups: the `TextBatch` or `SubwordBatch` to which rows and addresses are written.
    """
    different, total, counts = 0, 0, groups.counts
    for i in range(n):
        for k in range(starts[owners[i]], starts[owners[i] + 1]):
            row = rows[k]
            if counts[row] == 0:
                groups.touched[different] = row
                different += 1
            counts[row] += 1
    for i in range(different):
        row = groups.touched[i]
        count = counts[row]
        groups.begins[i] = counts[row] = total
        total += count
    groups.begins[different] = total
    for i in range(n):
        for k in range(starts[owners[i]], starts[owners[i] + 1]):
            row = rows[k]
            groups.addresses[counts[row]] = address(gradients, i)
            counts[row] += 1
    for i in range(different):
        counts[groups.touched[i]] = 0
    return different
