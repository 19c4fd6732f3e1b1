"""Blocks of sentences against a naive reader that makes the same draws."""

import numpy as np
import pytest
from random_draws import draw_words, random_sequence

from embeddings.kernels.block import FILLED, LAST, POSITION, keep_thresholds, rewind
from embeddings.kernels.random_numbers import alias_table
from embeddings.kernels.sentence_block import (
    SentenceSource,
    fill_sentences,
    is_valid_sentences,
    new_sentence_block,
)

VOCABULARY, KEY = 7, 5


def source(lengths, max_length=6, keep=0.5):
    rng = np.random.default_rng(0)
    lines = np.append(0, np.cumsum(lengths)).astype(np.int64)
    ids = rng.integers(0, VOCABULARY + 3, lines[-1]).astype(np.int32)
    thresholds = keep_thresholds(np.full(VOCABULARY, keep))
    return SentenceSource(ids, lines, thresholds, alias_table(np.arange(1.0, VOCABULARY + 1)), max_length)


def read_all(source, size, noise, begin=0, end=None):
    """The sentences of all blocks of a share, each with its targets and noise."""
    block, random = new_sentence_block(size, noise), np.array([KEY, 0], np.uint64)
    rewind(block, source, begin, len(source.ids) if end is None else end)
    sentences, position = [], begin
    while units := fill_sentences(block, source, random):
        position += units
        assert block.cursor[POSITION] == position
        assert is_valid_sentences(block, source, begin, len(source.ids) if end is None else end)
        assert block.starts[block.cursor[LAST]] == block.cursor[FILLED] == units
        for k in range(block.cursor[LAST]):
            part = slice(block.starts[k], block.starts[k + 1])
            sentences.append((block.words[part].tolist(), block.is_target[part].tolist(), block.noise[part].copy()))
    return sentences


def naive(source, noise):
    """The same, read line by line with one counter."""
    bits = random_sequence(np.uint64(KEY), 10_000)
    counter, sentences = 0, []
    for start, stop in zip(source.lines[:-1].tolist(), source.lines[1:].tolist(), strict=True):
        for first in range(start, stop, source.max_length):
            words, targets, drawn = source.ids[first : min(first + source.max_length, stop)].tolist(), [], []
            for word in words:
                low = int(bits[counter]) & 0xFFFFFFFF
                targets.append(word < VOCABULARY and low <= int(source.keep_thresholds[word]))
                counter += 1
                drawn.append(draw_words(source.noise, bits[counter : counter + noise]) if targets[-1] else None)
                counter += noise * targets[-1]
            sentences.append((words, targets, drawn))
    return sentences


@pytest.mark.parametrize("lengths", [[3, 0, 5, 1], [20], [6, 12, 7, 0, 0, 1], [1] * 30])
@pytest.mark.parametrize("size", [6, 7, 100])
@pytest.mark.parametrize("noise", [0, 3])
def test_all_sentences_are_read_with_the_same_draws(lengths, size, noise):
    text = source(lengths)
    found, expected = read_all(text, size, noise), naive(text, noise)
    assert [row[:2] for row in found] == [row[:2] for row in expected]
    for (_, targets, noise_rows), (_, _, drawn) in zip(found, expected, strict=True):
        for is_target, row, wanted in zip(targets, noise_rows, drawn, strict=True):
            assert not is_target or row.tolist() == wanted.tolist()


def test_a_share_may_begin_and_end_within_a_line():
    text = source([5, 5, 5], max_length=4)
    sentences = read_all(text, 8, 0, begin=3, end=12)
    assert [len(words) for words, _, _ in sentences] == [2, 4, 1, 2]
    assert [word for words, _, _ in sentences for word in words] == text.ids[3:12].tolist()


def test_a_block_may_be_full_of_sentences_of_one_word():
    text = source([5, 4], max_length=1)
    assert [words for words, _, _ in read_all(text, 3, 0)] == [[word] for word in text.ids.tolist()]


def test_damaged_blocks_are_refused():
    text = source([5, 5])
    block = new_sentence_block(20, 2)
    rewind(block, text, 0, 10)
    fill_sentences(block, text, np.array([KEY, 0], np.uint64))
    assert is_valid_sentences(block, text, 0, 10)
    for field, value in (("noise", VOCABULARY), ("starts", 21), ("cursor", 99)):
        array = getattr(block, field)
        before = array.copy()
        array[LAST if field == "cursor" else -1] = value
        assert not is_valid_sentences(block, text, 0, 10), field
        array[...] = before
