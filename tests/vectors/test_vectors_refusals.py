"""What calls of this room refuse: each in one line that names the argument, the word or the shape."""

import numpy as np
import pandas as pd
import pytest

import embeddings as em
from embeddings.errors import EmbeddingsError
from embeddings.vectors.index import build_index
from embeddings.vectors.vectors import Vectors

PAIR = Vectors(["a", "b"], np.eye(2), counts=[2, 1])
COMPOSED = Vectors(["a", "b"], np.eye(2), compose=lambda words: np.zeros((len(words), 2)))
NAN = Vectors(["a", "b"], np.array([[1, 0], [np.nan, 0]]))
WHOLE = [("w1", "w1")] * 20
KEYS = [5, 0, -1, None, b"cat", 1.5, True, {"cat"}, slice(0, 2), [5], ["a", None], ("b", b"cat"), [["cat"]]]
REFUSED = [  # calls with 300 vectors of 10 components, and expressions for what their messages name
    (lambda v: Vectors(["a", "b", "a"], np.ones((3, 1))), "'a'"),
    (lambda v: Vectors(["a"], np.ones((2, 1))), r"1 words.*\(2, 1\)"),
    (lambda v: Vectors(["a"], np.ones(1)), r"\(words, dim\).*\(1,\)"),
    (lambda v: Vectors(["a"], np.ones((1, 0))), r"\(1, 0\)"),
    (lambda v: Vectors(["a"], np.ones((1, 1)), counts=[1, 2]), r"counts.*1 words.*\(2,\)"),
    (lambda v: NAN.most_similar("a"), r"'b'.*NaN"),
    (lambda v: PAIR.add_vectors(["c"], np.ones((1, 3))), "size 2 .* size 3"),
    (lambda v: PAIR.add_vectors(["c", "c"], np.ones((2, 2))), "'c'"),
    (lambda v: PAIR.add_vectors(["c"], np.ones((2, 2))), r"1 words.*\(2, 2\)"),
    (lambda v: PAIR.add_vectors(["c"], np.array([[np.nan, 1]])), "'c'.*NaN"),
    (lambda v: PAIR.add_vectors(["c"], np.ones((1, 2)), counts=[1, 2]), "counts"),
    (lambda v: Vectors.from_pandas(pd.DataFrame([[1.0]])), "strings.*0"),
    (lambda v: Vectors.from_pandas(pd.DataFrame([[1.0], [2.0]], index=["a", "a"])), "'a'"),
    (lambda v: Vectors.from_pandas(pd.DataFrame([[np.nan]], index=["a"])), "'a'.*NaN"),
    (
        lambda v: Vectors.from_pandas(pd.DataFrame({"word": ["a", "b"], "vector": [[1.0], [1.0, 2]]})),
        "lengths: 1 and 2",
    ),
    (
        lambda v: Vectors.from_pandas(pd.DataFrame({"word": ["a"], "vector": [[1.0]], "count": [1.5]})),
        "count must contain integers",
    ),
    (
        lambda v: Vectors.from_pandas(pd.DataFrame({"word": ["a", 2], "vector": [[1.0], [1.0]]})),
        "the table.*column word",
    ),
    (lambda v: v.subset(0), "1, got 0"),
    (lambda v: v.subset(["w1", "nope"]), "'nope'"),
    (lambda v: v.most_similar("w1", top=0), r"top.*1.*0"),
    (lambda v: v.most_similar("w1", restrict=0), r"restrict.*1.*0"),
    (lambda v: v.most_similar([]), "query is empty"),
    (lambda v: v.most_similar("w1", b"w2"), "b'w2'$"),
    (lambda v: v.most_similar("w1", topn=3), "topn.*top$"),
    (lambda v: v.n_similarity(ws1=["w1"], ws2=["w2"]), "ws1.*words_a$"),
    (lambda v: v.get_mean_vector(keys=["w1"]), "keys.*words$"),
    (lambda v: v.most_similar(np.ones(3)), r"\(10,\).*\(3,\)"),
    (lambda v: v.most_similar(np.full(10, np.nan)), "NaN"),
    (lambda v: v.most_similar(("w1", float("nan"))), "NaN"),
    (lambda v: v.most_similar("w1", method="euclidean"), "method"),
    (lambda v: v.most_similar("w1", others=v), "others"),
    (lambda v: v.analogy("w1", "w2", "w3", method="add"), r"method.*3cosadd.*3cosmul.*'add'"),
    (lambda v: v.analogy("w1", "w2", "w3", method="3cosmul", top=0), "top"),
    (lambda v: v.get_mean_vector([]), "at least one word"),
    (lambda v: v.get_mean_vector("w1"), "'w1'"),
    (lambda v: v.get_mean_vector(["w1", "nope"]), "'nope'"),
    (lambda v: v.doesnt_match("w1 w2"), "list"),
    (lambda v: v.doesnt_match(["w1", "nope"]), "'nope'"),
    (lambda v: v.n_similarity("w1 w2", ["w3"]), "list"),
    (lambda v: v.n_similarity(["w3"], []), "list"),
    (lambda v: v.rank("w1", "nope"), "'nope'"),
    (lambda v: v.distances(np.ones(3)), r"\(10,\).*got \(3,\)"),
    (lambda v: build_index(v, "exact").search(np.ones(10)), r"queries.*\(queries, 10\), got \(10,\)"),
    (lambda v: build_index(v, "exact").search(np.ones((2, 9))), r"queries.*\(queries, 10\), got \(2, 9\)"),
    (lambda v: build_index(v, "exact").search(np.full((1, 10), np.nan)), "NaN"),
    *((lambda v, kind=kind: build_index(NAN, kind), r"'b'.*NaN") for kind in ("exact", "lsh", "faiss")),
    (lambda v: em.lookup(v, ["?"], "none"), "unseen.*zero.*contexts.*'none'"),
    (lambda v: em.lookup(v, ["?"], "subwords"), "compose"),
    (lambda v: em.lookup(v, ["?"], "unknown"), "unknown_rows"),
    (lambda v: em.lookup(v, ["?", 3]), "words.*3"),
    (lambda v: em.lookup(v, "word"), "words.*'word'"),
    (lambda v: em.merge(PAIR, PAIR, how="sum"), r"how.*first.*mean.*concat.*'sum'"),
    (lambda v: em.merge(PAIR, v), r"2 and 10.*'concat'"),
    (lambda v: em.merge(PAIR, v, how="concat"), "shared words"),
    (lambda v: em.merge(PAIR, PAIR, dim=2), "svd"),
    (lambda v: em.merge(PAIR, PAIR, how="svd", dim=5), "at most 4"),
    (lambda v: em.align(v, PAIR), r"10 components.*2$"),
    (lambda v: em.align(v, Vectors(["x"], np.ones((1, 10)))), "share no word"),
    (lambda v: em.align(v, Vectors(["w1"], np.full((1, 10), np.nan))), "'w1'.*NaN"),
    (lambda v: em.align(v, v, dictionary="missing.txt"), "identical"),
    (lambda v: em.align(v, v, dictionary=[("x", "y")]), "no pair"),
    (lambda v: em.align(v, v, dictionary=["xy"]), "'xy'"),
    (lambda v: em.align(v, v, dictionary=WHOLE, method="whitened"), "more pairs than the 10"),
    (lambda v: em.align(v, v, method="rotated"), "method"),
    (lambda v: em.align(v, v, dictionary="numerals"), "share no number"),
]


@pytest.mark.parametrize(("call", "named"), REFUSED)
def test_the_message_names_what_is_refused(counted_vectors, call, named):
    with pytest.raises((EmbeddingsError, ValueError), match=named) as error:
        call(counted_vectors)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize("vectors", [PAIR, COMPOSED], ids=["words", "composed"])
def test_keys_are_words_or_lists_of_words(vectors, key):
    wrong = key[-1] if isinstance(key, list | tuple) else key
    with pytest.raises((EmbeddingsError, LookupError)) as error:
        vectors[key]
    assert repr(wrong) in str(error.value)
