"""Naive twin of the kernels for a GPU, run by one warp: plain Python and numpy, in float64."""

from typing import NamedTuple

import naive
import numpy as np

from embeddings.kernels.block import BlockSource, keep_thresholds
from embeddings.kernels.random_numbers import alias_table
from embeddings.plugins.cuda.window_kernel import NEW_LINE, row_width


class Shape(NamedTuple):
    """The arguments of `window_kernel`."""

    dim: int
    negatives: int
    window: int
    share: int
    shrinks: int
    cbow: int
    vector_atomics: int = 0


def kept_words(ids, lines, base, key, thresholds):
    """Word and line of each word that subsampling keeps; `lines`: where they begin."""
    for p, word in enumerate(ids.tolist()):
        if 0 <= word < len(thresholds) and naive.random_bits(key, base + p) % 2**32 <= thresholds[word]:
            yield word, int(np.searchsorted(lines, p, side="right"))


def contexts_of(kept, i, bits, shape):
    """The places of the contexts of a centre."""
    reach = 1 + naive.uniform_below(bits, shape.window) if shape.shrinks else shape.window
    near = range(max(0, i - reach), min(len(kept), i + reach + 1))
    return [k for k in near if k != i and kept[k][1] == kept[i][1]]


def step(h, centre, targets, words, rate):
    """One step of an input with the rows of targets; returns its change and the loss. `words`: of negative samples."""
    change, loss = np.zeros_like(h), 0.0
    for j, row in enumerate(targets):
        if j == 0 or words[j - 1] != centre:
            score = h @ row
            g = rate * ((j == 0) - naive.sigmoid(score))
            loss += naive.softplus(-score if j == 0 else score)
            change += g * row
            row += g * h
    return change, loss


def learn_window(shape, centre, contexts, targets, words, inputs, rate):
    """Learn a window; changes inputs and targets in place, and returns the loss."""
    loss, following = 0.0, inputs[contexts].mean(axis=0) if shape.cbow else inputs[contexts[0]].copy()
    for x in range(1 if shape.cbow else len(contexts)):
        h = following
        if not shape.cbow and x + 1 < len(contexts):  # as in the kernel, before this context has changed
            following = inputs[contexts[x + 1]].copy()
        change, step_loss = step(h, centre, targets, words, rate)
        np.add.at(inputs, contexts if shape.cbow else [contexts[x]], change)
        loss += step_loss
    return loss


def learn_chunk(shape, ids, lines, base, key, source, inputs, outputs, rate):
    """Learn a chunk in place; returns the sampled loss and its examples, and the steps."""
    kept, total = list(kept_words(ids, lines, base, key, source.keep_thresholds)), np.zeros(3)
    spacing = 2 * shape.window + 1
    group = shape.share * spacing
    for first in (g + k for g in range(0, len(kept), group) for k in range(spacing) if g + k < len(kept)):
        bits = (naive.random_bits(key + 1, (base + first) * 8 + j) for j in range(1, 1 + shape.negatives))
        words = [naive.draw_word(source.noise, one) for one in bits]
        old = outputs[words].copy()
        negatives = old.copy()
        for i in range(first, min(len(kept), first + group), spacing):
            places = contexts_of(kept, i, naive.random_bits(key + 2, base + i), shape)
            if places:
                centre, contexts = kept[i][0], [kept[k][0] for k in places]
                own = outputs[centre].copy()
                loss = learn_window(shape, centre, contexts, [own, *negatives], words, inputs, rate)
                outputs[centre] = own
                is_measured = (base + i) % 64 == 0
                total += loss * is_measured, (1 if shape.cbow else len(contexts)) * is_measured, 1
        np.add.at(outputs, words, negatives - old)
    return total


def kernel_errors(kernel, shape, ids, lines, words, rate, chunk):
    """The largest errors of tables and of counts (as shares of these) after a launch, and the largest change."""
    draws, base, key = np.random.default_rng(0), 61, 2**63 + 123456789
    noise = alias_table(np.arange(1, words + 1))
    source = BlockSource(ids, lines, keep_thresholds(np.full(words, 0.8)), noise, shape.window, True, 8)
    tables = np.zeros((2, words, row_width(shape.dim)), np.float32)
    tables[..., : shape.dim] = draws.normal(size=(2, words, shape.dim)) * 0.3
    expected, learned, counts, total = tables.astype(float), tables.copy(), np.zeros(3, np.float32), np.zeros(3)
    marked = ids.copy()
    marked[lines[lines < len(ids)]] |= NEW_LINE
    arrays = source.keep_thresholds, source.noise, *learned.reshape(2, -1), np.zeros(1, np.int32), counts
    with np.errstate(over="ignore"):
        kernel(marked, base, *arrays, np.float32(rate), np.uint64(key))
    for at in range(0, len(ids), chunk):
        part = ids[at : at + chunk]
        total += learn_chunk(shape, part, lines - at, base + at, key, source, *expected, rate)
    errors = learned - expected, (counts - total) / np.maximum(total, 1), expected - tables
    return [float(np.abs(one).max()) for one in errors]
