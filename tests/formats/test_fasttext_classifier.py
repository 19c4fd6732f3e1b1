"""Supervised fastText files: probabilities as from a naive classifier, predicted sizes, and broken files."""

import gzip
import pickle
import struct
from dataclasses import replace

import numpy as np
import pytest
from supervised_models import LOSSES, TEXTS, naive_probabilities, naive_rows, supervised_model

import embeddings as em
from embeddings.errors import FormatError, OutputError, SettingError
from embeddings.formats import fasttext_bin
from embeddings.formats.fasttext_classifier import cutoff_for_size

KINDS = {
    "dense": {},
    "words only": {"max_n": 0, "word_ngrams": 1, "buckets": 0},
    "word trigrams": {"max_n": 0, "word_ngrams": 3},
    "single characters": {"min_n": 1, "max_n": 1},
    "quantised": {"quantised": True},
    "without norms": {"quantised": True, "has_norms": False, "dim": 4},
    "pruned": {"quantised": True, "pruned": 11},
    "all buckets pruned": {"quantised": True, "pruned": 0},
    "quantised output": {"quantised": True, "qout": True, "pruned": 7},
    "one label": {"labels": ["__label__a"]},
}


@pytest.fixture
def write(tmp_path):
    """Write bytes to a file."""

    def write(data, name="m.bin"):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_probabilities_equal_those_of_a_naive_classifier(write, kind, loss):
    model = supervised_model(loss, **kind)
    classifier = em.load_classifier(write(model.data))
    expected = np.array([naive_probabilities(model, text) for text in TEXTS])
    np.testing.assert_allclose(classifier.predict_proba(TEXTS), expected, rtol=1e-4, atol=1e-6)
    labels, probabilities = classifier.predict(TEXTS, k=-1)
    tolerance = 0.009 if loss in ("one against all", "negative sampling") else 1e-4  # the steps of fastText's table
    for text, names, row, exact in zip(TEXTS, labels, probabilities, expected, strict=True):
        if not naive_rows(model, text):
            assert list(names) == [None] * len(model.settings["labels"])
            continue
        numbers = [model.settings["labels"].index(name) for name in names if name is not None]
        np.testing.assert_allclose(row[: len(numbers)], exact[numbers], atol=tolerance)
        assert sorted(row, reverse=True) == list(row)
        assert exact[sorted(set(range(len(exact))) - set(numbers))].sum() < 1e-4


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_vectors_of_texts_are_the_means_of_their_rows(write, kind):
    model = supervised_model(**kind)
    rows = [naive_rows(model, text) for text in TEXTS]
    zeros = np.zeros(model.inputs.shape[1])
    expected = [model.inputs[one].mean(axis=0, dtype=np.float64) if one else zeros for one in rows]
    found = em.load_classifier(write(model.data)).embed(TEXTS)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_classifier_that_was_read_is_written_as_it_was(write, tmp_path, kind):
    for loss in LOSSES:
        path = write(supervised_model(loss, **kind).data)
        em.load_classifier(path).export(tmp_path / "copy.bin", force=True)
        assert (tmp_path / "copy.bin").read_bytes() == path.read_bytes()


def test_classifiers_that_cannot_be_written(write, tmp_path):
    classifier = em.load_classifier(write(supervised_model().data))
    with pytest.raises(OutputError, match="exists"):
        classifier.export(tmp_path / "m.bin")
    with pytest.raises(SettingError, match="npy"):
        classifier.export(tmp_path / "c.npy", "npy")
    pruned = replace(classifier, bucket_rows=np.array([[1, 0]], np.int32))
    nan = replace(classifier, output=np.full_like(classifier.output, np.nan))
    for broken, message in ((pruned, "quantize"), (nan, "NaN")):
        with pytest.raises(FormatError, match=message):
            broken.export(tmp_path / "c.bin")
    assert [path.name for path in tmp_path.iterdir()] == ["m.bin"]


def test_settings_of_another_trainer_are_stored_where_they_fit(write, tmp_path):
    settings = {"window": "many", "epochs": 2**40, "negatives": -1, "min_count": 7, "min_n": 4, "subsample": 3}
    classifier = replace(em.load_classifier(write(supervised_model().data)), settings=settings, word_counts=None)
    classifier.export(tmp_path / "c.bin")
    loaded = em.load_classifier(tmp_path / "c.bin")
    assert (loaded.settings["min_count"], loaded.settings["epochs"]) == (7, 5)
    assert loaded.predict(TEXTS).labels.tolist() == classifier.predict(TEXTS).labels.tolist()


def test_fewer_labels_are_the_first_of_all(write):
    classifier = em.load_classifier(write(supervised_model().data))
    everything, few = classifier.predict(TEXTS, k=-1), classifier.predict(TEXTS, k=2)
    assert few.labels.tolist() == everything.labels[:, :2].tolist()
    assert few.probabilities.tolist() == everything.probabilities[:, :2].tolist()


