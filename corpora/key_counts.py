"""Exact counts of integer keys in bounded memory: chunks are sorted and counted, written to disk, and merged."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.array_file import output_errors
from embeddings.support.tensors import write_npy

CHUNK = 1 << 23  # keys to sort at a time
MERGE_SIZE = 1 << 22  # keys merged at a time

Run = tuple[NDArray[np.int64], NDArray[Any]]  # ascending keys and their counts


def count_keys(chunks: Iterable[NDArray[np.int64]], scratch: Path) -> Iterator[Run]:
    """Yield all keys in ascending order with their counts, in parts of about `MERGE_SIZE` keys.

    Memory holds one chunk of keys, which is sorted in place; distinct keys of the chunks are in the folder `scratch`.
    """
    runs: list[Run] = []  # a single one stays in memory
    for number, keys in enumerate(chunks):
        if number == 1:
            runs[0] = store_run(runs[0], scratch, 0)
        keys.sort()
        starts = first_of_each(keys)
        run: Run = keys[starts], np.diff(starts, append=len(keys))
        runs.append(store_run(run, scratch, number) if number else run)
    yield from merge(runs)


def store_run(run: Run, scratch: Path, number: int) -> Run:
    """Write a run to disk and memory-map it."""
    paths = [scratch / f"{part}-{number}.npy" for part in ("keys", "counts")]
    with output_errors(scratch):
        for array, path in zip(run, paths, strict=True):
            with path.open("wb") as stream:
                write_npy(array, stream)
        keys, counts = (np.load(path, mmap_mode="r") for path in paths)
    return keys, counts


def merge(runs: Sequence[Run]) -> Iterator[Run]:
    """Merge runs and add the counts of equal keys, in parts of about `MERGE_SIZE` pairs.

    Each step merges a window of every run, up to the smallest last key among the windows that do not end their run: all
    counts of keys up to there are in the windows.
    """
    if len(runs) == 1:
        yield runs[0]
        return
    width = max(MERGE_SIZE // max(len(runs), 1), 1)
    while any(len(keys) for keys, _ in runs):
        # of keys above the smallest last key, a run may have more behind its window
        bound = min((keys[width - 1] for keys, _ in runs if len(keys) > width), default=np.iinfo(np.int64).max)
        lengths = [int(np.searchsorted(keys[:width], bound, "right")) for keys, _ in runs]
        parts = [(keys[:n], counts[:n]) for n, (keys, counts) in zip(lengths, runs, strict=True)]
        yield add_counts(*zip(*parts, strict=True))
        runs = [(keys[n:], counts[n:]) for n, (keys, counts) in zip(lengths, runs, strict=True)]


def add_counts(keys: Sequence[NDArray[np.int64]], counts: Sequence[NDArray[Any]]) -> Run:
    """Merge arrays of ascending keys and add the counts of equal keys."""
    all_keys = np.concatenate(keys)
    order = np.argsort(all_keys, kind="stable")
    all_keys = all_keys[order]
    starts = first_of_each(all_keys)
    sums = np.add.reduceat(np.concatenate(counts)[order].astype(np.int64), starts)
    return all_keys[starts], sums


def first_of_each(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each different key of an ascending array begins."""
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
