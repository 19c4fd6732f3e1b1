"""Retrieval of documents for queries by text vectors."""

import json

import numpy as np
import pyarrow as pa
import pytest
from text_sets import by_measure, write_csv, write_retrieval

import embeddings as em
from embeddings.errors import SettingError
from embeddings.eval.tasks.retrieval import MEASURES, read_retrieval_set


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


def test_trec_judgements_are_read(tmp_path):
    paths = write_retrieval(tmp_path)
    lines = paths[2].read_text().splitlines()[1:]
    trec = tmp_path / "qrels.txt"
    trec.write_text("\n".join("{} 0 {} {}".format(*line.split("\t")) for line in lines))
    assert read_retrieval_set([*paths[:2], trec]).relevant == read_retrieval_set(paths).relevant


def test_missing_documents_count_as_not_found(vectors, tmp_path):
    known = [("q1", "d1", 1), ("q2", "d2", 1)]
    values = []
    for judgements in (known, [*known, ("q1", "d777", 1), ("q2", "d777", 0)]):
        results = by_measure(em.evaluate(vectors, retrieval=write_retrieval(tmp_path, judgements)))
        values.append((results["recall@100", None].value, results["recall@100", None].note))
    (all_known, none), (one_missing, note) = values
    assert none is None
    assert note.startswith("1 relevant document")
    assert one_missing < all_known


def test_the_document_with_the_id_of_a_query_is_left_out(tmp_path):
    """Else a query that is a document of the corpus finds itself first, as in ArguAna."""
    vectors = em.Vectors(["a", "b"], [[1.0, 0.0], [0.6, 0.8]])
    for name, rows in (("q", [("1", "a"), ("2", "b")]), ("d", [("1", "a"), ("2", "b"), ("3", "a b")])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"_id": n, "text": t}) + "\n" for n, t in rows))
    (tmp_path / "r.tsv").write_text("1\t3\t1\n2\t3\t1\n")
    paths = [tmp_path / name for name in ("q.jsonl", "d.jsonl", "r.tsv")]
    for ranking in ("vectors", "lexical"):
        results = by_measure(em.evaluate(vectors, retrieval=paths, ranking=ranking))
        assert results["mrr@10", ranking].value == 1


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


def test_rankings_are_those_of_an_index_of_the_documents(vectors, tmp_path):
    paths = write_retrieval(tmp_path)
    test = read_retrieval_set(paths)
    rows = pa.table({"id": test.ids, "text": test.documents})
    index = em.TextIndex.build(vectors, rows, tmp_path / "i")
    for ranking in ("lexical", "fused"):
        expected = []
        for query, grades in zip(test.queries, test.relevant, strict=True):
            hits = index.search(query, top=100, method=ranking)
            expected.append(naive_measures([test.ids.index(hit["id"]) for hit in hits], grades))
        results = by_measure(em.evaluate(vectors, retrieval=paths, ranking=ranking))
        for place, measure in enumerate(MEASURES):
            value = results[measure, ranking].value
            assert value == pytest.approx(np.mean([row[place] for row in expected]), abs=1e-9)
            assert by_measure(em.evaluate(index, retrieval=paths, ranking=ranking))[measure, ranking].value == value
    assert by_measure(em.evaluate(str(tmp_path / "i"), retrieval=paths))["mrr@10", None].value == value  # fused
    words = em.TextIndex.build(None, rows)
    by_words = [em.evaluate(words, retrieval=paths, ranking=one)[0].value for one in ((), "lexical")]
    assert by_words[0] == by_words[1] > 0


def test_rankings_are_compared_with_each_other(vectors, tmp_path):
    paths = write_retrieval(tmp_path)
    rankings = ["vectors", "lexical", "fused"]
    values = by_measure(em.evaluate(vectors, retrieval=paths, ranking=rankings))
    tests = em.compare(vectors, vectors, names=["a", "b"], retrieval=paths, ranking=rankings)
    sides = {(one.first, one.second): one for one in tests if one.measure == "mrr@10"}
    assert len(sides) == 15
    one = sides["a (vectors)", "b (fused)"]
    assert (one.value_first, one.value_second) == (values["mrr@10", "vectors"].value, values["mrr@10", "fused"].value)
    alone = em.compare(vectors, vectors, names=["a", "b"], retrieval=paths, ranking="fused")
    assert {(one.first, one.second, one.method) for one in alone} == {("a", "b", "fused")}
    runs = em.compare([vectors, vectors], names=["a"], retrieval=paths, ranking=rankings[:2])
    assert {(one.first, one.second) for one in runs} == {("a (vectors)", "a (lexical)")}


def test_an_index_that_cannot_be_evaluated_is_refused(vectors, tmp_path):
    paths = write_retrieval(tmp_path)
    index = em.TextIndex.build(vectors, ["w1 w2"])
    with pytest.raises(SettingError, match="lacks the document 'd0'"):
        em.evaluate(index, retrieval=paths)
    with pytest.raises(SettingError, match="sif"):
        em.evaluate(index, retrieval=paths, pool="mean")
    with pytest.raises(SettingError, match="retrieval only"):
        em.evaluate(index, similarity="wordsim353")


def test_retrieval_through_an_index(vectors, tmp_path):
    paths = write_retrieval(tmp_path)
    exact, indexed = (
        [result.value for result in em.evaluate(vectors, retrieval=[paths], index=index)] for index in (None, "exact")
    )
    assert exact == indexed
    assert em.evaluate(vectors, retrieval=paths, index="lsh:bits=32")[0].protocol != ""
