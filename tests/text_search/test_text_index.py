"""Text indexes: what they find, how they grow, and what survives crashes, damage and other processes."""

import copy
import decimal
import gc
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from platforms import needs_limits, resource

import embeddings as em
from embeddings.corpora.encoded_corpus import file_digest
from embeddings.errors import CorpusError, EmbeddingsError, FormatError, OutputError, SettingError
from embeddings.support import tensors
from embeddings.support.records import checksum, to_jsonable
from embeddings.text_search import index_folder, text_index
from embeddings.text_search.index_folder import write_sealed
from embeddings.text_search.segment_writer import check_distinct
from embeddings.text_search.stored_vectors import store
from embeddings.text_search.text_index import TextIndex

WORDS = [f"w{number}" for number in range(40)]


def word_vectors(dim=12, seed=1):
    counts = np.arange(len(WORDS), 0, -1) * 100
    return em.Vectors(WORDS, np.random.default_rng(seed).standard_normal((len(WORDS), dim)), counts=counts)


def some_texts(number, seed=1):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(1, 9))) for _ in range(number)]


def table(texts, start=0):
    rows = range(start, start + len(texts))
    return pa.table({"id": [f"d{row}" for row in rows], "text": texts, "year": [2000 + row % 5 for row in rows]})


def found(index, queries, **options):
    """The ids and scores of hits, in an order that does not depend on that of equal scores."""
    hits = index.search(queries, top=1000, **options)
    return sorted((hit.get("query", ""), -round(hit["score"], 5), hit["id"]) for hit in hits)


@pytest.fixture(scope="module")
def vectors():
    return word_vectors()


def test_hits_have_ids_scores_texts_and_columns(vectors):
    index = TextIndex.build(vectors, table(["w1 w2", "w3 unknown42", "w2 w2 w9"]))
    assert [*index.search("unknown42")[0].items()][4:] == [("text", "w3 unknown42"), ("year", 2001)]
    assert index.search("w9", method="vectors", top=1)[0]["id"] == "d2"
    hits = index.search(["w3", "w9"], top=1)
    assert [(hit["query"], hit["id"]) for hit in hits] == [("w3", "d1"), ("w9", "d2")]
    assert not index.search("nothing known here")
    assert hits.to_pandas()["id"].tolist() == ["d1", "d2"]


def test_cosines_are_those_of_embedded_texts(vectors):
    texts = some_texts(50)
    index = TextIndex.build(vectors, texts, pool="sif")
    rows = em.embed(vectors, [*texts, "w3 w4"], pool="sif", normalize=True)
    cosines = rows[:-1] @ rows[-1]
    hits = index.search("w3 w4", method="vectors", top=50)
    np.testing.assert_allclose([hit["score"] for hit in hits], np.sort(cosines)[::-1], atol=1e-5)
    by_vector = index.search(rows[-1:], top=50)
    assert [hit["id"] for hit in by_vector] == [hit["id"] for hit in hits]


def parts_and_sums(index, **options):
    """The cosine and BM25 of all texts of an index, by id, and the fused scores."""
    cosines, words = (
        {hit["id"]: hit["score"] for hit in index.search("w3 w4 w5", top=60, method=method)}
        for method in ("vectors", "lexical")
    )
    return cosines, words, {hit["id"]: hit["score"] for hit in index.search("w3 w4 w5", top=60, **options)}


@pytest.mark.parametrize("weight", [None, 0.0, 0.25, 1.0])
def test_fused_scores_are_sums_of_standardised_parts(vectors, weight):
    """By default, 0.6 of BM25 and 0.4 of the cosine, both with mean 0 and deviation 1; filters change no score."""
    index = TextIndex.build(vectors, table(some_texts(60)))
    cosines, words, fused = parts_and_sums(index, lexical_weight=weight)
    assert len(cosines) == 60 > len(words)
    share = 0.6 if weight is None else weight
    spreads = [(np.mean(row), np.std(row)) for row in ([words.get(name, 0) for name in cosines], [*cosines.values()])]
    for name, score in fused.items():
        parts = [words.get(name, 0), cosines[name]]
        lexical, cosine = ((part - mean) / std for part, (mean, std) in zip(parts, spreads, strict=True))
        assert score == pytest.approx(share * lexical + (1 - share) * cosine, abs=1e-5)
    filtered = index.search("w3 w4 w5", top=60, where="year >= 2003", lexical_weight=weight)
    assert 0 < len(filtered) < len(fused)
    assert [fused[hit["id"]] for hit in filtered] == [hit["score"] for hit in filtered]


def test_an_index_of_before_ranks_as_before(vectors, tmp_path):
    """0.6 of the BM25 score and 0.4 of the cosine, each divided by the highest of the query."""
    path = with_record(TextIndex.build(vectors, some_texts(60)), tmp_path, "text-index.json", fusion=None)
    for options in ({}, {"lexical_weight": 0.3}):
        cosines, words, fused = parts_and_sums(TextIndex(path, model=vectors), **options)
        assert fused
        weight = options.get("lexical_weight", 0.6)
        for name, score in fused.items():
            lexical = words.get(name, 0) / max(words.values())
            cosine = cosines[name] / max(cosines.values())
            assert score == pytest.approx(weight * lexical + (1 - weight) * cosine, abs=1e-5)


def test_parts_without_a_deviation_do_not_count(vectors):
    assert [hit["score"] for hit in TextIndex.build(vectors, ["w3 w4", "w3 w4"]).search("w3")] == [0, 0]
    index = TextIndex.build(vectors, ["w3 w4", "w5", "42"])
    assert [hit["id"] for hit in index.search("42")] == ["2"]


def test_an_index_of_nearest_neighbours_gives_the_fused_scores_of_exact_search(vectors):
    texts = some_texts(3000)
    exact = {hit["id"]: hit["score"] for hit in TextIndex.build(vectors, texts).search("w3 w4", top=20)}
    index = TextIndex.build(vectors, texts, kind="lsh:bits=256", index_from=1)
    near = index.search("w3 w4", top=20)
    assert {hit["id"] for hit in near} & exact.keys()
    for hit in near:
        assert hit["score"] == pytest.approx(exact.get(hit["id"], hit["score"]), abs=1e-5)
    with np.errstate(all="raise"):  # rows without a cosine
        assert index.search("w3 w4", lexical_weight=1)


