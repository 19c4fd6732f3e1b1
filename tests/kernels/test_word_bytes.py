"""Words found and distinguished eight bytes at a time, compared with Python's own bytes."""

import re

import numpy as np
import pytest

from embeddings.classifier.feature_extraction import index_entries
from embeddings.compilation.jit import allocating_entry_point
from embeddings.kernels import word_bytes

SPACE = b" \n\r\t\v\f\0"
RNG = np.random.default_rng(0)


@allocating_entry_point
def word_end(text, first, stop):
    return word_bytes.word_end(text, first, stop)


@allocating_entry_point
def word_key(text, first, last):
    return word_bytes.word_key(text, first, last)


@allocating_entry_point
def equal_bytes(a, a_start, b, b_start, length):
    return word_bytes.equal_bytes(a, a_start, b, b_start, length)


def random_text(size):
    """Letters, bytes of every value, and much white space."""
    choices = np.concatenate(
        [np.frombuffer(SPACE, np.uint8), np.arange(256, dtype=np.uint8), np.full(60, 97, np.uint8)]
    )
    return RNG.choice(choices, size)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 40, 300])
def test_words_end_at_the_next_white_space_or_the_end_of_the_text(size):
    for _ in range(30):
        text = random_text(size)
        for first, stop in RNG.integers(0, size + 1, (20, 2)):
            match = re.search(b"[" + SPACE + b"]", text[first:stop].tobytes())
            expected = stop if match is None else first + match.start()
            if first < stop:
                assert word_end(text, first, stop) == expected


def test_keys_of_short_words_are_the_words():
    text = np.frombuffer("a ab naïve 12345678 北".encode(), np.uint8)
    for match in re.finditer(rb"[^ ]+", text.tobytes()):
        key = int(word_key(text, *match.span()))
        assert key.to_bytes(8, "little").rstrip(b"\0") == match[0]


def test_keys_do_not_depend_on_the_place_and_tell_words_apart():
    words = [bytes(RNG.integers(97, 100, RNG.integers(1, 30), np.uint8)) for _ in range(3000)]
    text = np.frombuffer(b" ".join(words), np.uint8)
    ends = np.cumsum([len(word) + 1 for word in words]) - 1
    keys = {}
    for word, end in zip(words, ends.tolist(), strict=True):
        alone = np.frombuffer(word, np.uint8)
        key = int(word_key(alone, 0, len(word)))
        assert int(word_key(text, end - len(word), end)) == key
        assert (key & 0xFF != 0) == (len(word) <= 8)
        keys.setdefault(key, word)
        assert keys[key] == word


def test_words_are_compared_to_their_last_byte():
    for length in (0, 1, 7, 8, 9, 16, 21):
        a = RNG.integers(0, 256, length + 5, np.uint8)
        b = np.concatenate([RNG.integers(0, 256, 3, np.uint8), a])
        assert equal_bytes(a, 0, b, 3, length)
        for i in range(length):
            other = b.copy()
            other[3 + i] ^= 1
            assert not equal_bytes(a, 0, other, 3, length)


def test_the_first_duplicate_is_found():
    words = [b"a", b"bb", b"ccccccccccc", b"d", b"ccccccccccc", b"a"]
    starts = np.append(0, np.cumsum(list(map(len, words))))
    assert index_entries(np.frombuffer(b"".join(words), np.uint8), starts)[1] == 4
    assert index_entries(np.frombuffer(b"abbc", np.uint8), np.array([0, 1, 3, 4]))[1] == -1
