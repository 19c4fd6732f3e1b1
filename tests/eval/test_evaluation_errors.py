"""Errors of test sets name the file and the line, errors of settings the setting; each is one line."""

import json

import numpy as np
import pytest
from text_sets import labelled, write_csv, write_retrieval

import embeddings as em
from embeddings.errors import CorpusError, EmbeddingsError, FormatError, SettingError
from embeddings.eval import Suite, evaluate
from embeddings.eval.tasks.analogies import read_questions
from embeddings.eval.tasks.phrase_composition import read_phrase_ratings
from embeddings.eval.tasks.retrieval import read_retrieval_set
from embeddings.eval.tasks.tagging import read_tagging_set
from embeddings.eval.tasks.word_association import read_association_tests
from embeddings.eval.tasks.word_categories import read_word_categories
from embeddings.eval.tasks.word_similarity import WordPairs, read_word_pairs
from embeddings.eval.test_sets import half_of
from embeddings.vectors.vectors import Vectors

HEADING = "participant type ver s1lemma1 s1lemma2 s2lemma1 s2lemma2 rating\n"
ASSOCIATION = "test\tlist\tword\trole\n"
BROKEN = {  # the content of a file, and what its error says
    read_word_pairs: [
        ("", "no word pairs"),
        ("word1 word2 score\n", "no word pairs"),
        ("a b 1\nc d\n", "line 2.*two words and a rating.*'c d'"),
        ("a\tb\t1\n\n# x\nc d 2\n", "line 4: expected two words and a rating"),
        ("a b 1\nc d x\n", "line 2.*number.*'c d x'"),
        ("w1 w2 score\nw1 w2 score\n", "line 2.*number.*score"),
        ("a b 1\nc d nan\n", "line 2.*number.*nan"),
        ("a,b,1\n,d,2\n", "line 2: expected two words and a rating"),
        ("a b c 1\n", "line 1: expected two words and a rating"),
        ("a b 1 2 3\n", "line 1: expected two words and a rating"),
        ("w1\tw2\tfirst\tsecond\na\tb\t1\t2\n", "line 1.*one word1, word2 and rating.*second"),
        ("w1\tw2\tmean\tscore\na\tb\t1\t2\n", "line 1.*one word1, word2 and rating.*mean"),
        ("Word 1,Word 2,1,2\na,b,1,2\n", "line 1.*one word1, word2 and rating"),
        ("a\tb\tN\t1\nc\td\t2\tN\n", "line 2.*number.*N"),
        ("a\tb\tN\t1\nc\td\tN\n", "line 2: expected two words and a rating"),
        (b"a b 1\nc \xff 2\n", "line 2: not UTF-8"),
        ("0,tiger,cat,7.35\n", "line 1.*word1, word2"),
        (",tiger,cat,7.35\n", "line 1.*word1, word2"),
        (",a,b,rating\n0,tiger,cat,7.35\n", "line 1.*word1, word2"),
        (",word1,word2,rating\n0,tiger,,7.35\n", "line 2: expected two words and a rating"),
        ("a,b,1\rc,d,2\r", "line 1: expected two words"),
        ("a,b,1\n" + "c" * 140_000 + ",d,2\n", "line 2: expected two words"),
    ],
    read_questions: [
        ("", "no analogy questions"),
        (": only\n", "no analogy questions"),
        (": s\na b c d\na b c\n", "line 3: expected four words, got 'a b c'"),
        (": s\na b c d e\n", "line 2: expected four words"),
        ("a b\nc\n", "line 2: expected a word and its partners, got 'c'"),
        ("a b\nc\t//\n", "line 2: expected a word and its partners"),
        ("a b\n", "no analogy questions"),
        ("a b c\n", r"broken\.answers does not exist"),
    ],
    read_association_tests: [
        ("", "column test"),
        ("test\tlist\tword\n", "column role"),
        (ASSOCIATION, "no tests"),
        (ASSOCIATION + "a\tb\tc\n", "line 2.*role"),
        (ASSOCIATION + "a\tb\tc\tgoal\n", "line 2.*goal"),
        (ASSOCIATION + "a\tb\t\ttarget\n", "line 2.*word"),
    ],
    read_phrase_ratings: [
        ("", "no rated phrases"),
        ("participant type rating\n", "columns participant, type, s1lemma1"),
        (HEADING, "no rated phrases"),
        (HEADING + "p1 x 0 a b c d\n", "line 2: expected 8 fields"),
        (HEADING + "p1 x 0 a b c d nan\n", "line 2: expected 8 fields"),
        (HEADING + "p1 x 0 a b c d 3\np1 x 1 a b c d 4\n", "line 3: participant p1 rates this pair twice"),
    ],
    lambda path: read_tagging_set(f"{path},{path}"): [
        ("", "no tagged words"),
        ("# only\n\n", "no tagged words"),
        ("a\tb\tc\n", "line 1: expected ten columns of CoNLL-U"),
        ("a\tX\n\nb\n", "line 3: expected ten columns"),
        ("a\tX\nb\t\n", "line 2: expected a word and its tag"),
        ("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", "line 1: expected a word and its tag"),
        (b"a\tX\n\xff\tX\n", "line 2: not UTF-8"),
        (b"\x28\xb5\x2f\xfd cut", "truncated or corrupt zstd"),
    ],
    read_word_categories: [
        ("a\tx\nb\n", "line 2: expected a word and its category, got 'b'"),
        ("a\tx\tz\n", "line 1: expected a word and its category"),
        ("a\tx\nb\tx\n", "fewer than two categories"),
        ("", "fewer than two categories"),
    ],
}