@pytest.mark.parametrize("loss", LOSSES)
def test_a_threshold_gives_the_labels_above_it(write, loss):
    classifier = em.load_classifier(write(supervised_model(loss).data))
    labels, probabilities = classifier.predict(TEXTS, k=-1)
    for threshold in (0.05, 0.2, 0.5):
        above, _ = classifier.predict(TEXTS, k=-1, threshold=threshold)
        expected = [
            [name for name, p in zip(*row, strict=True) if p >= threshold + 1e-5]
            for row in zip(labels, probabilities, strict=True)
        ]
        assert [[name for name in row if name is not None] for row in above] == expected


def test_texts_with_more_rows_than_are_pending_at_a_time(write):
    for kind in ({}, {"quantised": True, "pruned": 11}, {"max_n": 0}):
        model = supervised_model(**kind)
        texts = [" ".join(f"where{i % 50} the" for i in range(3000)), "ï" * 5000, "the where"]
        expected = [naive_probabilities(model, text) for text in texts]
        probabilities = em.load_classifier(write(model.data)).predict_proba(texts)
        np.testing.assert_allclose(probabilities, expected, rtol=1e-3, atol=1e-5)


def test_a_classifier_can_be_pickled_without_its_working_memory(write):
    classifier = em.load_classifier(write(supervised_model().data))
    expected = classifier.predict(TEXTS)
    data = pickle.dumps(classifier)
    assert len(data) < 100_000
    assert pickle.loads(data).predict(TEXTS).labels.tolist() == expected.labels.tolist()


def test_arguments_out_of_range(write):
    classifier = em.load_classifier(write(supervised_model().data))
    for arguments in ({"k": 0}, {"k": -2}, {"threshold": -0.1}, {"threshold": 1.5}, {"threshold": float("nan")}):
        with pytest.raises(SettingError):
            classifier.predict(["a"], **arguments)
    for predict in (classifier.predict, classifier.predict_proba):
        with pytest.raises(SettingError, match="list of texts"):
            predict("a text")
    assert classifier.predict([]).labels.shape == (0, 1)


def test_texts_of_any_characters(write):
    classifier = em.load_classifier(write(supervised_model().data))
    assert np.isfinite(classifier.predict_proba(["\ud800", "\udcff", "\0", "x" * 100_000])).all()


def test_compressed_files_and_labels_that_are_not_utf8(write):
    data = supervised_model().data
    packed = write(gzip.compress(data))
    assert (
        em.load_classifier(packed).predict(TEXTS).labels.tolist()
        == em.load_classifier(write(data)).predict(TEXTS).labels.tolist()
    )
    broken = write(data.replace("é".encode(), b"\xff\xfe"))
    with pytest.raises(FormatError, match="label 2"):
        em.load_classifier(broken)
    assert em.load_classifier(broken, errors="replace").labels[1] == "__label__\ufffd\ufffd"


def test_a_quantised_model_has_no_vectors(write):
    path = write(supervised_model(quantised=True, pruned=11).data)
    with pytest.raises(FormatError, match="quantised"):
        em.load(path)
    with pytest.raises(SettingError):
        em.load_model(path)
    assert fasttext_bin.describe(path)["labels"] == 5


def test_what_is_not_a_classifier(tmp_path):
    vectors = em.Vectors(["a", "b"], np.eye(2))
    vectors.save(tmp_path / "v.bin", "fasttext")
    with pytest.raises(FormatError, match="unsupervised"):
        em.load_classifier(tmp_path / "v.bin")
    vectors.save(tmp_path / "v.npy")
    with pytest.raises(SettingError, match="not a classifier"):
        em.load_classifier(tmp_path / "v.npy")


def check_truncated(write, data, sizes):
    for size in sizes:
        with pytest.raises(FormatError) as error:
            fasttext_bin.read_classifier(write(data[:size]))
        assert "\n" not in str(error.value)
    fasttext_bin.read_classifier(write(data))


def test_files_truncated_at_any_byte_are_refused(write):
    data = supervised_model(dim=1, buckets=3).data
    check_truncated(write, data, range(len(data)))


@pytest.mark.parametrize("step", [23, pytest.param(1, marks=pytest.mark.slow)])
def test_truncated_quantised_files_are_refused(write, step):
    data = supervised_model(quantised=True, qout=True, pruned=7, dim=2).data
    check_truncated(write, data, range(0, len(data), step))