def test_an_index_that_is_opened_warm_has_loaded_its_model(vectors, tmp_path):
    vectors.save(tmp_path / "v.arrow")
    TextIndex.build(tmp_path / "v.arrow", ["w1", "w2"], tmp_path / "i")
    assert "embedder" in vars(TextIndex(tmp_path / "i", warm=True))
    (tmp_path / "v.arrow").unlink()
    assert "embedder" not in vars(TextIndex(tmp_path / "i"))
    with pytest.raises(FormatError, match=r"v\.arrow"):
        TextIndex(tmp_path / "i", warm=True)
    TextIndex.build(None, ["w1"], tmp_path / "words")
    assert len(TextIndex(tmp_path / "words", warm=True)) == 1


def test_hits_have_the_parts_of_their_scores_and_a_lowest_cosine(vectors):
    index = TextIndex.build(vectors, some_texts(60))
    cosines, words = (index.search("w3 w4", top=60, method=method) for method in ("vectors", "lexical"))
    expected = {hit["id"]: (hit["cosine"], 0.0) for hit in cosines}
    expected |= {hit["id"]: (expected[hit["id"]][0], hit["bm25"]) for hit in words}
    for hit in (fused := index.search("w3 w4", top=60)):
        assert (hit["cosine"], hit["bm25"]) == pytest.approx(expected[hit["id"]], abs=1e-5)
    assert all((hit["cosine"], hit["bm25"]) == (pytest.approx(hit["score"], abs=1e-5), None) for hit in cosines)
    assert all((hit["cosine"], hit["bm25"]) == (None, hit["score"]) for hit in words)
    for method, hits in {"fused": fused, "vectors": cosines}.items():
        kept = [hit for hit in hits if hit["cosine"] >= 0.1]
        assert 5 < len(kept) < len(hits)
        assert index.search("w3 w4", top=5, method=method, min_cosine=0.1) == kept[:5]
    assert index.search("w3 w4", min_cosine=1.0) == []
    for one, method in ((index, "lexical"), (TextIndex.build(None, ["w3"]), "fused")):
        for setting in ("min_cosine", "lexical_weight"):
            with pytest.raises(SettingError, match=setting):
                one.search("w3", method=method, **{setting: 0.3})
    for weight in (-0.1, 1.1, float("nan"), "half", True):
        with pytest.raises(SettingError, match="lexical_weight"):
            index.search("w3", lexical_weight=weight)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_grown_index_equals_one_that_was_built_at_once(vectors, seed):
    """Scores of all methods, after random additions, replacements, removals and compactions."""
    rng, texts = np.random.default_rng(seed), dict(enumerate(some_texts(30, seed)))
    index = TextIndex.build(vectors, table(list(texts.values())))
    for step in range(12):
        action = rng.choice(["add", "replace", "remove", "compact"])
        if action == "add":
            new = some_texts(int(rng.integers(1, 20)), seed + step)
            start = 1000 * (step + 1)
            index.add(table(new, start))
            texts |= {start + number: text for number, text in enumerate(new)}
        elif action == "replace":
            row = int(rng.choice(list(texts)))
            texts[row] = some_texts(1, step)[0]
            assert index.add(table([texts[row]], row), replace=True) == 1
        elif action == "remove":
            rows = rng.choice(list(texts), min(5, len(texts)), replace=False).tolist()
            assert index.remove([f"d{row}" for row in rows]) == len(rows)
            texts = {row: text for row, text in texts.items() if row not in rows}
        else:
            index.compact()
            assert len(index.segments) == 1
        assert len(index) == len(texts)
    whole = pa.concat_tables([table([text], row) for row, text in texts.items()])
    rebuilt, again = TextIndex.build(vectors, whole), TextIndex(index.path)
    for options in ({"method": "vectors"}, {"method": "lexical"}, {}, {"where": "year >= 2003"}):
        expected = found(rebuilt, ["w1 w5", "w7"], **options)
        assert expected
        assert found(index, ["w1 w5", "w7"], **options) == expected
        assert found(again, ["w1 w5", "w7"], **options) == expected


def test_segments_are_few_and_rows_without_ids_are_numbered_on(vectors):
    index = TextIndex.build(vectors, ["w1"])
    for number in range(40):
        index.add([f"w{number}"])
    assert len(index.segments) <= 7
    index.remove(["40", "39"])
    index.compact()
    index.add(["w7"])
    assert "41" in {hit["id"] for hit in index.search("w7", top=100)}
    assert len(list(index.path.glob("segment-*"))) == len(index.segments)
    assert len(list(index.path.glob("state-*"))) == 1


@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_small_types_keep_the_order_and_take_less(vectors, dtype):
    texts = some_texts(300)
    whole, small = (TextIndex.build(vectors, texts, dtype=one) for one in ("float32", dtype))
    stored = small.segments[0].arrays["vectors"]
    assert stored.dtype == dtype
    assert stored.nbytes <= whole.segments[0].arrays["vectors"].nbytes / (2 if dtype == "float16" else 4)
    for query in ("w1 w2", "w9"):
        scores = {hit["id"]: hit["score"] for hit in whole.search(query, method="vectors", top=300)}
        hits = small.search(query, method="vectors", top=300)
        np.testing.assert_allclose([hit["score"] for hit in hits], [scores[hit["id"]] for hit in hits], atol=0.02)


@pytest.mark.parametrize(("kind", "dtype"), [("lsh:bits=128,rerank=200", "float32"), ("faiss:factory=HNSW16", "int8")])
def test_indexes_of_nearest_neighbours(vectors, kind, dtype):
    """With removed rows, conditions and later additions; the index finds nearly all that exact search finds."""
    texts = some_texts(800)
    index = TextIndex.build(vectors, table(texts[:600]), kind=kind, dtype=dtype, index_from=100)
    assert index.engine(index.segments[0]) is not None
    index.add(table(texts[600:], 600))
    index.remove([f"d{row}" for row in range(0, 40)])
    rows = table(texts).slice(40)
    exact = TextIndex.build(vectors, rows)
    reopened = TextIndex(index.path, allow_faiss=True)
    for options in ({}, {"where": "year == 2001"}):
        for one in (index, reopened):
            hits = [hit["id"] for hit in one.search("w3 w4", top=20, method="vectors", **options)]
            expected = [hit["id"] for hit in exact.search("w3 w4", top=20, method="vectors", **options)]
            assert len(set(hits) & set(expected)) >= 16, options
    if kind.startswith("faiss"):
        with pytest.raises(FormatError, match="allow_faiss"):
            TextIndex(index.path)


