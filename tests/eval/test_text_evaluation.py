"""Evaluation of text vectors: rated pairs, retrieval, clustering and probes, compared with the reference libraries."""

import csv
import json
import random

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import CorpusError, EmbeddingsError, FormatError, SettingError
from embeddings.eval.tasks.retrieval import MEASURES, measure_queries, read_retrieval_set

WORDS = [f"w{number}" for number in range(60)]


@pytest.fixture(scope="module")
def vectors():
    """Words of the same third are alike."""
    rng = np.random.default_rng(5)
    centres = rng.standard_normal((3, 8)).repeat(20, axis=0)
    return em.Vectors(WORDS, centres + rng.standard_normal((60, 8)), counts=range(120, 60, -1))


def text(rng, topic, unknown=0.1):
    """Words of one topic among others; sometimes without a known word."""
    if rng.random() < unknown:
        return "nobody knows"
    words = [f"w{20 * topic + rng.randrange(20)}" for _ in range(3)] + [rng.choice(WORDS)]
    return " ".join(rng.sample(words, 4))


def write_csv(path, header, rows):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


def labelled(path, count=120, seed=1):
    rng = random.Random(seed)
    rows = [(text(rng, topic), "abc"[topic]) for topic in (rng.choice([0, 0, 1, 2]) for _ in range(count))]
    return write_csv(path, ("text", "label"), rows), rows


def by_measure(results):
    return {(result.measure, result.method): result for result in results if not result.is_detail}


def test_rated_pairs_equal_scipy(vectors, tmp_path):
    from scipy.stats import pearsonr, spearmanr

    rng = random.Random(3)
    rows = [(text(rng, rng.randrange(3)), text(rng, rng.randrange(3)), rng.randrange(6)) for _ in range(80)]
    path = write_csv(tmp_path / "rated.csv", ("sentence1", "sentence2", "score"), rows)
    for settings in ({}, {"pool": "sif", "remove_components": 1}, {"pool": "power-mean"}, {"dim": 4}):
        results = by_measure(em.evaluate(vectors, pairs=path, **settings))
        texts = [row[side] for side in (0, 1) for row in rows]
        left, right = em.embed(vectors, texts, **settings).astype(float).reshape(2, len(rows), -1)
        keep = left.any(axis=1) & right.any(axis=1)
        cosines = [a @ b / np.sqrt((a @ a) * (b @ b)) for a, b in zip(left[keep], right[keep], strict=True)]
        ratings = [row[2] for row, is_kept in zip(rows, keep, strict=True) if is_kept]
        for measure, reference in (("spearman", spearmanr), ("pearson", pearsonr)):
            result = results[measure, None]
            assert result.value == pytest.approx(reference(cosines, ratings).statistic, abs=1e-6)
            assert result.low < result.value < result.high
            assert (result.set, result.covered, result.total) == ("rated", keep.sum(), 80)
        assert 0 < results["word coverage", None].value < 1


def test_predicted_ratings_are_scored(tmp_path):
    from scipy.stats import spearmanr

    rows = [(f"w{n} w{n + 1}", f"w{n + n % 3} x", n % 3) for n in range(30)]
    path = write_csv(tmp_path / "rated.csv", ("a", "b", "score"), rows)
    model = em.train(
        "text-pairs", em.TextPairs(path), objective="rating-distribution", dim=8, epochs=2, min_count=1, threads=1
    )
    results = by_measure(em.evaluate(model, pairs=path))
    ratings = em.RatingPredictor(model).predict([row[0] for row in rows], [row[1] for row in rows])
    expected = spearmanr(ratings, [row[2] for row in rows]).statistic
    assert results["spearman", "predicted ratings"].value == pytest.approx(expected, abs=1e-9)
    assert results["spearman", None].value != results["spearman", "predicted ratings"].value


