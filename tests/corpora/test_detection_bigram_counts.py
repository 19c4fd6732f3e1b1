"""Counts of pairs of words."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import encode
from naive_phrases import connected_pairs

from embeddings.corpora.phrases import Phrases, detection
from embeddings.corpora.phrases.detection import BORDER, PhraseTokens
from embeddings.errors import CorpusError

SENTENCES = st.lists(st.lists(st.sampled_from("aabbcdefg"), max_size=12), max_size=12)


def with_words(sentences):
    """Sentences with at least one word."""
    return [*sentences, ["a", "b"]]


@settings(deadline=None, max_examples=30)
@given(sentences=SENTENCES, connectors=st.sets(st.sampled_from("abc"), max_size=2), min_count=st.integers(1, 3))
def test_pairs_with_connectors_equal_the_reference(sentences, connectors, min_count):
    sentences = with_words(sentences)
    with encode(sentences) as encoded, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "words")
        path.write_text(" ".join([*connectors, "unseen"]))
        detected_phrases = Phrases(scoring="count", min_count=min_count, connectors=str(path)).find(encoded)
    expected = connected_pairs(sentences, connectors, detection.MAX_CONNECTORS_IN_A_ROW)
    assert {phrase.words: phrase.count for phrase in detected_phrases} == {
        words: count for words, count in expected.items() if count >= min_count
    }


@settings(deadline=None, max_examples=30)
@given(
    sentences=SENTENCES,
    chunk=st.sampled_from([1, 2, 3, 7]),
    merge_size=st.sampled_from([1, 5, 100]),
    connector=st.booleans(),
    min_count=st.integers(1, 2),
)
def test_pairs_do_not_depend_on_chunk_sizes(sentences, chunk, merge_size, connector, min_count):
    with encode(with_words(sentences)) as encoded, tempfile.TemporaryDirectory() as folder:
        tokens = PhraseTokens(
            encoded.ids, encoded.sentences, np.append(encoded.vocabulary.counts, 0), len(encoded.vocabulary)
        )
        connector_numbers = np.zeros(len(tokens.counts), np.int32)
        connector_numbers[0], connector_numbers[tokens.unknown] = connector, BORDER
        whole = detection.count_pairs(tokens, connector_numbers, min_count, Path(folder))
        chunked = detection.count_pairs(
            tokens, connector_numbers, min_count, Path(folder), chunk=chunk, merge_size=merge_size
        )
    assert [list(column) for column in whole[:4]] == [list(column) for column in chunked[:4]]
    assert whole.distinct == chunked.distinct


def test_too_many_words_for_pair_keys_are_refused(tmp_path):
    counts = np.broadcast_to(np.int64(1), (1 << 31,))
    tokens = PhraseTokens(np.zeros(0, np.int32), np.zeros(1, np.int64), counts, 0)
    connector_numbers = np.array([5], np.int32)
    with pytest.raises(CorpusError, match=r"2,147,483,648.*5 connectors.*max_types"):
        detection.count_pairs(tokens, connector_numbers, 1, tmp_path)