def test_words_of_rare_rows_are_found_beside_an_index(vectors):
    """Allowed rows that only their words find, behind many rows that are not allowed."""
    texts = ["unknown42"] * 150 + some_texts(2000) + ["unknown42 w9"]
    index = TextIndex.build(vectors, table(texts), kind="lsh:bits=64", index_from=100)
    index.remove([f"d{row}" for row in range(150)])
    assert index.search("w3 unknown42", top=1)[0]["id"] == "d2150"


def test_an_emptied_index_of_vectors_keeps_its_dimension():
    rows = pa.FixedSizeListArray.from_arrays(pa.array(np.ones(12, np.float32)), 6)
    texts = pa.table({"text": ["a", "b"], "v": rows})
    index = TextIndex.build(None, texts, vector_column="v")
    with pytest.raises(CorpusError, match="vector_column"):
        index.add(["c"])
    assert index.remove(np.int64(0)) == index.remove([np.int64(1)]) == 1
    short = pa.FixedSizeListArray.from_arrays(pa.array(np.ones(2, np.float32)), 1)
    with pytest.raises(SettingError, match="6"):
        index.add(pa.table({"text": ["a", "b"], "v": short}), vector_column="v")
    assert index.search(np.ones(6)) == []
    words = TextIndex.build(None, ["a", "b"])
    words.remove(["0", "1"])
    with pytest.raises(SettingError, match="0 components"):
        words.add(texts, vector_column="v")
    assert len(TextIndex(words.path)) == 0


def test_an_index_that_was_replaced_must_be_opened_again(vectors, tmp_path):
    index = TextIndex.build(vectors, ["w1"], tmp_path / "i")
    TextIndex.build(vectors, ["w2", "w3"], tmp_path / "i", force=True)
    for action in (index.refresh, lambda: index.add(["w4"])):
        with pytest.raises(FormatError, match="replaced"):
            action()
    assert len(TextIndex(tmp_path / "i")) == 2


def test_a_column_of_vectors(vectors):
    rows = np.random.default_rng(1).standard_normal((20, 6)).astype(np.float32)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), 6)
    texts = pa.table({"text": some_texts(20), "embedding": lists})
    index = TextIndex.build(None, texts, vector_column="embedding")
    assert index.search(rows[7], top=1)[0]["id"] == "7"
    assert index.search("w3", method="lexical") == index.search("w3")
    with pytest.raises(FormatError, match="no model"):
        index.search("w3", method="vectors")
    with pytest.raises(SettingError, match="6"):
        index.search(np.ones((1, 5)))
    short = pa.FixedSizeListArray.from_arrays(pa.array(np.ones(10, np.float32)), 5)
    with pytest.raises(SettingError, match=r"6.*5"):
        index.add(pa.table({"text": ["a", "b"], "embedding": short}), vector_column="embedding")
    assert len(index) == 20


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([[1.0, 2.0], [1.0]]), "row 2: expected a vector of 2 numbers"),
        (pa.array([[1.0, float("nan")], [1.0, 2.0]]), "row 1.*not finite"),
        (pa.array([[1.0], None]), "null"),
        (pa.array(["a", "b"]), "lists"),
        (pa.array([[], []], pa.list_(pa.float32())), "got 0"),
        (pa.array([["a"], ["b"]]), "numbers"),
    ],
)
def test_wrong_columns_of_vectors_are_refused(column, words):
    with pytest.raises(EmbeddingsError, match=words):
        TextIndex.build(None, pa.table({"text": ["a", "b"], "v": column}), text_column="text", vector_column="v")


def test_ids_must_be_there_and_differ(vectors, tmp_path):
    with pytest.raises(CorpusError, match=r"'a'.*twice"):
        TextIndex.build(vectors, pa.table({"id": ["a", "a"], "text": ["w1", "w2"]}))
    with pytest.raises(CorpusError, match=r"row 2.*null"):
        TextIndex.build(vectors, pa.table({"id": ["a", None], "text": ["w1", "w2"]}), text_column="text")
    with pytest.raises(CorpusError, match="key"):
        TextIndex.build(vectors, pa.table({"id": ["a"], "text": ["w1"]}), text_column="text", id_column="key")
    with pytest.raises(CorpusError, match="no texts"):
        TextIndex.build(vectors, [], tmp_path / "i")
    assert not (tmp_path / "i").exists()
    index = TextIndex.build(vectors, table(some_texts(5)))
    with pytest.raises(CorpusError, match=r"'d3'.*replace"):
        index.add(table(["w1"], 3))
    with pytest.raises(SettingError, match="'d9'"):
        index.remove(["d1", "d9"])
    with pytest.raises(CorpusError, match="year"):
        index.add(pa.table({"id": ["x"], "text": ["w1"]}), text_column="text")
    assert len(index) == len(TextIndex(index.path)) == 5
    assert len(list(index.path.glob("segment-*"))) == 1  # what was not added is not left there


def test_the_model_is_referred_to_or_copied(tmp_path):
    word_vectors().save(tmp_path / "v.parquet")
    TextIndex.build(tmp_path / "v.parquet", ["w1", "w2 w3"], tmp_path / "i")
    TextIndex.build(tmp_path / "v.parquet", ["w1", "w2 w3"], tmp_path / "copy", copy_model=True)
    before = found(TextIndex(tmp_path / "i"), "w2")
    shutil.move(tmp_path / "v.parquet", tmp_path / "w.parquet")
    with pytest.raises(FormatError, match=r"v\.parquet.*model"):
        TextIndex(tmp_path / "i").search("w2")
    assert TextIndex(tmp_path / "i").search("w2", method="lexical")
    assert found(TextIndex(tmp_path / "i", model=tmp_path / "w.parquet"), "w2") == before
    assert found(TextIndex(tmp_path / "copy"), "w2") == before
    word_vectors(seed=2).save(tmp_path / "v.parquet")
    with pytest.raises(FormatError, match="changed"):
        TextIndex(tmp_path / "i").search("w2")