def test_components_can_be_learned_from_other_texts(vectors, tmp_path):
    rows = [(text(random.Random(n), n % 3, 0), text(random.Random(-n - 1), n % 2, 0), n % 5) for n in range(40)]
    path = write_csv(tmp_path / "rated.csv", ("a", "b", "score"), rows)
    (tmp_path / "other.txt").write_text("".join(text(random.Random(n), 0, 0) + "\n" for n in range(90)))
    fitted, other = (
        by_measure(em.evaluate(vectors, pairs=path, remove_components=1, fit_on=fit_on))["pearson", None].value
        for fit_on in (None, tmp_path / "other.txt")
    )
    left, right = (
        em.embed(vectors, [row[side] for row in rows], remove_components=1, fit_on=tmp_path / "other.txt")
        for side in (0, 1)
    )
    cosines = [a @ b / np.sqrt((a @ a) * (b @ b)) for a, b in zip(left, right, strict=True)]
    assert other == pytest.approx(np.corrcoef(cosines, [row[2] for row in rows])[0, 1], abs=1e-5)
    assert abs(fitted - other) > 1e-4


@pytest.mark.parametrize(
    ("rows", "facts"),
    [
        ([("a", "b", 1), ("c", "d", 1)], ["ratings", "vary"]),
        ([("a", "b", 1), ("c", "d", "x")], ["row 2", "number"]),
        ([("a", "b", 1)] * 3, ["same"]),
        ([("", "b", 1), ("c", " ", 2)], ["all 2", "empty side"]),
        ([], ["no pairs"]),
    ],
)
def test_unusable_ratings_are_refused(vectors, tmp_path, rows, facts):
    path = write_csv(tmp_path / "rated.csv", ("a", "b", "score"), rows)
    with pytest.raises(CorpusError) as error:
        em.evaluate(vectors, pairs=path)
    assert all(fact in str(error.value) for fact in facts), str(error.value)


def test_pairs_require_ratings(vectors, tmp_path):
    path = write_csv(tmp_path / "p.csv", ("a", "b", "value"), [("w1", "w2", 1), ("w3", "w4", 2)])
    with pytest.raises(CorpusError, match="rating_column"):
        em.evaluate(vectors, pairs=path)
    results = em.evaluate(vectors, pairs=path, left_column="a", right_column="b", rating_column="value")
    assert results[0].total == 2


def write_retrieval(folder, judgements=None, queries=40, documents=150):
    """Queries and documents of three topics; documents of the topic of a query are relevant, some of them more."""
    rng = random.Random(8)
    topics = [rng.randrange(3) for _ in range(documents)]
    corpus = [
        {"_id": f"d{n}", "title": f"w{rng.randrange(60)}", "text": text(rng, topic)} for n, topic in enumerate(topics)
    ]
    asked = [{"_id": f"q{n}", "text": text(rng, n % 3)} for n in range(queries)]
    if judgements is None:
        judgements = [
            (f"q{n}", f"d{document}", rng.choice([0, 1, 1, 2]))
            for n in range(queries - 2)
            for document in rng.sample([d for d, topic in enumerate(topics) if topic == n % 3], 6)
        ]
    for name, rows in (("queries.jsonl", asked), ("corpus.jsonl", corpus)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in judgements)]
    (folder / "test.tsv").write_text("\n".join(lines) + "\n")
    return [folder / name for name in ("queries.jsonl", "corpus.jsonl", "test.tsv")]


def naive_measures(ranking, grades):
    """nDCG@10, recall@10, recall@100 and MRR@10 of one ranking of ids."""
    gain = [grades.get(document, 0) for document in ranking]
    best = sorted(grades.values(), reverse=True)
    dcg, ideal = (sum(g / np.log2(rank + 2) for rank, g in enumerate(part[:10])) for part in (gain, best))
    found = [rank for rank, g in enumerate(gain) if g > 0]
    recall = [sum(rank < depth for rank in found) / sum(g > 0 for g in grades.values()) for depth in (10, 100)]
    return dcg / ideal, *recall, 1 / (found[0] + 1) if found and found[0] < 10 else 0


