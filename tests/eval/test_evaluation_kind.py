"""Evaluation of text vectors: settings, other texts to learn components from, and comparisons."""

import random

import numpy as np
import pytest
from text_sets import WORDS, by_measure, labelled, text, write_csv, write_retrieval

import embeddings as em
from embeddings.errors import CorpusError, SettingError
from embeddings.eval.tasks.retrieval import MEASURES


def test_components_can_be_learned_from_other_texts(vectors, tmp_path):
    rows = [(text(random.Random(n), n % 3, 0), text(random.Random(-n - 1), n % 2, 0), n % 5) for n in range(40)]
    path = write_csv(tmp_path / "rated.csv", ("a", "b", "score"), rows)
    (tmp_path / "other.txt").write_text("".join(text(random.Random(n), 0, 0) + "\n" for n in range(90)))
    fitted, other = (
        by_measure(em.evaluate(vectors, pairs=path, remove_components=1, fit_on=fit_on))["pearson", None].value
        for fit_on in (None, tmp_path / "other.txt")
    )
    left, right = (
        em.embed(vectors, [row[side] for row in rows], remove_components=1, fit_on=tmp_path / "other.txt")
        for side in (0, 1)
    )
    cosines = [a @ b / np.sqrt((a @ a) * (b @ b)) for a, b in zip(left, right, strict=True)]
    assert other == pytest.approx(np.corrcoef(cosines, [row[2] for row in rows])[0, 1], abs=1e-5)
    assert abs(fitted - other) > 1e-4


def test_vectors_are_compared(vectors, tmp_path):
    other = em.Vectors(WORDS, np.random.default_rng(9).standard_normal((60, 8)))
    path, _ = labelled(tmp_path / "texts.csv")
    sets = {"retrieval": write_retrieval(tmp_path), "clustering": path, "probe": path}
    found = {one.measure: one for one in em.compare(vectors, other, names=["a", "b"], **sets) if not one.is_detail}
    assert set(found) == {*MEASURES, "v-measure", "macro-f1", "accuracy"}
    for comparison in found.values():
        assert comparison.difference == pytest.approx(comparison.value_first - comparison.value_second)
        assert comparison.low <= comparison.difference <= comparison.high
    assert found["v-measure"].p < 0.05


def test_invalid_bytes_of_test_sets_follow_encoding_errors(vectors, tmp_path):
    rows = [(f"w1 w{n} \udcff", "w1 w3", str(n % 3)) for n in range(8)]
    texts = [(f"{a}{n}", "ab"[n % 2]) for n, (a, *_) in enumerate(rows)]
    one = [("_id", "text"), ("1", "w1 \udcff")]
    files = {"pairs": rows, "texts": [("text", "label"), *texts], "q": one, "d": one, "r": [("1", "1", "1")]}
    for name, lines in files.items():
        text = "".join("\t".join(line) + "\n" for line in lines)
        (tmp_path / f"{name}.tsv").write_text(text, encoding="utf-8", errors="surrogateescape")
    retrieval = [tmp_path / name for name in ("q.tsv", "d.tsv", "r.tsv")]
    texts = tmp_path / "texts.tsv"
    for sets in ({"pairs": tmp_path / "pairs.tsv"}, {"retrieval": retrieval}, {"clustering": texts}, {"probe": texts}):
        with pytest.raises(CorpusError, match="UTF-8"):
            em.evaluate(vectors, **sets)
        assert em.evaluate(vectors, **sets, encoding_errors="ignore")
    with pytest.raises(SettingError, match="encoding_errors"):
        em.evaluate(vectors, pairs=tmp_path / "pairs.tsv", encoding_errors="drop")


def test_texts_to_fit_on_are_refused_if_nothing_is_learned(vectors, tmp_path):
    (tmp_path / "fit.txt").write_text("w1 w2\n")
    path, _ = labelled(tmp_path / "texts.csv")
    for settings in ({}, {"pool": "max"}, {"pool": "sif"}):
        with pytest.raises(SettingError, match="fit_on has no effect"):
            em.evaluate(vectors, clustering=path, fit_on=tmp_path / "fit.txt", **settings)
        with pytest.raises(SettingError, match="fit_on has no effect"):
            em.embed(vectors, ["w1"], fit_on=["w2"], **settings)
    with pytest.raises(SettingError, match="fit_on has no effect"):
        em.training.weight_vectors(vectors, "sif", fit_on=["w1 w2"])
    assert em.embed(vectors, ["w1"], fit_on=["w2"], pool="sif", frequencies="texts").any()
