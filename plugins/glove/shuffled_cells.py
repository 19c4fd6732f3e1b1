"""Co-occurrence counts in random order in a temporary file, memory-mapped."""

import shutil
import weakref
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from embeddings.corpora.array_file import output_errors
from embeddings.corpora.corpus_cache.tempdir import corpora_folder, new_folder, temporary_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import CorpusError
from embeddings.kernels.jit import entry_point
from embeddings.kernels.random_numbers import random_bits, thread_keys, uniform_below
from embeddings.plugins.glove.cooccurrences import CELL, CHUNK, count_in_order, select_words
from embeddings.support.logs import log

CONTENTS = "the co-occurrence counts"
MAX_FILES = 200  # that are open at the same time


class ShuffledCells:
    """Cells in a uniform random order, `CELL` (cells,), read-only; see `cooccurrences`.

    The file is removed by garbage collection, or when the program ends.
    """

    def __init__(self, path: Path) -> None:
        self.finalizer = weakref.finalize(self, shutil.rmtree, path.parent, ignore_errors=True)
        self.array = np.asarray(np.memmap(path, CELL, "r"))


def count_and_shuffle(
    encoded: EncodedCorpus, vocabulary: int, *, window: int, memory: int, seed: int, symmetric: bool = True
) -> ShuffledCells:
    """Count the co-occurrences of the first `vocabulary` words.

    Arguments:
        symmetric: see `count_in_order`.
        memory: bytes that neighbours or cells may take.

    Raises:
        CorpusError: no two of these words are in one line.
        OutputError: the temporary folder cannot be written to.
    """
    with new_folder(corpora_folder()) as folder:
        with temporary_folder(folder) as scratch:
            words = select_words(encoded, vocabulary, window, scratch)
            files = min(1 + 2 * len(words.ids) * window * CELL.itemsize // memory, MAX_FILES)
            paths = [scratch / f"cells-{number}" for number in range(files)]
            spread(count_in_order(words, vocabulary, memory, symmetric=symmetric), paths, seed)
            path = folder / "cells"
            concatenate_shuffled(paths, path, seed)
        if not path.stat().st_size:
            raise CorpusError("the corpus has no line with two words of the vocabulary, so there is nothing to learn")
        log.info("counted %s cells of co-occurrence counts", path.stat().st_size // CELL.itemsize)
        return ShuffledCells(path)


def spread(parts: Iterable[np.ndarray], paths: list[Path], seed: int) -> None:
    """Write each cell to one of several new files at random."""
    rng = np.random.default_rng(seed)
    with output_errors(paths[0], CONTENTS), ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for cells in parts:
            numbers = rng.integers(len(files), size=len(cells), dtype=np.uint16)
            order = np.argsort(numbers, kind="stable")
            bounds = np.append(0, np.cumsum(np.bincount(numbers, minlength=len(files))))
            for file, begin, end in zip(files, bounds[:-1], bounds[1:], strict=True):
                file.write(cells[order[begin:end]].view(np.uint8).data)


def concatenate_shuffled(paths: list[Path], output: Path, seed: int) -> None:
    """Write the cells of all files to one file, those of each file in random order."""
    with output_errors(output, CONTENTS), output.open("wb") as file:
        for path, key in zip(paths, thread_keys(seed, len(paths)), strict=True):
            cells = np.fromfile(path, CELL)
            for last in range(len(cells), 0, -CHUNK):
                shuffle_cells(cells, max(last - CHUNK, 0), last, key)
            file.write(cells.view(np.uint8).data)
            path.unlink()


@entry_point
def shuffle_cells(cells: np.ndarray, first: int, last: int, key: np.uint64) -> None:
    """Exchange each of `cells[first:last]`, the last first, with a random one up to it (Fisher and Yates)."""
    for i in range(last - 1, first - 1, -1):
        j = uniform_below(random_bits(key, np.uint64(i)), i + 1)
        row, column, count = cells[i].row, cells[i].column, cells[i].count
        cells[i].row, cells[i].column, cells[i].count = cells[j].row, cells[j].column, cells[j].count
        cells[j].row, cells[j].column, cells[j].count = row, column, count
