"""Measures of composed phrases against naive implementations."""

import numpy as np
import pytest
from composition_data import synthetic_phrases
from scipy.stats import spearmanr

import embeddings as em
from embeddings.errors import SettingError
from embeddings.eval import Suite, compare_scores
from embeddings.eval.statistics.confidence_intervals import normal_interval
from embeddings.eval.tasks.phrase_composition import measures, median_interval, read_phrase_ratings
from embeddings.plugins.tensor_indexing.composer import Composer
from embeddings.plugins.tensor_indexing.fitting import cosine_ranks
from embeddings.plugins.tensor_indexing.phrase_pairs import TEST

HEADING = "participant type ver s1lemma1 s1lemma2 s2lemma1 s2lemma2 rating\n"


@pytest.fixture(scope="module")
def model():
    vectors, triples, _ = synthetic_phrases(types=("adjective-noun", "verb-object"))
    return em.TensorIndexing(min_phrases=50, fit_epochs=5).fit(vectors, triples, threads=1)


def judged():
    """Ratings of random phrases by four people, each asked for two thirds of them."""
    rng, rows = np.random.default_rng(5), []
    for type in ("adjectivenouns", "verbobjects"):
        for _ in range(15):
            words = [f"w{i}" for i in rng.integers(30, size=4)]
            rows += [(f"p{who}", type, *words, int(rng.integers(1, 8))) for who in range(4) if rng.random() < 0.67]
    return [*rows, ("p0", "verbobjects", "unheard", "w1", "w2", "w3", 5)]


@pytest.fixture(scope="module")
def ratings(tmp_path_factory):
    path = tmp_path_factory.mktemp("ratings") / "rated.txt"
    path.write_text(HEADING + "".join(f"{a} {b} 0 {' '.join(map(str, rest))}\n" for a, b, *rest in judged()))
    return path


def cosine(a, b):
    return a @ b / np.sqrt((a @ a) * (b @ b))


@pytest.mark.parametrize(
    "function", ["additive", "multiplicative", "weighted-additive", "full-additive", "tensor-indexing"]
)
def test_ratings_equal_the_naive_implementation(model, ratings, function):
    found = {
        (result.section, result.measure): result
        for result in em.evaluate(model, phrases=ratings)
        if result.method == function
    }
    means = {}
    for given, type in (("adjectivenouns", "adjective-noun"), ("verbobjects", "verb-object")):
        rows = [row for row in judged() if row[1] == given and row[2] != "unheard"]
        order = (1, 0, 3, 2) if type == "verb-object" else (0, 1, 2, 3)
        pairs = {row[2:6]: [words[place] for place in order] for row in rows for words in [row[2:6]]}
        cosines = {}
        for pair, (a, b, c, d) in pairs.items():
            left, right = (
                model.compose(*phrase, type=type, function=function).astype(float) for phrase in ((a, b), (c, d))
            )
            cosines[pair] = cosine(left, right)
        averaged = [np.mean([row[6] for row in rows if row[2:6] == pair]) for pair in pairs]
        by_person = []
        for person in {row[0] for row in rows}:
            own = [row for row in rows if row[0] == person]
            by_person.append(spearmanr([cosines[row[2:6]] for row in own], [row[6] for row in own])[0])
        expected = {
            "spearman": spearmanr(list(cosines.values()), averaged)[0],
            "spearman-ratings": spearmanr([cosines[row[2:6]] for row in rows], [row[6] for row in rows])[0],
            "spearman-participants": np.mean(by_person),
        }
        for measure, value in expected.items():
            assert found[type, measure].value == pytest.approx(value, abs=1e-6), (type, measure)
            means.setdefault(measure, []).append(value)
        assert found[type, "spearman"].covered == len(pairs)
        assert found[type, "spearman"].total == len(pairs) + (type == "verb-object")
    for measure, values in means.items():
        assert found[None, measure].value == pytest.approx(np.mean(values), abs=1e-6)


def test_plain_vectors_have_functions_without_parameters(model, ratings):
    results = em.evaluate(model.vectors, phrases=ratings)
    assert {result.method for result in results} == {"additive", "multiplicative", "own"}
    with pytest.raises(SettingError, match="held-out phrases require"):
        em.evaluate(model.vectors, phrases="held-out")


