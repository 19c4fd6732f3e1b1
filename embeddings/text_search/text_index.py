"""`TextIndex`: texts that are found by their vectors, by their words, or by both; it is a folder that grows."""

import os
import re
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from dataclasses import replace as replace_fields
from functools import cached_property
from itertools import pairwise
from numbers import Integral
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Literal, get_args

import numpy as np
import pyarrow as pa

from embeddings import registry
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.corpora.word_rules import WordForm, WordRules
from embeddings.errors import CorpusError, FormatError, OutputError, RegistryError, S, SettingError
from embeddings.indexes.cosine_search import pair_cosines, product_error
from embeddings.indexes.exact import products, shortlist
from embeddings.models.embed import (
    DEFAULT_TEXT,
    load_source,
    text_batches_of,
    text_embedder,
    text_settings,
    word_frequencies,
)
from embeddings.models.model import Model
from embeddings.models.text_embedder import TextEmbedder, TextFrequencies
from embeddings.setting_names import WORD_SETTINGS
from embeddings.settings import Positive, Range, check_list, check_value
from embeddings.support import tensors
from embeddings.support.arrow import to_arrow, to_list, to_string_array
from embeddings.support.cache_folder import temporary_root
from embeddings.support.cosine import normalize_rows
from embeddings.support.files import atomic_write, exclusive_lock
from embeddings.support.foreign_files import format_errors
from embeddings.support.local_paths import check_local
from embeddings.support.progress_display import ProgressOption
from embeddings.support.remote.address import display_name, is_remote
from embeddings.support.result_table import ResultTable
from embeddings.support.system import size_on_disk
from embeddings.text_search.index_folder import (
    ID,
    INDEX,
    MODEL,
    RECIPE,
    SCALES,
    SCORES,
    TENSORS,
    TEXT,
    VECTORS,
    IndexFolder,
    Method,
    Segment,
    State,
    check_target,
    write_sealed,
    write_segment,
)
from embeddings.text_search.lexical import FEW_TEXTS, Lexicon, common_words, lexical_scores, merge_postings
from embeddings.text_search.row_filter import matching_rows
from embeddings.text_search.segment_writer import ENGINE, Columns, SegmentWriter, check_distinct, engine_arrays
from embeddings.text_search.stored_vectors import JoinedVectors, StoredVectors
from embeddings.vectors.index import check_consent, parse_spec
from embeddings.vectors.pooling import DataType, Frequencies, Pool
from embeddings.vectors.vectors import Vectors

MERGED_ROWS = 4_000_000  # of a merged segment at most
LEXICAL_WEIGHT = 0.6  # of BM25 in the fused score
ROUNDING = 1e-6  # a smaller deviation of scores is an error of rounding
MEAN_SAMPLE = 1024  # texts, or up to twice as many, whose cosines with a query have the mean and the deviation of all
PARTS = {"cosine": "Of the vectors of query and text.", "bm25": "Of the words of query and text."}
Cosine = Annotated[float, Range(ge=-1, le=1)]
Weight = Annotated[float, Range(ge=0, le=1)]
CANDIDATES = 100  # of an index of nearest neighbours, for each query at least
SCORE_BYTES = 1 << 26  # of the scores of a block of queries, which several arrays hold at a time
POOLING = ("pool", "constant", "frequencies", "remove_components", "dim")
COMPONENTS, COMMON = "components", "common.arrow"
ADOPTION = Lock()  # of a newer state; not an attribute, so that an index can be copied and pickled


class SearchHits(ResultTable[dict[str, Any]]):
    """The texts that a search found, best first."""

    def shown(self, row: dict[str, Any]) -> dict[str, Any]:
        """The cells of a row; a text is cut to one line."""
        return {**row, TEXT: one_line(row[TEXT])}


