"""Co-occurrence counts of words, in bounded memory.

Two words of a line at distance d within the window add 1 / d to the count of their cell, as in the GloVe program. Words
outside the vocabulary are removed first, so windows extend over them. Symmetric counts are added up once, in the row of
the rarer word; the cell of a word with itself gets 1 / d for each direction. Asymmetric counts take two passes: for the
words before the rarer word, then for the words after it.

The rows of the most frequent words are added up in a table. The others are counted range by range: one pass over the
text gathers the neighbours of the range's words, row by row; then the neighbours of each row are added up.
"""

import shutil
import weakref
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point
from embeddings.corpora.array_file import ArrayFile, load_array, output_errors
from embeddings.corpora.corpus_cache import corpora_folder, new_folder, temporary_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import CorpusError
from embeddings.kernels.random_numbers import random_bits, thread_keys, uniform_below
from embeddings.support.logs import log

CELL = np.dtype([("row", "<i4"), ("column", "<i4"), ("count", "<f4")])
CHUNK = 1 << 20  # words or cells that are processed at a time: a user can interrupt in between
TABLE_ROWS = 2048  # most frequent words whose cells are added up in a table of 32 MB
RECORD_SIZE = 6  # bytes of a gathered neighbour: its id and its distance
DISTANCES = np.uint16
CONTENTS = "the co-occurrence counts"
MAX_FILES = 200  # open at a time


class Words(NamedTuple):
    """The words of a corpus that are in the vocabulary.

    ids: (words,) int32. lines: (lines + 1,) int64, where lines begin in `ids`.
    before, after: the maximum distance of neighbours before and after a word.
    weights: (window + 1,) float64, what a neighbour at each distance adds.
    """

    ids: np.ndarray
    lines: np.ndarray
    before: int
    after: int
    weights: np.ndarray


class Neighbours(NamedTuple):
    """Gathered neighbours of the words of a range of rows, row by row, with an unused slot after each row.

    ends: (vocabulary,) int64, the slot behind the neighbours of each row.
    ids: (slots,) int32. distances: (slots,) uint16.
    """

    ends: np.ndarray
    ids: np.ndarray
    distances: np.ndarray


@entry_point
def count_frequent(words: Words, begin: int, end: int, line: int, table: np.ndarray, neighbours: np.ndarray) -> None:
    """Count the cells of frequent words in `table`, and the neighbours of other words in `neighbours` (vocabulary,).

    Reads `words.ids[begin:end]`, which begins in `line`. As everywhere here, a word's neighbours are the words
    in its window that are not rarer.
    """
    for i in range(begin, end):
        while words.lines[line + 1] <= i:
            line += 1
        row = words.ids[i]
        left, right = max(words.lines[line], i - words.before), min(words.lines[line + 1], i + words.after + 1)
        # Frequent words meet most often: their counts go to a dense table at once, which spares most of the memory that
        # gathered neighbours would take.
        if row < table.shape[0]:
            for k in range(left, right):
                # Half of the matrix: the cell of a pair is counted at its rarer word.
                if words.ids[k] <= row:
                    table[row, words.ids[k]] += words.weights[abs(k - i)]
        else:
            count = -1  # without the word itself
            for k in range(left, right):
                count += words.ids[k] <= row
            neighbours[row] += count


@entry_point
def gather_neighbours(words: Words, begin: int, end: int, line: int, first: int, last: int, found: Neighbours) -> None:
    """Append the neighbours of the words in `words.ids[begin:end]` whose rows are from `first` to `last`."""
    for i in range(begin, end):
        while words.lines[line + 1] <= i:
            line += 1
        row = words.ids[i]
        if not first <= row < last:
            continue
        slot = found.ends[row]
        for k in range(max(words.lines[line], i - words.before), min(words.lines[line + 1], i + words.after + 1)):
            found.ids[slot], found.distances[slot] = words.ids[k], abs(k - i)
            slot += (words.ids[k] <= row) & (k != i)  # without a branch, which would often be mispredicted
        found.ends[row] = slot


