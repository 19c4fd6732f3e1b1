"""The scores of sampled words, against formulas in numpy."""

import numpy as np

from embeddings.kernels.sampled_scores import score_samples, score_samples_back


def test_scores_of_samples_and_their_gradients():
    rng = np.random.default_rng(2)
    hidden, rows, gradient = (rng.normal(size=shape).astype(np.float32) for shape in ((4, 6), (3, 6), (4, 2)))
    places, scores = rng.integers(0, 3, (4, 2)), np.zeros((4, 2), np.float32)
    score_samples(hidden, rows, places, scores)
    np.testing.assert_allclose(scores, np.einsum("nd,nkd->nk", hidden, rows[places]), rtol=1e-5)
    to_hidden, to_rows = np.zeros_like(hidden), np.zeros_like(rows)
    score_samples_back(hidden, rows, places, gradient, to_hidden, to_rows)
    expected = np.zeros_like(rows)
    np.add.at(expected, places, gradient[..., None] * hidden[:, None])
    np.testing.assert_allclose(to_rows, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(to_hidden, np.einsum("nk,nkd->nd", gradient, rows[places]), rtol=1e-4, atol=1e-5)
