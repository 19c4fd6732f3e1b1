"""Frequent n-grams, counted by the compiled passes and by a twin that counts every substring."""

from collections import Counter
from unicodedata import category

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.corpora import Corpus
from embeddings.errors import CorpusError, SettingError
from embeddings.plugins.sembei import ngram_vocabulary
from embeddings.plugins.sembei.ngram_trie import walk_all
from embeddings.plugins.sembei.ngram_vocabulary import frequent_ngrams

LINES = st.lists(st.text("abc本 \t\0\ufeff", max_size=25), min_size=1, max_size=6)


def encode(*lines, tokenizer="codepoints", **settings):
    return Corpus(["\n".join(lines)], tokenizer=tokenizer, **settings).encode()


def naive(lines, max_n, min_count=1):
    """How often each substring occurs, those with white space or control characters left out."""
    counts = Counter(line[i : i + n] for line in lines for n in range(1, max_n + 1) for i in range(len(line) - n + 1))
    border = {c for line in lines for c in line if c.isspace() or category(c) == "Cc" or c == "\ufeff"}
    return {word: count for word, count in counts.items() if count >= min_count and not border & set(word)}


def counted(found):
    return dict(zip(found.vocabulary.words, found.vocabulary.counts.tolist(), strict=True))


@settings(deadline=None, max_examples=200)
@given(
    lines=LINES, max_n=st.integers(1, 8),
    min_count=st.integers(1, 4), room=st.sampled_from([600, ngram_vocabulary.ROOM]),
    text=st.sampled_from([20, 23, 64, ngram_vocabulary.TEXT]),
)  # fmt: skip
def test_every_count_is_that_of_the_twin(lines, max_n, min_count, room, text):
    expected = naive([lines[0].removeprefix("\ufeff"), *lines[1:]], max_n, min_count)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngram_vocabulary, "TEXT", text)
        try:
            encoded = encode(*lines)
        except CorpusError:
            assert not "".join(lines).removeprefix("\ufeff")
            return
        if not expected:
            with pytest.raises(CorpusError, match="lower --min-count"):
                frequent_ngrams(encoded, max_n=max_n, min_count=min_count, room=room)
            return
        found = frequent_ngrams(encoded, max_n=max_n, min_count=min_count, room=room)
    assert counted(found) == expected
    order = sorted(expected, key=lambda word: (-expected[word], word))
    assert list(found.vocabulary.words) == order


@pytest.fixture(scope="module")
def random_lines():
    rng = np.random.default_rng(3)
    return ["".join(chr(0x4E00 + c) for c in rng.zipf(1.2, 400) % 200) for _ in range(40)]


def test_many_distinct_ngrams_are_counted_in_several_passes(random_lines, monkeypatch):
    """With slots for a tenth of them; and those slots are all that is ever taken."""
    most, passes = [], []
    new_pairs, one_pass = ngram_vocabulary.new_pairs, ngram_vocabulary.Levels.one_pass
    monkeypatch.setattr(ngram_vocabulary, "new_pairs", lambda bits: most.append(bits) or new_pairs(bits))
    monkeypatch.setattr(
        ngram_vocabulary.Levels, "one_pass", lambda self, *args: passes.append(args) or one_pass(self, *args)
    )
    expected = naive(random_lines, 4, 3)
    assert len(naive(random_lines, 4)) > 15000  # of all lengths together
    found = frequent_ngrams(encode(*random_lines), max_n=4, min_count=3, room=1500)
    assert counted(found) == expected
    assert len(passes) > 8
    assert max(most) <= 13  # the table of the frequent ones, which are 2,300 in all


def test_what_finds_no_room_is_left_out_by_its_count(random_lines):
    """All that occur more often than what was left out are there, and with the right counts."""
    expected = naive(random_lines, 4, 2)
    found = counted(frequent_ngrams(encode(*random_lines), max_n=4, min_count=2, room=300))
    assert found.items() <= expected.items()
    for n in (2, 3, 4):
        least = min(count for word, count in found.items() if len(word) == n)
        assert {w for w in found if len(w) == n} == {w for w, c in expected.items() if len(w) == n and c >= least}


@pytest.mark.parametrize("per_length", [(5,), (3, 20), (0, 7, 4), (10, 10, 10, 10)])
def test_the_most_frequent_of_each_length(random_lines, per_length):
    expected = naive(random_lines, 4, 2)
    best = []
    for n in range(1, 5):
        words = sorted((w for w in expected if len(w) == n), key=lambda word: (-expected[word], word))
        best += words[: per_length[min(n, len(per_length)) - 1]]
    found = frequent_ngrams(encode(*random_lines), max_n=4, min_count=2, per_length=per_length)
    assert counted(found) == {word: expected[word] for word in best}
    overall = frequent_ngrams(encode(*random_lines), max_n=4, min_count=2, per_length=per_length, max_vocab=9)
    assert list(overall.vocabulary.words) == sorted(best, key=lambda word: (-expected[word], word))[:9]


