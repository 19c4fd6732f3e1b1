"""The same values as gensim on the same vectors."""

import numpy as np
import pytest
from optional_libraries import import_gensim, needs_gensim

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.eval import evaluate
from embeddings.eval.tasks.analogies import read_questions
from embeddings.eval.test_sets import locate
from embeddings.models.model import Model
from embeddings.vectors.vectors import Vectors

pytestmark = pytest.mark.golden


@pytest.fixture(scope="module")
def planted():
    """Random vectors in which analogies half hold: b is a, a shift of the section, and noise."""
    rng = np.random.default_rng(11)
    test = read_questions("google-analogies")
    words = list(
        dict.fromkeys(word for pair in zip(test.questions, test.answers, strict=True) for word in sum(pair, ()))
    )
    rows = dict(zip(words, rng.standard_normal((len(words), 30)), strict=True))
    shifts = rng.standard_normal((len(test.sections), 30)) * 1.5
    for (a, b, _), section in zip(test.questions, test.section_of, strict=True):
        rows[b] = rows[a] + shifts[section] + 0.7 * rng.standard_normal(30)
    others = [f"filler{i}" for i in range(2000)] + ["tiger", "drug", "abuse", "train", "ATHENS", "Boy"]
    order = [words[0], *rng.permutation(words[1:] + others)]
    matrix = [rows[word] if word in rows else rng.standard_normal(30) for word in order]
    return Vectors([str(word) for word in order], np.array(matrix, dtype=np.float32))


@pytest.fixture(scope="module")
def trained():
    import_gensim()
    from gensim.models import Word2Vec
    from gensim.test.utils import common_texts, datapath

    with open(datapath("lee_background.cor"), encoding="utf-8") as corpus:
        sentences = [line.lower().split() for line in corpus]
    model = Word2Vec(sentences + common_texts, vector_size=20, min_count=2, workers=1, seed=3, epochs=10, sg=1)
    return Vectors(model.wv.index_to_key, model.wv.vectors)


def keyed(vectors):
    import_gensim()
    from gensim.models import KeyedVectors

    made = KeyedVectors(vectors.dim)
    made.add_vectors(vectors.words, vectors.matrix)
    return made


@needs_gensim
@pytest.mark.parametrize("which", ["planted", pytest.param("trained", marks=pytest.mark.slow)])
def test_similarity_equals_gensim(which, request):
    vectors = request.getfixturevalue(which)
    names = ["wordsim353", "simlex999"]
    found = evaluate(vectors, similarity=names)
    for name, result, linear in zip(names, found[::2], found[1::2], strict=True):
        pearson, spearman, missing = keyed(vectors).evaluate_word_pairs(str(locate(name)))
        assert (result.measure, linear.measure) == ("spearman", "pearson")
        assert result.value == pytest.approx(spearman[0], abs=1e-6)
        assert linear.value == pytest.approx(pearson[0], abs=1e-6)
        assert 100 * (1 - result.covered / result.total) == pytest.approx(missing)


def multiplicative(made):
    """Replaces `most_similar`, since gensim's evaluation ignores `similarity_function`."""

    def most_similar(positive, negative, topn, restrict_vocab):
        return made.most_similar_cosmul(positive=positive, negative=negative, topn=len(made))

    made.most_similar = most_similar
    return made


@pytest.mark.filterwarnings("ignore:Call to deprecated `init_sims`:DeprecationWarning")  # gensim's own
@pytest.mark.parametrize("method", ["3cosadd", "3cosmul"])
@pytest.mark.parametrize(
    ("which", "restrict"),
    [
        ("planted", 1500),
        *(pytest.param(name, 10**6, marks=pytest.mark.slow) for name in ("planted", "trained")),
    ],
)
def test_analogies_equal_gensim(tmp_path, which, restrict, method, request):
    vectors = request.getfixturevalue(which)
    lines = locate("google-analogies").read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path / "every-fifth.txt"
    path.write_text("".join(line for i, line in enumerate(lines) if line.startswith(":") or i % 5 == 0))
    judge = multiplicative(keyed(vectors)) if method == "3cosmul" else keyed(vectors)
    score, sections = judge.evaluate_word_analogies(str(path), restrict_vocab=restrict)
    results = evaluate(vectors, analogy=path, restrict=restrict, method=method)
    assert results[-1].section is None
    assert results[-1].value == pytest.approx(score, abs=1e-6)
    for result, section in zip(results, sections, strict=False):
        if result.section not in ("semantic", "syntactic", None):
            assert result.section == section["section"]
            assert result.covered == len(section["correct"]) + len(section["incorrect"])
            assert (result.value or 0) * result.covered == pytest.approx(len(section["correct"]))
    if which == "planted":
        assert 0.1 < score < 0.9


def test_vectors_models_and_paths_are_accepted(tmp_path, trained):
    trained.save(tmp_path / "v.bin")
    counts = np.arange(len(trained), 0, -1)
    model = Model("skipgram", vectors=trained, vocabulary=Vocabulary(trained.words, counts))
    model.save(tmp_path / "m")
    expected = evaluate(trained, similarity="wordsim353")[0]
    assert expected.vectors == "vectors"
    for given, name in [(model, "skipgram"), (tmp_path / "v.bin", "v.bin"), (str(tmp_path / "m"), "m")]:
        result = evaluate(given, similarity=["wordsim353"])[0]
        assert (result.value, result.vectors) == (expected.value, name)
