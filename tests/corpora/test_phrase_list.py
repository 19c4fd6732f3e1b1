"""Lists of phrases in files, in every form that they come in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.corpora.phrases import Phrase, PhraseList, read_phrases
from embeddings.errors import FormatError, OutputError, SettingError

WORD = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=6).filter(
    lambda word: not word.isspace()
)
PHRASE = st.builds(
    Phrase,
    st.lists(WORD, min_size=2, max_size=4).map(tuple),
    st.none() | st.integers(0, 10**12),
    st.none() | st.floats(-1e6, 1e6).map(lambda score: float(f"{score:.8g}")),
    st.none() | st.sampled_from(["noun-noun", "other"]),
    st.integers(1, 8),
)


@settings(deadline=None)
@given(phrases=st.lists(PHRASE, min_size=1, max_size=6, unique_by=lambda phrase: phrase.words))
def test_what_is_saved_is_read_again(tmp_path_factory, phrases):
    path = tmp_path_factory.mktemp("lists") / "f"
    listed = PhraseList(phrases)
    listed.save(path)
    assert list(read_phrases(path)) == phrases
    assert read_phrases(path).fingerprint == listed.fingerprint


def test_lists_of_others_are_read(tmp_path):
    text = "\ufeffnew york\n\nNew_York_Times\tnewspaper\r\nlos   angeles\nnew york\n"
    (tmp_path / "f").write_text(text, encoding="utf-8")
    words = [phrase.words for phrase in read_phrases(tmp_path / "f")]
    assert words == [("new", "york"), ("New", "York", "Times"), ("los", "angeles")]
    (tmp_path / "g").write_text("phrase\tpass\na+b\t2\nc d\t-\n")
    assert list(read_phrases(tmp_path / "g", joiner="+")) == [Phrase(("a", "b"), step=2), Phrase(("c", "d"))]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no phrases"),
        (b"phrase\tcount\n\n", "holds no phrases"),
        (b"a b\nyork\n", "line 2: two words or more are needed, parted by spaces or '_', not 'york'"),
        (b"new+york\n", "line 1: two words or more are needed, parted by spaces or '_', not 'new+york'"),
        (b"a b\n_b\n", "line 2: a phrase has 2 to 32 words, none of them empty, and is not ('', 'b')"),
        (b"x " * 33 + b"\n", "line 1: a phrase has 2 to 32 words, none of them empty, and is not ('x', "),
        (b"phrase\tpass\na b\t0\n", "line 2: the pass of a phrase is from 1 to 8, not 0"),
        (b"phrase\tpass\na b\t99\n", "line 2: the pass of a phrase is from 1 to 8, not 99"),
        (b"phrase\tcount\na b\tmany\n", "line 2: 'many' is not a number"),
        (b"phrase\tscore\n\ta b\n", "line 2: two words or more are needed"),
        (b"a b\n\xff\n", "is not UTF-8 at byte 4, and no list of phrases"),
    ],
)
def test_odd_lines_are_told_by_their_number(tmp_path, content, message):
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(FormatError) as error:
        read_phrases(tmp_path / "f")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_no_phrase_is_refused(tmp_path):
    for words in (["york"], ("a", ""), ["a"] * 33, ("a", 1)):
        with pytest.raises(SettingError, match="a phrase has 2 to 32 words, none of them empty"):
            PhraseList([words])
    for words in ([5], [None], [b"new york"]):
        with pytest.raises(SettingError):
            PhraseList(words)
    with pytest.raises(SettingError, match="the words of a phrase must be valid Unicode"):
        PhraseList([("a\ud800", "b")])
    assert list(PhraseList(["new york"])) == [Phrase(("new", "york"))]
    with pytest.raises(SettingError, match="holds white space in a word and cannot stand in a file"):
        PhraseList([("a b", "c")]).save(tmp_path / "f")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "there").write_text("")
    with pytest.raises(OutputError, match="exists"):
        PhraseList(["a b"]).save(tmp_path / "there")
    with pytest.raises(FormatError, match="cannot be read as a list of phrases"):
        read_phrases(tmp_path)
