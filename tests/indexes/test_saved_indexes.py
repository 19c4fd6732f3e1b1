"""Saved indexes: equal when loaded, refused when broken, never a crash."""

import json
import shutil

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import EmbeddingsError, FormatError, OutputError, RegistryError, SettingError
from embeddings.indexes import index_of
from embeddings.indexes.index_files import RECORD, TENSORS, checksum
from embeddings.support import tensors
from embeddings.vectors.vectors import Vectors

KINDS = {
    "exact": ("exact", {}),
    "hamming": ("lsh", {"bits": 70}),
    "tables": ("lsh", {"mode": "tables", "bits": 4, "tables": 2}),
    "faiss": ("faiss", {"factory": "HNSW8"}),
}


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(9)
    return Vectors([f"w{i}" for i in range(200)], rng.standard_normal((200, 16)))


@pytest.fixture(scope="module")
def saved(vectors, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    for name, (kind, settings) in KINDS.items():
        em.build_index(vectors, kind, **settings).save(folder / name)
    return folder


@pytest.fixture
def copy(saved, tmp_path):
    """A copy of a saved index that may be spoilt."""

    def of(name):
        return shutil.copytree(saved / name, tmp_path / name)

    return of


def rewrite(folder, change):
    """Change the record."""
    record = json.loads((folder / RECORD).read_text())
    change(record)
    (folder / RECORD).write_text(json.dumps(record))


def replace(folder, **arrays):
    """Change arrays, and the checksum so that only their own checks can tell."""
    held = {name: np.array(array) for name, array in tensors.load(folder / TENSORS).items()}
    (folder / TENSORS).unlink()
    tensors.save({name: array for name, array in (held | arrays).items() if array is not None}, folder / TENSORS)
    rewrite(folder, lambda record: record.update(checksum=checksum(folder / TENSORS)))


@pytest.mark.parametrize("name", KINDS)
def test_round_trip(vectors, saved, name):
    index = em.load_index(saved / name, vectors)
    kind, settings = KINDS[name]
    fresh = em.build_index(vectors, kind, **settings)
    assert index.settings == fresh.settings
    for mine, theirs in zip(index.search(vectors.matrix), fresh.search(vectors.matrix), strict=True):
        assert np.array_equal(mine, theirs)
    assert vectors.most_similar("w3", index=saved / name) == vectors.most_similar("w3", index=fresh)
    assert vectors.most_similar("w3", index=str(saved / name)) == vectors.most_similar("w3", index=fresh)
    assert not [path for path in (saved / name).iterdir() if path.suffix in (".pkl", ".pickle")]


def test_loading_is_no_building(vectors, copy):
    folder = copy("hamming")
    rewrite(folder, lambda record: record.update(build_seconds=123.5))
    assert em.load_index(folder, vectors).facts()["build_seconds"] == 123.5


def test_settings_of_the_search_follow_a_path(vectors, saved):
    index = index_of(f"{saved / 'hamming'}:rerank=150", vectors)
    assert index.settings == em.load_index(saved / "hamming", vectors).settings | {"rerank": 150}
    assert index.search(vectors.matrix[:3]).looked.min() >= 150
    fresh = em.build_index(vectors, "lsh", mode="tables", bits=4, tables=2, probes=1)
    found = vectors.most_similar("w3", index=f"{saved / 'tables'}:probes=1")
    assert found == vectors.most_similar("w3", index=fresh)


@pytest.mark.parametrize(
    ("name", "rest", "kind", "message"),
    [
        (
            "hamming",
            "bits=80",
            SettingError,
            "hamming:bits=80: bits would need a new index; .* only probes, rerank can",
        ),
        ("exact", "bits=80", SettingError, "exact has no setting 'bits'"),
        ("hamming", "rerank=many", SettingError, "rerank must be a whole number, not 'many'"),
        ("hamming", "500", SettingError, "hamming:500' must be .*hamming:name=value"),
        ("faiss", "factory=Flat", SettingError, "factory would need a new index; .* only ef_search, nprobe, rerank"),
        ("nothing", "rerank=3", RegistryError, "no index called"),
    ],
)
def test_other_settings_do_not(vectors, saved, name, rest, kind, message):
    with pytest.raises(kind, match=message):
        index_of(f"{saved / name}:{rest}", vectors)


def test_other_vectors_are_refused(vectors, saved):
    for other in (vectors.subset(100), Vectors(vectors.words, vectors.matrix * 2)):
        with pytest.raises(SettingError, match="was built from other vectors, 200 of 16 components: build it anew"):
            em.load_index(saved / "hamming", other)


def test_nothing_is_overwritten(vectors, saved, tmp_path):
    index = em.build_index(vectors, "exact")
    with pytest.raises(OutputError, match="exists; choose another name"):
        index.save(saved / "exact")
    index.save(saved / "exact", force=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "file").write_text("dear")
    for name in ("mine", "file"):
        with pytest.raises(OutputError, match="is not a saved index, and is not replaced"):
            index.save(tmp_path / name, force=True)
    assert (tmp_path / "file").read_text() == "dear"


RECORDS = [
    (lambda record: record.update(format_version=2), FormatError, "of format version 2; this package reads 1"),
    (lambda record: record.pop("format_version"), FormatError, "names no format_version"),
    (lambda record: record.pop("checksum"), FormatError, "'checksum' is missing or not a str"),
    (lambda record: record.update(rows="200"), FormatError, "'rows' is missing or not a int"),
    (lambda record: record.update(rows=10**18), SettingError, "was built from other vectors"),
    (lambda record: record.update(kind="nope"), RegistryError, "no index called 'nope'"),
    (lambda record: record.update(kind="exact"), FormatError, "exact has no setting"),
    (lambda record: record["settings"].update(bits=10**9), FormatError, "bits must be at least 1"),
    (
        lambda record: record["settings"].update(bits=71),
        FormatError,
        r"normals is float32 \(70, 16\), not float32 \(71",
    ),
    (lambda record: record["settings"].update(mode="tables", bits=24), FormatError, "normals is"),
]


@pytest.mark.parametrize(("change", "kind", "message"), RECORDS)
def test_broken_records(vectors, copy, change, kind, message):
    folder = copy("hamming")
    rewrite(folder, change)
    with pytest.raises(kind, match=message) as error:
        em.load_index(folder, vectors)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "\udcff", "[" * 100_000])
