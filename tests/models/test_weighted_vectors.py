"""Vectors with weights and projections in their rows: their plain means are the weighted means of texts."""

import numpy as np
import pytest
from commands import expect, refused
from optional_libraries import needs

import embeddings as em
from embeddings.errors import SettingError

WORDS = [f"w{number}" for number in range(40)]


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(4)
    return em.Vectors(WORDS, rng.standard_normal((40, 9)) + 0.5, counts=np.arange(400, 0, -10))


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(5)
    return [" ".join(rng.choice(WORDS, size=rng.integers(1, 9))) for _ in range(90)] + ["", "unseen"]


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


@pytest.mark.parametrize("weighting", ["none", "sif", "idf"])
@pytest.mark.parametrize("removed", [0, 2])
def test_plain_means_are_weighted_means(vectors, texts, weighting, removed):
    """Equal for sif, whose sums are divided by the number of words; else up to a factor."""
    fit = {"fit_on": texts} if removed or weighting == "idf" else {}
    weighted = em.training.weight_vectors(vectors, weighting, remove_components=removed, **fit)
    pool = "mean" if weighting == "none" else weighting
    expected = em.embed(vectors, texts, pool=pool, remove_components=removed, **fit)
    rows = em.embed(weighted, texts)
    np.testing.assert_allclose(unit(rows), unit(expected), atol=1e-5)
    if weighting in ("none", "sif"):
        np.testing.assert_allclose(rows, expected, atol=1e-5)


def test_projection_keeps_the_directions_of_most_variance(vectors, texts):
    weighted = em.training.weight_vectors(vectors, remove_components=1, pca=3, fit_on=texts)
    assert weighted.dim == 3
    plain = em.embed(vectors, texts, pool="sif").astype(float)
    directions = np.linalg.svd(plain, full_matrices=False)[2][1:4]
    expected = plain @ directions.T
    rows = em.embed(weighted, texts)
    np.testing.assert_allclose(np.abs(rows), np.abs(expected), atol=1e-5)  # directions have no sign
    assert np.all(np.diff((rows.astype(float) ** 2).sum(axis=0)) < 0)


def test_refusals(vectors, texts):
    bare = em.Vectors(["a", "b"], [[1, 2], [3, 4]])
    for source, options, message in [
        (bare, {}, "fit_on"),
        (vectors, {"weighting": "idf"}, "fit_on"),
        (vectors, {"pca": 2}, "pca.*fit_on"),
        (vectors, {"pca": 10}, "pca.*10"),
        (vectors, {"remove_components": 9}, "remove_components.*9"),
        (vectors, {"weighting": "x"}, "weighting.*x"),
        (vectors, {"pca": 8, "fit_on": ["w1 w2"]}, "span 1"),
    ]:
        with pytest.raises(SettingError, match=message):
            em.training.weight_vectors(source, **options)
    assert em.training.weight_vectors(bare, "none").matrix.tolist() == [[1, 2], [3, 4]]
    assert em.training.weight_vectors(bare, fit_on=["a b", "a"]).matrix.shape == (2, 2)


@pytest.mark.parametrize("form", ["model2vec", "sentence-transformers"])
def test_export_command(vectors, texts, tmp_path, form):
    for one in needs("tokenizers"):
        if one.name == "skipif" and one.args[0]:
            pytest.skip(one.kwargs["reason"])
    vectors.save(tmp_path / "v.parquet")
    (tmp_path / "t.txt").write_text("\n".join(texts))
    options = ("--weighting", "sif", "--remove-components", 1, "--fit-on", tmp_path / "t.txt")
    expect("export", tmp_path / "v.parquet", tmp_path / "out", "--format", form, *options)
    expected = em.embed(vectors, texts, pool="sif", remove_components=1)
    np.testing.assert_allclose(em.embed(tmp_path / "out", texts), expected, atol=1e-5)
    card = (tmp_path / "out" / "README.md").read_text()
    assert "sif" in card
    assert f"library_name: {form}" in card
    expect("export", tmp_path / "v.parquet", tmp_path / "p", "--format", form, *options, "--pca", 4)
    assert em.load(tmp_path / "p").dim == 4
    expect("export", tmp_path / "v.parquet", tmp_path / "plain", "--format", form)
    assert "without weights" in (tmp_path / "plain" / "README.md").read_text()
    out = tmp_path / "x.npy"
    assert "--weighting" in refused("export", tmp_path / "v.parquet", out, "--constant", 0.1, code=2)
    assert "--fit-on" in refused("export", tmp_path / "v.parquet", out, "--text-column", "x", "--pca", 2, code=2)
