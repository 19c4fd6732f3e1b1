"""Storage and lookup: words, rows, composed words, invalid input."""

from unicodedata import normalize

import numpy as np
import pytest

import embeddings as em
from embeddings.corpora.word_rules import WordForm
from embeddings.errors import EmbeddingsError
from embeddings.models.document_vectors import DocumentVectors
from embeddings.vectors.vectors import Vectors


@pytest.fixture(params=[False, True], ids=["words", "composed"])
def three_words(request):
    compose = (lambda words: np.zeros((len(words), 2))) if request.param else None
    return Vectors(["cat", "dog", "5"], np.arange(6).reshape(3, 2), compose=compose)


def test_lookups(random):
    assert len(random) == 500
    assert random.dim == 20
    assert "w3" in random
    assert "x" not in random
    assert random.index("w7") == 7
    assert np.array_equal(random["w7"], random.matrix[7])
    assert random[["w1", "w0"]].tolist() == random.matrix[[1, 0]].tolist()
    with pytest.raises(ValueError, match="read-only"):
        random["w7"][0] = 1


def test_words_and_lists_of_words(three_words):
    assert three_words["5"].tolist() == [4, 5]
    assert three_words[["dog", "cat"]].tolist() == [[2, 3], [0, 1]]
    assert three_words[np.array(["dog"])].tolist() == [[2, 3]]
    assert three_words[[]].shape == (0, 2)


def test_float32_is_not_copied(tmp_path):
    matrix = np.ones((4, 2), np.float32)
    assert np.shares_memory(Vectors(list("abcd"), matrix).matrix, matrix)
    matrix.tofile(tmp_path / "m")
    mapped = np.memmap(tmp_path / "m", np.float32, "r", shape=(4, 2))
    assert np.shares_memory(Vectors(list("abcd"), mapped).matrix, mapped)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("kin", r"'kin'.*king, kings"),
        ("KINF", r"'KINF'.*king"),
        ("zzzz", "'zzzz' among 4 words$"),
        ("", "'' among 4 words$"),
    ],
)
def test_unknown_words(word, message):
    vectors = Vectors(["king", "kings", "queen", "the"], np.eye(4))
    for look_up in (vectors.index, vectors.__getitem__, vectors.most_similar):
        with pytest.raises(LookupError, match=message) as error_info:
            look_up(word)
        assert isinstance(error_info.value, EmbeddingsError)


def test_compose_serves_unseen_words_only():
    vectors = Vectors(["a", "b", "c"], np.eye(3), compose=lambda words: [[len(word)] * 3 for word in words])
    assert vectors["xx"].tolist() == [2, 2, 2]
    assert not vectors["xx"].flags.writeable
    assert vectors["a"].tolist() == [1, 0, 0]
    assert "xx" not in vectors
    assert vectors.similarity("xx", "a") == pytest.approx(3**-0.5)
    assert [word for word, _ in vectors.most_similar("xx")] == ["a", "b", "c"]
    assert [word for word, _ in vectors.analogy("a", "b", "xx", method="3cosmul")] == ["c"]
    assert vectors.compose_words(["xx", "a"]).tolist() == [[2, 2, 2], [1, 1, 1]]


def test_zero_rows():
    vectors = Vectors(["a", "zero", "b"], np.array([[1, 0], [0, 0], [-1, 0.0]]))
    assert vectors.similarity("a", "zero") == 0
    assert vectors.most_similar("a") == [("zero", 0.0), ("b", -1.0)]
    assert list(vectors.most_similar("zero")) == []
    assert vectors.unit_rows[1].tolist() == [0, 0]


def test_huge_and_tiny_rows_keep_their_direction():
    vectors = Vectors(["a", "b", "c"], np.array([[3e38, 3e38], [1e-42, 1e-42], [1, -1]], np.float32))
    assert vectors.similarity("a", "b") == pytest.approx(1)
    assert vectors.most_similar("a")[0] == ("b", pytest.approx(1, abs=1e-6))


