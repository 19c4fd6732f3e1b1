"""Phrase detection: scores and joins are gensim's and word2phrase's."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import decoded, encode
from naive_phrases import connected_pairs, joined, word2phrase_scores

from embeddings.corpora.phrases import Phrases, bigram_counts
from embeddings.corpora.phrases.connectors import ENGLISH
from embeddings.corpora.phrases.bigram_counts import BORDER, PhraseTokens
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, FormatError, SettingError

# gensim counts among the distinct pairs those over five connecting words and more, too
EXACT = (1e-12, 1e-4)
SENTENCES = st.lists(st.lists(st.sampled_from("aabbcdefg"), max_size=12), max_size=12)


def some(sentences):
    """Sentences with at least one word."""
    return [*sentences, ["a", "b"]]


def scores(found):
    return {phrase.words: phrase.score for phrase in found}


@pytest.fixture(scope="module")
def sample():
    with encode("sample", rows=5000) as encoded:
        yield encoded


@pytest.fixture(scope="module")
def sentences(sample):
    return decoded(sample)


@settings(deadline=None, max_examples=30)
@given(sentences=SENTENCES, delta=st.integers(1, 3))
def test_scores_are_those_of_the_word2phrase_twin(sentences, delta):
    sentences = some(sentences)
    with encode(sentences) as encoded:
        found = scores(Phrases(scoring="word2phrase", threshold=0.5, min_count=delta).find(encoded))
    expected = {pair: score for pair, score in word2phrase_scores(sentences, delta).items() if score > 0.5}
    assert found == pytest.approx(expected)


@settings(deadline=None, max_examples=30)
@given(sentences=SENTENCES, connectors=st.sets(st.sampled_from("abc"), max_size=2), least=st.integers(1, 3))
def test_pairs_over_connecting_words_are_those_of_the_twin(sentences, connectors, least):
    sentences = some(sentences)
    with encode(sentences) as encoded, tempfile.TemporaryDirectory() as folder:
        named = Path(folder, "words")
        named.write_text(" ".join([*connectors, "unseen"]))
        found = Phrases(scoring="count", min_count=least, connectors=str(named)).find(encoded)
    expected = connected_pairs(sentences, connectors, bigram_counts.MAX_CONNECTORS)
    assert {phrase.words: phrase.count for phrase in found} == {
        words: count for words, count in expected.items() if count >= least
    }


def test_four_connecting_words_may_stand_in_a_row_and_no_more(tmp_path):
    (tmp_path / "words").write_text("of the")
    sentences = [["king", *["of", "the"] * 2, "hill"], ["king", *["of"] * 5, "hill", "king"]]
    with encode(sentences) as encoded:
        found = Phrases(scoring="count", min_count=1, connectors=str(tmp_path / "words")).find(encoded)
    assert [phrase.words for phrase in found] == [("hill", "king"), ("king", "of", "the", "of", "the", "hill")]


@pytest.mark.parametrize(("case", "found"), [("lower", [("king", "of", "spain")]), ("keep", [])])
def test_connecting_words_are_in_the_case_of_the_text(tmp_path, case, found):
    (tmp_path / "words").write_text("Of")
    with encode(["king of Spain"] * 2, case=case) as encoded:
        phrases = Phrases(scoring="count", min_count=2, connectors=str(tmp_path / "words")).find(encoded)
    assert [phrase.words for phrase in phrases if len(phrase.words) > 2] == found


def test_a_score_must_be_above_the_threshold():
    with encode([["a", "b"], ["a", "b"], ["c"]]) as encoded:
        for threshold, size in ((2.0, 0), (1.999, 1)):
            assert len(Phrases(scoring="count", threshold=threshold, min_count=1).find(encoded)) == size


@settings(deadline=None, max_examples=30)
@given(
    sentences=SENTENCES,
    chunk=st.sampled_from([1, 2, 3, 7]),
    merged=st.sampled_from([1, 5, 100]),
    connector=st.booleans(),
    least=st.integers(1, 2),
)
def test_pairs_are_the_same_however_they_are_sorted(sentences, chunk, merged, connector, least):
    with encode(some(sentences)) as encoded, tempfile.TemporaryDirectory() as folder:
        tokens = PhraseTokens(
            encoded.ids, encoded.sentences, np.append(encoded.vocabulary.counts, 0), len(encoded.vocabulary)
        )
        links = np.zeros(tokens.size, np.int32)
        links[0], links[tokens.unknown] = connector, BORDER
        whole = bigram_counts.count_pairs(tokens, links, least, Path(folder))
        cut = bigram_counts.count_pairs(tokens, links, least, Path(folder), chunk=chunk, merge_size=merged)
    assert [list(column) for column in whole[:4]] == [list(column) for column in cut[:4]]
    assert whole.distinct == cut.distinct


@settings(deadline=None, max_examples=30)
@given(sentences=SENTENCES, unknown=st.sampled_from("abc"))
def test_no_pair_reaches_across_a_word_that_is_not_known(sentences, unknown):
    """Nor across the end of a sentence, which a twin of the whole must give too."""
    sentences = [[word for word in sentence] for sentence in some(sentences)] + [["d", "e"]]
    with encode(sentences) as encoded, tempfile.TemporaryDirectory() as folder:
        from embeddings.corpora import EncodedCorpus
        from embeddings.corpora.remapping import remap

        words = [word for word in encoded.vocabulary.words if word != unknown]
        remap(encoded, Vocabulary(words, np.zeros(len(words))), Path(folder))
        found = Phrases(scoring="count", min_count=1).find(EncodedCorpus(Path(folder)))
        scored = Phrases(scoring="npmi", threshold=-1.0, min_count=1).find(EncodedCorpus(Path(folder)))
    expected = Counter(pair for pair in connected_pairs(sentences, (), 0).elements() if unknown not in pair)
    assert {phrase.words: phrase.count for phrase in found} == expected
    # counts are those of the corpus, whatever the vocabulary says
    words, total = Counter(word for sentence in sentences for word in sentence), sum(map(len, sentences))
    for phrase in scored:
        a, b, both = (count / total for count in (*(words[word] for word in phrase.words), phrase.count))
        assert phrase.score == pytest.approx(np.log(both / a / b) / -np.log(both))


@pytest.mark.golden
@pytest.mark.parametrize(
    ("scoring", "threshold", "connectors"),
    [
        ("gensim", 10.0, None),
        ("gensim", 0.5, None),
        ("gensim", 2.0, "english"),
        ("npmi", 0.5, None),
        ("npmi", 0.2, "english"),
    ],
)
def test_scores_and_joins_are_those_of_gensim(sample, sentences, scoring, threshold, connectors):
    from gensim.models.phrases import Phrases as Gensim

    words = ENGLISH if connectors else frozenset()
    name = "default" if scoring == "gensim" else "npmi"
    theirs = Gensim(sentences, min_count=5, threshold=threshold, scoring=name, connector_words=words)
    ours = Phrases(scoring=scoring, threshold=threshold, min_count=5, connectors=connectors).find(sample)
    assert len(ours) > 200
    expected = theirs.export_phrases()
    found = {"_".join(phrase.words): phrase.score for phrase in ours}
    assert found.keys() == expected.keys()
    shared = sorted(expected)
    exact = EXACT[connectors is not None]
    np.testing.assert_allclose([found[key] for key in shared], [expected[key] for key in shared], rtol=exact)
    with ours.apply(sample) as encoded:
        assert decoded(encoded) == [theirs[sentence] for sentence in sentences]


@pytest.mark.golden
@pytest.mark.parametrize("connectors", [None, "english"])
def test_two_passes_are_those_of_gensim(sample, sentences, connectors):
    from gensim.models.phrases import Phrases as Gensim

    shape = {"min_count": 5, "threshold": 10.0, "connector_words": ENGLISH if connectors else frozenset()}
    first = Gensim(sentences, **shape)
    second = Gensim(first[sentences], **shape)
    ours = Phrases(scoring="gensim", passes=2, connectors=connectors).find(sample)
    later = {"_".join(phrase.words): phrase.score for phrase in ours if phrase.step == 2}
    expected = second.find_phrases(first[sentences])  # those that are not shadowed by another to their left
    assert {words: later.get(words) for words in expected} == pytest.approx(expected, rel=EXACT[connectors is not None])
    assert len(expected) > 50
    with ours.apply(sample) as encoded:
        assert decoded(encoded) == [second[first[sentence]] for sentence in sentences]


def test_the_passes_of_word2phrase_are_those_of_the_twin(sample, sentences):
    ours = Phrases(passes=2).find(sample)
    steps = []
    for _ in range(2):
        tokens = joined(sentences, steps)
        steps.append({sum(pair, ()) for pair, score in word2phrase_scores(tokens, 5).items() if score > 100})
    assert [{phrase.words for phrase in ours if phrase.step == step} for step in (1, 2)] == steps
    with ours.apply(sample) as encoded:
        assert decoded(encoded) == [["_".join(token) for token in tokens] for tokens in joined(sentences, steps)]


@pytest.mark.slow
def test_each_pass_may_have_a_threshold_of_its_own(sample, sentences):
    """The recipe of word2phrase: 200, then 100; the last is for all further passes."""
    ours = Phrases(passes=3, thresholds="200, 100").find(sample)
    steps = []
    for threshold in (200, 100, 100):
        tokens = joined(sentences, steps)
        scored = word2phrase_scores(tokens, 5).items()
        steps.append({sum(pair, ()) for pair, score in scored if score > threshold} - set().union(*steps))
    assert [{phrase.words for phrase in ours if phrase.step == step} for step in (1, 2, 3)] == steps
    assert all(steps[:2])
    same = Phrases(passes=2, thresholds="150")
    assert same.find(sample).fingerprint == Phrases(passes=2, threshold=150.0).find(sample).fingerprint
    assert same.fingerprint != Phrases(passes=2, thresholds="150,100").fingerprint


def test_the_best_stand_first_and_words_below_min_count_join_nothing(sample):
    found = Phrases(min_count=20).find(sample)
    ranks = [phrase.score for phrase in found]
    assert ranks == sorted(ranks, reverse=True)
    counts = dict(zip(sample.vocabulary.words, sample.vocabulary.counts.tolist(), strict=True))
    assert min(counts[word] for phrase in found for word in phrase.words) > 20
    assert found.fingerprint == Phrases(min_count=20).find(sample).fingerprint


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scoring": "npmi", "threshold": 10.0}, "threshold must be from -1 to 1 for the score npmi, not 10.0"),
        ({"threshold": -1.0}, "threshold must be 0 or more for the score word2phrase, not -1.0"),
        ({"thresholds": "200,-1", "passes": 2}, "threshold must be 0 or more for the score word2phrase, not -1.0"),
        ({"thresholds": "200,nan", "passes": 2}, "threshold must be 0 or more for the score word2phrase, not nan"),
        ({"thresholds": "200,", "passes": 2}, "thresholds must be numbers with commas between, not '200,'"),
        ({"thresholds": "200,100"}, "thresholds are 2, and passes 1"),
        ({"thresholds": "200", "threshold": 1.0}, "threshold and thresholds say the same: leave one out"),
        ({"min_count": 0}, "min_count must be at least 1, not 0"),
        ({"passes": 0}, "passes must be at least 1 and at most 8, not 0"),
        ({"connectors": "klingon"}, "connectors must be english or a file of words, not 'klingon'"),
        ({"types": "verb"}, "types must be among adjective-noun, noun-noun, verb-object, other, not 'verb'"),
        ({"lexicon": "tags.tsv"}, "a lexicon tells types: name them too"),
        ({"types": "noun-noun", "passes": 2}, "phrases of a type have two words and are found in 1 pass, not 2"),
    ],
)
def test_settings_are_checked(given, message):
    with pytest.raises(SettingError) as error:
        Phrases(**given)
    assert str(error.value) == message


def test_files_of_connecting_words_are_checked(tmp_path):
    for content, kind, message in (
        (b"", SettingError, "holds 0 connecting words"),
        (b"\xff", FormatError, "not UTF-8"),
        (" ".join(map(str, range(1001))).encode(), SettingError, "holds 1001 connecting words; 1 to 1000 can be used"),
    ):
        (tmp_path / "words").write_bytes(content)
        with pytest.raises(kind, match=message):
            Phrases(connectors=str(tmp_path / "words"))


def test_too_many_words_for_a_pair_to_be_a_number_are_told(tmp_path):
    counts = np.broadcast_to(np.int64(1), (1 << 31,))
    tokens = PhraseTokens(np.zeros(0, np.int32), np.zeros(1, np.int64), counts, 0)
    links = np.array([5], np.int32)
    with pytest.raises(CorpusError, match="2,147,483,648 different words with 5 connecting words are too many to tell"):
        bigram_counts.count_pairs(tokens, links, 1, tmp_path)


def test_how_many_connecting_words_there_may_be_is_told():
    with pytest.raises(CorpusError, match=r"300,000 different words with 1,000 .* name 100 connecting words at most"):
        bigram_counts.check_key_size(300_000, 1000)
    assert bigram_counts.fits_key(300_000, 100)
    assert not bigram_counts.fits_key(300_000, 101)
    with pytest.raises(CorpusError, match="to tell apart; lower --max-types"):
        bigram_counts.check_key_size(1 << 32, 0)