@pytest.mark.parametrize(
    ("read", "content", "facts"), [(read, *case) for read, cases in BROKEN.items() for case in cases]
)
def test_broken_files(tmp_path, read, content, facts):
    path = tmp_path / "broken.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FormatError, match=rf"broken.*{facts}") as caught:
        read(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("answers", "line"), [("x y\nx y\n", "line 2.*'a b"), ("x y\n", "line 2.*'a b c and'"), ("x\n", "line 1.*and x'")]
)
def test_questions_and_answers_that_do_not_match(tmp_path, answers, line):
    (tmp_path / "q.questions").write_text("a b c\na b\n" if "y\nx" in answers else "a b c\na b c\n")
    (tmp_path / "q.answers").write_text(answers)
    with pytest.raises(FormatError, match=rf"q\.questions, {line}"):
        read_questions(tmp_path / "q.questions")


def test_sets_that_do_not_exist(tmp_path):
    names = r"'nope'.*google-analogies, google-phrases, simlex999, wordsim353"
    for read, name, facts in (
        (read_word_pairs, "nope", names), (read_word_pairs, tmp_path, "unknown test set"),
        (read_questions, tmp_path, "no analogy questions"), (read_phrase_ratings, "nowhere.txt", "nowhere"),
        (read_tagging_set, "nope", "'nope'.*ud-ewt.*TRAIN,TEST"), (read_tagging_set, tmp_path, r"-train\.conllu"),
        (read_tagging_set, f"missing,{tmp_path}", "missing does not exist"),
    ):  # fmt: skip
        with pytest.raises(FormatError, match=facts):
            read(name)


@pytest.mark.parametrize(
    ("judgements", "facts"),
    [
        ([("q1", "d1", 1), ("q77", "d1", 1)], ["line 3", "query 'q77'", "queries.jsonl"]),
        ([("q1", "d777", 1), ("q2", "d778", 1)], ["'d777'", "corpus.jsonl"]),
        ([("q1", "d1", 1), ("q2", "d2", "high")], ["line 3", "high", "whole number"]),
        ([("q1", "d1", 1), ("q1", "d1", 2)], ["line 3", "two grades"]),
        ([("q1", "d1", 0)], ["no relevant document"]),
        ([("q1", "d1", 1), ("q2", "d2", 1, 1, 1)], ["line 3", "expected query"]),
        ([], ["no relevant document"]),
    ],
)
def test_unusable_judgements(tmp_path, judgements, facts):
    with pytest.raises(FormatError) as error:
        read_retrieval_set(write_retrieval(tmp_path, judgements))
    assert all(fact in str(error.value) for fact in facts), str(error.value)


