"""Retrieval of documents by the cosines of text vectors: nDCG, recall and reciprocal rank, as in trec_eval."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from embeddings.corpora.reading.sources import resolve_source
from embeddings.corpora.reading.tables import open_table
from embeddings.errors import FormatError, S, SettingError
from embeddings.eval.statistics.results import ItemScores, Key, MeanScores
from embeddings.eval.tasks.evaluation_kind import Kind, Subject
from embeddings.eval.tasks.pooled_texts import POOLING, check_text, word_coverage
from embeddings.eval.tasks.word_similarity import to_number
from embeddings.eval.test_sets import read_lines, set_name
from embeddings.indexes.index_spec import as_index
from embeddings.vectors.vectors import Vectors

ID, TEXT, TITLE = "_id", "text", "title"
StrPath = str | os.PathLike[str]


@dataclass(frozen=True)
class RetrievalSet:
    """Queries and documents, by position; `relevant[query]` maps documents to their grade (1 or more)."""

    name: str
    queries: list[str]
    documents: list[str]
    relevant: list[dict[int, int]]


def read_retrieval_set(paths: StrPath | Sequence[StrPath], *, encoding_errors: str = "strict") -> RetrievalSet:
    """The queries that have a relevant document, all documents, and the relevance judgements.

    Arguments:
        paths: of three files. Queries: JSON lines (or a table) with `_id` and `text`. Documents: the same, also with
            `title`, which is put before the text where a document has one. Judgements: lines of query, document and
            grade separated by tabs, with or without a header; or those of TREC, with a second column that is not used.
        encoding_errors: "strict", "replace" or "ignore" for bytes of queries and documents that are not valid.

    Raises:
        CorpusError: queries or documents cannot be read.
        FormatError: judgements cannot be read, or name a query or document that does not exist.
        SettingError: there are not three paths.
    """
    if isinstance(paths, str | os.PathLike) or len(paths) != 3:
        raise SettingError(f"{S.retrieval} requires three files, QUERIES, CORPUS and QRELS, got {paths!r:.200}")
    query_file, document_file, judgement_file = paths
    queries, documents = (read_texts(file, encoding_errors) for file in (query_file, document_file))
    if not documents:
        raise FormatError(f"{document_file} contains no documents")
    query_rows = {name: row for row, name in enumerate(queries)}
    document_rows = {name: row for row, name in enumerate(documents)}
    relevant: list[dict[int, int]] = [{} for _ in queries]
    for position, query, document, grade in read_judgements(Path(judgement_file)):
        for name, rows, what, file in (
            (query, query_rows, "query", query_file),
            (document, document_rows, "document", document_file),
        ):
            if name not in rows:
                raise FormatError(f"{position}: the {what} {name!r:.80} is not in {file}")
        grades = relevant[query_rows[query]]
        if grades.setdefault(document_rows[document], grade) != grade:
            raise FormatError(f"{position}: query {query!r:.80} and document {document!r:.80} have two grades")
    positive = [{row: grade for row, grade in grades.items() if grade > 0} for grades in relevant]
    asked = [row for row, grades in enumerate(positive) if grades]
    if not asked:
        raise FormatError(f"{judgement_file} has no relevant document for any query")
    texts = list(queries.values())
    name = Path(document_file).parent.name if Path(document_file).name.startswith("corpus.") else ""
    return RetrievalSet(
        name or set_name(judgement_file), [texts[row] for row in asked], list(documents.values()),
        [positive[row] for row in asked],
    )  # fmt: skip


def read_texts(path: StrPath, encoding_errors: str) -> dict[str, str]:
    """The texts of a file by id, with the titles of those that have one."""
    texts: dict[str, str] = {}
    for source in resolve_source(path):
        with open_table(source, encoding_errors=encoding_errors) as table:
            number = 0
            for ids, *columns in table.batches([ID, TEXT], optional=[TITLE]):
                for name, body, title in zip(ids, *columns, strict=True):
                    number += 1
                    parts = [check_text(part, f"{source.name}, row {number}: a text") for part in (title, body)]
                    if name is None or str(name) in texts:
                        problem = "has no _id" if name is None else f"has the _id {str(name)!r:.80} of an earlier row"
                        raise FormatError(f"{source.name}, row {number} {problem}")
                    texts[str(name)] = " ".join(part for part in parts if part)
    return texts


def read_judgements(path: Path) -> list[tuple[str, str, str, int]]:
    """The position, query, document and grade of each judgement."""
    if not path.is_file():
        raise FormatError(f"no file called {str(path)!r}")
    judgements: list[tuple[str, str, str, int]] = []
    for count, (number, line) in enumerate(read_lines(path)):
        fields = line.split("\t") if "\t" in line else line.split()
        position = f"{path}, line {number}"
        if len(fields) not in (3, 4):
            raise FormatError(f"{position}: expected query, document and grade, got {line.strip()!r:.80}")
        grade = to_number(fields[-1])
        if grade is None and count == 0:
            continue  # the header
        if grade is None or not grade.is_integer():
            raise FormatError(f"{position}: the grade {fields[-1].strip()!r:.40} is not a whole number")
        judgements.append((position, fields[0].strip(), fields[-2].strip(), int(grade)))
    if not judgements:
        raise FormatError(f"{path} contains no relevance judgements")
    return judgements


DEPTH = 100  # documents retrieved for each query
MEASURES = ("ndcg@10", "recall@10", "recall@100", "mrr@10")
PROTOCOL = (
    "documents by the cosine of text vectors ({pooling}), {search}; ties go to the earlier document; the mean over "
    "queries with a relevant document; a query without a known word counts 0, a document without one is never found; "
    "gain of nDCG: the grade; interval: bootstrap over queries"
)


def score_retrieval(subject: Subject, test: RetrievalSet) -> list[ItemScores]:
    """nDCG@10, recall@10, recall@100 and MRR@10 of each query, and word coverage of queries and documents."""
    vectors, name, index = subject.texts, subject.name, subject.settings.index
    documents, queries = vectors.embed(test.documents, test.queries)
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
    known, words = documents.known_words + queries.known_words, documents.words + queries.words
    return [*scores, word_coverage(name, test.name, known, words)]


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


KIND = Kind(
    name="retrieval",
    read=lambda test, settings: read_retrieval_set(test, encoding_errors=settings.encoding_errors),
    score=score_retrieval,
    settings=("index", *POOLING),
    of_words=False,
    as_list=lambda tests: [tests] if len(tests) and isinstance(tests[0], str | os.PathLike) else list(tests),
)
