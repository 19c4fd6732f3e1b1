"""Phrase detection: scores and joins equal those of gensim and word2phrase."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import decoded, encode, joined
from naive_phrases import connected_pairs, join_sentences, word2phrase_scores
from optional_libraries import needs_gensim

from embeddings.corpora import Corpus
from embeddings.corpora.phrases import Phrases, detection
from embeddings.corpora.phrases.detection import BORDER, ENGLISH_CONNECTORS, PhraseTokens
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, SettingError

# gensim counts among the distinct pairs those over five connecting words and more, too
EXACT = (1e-12, 1e-4)
SENTENCES = st.lists(st.lists(st.sampled_from("aabbcdefg"), max_size=12), max_size=12)


def with_words(sentences):
    """Sentences with at least one word."""
    return [*sentences, ["a", "b"]]


def scores(detected_phrases):
    return {phrase.words: phrase.score for phrase in detected_phrases}


def test_phrases_of_a_corpus_that_is_not_encoded():
    corpus = Corpus(["new york is big", "old york"] * 9)
    phrases = Phrases(min_count=1, threshold=0).find(corpus)
    assert ("new", "york") in {phrase.words for phrase in phrases}
    with corpus.encode() as encoded:
        assert "new_york" in joined(encoded, phrases).vocabulary
        assert list(Phrases(min_count=1, threshold=0).find(encoded)) == list(phrases)
    for other in ("text", 3, [["new", "york"]]):
        with pytest.raises(SettingError, match=r"em\.Corpus"):
            Phrases().find(other)


@pytest.fixture(scope="module")
def sample():
    with encode("sample", rows=2500) as encoded:
        yield encoded


@pytest.fixture(scope="module")
def sentences(sample):
    return decoded(sample)


@settings(deadline=None, max_examples=30)
@given(sentences=SENTENCES, delta=st.integers(1, 3))
def test_scores_equal_the_word2phrase_reference(sentences, delta):
    sentences = with_words(sentences)
    with encode(sentences) as encoded:
        detected_phrases = scores(Phrases(scoring="word2phrase", threshold=0.5, min_count=delta).find(encoded))
    expected = {pair: score for pair, score in word2phrase_scores(sentences, delta).items() if score > 0.5}
    assert detected_phrases == pytest.approx(expected)


def test_at_most_four_connectors_in_a_row(tmp_path):
    (tmp_path / "words").write_text("of the")
    sentences = [["king", *["of", "the"] * 2, "hill"], ["king", *["of"] * 5, "hill", "king"]]
    with encode(sentences) as encoded:
        detected_phrases = Phrases(scoring="count", min_count=1, connectors=str(tmp_path / "words")).find(encoded)
    assert [phrase.words for phrase in detected_phrases] == [
        ("hill", "king"),
        ("king", "of", "the", "of", "the", "hill"),
    ]


@pytest.mark.parametrize(("case", "expected"), [("lower", [("king", "of", "spain")]), ("keep", [])])
def test_connectors_have_the_case_of_the_text(tmp_path, case, expected):
    (tmp_path / "words").write_text("Of")
    with encode(["king of Spain"] * 2, case=case) as encoded:
        phrases = Phrases(scoring="count", min_count=2, connectors=str(tmp_path / "words")).find(encoded)
    assert [phrase.words for phrase in phrases if len(phrase.words) > 2] == expected


@settings(deadline=None, max_examples=30)
@given(sentences=SENTENCES, unknown=st.sampled_from("abc"))
def test_no_pair_spans_an_unknown_word(sentences, unknown):
    """Nor the end of a sentence, as in the reference."""
    sentences = [[word for word in sentence] for sentence in with_words(sentences)] + [["d", "e"]]
    with encode(sentences) as encoded, tempfile.TemporaryDirectory() as folder:
        from embeddings.corpora import EncodedCorpus
        from embeddings.corpora.remapping import remap

        words = [word for word in encoded.vocabulary.words if word != unknown]
        remap(encoded, Vocabulary(words, np.zeros(len(words))), Path(folder))
        detected_phrases = Phrases(scoring="count", min_count=1).find(EncodedCorpus(Path(folder)))
        scored = Phrases(scoring="npmi", threshold=-1.0, min_count=1).find(EncodedCorpus(Path(folder)))
    expected = Counter(pair for pair in connected_pairs(sentences, (), 0).elements() if unknown not in pair)
    assert {phrase.words: phrase.count for phrase in detected_phrases} == expected
    # counts are those of the corpus, whatever the vocabulary says
    words, total = Counter(word for sentence in sentences for word in sentence), sum(map(len, sentences))
    for phrase in scored:
        a, b, both = (count / total for count in (*(words[word] for word in phrase.words), phrase.count))
        assert phrase.score == pytest.approx(np.log(both / a / b) / -np.log(both))


@needs_gensim
@pytest.mark.golden
@pytest.mark.parametrize(
    ("scoring", "threshold", "connectors"),
    [
        ("gensim", 10.0, None),
        pytest.param("gensim", 0.5, None, marks=pytest.mark.slow),
        pytest.param("gensim", 2.0, "english", marks=pytest.mark.slow),
        pytest.param("npmi", 0.5, None, marks=pytest.mark.slow),
        ("npmi", 0.2, "english"),
    ],
)
def test_scores_and_joins_equal_gensim(sample, sentences, scoring, threshold, connectors):
    from gensim.models.phrases import Phrases as Gensim

    words = ENGLISH_CONNECTORS if connectors else frozenset()
    name = "default" if scoring == "gensim" else "npmi"
    theirs = Gensim(sentences, min_count=5, threshold=threshold, scoring=name, connector_words=words)
    ours = Phrases(scoring=scoring, threshold=threshold, min_count=5, connectors=connectors).find(sample)
    assert len(ours) > 100
    expected = theirs.export_phrases()
    detected_phrases = {"_".join(phrase.words): phrase.score for phrase in ours}
    assert detected_phrases.keys() == expected.keys()
    shared = sorted(expected)
    exact = EXACT[connectors is not None]
    np.testing.assert_allclose([detected_phrases[key] for key in shared], [expected[key] for key in shared], rtol=exact)
    with joined(sample, ours) as encoded:
        assert decoded(encoded) == [theirs[sentence] for sentence in sentences]


@pytest.mark.parametrize("thresholds", [None, pytest.param("200, 100", marks=pytest.mark.slow)])
def test_passes_equal_the_word2phrase_reference(sample, sentences, thresholds):
    """The recipe of word2phrase: 200, then 100; the last is for all further passes."""
    minima = (100, 100) if thresholds is None else (200, 100, 100)
    ours = Phrases(passes=len(minima), thresholds=thresholds).find(sample)
    steps = []
    for threshold in minima:
        scored = word2phrase_scores(join_sentences(sentences, steps), 5).items()
        steps.append({sum(pair, ()) for pair, score in scored if score > threshold} - set().union(*steps))
    assert [{phrase.words for phrase in ours if phrase.step == step} for step, _ in enumerate(minima, 1)] == steps
    assert all(steps[:2])
    with joined(sample, ours) as encoded:
        assert decoded(encoded) == [
            ["_".join(token) for token in tokens] for tokens in join_sentences(sentences, steps)
        ]


def test_thresholds_and_a_threshold_have_one_fingerprint():
    same = Phrases(passes=2, thresholds="150")
    assert same.fingerprint == Phrases(passes=2, threshold=150.0).fingerprint
    assert same.fingerprint != Phrases(passes=2, thresholds="150,100").fingerprint


def test_phrases_are_sorted_by_score_and_rare_words_form_none(sample):
    detected_phrases = Phrases(min_count=20).find(sample)
    ranks = [phrase.score for phrase in detected_phrases]
    assert ranks == sorted(ranks, reverse=True)
    counts = dict(zip(sample.vocabulary.words, sample.vocabulary.counts.tolist(), strict=True))
    assert min(counts[word] for phrase in detected_phrases for word in phrase.words) > 20
    assert detected_phrases.fingerprint == Phrases(min_count=20).find(sample).fingerprint


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
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(detection, "CHUNK", chunk)
            patch.setattr("embeddings.corpora.key_counts.MERGE_SIZE", merge_size)
            chunked = detection.count_pairs(tokens, connector_numbers, min_count, Path(folder))
    assert [list(column) for column in whole[:4]] == [list(column) for column in chunked[:4]]
    assert whole.distinct == chunked.distinct


def test_too_many_words_for_pair_keys_are_refused(tmp_path):
    counts = np.broadcast_to(np.int64(1), (1 << 31,))
    tokens = PhraseTokens(np.zeros(0, np.int32), np.zeros(1, np.int64), counts, 0)
    connector_numbers = np.array([5], np.int32)
    with pytest.raises(CorpusError, match=r"2,147,483,648.*5 connectors.*max_types"):
        detection.count_pairs(tokens, connector_numbers, 1, tmp_path)
