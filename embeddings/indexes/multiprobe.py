"""Which buckets to look into, likeliest first: sets of crossed hyperplanes by their squared margins. Compiled.

With margins in ascending order every set but the empty one comes from {0} by two steps, each to a set that is no
better: move its last member on by one, or add the next (Lv et al. 2007, section 4.4). A heap gives them in order.
"""

from typing import NamedTuple

import numpy as np

from embeddings.kernels.jit import hot, piece


class Heap(NamedTuple):
    """Sets to come, (probes + 1,) each: the sum of margins, float64; members as bits, the last member, int64."""

    scores: np.ndarray
    sets: np.ndarray
    lasts: np.ndarray


def new_heap(probes: int) -> Heap:
    """Room for so many probes: each takes one set out and puts two in."""
    return Heap(np.empty(probes + 1), np.empty(probes + 1, np.int64), np.empty(probes + 1, np.int64))


@hot
def sequence(margins: np.ndarray, sets: np.ndarray, heap: Heap) -> None:
    """Write the first sets in order, the empty one before all, as bits; there are 2^margins. For tests and study."""
    sets[0] = 0
    size = start_sets(heap, margins)
    for i in range(1, sets.shape[0]):
        sets[i], size = next_set(heap, size, margins)


@piece
def start_sets(heap: Heap, margins: np.ndarray) -> int:
    """A heap that holds {0}; gives its size."""
    return push(heap, 0, margins[0], 1, 0)


@piece
def next_set(heap: Heap, size: int, margins: np.ndarray) -> tuple[int, int]:
    """Take out the best set, and put in the two that come from it; gives it and the heap's size."""
    score, best, last = heap.scores[0], heap.sets[0], heap.lasts[0]
    size = drop_first(heap, size)
    if last + 1 < margins.shape[0]:
        added = best | (1 << (last + 1))
        size = push(heap, size, score + margins[last + 1], added, last + 1)
        size = push(heap, size, score + margins[last + 1] - margins[last], added ^ (1 << last), last + 1)
    return best, size


@piece
def push(heap: Heap, size: int, score: float, members: int, last: int) -> int:
    """Put a set in; gives the heap's size."""
    at = size
    while at > 0 and heap.scores[(at - 1) // 2] > score:
        move(heap, (at - 1) // 2, at)
        at = (at - 1) // 2
    heap.scores[at], heap.sets[at], heap.lasts[at] = score, members, last
    return size + 1


@piece
def drop_first(heap: Heap, size: int) -> int:
    """Take the best set out; gives the heap's size."""
    size -= 1
    score, members, last = heap.scores[size], heap.sets[size], heap.lasts[size]
    at, child = 0, 1
    while child < size:
        if child + 1 < size and heap.scores[child + 1] < heap.scores[child]:
            child += 1
        if heap.scores[child] >= score:
            break
        move(heap, child, at)
        at, child = child, 2 * child + 1
    heap.scores[at], heap.sets[at], heap.lasts[at] = score, members, last
    return size


@piece
def move(heap: Heap, source: int, goal: int) -> None:
    """Copy one place of a heap to another."""
    heap.scores[goal] = heap.scores[source]
    heap.sets[goal] = heap.sets[source]
    heap.lasts[goal] = heap.lasts[source]


@piece
def flipped(crossed: int, flips: np.ndarray) -> int:
    """The bits of a code that change when a set of planes, given by places in order of margin, is crossed."""
    mask = 0
    for j in range(flips.shape[0]):
        if (crossed >> j) & 1:
            mask |= 1 << flips[j]
    return mask