@pytest.fixture
def lower_cased():
    form = WordForm({"case": "lower"}, joiner="_")
    return Vectors(["king", "new_york", "IBM", "ibm"], np.eye(4), word_form=form)


def test_words_are_found_by_their_form_in_the_text(lower_cased):
    for word, row in {"king": 0, "King": 0, "KING": 0, "New York": 1, "IBM": 2, "Ibm": 3}.items():
        assert word in lower_cased
        assert lower_cased.index(word) == row
        assert lower_cased[word].tolist() == lower_cased[[word, "king"]][0].tolist() == np.eye(4)[row].tolist()
        assert lower_cased.get(word).tolist() == np.eye(4)[row].tolist()
        assert row not in [lower_cased.index(other) for other, _ in lower_cased.most_similar(word)]
    assert lower_cased.similarity("King", "king") == 1
    assert lower_cased.distances("King", ["KING"]).tolist() == [0]
    assert em.lookup(lower_cased, ["King", "x"]).tolist() == [[1, 0, 0, 0], [0, 0, 0, 0]]
    assert "kin" not in lower_cased
    assert lower_cased.get("kin") is None
    with pytest.raises(LookupError, match=r"'Kin'.*did you mean king"):
        lower_cased.index("Kin")


def test_the_form_stays_with_words(lower_cased):
    subset = lower_cased.subset(["King", "king", "New York"])
    assert subset.words == ["king", "new_york"]
    both = lower_cased.add_vectors(["King"], np.ones((1, 4)))
    assert both["King"].tolist() == [1, 1, 1, 1]
    aligned = em.align(lower_cased, onto=lower_cased).vectors
    for vectors in (subset, both, lower_cased.normalize(), aligned, em.merge(lower_cased, lower_cased)):
        assert vectors.index("KING") == 0


def test_words_of_vectors_without_a_record_are_found_as_they_are_written_first():
    vectors = Vectors(["apple"], np.eye(1))
    assert vectors.find_form("Apple") == (0, "lower case")
    merged = em.merge(vectors, Vectors(["Apple"], np.eye(1), word_form=WordForm({"case": "lower"})))
    assert merged.words == ["apple", "Apple"]
    assert [merged.index(word) for word in ("apple", "Apple", "APPLE")] == [0, 1, 0]


FOREIGN = ["New_York", "don\u2019t", "cafe\u0301", "\u09df\u09be", "\u095c\u0915", "fine", "it's", "\u00fcber"]


@pytest.mark.parametrize(
    ("typed", "row", "form"),
    [
        *((word, row, "as written") for row, word in enumerate(FOREIGN)),
        ("don't", 1, "other apostrophe"),
        ("caf\u00e9", 2, "NFD"),
        (normalize("NFC", FOREIGN[3]), 3, "precomposed"),
        (normalize("NFC", FOREIGN[4]), 4, "precomposed"),
        ("\ufb01ne", 5, "NFKC"),
        ("it\u2019s", 6, "other apostrophe"),
        ("u\u0308ber", 7, "NFC"),
        ("IT\u2019S", 6, "lower case"),
        ("U\u0308ber", 7, "lower case"),
        ("york", None, "as written"),
        ("", None, "as written"),
    ],
)
def test_words_are_found_as_they_are_written_and_then_in_normal_forms(typed, row, form):
    assert Vectors(FOREIGN, np.eye(len(FOREIGN))).find_form(typed) == (row, form)


def test_composed_vectors_and_names_of_documents_are_not_those_of_other_spellings():
    """The n-grams of a word depend on its case, and documents 'A' and 'a' are different ones."""
    composed = Vectors(["king"], np.eye(1), compose=lambda words: np.full((len(words), 1), 2))
    assert "King" not in composed
    assert composed["King"].tolist() == [2]
    assert "A" not in DocumentVectors(["a"], np.eye(1))
