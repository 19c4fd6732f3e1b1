"""Phrase lists, in memory and in files of all layouts."""

import pytest
from hypothesis import given
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


@given(phrases=st.lists(PHRASE, min_size=1, max_size=6, unique_by=lambda phrase: phrase.words))
def test_saved_phrases_are_read_back(tmp_path_factory, phrases):
    path = tmp_path_factory.mktemp("lists") / "f"
    phrase_list = PhraseList(phrases)
    phrase_list.save(path)
    assert list(read_phrases(path)) == phrases
    assert read_phrases(path).fingerprint == phrase_list.fingerprint


def test_lists_of_other_tools_are_read(tmp_path):
    text = "\ufeffnew york\n\nNew_York_Times\tnewspaper\r\nlos   angeles\nnew york\n"
    (tmp_path / "f").write_text(text, encoding="utf-8")
    words = [phrase.words for phrase in read_phrases(tmp_path / "f")]
    assert words == [("new", "york"), ("New", "York", "Times"), ("los", "angeles")]
    (tmp_path / "g").write_text("phrase\tpass\na+b\t2\nc d\t-\n")
    assert list(read_phrases(tmp_path / "g", joiner="+")) == [Phrase(("a", "b"), step=2), Phrase(("c", "d"))]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected text"),
        (b"phrase\tcount\n\n", "no phrases"),
        (b"a b\nyork\n", "line 2: .*2 to 32 words.*'york'"),
        (b"new+york\n", r"line 1: .*2 to 32 words.*'new\+york'"),
        (b"a b\n_b\n", "line 2: .*2 to 32 words.*'', 'b'"),
        (b"x " * 33 + b"\n", "line 1: .*2 to 32 words.*'x', "),
        (b"phrase\tpass\na b\t0\n", "line 2: .*pass.*1 to 8.*0"),
        (b"phrase\tpass\na b\t99\n", "line 2: .*pass.*1 to 8.*99"),
        (b"phrase\tcount\na b\t" + b"9" * 30 + b"\n", "line 2: .*count.*9223372036854775807"),
        (b"phrase\tcount\na b\t-1\n", "line 2: .*count.*-1"),
        (b"phrase\tscore\na b\tnan\n", "line 2: .*finite score.*nan"),
        (b"phrase\tcount\na b\tmany\n", "line 2: .*'many'"),
        (b"phrase\tscore\n\ta b\n", "line 2: .*'a b'"),
        (b"a b\n\xff\n", "byte 0xff in position 4"),
    ],
)
def test_invalid_lines_are_reported_with_their_number(tmp_path, content, message):
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(FormatError, match=rf"f\b[^\n]*{message}[^\n]*$"):
        read_phrases(tmp_path / "f")


def test_invalid_phrases_are_refused(tmp_path):
    for words in (["york"], ("a", ""), ["a"] * 33):
        with pytest.raises(SettingError, match="2 to 32 words"):
            PhraseList([words])
    with pytest.raises(SettingError, match="Unicode"):
        PhraseList([("a\ud800", "b")])
    assert list(PhraseList(["new york"])) == [Phrase(("new", "york"))]
    with pytest.raises(SettingError, match=r"'a b', 'c'.*white space"):
        PhraseList([("a b", "c")]).save(tmp_path / "f")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "there").write_text("")
    with pytest.raises(OutputError, match="exists"):
        PhraseList(["a b"]).save(tmp_path / "there")
    with pytest.raises(FormatError, match="cannot be read"):
        read_phrases(tmp_path)
