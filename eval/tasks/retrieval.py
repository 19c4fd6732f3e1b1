"""Retrieval of documents by vectors, by words or by both: nDCG, recall and reciprocal rank, as in trec_eval."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from embeddings.corpora.reading.columns import Role
from embeddings.corpora.reading.reader import open_table
from embeddings.corpora.reading.sources import resolve_source
from embeddings.errors import FormatError, S, SettingError
from embeddings.eval.statistics.results import ItemScores, Key, MeanScores
from embeddings.eval.tasks.evaluation_kind import Kind, PooledTexts, Subject, several, word_coverage
from embeddings.eval.tasks.word_similarity import to_number
from embeddings.eval.test_sets import line_error, read_lines, set_name
from embeddings.text_search.index_folder import ID, SCORES, TEXT
from embeddings.vectors.index import check_spec

if TYPE_CHECKING:
    from embeddings.text_search.text_index import TextIndex

KEY, TITLE = "_id", "title"
StrPath = str | os.PathLike[str]


@dataclass(frozen=True)
class RetrievalSet:
    """Queries and documents, by position.

    `relevant[query]` maps documents to their grade (1 or more); the numbers of judged documents that are missing follow
    those of `documents`. `own[query]` is the document with the id of the query, -1 for none.
    """

    name: str
    queries: list[str]
    ids: list[str]
    documents: list[str]
    relevant: list[dict[int, int]]
    own: list[int]

    @property
    def note(self) -> str | None:
        """How many relevant documents are missing; None for none."""
        missing = {row for grades in self.relevant for row in grades if row >= len(self.documents)}
        return f"{len(missing):,} relevant documents are not in the corpus and count as not found" if missing else None


def read_retrieval_set(paths: StrPath | Sequence[StrPath], *, encoding_errors: str = "strict") -> RetrievalSet:
    """The queries that have a relevant document, all documents, and the relevance judgements.

    Arguments:
        paths: of three files. Queries: JSON lines (or a table) with `_id` and `text`. Documents: the same, also with
            `title`, which is put before the text where a document has one. Judgements: lines of query, document and
            grade separated by tabs, with or without a header; or those of TREC, with a second column that is not used.
        encoding_errors: "strict", "replace" or "ignore" for bytes of queries and documents that are not valid.

    Raises:
        CorpusError: queries or documents cannot be read.
        FormatError: judgements cannot be read, or name a query that does not exist, or only documents that do not.
        SettingError: there are not three paths.
    """
    if isinstance(paths, str | os.PathLike) or len(paths) != 3:
        raise SettingError(f"{S.retrieval} requires three files, QUERIES, CORPUS and QRELS, got {paths!r:.200}")
    query_file, document_file, judgement_file = paths
    queries, documents = (read_texts(file, encoding_errors) for file in (query_file, document_file))
    query_rows = {name: row for row, name in enumerate(queries)}
    document_rows = {name: row for row, name in enumerate(documents)}
    relevant: list[dict[int, int]] = [{} for _ in queries]
    missing: dict[str, int] = {}  # judged documents
    for position, query, document, grade in read_judgements(Path(judgement_file)):
        if query not in query_rows:
            raise FormatError(f"{position}: the query {query!r:.80} is not in {query_file}")
        row = document_rows.get(document)
        if row is None:
            row = missing.setdefault(document, len(documents) + len(missing))
        grades = relevant[query_rows[query]]
        if grades.setdefault(row, grade) != grade:
            raise FormatError(f"{position}: query {query!r:.80} and document {document!r:.80} have two grades")
    positive = [{row: grade for row, grade in grades.items() if grade > 0} for grades in relevant]
    asked = [row for row, grades in enumerate(positive) if grades]
    if not asked:
        raise FormatError(f"{judgement_file} has no relevant document for any query")
    if all(row >= len(documents) for grades in relevant for row in grades):
        raise FormatError(
            f"{judgement_file}: no judged document, such as {next(iter(missing))!r:.80}, is in {document_file}"
        )
    texts, own = list(queries.values()), [document_rows.get(name, -1) for name in queries]
    name = Path(document_file).parent.name if Path(document_file).name.startswith("corpus.") else ""
    return RetrievalSet(
        name or set_name(judgement_file), [texts[row] for row in asked], list(documents), list(documents.values()),
        [positive[row] for row in asked], [own[row] for row in asked],
    )  # fmt: skip


def read_texts(path: StrPath, encoding_errors: str) -> dict[str, str]:
    """The texts of a file by id, each preceded by its title if there is one."""
    texts: dict[str, str] = {}
    for source in resolve_source(path):
        with open_table(source, encoding_errors=encoding_errors) as table:
            parts = [name for name in (TITLE, TEXT) if name == TEXT or name in table.columns]
            for batch in table.read([(KEY, Role.TAG), *((name, Role.TEXT) for name in parts)]):
                for row, (name, *cells) in enumerate(zip(*(array.to_pylist() for array in batch.arrays), strict=True)):
                    if name is None or name in texts or any(isinstance(cell, list) for cell in cells):
                        expected = "expected a text and an _id that no earlier row has"
                        raise FormatError(f"{batch.position(row)}: {expected}, got _id {name!r:.80}")
                    texts[name] = " ".join(filter(None, cells))
    return texts


def read_judgements(path: Path) -> list[tuple[str, str, str, int]]:
    """The position, query, document and grade of each judgement."""
    judgements: list[tuple[str, str, str, int]] = []
    for count, (number, line) in enumerate(read_lines(path)):
        fields = line.split("\t") if "\t" in line else line.split()
        grade = to_number(fields[-1])
        if count == 0 and len(fields) in (3, 4) and grade is None:
            continue  # the header
        if len(fields) not in (3, 4) or grade is None or not grade.is_integer():
            raise line_error(path, number, "query, document and a whole number as grade", line)
        judgements.append((f"{path}, line {number}", fields[0].strip(), fields[-2].strip(), int(grade)))
    return judgements


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings(PooledTexts):
    """How documents are ranked; see `embeddings.evaluate`."""

    ranking: Sequence[str] = several((), Literal["fused", "vectors", "lexical"])
    stemming: str | None = None
    index: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.index is not None:
            check_spec(self.index)


DEPTH = 100  # documents retrieved for each query
MEASURES = ("ndcg@10", "recall@10", "recall@100", "mrr@10")
PROTOCOL = (
    "score of a document: {ranking} Settings: {settings}; ties go to the earlier document; the mean over queries with "
    "a relevant document; a query without a known word counts 0, a document without one is never found; a "
    "document with the id of the query is left out, as in BEIR; a judged document that is missing counts as not found; "
    "gain of nDCG: the grade; interval: bootstrap over queries"
)


def index_of(subject: Subject, test: RetrievalSet) -> "TextIndex":
    """The index of texts that is evaluated, or one of the documents of a set.

    Raises:
        SettingError: the index that is evaluated lacks a document, or has other settings.
    """
    from embeddings.text_search.text_index import TextIndex  # imports numba

    settings, pooling = subject.settings, dict(subject.settings.pooling)
    if isinstance(subject.source, TextIndex):
        own = settings_of(subject.source)
        for name, value in {**settings.pooling, "stemming": settings.stemming, "index": settings.index}.items():
            if value is not None and value != own.get(name):
                raise SettingError(f"{S[name](value)} does not apply to {subject.source.path}: it has {own.get(name)}")
        if missing := set(test.ids).difference(subject.source.column(ID)):
            name = min(missing)
            raise SettingError(f"{subject.source.path} lacks the document {name!r:.80} of {test.name}: index them all")
        return subject.source
    if pooling.get("fit_on") is not None:
        pooling["fit_on"] = Path(pooling["fit_on"])
    return TextIndex.build(
        subject.word_source, pa.table({ID: test.ids, TEXT: test.documents}), kind=settings.index or "exact",
        index_from=1, stemming=settings.stemming, **pooling, progress=False,
    )  # fmt: skip


def settings_of(index: "TextIndex") -> dict[str, Any]:
    """The settings of an index of texts, by the names that they have in an evaluation."""
    record = index.record
    return {**record["pooling"], "stemming": record["words"]["stemming"], "index": record["kind"]}


def score_retrieval(subject: Subject, test: RetrievalSet) -> Iterator[ItemScores]:
    """nDCG@10, recall@10, recall@100 and MRR@10 of each query, and word coverage of queries and documents."""
    index, name = index_of(subject, test), subject.name
    default = "vectors" if index is not subject.source else "fused" if index.record["model"] else "lexical"
    rankings = subject.settings.ranking or [default]
    vectors = index.query_vectors(None, test.queries) if set(rankings) - {"lexical"} else None
    rows = {name: row for row, name in enumerate(test.ids)}
    segments = index.segments
    # by position in the segments, of which rankings are; an index may hold documents that the set does not name
    documents = np.array([rows.get(name, -1) for one in segments for name in one.values(ID, removed=True)])
    about = ", ".join(f"{name} {value}" for name, value in settings_of(index).items() if value)
    for ranking in rankings:
        # one document more where those with the id of a query are dropped afterwards
        texts, depth = None if ranking == "vectors" else test.queries, DEPTH + (max(test.own) >= 0)
        ranks = index.rank(segments, texts, None if ranking == "lexical" else vectors, depth)
        best = (documents[rows].tolist() for rows, *_ in ranks)
        found = [[one for one in ids if one != own][:DEPTH] for ids, own in zip(best, test.own, strict=True)]
        for measure, column in zip(MEASURES, measure_queries(found, test.relevant).T, strict=True):
            yield MeanScores(
                vectors=name,
                key=Key(test.name, measure, method=ranking if subject.settings.ranking else None),
                values=column,
                covered=np.array(list(map(bool, found))),
                protocol=PROTOCOL.format(ranking=SCORES[ranking], settings=about),
                reason=None if any(found) else "no document is found for any query",
                note=test.note,
            )
    if vectors is not None:
        counts = index.embedder.counts
        known = counts.words - counts.unknown_words
        yield word_coverage(name, test.name, known, counts.words, counts.describe_forms())


def measure_queries(found: Sequence[Sequence[int]], relevant: Sequence[dict[int, int]]) -> np.ndarray:
    """The measures of each query, (queries, 4) float64, by the documents found for it, best first."""
    discounts = 1 / np.log2(np.arange(2, 12))
    values = np.zeros((len(relevant), len(MEASURES)))
    for query, (ids, grades) in enumerate(zip(found, relevant, strict=True)):
        gains = np.array([grades.get(document, 0) for document in ids], np.float64)
        ideal = np.sort(list(grades.values()))[::-1][:10]
        hits = gains > 0
        first = np.flatnonzero(hits[:10])
        values[query] = (
            gains[:10] @ discounts[: len(gains)] / (ideal @ discounts[: len(ideal)]),
            hits[:10].sum() / len(grades),
            hits.sum() / len(grades),
            1 / (first[0] + 1) if len(first) else 0,
        )
    return values


KIND = Kind(
    name="retrieval",
    metavar="QUERIES CORPUS QRELS...",
    read=lambda test, settings: read_retrieval_set(test, encoding_errors=settings.encoding_errors),
    score=score_retrieval,
    settings=RetrievalSettings,
    options={"ranking": "RANKING...", "stemming": "LANGUAGE", "index": "KIND:SETTINGS"},
    of_words=False,
    as_list=lambda tests: [tests] if len(tests) and isinstance(tests[0], str | os.PathLike) else list(tests),
)
