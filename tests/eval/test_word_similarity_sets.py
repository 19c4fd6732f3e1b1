"""Similarity sets by name, layouts of files, and malformed lines, reported by number."""

import pytest
from optional_libraries import needs_gensim

from embeddings.eval import evaluate
from embeddings.eval.tasks.word_similarity import read_word_pairs
from embeddings.vectors.vectors import Vectors


def test_shipped_sets():
    wordsim = read_word_pairs("wordsim353")
    assert (wordsim.name, len(wordsim.pairs), wordsim.pairs[2], wordsim.ratings[2]) == (
        "wordsim353",
        353,
        ("tiger", "tiger"),
        10.0,
    )


@needs_gensim
@pytest.mark.golden
def test_simlex_comes_from_gensim():
    simlex = read_word_pairs("simlex999")
    assert (simlex.name, len(simlex.pairs), simlex.pairs[0]) == ("simlex999", 999, ("old", "new"))


@pytest.mark.parametrize(
    "text",
    [
        "king\tqueen\t8.5\nnew york\tcity\t-1\n",
        '# a comment\nWord 1,Word 2,Human (mean)\nking,queen,8.5\n\n"new york",city,-1\n',
        "\ufeffking\tqueen\t8.5\r\nnew york\tcity\t-1\r\n",
        "w1\tw2\tscore\nking \t queen\t8.5\nnew york\tcity\t-1",
    ],
)
def test_layouts_of_pairs(tmp_path, text):
    (tmp_path / "mine.txt").write_text(text, encoding="utf-8", newline="")
    found = read_word_pairs(tmp_path / "mine.txt")
    assert (found.name, found.pairs, found.ratings) == (
        "mine",
        [("king", "queen"), ("new york", "city")],
        [8.5, -1.0],
    )


PUBLISHED = {
    "SimLex-999": (
        "word1\tword2\tPOS\tSimLex999\tconc(w1)\tconc(w2)\tconcQ\tAssoc(USF)\tSimAssoc333\tSD(SimLex)\n"
        "old\tnew\tA\t1.58\t2.72\t2.81\t2\t7.25\t1\t0.41\nsmart\tintelligent\tA\t9.2\t1.75\t2.46\t1\t7.11\t1\t0.67\n"
    ),
    "RW": ("old\tnew\t1.58\t2\t1\t1\t3\t0\t2\t1\t2\t1\t3\nsmart\tintelligent\t9.2\t9\t10\t9\t8\t10\t9\t9\t9\t9\t10\n"),
    "MEN": "old new 1.580000\nsmart intelligent 9.200000\n",
    "SimVerb-3500": "old\tnew\tV\t1.58\tANTONYMS\nsmart\tintelligent\tV\t9.2\tSYNONYMS\n",
    "WordSim-353 combined": "Word 1,Word 2,Human (mean)\nold,new,1.58\nsmart,intelligent,9.2\n",
    "WordSim-353 with single ratings": (
        "Word 1,Word 2,Human (mean),1,2,3\nold,new,1.58,1,2,1.5\nsmart,intelligent,9.2,9,9,9.5\n"
    ),
    "RG-65": "old;new;1.58\nsmart;intelligent;9.2\n",
    "MTurk-771": "old,new,1.58\nsmart,intelligent,9.2\n",
    "heading of three unknown columns": "first\tsecond\tvalue\nold\tnew\t1.58\nsmart\tintelligent\t9.2\n",
    "rows numbered by pandas": ",word1,word2,rating\n0,old,new,1.58\n1,smart,intelligent,9.2\n",
    "words after other columns": "id\tPOS\tterm_1\tterm_2\tmean\n7\tA\told\tnew\t1.58\n8\tA\tsmart\tintelligent\t9.2\n",
    "rating before the words": "score,w1,w2\n1.58,old,new\n9.2,smart,intelligent\n",
    "unknown heading before the words": "value,word1,word2\n1.58,old,new\n9.2,smart,intelligent\n",
    "heading between spaces": "a b POS score\nold new A 1.58\nsmart intelligent A 9.2\n",
}


@pytest.mark.parametrize("layout", PUBLISHED)
def test_published_layouts(tmp_path, layout):
    (tmp_path / "set").write_text(PUBLISHED[layout])
    found = read_word_pairs(tmp_path / "set")
    assert found.pairs == [("old", "new"), ("smart", "intelligent")]
    assert found.ratings == [1.58, 9.2]


def test_pairs_separated_by_spaces(tmp_path):
    (tmp_path / "mine").write_text("king queen 8.5\na  b   1\n")
    assert read_word_pairs(str(tmp_path / "mine")).pairs == [("king", "queen"), ("a", "b")]


def test_a_file_takes_precedence_over_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wordsim353").write_text("a b 1\n")
    assert read_word_pairs("wordsim353").pairs == [("a", "b")]


def test_words_without_a_vector_but_zeros_are_not_covered(tmp_path):
    """They would have a cosine of 0 with every word."""
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\t1\nb\tc\t2\na\tzero\t3\n")
    vectors = Vectors(["a", "b", "c", "zero"], [[1, 0], [1, 1], [0, 1], [0, 0]])
    assert {(one.covered, one.total) for one in evaluate(vectors, similarity=path)} == {(2, 3)}
