"""The order of words in a vocabulary against Python's."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.corpora import vocabulary
from embeddings.support.arrow import to_string_array

WORDS = st.text(st.sampled_from("a\0b\u00e9\u4e2d\U0001f600"), max_size=24) | st.integers(0, 60).map(lambda n: "ab" * n)
COUNTS = st.sampled_from([0, 1, 2, 3, 1 << 40])


@settings(deadline=None, max_examples=300)
@given(counts=st.dictionaries(WORDS, COUNTS, max_size=40))
def test_words_are_in_the_order_of_counts_and_bytes(counts):
    expected = sorted(counts, key=lambda word: (-counts[word], word.encode()))
    words = [*counts]
    order = vocabulary.frequency_order(to_string_array(words), np.array([*counts.values()], np.int64))
    assert [words[row] for row in order.tolist()] == expected


def test_words_that_differ_late_are_in_order():
    words = [f"{'x' * length}{end}" for length in range(70) for end in ("", "a", "b", "\0")]
    assert len({*words}) == len(words)
    order = vocabulary.frequency_order(to_string_array(words), np.ones(len(words), np.int64))
    assert [words[row] for row in order.tolist()] == sorted(words)