@entry_point
def add_up(
    found: Neighbours, row: int, last: int, begin: int, weights: np.ndarray, sums: np.ndarray, columns: np.ndarray,
    cells: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """Write the cells of the rows from `row` on, whose neighbours begin in the slot `begin`, to `cells`.

    Returns the first row that might not fit, or `last`, and the number of cells.

    Arguments:
        sums: (vocabulary,) float64 zeros. columns: (vocabulary + 1,) int32, scratch memory.
    """
    size = 0
    while row < last:
        end, n = found.ends[row], 0
        if size + min(end - begin, row + 1) > cells.shape[0]:
            break
        for k in range(begin, end):
            column = found.ids[k]
            columns[n] = column
            # A column is new if its sum is still 0: weights are positive.
            n += sums[column] == 0
            sums[column] += weights[found.distances[k]]
        for k in range(n):
            cell, column = cells[size + k], columns[k]
            cell.row, cell.column, cell.count = row, column, sums[column]
            # Cleared cell by cell: the row touched few of the vocabulary's columns.
            sums[column] = 0
        size += n
        row, begin = row + 1, end + 1
    return row, size


def select_words(encoded: EncodedCorpus, vocabulary: int, window: int, folder: Path) -> Words:
    """The words of a corpus whose ids are below `vocabulary`, in files in `folder`."""
    sentences, tokens = np.asarray(encoded.sentences), len(encoded.ids)
    with (
        closing(ArrayFile(folder / "ids.npy", np.int32)) as ids,
        closing(ArrayFile(folder / "lines.npy", np.int64)) as lines,
    ):
        for begin in range(0, tokens + 1, CHUNK):
            chunk = np.asarray(encoded.ids[begin : begin + CHUNK])
            is_word = chunk.view(np.uint32) < vocabulary
            words_before = np.append(0, np.cumsum(is_word))
            first, last = np.searchsorted(sentences, [begin, begin + CHUNK])
            lines.append(ids.count + words_before[sentences[first:last] - begin])
            ids.append(chunk[is_word])
    weights = 1 / np.maximum(np.arange(window + 1), 1)
    weights[0] = 0
    arrays = load_array(ids.path, "<i4", ids.count), load_array(lines.path, "<i8", lines.count)
    return Words(*arrays, window, window, weights)


def chunk_bounds(words: Words) -> Iterator[tuple[int, int, int]]:
    """Yield the begin and end of each chunk of the text, and the line in which the chunk begins."""
    for begin in range(0, len(words.ids), CHUNK):
        line = int(np.searchsorted(words.lines, begin, side="right")) - 1
        yield begin, min(begin + CHUNK, len(words.ids)), line


def count_in_order(words: Words, vocabulary: int, memory: int, *, symmetric: bool) -> Iterator[np.ndarray]:
    """Yield arrays of cells (n,), valid until the next array; two words have the cells (i, j) and (j, i).

    Each cell is a term of the loss with separate parameters, w_i c_j or w_j c_i. So each cell is one step with a
    separate random place, as in the original program. If `symmetric`, both cells hold all occurrences; otherwise cell
    (i, j) holds the occurrences of j after i.
    """
    if symmetric:
        for cells in count_cells(words, vocabulary, memory):
            yield cells
            yield exchanged(cells[cells["row"] != cells["column"]])
    else:
        yield from map(exchanged, count_cells(words._replace(after=0), vocabulary, memory))
        for cells in count_cells(words._replace(before=0), vocabulary, memory):
            yield cells[cells["row"] != cells["column"]]  # the others have been counted


def exchanged(cells: np.ndarray) -> np.ndarray:
    """Cells with row and column exchanged, in place."""
    cells["row"], cells["column"] = cells["column"], cells["row"].copy()
    return cells


def count_cells(words: Words, vocabulary: int, memory: int) -> Iterator[np.ndarray]:
    """Yield each cell once, in the order of rows, as arrays of cells (n,) that are valid until the next array.

    Arguments:
        memory: maximum bytes of gathered neighbours; exceeded if a single row takes more.
    """
    frequent = min(TABLE_ROWS, vocabulary)
    table, neighbours = np.zeros((frequent, frequent)), np.zeros(vocabulary, np.int64)
    for bounds in chunk_bounds(words):
        count_frequent(words, *bounds, table, neighbours)
    row, column = np.nonzero(table)
    cells = np.empty(len(row), CELL)
    cells["row"], cells["column"], cells["count"] = row, column, table[row, column]
    yield cells
    starts = np.append(0, np.cumsum(neighbours + 1))  # of rows, if all were gathered at once
    sums, columns, cells = np.zeros(vocabulary), np.empty(vocabulary + 1, np.int32), np.empty(CHUNK + vocabulary, CELL)
    first = frequent
    while first < vocabulary:
        last = int(np.searchsorted(starts, starts[first] + memory // RECORD_SIZE, side="right")) - 1
        last = min(max(last, first + 1), vocabulary)
        log.info("counting co-occurrences of words %s to %s of %s", first + 1, last, vocabulary)
        found = gather_range(words, first, last, starts[: last + 1] - starts[first])
        while first < last:
            begin = int(starts[first] - starts[last]) + len(found.ids)
            first, size = add_up(found, first, last, begin, words.weights, sums, columns, cells)
            yield cells[:size]


def gather_range(words: Words, first: int, last: int, starts: np.ndarray) -> Neighbours:
    """Gather the neighbours of the rows `first` to `last`, in slots from `starts` on, int64 (last + 1,)."""
    slots = int(starts[last])
    found = Neighbours(starts[:last].copy(), np.empty(slots, np.int32), np.empty(slots, DISTANCES))
    for bounds in chunk_bounds(words):
        gather_neighbours(words, *bounds, first, last, found)
    return found


class ShuffledCells:
    """Cells in a uniform random order, `CELL` (cells,), read-only; see `count_and_shuffle`.

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
    """
    with new_folder(corpora_folder()) as folder:
        with temporary_folder(folder) as scratch:
            words = select_words(encoded, vocabulary, window, scratch)
            files = min(1 + 2 * len(words.ids) * window * CELL.itemsize // memory, MAX_FILES)
            paths = [scratch / f"cells-{number}" for number in range(files)]
            spread(count_in_order(words, vocabulary, memory, symmetric=symmetric), paths, seed)
            path = folder / "cells"
            with output_errors(path, CONTENTS), path.open("wb") as file:
                for part, key in zip(paths, thread_keys(seed, len(paths)), strict=True):
                    cells = np.fromfile(part, CELL)
                    for last in range(len(cells), 0, -CHUNK):
                        shuffle_cells(cells, max(last - CHUNK, 0), last, key)
                    file.write(cells.view(np.uint8).data)
                    part.unlink()
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


@entry_point
def shuffle_cells(cells: np.ndarray, first: int, last: int, key: np.uint64) -> None:
    """For i from `last` - 1 down to `first`, exchange cell i with a random cell from 0 to i (Fisher and Yates)."""
    for i in range(last - 1, first - 1, -1):
        j = uniform_below(random_bits(key, np.uint64(i)), i + 1)
        row, column, count = cells[i].row, cells[i].column, cells[i].count
        cells[i].row, cells[i].column, cells[i].count = cells[j].row, cells[j].column, cells[j].count
        cells[j].row, cells[j].column, cells[j].count = row, column, count