def test_lines_are_crossed_only_when_asked_and_documents_never():
    encoded = encode("ab", "cd", "", "ef")
    assert "bc" not in frequent_ngrams(encoded, min_count=1).vocabulary
    with Corpus(["ab\ncd", "ef"], tokenizer="codepoints").encode() as encoded:
        found = frequent_ngrams(encoded, min_count=1, cross_lines=True).vocabulary
        assert "abcd" in found
        assert "de" not in found


def test_the_table_finds_what_was_counted(random_lines):
    encoded = encode(*random_lines)
    found = frequent_ngrams(encoded, min_count=3, per_length=(20, 100))
    counts = np.zeros(len(found.vocabulary), np.int64)
    for begin, end in zip(encoded.sentences[:-1], encoded.sentences[1:], strict=True):
        places = np.zeros((end - begin, found.table.longest), np.int32)
        walk_all(found.table, np.array(encoded.ids[begin:end]), places)
        counts += np.bincount(places[places >= 0], minlength=len(counts))
    np.testing.assert_array_equal(counts, found.vocabulary.counts)


def test_ngrams_spelled_alike_are_one():
    """A capital I with a dot is two code points in lower case, and so are an i and a dot."""
    encoded = encode("\u0130x i\u0307x")
    found = frequent_ngrams(encoded, min_count=1)
    assert counted(found)["i\u0307x"] == 2
    places = np.zeros((len(encoded.ids), found.table.longest), np.int32)
    walk_all(found.table, np.array(encoded.ids), places)
    place = found.vocabulary.index("i\u0307x")
    assert (places[0, 1], places[3, 2]) == (place, place)


def test_words_are_joined_by_a_line():
    with Corpus([["new", "york", "a"], ["new", "york", "b"]]).encode() as encoded:
        assert counted(frequent_ngrams(encoded, min_count=2)) == {"new": 2, "york": 2, "new_york": 2}


def test_a_whole_plane_of_characters_and_lone_surrogates():
    line = "".join(map(chr, range(0x4E00, 0x9FFF)))
    found = frequent_ngrams(encode(line, line, "\U0001f600" * 3), min_count=2, max_n=2)
    assert len(found.vocabulary) == 2 * len(line) - 1 + 2
    odd = encode("\ud800本\ud800本", encoding_errors="replace")
    assert counted(frequent_ngrams(odd, min_count=2)).items() >= {"\ufffd": 6, "本": 2, "\ufffd本": 2}.items()


def test_types_that_were_given_up_are_in_no_ngram():
    lines = ["abab" + chr(0x4E00 + i) + "ab" for i in range(300)]
    found = counted(frequent_ngrams(encode(*lines, max_types=50), min_count=5))
    assert found["ab"] == 900
    assert "aba" in found
    assert all(set(word) <= set("ab") for word in found if len(word) > 1)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [({"max_n": 0}, "max_n must be 1 to 64, not 0"), ({"max_n": 65}, "not 65"), ({"min_count": 0}, "min_count"),
     ({"per_length": []}, "per_length"), ({"per_length": [1, -1]}, "per_length"), ({"room": 0}, "room"),
     ({"per_length": [1, 2, 3, 4, 5]}, "one to max_n = 4 numbers")],
)  # fmt: skip
def test_wrong_numbers_are_refused(wrong, told):
    with pytest.raises(SettingError, match=told):
        frequent_ngrams(encode("abc"), **wrong)


def test_a_given_vocabulary_is_refused():
    from embeddings.corpora.vocabulary import Vocabulary

    with pytest.raises(SettingError, match="may not be given a vocabulary"):
        frequent_ngrams(encode("abc", vocabulary=Vocabulary(["a"], [1])))


@pytest.mark.parametrize("text", ["abc", " \t ", "\0"])
def test_text_with_no_frequent_ngram(text):
    with pytest.raises(CorpusError, match="no n-gram occurs 2 times"):
        frequent_ngrams(encode(text), min_count=2)


def test_codepoints_are_single_code_points_and_spaces_too(tmp_path):
    (tmp_path / "f").write_bytes("\ufeffÉé e\u0301\t\r\n中\u3000".encode())
    encoded = Corpus(tmp_path / "f", tokenizer="codepoints").encode()
    assert "".join(encoded.vocabulary.words[i] for i in encoded.ids) == "éé e\u0301\t\r中\u3000"
    assert len(encoded.ids) == 9
    assert encoded.sentences.tolist() == [0, 7, 9]
