"""The projector's pair: the content of the files, pairs of other tools, and broken lines."""

import numpy as np
import pytest

from embeddings.cli.info import describe
from embeddings.errors import FormatError
from embeddings.models.loading import load
from embeddings.vectors.vectors import Vectors


@pytest.fixture
def small(tmp_path):
    vectors = Vectors(["the", "new york", "日本"], np.array([[1, -0.5], [0.25, 8], [0, 1e-7]], "f4"), counts=[9, 5, 5])
    vectors.save(tmp_path / "v", "projector")
    return vectors


def test_the_content_of_the_files(tmp_path, small):
    folder = tmp_path / "v"
    assert (folder / "metadata.tsv").read_text() == "word\tcount\nthe\t9\nnew york\t5\n日本\t5\n"
    assert (folder / "vectors.tsv").read_text() == "1.0\t-0.5\n0.25\t8.0\n0.0\t1e-07\n"
    assert np.array_equal(np.loadtxt(folder / "vectors.tsv", delimiter="\t", dtype="f4"), small.matrix)
    assert (
        '  tensor_shape: 3\n  tensor_shape: 2\n  tensor_path: "vectors.tsv"\n'
        in (folder / "projector_config.pbtxt").read_text()
    )
    Vectors(small.words, small.matrix).save(folder, "projector", force=True)
    assert (folder / "metadata.tsv").read_text() == "the\nnew york\n日本\n"


def test_pairs_of_other_tools(tmp_path):
    """PyTorch's names, ends of lines of Windows, columns in another order, no last line break, quotes."""
    (tmp_path / "tensors.tsv").write_bytes(b"1\t2\r\n3\t4.5e0")
    (tmp_path / "metadata.tsv").write_bytes(b'rank\tword\r\n1\t"a\r\n2\tb"')
    again = load(tmp_path)
    assert again.words == ['"a', 'b"']
    assert again.matrix.tolist() == [[1, 2], [3, 4.5]]
    assert again.counts is None


def test_description(tmp_path, small):
    facts = describe(tmp_path / "v")
    assert (facts["format"], facts["dim"], facts["counts"], facts["words"]) == ("projector", 2, True, None)
    assert facts["first_words"] == small.words


NUMBERS, WORDS = b"1\t2\n3\t4\n", b"a\nb\n"
BROKEN = {
    "fewer words": (NUMBERS, b"a\n", r"1 words.*\(2, 2\)"),
    "more words": (b"1.25\t2\n3\t4.25\n", b"a\nb\nc\n", r"3 words.*\(2, 2\)"),
    "many words": (NUMBERS, b"a\n" * 100, "truncated: 8 bytes.*100 vectors"),
    "no words": (NUMBERS, b"", r"0 words.*\(2, 2\)"),
    "a short line": (b"1.25\t2.5\n3\n", WORDS, "vectors.tsv.*broken.*2 columns, got 1"),
    "a long line": (b"1\t2\n3\t4\t5\n", WORDS, "broken.*2 columns, got 3"),
    "no number": (b"1\t2\n3\tx\n", WORDS, "broken.*'x'"),
    "an empty field": (b"1\t2\n3\t\n", WORDS, "broken.*''"),
    "empty": (b"", WORDS, "vectors.tsv, line 1"),
    "an empty line": (b"\n1\t2\n", WORDS, "vectors.tsv, line 1"),
    "too wide": (b"\t" * 70_000 + b"\n", WORDS, "vectors.tsv, line 1: 70001.*65536"),
    "infinite": (b"1\t2\n3\t1e99\n", WORDS, "'b'.*NaN"),
    "NaN": (b"1\tnan\n3\t1\n", WORDS, "'a'.*NaN"),
    "twice": (NUMBERS, b"a\na\n", "'a'"),
    "not UTF-8": (NUMBERS, b"a\n\xff\n", "metadata.tsv, word 2: .*UTF-8"),
    "a column too few": (NUMBERS, b"word\tcount\na\t1\nb\n", "metadata.tsv, line 3: 1 columns.*2"),
    "no count": (NUMBERS, b"word\tcount\na\t1\nb\t-2\n", "metadata.tsv, line 3: .*-2"),
    "a huge count": (NUMBERS, b"word\tcount\na\t1\nb\t" + b"9" * 19 + b"\n", "metadata.tsv, line 3: .*9999"),
}


@pytest.mark.parametrize(("numbers", "words", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_pairs(tmp_path, numbers, words, message):
    (tmp_path / "vectors.tsv").write_bytes(numbers)
    (tmp_path / "metadata.tsv").write_bytes(words)
    with pytest.raises(FormatError, match=message) as caught:
        load(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "a\r"])
def test_words_that_it_cannot_store(tmp_path, word):
    with pytest.raises(FormatError, match="projector"):
        Vectors([word], [[1.0]]).save(tmp_path / "v", "projector")
    with pytest.raises(FormatError, match="zero vectors"):
        Vectors([], np.empty((0, 2))).save(tmp_path / "v", "projector")
