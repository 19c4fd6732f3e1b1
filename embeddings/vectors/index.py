"""An index of vectors: build, search, save, load; and indexes specified by a string.

A specification is `lsh`, `lsh:bits=512,rerank=100`, `faiss:factory=IVF256,Flat,nprobe=8`, or a path. Search settings,
which need no rebuild, may follow a path: `vectors.lsh:rerank=500`.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from embeddings import registry
from embeddings.errors import FormatError, S, SettingError
from embeddings.indexes.cosine_search import check_search
from embeddings.indexes.protocol import Engine, Kind, SearchMethod, SearchResult
from embeddings.settings import check_value, field_types, split_optional
from embeddings.support.cosine import normalize
from embeddings.support.foreign_files import format_errors
from embeddings.support.local_paths import local_path
from embeddings.support.progress_display import ProgressOption, waiting
from embeddings.support.records import RecordFolder
from embeddings.vectors.word_vectors import HasVectors, WordVectors

HUB_CANDIDATES = 100  # rows that are scored again
HUB_NEIGHBOURS = 10  # whose cosines decide whether a row is a hub
RECORD, TENSORS = "index.json", "tensors.safetensors"
INDEX_FOLDER = RecordFolder("index", RECORD, TENSORS, {
    "kind": str, "settings": dict, "rows": int, "dim": int, "build_seconds": float, "vectors": str, "checksum": str,
})  # fmt: skip


@dataclass(eq=False, repr=False)
class Index:
    """Finds the rows of `vectors` nearest to queries by cosine; `build_index` and `load_index` make one.

    Arguments:
        name: the name of its kind, such as "lsh".
        kind: the kind with its settings.
        vectors: the vectors it was built from.
        engine: the search engine that the kind built.
        seconds: the time that building took.
    """

    name: str
    kind: Kind
    vectors: WordVectors
    engine: Engine
    seconds: float

    def __repr__(self) -> str:
        return f"<Index {self.name}: {len(self.vectors)} rows, {self.vectors.dim} components>"

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting of its kind."""
        return asdict(self.kind)  # type: ignore[call-overload,no-any-return]  # a dataclass, as kinds are

    @cached_property
    def bytes(self) -> int:
        """Memory that it takes in addition to the rows themselves."""
        return sum(array.nbytes for array in self.engine.arrays().values())

    def describe(self) -> dict[str, Any]:
        """Kind, settings, rows, components, bytes and seconds of building."""
        return {
            "kind": self.name,
            "settings": self.settings,
            "rows": len(self.vectors),
            "dim": self.vectors.dim,
            "bytes": self.bytes,
            "build_seconds": self.seconds,
        }

    def search(
        self, queries: np.ndarray, *, top: int = 10, restrict: int | None = None, method: SearchMethod = "cosine",
        others: "Index | None" = None,
    ) -> SearchResult:  # fmt: skip
        """The `top` rows nearest to each of `queries` (queries, dim), or all rows if there are fewer.

        Arguments:
            restrict: only this many first rows are candidates; None for all.
            method: the score. "csls", cross-domain similarity local scaling (Conneau et al., 2018, equation 3), lowers
                the score of hubs, rows that are near to many. It scores again the rows nearest by cosine, ten times
                `top` and at least 100.
            others: with csls, the index of the space of the queries, whose rows decide which rows are hubs; by default
                this index.

        Raises:
            SettingError: `top` or `restrict` is below 1, queries have the wrong shape or hold NaN or infinity, or this
                kind of index cannot restrict candidates.
        """
        check_search(top, restrict)
        check_value("method", method, SearchMethod, {})
        if method != "cosine":
            return self.search_without_hubs(queries, top, restrict, others)
        rows = np.ascontiguousarray(queries, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.vectors.dim:
            raise SettingError(f"{S.queries} must be (queries, {self.vectors.dim}), got {rows.shape}")
        if not np.isfinite(rows).all():
            raise SettingError("a query vector holds NaN or infinity")
        candidates = min(len(self.vectors), restrict or len(self.vectors))
        top = min(top, candidates)
        if not top or not len(rows):
            shape = (len(rows), top)
            return SearchResult(np.empty(shape, np.int64), np.empty(shape))
        return self.engine.search(normalize(rows), top, restrict if candidates < len(self.vectors) else None)

    def search_without_hubs(
        self, queries: np.ndarray, top: int, restrict: int | None, others: "Index | None"
    ) -> SearchResult:
        """Score the rows nearest by cosine again, minus the mean of their own highest cosines."""
        found = self.search(queries, top=max(HUB_CANDIDATES, 10 * top), restrict=restrict)
        own = others is None  # the nearest to a row of its own index is the row itself
        if own and len(self.vectors) < 2:
            return found  # a single row is no hub, and a mean over no neighbours would be NaN
        # Queries share hubs, so the neighbours of each row are searched once. Missing rows, -1, get a score of -inf
        # below.
        rows, positions = np.unique(np.maximum(found.ids, 0), return_inverse=True)
        nearest = (others or self).search(self.vectors.unit_rows[rows], top=HUB_NEIGHBOURS + own).similarities[:, own:]
        nearest = np.where(np.isfinite(nearest), nearest, 0)
        of_query = found.similarities[:, : HUB_NEIGHBOURS + own][:, own:].mean(axis=1, keepdims=True)
        scores = 2 * found.similarities - nearest.mean(axis=1)[positions].reshape(found.ids.shape) - of_query
        scores = np.where(found.ids < 0, -np.inf, scores)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :top]
        ids, values = (np.take_along_axis(one, order, axis=1) for one in (found.ids, scores))
        return SearchResult(ids, values)

    def check_vectors(self, vectors: WordVectors) -> None:
        """Check that the index was built from `vectors`.

        Raises:
            SettingError: they differ in any number.
        """
        if vectors is not self.vectors and vectors.fingerprint != self.vectors.fingerprint:
            raise SettingError(f"the index was built from other vectors: {self!r} does not fit {vectors!r}")

    def with_search(self, name: str, settings: Mapping[str, Any]) -> "Index | None":
        """A copy of the index with other search settings; None if the name or a build setting differs.

        A setting that returns to None also requires a rebuild: the engine may hold the previous value.

        Raises:
            SettingError: as `build_index`.
        """
        if name != self.name:
            return None
        kind: Kind = registry.create("index", name, settings)
        new_settings = asdict(kind)  # type: ignore[call-overload]
        differences = {key for key, value in self.settings.items() if new_settings[key] != value}
        if not differences <= search_settings(kind) or any(new_settings[key] is None for key in differences):
            return None
        engine = kind.restore(self.vectors.unit_rows, self.engine.arrays())
        return Index(name, kind, self.vectors, engine, self.seconds)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Save to a folder of index.json and tensors.safetensors, atomically; of the vectors, only the fingerprint.

        Raises:
            OutputError: the path exists (`force` replaces only a saved index), or cannot be written.
        """
        description = {**self.describe(), "vectors": self.vectors.fingerprint}
        INDEX_FOLDER.write(path, description, self.engine.arrays(), force=force)


def vectors_of(source: Any) -> WordVectors:
    """`source` if it is vectors, or the vectors of a model."""
    vectors: WordVectors = getattr(source, "vectors", source)
    return vectors


def search_settings(kind: Any) -> frozenset[str]:
    """The settings of a kind that only searches use."""
    return getattr(kind, "SEARCH_SETTINGS", frozenset())


def build_index(
    vectors: WordVectors | HasVectors, kind: str = "lsh", *, progress: ProgressOption = None, **settings: Any
) -> Index:
    """Build an index of an installed kind: `exact`, `lsh`, `faiss`, or one of another package.

    >>> import numpy as np, embeddings as em
    >>> vectors = em.Vectors(["a", "b", "c"], np.array([[1, 0], [1, 0.1], [0, 1]]))
    >>> index = em.build_index(vectors, "lsh", bits=16)
    >>> vectors.most_similar("a", top=1, index=index)[0][0]
    'b'

    Arguments:
        vectors: Vectors, or a Model.
        kind: its name, or a spec such as "lsh:bits=64".
        progress: True shows for how many seconds the build has been running, False nothing; by default as with True
            on a terminal and in a notebook.
        settings: of the kind.

    Raises:
        RegistryError: the kind is not installed.
        SettingError: the kind has no such setting, a value is out of range or does not suit the vectors, or a vector
            holds NaN.
    """
    rows, (name, given) = vectors_of(vectors), parse_spec(kind)
    with waiting(progress, f"indexing {len(rows):,} rows"):
        return build(rows, name, given | settings)


def build(vectors: WordVectors, name: str, settings: Mapping[str, Any]) -> Index:
    """`build_index` with the settings as a mapping, so that they can have any name."""
    kind: Kind = registry.create("index", name, settings)
    units = vectors.unit_rows
    start = perf_counter()
    engine = kind.build(units)
    return Index(name, kind, vectors, engine, perf_counter() - start)


def load_index(path: str | os.PathLike[str], vectors: WordVectors | HasVectors, *, allow_faiss: bool = False) -> Index:
    """Load a saved index of vectors, with the Vectors or the Model that it was built from.

    Arguments:
        allow_faiss: load a saved index of FAISS, which can crash or run code: trusted sources only.

    Raises:
        SettingError: the index was built from other vectors.
        RegistryError: its kind is not installed.
        FormatError: a file is missing, truncated, changed, of an unknown version, or inconsistent; or it holds an index
            of FAISS, and `allow_faiss` is not set.
    """
    rows, folder = vectors_of(vectors), local_path(path)
    record = INDEX_FOLDER.read(folder)
    # Before any array is read, since FAISS itself would read them.
    check_consent(folder, record, allow_faiss)
    shape = (record["rows"], record["dim"])
    if shape != (len(rows), rows.dim) or record["vectors"] != rows.fingerprint:
        raise SettingError(
            f"{folder} was built from other vectors, {shape[0]} of {shape[1]} components: build the index again"
        )
    arrays, kind = INDEX_FOLDER.read_tensors(folder, record), saved_kind(folder, record)
    with format_errors(folder):
        engine = kind.restore(rows.unit_rows, arrays)
    return Index(record["kind"], kind, rows, engine, record["build_seconds"])


def check_consent(folder: Path, record: Mapping[str, Any], allow_faiss: bool) -> None:
    """Refuse an index of FAISS unless the caller allows it."""
    if record["kind"] == "faiss" and not allow_faiss:
        raise FormatError(
            f"{folder} is an index of FAISS, which can crash or run code if its file is malicious; if you trust its "
            f"source, load it with {S.allow_faiss(True)}"
        )


def saved_kind(folder: Path, record: dict[str, Any]) -> Any:
    """The kind of a saved index with its settings."""
    with format_errors(folder / RECORD):
        return registry.create("index", record["kind"], record["settings"])


BOOLEANS = {"true": True, "false": False}


def as_index(
    spec: "Index | str | os.PathLike[str] | None", vectors: WordVectors, *, allow_faiss: bool = False
) -> Index:
    """The index itself, one loaded from a path, or one built now from `KIND` or `KIND:name=value,name=value`.

    An existing path takes precedence over a kind. None is exact search. `allow_faiss` is that of `load_index`.
    """
    if spec is None:
        from embeddings.indexes.exact import Exact  # imports numba; the registry would take milliseconds

        exact = Exact()
        return Index("exact", exact, vectors, exact.build(vectors.unit_rows), 0.0)
    if isinstance(spec, Index):
        spec.check_vectors(vectors)
        return spec
    path, rest = split_path(spec)
    if path is None:
        kind, settings = parse_spec(str(spec))
        return build(vectors, kind, settings)
    index = load_index(path, vectors, allow_faiss=allow_faiss)
    if not rest:
        return index
    kind, settings = parse_spec(f"{index.name}:{rest}", label=str(spec))
    variant = index.with_search(kind, {**index.settings, **settings})
    if variant is None:
        names = ", ".join(sorted(search_settings(index.kind))) or "none"
        raise SettingError(f"{spec}: changing {', '.join(settings)} requires a new index; search settings: {names}")
    return variant


def split_path(spec: "str | os.PathLike[str]") -> tuple[Path | None, str]:
    """The path that a spec names, None if it names a kind, and the rest of the spec."""
    if isinstance(spec, os.PathLike) or (spec and Path(spec).exists()):
        return Path(spec), ""
    path, colon, rest = spec.rpartition(":")
    return (Path(path), rest) if colon and (Path(path) / RECORD).is_file() else (None, spec)


def check_spec(spec: str) -> None:
    """Refuse a spec that cannot name an index, before any vectors are loaded."""
    path, rest = split_path(spec)
    if path is None:
        registry.create("index", *parse_spec(spec))
    else:
        record = INDEX_FOLDER.read(path)
        check_consent(path, record, allow_faiss=False)
        _, settings = parse_spec(f"{record['kind']}:{rest}" if rest else record["kind"], label=spec)
        saved_kind(path, record)
        registry.create("index", record["kind"], {**record["settings"], **settings})


def parse_spec(text: str, label: str | None = None, group: str = "index") -> tuple[str, dict[str, Any]]:
    """The kind and settings of a spec, which errors quote as `label`.

    Text after a comma without `=` continues the previous value, as in `faiss:factory=IVF256,Flat`.
    """
    name, _, rest = text.partition(":")
    label = label or text
    types = field_types(registry.load(group, name))
    settings: dict[str, str] = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        if equals and key in settings:
            raise SettingError(f"{label!r} sets {key} twice")
        if equals:
            settings[key] = value
        # Factory strings of FAISS contain commas.
        elif settings:
            settings[next(reversed(settings))] += f",{part}"
        else:
            raise SettingError(f"{label!r} must be {label.partition(':')[0]}:name=value,name=value")
    return name, {key: convert_value(value, types.get(key)) for key, value in settings.items()}


def convert_value(text: str, hint: Any) -> Any:
    """Text converted to the type of a field; unchanged if that fails, so that the field refuses it."""
    value_type, is_optional = split_optional(hint)
    if is_optional and text == "none":
        return None
    if value_type is bool:
        return BOOLEANS.get(text, text)
    if value_type not in (int, float):
        return text
    with suppress(ValueError):
        return value_type(text)
    return text