def test_retrieval_equals_the_naive_implementation(vectors, tmp_path):
    paths = write_retrieval(tmp_path)
    test = read_retrieval_set(paths)
    documents, queries = (em.embed(vectors, texts, pool="sif") for texts in (test.documents, test.queries))
    unit_documents, unit_queries = (
        rows.astype(float) / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30)
        for rows in (documents, queries)
    )
    expected = []
    for query, grades in zip(unit_queries, test.relevant, strict=True):
        order = np.argsort(-(unit_documents @ query), kind="stable")
        ranking = [row for row in order if documents[row].any()][:100] if query.any() else []
        expected.append(naive_measures(ranking, grades))
    results = by_measure(em.evaluate(vectors, retrieval=paths, pool="sif"))
    for place, measure in enumerate(MEASURES):
        result = results[measure, None]
        assert result.value == pytest.approx(np.mean([row[place] for row in expected]), abs=1e-9)
        assert result.low < result.value < result.high
        assert (result.set, result.total) == (tmp_path.name, len(test.queries))
        assert result.covered == int(queries.any(axis=1).sum()) < result.total


@pytest.mark.golden
@pytest.mark.slow  # ranx compiles at import
def test_retrieval_measures_equal_ranx():
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    rng = np.random.default_rng(2)
    found = np.stack([rng.permutation(300)[:100] for _ in range(30)])
    relevant = [
        {int(document): int(rng.integers(1, 4)) for document in rng.choice(300, 7, replace=False)} for _ in range(30)
    ]
    judgements = {f"q{n}": {f"d{row}": grade for row, grade in grades.items()} for n, grades in enumerate(relevant)}
    runs = {f"q{n}": {f"d{row}": 1.0 - rank / 200 for rank, row in enumerate(rows)} for n, rows in enumerate(found)}
    theirs = ranx.evaluate(ranx.Qrels(judgements), ranx.Run(runs), ["ndcg@10", "recall@10", "recall@100", "mrr@10"])
    ours = measure_queries(found, relevant).mean(axis=0)
    assert ours == pytest.approx(list(theirs.values()), abs=1e-9)


def test_retrieval_through_an_index(vectors, tmp_path):
    paths = write_retrieval(tmp_path)
    exact, indexed = (
        [result.value for result in em.evaluate(vectors, retrieval=[paths], index=index)] for index in (None, "exact")
    )
    assert exact == indexed
    assert em.evaluate(vectors, retrieval=paths, index="lsh:bits=32")[0].protocol != ""
    with pytest.raises(EmbeddingsError, match="no-such"):
        em.evaluate(vectors, retrieval=paths, index="no-such")


def test_trec_judgements_are_read(tmp_path):
    paths = write_retrieval(tmp_path)
    lines = paths[2].read_text().splitlines()[1:]
    trec = tmp_path / "qrels.txt"
    trec.write_text("\n".join("{} 0 {} {}".format(*line.split("\t")) for line in lines))
    assert read_retrieval_set([*paths[:2], trec]).relevant == read_retrieval_set(paths).relevant


@pytest.mark.parametrize(
    ("judgements", "facts"),
    [
        ([("q1", "d1", 1), ("q77", "d1", 1)], ["line 3", "query 'q77'", "queries.jsonl"]),
        ([("q1", "d1", 1), ("q2", "d777", 1)], ["line 3", "document 'd777'", "corpus.jsonl"]),
        ([("q1", "d1", 1), ("q2", "d2", "high")], ["line 3", "high", "whole number"]),
        ([("q1", "d1", 1), ("q1", "d1", 2)], ["line 3", "two grades"]),
        ([("q1", "d1", 0)], ["no relevant document"]),
        ([("q1", "d1", 1), ("q2", "d2", 1, 1, 1)], ["line 3", "expected query"]),
        ([], ["no relevance judgements"]),
    ],
)
def test_unusable_judgements_are_refused(tmp_path, judgements, facts):
    with pytest.raises(FormatError) as error:
        read_retrieval_set(write_retrieval(tmp_path, judgements))
    assert all(fact in str(error.value) for fact in facts), str(error.value)


def test_unusable_documents_are_refused(tmp_path):
    paths = write_retrieval(tmp_path)
    (tmp_path / "double.jsonl").write_text('{"_id": "d1", "text": "a"}\n{"_id": "d1", "text": "b"}\n')
    with pytest.raises(FormatError, match="row 2 has the _id 'd1' of an earlier row"):
        read_retrieval_set([paths[0], tmp_path / "double.jsonl", paths[2]])
    (tmp_path / "other.jsonl").write_text('{"id": "d1", "text": "a"}\n')
    with pytest.raises(CorpusError, match="_id"):
        read_retrieval_set([paths[0], tmp_path / "other.jsonl", paths[2]])
    with pytest.raises(FormatError, match="no file"):
        read_retrieval_set([*paths[:2], tmp_path / "missing.tsv"])
    with pytest.raises(SettingError, match="three files"):
        read_retrieval_set(paths[:2])