def test_what_was_learned_from_texts_is_kept(vectors, tmp_path):
    """Frequencies and components of the first texts also serve queries and later texts."""
    texts = some_texts(40)
    for number, options in enumerate(({"pool": "idf"}, {"frequencies": "texts", "remove_components": 2})):
        index = TextIndex.build(vectors, texts, tmp_path / str(number), **options)
        expected = found(index, "w3 w4", method="vectors")
        assert found(TextIndex(index.path), "w3 w4", method="vectors") == expected


def test_save_copies_and_replaces_only_indexes(vectors, tmp_path):
    index = TextIndex.build(vectors, table(some_texts(10)), tmp_path / "i")
    index.remove("d3")
    index.save(tmp_path / "copy")
    index.remove("d4")
    assert len(TextIndex(tmp_path / "copy")) == 9
    with pytest.raises(OutputError, match="exists"):
        index.save(tmp_path / "copy")
    index.save(tmp_path / "copy", force=True)
    numbered = TextIndex.build(vectors, ["w1", "w2"])
    numbered.save(tmp_path / "numbered")
    copy = TextIndex(tmp_path / "numbered")
    copy.add(["w3"])
    assert copy.search("w3", top=1)[0]["id"] == "2"
    assert len(TextIndex(tmp_path / "copy")) == 8


@pytest.mark.parametrize("name", ["diary.txt", "recipe/diary.txt", "{segment}/diary.txt", "model/a/b", "model/c"])
def test_files_of_others_at_any_depth_are_not_deleted(tmp_path, name):
    model = em.train("skipgram", ["a b c " * 50] * 20, epochs=1, dim=4, threads=1)
    for _ in range(2):  # what an index itself writes is replaced
        index = TextIndex.build(
            model, ["a", "b c"], tmp_path / "i", force=True, copy_model=True, frequencies="texts", remove_components=1
        )
        index.remove("0")
        (index.path / "model" / "embeddings.npy").touch()  # of an earlier version
    path = index.path / name.format(segment=next(index.path.glob("segment-*")).name)
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    for write in (
        lambda: TextIndex.build(None, ["a"], index.path, force=True),
        lambda: index.save(index.path, force=True),
    ):
        with pytest.raises(OutputError, match=path.name):
            write()
    assert path.read_text() == "mine"


def test_vectors_of_any_length_are_scaled():
    """Those of length one stay as they are; squares of small ones are too small for float32."""
    rows = np.float32([[0.6, 0.8], [0, 0], [3e-30, 4e-30], [3e30, 4e30]])
    np.testing.assert_array_equal(store(rows[:2], "float32")["vectors"], rows[:2])
    expected = np.float32([[0.6, 0.8], [0, 0], [0.6, 0.8], [0.6, 0.8]])
    np.testing.assert_allclose(store(rows, "float32")["vectors"], expected, rtol=1e-6)
    np.testing.assert_allclose(store(rows[1:3], "float32")["vectors"], expected[1:3], rtol=1e-6)
    with pytest.raises(SettingError, match="row 3"):
        store(np.append(rows[:2], [[np.nan, 1]], axis=0).astype(np.float32), "int8")


def test_rows_are_removed_although_segments_cannot_be_merged(vectors, tmp_path, monkeypatch):
    index = TextIndex.build(vectors, some_texts(30), tmp_path / "i")

    def full(*arguments):
        raise OutputError("no space left on device")

    monkeypatch.setattr(text_index, "write_segment", full)
    index.remove([str(number) for number in range(25)])
    assert len(TextIndex(tmp_path / "i")) == len(index) == 5
    with pytest.raises(OutputError, match="space"):
        index.compact()
    monkeypatch.undo()
    index.compact()
    assert index.describe()["removed"] == 0


def test_segments_that_are_known_are_not_checked_again(vectors, tmp_path, monkeypatch):
    writer = TextIndex.build(vectors, some_texts(30), tmp_path / "i")
    reader = TextIndex(tmp_path / "i")
    read = []
    monkeypatch.setattr(index_folder, "file_digest", lambda path: read.append(path.parent.name) or file_digest(path))
    writer.add(["w1"])
    read.clear()
    reader.refresh()
    assert len(set(read)) == 1
    assert len(reader) == 31


def test_a_reader_keeps_the_state_that_it_has_read(vectors, tmp_path):
    texts = table(some_texts(30))
    writer = TextIndex.build(vectors, texts, tmp_path / "i")
    reader = TextIndex(tmp_path / "i")
    before = found(reader, "w1 w2")
    writer.remove([f"d{row}" for row in range(20)])
    writer.add(table(some_texts(9, 5), 100))
    writer.compact()
    assert found(reader, "w1 w2") == before
    reader.refresh()
    assert len(reader) == 19
    assert found(reader, "w1 w2") == found(writer, "w1 w2") != before


ADD = """
import sys
from embeddings.text_search.text_index import TextIndex
index = TextIndex(sys.argv[1])
for number in range(int(sys.argv[3])):
    name = f"{sys.argv[2]}{number}"
    index.add([{"id": name, "text": f"w1 {name}"}], text_column="text")
    print(name, flush=True)
"""


