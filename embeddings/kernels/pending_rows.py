"""Rows of a classifier's texts that wait to be added, so that memory is read ahead. Compiled."""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.feature_slots import Features, bucket_slot, may_have_row
from embeddings.kernels.jit import inline, noinline
from embeddings.kernels.matrix_rows import Rows
from embeddings.kernels.row_operations import CACHE_LINE, address, prefetch_l2
from embeddings.kernels.row_sums import add_rows

PENDING, COUNT, WORDS, SPLIT = 0, 1, 2, 3  # in `Scratch.state`
MAX_PENDING = 4096


class Scratch(NamedTuple):
    """A thread's working memory.

    state: int64 (4,), the number of pending rows; of rows of the current text that are added; of its words; and of
        words that are split.
    rows: int64, pending rows, so that memory is read ahead; complements of buckets, whose rows are still to be found.
    recent: uint64 (word_ngrams + 1,), the hashes of word n-grams that start 0, 1, ... words before the last word.
    codes: uint64 (slots, 2), the keys and hashes of some unknown words of up to 8 bytes.
    spans, words: int64 (words, 2) and uint64 (words,), where split words begin and end, and their keys.
    keys, texts, sums: uint64 (slots, 4), uint8 (slots, 32) and float32 (slots, dim + 1), a cache of the sums of words'
        rows, and their number as the last component. The key of a word selects its only possible slot. `keys` has that
        key; the length of the word, 0 if the slot is free; a number that grows with its uses, and falls when another
        word would take its slot; and its hash. `texts` has its bytes.
    """

    state: np.ndarray
    rows: np.ndarray
    recent: np.ndarray
    codes: np.ndarray
    spans: np.ndarray
    words: np.ndarray
    keys: np.ndarray
    texts: np.ndarray
    sums: np.ndarray


@inline
def push_bucket(features: Features, matrix: Rows, code: np.uint64, scratch: Scratch, total: np.ndarray) -> None:
    """Push the row of an n-gram with this hash; if buckets have been pruned, push the complement of the bucket."""
    bucket: int = np.int64(code % np.uint64(features.buckets))  # type: ignore[assignment]
    slots = features.bucket_slots.shape[0]
    if slots == 0:
        push_row(features, matrix, features.words + bucket, scratch, total)
        return
    prefetch_l2(address(features.bucket_slots, bucket & (slots - 1)), 1)
    push(features, matrix, ~bucket, scratch, total)
    is_missing = 1 - may_have_row(features, bucket)  # without a branch, which could not be predicted
    scratch.state[PENDING] -= is_missing
    scratch.state[COUNT] += is_missing * features.counts_missing


@inline
def push_row(features: Features, matrix: Rows, row: int, scratch: Scratch, total: np.ndarray) -> None:
    """Push a row, and prefetch it."""
    prefetch_row(matrix, row)
    push(features, matrix, row, scratch, total)


@inline
def push(features: Features, matrix: Rows, row: int, scratch: Scratch, total: np.ndarray) -> None:
    """Add a row, or the complement of a bucket, to the pending ones; if they are too many, they are added first."""
    if scratch.state[PENDING] == MAX_PENDING:
        add_pending(features, matrix, 0, scratch, total)
    scratch.rows[scratch.state[PENDING]] = row
    scratch.state[PENDING] += 1


@inline
def prefetch_row(matrix: Rows, row: int) -> None:
    """Prefetch a row, which need not begin with a cache line."""
    place = address(matrix.table, row)
    offset = place % CACHE_LINE
    prefetch_l2(place - offset, offset + matrix.table.shape[1] * matrix.table.itemsize)


@noinline
def add_pending(features: Features, matrix: Rows, start: int, scratch: Scratch, total: np.ndarray) -> None:
    """Add the pending rows from number `start` on to `total`."""
    stop: int = scratch.state[PENDING]
    if features.bucket_slots.shape[0] > 0:
        stop = find_rows(features, matrix, start, scratch)
    add_rows(matrix, scratch.rows, start, stop, total)
    scratch.state[COUNT] += stop - start
    scratch.state[PENDING] = start


@inline
def find_rows(features: Features, matrix: Rows, start: int, scratch: Scratch) -> int:
    """Replace pending buckets by their rows, without those that have been pruned; returns the end of the rows."""
    stop = start
    for i in range(start, scratch.state[PENDING]):
        row = scratch.rows[i]
        if row < 0:
            slot = bucket_slot(features.bucket_slots, ~row)
            if features.bucket_slots[slot, 1] < 0:
                scratch.state[COUNT] += features.counts_missing
                continue
            row = features.words + features.bucket_slots[slot, 1]
            prefetch_row(matrix, row)
        scratch.rows[stop] = row
        stop += 1
    return stop
