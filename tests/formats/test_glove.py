"""GloVe text: round trips, gensim reads it, detection without a header, and broken files."""

import numpy as np
import pytest
from drawn_vectors import some_vectors
from hypothesis import given, settings
from optional_libraries import needs_gensim

from embeddings.errors import FormatError
from embeddings.formats import glove
from embeddings.models.loading import load


@needs_gensim
@pytest.mark.reads("glove", "gensim", "`no_header=True`: words and components equal; random words and vectors")
@pytest.mark.golden
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # gensim leaves the file open
@settings(max_examples=30, deadline=None)
@given(vectors=some_vectors("glove"))
def test_gensim_reads_ours(folder, vectors):
    from gensim.models import KeyedVectors

    vectors.save(folder / "ours.glove", force=True)
    keyed = KeyedVectors.load_word2vec_format(str(folder / "ours.glove"), no_header=True)
    assert keyed.index_to_key == vectors.words
    assert np.array_equal(keyed.vectors, vectors.matrix)


@needs_gensim
@pytest.mark.writes("glove", "gensim", "a published file of GloVe: the same words and components")
@pytest.mark.golden
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # gensim leaves the file open
def test_a_published_file_is_read():
    from gensim.models import KeyedVectors
    from gensim.test.utils import datapath

    path = datapath("test_glove.txt")
    keyed = KeyedVectors.load_word2vec_format(path, no_header=True)
    assert load(path).words == keyed.index_to_key
    assert np.array_equal(load(path).matrix, keyed.vectors)


def test_words_with_spaces_as_in_published_files(tmp_path):
    (tmp_path / "v").write_text("the 0.5 1\n. . . 2 3\nat name@domain.com 4 5\n1 2 3 6 7\n")
    vectors = load(tmp_path / "v")
    assert vectors.words == ["the", ". . .", "at name@domain.com", "1 2 3"]
    assert vectors.matrix.tolist() == [[0.5, 1], [2, 3], [4, 5], [6, 7]]


@pytest.mark.parametrize("text", [b"a 1 2\nb 3 4", b"a 1 2\r\nb 3 4\r\n", b"a 1 2 \nb 3 4 \n", b"a 1 2\nb 3 4\n\n\n"])
def test_accepted_layouts(tmp_path, text):
    (tmp_path / "v").write_bytes(text)
    assert load(tmp_path / "v").words == ["a", "b"]
    assert load(tmp_path / "v").matrix.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1:"),
        (b"just a sentence\n", "line 1:"),
        (b"a 1 2\nb 3\n", "line 2: 1 components.*2"),
        (b"a 1 2\n\nb 3 4\n", "line 3: .*empty line"),
        (b"a 1 2\nb 3 x\n", "line 2: 'x'"),
        (b"a 1 2\nb 3 1_0\n", "line 2: '1_0'"),
        (b"a 1 2\na 3 4\n", "'a'"),
        (b"a 1 2\nb 3 nan\n", "'b'.*NaN"),
        (b"a 1 2\nb 3 1e99\n", "'b'.*NaN"),
        (b"a 1 2\n\xff 3 4\n", r"line 2: .*\\xff.*UTF-8"),
        (b"a 1 2\nb " + b"x" * 70_000 + b" 3\n", "line 2: .*2 components"),
    ],
)
def test_broken_files_are_refused_in_one_line(tmp_path, content, message):
    (tmp_path / "v").write_bytes(content)
    with pytest.raises(FormatError, match=message) as caught:
        glove.read(tmp_path / "v")
    assert str(caught.value).startswith(str(tmp_path / "v"))
    assert "\n" not in str(caught.value)
