"""Hash tables of classifiers: regular words are spread, and entries chosen to collide are refused."""

import numpy as np
import pytest

from embeddings.classifier.feature_extraction import MAX_PROBES, index_entries, index_features
from embeddings.errors import FormatError
from embeddings.kernels.word_bytes import MULTIPLIER


def entries(words):
    starts = np.zeros(len(words) + 1, np.int64)
    np.cumsum([len(word) for word in words], out=starts[1:])
    return np.frombuffer(b"".join(words), np.uint8), starts


def longest_run(is_used):
    ends = np.flatnonzero(np.diff(np.concatenate([[0], is_used.astype(int), [0]])))
    return (ends[1::2] - ends[::2]).max()


@pytest.mark.parametrize("form", ["word%04d", "%08d", "%d", "%04dword", "__label__%d"])
def test_numbered_words_are_spread_over_the_table(form):
    slots, duplicate = index_entries(*entries([(form % i).encode() for i in range(10_000)]))
    assert duplicate == -1
    assert longest_run(slots[:, 1] != 0) < 100


def colliding_words(number):
    """Words of 8 bytes whose keys are the inverse of the multiplier times small numbers: all in the first slot."""
    inverse = pow(int(MULTIPLIER), -1, 1 << 64)
    words = ((i * inverse % (1 << 64)).to_bytes(8, "little") for i in range(1, 2 * number))
    return [word for word in words if 0 not in word][:number]


def test_words_that_collide_are_refused():
    assert index_entries(*entries(colliding_words(MAX_PROBES)))[1] == -1
    with pytest.raises(FormatError, match=r"v\.bin is broken: inserting one of its words takes over 1,000 probes"):
        index_entries(*entries(colliding_words(MAX_PROBES + 5)), "v.bin")


def test_buckets_that_collide_are_refused():
    size = 4 * MAX_PROBES
    numbers = np.arange(size, dtype=np.int32)
    settings = {"words": 0, "label_prefix": None, "min_n": 0, "max_n": 0, "word_ngrams": 2, "buckets": size}
    features = index_features(*entries([]), None, np.column_stack([numbers, numbers]), **settings)
    assert (features.bucket_slots[:, 0] >= 0).sum() == size
    with pytest.raises(FormatError, match="one of its buckets takes over"):
        index_features(*entries([]), None, np.column_stack([numbers << 14, numbers]))