def positions(model):
    """The offsets of fields of the header, and of those after the dictionary of a pruned quantised model."""
    settings = model.settings
    offset = 92 + sum(len(entry.encode()) + 10 for entry in settings["words"] + settings["labels"])
    matrix = offset + 8 * len(settings["used"])
    rows, dim = model.inputs.shape
    parts = -(-dim // 2)
    centroids = matrix + 1 + 21 + rows * parts
    return {"word n-grams": 28, "buckets": 40, "pruned": 84,
            "bucket": offset, "row": offset + 4, "flag": matrix, "has norms": matrix + 1, "rows": matrix + 2,
            "dim": matrix + 10, "codes": matrix + 18, "dim of centroids": centroids, "parts": centroids + 4,
            "part size": centroids + 8, "last part": centroids + 12, "centroid": centroids + 16}  # fmt: skip


BROKEN = {
    "word n-grams": ("<i", [101, -1], "words"),
    "buckets": ("<i", [0], "buckets|broken"),
    "pruned": ("<q", [31], "impossible"),
    "bucket": ("<i", [-1, 30, 2**31 - 1], "out of range"),
    "row": ("<i", [-1, 11, 2**31 - 1], "out of range"),
    "flag": ("<B", [0, 2, 255], "broken"),
    "has norms": ("<B", [0, 2, 255], "broken|truncated"),
    "rows": ("<q", [-1, 0, 19, 21, 2**62], "matrix is"),
    "dim": ("<q", [-1, 0, 4, 6, 2**62], "matrix is"),
    "codes": ("<i", [-1, 0, 59, 61, 2**31 - 1], "broken|truncated"),
    "dim of centroids": ("<i", [-1, 0, 4, 2**31 - 1], "header of a quantised matrix"),
    "parts": ("<i", [-1, 0, 4, 2**31 - 1], "header of a quantised matrix"),
    "part size": ("<i", [-1, 0, 1, 3, 6, 2**31 - 1], "header of a quantised matrix"),
    "last part": ("<i", [-1, 0, 2, 2**31 - 1], "header of a quantised matrix"),
    "centroid": ("<f", [float("nan"), float("inf")], "NaN"),
}
CHANGES = [(name, code, value, match) for name, (code, values, match) in BROKEN.items() for value in values]


@pytest.mark.parametrize(("name", "code", "value", "match"), CHANGES)
def test_false_numbers_are_refused(write, name, code, value, match):
    model = supervised_model(quantised=True, pruned=11)
    data = bytearray(model.data)
    struct.pack_into(code, data, positions(model)[name], value)
    with pytest.raises(FormatError, match=match):
        fasttext_bin.read_classifier(write(bytes(data)))


@pytest.mark.parametrize(
    ("kind", "match"),
    [({"pruned": 0}, "not quantised"), ({"pruned": 3}, "not quantised"), ({"labels": []}, "0 labels")],
)
def test_impossible_models_are_refused(write, kind, match):
    with pytest.raises(FormatError, match=match):
        em.load_classifier(write(supervised_model(**kind).data))


@pytest.mark.parametrize("loss", LOSSES)
def test_nan_is_refused_when_it_is_used(write, loss):
    model = supervised_model(loss, quantised=False)
    for part in (model.inputs, model.output):
        data = model.data.replace(part.tobytes(), np.full_like(part, np.nan).tobytes())
        with pytest.raises(FormatError, match="NaN"):
            em.load_classifier(write(data)).predict(["the where"])


@pytest.mark.parametrize("loss", LOSSES)
def test_huge_numbers_crash_nothing(write, loss):
    model = supervised_model(loss)
    huge = np.where(model.output > 0, 3e38, -3e38).astype(np.float32)
    classifier = em.load_classifier(write(model.data.replace(model.output.tobytes(), huge.tobytes())))
    if loss == "hierarchical softmax":
        assert np.isfinite(classifier.predict(TEXTS, k=3).probabilities).all()
    else:
        with pytest.raises(FormatError, match="too large"):
            classifier.predict(TEXTS, k=3)


@pytest.fixture(scope="module")
def trained():
    rng = np.random.default_rng(1)
    lines = [
        f"__label__{'ab'[n % 2]} "
        + " ".join(f"{'ab'[n % 2]}{'x' * rng.integers(5)}{rng.integers(300)}" for _ in range(9))
        for n in range(200)
    ]
    return em.train("classifier", lines, dim=7, word_ngrams=2, min_n=2, max_n=3, epochs=1, threads=1).classifier


@pytest.mark.parametrize("options", [{}, {"qnorm": True}, {"qout": True, "qnorm": True, "dsub": 3}])
@pytest.mark.parametrize("cutoff", [1, 100, 700, 1500])
def test_the_largest_cutoff_that_fits(tmp_path, trained, cutoff, options, monkeypatch):
    monkeypatch.setattr(
        "embeddings.vectors.product_quantisation.ITERATIONS", 1
    )  # of k-means: sizes do not depend on it

    def size(cutoff):
        trained.quantize(cutoff, **options).export(tmp_path / "m.ftz", force=True)
        return (tmp_path / "m.ftz").stat().st_size

    exact = size(cutoff)
    assert cutoff_for_size(trained, exact, **options) == cutoff
    assert cutoff_for_size(trained, exact - 1, **options) == cutoff - 1
    assert cutoff_for_size(trained, exact + 8, **options) == cutoff  # each row takes more than 8 bytes


def test_limits(tmp_path, trained):
    assert cutoff_for_size(trained, 10) == 0
    assert cutoff_for_size(trained, 1 << 40) == len(trained.inputs.table)
    (tmp_path / "m.bin").write_bytes(supervised_model().data)
    dense = em.load_classifier(tmp_path / "m.bin")
    assert 0 < cutoff_for_size(dense, 60_000) <= len(dense.inputs.table)
