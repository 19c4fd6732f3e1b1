"""The checksum of files, against a naive version in Python's integers."""

from hashlib import sha256

import numpy as np
import pytest

from embeddings.kernels.checksum import FIRST, LANES, SECOND, WORDS_SIZE, FileDigest, add_words

MASK = (1 << 64) - 1


def naive_lanes(words):
    lanes = list(range(1, LANES + 1))
    for i, word in enumerate(words[: len(words) // LANES * LANES]):
        total = (lanes[i % LANES] + word * int(FIRST)) & MASK
        lanes[i % LANES] = ((total << 31 | total >> 33) & MASK) * int(SECOND) & MASK
    return lanes


def digest(*parts):
    file = FileDigest()
    for part in parts:
        file.add(part)
    return file.hexdigest()


@pytest.mark.parametrize("count", [0, 3, 4, 5, 400])
def test_lanes_equal_the_naive_ones(count):
    words = np.random.default_rng(count).integers(0, 2**64, count, np.uint64)
    lanes = FileDigest().lanes
    add_words(words, lanes)
    assert lanes.tolist() == naive_lanes(words.tolist())


@pytest.mark.parametrize("size", [0, 1, WORDS_SIZE - 1, WORDS_SIZE, 5 * WORDS_SIZE + 3])
def test_parts_have_the_digest_of_the_whole(size):
    data = np.random.default_rng(size).bytes(size)
    lanes = np.array(naive_lanes(np.frombuffer(data[: size // 8 * 8], np.uint64).tolist()), np.uint64)
    assert digest(data) == sha256(lanes.tobytes() + data[size // WORDS_SIZE * WORDS_SIZE :]).hexdigest()[:16]
    for end in range(0, size, WORDS_SIZE):
        assert digest(data[:end], data[end:]) == digest(data)


def test_every_bit_counts():
    data = bytes(range(2 * WORDS_SIZE + 5))
    changed = (data[:i] + bytes([data[i] ^ 1 << bit]) + data[i + 1 :] for i in range(len(data)) for bit in range(8))
    digests = {digest(one) for one in [data, data + b"\0", *changed]}
    assert len(digests) == 2 + 8 * len(data)
