"""The kernel: the texts of a batch are sums of the rows of words; an objective over their directions moves the rows."""

from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point, inline
from embeddings.kernels.loss_tally import EXAMPLES, LOSS, STEPS
from embeddings.kernels.row_operations import PADDING, address, copy_row, sum_rows
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.sparse_steps import AdaGradRows, AdamRows, StepRates, prefetch_row, step_rates, step_row
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.plugins.text_pairs.pair_objectives import learn_units
from embeddings.plugins.text_pairs.pair_stream import FILLED, PairBlock
from embeddings.plugins.text_pairs.text_batch import (
    PairTexts,
    TextBatch,
    backprop_norms,
    gather_words,
    group_texts_by_word,
    map_sums,
    normalize_outputs,
    step_map,
    step_weight,
    sum_word_gradients,
    sum_words,
)


class SubwordBatch(NamedTuple):
    """The n-grams of words, and scratch memory of a thread; all is empty if words have no n-grams.

    ngrams: `AdamRows` or `AdaGradRows`, (buckets, width).
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
    ngrams: AdamRows | AdaGradRows, offsets: np.ndarray, buckets: np.ndarray, words_of_batch: int
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


@inline
def keep_word_gradient(subwords: SubwordBatch, place: int, word: int, gradient: np.ndarray) -> None:
    """Keep the gradient of a composed row, for its n-grams."""
    if subwords.is_composed.shape[0] > 0:
        count = max(subwords.offsets[word + 1] - subwords.offsets[word], 1)
        share = gradient.dtype.type(1) / gradient.dtype.type(count)
        kept = subwords.word_gradients[place]
        for d in range(gradient.shape[0]):
            kept[d] = share * gradient[d]


@inline
def step_ngrams(subwords: SubwordBatch, batch: TextBatch, words: int, rates: StepRates) -> None:
    """One step of the row of each n-gram of the different words of a batch, which are the first touched ones."""
    if subwords.is_composed.shape[0] > 0:
        n, width = group_words_by_ngram(subwords, batch, words), subwords.composed.shape[1]
        gradient = batch.gradient[0]
        batch.factor[0] = 1
        for i in range(n):
            begin, end = subwords.begins[i], subwords.begins[i + 1]
            gradient[:] = 0
            sum_rows(batch.factor, address(batch.gradient, 0), subwords.addresses[begin:end], end - begin, width)
            step_row(subwords.ngrams, subwords.touched[i], gradient, rates)


@inline
def group_words_by_ngram(subwords: SubwordBatch, batch: TextBatch, words: int) -> int:
    """Sort the addresses of the gradients of words by n-gram; returns the number of different n-grams."""
    n, total, offsets, counts = 0, 0, subwords.offsets, subwords.counts
    for i in range(words):
        word = batch.touched[i]
        subwords.is_composed[word] = False
        for at in range(offsets[word], offsets[word + 1]):
            bucket = subwords.buckets[at]
            if counts[bucket] == 0:
                subwords.touched[n] = bucket
                n += 1
            counts[bucket] += 1
    for i in range(n):
        bucket = subwords.touched[i]
        count = counts[bucket]
        subwords.begins[i] = counts[bucket] = total
        total += count
    subwords.begins[n] = total
    for i in range(words):
        word = batch.touched[i]
        for at in range(offsets[word], offsets[word + 1]):
            bucket = subwords.buckets[at]
            subwords.addresses[counts[bucket]] = address(subwords.word_gradients, i)
            counts[bucket] += 1
    for i in range(n):
        counts[subwords.touched[i]] = 0
    return n


PREFETCH_DISTANCE = 3  # rows


class PairOperands(NamedTuple):
    """Texts, tables, the objective and scratch memory of one thread.

    words, weights, map: `AdamRows` or `AdaGradRows` of the rows of words, their weights, and the linear map; the latter
    two are empty if there are none.
    subwords: the n-grams of words, if they have any.
    dims: int64 (n,), the numbers of leading components that are trained as vectors of their own.
    objective: the operand of a `PairObjective`.
    """

    texts: PairTexts
    batch: TextBatch
    words: Any
    subwords: SubwordBatch
    weights: Any
    map: Any
    dims: np.ndarray
    objective: Any


@entry_point
def learn_text_pairs(block: PairBlock, operands: PairOperands, buffers: StepBuffers, rate: float) -> None:
    """One step for a batch of pairs; its loss is the mean of that of all dims (Kusupati et al. 2022)."""
    size, batch, sides = block.cursor[FILLED], operands.batch, operands.texts.sides
    if size == 0:
        return
    texts, loss = size * sides, 0.0
    rates = step_rates(rate, buffers.tally[STEPS] + 1)
    gather_words(batch, operands.texts, block, size)
    rows = operands.words.values
    if operands.subwords.is_composed.shape[0] > 0:
        compose_words(operands.subwords, batch, operands.words.values, texts)
        rows = operands.subwords.composed
    sum_words(batch, rows, operands.weights.values, texts)
    map_sums(batch, operands.map.values, texts)
    batch.output_gradients[:texts] = 0
    share = 1 / operands.dims.shape[0]
    for n in range(operands.dims.shape[0]):
        normalize_outputs(batch, texts, operands.dims[n])
        batch.unit_gradients[:texts] = 0
        loss += share * learn_units(operands.objective, batch, block, size, sides, rates)
        backprop_norms(batch, texts, operands.dims[n], share)
    step_map(batch, operands.map, texts, rates)
    step_words(operands, rows, buffers.frozen, texts, rates)
    buffers.tally[LOSS] += loss
    buffers.tally[EXAMPLES] += size
    buffers.tally[STEPS] += 1


@inline
def step_words(operands: PairOperands, rows: np.ndarray, frozen: np.ndarray, texts: int, rates: StepRates) -> None:
    """One step of the row of each word of the batch, of its weight if there are weights, and of its n-grams.

    rows: those that texts are sums of.
    """
    batch, words, subwords = operands.batch, operands.words, operands.subwords
    n, has_weights = group_texts_by_word(batch, texts), operands.weights.values.shape[0] > 0
    for i in range(n):
        if i + PREFETCH_DISTANCE < n:
            prefetch_row(words, batch.touched[i + PREFETCH_DISTANCE])
        row = batch.touched[i]
        sum_word_gradients(batch, i, words.values.shape[1])
        if has_weights:
            step_weight(batch, rows, operands.weights, row, rates)
        keep_word_gradient(subwords, i, row, batch.gradient[0])
        if frozen.shape[0] == 0 or not frozen[row]:
            step_row(words, row, batch.gradient[0], rates)
    step_ngrams(subwords, batch, n, rates)
