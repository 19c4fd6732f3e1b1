"""What holds for every kind of evaluation, and settings of those that pool texts."""

import random

import numpy as np
import pytest
from fixed_classifier import FixedClassifier, random_texts
from text_sets import WORDS, by_measure, labelled, text, write_csv, write_sets

import embeddings as em
from embeddings.errors import CorpusError, SettingError
from embeddings.eval import Suite, evaluate
from embeddings.eval.evaluation import KINDS
from embeddings.eval.report import write_report

LINES = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog", "the rug and the mat"] * 9
BASELINES = {"most frequent label", "the most frequent labels"}


class Reversed(FixedClassifier):
    """Predicts the last labels first."""

    labels = FixedClassifier.labels[::-1]


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """A test set of each kind, as settings."""
    folder = tmp_path_factory.mktemp("sets")
    (folder / "held-out").write_text("\n".join(LINES[:4]))
    (folder / "labels").write_text("\n".join(random_texts(np.random.default_rng(3), 80)[0]))
    others = {"perplexity": folder / "held-out", "labels": folder / "labels"}
    return write_sets(folder) | {name: {name: path} for name, path in others.items()}


def sources(kind, vectors):
    """What a kind evaluates: two that cover the same items, and one without a known word, if any."""
    if kind == "labels":
        return FixedClassifier(), Reversed(), None
    if kind == "perplexity":
        settings = {"dim": 4, "min_count": 1, "threads": 1, "objective": "full-softmax", "epochs": 1}
        return *(em.train("skipgram", LINES, **settings, seed=seed) for seed in (1, 2)), None
    other = em.Vectors(WORDS, np.random.default_rng(9).standard_normal((60, 8)))
    return vectors, other, em.Vectors(["unseen"], np.ones((1, 8)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_fulfils_the_contract(kind, sets, vectors, tmp_path):
    settings, (first, second, unknown) = sets[kind], sources(kind, vectors)
    results, others = (evaluate(one, name=name, **settings) for one, name in ((first, "a"), (second, "b")))
    assert evaluate(first, name="a", **settings) == results
    for one in results:
        assert one.vectors == "a"
        assert one.protocol
        assert 0 <= one.covered <= one.total
        assert (one.value is None) == (one.reason is not None)
        assert one.low is None or one.low <= one.value <= one.high
    assert all((one.difference, one.p) in ((0, 1), (0, None)) for one in em.compare(first, first, **settings))
    values = [{(one.measure, one.section, one.method): one.value for one in part} for part in (results, others)]
    back = list(em.compare(second, first, **settings))
    for one, turned in zip(em.compare(first, second, names=["a", "b"], **settings), back, strict=True):
        key = (one.measure, one.section, one.method)
        assert (one.first, one.second) == ("a", "b")
        assert (one.value_first, one.value_second) == pytest.approx(tuple(part[key] for part in values))
        assert one.difference == pytest.approx(one.value_first - one.value_second)
        assert one.low is None or one.low <= one.difference <= one.high
        assert (turned.difference, turned.p) == (pytest.approx(-one.difference), one.p)
    runs = evaluate([first, first, second], **settings)
    assert "sd" in repr(runs)
    for one in runs:
        a, b = (part[one.measure, one.section, one.method] for part in values)
        assert (one.runs, one.value) == (3, None if None in (a, b) else pytest.approx((2 * a + b) / 3))
    for one in evaluate(unknown, **settings) if unknown else ():
        if one.measure != "word coverage" and one.method not in BASELINES:
            assert (one.value, one.covered) == (None, 0)
    if "half" in KINDS[kind].defaults:
        parts = {half: evaluate(first, half=half, **settings)[0] for half in ("dev", "test", "all")}
        assert {half: one.half for half, one in parts.items()} == {half: half for half in parts}
        assert parts["dev"].total + parts["test"].total == parts["all"].total
        assert {one.half for one in em.compare(first, second, half="test", **settings)} == {"test"}
    if kind != "labels":  # a report describes vectors
        suite = Suite.read(**settings)
        write_report(tmp_path / "r.html", suite, [first, second], [suite.score(one, "v") for one in (first, second)])
        assert results[0].set in (tmp_path / "r.html").read_text(encoding="utf-8")


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
    for sets in ({"pairs": tmp_path / "pairs.tsv"}, {"retrieval": retrieval}, {"clustering": texts}):
        with pytest.raises(CorpusError, match="UTF-8"):
            em.evaluate(vectors, **sets)
        assert em.evaluate(vectors, **sets, encoding_errors="ignore")
    with pytest.raises(SettingError, match="encoding_errors"):
        em.evaluate(vectors, pairs=tmp_path / "pairs.tsv", encoding_errors="drop")


def test_texts_to_fit_on_are_refused_if_nothing_is_learned(vectors, tmp_path):
    (tmp_path / "fit.txt").write_text("w1 w2\n")
    path, _ = labelled(tmp_path / "texts.csv")
    for settings in ({}, {"pool": "sum"}, {"pool": "sif"}):
        with pytest.raises(SettingError, match="fit_on has no effect"):
            em.evaluate(vectors, clustering=path, fit_on=tmp_path / "fit.txt", **settings)
        with pytest.raises(SettingError, match="fit_on has no effect"):
            em.embed(vectors, ["w1"], fit_on=["w2"], **settings)
    with pytest.raises(SettingError, match="fit_on has no effect"):
        em.training.weight_vectors(vectors, "sif", fit_on=["w1 w2"])
    assert em.embed(vectors, ["w1"], fit_on=["w2"], pool="sif", frequencies="texts").any()
