"""The predicted size of a quantised classifier is that of its file."""

import numpy as np
import pytest
from supervised_models import supervised_model

import embeddings as em
from embeddings.formats.fasttext_classifier import cutoff_for_size


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
