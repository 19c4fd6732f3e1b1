"""Saved indexes: equal when loaded, refused when broken, never a crash."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import EmbeddingsError, FormatError, OutputError, RegistryError, SettingError
from embeddings.support import tensors
from embeddings.support.records import checksum
from embeddings.vectors.index import RECORD, TENSORS, as_index, check_spec
from embeddings.vectors.vectors import Vectors

SAVED = Path(__file__).parents[1] / "data" / "saved"
KINDS = {
    "exact": ("exact", {}),
    "hamming": ("lsh", {"bits": 70}),
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
    """A writable copy of a saved index."""

    def of(name):
        return shutil.copytree(saved / name, tmp_path / name)

    return of


def rewrite(folder, change):
    """Change the record."""
    record = json.loads((folder / RECORD).read_text())
    change(record)
    (folder / RECORD).write_text(json.dumps(record))


def replace(folder, **arrays):
    """Change arrays, and the checksum so that only their own checks can fail."""
    current = {name: np.array(array) for name, array in tensors.load(folder / TENSORS).items()}
    (folder / TENSORS).unlink()
    tensors.save({name: array for name, array in (current | arrays).items() if array is not None}, folder / TENSORS)
    rewrite(folder, lambda record: record.update(checksum=checksum(folder / TENSORS)))


@pytest.mark.parametrize("name", KINDS)
def test_round_trip(vectors, tmp_path, name):
    kind, settings = KINDS[name]
    fresh = em.build_index(vectors, kind, **settings)  # by several threads, so that another one may differ
    fresh.save(tmp_path / name)
    index = em.load_index(tmp_path / name, vectors, allow_faiss=True)
    assert index.settings == fresh.settings
    for mine, theirs in zip(index.search(vectors.matrix), fresh.search(vectors.matrix), strict=True):
        assert np.array_equal(mine, theirs)
    assert vectors.most_similar("w3", index=index) == vectors.most_similar("w3", index=fresh)
    if name != "faiss":
        assert vectors.most_similar("w3", index=tmp_path / name) == vectors.most_similar("w3", index=fresh)
        assert vectors.most_similar("w3", index=str(tmp_path / name)) == vectors.most_similar("w3", index=fresh)
    assert not [path for path in (tmp_path / name).iterdir() if path.suffix in (".pkl", ".pickle")]


def test_search_settings_may_follow_a_path(vectors, saved):
    index = as_index(f"{saved / 'hamming'}:rerank=150", vectors)
    assert index.settings == em.load_index(saved / "hamming", vectors).settings | {"rerank": 150}


@pytest.mark.parametrize(
    ("name", "rest", "error", "message"),
    [
        ("hamming", "bits=80", SettingError, "hamming:bits=80.*new index.*rerank"),
        ("exact", "bits=80", SettingError, "'bits'"),
        ("hamming", "rerank=many", SettingError, "rerank.*'many'"),
        ("hamming", "500", SettingError, "hamming:500'.*hamming:name=value"),
        ("faiss", "factory=Flat", SettingError, "factory.*new index.*ef_search, nprobe, rerank"),
        ("nothing", "rerank=3", RegistryError, "nothing"),
    ],
)
def test_other_settings_may_not_follow_a_path(vectors, saved, name, rest, error, message):
    with pytest.raises(error, match=message):
        as_index(f"{saved / name}:{rest}", vectors, allow_faiss=True)


@pytest.mark.parametrize("kind", ["exact", "lsh", "faiss"])
def test_saved_indexes_load(kind):
    vectors = em.load(SAVED / "skipgram")
    index = em.load_index(SAVED / f"index-{kind}", vectors, allow_faiss=True)
    fresh = em.build_index(vectors, kind, **index.settings)
    assert index.search(vectors.matrix).ids.tolist() == fresh.search(vectors.matrix).ids.tolist()
    if kind != "faiss":
        check_spec(str(SAVED / f"index-{kind}"))


def test_other_vectors_are_refused(vectors, saved):
    for other in (vectors.subset(100), Vectors(vectors.words, vectors.matrix * 2)):
        with pytest.raises(SettingError, match=r"hamming.*other vectors.*200.*16"):
            em.load_index(saved / "hamming", other)


def test_only_saved_indexes_are_replaced(vectors, saved, tmp_path):
    index = em.build_index(vectors, "exact")
    with pytest.raises(OutputError, match="exists"):
        index.save(saved / "exact")
    index.save(saved / "exact", force=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "dear").write_text("dear")
    (tmp_path / "file").write_text("dear")
    index.save(tmp_path / "mixed")
    (tmp_path / "mixed" / "dear").write_text("dear")
    for name in ("mine", "file", "mixed"):
        with pytest.raises(OutputError, match=name):
            index.save(tmp_path / name, force=True)
    for name in ("mine/dear", "file", "mixed/dear"):
        assert (tmp_path / name).read_text() == "dear"


BROKEN_RECORDS = [
    (lambda record: record.update(format_version=2), FormatError, "version 2.* 1"),
    (lambda record: record.pop("format_version"), FormatError, "format version"),
    (lambda record: record.pop("checksum"), FormatError, "'checksum'"),
    (lambda record: record.update(rows="200"), FormatError, "'rows'"),
    (lambda record: record.update(rows=10**18), SettingError, "other vectors"),
    (lambda record: record.update(kind="nope"), RegistryError, "'nope'"),
    (lambda record: record.update(kind="exact"), FormatError, "exact"),
    (lambda record: record["settings"].update(bits=10**9), FormatError, "bits"),
    (lambda record: record["settings"].update(bits=71), FormatError, r"normals.*\(71, 16\).*\(70, 16\)"),
]


@pytest.mark.parametrize(("change", "error", "message"), BROKEN_RECORDS)
def test_broken_records(vectors, copy, change, error, message):
    folder = copy("hamming")
    rewrite(folder, change)
    with pytest.raises(error, match=message) as error_info:
        em.load_index(folder, vectors)
    assert "\n" not in str(error_info.value)


@pytest.mark.parametrize("name", KINDS)
def test_changed_or_missing_tensors(vectors, copy, name):
    folder = copy(name)
    whole = (folder / TENSORS).read_bytes()
    for bad in (whole[:-1], whole[: len(whole) // 2], b"", whole + b"x", whole[:-3] + b"\0\1\2"):
        (folder / TENSORS).write_bytes(bad)
        with pytest.raises(FormatError, match="checksum"):
            em.load_index(folder, vectors, allow_faiss=True)
    (folder / TENSORS).unlink()
    with pytest.raises(FormatError, match="No such file"):
        em.load_index(folder, vectors, allow_faiss=True)


BROKEN_ARRAYS = [
    ("hamming", {"signatures": None}, "signatures.*missing"),
    ("hamming", {"signatures": np.zeros((2, 199), np.uint64)}, r"signatures.*uint64 \(2, 199\)"),
    ("hamming", {"signatures": np.zeros((2, 200), np.int64)}, r"signatures.*int64"),
    ("hamming", {"normals": np.full((70, 16), np.nan, np.float32)}, "hyperplanes.*NaN"),
    ("faiss", {"faiss": None}, "FAISS"),
    ("faiss", {"faiss": np.zeros(40, np.uint8)}, "FAISS"),
    ("faiss", {"faiss": np.zeros(0, np.uint8)}, "FAISS"),
]


@pytest.mark.parametrize(("name", "arrays", "message"), BROKEN_ARRAYS)
def test_broken_arrays(vectors, copy, name, arrays, message):
    folder = copy(name)
    replace(folder, **arrays)
    with pytest.raises(FormatError, match=message):
        em.load_index(folder, vectors, allow_faiss=True)


def test_signatures_with_bits_beyond_their_number_are_refused(vectors, copy):
    """A distance greater than the number of bits would be counted outside of the histogram of distances."""
    folder = copy("hamming")
    words = np.array(tensors.load(folder / TENSORS)["signatures"])
    words[-1, 7] |= np.uint64(1 << 6)  # bit 70
    replace(folder, signatures=words)
    with pytest.raises(FormatError, match="more than 70 bits"):
        em.load_index(folder, vectors)


def test_faiss_data_is_read_only_with_consent(vectors, saved, monkeypatch):
    import faiss

    monkeypatch.setattr(faiss, "deserialize_index", lambda data: pytest.fail("FAISS reads it"))
    uses = [
        lambda: em.load_index(saved / "faiss", vectors),
        lambda: vectors.most_similar("w3", index=saved / "faiss"),
        lambda: vectors.most_similar("w3", index=f"{saved / 'faiss'}:ef_search=9"),
        lambda: check_spec(str(saved / "faiss")),
    ]
    for use in uses:
        with pytest.raises(FormatError, match=r"faiss is an index of FAISS.*allow_faiss=True") as error_info:
            use()
        assert "\n" not in str(error_info.value)


def test_faiss_data_with_more_than_it_can_hold_is_refused(vectors, copy):
    """The size of the HNSW levels is set to 2^40; FAISS would allocate terabytes before it reads them."""
    folder = copy("faiss")
    data = np.array(tensors.load(folder / TENSORS)["faiss"])
    levels = data.tobytes().index((200).to_bytes(8, "little"), 60)  # after the header, which has the number of rows too
    data[levels : levels + 8] = np.frombuffer((1 << 40).to_bytes(8, "little"), np.uint8)
    replace(folder, faiss=data)
    with pytest.raises(FormatError, match=r"FAISS cannot read it.*limit"):
        em.load_index(folder, vectors, allow_faiss=True)


def test_rows_that_faiss_finds_outside_of_the_vectors_are_refused(vectors, copy):
    import faiss

    folder = copy("faiss")
    flat = faiss.IndexIDMap(faiss.IndexFlatIP(16))
    flat.add_with_ids(vectors.unit_rows, np.arange(200) * 1000)
    replace(folder, faiss=faiss.serialize_index(flat))
    rewrite(folder, lambda record: record["settings"].update(factory="Flat"))
    with pytest.raises(FormatError, match="outside of its 200 rows"):
        em.load_index(folder, vectors, allow_faiss=True).search(vectors.matrix[:3])


def test_a_search_that_faiss_refuses_is_one_line(vectors, copy):
    import faiss

    folder = copy("faiss")
    index = faiss.index_factory(16, "IVF4,Flat", faiss.METRIC_INNER_PRODUCT)
    index.train(vectors.unit_rows)
    index.add(vectors.unit_rows)
    index.nprobe = 0
    replace(folder, faiss=faiss.serialize_index(index))
    rewrite(folder, lambda record: record["settings"].update(factory="IVF4,Flat"))
    with pytest.raises(FormatError, match="the FAISS index is broken: ") as error_info:
        em.load_index(folder, vectors, allow_faiss=True).search(vectors.matrix[:3])
    assert "\n" not in str(error_info.value)


def test_a_faiss_index_of_other_rows(vectors, copy):
    import faiss

    folder = copy("faiss")
    flat = faiss.IndexFlatIP(16)
    flat.add(np.ones((100, 16), np.float32))
    replace(folder, faiss=faiss.serialize_index(flat))
    with pytest.raises(FormatError, match=r"100 rows of 16.*\(200, 16\)"):
        em.load_index(folder, vectors, allow_faiss=True)


def test_paths_that_are_not_indexes(vectors, tmp_path):
    with pytest.raises(FormatError, match="does not exist"):
        em.load_index(tmp_path / "nowhere", vectors)
    with pytest.raises(FormatError, match="not a saved index"):
        em.load_index(tmp_path, vectors)
    with pytest.raises(EmbeddingsError):
        vectors.most_similar("w1", index=tmp_path)