def test_unusable_documents(tmp_path):
    queries, _, judgements = write_retrieval(tmp_path)
    rows = (
        [{"_id": "d1", "text": "a"}, {"_id": "d1", "text": "b"}],
        [{"id": "d1", "text": "a"}],
        [{"_id": "x", "text": ["a"]}],
    )
    for documents, fact in zip(rows, ("line 2.*'d1'", "_id", "line 1"), strict=True):
        (tmp_path / "wrong.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents))
        with pytest.raises((FormatError, CorpusError), match=fact):
            read_retrieval_set([queries, tmp_path / "wrong.jsonl", judgements])
    with pytest.raises(FormatError, match="missing"):
        read_retrieval_set([queries, tmp_path / "corpus.jsonl", tmp_path / "missing.tsv"])
    with pytest.raises(SettingError, match="three files"):
        read_retrieval_set([queries, judgements])


@pytest.mark.parametrize(
    ("rows", "settings", "fact"),
    [
        ([("a", "b", 1), ("c", "d", "x")], {}, "row 2.*number"),
        ([("", "b", 1), ("c", " ", 2)], {}, "all 2.*empty"),
        ([], {}, "no pairs|left"),
    ],
)
def test_unusable_pairs(vectors, tmp_path, rows, settings, fact):
    path = write_csv(tmp_path / "p.csv", ("left", "right", "score")[: len(rows[0]) if rows else 3], rows)
    with pytest.raises((CorpusError, SettingError), match=fact):
        em.evaluate(vectors, pairs=path, **settings)


@pytest.mark.parametrize(
    ("rows", "fact"),
    [
        ([("w1", "a"), ("w2", "")], "row 2: the text has no label"),
        ([("w1", "a")] * 9, "1 distinct texts and 1 labels"),
        ([], "0 distinct texts|0 labels"),
    ],
)
@pytest.mark.parametrize("kind", ["documents", "clustering"])
def test_unusable_labels(vectors, tmp_path, rows, fact, kind):
    path = write_csv(tmp_path / "texts.csv", ("text", "label"), rows)
    with pytest.raises(CorpusError, match="label" if kind == "clustering" else fact):
        em.evaluate(vectors, **{kind: path})


def test_settings(vectors, tmp_path):
    path, _ = labelled(tmp_path / "texts.csv")
    lexicon, tagged = tmp_path / "lexicon.txt", tmp_path / "tagged.tsv"
    lexicon.write_text("w1 w2\n")
    tagged.write_text("w1\tX\nw2\tY\n")
    pairs, categories = {"similarity": "wordsim353"}, {"categories": "google-categories"}
    for settings, named in (
        ({}, "similarity, analogy"),
        ({**pairs, "pool": "sif"}, "pool requires"),
        ({**pairs, "target": vectors}, "translation"),
        ({"analogy": "google-analogies", "method": "cosine"}, "method.*3cosmul.*'cosine'"),
        ({"analogy": "google-analogies", "restrict": 0}, "restrict.*0"),
        ({**pairs, "half": "train"}, "half must be one of"),
        ({**pairs, **categories, "half": "dev"}, "half=dev cannot be combined with categories"),
        ({**categories, "half": "dev"}, "half requires"),
        ({"documents": path, "pol": "sif"}, "pol"),
        ({"documents": path, "index": "lsh"}, "retrieval"),
        ({**pairs, "ranking": "fused"}, "retrieval"),
        ({"retrieval": write_retrieval(tmp_path), "ranking": "best"}, "best"),
        ({"retrieval": write_retrieval(tmp_path), "index": "no-such"}, "no-such"),
        ({"documents": path, "rating_column": "x"}, "pairs"),
        ({"documents": path, "pool": "median"}, "pool"),
        ({"documents": path, "remove_components": -1}, "remove_components"),
        ({"translation": lexicon}, "target"),
        ({"translation": lexicon, "target": Vectors(["b1"], np.ones((1, 3)))}, "3 components.*align"),
        ({"translation": tmp_path / "missing.txt", "target": vectors}, r"missing\.txt"),
        ({"tagging": f"{tagged},{tagged}", "window": -1}, r"window.*50.*-1"),
    ):
        with pytest.raises(EmbeddingsError, match=named):
            evaluate(vectors, **settings)
    broken = Vectors(["w1", "Odd", "w2"], np.array([[1, 2], [np.nan, 0], [0, np.nan]]))
    with pytest.raises(SettingError, match="the vector of 'w2' holds NaN"):
        evaluate(broken, tagging=f"{tagged},{tagged}")


def test_a_half_without_items():
    only = WordPairs("tiny", [("tiger", "cat")], [1.0])
    with pytest.raises(FormatError, match="tiny contains no item of the"):
        only.select({"dev": "test", "test": "dev"}[half_of(["tiger", "cat"])])
    assert Suite.read(similarity="wordsim353", half="dev").sets("similarity")


def test_what_is_evaluated_or_compared_has_a_kind_and_a_partner(tmp_path):
    (tmp_path / "s.tsv").write_text("a\tb\t1\nb\tc\t2\n")
    vectors = Vectors(["a", "b", "c"], np.eye(3))
    with pytest.raises(SettingError, match=r"must be vectors.*of type dict"):
        evaluate({"a": vectors}, similarity=tmp_path / "s.tsv")
    with pytest.raises(SettingError, match=r"two vectors at least.*got 1"):
        em.compare([vectors, vectors], similarity=tmp_path / "s.tsv")  # runs of one setting