def one_line(text: str) -> str:
    """A text as one line of at most 100 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"


class TextIndex:
    """Texts that are found by meaning and by words. `TextIndex.build` makes one, `TextIndex(path)` opens one.

    >>> import numpy as np, embeddings as em
    >>> vectors = em.Vectors(["red", "car", "bus"], np.eye(3), counts=[3, 2, 1])
    >>> index = em.TextIndex.build(vectors, ["a red car", "the bus", "red 42"])
    >>> index.search("car", top=1)[0]["text"], index.search("42", top=1)[0]["text"]
    ('a red car', 'red 42')

    It is a folder, to which changes are written at once: after `add` or `remove` returns, the change survives a
    crash. Vectors of texts have length one.

    Threads may share a TextIndex, and forked processes may go on with it: each search sees one state of the index, that
    of its start, while others add, remove or compact. Other processes may read and write the same folder; `refresh`
    shows their changes. Writers wait for one another. A temporary index ends with the process that built it.

    Arguments:
        path: the folder.
        model: the model that makes vectors of queries, if it is no longer where it was.
        allow_faiss: open an index of FAISS, which can crash or run code: trusted sources only.
        warm: load the model and the vectors now, instead of with the first search.

    Raises:
        FormatError: the folder is not a text index, is damaged, or its model is gone or has changed; or it has an
            index of FAISS, and `allow_faiss` is not set.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        model: "Vectors | Model | str | os.PathLike[str] | None" = None,
        allow_faiss: bool = False,
        warm: bool = False,
    ) -> None:
        self._open(path, model, allow_faiss)
        if warm and self.segments:  # a text that is there, so that its words are looked up too
            self.search(to_list(self.segments[0].rows[TEXT].slice(0, 1)), top=1)

    def _open(self, path: str | os.PathLike[str], model: Any, allow_faiss: bool, known: Sequence[Segment] = ()) -> None:
        """Read the record and the newest state of the folder; `known` are segments that need not be read again."""
        check_local(path, "text index")
        self.path = Path(path)
        self.folder = IndexFolder(self.path)
        self.record = self.folder.record
        self.model = model
        self.kind, settings = parse_spec(self.record["kind"])
        check_consent(self.path, {"kind": self.kind}, allow_faiss)
        self.index_kind: Any = registry.create("index", self.kind, settings)
        with format_errors(self.path / INDEX):
            check_value("dtype", self.record["dtype"], DataType, {})
            self.fusion = self.record.get("fusion", "highest")  # of indexes before there was a choice
            check_value("fusion", self.fusion, Literal["highest", "standardised"], {})
            self.pooling = {name: self.record["pooling"].get(name) for name in POOLING}
            common = self.path / RECIPE / COMMON
            loaded = Vocabulary.load(common) if common.exists() else None
            self.lexicon = Lexicon(**self.record["words"], common=loaded)
            self.lexicon.form.rules  # noqa: B018  # refuses wrong settings
            self.columns = Columns(**self.record.get("columns", {}))
        self.state = self.folder.read(known)

    @classmethod
    def build(
        cls,
        model: "Vectors | Model | str | os.PathLike[str] | None",
        texts: Any,
        path: str | os.PathLike[str] | None = None,
        *,
        text_column: str | None = None,
        id_column: str | None = None,
        vector_column: str | None = None,
        kind: str = "exact",
        dtype: DataType = "float32",
        pool: Pool | None = None,
        constant: Annotated[float, Range(ge=1e-9)] | None = None,
        frequencies: Frequencies | None = None,
        remove_components: Annotated[int, Range(ge=0)] = 0,
        fit_on: Any = None,
        dim: Positive | None = None,
        stemming: str | None = None,
        copy_model: bool = False,
        index_from: Positive = 10_000,
        force: bool = False,
        threads: int | None = None,
        progress: ProgressOption = None,
    ) -> "TextIndex":
        """Build an index of texts.

        Arguments:
            model: Vectors, a Model, or the path of either, which makes vectors of texts and of queries; None for an
                index by words only, or if queries are vectors too.
            texts: as for `embeddings.embed`.
            path: the folder of the index; by default a temporary one, which is removed with the index.
            text_column: the column of tables that holds the texts; by default text, or the only column of strings.
            id_column: the column of tables that holds ids, which must differ; by default id or _id, or else rows are
                numbered.
            vector_column: the column of tables that holds vectors of the texts, from any source.
            kind: how nearest neighbours are found: "exact", "lsh", "faiss:factory=HNSW32", as `embeddings.build_index`.
            dtype: the type of the stored vectors; "int8" takes a quarter of the memory.
            pool, constant, frequencies, remove_components, fit_on, dim: as for `embeddings.embed`.
            stemming: rank by the stems of words in this language, such as "english".
            copy_model: copy the model into the folder, instead of recording its path.
            index_from: a batch of fewer texts than this is searched exactly, whatever the kind.
            force: replace an existing index.
            threads: by default all cores.
            progress: True shows a bar, False none; by default there is one on a terminal and in a notebook.

        Raises:
            SettingError: an argument is out of range, or a vector holds NaN.
            CorpusError: texts cannot be read, or two have the same id.
            OutputError: the folder exists or cannot be written.
        """
        check_value("dtype", dtype, DataType, {})
        check_value("index_from", index_from, Positive, {})
        index_kind, settings = parse_spec(kind)
        registry.create("index", index_kind, settings)
        if index_kind == "lsh" and dtype != "float32":
            raise SettingError(f"{S.dtype} must be float32 for an index of kind lsh, got {dtype}")
        pooling: dict[str, Any] = {
            "pool": pool, "constant": constant, "frequencies": frequencies, "remove_components": remove_components,
            "dim": dim,
        }  # fmt: skip
        source = None if model is None else load_source(model)
        embedder = None if source is None else text_embedder(source, normalize=True, **pooling)
        if embedder is not None:
            pooling["pool"] = embedder.pool
        if embedder is not None and fit_on is not None:
            embedder.fit_first(text_batches_of(fit_on, text_column))
        common = common_words(None if source is None else word_frequencies(source))
        lexicon = Lexicon(word_settings(source), stemming, common)
        lexicon.stem([])  # refuses an unknown language, or a missing library
        columns = Columns(text_column, id_column, vector_column)
        if path is not None:
            check_local(path, "text index")
        temporary = None if path is not None else tempfile.mkdtemp(prefix="embeddings-index-", dir=temporary_root())
        target = Path(str(temporary)) / "index" if path is None else Path(path)
        check_target(target, force=force)
        replaced = exclusive_lock(target) if target.is_dir() else nullcontext()  # writers to the old index finish first
        with replaced, atomic_write(target, force=force, folder=True) as scratch:
            record = {
                "id": secrets.token_hex(8), "dim": 0 if embedder is None else embedder.output_dim, "dtype": dtype,
                "kind": kind, "index_from": index_from, "pooling": pooling,
                "model": write_model(scratch, model, source, copy=copy_model),
                "words": {"settings": dict(lexicon.settings), "stemming": stemming}, "columns": asdict(columns),
                "is_ranked": embedder is not None and is_ranked(embedder), "fusion": "standardised",
            }  # fmt: skip
            writer = SegmentWriter(scratch, record, lexicon, embedder, columns, threads)
            segments = writer.write(texts, progress)
            if not segments:
                raise CorpusError("there are no texts to index")
            if writer.has_ids:  # else rows are numbered
                check_distinct(segments)
            # after the texts, from which the embedder learns frequencies and components
            write_recipe(scratch / RECIPE, embedder, common)
            write_sealed(scratch / INDEX, record)
            IndexFolder(scratch).write_state(State(1, writer.n_written, segments))
        index = cls.__new__(cls)
        index._open(target, source, allow_faiss=True, known=segments)
        if embedder is not None:
            index.embedder = embedder
        if temporary is not None:
            weakref.finalize(index.folder, remove_temporary, temporary, os.getpid())  # copies share it
        return index

    @property
    def segments(self) -> list[Segment]:
        """The segments of the newest state; take them once for what must fit together, as other threads may add."""
        return self.state.segments

    def adopt(self, state: State) -> None:
        """Continue with a state, unless another thread has adopted a newer one."""
        # the folder's lock is released before this: a slower thread may bring an older state
        with ADOPTION:
            if state.number > self.state.number:
                self.state = state

    def __len__(self) -> int:
        return sum(segment.live_count for segment in self.segments)

    def __repr__(self) -> str:
        return f"<TextIndex of {len(self)} texts, {self.record['dim']} components>"

    def describe(self) -> dict[str, Any]:
        """Texts, dimension, pooling, kind of index, type of vectors, segments, removed rows, and bytes on disk."""
        segments = self.segments
        live_count = sum(segment.live_count for segment in segments)
        return {
            "texts": live_count,
            "dim": self.record["dim"],
            "pool": self.record["pooling"].get("pool"),
            "kind": self.record["kind"],
            "dtype": self.record["dtype"],
            "segments": len(segments),
            "removed": sum(map(len, segments)) - live_count,
            "bytes": size_on_disk(self.path),
        }

    @cached_property
    def source(self) -> "Vectors | Model":
        """The vectors or the model that make vectors of queries and new texts.

        Raises:
            FormatError: the index has no model, or the model is gone or has changed.
        """
        reference, source = self.record["model"], self.model
        if source is None:
            location = str(reference.get("path", ""))
            if not location or is_remote(location):
                model = f"its model is {display_name(location)}, which is not read unasked" if location else "no model"
                raise FormatError(f"{self.path}: {model}; set {S.model}, or search by words only")
            path = self.path / MODEL if location == MODEL else Path(location)
            try:
                source = load_source(path)
            except FormatError as error:
                raise FormatError(f"the model of {self.path} cannot be read: {error}; set {S.model}") from None
            if isinstance(source, Vectors):
                source.word_form = source.word_form or WordForm.recorded(reference.get("text"))
        source = load_source(source)
        if (source.vectors if isinstance(source, Model) else source).fingerprint != reference.get("fingerprint"):
            raise FormatError(f"the model of {self.path} has changed: build the index again, or set {S.model}")
        return source

    @cached_property
    def embedder(self) -> TextEmbedder:
        """The embedder that turns new texts into vectors; errors are those of `source`."""
        if (pool := self.pooling["pool"]) not in (None, *get_args(Pool)):
            problem = f"pools texts by {pool!r:.80}, which this version does not support"
            raise FormatError(f"{self.path} {problem}: build the index again, or search by words only")
        embedder = text_embedder(self.source, normalize=True, **self.pooling)
        read_recipe(self.path / RECIPE, embedder, is_expected_ranked=self.record.get("is_ranked") is True)
        return embedder

    def column(self, name: str, *, removed: bool = False) -> list[Any]:
        """A column of the texts in row order, such as "id"; `removed`: include removed texts.

        Raises:
            KeyError: there is no such column.
        """
        return [value for segment in self.segments for value in segment.values(name, removed=removed)]

    def refresh(self) -> None:
        """Continue with the newest state, which other processes may have written."""
        self.adopt(self.folder.read(self.segments))

    def search(
        self,
        queries: str | Sequence[str] | np.ndarray,
        *,
        top: Positive = 10,
        method: Method = "fused",
        where: str | None = None,
        min_cosine: Cosine | None = None,
        lexical_weight: Weight | None = None,
    ) -> SearchHits:
        """Find the texts that answer queries best.

        Arguments:
            queries: a text, a list of texts, or vectors (queries, dim).
            top: number of texts for each query.
            method: rank by "vectors", by words ("lexical", BM25), or by both: the sum of 0.6 times the lexical score
                and 0.4 times the cosine, each minus its mean over all texts and divided by its standard deviation. An
                index of an earlier version divides each by its highest for the query instead.
            where: only rows that fulfil a condition on columns, such as `year >= 2000 and language == "en"`.
            min_cosine: only texts whose cosine with the query is at least this, so that a query without an answer finds
                none; which cosine is high depends on the model.
            lexical_weight: of the lexical score in the sum of both, 0 to 1; by default 0.6.

        Returns:
            A table of id, score, cosine, bm25, text and the other columns; with several queries also the query. A
            method by vectors or words only has None for the other part.

        Raises:
            SettingError: an argument is out of range, or does not fit the index.
            FormatError: the model is gone or has changed.
        """
        check_value("top", top, Positive, {})
        check_value("method", method, Method, {})
        if isinstance(queries, np.ndarray) and queries.dtype.kind in "OUT":
            queries = queries.tolist()
        is_single = isinstance(queries, str)
        texts = None
        if not isinstance(queries, np.ndarray):
            texts = [queries] if isinstance(queries, str) else check_list("queries", queries, ordered=False)
        if texts is not None and not all(isinstance(text, str) for text in texts):
            raise SettingError(f"queries must be texts or an array of vectors, got {queries!r:.80}")
        if method == "fused" and (texts is None or not self.record["model"]):  # without words, or without vectors
            method = "vectors" if texts is None else "lexical"
        if texts is None and method == "lexical":
            raise SettingError(f"{S.method('lexical')} requires queries that are texts")
        self.check_parts(method, min_cosine, lexical_weight)
        vectors = None if method == "lexical" else self.query_vectors(queries, texts)
        hits: list[dict[str, Any]] = []
        ranked, segments = None if method == "vectors" else texts, self.segments
        weight = LEXICAL_WEIGHT if lexical_weight is None else lexical_weight
        for number, best in enumerate(self.rank(segments, ranked, vectors, top, where, min_cosine, weight)):
            query = {} if is_single else {"query": number if texts is None else texts[number]}
            hits += (query | hit(segments, *row) for row in zip(*best, strict=True))
        return SearchHits(hits, columns={ID: "", "score": SCORES[method], **PARTS, TEXT: ""})

    def check_parts(self, method: Method, min_cosine: float | None, lexical_weight: float | None) -> None:
        """Check the settings of a search that require vectors, or vectors and words."""
        check_value("min_cosine", min_cosine, Cosine | None, {})
        check_value("lexical_weight", lexical_weight, Weight | None, {})
        if min_cosine is not None and method == "lexical":
            raise SettingError(f"{S.min_cosine} requires vectors, but this search of {self.path} is by words only")
        if lexical_weight is not None and method != "fused":
            raise SettingError(f"{S.lexical_weight} requires a search by vectors and by words, got {S.method(method)}")

    def marked(self, query: str, text: str) -> list[tuple[str, bool]]:
        """The parts of a text in order, and whether each is a word of the query or has the stem of one."""
        parts, query_words = re.split(r"(\w+)", text), self.lexicon.weights(query)
        words, ids, starts = self.lexicon.encode(parts)
        is_found = [word in query_words for word in self.lexicon.stem(words)]
        return [
            (part, any(is_found[number] for number in ids[start:stop].tolist()))
            for part, (start, stop) in zip(parts, pairwise(starts.tolist()), strict=True)
        ]

    def query_vectors(self, queries: Any, texts: Sequence[str] | None) -> np.ndarray:
        """The unit vectors of queries, (queries, dim) float32."""
        if texts is not None:
            threads = 1 if len(texts) <= FEW_TEXTS else None  # starting threads would take longer
            parts = [rows for _, rows in self.embedder.embed(text_batches_of(list(texts), None), threads)]
            return np.concatenate([np.zeros((0, self.record["dim"]), np.float32), *parts])
        rows = np.atleast_2d(np.asarray(queries, np.float32))
        if rows.ndim != 2 or rows.shape[1] != self.record["dim"] or not np.isfinite(rows).all():
            raise SettingError(f"query vectors must be finite, (queries, {self.record['dim']}), got {rows.shape}")
        return normalize_rows(rows)

    def rank(
        self, segments: list[Segment], texts: Sequence[str] | None, vectors: np.ndarray | None, top: int,
        where: str | None = None, min_cosine: float | None = None, lexical_weight: float = LEXICAL_WEIGHT,
    ) -> Iterator[tuple[list[Any], ...]]:  # fmt: skip
        """For each query the rows of the best texts of segments, best first, their scores, cosines and BM25.

        A tie goes to the earlier row. A text whose cosine is 0, such as a text without a vector, is not found.

        Arguments:
            texts: the queries, if they are ranked by words.
            vectors: the unit vectors of the queries (queries, dim), if they are ranked by vectors.
        """
        if not segments:
            return
        allowed = [
            segment.live if where is None else segment.live & matching_rows(segment.rows, where) for segment in segments
        ]
        stored: Any = self.stored(segments)
        for query, (scores, *parts) in enumerate(self.scores(segments, texts, vectors, top, allowed, lexical_weight)):
            if min_cosine is not None:
                scores = np.where(parts[0] >= min_cosine, scores, -np.inf)
            unit = None if texts is not None or vectors is None else vectors[query].astype(np.float64)
            _, rows = shortlist(scores[None], min(top, len(scores)), 0.0 if unit is None else product_error(unit[None]))
            rows = rows[scores[rows] > -np.inf]
            values = scores[rows] if unit is None else pair_cosines(stored, rows, unit)  # which tells near ties apart
            order = np.argsort(-values, kind="stable")[:top]
            best, values = rows[order], values[order]
            columns = ([None] * len(best) if part is None else part[best].tolist() for part in parts)
            yield best.tolist(), values.tolist(), *columns

    def scores(
        self, segments: list[Segment], texts: Sequence[str] | None, vectors: np.ndarray | None, top: int,
        allowed: list[np.ndarray], lexical_weight: float,
    ) -> Iterator[tuple[Any, Any, Any]]:  # fmt: skip
        """For each query of `rank` the scores of all rows, (rows,) float32; -inf for a row that is not found.

        After them their cosines and their BM25, of which one is None if it is not part of the score.
        """
        n_queries, n_rows = len(texts if vectors is None else vectors), sum(map(len, segments))  # type: ignore[arg-type]
        is_allowed = np.concatenate(allowed)
        stored, live = self.stored(segments), None
        if texts is not None and vectors is not None and self.fusion == "standardised":
            live = np.flatnonzero(np.concatenate([segment.live for segment in segments]))
            sample = stored[live[:: max(1, len(live) // MEAN_SAMPLE)]]
        for start in range(0, n_queries, step := max(1, SCORE_BYTES // (4 * n_rows))):
            cosines = None
            if vectors is not None:
                pairs = zip(segments, allowed, strict=True)
                part = vectors[start : start + step]
                found = [self.cosines(one, part, top, mask) for one, mask in pairs]
                cosines = found[0] if len(found) == 1 else np.concatenate(found, axis=1)
            for query in range(start, min(start + step, n_queries)):
                semantic = None if cosines is None else cosines[query - start]
                if texts is None:
                    semantic = np.asarray(semantic)
                    yield np.where(is_allowed & (semantic != 0), semantic, -np.inf), semantic, None
                    continue
                lexical = np.concatenate(lexical_scores(segments, self.lexicon.weights(texts[query])))
                has_words = is_allowed & (lexical > 0)
                if semantic is None or vectors is None:
                    yield np.where(has_words, lexical, -np.inf), None, lexical
                    continue
                if not (semantic > -np.inf).all():  # else exact search has computed all
                    ranked = np.where(has_words, lexical, -np.inf)
                    add_missing_cosines(stored, semantic, ranked, vectors[query], max(CANDIDATES, top))
                references = None
                if live is not None:
                    of_texts = lexical if len(live) == n_rows else lexical[live]
                    references = of_texts, products(sample, vectors[query : query + 1])[0]
                yield fused(lexical, semantic, is_allowed, lexical_weight, references), semantic, lexical

    def stored(self, segments: list[Segment]) -> JoinedVectors:
        """The vectors of the rows of segments."""
        return JoinedVectors([StoredVectors.of(segment.arrays) for segment in segments], self.record["dim"])

    def cosines(self, segment: Segment, queries: np.ndarray, top: int, allowed: np.ndarray) -> np.ndarray:
        """The cosines (queries, rows) of the rows of a segment; -inf for rows that its index did not find."""
        stored, engine, n_allowed = StoredVectors.of(segment.arrays), self.engine(segment), int(allowed.sum())
        n_wanted = max(CANDIDATES, 4 * top)
        # an index knows no conditions: where they exclude much, its candidates would be mostly excluded ones
        if engine is None or n_allowed < 0.9 * len(segment) or n_wanted >= n_allowed:
            return stored.scores(queries)
        found = engine.search(queries.astype(np.float64), n_wanted, None)
        scores = np.full((len(queries), len(segment)), -np.inf, np.float32)
        owners, columns = np.nonzero(found.ids >= 0)
        scores[owners, found.ids[owners, columns]] = found.similarities[owners, columns]
        if ((scores > -np.inf) & allowed).sum(axis=1).min() < top:
            return stored.scores(queries)
        return scores

    def engine(self, segment: Segment) -> Any:
        """The index of nearest neighbours of a segment; None if it is searched exactly."""
        arrays = {name.removeprefix(ENGINE): array for name, array in segment.arrays.items() if name.startswith(ENGINE)}
        if not arrays:
            return None
        if segment.engine is None:
            stored = StoredVectors.of(segment.arrays)
            units: Any = stored.rows if stored.rows.dtype == np.float32 else stored
            segment.engine = self.index_kind.restore(units, arrays)
        return segment.engine

    def add(
        self,
        texts: Any,
        *,
        replace: bool = False,
        text_column: str | None = None,
        id_column: str | None = None,
        vector_column: str | None = None,
        threads: int | None = None,
        progress: ProgressOption = None,
    ) -> int:
        """Add texts; returns their number. All are added, or none.

        Arguments:
            replace: texts replace those with the same ids.
            text_column: the column of tables that holds the texts; by default that of the build.
            id_column: the column of tables that holds ids; by default that of the build.
            vector_column: the column of tables that holds vectors of the texts; by default that of the build.
            texts, threads, progress: as for `build`.

        Raises:
            CorpusError: texts cannot be read, have other columns than those of the index, two of them have the same
                id, or, without `replace`, an id is in the index.
            SettingError: a vector has another dimension, or holds NaN.
            OutputError: the index cannot be written.
        """
        embedder = self.embedder if self.record["model"] else None
        usual = self.columns
        columns = Columns(text_column or usual.text, id_column or usual.ids, vector_column or usual.vectors)
        new: list[Segment] = []

        def change(state: State) -> State:
            segments, written = state.segments, state.written
            schema = segments[0].rows.schema if segments else None
            writer = SegmentWriter(
                self.path, self.record, self.lexicon, embedder, columns, threads, schema, written,
                is_of_tables=text_column is None,
            )  # fmt: skip
            new.extend(writer.write(texts, progress))
            ids = check_distinct(new)
            replaced = [segment.rows_of(ids) for segment in segments]
            for segment, rows in zip(segments, replaced, strict=True):
                if rows.any() and not replace:
                    name = segment.rows.column(ID)[int(rows.argmax())].as_py()
                    raise CorpusError(
                        f"the id {name!r:.80} is in {self.path}: set {S.replace(True)} to replace its text"
                    )
            merged = self.merged([*map(Segment.without, segments, replaced), *new])
            return replace_fields(state, written=writer.n_written, segments=merged)

        self.adopt(self.folder.change(self.segments, change))
        return sum(map(len, new))

    def remove(self, ids: str | int | Iterable[str | int]) -> int:
        """Remove the texts with these ids, all or none; returns their number.

        Raises:
            SettingError: an id is not in the index.
            OutputError: the index cannot be written.
        """
        items = [ids] if isinstance(ids, str | Integral) else check_list("ids", ids, "ids", ordered=False)
        for one in items:
            if isinstance(one, bool) or not isinstance(one, str | Integral):
                raise SettingError(f"ids must be strings or integers, got {one!r:.80}")
        names = list(dict.fromkeys(map(str, items)))

        def change(state: State) -> State:
            segments = state.segments
            try:
                wanted = to_string_array(names)
            except UnicodeEncodeError as error:  # a lone surrogate, which no id has
                raise SettingError(f"the id {error.object!r:.80} is not in {self.path}") from None
            rows = [segment.rows_of(wanted) for segment in segments]
            if sum(int(one.sum()) for one in rows) < len(names):
                missing = next(
                    name for name in names if not any(one.rows_of(to_string_array([name])).any() for one in segments)
                )
                raise SettingError(f"the id {missing!r:.80} is not in {self.path}")
            return replace_fields(state, segments=self.merged(list(map(Segment.without, segments, rows))))

        self.adopt(self.folder.change(self.segments, change))
        return len(names)

    def compact(self) -> None:
        """Merge all segments into one without removed rows, for the fastest search and the smallest folder."""

        def change(state: State) -> State:
            return replace_fields(state, segments=self.merged(state.segments, everything=True))

        self.adopt(self.folder.change(self.segments, change))

    def merged(self, segments: Sequence[Segment], *, everything: bool = False) -> list[Segment]:
        """Merge neighbours until each segment is more than twice as large as the next, and drop empty ones.

        So n additions of a row write each row about log2(n) times, and leave about as many segments.
        """
        groups: list[list[Segment]] = []
        sizes: list[int] = []
        for segment in segments:
            if segment.live_count:
                groups.append([segment])
                sizes.append(segment.live_count)
            while len(sizes) > 1 and (everything or (sizes[-2] <= 2 * sizes[-1] and sum(sizes[-2:]) <= MERGED_ROWS)):
                last, size = groups.pop(), sizes.pop()
                groups[-1] += last
                sizes[-1] += size
        is_kept = [
            len(group) == 1 and 2 * size > len(group[0]) and not (everything and size < len(group[0]))
            for group, size in zip(groups, sizes, strict=True)
        ]
        try:
            return [group[0] if kept else self.merge(group) for group, kept in zip(groups, is_kept, strict=True)]
        except OutputError:  # a full disk; without merging, rows can still be removed
            if everything:
                raise
            return [segment for group in groups for segment in group]

    def merge(self, segments: Sequence[Segment]) -> Segment:
        """One segment of the rows of several that are not removed."""
        rows = pa.concat_tables([segment.rows.filter(to_arrow(segment.live)) for segment in segments])
        arrays = {
            name: np.concatenate([segment.arrays[name][segment.live] for segment in segments])
            for name in (VECTORS, SCALES)
            if name in segments[0].arrays
        }
        terms, postings = merge_postings(segments)
        arrays |= engine_arrays(self.record, arrays) | postings
        return write_segment(self.path, rows, terms, arrays)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Copy the newest state of the index to another folder.

        Raises:
            OutputError: the path exists, unless `force` and it is a text index, or cannot be written.
        """
        check_target(Path(path), force=force)
        with atomic_write(path, force=force, folder=True) as scratch:
            with exclusive_lock(self.path):
                shutil.copytree(self.path, scratch, symlinks=True, dirs_exist_ok=True)
            copied = IndexFolder(Path(scratch))
            copied.remove_unused(copied.last_number())


def add_missing_cosines(
    stored: JoinedVectors, cosines: np.ndarray, lexical: np.ndarray, query: np.ndarray, number: int
) -> None:
    """Fill in the missing cosines of the rows with the best lexical scores."""
    best = np.argpartition(lexical, -min(number, len(lexical)))[-number:]
    rows = best[(lexical[best] > -np.inf) & (cosines[best] == -np.inf)]
    cosines[rows] = stored[rows] @ query


def hit(segments: list[Segment], row: int, score: float, cosine: float | None, bm25: float | None) -> dict[str, Any]:
    """The record of a row, numbered across segments."""
    for segment in segments:
        if row < len(segment):
            break
        row -= len(segment)
    rows = segment.rows.slice(row, 1)
    record = {name: to_list(rows.column(name))[0] for name in rows.column_names}
    # Columns of these names, which older versions could store, would not be what is ranked and filtered by.
    record = {name: value for name, value in record.items() if name not in PARTS}
    return {ID: record.pop(ID), "score": score, "cosine": cosine, "bm25": bm25, **record}


def fused(
    lexical: np.ndarray, cosines: np.ndarray, is_allowed: np.ndarray, lexical_weight: float,
    references: tuple[np.ndarray, np.ndarray] | None,
) -> np.ndarray:  # fmt: skip
    """The weighted sum of lexical scores and cosines, (rows,); -inf where there is no cosine, or neither is positive.

    Arguments:
        references: scores and cosines whose means and standard deviations are those of all texts; None divides each
            part by its highest instead.
    """
    found = is_allowed & (cosines > -np.inf)
    total = np.zeros(len(lexical), np.float32)
    for number, (scores, weight) in enumerate(((lexical, lexical_weight), (cosines, 1 - lexical_weight))):
        if references is None:
            mean, scale = 0.0, float(scores.max(initial=0, where=found))
        else:
            mean, scale = (float(function(references[number], dtype=np.float64)) for function in (np.mean, np.std))
            scale = scale if scale > ROUNDING else 0.0
        if scale > 0 and weight > 0:  # 0 times -inf would be NaN
            total += np.float32(weight / scale) * (scores - np.float32(mean))
    is_answer = total > 0 if references is None else (lexical > 0) | (cosines > 0)
    return np.where(found & is_answer, total, -np.inf)


def remove_temporary(folder: str, process: int) -> None:
    """Remove a folder, unless this is a fork of the process that made it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def word_settings(source: "Vectors | Model | None") -> dict[str, Any]:
    """How texts become words that are ranked: as for the model, if its tokenizer is installed, in lower case."""
    settings = {**DEFAULT_TEXT, **({} if source is None else text_settings(source)), "case": "lower"}
    settings = {name: value for name, value in settings.items() if name in WORD_SETTINGS}
    try:
        return WordRules(**settings).settings
    except (RegistryError, SettingError):
        return WordRules("words", "lower").settings


def write_model(folder: Path, model: Any, source: "Vectors | Model | None", *, copy: bool) -> dict[str, Any]:
    """Record the path of a model, or write it to an index if it has none; returns the reference to it."""
    if source is None:
        return {}
    vectors = source.vectors if isinstance(source, Model) else source
    if isinstance(model, str | os.PathLike) and not copy:
        return {"path": str(model) if is_remote(model) else os.path.abspath(model), "fingerprint": vectors.fingerprint}
    if isinstance(source, Model):
        source.save(folder / MODEL)
    else:  # a tokenizer.json is kept; other formats require no further library
        source.save(folder / MODEL, "arrow" if source.tokenizer_file is None else "model2vec")
    return {"path": MODEL, "fingerprint": vectors.fingerprint, "text": getattr(vectors.word_form, "settings", None)}


def write_recipe(folder: Path, embedder: TextEmbedder | None, common: Vocabulary | None) -> None:
    """Write what an embedder has learned from texts, and the common words of its model."""
    folder.mkdir()
    if common is not None:
        common.save(folder / COMMON)
    learned = {} if embedder is None or embedder.components is None else {COMPONENTS: embedder.components}
    frequencies = None if embedder is None else embedder.text_frequencies
    if frequencies is not None:
        learned["texts"] = np.array([frequencies.texts], np.int64)
        frequencies.words.save(folder / "words.arrow")
        frequencies.texts_of_words.save(folder / "texts_of_words.arrow")
    tensors.save(learned, folder / TENSORS)


def is_ranked(embedder: TextEmbedder) -> bool:
    """Whether the frequencies of words follow from their rank, as the vectors have no counts."""
    return embedder.vocabulary is not None and embedder.vocabulary is vars(embedder.vectors).get("frequencies_by_rank")


def read_recipe(folder: Path, embedder: TextEmbedder, *, is_expected_ranked: bool) -> None:
    """Restore into an embedder what `write_recipe` wrote; raises FormatError if it is missing or does not fit."""
    with format_errors(folder):
        learned = tensors.load(folder / TENSORS)
        if "texts" in learned:
            words, texts = (Vocabulary.load(folder / name) for name in ("words.arrow", "texts_of_words.arrow"))
            embedder.vocabulary = None  # they were used when the index was built, whatever the vectors tell now
            embedder.weigh_by(TextFrequencies(words, texts, int(learned["texts"][0])))
        elif embedder.pool == "sif" and is_ranked(embedder) != is_expected_ranked:
            had, has = ("no ", "some") if is_expected_ranked else ("", "none")
            raise FormatError(f"{folder.parent} was built of vectors with {had}counts of words, and these have {has}")
        components = embedder.components = learned.get(COMPONENTS)
        fits = components is None or components.shape == (len(components), embedder.output_dim)
        if embedder.requires_fit or not fits:
            raise FormatError(f"{folder} is broken: what was learned from the texts is missing or does not fit")