def test_clustering_equals_scikit_learn(vectors, tmp_path):
    from sklearn.metrics import v_measure_score

    from embeddings.eval.statistics.results import Key
    from embeddings.eval.tasks.text_labels import ClusterScores

    path, _ = labelled(tmp_path / "texts.csv")
    result = by_measure(em.evaluate(vectors, clustering=path))["v-measure", None]
    assert 0.05 < result.low < result.value < result.high < 1
    rng = np.random.default_rng(1)
    for labels, clusters in ((3, 4), (2, 2), (5, 1), (1, 3), (1, 1)):
        label, cluster = rng.integers(labels, size=50), rng.integers(clusters, size=50)
        scores = ClusterScores(
            vectors="v", key=Key("t", "v-measure"), protocol="", label=label, cluster=cluster, covered=np.ones(50, bool)
        )
        assert scores.value == pytest.approx(v_measure_score(label, cluster), abs=1e-9)
        weights = rng.multinomial(50, np.full(50, 0.02), size=3)
        repeated = [v_measure_score(label.repeat(row), cluster.repeat(row)) for row in weights]
        assert scores.values(weights.astype(float)) == pytest.approx(repeated, abs=1e-9)


def test_probe_equals_scikit_learn(vectors, tmp_path):
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, f1_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    (train, learned), (test, asked) = labelled(tmp_path / "a.csv", 200), labelled(tmp_path / "b.csv", 80, seed=2)
    results = by_measure(em.evaluate(vectors, probe=f"{train},{test}"))
    rows = em.embed(vectors, [one for one, _ in learned + asked]).astype(float)
    labels, actual = [label for _, label in learned], [label for _, label in asked]
    theirs = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(rows[:200], labels)
    predicted, common = theirs.predict(rows[200:]), ["a"] * 80
    for method, guess in (("logistic regression", predicted), ("most frequent label", common)):
        assert results["accuracy", method].value == pytest.approx(accuracy_score(actual, guess))
        macro = f1_score(actual, guess, average="macro", zero_division=0)
        assert results["macro-f1", method].value == pytest.approx(macro)
    assert results["accuracy", "logistic regression"].low > results["accuracy", "most frequent label"].value


def test_one_file_is_cross_validated(vectors, tmp_path):
    path, rows = labelled(tmp_path / "texts.csv")
    results = em.evaluate(vectors, probe=path)
    accuracy = by_measure(results)["accuracy", "logistic regression"]
    assert (accuracy.set, accuracy.total) == ("texts", len(rows))
    assert accuracy.covered == sum(one != "nobody knows" for one, _ in rows)
    assert "5-fold" in accuracy.protocol
    assert [result.section for result in results if result.is_detail] == ["a", "b", "c"]


def test_unusable_labels_are_refused(vectors, tmp_path):
    header = ("text", "label")
    cases = [
        ([("w1", "a"), ("w2", "")], "row 2: the text has no label"),
        ([("w1", "a")] * 9, "1 distinct texts and 1 labels"),
        ([], "0 distinct texts|0 labels"),
    ]
    for rows, problem in cases:
        path = write_csv(tmp_path / "texts.csv", header, rows)
        for kind in ("probe", "clustering"):
            with pytest.raises(CorpusError, match=problem if kind == "probe" else "label"):
                em.evaluate(vectors, **{kind: path})


def test_vectors_are_compared(vectors, tmp_path):
    other = em.Vectors(WORDS, np.random.default_rng(9).standard_normal((60, 8)))
    path, _ = labelled(tmp_path / "texts.csv")
    sets = {"retrieval": write_retrieval(tmp_path), "clustering": path, "probe": path}
    found = {one.measure: one for one in em.compare(vectors, other, names=["a", "b"], **sets) if not one.is_detail}
    assert set(found) == {*MEASURES, "v-measure", "macro-f1", "accuracy"}
    for comparison in found.values():
        assert comparison.difference == pytest.approx(comparison.value_first - comparison.value_second)
        assert comparison.low <= comparison.difference <= comparison.high
    assert found["v-measure"].p < 0.05


