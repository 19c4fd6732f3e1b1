"""Counting of co-occurrences: equal to a naive count, whatever the limits, in random order, in a temporary folder."""

import gc
from collections import Counter

import numpy as np
import pytest

from embeddings.corpora.corpus import Corpus
from embeddings.errors import CorpusError, OutputError
from embeddings.plugins.glove import cooccurrences
from embeddings.plugins.glove.cooccurrences import count_and_shuffle

VOCABULARY = 30  # of 40 words


def random_lines(words=400, distinct=40, seed=1):
    """Lines of 0 to 30 words, frequent and rare ones."""
    rng = np.random.default_rng(seed)
    text = [f"w{min(int(rng.zipf(1.3)), distinct)}" for _ in range(words)]
    borders = np.sort(rng.integers(words, size=words // 10)).tolist()
    return [text[begin:end] for begin, end in zip([0, *borders], [*borders, words], strict=True)]


def naive_counts(encoded, vocabulary, window, *, symmetric=True):
    """The count of each cell, (row, column) -> count, in both directions or with the left word as the row."""
    counts = Counter()
    for begin, end in zip(encoded.sentences, encoded.sentences[1:], strict=False):
        line = [int(word) for word in encoded.ids[begin:end] if word < vocabulary]
        for i, word in enumerate(line):
            for distance, other in enumerate(line[i + 1 : i + 1 + window], 1):
                counts[word, other] += 1 / distance
                counts[other, word] += symmetric / distance
    return {cell: x for cell, x in counts.items() if x}


def count(encoded, vocabulary=VOCABULARY, *, window=4, memory=10**8, seed=1, **options):
    return count_and_shuffle(encoded, vocabulary, window=window, memory=memory, seed=seed, **options)


def as_dict(cells):
    return {(int(row), int(column)): float(x) for row, column, x in cells.array}


@pytest.fixture
def encoded():
    with Corpus(random_lines()).encode() as encoded:
        yield encoded


@pytest.mark.parametrize("window", [1, 4, 100])
@pytest.mark.parametrize("limits", [{}, {"CHUNK": 7, "TABLE_ROWS": 3}, {"TABLE_ROWS": 0}], ids=str)
@pytest.mark.parametrize("memory", [10**8, 60])
@pytest.mark.parametrize("symmetric", [True, False])
def test_counts_equal_naive_ones(encoded, window, limits, memory, symmetric, monkeypatch):
    for name, value in limits.items():
        monkeypatch.setattr(cooccurrences, name, value)
    expected = naive_counts(encoded, VOCABULARY, window, symmetric=symmetric)
    cells = count(encoded, window=window, memory=memory, symmetric=symmetric)
    assert len(cells.array) == len(expected)  # each cell once
    assert as_dict(cells) == pytest.approx(expected, rel=1e-6)


def test_gathered_neighbours_stay_within_the_memory_limit(encoded, monkeypatch):
    gather_range, sizes = cooccurrences.gather_range, []

    def measured(*args):
        found = gather_range(*args)
        sizes.append(found.ids.nbytes + found.distances.nbytes)
        return found

    monkeypatch.setattr(cooccurrences, "TABLE_ROWS", 3)
    monkeypatch.setattr(cooccurrences, "gather_range", measured)
    memory = 1500  # more than any row takes
    count(encoded, memory=memory)
    assert len(sizes) > 1
    assert memory / 2 < max(sizes) <= memory


def test_counts_are_in_a_random_order_that_the_seed_determines(encoded):
    orders = [count(encoded, seed=seed).array[["row", "column"]].tolist() for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])
    ranks = np.argsort(np.argsort([row * VOCABULARY + column for row, column in orders[0]]))
    assert abs(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1]) < 0.15  # several files would show without shuffling
    assert np.mean(np.abs(np.diff(ranks)) == 1) < 0.05


def test_temporary_files_are_removed(encoded, tmp_path, monkeypatch):
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path))
    cells = count(encoded)
    folder = tmp_path / "corpora"
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["cells"]
    del cells
    gc.collect()
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_a_full_disk_is_one_line(encoded, monkeypatch):
    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cooccurrences, "shuffle_cells", fail)
    with pytest.raises(OutputError, match=r"co-occurrence counts cannot be written to .*No space left"):
        count(encoded)


def test_a_corpus_of_lines_of_one_word_is_refused():
    with Corpus(["a", "b", "a"]).encode() as encoded, pytest.raises(CorpusError, match=r"no line with two words"):
        count(encoded, 2)