def test_records_that_are_none(vectors, copy, text):
    folder = copy("exact")
    (folder / RECORD).write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(FormatError, match=r"index\.json is broken"):
        em.load_index(folder, vectors)


@pytest.mark.parametrize("name", KINDS)
def test_changed_or_missing_tensors(vectors, copy, name):
    folder = copy(name)
    whole = (folder / TENSORS).read_bytes()
    for bad in (whole[:-1], whole[: len(whole) // 2], b"", whole + b"x", whole[:-3] + b"\0\1\2"):
        (folder / TENSORS).write_bytes(bad)
        with pytest.raises(FormatError, match="is truncated or changed: its checksum is not that of"):
            em.load_index(folder, vectors)
    (folder / TENSORS).unlink()
    with pytest.raises(FormatError, match="cannot be read: No such file"):
        em.load_index(folder, vectors)


ARRAYS = [
    ("hamming", {"signatures": None}, "signatures is missing"),
    ("hamming", {"signatures": np.zeros((2, 199), np.uint64)}, r"signatures is uint64 \(2, 199\)"),
    ("hamming", {"signatures": np.zeros((2, 200), np.int64)}, r"signatures is int64"),
    ("hamming", {"normals": np.full((70, 16), np.nan, np.float32)}, "hyperplanes hold NaN"),
    ("tables", {"members": np.full((2, 200), 200, np.int32)}, "its buckets do not fit"),
    ("tables", {"members": np.full((2, 200), -1, np.int32)}, "its buckets do not fit"),
    ("tables", {"starts": np.zeros((2, 17), np.int32)}, "its buckets do not fit"),
    ("tables", {"starts": np.arange(34, dtype=np.int32)[::-1].reshape(2, 17) * 6}, "its buckets do not fit"),
    ("tables", {"starts": np.full((2, 17), 200, np.int32)}, "its buckets do not fit"),
    ("faiss", {"faiss": None}, "it holds no index of FAISS"),
    ("faiss", {"faiss": np.zeros(40, np.uint8)}, "FAISS does not read it"),
    ("faiss", {"faiss": np.zeros(0, np.uint8)}, "FAISS does not read it"),
]


@pytest.mark.parametrize(("name", "arrays", "message"), ARRAYS)
def test_arrays_that_do_not_fit(vectors, copy, name, arrays, message):
    folder = copy(name)
    replace(folder, **arrays)
    with pytest.raises(FormatError, match=message):
        em.load_index(folder, vectors)


def test_an_index_of_faiss_over_other_rows(vectors, copy):
    import faiss

    folder = copy("faiss")
    flat = faiss.IndexFlatIP(16)
    flat.add(np.ones((100, 16), np.float32))
    replace(folder, faiss=faiss.serialize_index(flat))
    with pytest.raises(FormatError, match=r"it holds 100 rows of 16 components, not \(200, 16\)"):
        em.load_index(folder, vectors)


def test_what_is_no_index(vectors, tmp_path):
    with pytest.raises(FormatError, match="does not exist"):
        em.load_index(tmp_path / "nowhere", vectors)
    with pytest.raises(FormatError, match="is no saved index"):
        em.load_index(tmp_path, vectors)
    with pytest.raises(EmbeddingsError):
        vectors.most_similar("w1", index=tmp_path)