def test_held_out_equals_the_naive_implementation(model):
    vectors, table = model.vectors, model.tables["phrases"]
    phrases = sorted(set(table[:, 3].tolist()))
    results = em.evaluate(model, phrases="held-out")
    for type in ("adjective-noun", "verb-object", "any"):
        number = model.record["types"].index(type) if type != "any" else None
        rows = [row for row in table.tolist() if row[4] == TEST and number in (None, row[0])]
        for function in ("additive", "full-additive", "tensor-indexing"):
            values = {"cosine": [], "squared-error": [], "rank": []}
            for _, first, second, phrase, _ in rows:
                names = vectors.words[first], vectors.words[second]
                made = model.compose(*names, type=type, function=function).astype(float)
                true = vectors.matrix[phrase].astype(float)
                values["cosine"].append(cosine(made, true))
                values["squared-error"].append(((made - true) ** 2).sum())
                near = [cosine(made, vectors.matrix[other].astype(float)) for other in phrases if other != phrase]
                values["rank"].append(1 + sum(value > values["cosine"][-1] for value in near))
            expected = {
                "cosine": np.mean(values["cosine"]),
                "squared-error": np.mean(values["squared-error"]),
                "mean-rank": np.mean(values["rank"]),
                "median-rank": np.median(values["rank"]),
                "reciprocal-rank": np.mean(1 / np.array(values["rank"])),
            }
            found = {r.measure: r for r in results if (r.section, r.method) == (type, function)}
            assert set(found) == set(expected)
            for measure, value in expected.items():
                assert found[measure].value == pytest.approx(value, rel=1e-5), (type, function, measure)
                assert found[measure].low <= found[measure].value <= found[measure].high
                assert found[measure].covered == len(rows)


def test_ranks_of_ties_and_zero_vectors():
    phrases = np.array([[1.0, 0], [1, 0], [0, 1]])
    assert cosine_ranks(np.array([[1.0, 0], [0, 1], [0, 0]]), phrases[[1, 2, 0]], phrases).tolist() == [1, 1, 1]
    assert cosine_ranks(np.array([[1.0, 0]]), phrases[[2]], phrases).tolist() == [3]


def test_intervals_have_their_nominal_coverage():
    rng, inside = np.random.default_rng(0), np.zeros(2)
    for _ in range(1000):
        values = rng.exponential(size=60)
        low, high = normal_interval(values)
        inside[0] += low < 1 < high
        low, high = median_interval(values)
        inside[1] += low < np.log(2) < high
    assert (inside > 920).all()
    assert (inside < 980).all()
    assert normal_interval(np.ones(1)) == (None, None)
    assert median_interval(np.ones(4)) == (None, None)


def test_verb_object_phrases_are_reversed(ratings):
    found = read_phrase_ratings(ratings).ratings
    assert ("w1", "unheard", "w3", "w2") in found["verb-object"]
    assert set(found) == {"adjective-noun", "verb-object"}


def test_types_without_functions_are_composed_like_any(model, ratings, tmp_path):
    text = ratings.read_text().replace("verbobjects", "strange")
    (tmp_path / "rated.txt").write_text(text)
    results = em.evaluate(model, phrases=tmp_path / "rated.txt")
    strange = [r for r in results if r.section == "strange" and r.method == "tensor-indexing"]
    assert strange[0].value is not None


def test_only_mean_ratings_are_compared(model, ratings):
    suite = Suite.read(phrases=[ratings, "held-out"])
    other = em.TensorIndexing(min_phrases=50, fit_epochs=1).fit(
        *synthetic_phrases(types=("adjective-noun", "verb-object"))[:2], threads=1, seed=5
    )
    judged = [suite.score(one, name) for one, name in ((model, "a"), (other, "b"))]
    found = compare_scores(judged)
    assert {(one.set, one.measure, one.test) for one in found} == {("rated", "spearman", "paired bootstrap over pairs")}
    assert {one.method for one in found} == set(Composer.of(model).known_functions())
    values = {
        (one.section, one.method): one for one in em.evaluate(other, phrases=ratings) if one.measure == "spearman"
    }
    for one in found:
        if one.method != "own":
            assert one.value_second == pytest.approx(values[one.section, one.method].value)


def test_a_type_without_phrases_has_the_same_measures_without_values(model):
    composer = Composer.of(model)
    full, empty = (
        list(measures(composer, rows, "any", "additive")) for rows in (composer.examples, composer.examples[:0])
    )
    assert {name for name, _, _ in empty} == {name for name, _, _ in full}
    assert {value for _, value, _ in empty} == {None}
