"""Retrieval of documents by the cosines of text vectors: nDCG, recall and reciprocal rank, as in trec_eval."""

from collections.abc import Sequence

import numpy as np

from embeddings.eval.datasets.retrieval_sets import RetrievalSet
from embeddings.eval.measures.text_vectors import TextVectors
from embeddings.eval.statistics.item_scores import ItemScores, MeanScores
from embeddings.eval.statistics.results import Key
from embeddings.indexes.index_spec import as_index
from embeddings.vectors.vectors import Vectors

DEPTH = 100  # documents retrieved for each query
MEASURES = ("ndcg@10", "recall@10", "recall@100", "mrr@10")
PROTOCOL = (
    "documents by the cosine of text vectors ({pooling}), {search}; ties go to the earlier document; the mean over "
    "queries with a relevant document; a query without a known word counts 0, a document without one is never found; "
    "gain of nDCG: the grade; interval: bootstrap over queries"
)


def score_retrieval(
    vectors: TextVectors, test: RetrievalSet, *, name: str, index: str | None = None
) -> list[ItemScores]:
    """nDCG@10, recall@10, recall@100 and MRR@10 of each query, and word coverage of queries and documents.

    Arguments:
        index: the index to search with, as `embeddings.indexes.as_index` reads it; None for exact search.
    """
    embedder = vectors.embedder()
    documents, queries = embedder.embed(test.documents), embedder.embed(test.queries)
    found = retrieve(documents.matrix, documents.covered, queries.matrix, index)
    found[~queries.covered] = -1
    values = measure_queries(found, test.relevant)
    protocol = PROTOCOL.format(pooling=vectors.description, search=f"index {index}" if index else "exact search")
    reason = None if documents.covered.any() else "no document has a known word"
    scores: list[ItemScores] = [
        MeanScores(
            vectors=name,
            key=Key(test.name, measure),
            values=column,
            covered=queries.covered,
            protocol=protocol,
            reason=reason,
        )
        for measure, column in zip(MEASURES, values.T, strict=True)
    ]
    return [*scores, documents.merge(queries).coverage(name, test.name)]


def retrieve(documents: np.ndarray, covered: np.ndarray, queries: np.ndarray, index: str | None) -> np.ndarray:
    """The nearest documents of each query, (queries, DEPTH) int64, best first; -1 after the last one found.

    Arguments:
        documents: (documents, dim), of which only those that are `covered` (documents,) bool can be found.
    """
    rows = np.flatnonzero(covered)
    found = np.full((len(queries), DEPTH), -1, np.int64)
    if len(rows):
        candidates = Vectors([str(row) for row in rows.tolist()], documents[rows])
        ids = as_index(index, candidates).search(queries, top=DEPTH).ids
        found[:, : ids.shape[1]] = np.where(ids >= 0, rows[ids], -1)
    return found


def measure_queries(found: np.ndarray, relevant: Sequence[dict[int, int]]) -> np.ndarray:
    """The measures of each query, (queries, 4) float64."""
    discounts = 1 / np.log2(np.arange(2, 12))
    values = np.zeros((len(relevant), len(MEASURES)))
    for query, (ids, grades) in enumerate(zip(found.tolist(), relevant, strict=True)):
        gains = np.array([grades.get(document, 0) for document in ids], np.float64)
        ideal = np.sort(list(grades.values()))[::-1][:10]
        hits = gains > 0
        first = np.flatnonzero(hits[:10])
        values[query] = (
            gains[:10] @ discounts / (ideal @ discounts[: len(ideal)]),
            hits[:10].sum() / len(grades),
            hits.sum() / len(grades),
            1 / (first[0] + 1) if len(first) else 0,
        )
    return values