def test_settings_are_checked(vectors, tmp_path):
    path, _ = labelled(tmp_path / "texts.csv")
    cases = [
        ({"similarity": "wordsim353", "pool": "sif"}, "pool requires"),
        ({"probe": path, "pol": "sif"}, "pol"),
        ({"probe": path, "index": "lsh"}, "retrieval"),
        ({"probe": path, "rating_column": "x"}, "pairs"),
        ({"probe": path, "pool": "median"}, "pool"),
        ({"probe": path, "remove_components": -1}, "remove_components"),
    ]
    for settings, problem in cases:
        with pytest.raises(SettingError, match=problem):
            em.evaluate(vectors, **settings)


def test_titles_of_documents_are_optional(tmp_path):
    documents = [{"_id": "a", "title": "One", "text": "first"}, {"_id": "b", "text": "second"}]
    (tmp_path / "d.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in (*documents, {"_id": "c", "text": "x"}))
    )
    (tmp_path / "q.jsonl").write_text('{"_id": "q", "text": "ask"}\n')
    (tmp_path / "r.tsv").write_text("q\ta\t1\n")
    paths = [tmp_path / name for name in ("q.jsonl", "d.jsonl", "r.tsv")]
    assert read_retrieval_set(paths).documents == ["One first", "second", "x"]
    paths[1].write_text("".join(json.dumps(one) + "\n" for one in documents[::-1]))
    assert read_retrieval_set(paths).documents == ["second", "One first"]
    for names, expected in ((["_id", "title", "text"], "One first"), (["text", "_id"], "first")):
        paths[1] = write_csv(tmp_path / "d.csv", names, [[documents[0][name] for name in names]])
        assert read_retrieval_set(paths).documents == [expected]


def test_invalid_bytes_of_test_sets_follow_encoding_errors(vectors, tmp_path):
    rows = [(f"w1 w{n} \udcff", "w1 w3", str(n % 3)) for n in range(8)]
    texts = [(f"{a}{n}", "ab"[n % 2]) for n, (a, *_) in enumerate(rows)]
    one = [("_id", "text"), ("1", "w1 \udcff")]
    files = {"pairs": rows, "texts": [("text", "label"), *texts], "q": one, "d": one, "r": [("1", "1", "1")]}
    for name, lines in files.items():
        text = "".join("\t".join(line) + "\n" for line in lines)
        (tmp_path / f"{name}.tsv").write_text(text, encoding="utf-8", errors="surrogateescape")
    retrieval = [tmp_path / name for name in ("q.tsv", "d.tsv", "r.tsv")]
    texts = tmp_path / "texts.tsv"
    for sets in ({"pairs": tmp_path / "pairs.tsv"}, {"retrieval": retrieval}, {"clustering": texts}, {"probe": texts}):
        with pytest.raises(CorpusError, match="UTF-8"):
            em.evaluate(vectors, **sets)
        assert em.evaluate(vectors, **sets, encoding_errors="ignore")
    with pytest.raises(SettingError, match="encoding_errors"):
        em.evaluate(vectors, pairs=tmp_path / "pairs.tsv", encoding_errors="drop")


def test_texts_to_fit_on_are_refused_if_nothing_is_learned(vectors, tmp_path):
    (tmp_path / "fit.txt").write_text("w1 w2\n")
    path, _ = labelled(tmp_path / "texts.csv")
    for settings in ({}, {"pool": "max"}, {"pool": "sif"}):
        with pytest.raises(SettingError, match="fit_on has no effect"):
            em.evaluate(vectors, clustering=path, fit_on=tmp_path / "fit.txt", **settings)
        with pytest.raises(SettingError, match="fit_on has no effect"):
            em.embed(vectors, ["w1"], fit_on=["w2"], **settings)
    with pytest.raises(SettingError, match="fit_on has no effect"):
        em.weight_vectors(vectors, "sif", fit_on=["w1 w2"])
    assert em.embed(vectors, ["w1"], fit_on=["w2"], pool="sif", frequencies="texts").any()