def adding(path, prefix, number):
    arguments = [sys.executable, "-c", ADD, str(path), prefix, str(number)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def test_two_writers_lose_nothing(tmp_path):
    word_vectors().save(tmp_path / "v.parquet")
    TextIndex.build(tmp_path / "v.parquet", [{"id": "x", "text": "w1"}], tmp_path / "i", text_column="text")
    writers = [adding(tmp_path / "i", prefix, 15) for prefix in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    for writer in writers:
        writer.stdout.close()
    names = {hit["id"] for hit in TextIndex(tmp_path / "i").search("w1", top=100)}
    assert names == {"x", *(f"{prefix}{number}" for prefix in "ab" for number in range(15))}


def change_until(end, index, texts):
    """Add, replace and remove texts from row 400 on."""
    rng, rows = np.random.default_rng(1), set()
    for start in itertools.cycle(range(400, len(texts), 10)):
        new = range(start, start + 10)
        index.add(table([texts[row] for row in new], start), replace=True, progress=False)
        rows.update(new)
        removed = rng.choice(sorted(rows), 8, replace=False).tolist()
        index.remove([f"d{row}" for row in removed])
        rows.difference_update(removed)
        index.compact()
        if time.monotonic() > end:
            return


def search_until(end, index, texts, unit, seed):
    """Search, and check that each hit has the text of its id, the word of the query, and the cosine of its text."""
    rng, n_searches = np.random.default_rng(seed), 0
    while time.monotonic() < end:
        row, method = int(rng.integers(0, 400)), ["fused", "lexical"][seed % 2]
        hits = index.search([f"id{row}", *WORDS], method=method)
        assert hits[0]["id"] == f"d{row}"
        assert all(hit["text"] == texts[int(hit["id"][1:])] for hit in hits)
        assert method == "fused" or all(hit["query"] in hit["text"].split() for hit in hits)
        for hit in index.search(unit[row], top=20):
            place = int(hit["id"][1:])
            assert hit["text"] == texts[place]
            assert hit["score"] == pytest.approx(unit[place] @ unit[row], abs=1e-5)
        assert index.column("id")[:400] == [f"d{one}" for one in range(400)]
        assert index.describe()["texts"] >= 400
        index.refresh()
        n_searches += 1
    return n_searches


@pytest.mark.parametrize("seconds", [3, pytest.param(60, marks=pytest.mark.slow)])
def test_threads_search_while_another_changes_the_index(vectors, tmp_path, seconds):
    texts = [f"id{row} {text}" for row, text in enumerate(some_texts(3000))]
    unit = em.embed(vectors, texts, pool="sif", normalize=True)
    index = TextIndex.build(vectors, table(texts[:400]), tmp_path / "i")
    readers, end = [index, index, index, TextIndex(tmp_path / "i")], time.monotonic() + seconds
    with ThreadPoolExecutor(5) as pool:
        searches = [pool.submit(search_until, end, one, texts, unit, seed) for seed, one in enumerate(readers)]
        pool.submit(change_until, end, index, texts).result()
        assert min(search.result() for search in searches) > 0
    assert found(TextIndex(tmp_path / "i"), "w1 w2") == found(index, "w1 w2")


def test_numbers_of_rows_grow_although_the_index_is_refreshed_during_an_addition(vectors, monkeypatch):
    index = TextIndex.build(vectors, ["w1"])
    with monkeypatch.context() as patch:  # between writing the rows and the state
        patch.setattr(text_index, "check_distinct", lambda new: index.refresh() or check_distinct(new))
        index.add(["w2", "w3"])
    index.refresh()
    index.add(["w4"])
    assert index.column("id") == ["0", "1", "2", "3"]


def test_an_older_state_does_not_replace_a_newer_one(vectors):
    index = TextIndex.build(vectors, ["w1"])
    older = index.folder.read()
    index.add(["w2"])
    index.adopt(older)
    assert index.column("id") == ["0", "1"]


def test_an_index_that_is_changed_all_the_time_can_be_opened(vectors, tmp_path, monkeypatch):
    """Whenever a file of a state is read, a newer state has replaced it."""
    index = TextIndex.build(vectors, table(some_texts(9)), tmp_path / "i")
    read_segment, numbers = index_folder.read_segment, itertools.count(100)

    def read_after_a_change(*arguments, **options):
        with monkeypatch.context() as patch:
            patch.setattr(index_folder, "read_segment", read_segment)
            index.remove(index.column("id")[0])
            index.add(table(["w1"], next(numbers)))
            index.compact()
        return read_segment(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(index_folder, "read_segment", read_after_a_change)
        opened = TextIndex(tmp_path / "i")
    assert len(opened) == 9
    assert opened.search("w1 w2", top=1)
    index.compact()
    assert len(list(index.path.glob("segment-*"))) == 1


@pytest.mark.parametrize("method", ["fused", "vectors", "lexical"])
def test_a_search_sees_one_state(vectors, monkeypatch, method):
    """Another thread removes rows and compacts the index while the second query is answered."""
    index = TextIndex.build(vectors, table(some_texts(40)))
    index.add(table(some_texts(9, 2), 100))
    expected, shortlist, calls = found(index, ["w1", "w2", "w3"], method=method), text_index.shortlist, []

    def list_after_a_change(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            index.remove([f"d{row}" for row in range(10)])
            index.compact()
        return shortlist(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(text_index, "shortlist", list_after_a_change)
        assert found(index, ["w1", "w2", "w3"], method=method) == expected
    assert found(index, ["w1", "w2", "w3"], method=method) != expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="requires fork")
def test_a_forked_process_neither_removes_a_temporary_index_nor_keeps_its_lock(vectors):
    index = TextIndex.build(vectors, ["w1"])
    reader, writer = os.pipe()

    def texts():
        if (child := os.fork()) == 0:
            os.close(writer)
            select.select([reader], [], [], 60)  # until the parent ends it
            os._exit(0)
        children.append(child)
        yield "w2"

    children = []
    index.add(texts())
    index.add(["w3"])
    assert os.waitpid(children[0], os.WNOHANG) == (0, 0)  # it has not waited for the child
    os.close(writer)
    os.waitpid(children[0], 0)
    os.close(reader)
    if (child := os.fork()) == 0:
        del index
        os._exit(0)
    os.waitpid(child, 0)
    assert TextIndex(index.path).column("id") == ["0", "1", "2"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="requires SIGKILL")
def test_a_killed_writer_loses_nothing_that_it_confirmed(tmp_path):
    word_vectors().save(tmp_path / "v.parquet")
    TextIndex.build(tmp_path / "v.parquet", [{"id": "x", "text": "w1"}], tmp_path / "i", text_column="text")
    confirmed = {"x"}
    for attempt in range(3):
        writer = adding(tmp_path / "i", f"{attempt}-", 10_000)
        confirmed.add(writer.stdout.readline().strip())
        time.sleep(0.03 * attempt)
        os.kill(writer.pid, signal.SIGKILL)
        confirmed.update(writer.stdout.read().split())
        writer.stdout.close()
        writer.wait()
        names = {hit["id"] for hit in TextIndex(tmp_path / "i").search("w1", top=10_000)}
        assert confirmed <= names
        assert len(names - confirmed) <= 1 + attempt  # a row was added, but not confirmed before the signal
    index = TextIndex(tmp_path / "i")
    index.compact()
    kinds = [entry.name.partition("-")[0] for entry in index.path.iterdir()]
    assert sorted(kinds) == ["recipe", "segment", "state", "text"]


def test_a_full_disk_leaves_the_index_as_it_was(vectors, tmp_path, monkeypatch):
    index = TextIndex.build(vectors, table(some_texts(10)), tmp_path / "i")
    for target in ("embeddings.support.tensors.save", "embeddings.text_search.index_folder.write_sealed"):
        with monkeypatch.context() as patch:

            def fail(*_):
                raise OSError(28, "No space left on device")

            patch.setattr(target, fail)
            with pytest.raises(OutputError, match="No space"):
                index.add(table(["w1"], 99))
        assert len(TextIndex(tmp_path / "i")) == 10
    index.add(table(["w1"], 99))
    assert len(TextIndex(tmp_path / "i")) == 11


@needs_limits
def test_a_removal_that_is_not_written_whole_is_refused(tmp_path):
    index = TextIndex.build(None, some_texts(3000), tmp_path / "i")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in (0, 1024):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
        try:
            with pytest.raises(OutputError, match="too large"):
                index.remove("5")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert len(TextIndex(tmp_path / "i")) == len(index) == 3000
    index.remove("5")
    assert len(TextIndex(tmp_path / "i")) == len(index) == 2999


def test_a_state_replaces_the_last_one_only_after_it_was_read_back(tmp_path, monkeypatch):
    """A file that is shorter than what was written, without an error."""
    index = TextIndex.build(None, some_texts(3000), tmp_path / "i")
    before = {path: path.read_bytes() for path in index.path.rglob("*") if path.is_file()}
    with monkeypatch.context() as patch:
        patch.setattr("embeddings.support.tensors.write_npy", lambda array, stream: stream.write(bytes(array)[:1000]))
        with pytest.raises(OutputError, match="removed-"):
            index.remove("5")
    assert {path: path.read_bytes() for path in index.path.rglob("*") if path.is_file()} == before
    assert len(TextIndex(tmp_path / "i")) == len(index) == 3000


def damaged(index, tmp_path, change):
    """A copy of an index after a change of its folder."""
    copy = tmp_path / "damaged"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(index.path, copy)
    change(copy)
    return copy


def test_damage_is_noticed(vectors, tmp_path):
    """A changed byte in any file, or a missing file, is one error, when the index is opened or searched."""
    index = TextIndex.build(vectors, table(some_texts(10)), tmp_path / "i")
    index.remove("d1")
    files = [file for file in sorted(index.path.rglob("*")) if file.is_file() and "model" not in file.parts]
    assert len(files) >= 8
    for file in files:
        name = file.relative_to(index.path)

        def flip(copy, name=name):
            data = bytearray((copy / name).read_bytes())
            data[len(data) // 2] ^= 0x55
            (copy / name).write_bytes(data)

        for change in (flip, lambda copy, name=name: (copy / name).unlink()):
            copy = damaged(index, tmp_path, change)
            if name.parts[0] == "recipe":  # whose files have no checksums
                with suppress(EmbeddingsError):
                    TextIndex(copy, model=vectors).search("w1")
            else:
                with pytest.raises(EmbeddingsError):
                    TextIndex(copy, model=vectors).search("w1")


def with_arrays(path, changes):
    """Write a file of arrays again with changed ones."""
    arrays = {name: np.array(one) for name, one in tensors.load(path).items()}
    tensors.save(arrays | {name: change(arrays[name]) for name, change in changes.items()}, path)


def test_segments_of_earlier_versions_have_longer_digests(vectors, tmp_path):
    index = TextIndex.build(vectors, table(some_texts(10)), tmp_path / "i")
    path = next(index.path.glob("segment-*")) / "segment.json"
    record = json.loads(path.read_text())
    earlier = {name: checksum(path.parent / name) for name in record["checksums"]}
    path.write_text(json.dumps(record | {"checksums": earlier}))
    assert found(TextIndex(index.path, model=vectors), "w1 w2") == found(index, "w1 w2")
    path.write_text(json.dumps(record | {"checksums": earlier | {"rows.arrow": earlier["terms.arrow"]}}))
    with pytest.raises(FormatError, match="rows"):
        TextIndex(index.path)


@pytest.mark.parametrize("array", ["term_starts", "posting_texts", "posting_counts", "lengths", "vectors"])
def test_hostile_arrays_are_refused(vectors, tmp_path, array):
    """Arrays that do not fit are refused although their checksums are right."""
    index = TextIndex.build(vectors, table(some_texts(10)), tmp_path / "i")

    def change(copy):
        path = next(copy.glob("segment-*")) / "tensors.safetensors"
        shortens = array in ("lengths", "vectors")
        with_arrays(path, {array: lambda values: values[:-1] if shortens else values * -1000 - 1})
        record = json.loads((path.parent / "segment.json").read_text())
        record["checksums"]["tensors.safetensors"] = checksum(path)
        (path.parent / "segment.json").write_text(json.dumps(record))

    with pytest.raises(FormatError, match="segment-"):
        TextIndex(damaged(index, tmp_path, change))


@pytest.mark.parametrize(("array", "value"), [("texts", np.zeros(0, np.int64)), ("components", np.zeros(()))])
def test_a_broken_recipe_is_refused(vectors, tmp_path, array, value):
    index = TextIndex.build(vectors, ["w1 w2", "w3"], tmp_path / "i", frequencies="texts", remove_components=1)
    path = damaged(
        index, tmp_path, lambda copy: with_arrays(copy / "recipe" / "tensors.safetensors", {array: lambda _: value})
    )
    with pytest.raises(FormatError, match="recipe"):
        TextIndex(path, model=vectors).search("w1", method="vectors")


def with_record(index, tmp_path, name, **changes):
    """A copy of an index with a changed record, without changes that are None, whose checksum is right."""

    def change(copy):
        path = next(copy.glob(name))
        record = json.loads(path.read_text())
        path.unlink()
        new = {key: record[key] for key in record.keys() - {"format_version", "checksum"}} | changes
        write_sealed(path, {key: value for key, value in new.items() if value is not None})

    return damaged(index, tmp_path, change)


@pytest.mark.parametrize("name", ["../elsewhere", "/etc", "segment-1/../../x", "", "a\\b"])
def test_names_in_a_state_stay_in_the_folder(vectors, tmp_path, name):
    index = TextIndex.build(vectors, ["w1"], tmp_path / "i")
    (tmp_path / "elsewhere").mkdir()
    segments = json.loads(next(index.path.glob("state-*")).read_text())["segments"]
    with pytest.raises(FormatError, match="not safe"):
        TextIndex(with_record(index, tmp_path, "state-*", segments=[segments[0] | {"name": name}]))


@pytest.mark.parametrize(
    "change", [{"dtype": "int4"}, {"pooling": {"pool": 5}}, {"words": {"spelling": 1}}, {"fusion": "x"}]
)
def test_unknown_settings_in_a_record_are_refused(vectors, tmp_path, change):
    index = TextIndex.build(vectors, ["w1"], tmp_path / "i")
    with pytest.raises(EmbeddingsError, match=r"dtype|pool|spelling|fusion"):
        TextIndex(with_record(index, tmp_path, "text-index.json", **change)).search("w1")


def test_an_index_of_a_removed_pooling_is_refused_but_for_its_words(vectors, tmp_path):
    index = TextIndex.build(vectors, ["w1"], tmp_path / "i")
    pooling = index.record["pooling"] | {"pool": "power-mean"}
    copy = TextIndex(with_record(index, tmp_path, "text-index.json", pooling=pooling), model=vectors)
    with pytest.raises(FormatError, match=r"power-mean.* build the index again"):
        copy.search("w1")
    assert [hit["id"] for hit in copy.search("w1", method="lexical")] == ["0"]


def test_an_address_in_a_record_is_not_read_unasked(vectors, tmp_path):
    index = TextIndex.build(vectors, ["w1"], tmp_path / "i")
    model = index.record["model"] | {"path": "http://127.0.0.1:9/m"}
    copy = with_record(index, tmp_path, "text-index.json", model=model)
    with pytest.raises(FormatError, match="unasked"):
        TextIndex(copy).search("w1")
    assert TextIndex(copy, model=vectors).search("w1")[0]["id"] == "0"


def test_settings_that_do_not_fit_are_refused(vectors, tmp_path):
    for options, words in (
        ({"kind": "lsh", "dtype": "int8"}, "float32"),
        ({"kind": "unknown"}, "unknown"),
        ({"dtype": "int4"}, "int4"),
        ({"stemming": "klingon"}, "stemming|klingon"),
    ):
        with pytest.raises(EmbeddingsError, match=words):
            TextIndex.build(vectors, ["w1"], tmp_path / "i", **options)
    index = TextIndex.build(vectors, ["w1"])
    assert index.search(np.array(["w1"]))[0]["query"] == "w1"
    with pytest.raises(SettingError, match=r"numbers|texts"):
        index.search(np.array([{}]))
    with pytest.raises(CorpusError, match="strings or numbers"):
        TextIndex.build(vectors, pa.table({"id": [{"a": 1}], "text": ["w1"]}))
    for options in ({"top": 0}, {"method": "magic"}, {"where": "year > 1"}, {"min_cosine": 2}):
        with pytest.raises(SettingError, match=next(iter(options))):
            index.search("w1", **options)
    with pytest.raises(SettingError, match="queries"):
        index.search([5])
    em.build_index(vectors, "exact").save(tmp_path / "words")
    for path in (tmp_path, tmp_path / "words"):
        with pytest.raises(FormatError, match="not an index of texts"):
            TextIndex(path)
    with pytest.raises(FormatError, match="not a saved index"):
        em.load_index(index.path, vectors)
    for action in (lambda: TextIndex("s3://bucket/i"), lambda: TextIndex.build(vectors, ["w1"], "s3://bucket/i")):
        with pytest.raises(OutputError, match="must be local"):
            action()
    assert not Path(tmp_path / "i").exists()


def test_columns_are_remembered(tmp_path):
    def rows(start):
        return pa.table({
            "key": [f"k{start}"], "body": ["some words"], "title": pa.array(["t"]).dictionary_encode(),
            "numbers": [[1.0, float(start)]],
        })  # fmt: skip

    columns = {"text_column": "body", "id_column": "key", "vector_column": "numbers"}
    TextIndex.build(None, rows(0), tmp_path / "i", **columns)
    index = TextIndex(tmp_path / "i")
    index.add(rows(1))
    assert index.column("id") == ["k0", "k1"]
    assert index.search(np.array([[1.0, 1.0]]), top=1)[0]["id"] == "k1"
    with pytest.raises(CorpusError, match="key"):
        index.add(pa.table({"body": ["x"], "title": ["t"], "numbers": [[1.0, 2.0]]}))


def test_a_remembered_column_of_texts_applies_to_tables_only(vectors, tmp_path):
    index = TextIndex.build(vectors, pa.table({"body": ["w1"]}), text_column="body")
    (tmp_path / "plain.txt").write_text("w2\n")
    index.add(["w1"])
    index.add([tmp_path / "plain.txt"])
    index.add([{"body": "w4"}])
    assert [hit["text"] for hit in index.search(["w2", "w4"], top=1)] == ["w2", "w4"]
    with pytest.raises(CorpusError, match="'body'"):
        index.add(["w5"], text_column="body")
    with pytest.raises(CorpusError, match="body"):
        index.add([{"title": "w4"}])
    named = TextIndex.build(vectors, pa.table({"body": ["w1"], "key": ["a"]}), text_column="body", id_column="key")
    with pytest.raises(CorpusError, match="'key'"):
        named.add(["w5"])


@pytest.mark.parametrize("has_counts", [True, False])
def test_frequencies_of_words_come_from_where_they_came_from_when_the_index_was_built(tmp_path, has_counts):
    """By counts or by rank, and never by the other."""
    words, matrix = [f"w{number}" for number in range(1200)], np.random.default_rng(1).standard_normal((1200, 4))
    pair = em.Vectors(words, matrix, counts=np.arange(2400, 1200, -1)), em.Vectors(words, matrix)
    index = TextIndex.build(pair[not has_counts], ["w1 w900"], tmp_path / "i", pool="sif")
    again = TextIndex(index.path, model=pair[not has_counts])
    assert again.query_vectors(None, ["w1 w900"]).tobytes() == index.query_vectors(None, ["w1 w900"]).tobytes()
    with pytest.raises(FormatError, match="counts"):
        TextIndex(index.path, model=pair[has_counts]).search("w1 w900")


def test_vectors_in_memory_are_indexed_without_optional_libraries(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    vectors = em.Vectors(["New_York", "red", "car"], np.eye(3), counts=[3, 2, 1])
    recorded = em.train("skipgram", ["a\u030a b c " * 50] * 20, epochs=1, dim=4, threads=1).vectors
    for number, (source, text) in enumerate([(vectors, "in New_York"), (recorded, "\xc5 B")]):
        built = TextIndex.build(source, [text, "red car b"], tmp_path / str(number))
        for index in (built, TextIndex(tmp_path / str(number))):
            assert index.search(text, top=1, method="vectors")[0]["id"] == "0"
            np.testing.assert_array_equal(index.query_vectors(None, [text]), built.query_vectors(None, [text]))


def test_a_copy_of_a_temporary_index_keeps_its_folder(vectors):
    index = TextIndex.build(vectors, ["w1", "w2"])
    path, copied = index.path, copy.deepcopy(index)
    del index
    gc.collect()
    assert copied.add(["w3"]) == 1
    assert copied.search("w3", top=1)[0]["id"] == "2"
    del copied
    gc.collect()
    assert not path.exists()


CONTAINERS = {
    "series": lambda items: pd.Series(items, index=range(len(items))[::-1]),
    "filtered": lambda items: pd.Series([items[0], *items])[1:],
    "generator": iter,
    "tuple": tuple,
    "array": np.array,
    "arrow": pa.array,
    "keys": lambda items: dict.fromkeys(items).keys(),
    "set": set,
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_queries_and_ids_come_in_any_container(vectors, container):
    contain, queries = CONTAINERS[container], ["w1", "w5", "w9"]
    index = TextIndex.build(vectors, ["w5 w5", "w9", "w1", "w2", "w1 w3"])
    for method in ("vectors", "lexical", "fused"):
        hits = index.search(contain(queries), top=1, method=method)
        assert {hit["query"]: hit["id"] for hit in hits} == {"w1": "2", "w5": "0", "w9": "1"}
    assert index.remove(contain(["3", "0"])) == 2
    assert index.column("id") == ["1", "2", "4"]


def test_an_id_is_a_string_or_an_integer(vectors):
    index = TextIndex.build(vectors, [f"w1 {row}" for row in range(60)])
    for wrong in (b"35", [3.0], True, None, {"3": 5}, "\ud800", "60"):
        with pytest.raises(SettingError, match="id"):
            index.remove(wrong)
    assert index.remove([np.int64(3), 5]) == 2
    assert len(index) == 58


def test_empty_texts_are_counted(vectors, caplog):
    TextIndex.build(vectors, ["w1", "w2"])
    assert "empty" not in caplog.text
    index = TextIndex.build(vectors, pa.table({"id": ["a", "b", "c"], "text": ["w1", None, ""]}))
    assert "2 of 3 texts are empty" in caplog.text
    assert len(index) == 3


def test_an_index_that_replaces_another_waits_for_its_writers(tmp_path):
    vectors = em.Vectors(["red", "car"], np.eye(2), counts=[2, 1])
    index = em.TextIndex.build(vectors, ["red"], tmp_path / "i", progress=False)
    started, is_built = threading.Event(), threading.Event()

    def build():
        started.wait(30)
        em.TextIndex.build(vectors, ["car", "red car"], tmp_path / "i", force=True, progress=False)
        is_built.set()

    def texts():
        yield "slow"
        started.set()
        assert not is_built.wait(0.5)
        yield "texts"

    builder = threading.Thread(target=build)
    builder.start()
    index.add(texts(), progress=False)
    builder.join(60)
    assert is_built.is_set()
    with pytest.raises(FormatError, match="replaced"):
        index.add(["more"], progress=False)
    assert em.TextIndex(tmp_path / "i").column("text") == ["car", "red car"]


def test_dates_that_python_lacks_are_texts(vectors):
    days = pa.table({"text": ["w1"], "day": pa.array([10**7], pa.date32())})
    index = TextIndex.build(vectors, days)
    assert index.search("w1")[0]["day"].startswith("29349")
    assert index.column("day")[0].startswith("29349")


def test_a_mask_of_rows_takes_no_memory_that_its_file_lacks(vectors, tmp_path):
    index = TextIndex.build(vectors, ["w1", "w2", "w3", "w4", "w5"], tmp_path / "i")
    index.remove("1")
    mask = next(index.path.glob("removed-*"))
    mask.write_bytes(mask.read_bytes().replace(b"(5,), }" + b" " * 12, b"(1000000000000,), }"))
    with pytest.raises(FormatError, match=mask.name):
        index.folder.read_mask(mask.name, checksum(mask), 10**12)


def test_values_of_every_type_become_json(vectors):
    columns = {
        "day": pa.array([10**4], pa.date32()), "cents": pa.array([decimal.Decimal("1.50")]), "nothing": [float("nan")],
        "bytes": [b"caf\xe9 \xc3\xa9"],
    }  # fmt: skip
    hit = to_jsonable(TextIndex.build(vectors, pa.table({"text": ["w1"], **columns})).search("w1")[0])
    expected = {"day": "1997-05-19", "cents": "1.50", "nothing": None, "bytes": "caf\\xe9 \xe9"}
    assert {name: json.loads(json.dumps(hit))[name] for name in columns} == expected


def test_columns_hold_all_values_whatever_the_first_ones_are(tmp_path):
    """Also beyond the first block of text."""
    numbers = [1] * 50_000 + [1.5] * 5
    rows = ({"text": "w1 w2 w3 w4", "n": one, "m": None if one == 1 else "x", "empty": None} for one in numbers)
    index = TextIndex.build(None, rows, tmp_path / "index", text_column="text")
    assert index.column("n") == numbers
    assert index.column("m") == [None] * 50_000 + ["x"] * 5
    assert index.segments[0].rows.schema.field("empty").type == pa.string()
